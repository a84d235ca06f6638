package table

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"

	"causeway/core/csvcell"
)

// FromReport returns a table of the rows of a report, whose header has keys. The columns named in right are aligned to the right.
func FromReport(header []string, rows [][]string, right ...int) *Table {
	t := &Table{columns: make([]column, len(header))}
	for i, key := range header {
		t.columns[i] = column{key, key, slices.Contains(right, i)}
	}
	for _, row := range rows {
		cells := make([]Cell, len(row))
		for i, text := range row {
			cells[i] = Cell{text, csvcell.Unescape(text)}
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// WriteReport writes a report of any length as JSON: an array with an object for each row. each calls its argument with some
// rows at a time.
func WriteReport(out io.Writer, header []string, each func(func(rows [][]string) error) error) error {
	w := bufio.NewWriter(out)
	separator := "[\n  "
	err := each(func(rows [][]string) error {
		for _, row := range rows {
			var o object
			for i, text := range row {
				o.add(header[i], csvcell.Unescape(text))
			}
			encoded, err := json.Marshal(o)
			if err != nil {
				return err
			}
			_, _ = w.WriteString(separator) // Flush returns the error
			_, _ = w.Write(encoded)
			separator = ",\n  "
		}
		return nil
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if separator == "[\n  " {
		end = "[]\n"
	}
	_, _ = w.WriteString(end)
	return w.Flush()
}
