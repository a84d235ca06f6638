package statements

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"causeway/core/reconcile"
)

// maxPreambleLines is the maximum number of lines before the names of the columns.
const maxPreambleLines = 100

// readHeader finds the names of the columns: the first line that has all that the layout names. Banks
// write names and balances of the account before it.
func (p *csvParser) readHeader(rows *csv.Reader) error {
	// What is before the names need not be valid CSV. In lines, an open quote would hide others.
	rows.LazyQuotes = true
	defer func() { rows.LazyQuotes = false }()
	var nearest []string // with the fewest missing names
	var nearestMissing []string
	for range maxPreambleLines {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		names := make([]string, len(fields))
		for i, name := range fields {
			names[i] = strings.TrimSpace(name)
		}
		missing, err := p.findColumns(names)
		if err != nil || len(missing) == 0 {
			p.columnCount = len(names)
			return err
		}
		if nearest == nil || len(missing) < len(nearestMissing) {
			nearest, nearestMissing = slices.Clone(names), missing
		}
	}
	if nearest == nil {
		return reconcile.InvalidFile("is empty")
	}
	return reconcile.InvalidFile("has no column %s; its header is %.200q", strings.Join(nearestMissing, ", "),
		strings.Join(nearest, string(rune(p.layout.Delimiter))))
}

// findColumns finds the columns by their names in a line, and returns those that it does not have.
func (p *csvParser) findColumns(names []string) (missing []string, err error) {
	p.columnIndexes = map[reconcile.Column]int{}
	var twice []string
	for column, name := range p.layout.Columns {
		index := slices.Index(names, name)
		switch {
		case index < 0:
			missing = append(missing, fmt.Sprintf("%.60q", name))
		case slices.Contains(names[index+1:], name):
			twice = append(twice, name)
		}
		p.columnIndexes[column] = index
	}
	slices.Sort(missing)
	if len(missing) == 0 && len(twice) > 0 {
		return nil, reconcile.InvalidFile("has two columns with the name %.60q", slices.Min(twice))
	}
	return missing, nil
}
