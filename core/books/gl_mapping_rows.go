package books

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
)

// MappingColumns are the columns of a mapping in a CSV file. A file may omit currency.
var MappingColumns = []string{"path", "currency", "code", "name"}

// MappingRows returns lines as rows of a CSV file, without the header.
func MappingRows(lines []MappingLine) [][]string {
	rows := make([][]string, len(lines))
	for i, l := range lines {
		rows[i] = []string{l.Path, string(l.Currency), l.Code, l.Name}
	}
	return rows
}

// ParseMappingRows returns the lines in the rows of a CSV file, whose first row is the header, or INVALID_INPUT.
// NewMapping checks the lines.
func ParseMappingRows(rows [][]string) ([]MappingLine, error) {
	rows = withoutBlankEnd(rows)
	columns, err := parseHeader(rows, MappingColumns, "currency")
	if err != nil {
		return nil, err
	}
	var bad []fault.Field
	lines := make([]MappingLine, len(rows)-1)
	for i, row := range rows[1:] {
		if len(row) != len(rows[0]) {
			bad = append(bad, rowField(i+2, "", "must have %d values, as the header, not %d", len(rows[0]), len(row)))
			continue
		}
		lines[i] = MappingLine{columns.cell(row, "path"), money.Currency(columns.cell(row, "currency")),
			GLAccount{columns.cell(row, "code"), columns.cell(row, "name")}}
	}
	if len(bad) > 0 {
		return nil, fault.Invalid(bad...)
	}
	return lines, nil
}

// RowFields names the rows of a file in the INVALID_INPUT of NewMapping for the lines of the file. Other errors are
// returned as they are.
func RowFields(err error) error {
	f, ok := fault.As(err)
	if !ok || f.Code != fault.InvalidInput {
		return err
	}
	named := slices.Clone(f.Fields)
	for i, field := range named {
		var n int
		if _, err := fmt.Sscanf(field.Field, "lines[%d]", &n); err == nil {
			_, rest, _ := strings.Cut(field.Field, "]")
			named[i].Field = strings.TrimSpace(fmt.Sprintf("row %d %s", n+2, strings.TrimPrefix(rest, ".")))
		}
	}
	return fault.Invalid(named...)
}
