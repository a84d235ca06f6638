package books

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/fault"
)

// columns are the positions of the columns of a CSV file, by name.
type columns map[string]int

// cell returns a value of a row without spaces around it, or nothing if the file has no such column.
func (c columns) cell(row []string, name string) string {
	if at, found := c[name]; found {
		return strings.TrimSpace(row[at])
	}
	return ""
}

// parseHeader returns the columns that the first row of a file names, in any order, or INVALID_INPUT for unknown,
// repeated and missing ones. Only optional may be missing.
func parseHeader(rows [][]string, known []string, optional string) (columns, error) {
	if len(rows) == 0 {
		return nil, fault.Invalid(fault.Field{Field: "file", Message: "is empty: its first row must be " + strings.Join(known, ",")})
	}
	if wrong := wrongDelimiter(rows[0]); wrong != "" {
		return nil, fault.Invalid(rowField(1, "", "has its columns separated by %s: export the file with commas between columns, and with a "+
			"point in amounts, such as 1234.56", wrong))
	}
	found := columns{}
	var bad []fault.Field
	for i, cell := range rows[0] {
		name := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(cell, "\ufeff")))
		switch _, repeated := found[name]; {
		case !slices.Contains(known, name):
			bad = append(bad, rowField(1, "", "has the column %.40q; the columns are %s", cell, strings.Join(known, ", ")))
		case repeated:
			bad = append(bad, rowField(1, "", "has the column %s twice", name))
		}
		found[name] = i
	}
	for _, name := range known {
		if _, has := found[name]; !has && name != optional {
			bad = append(bad, rowField(1, "", "must have the column %s", name))
		}
	}
	if len(bad) > 0 {
		return nil, fault.Invalid(bad...)
	}
	return found, nil
}

// withoutBlankEnd returns rows without the ones of empty cells at their end, which spreadsheets write below a table.
func withoutBlankEnd(rows [][]string) [][]string {
	isBlank := func(row []string) bool {
		return !slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" })
	}
	for len(rows) > 1 && isBlank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// wrongDelimiter returns what separates the columns of a header that has no commas, as spreadsheets export in many
// countries; empty if nothing known does.
func wrongDelimiter(header []string) string {
	switch {
	case len(header) > 1:
		return ""
	case strings.Contains(header[0], ";"):
		return "semicolons"
	case strings.Contains(header[0], "\t"):
		return "tabs"
	}
	return ""
}

// maxWrongRows is the maximum number of errors that are listed of a file.
const maxWrongRows = 1000

// invalidRows returns INVALID_INPUT with what is wrong with a file, and how much more is.
func invalidRows(bad []fault.Field) error {
	if more := len(bad) - maxWrongRows; more > 0 {
		bad = append(bad[:maxWrongRows:maxWrongRows], fault.Field{Field: "file", Message: fmt.Sprintf("has %d more errors", more)})
	}
	return fault.Invalid(bad...)
}

// rowField returns what is wrong with a row of a file, or with one of its columns.
func rowField(row int, column, format string, args ...any) fault.Field {
	return fault.Field{Field: strings.TrimSpace(fmt.Sprintf("row %d %s", row, column)), Message: fmt.Sprintf(format, args...)}
}
