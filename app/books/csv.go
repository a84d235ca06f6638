package books

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"causeway/core/fault"
)

const byteOrderMark = "\ufeff"

// readCSV reads a CSV file (RFC 4180, UTF-8, with or without a byte order mark) with at most maxRows rows. Fault: INVALID_INPUT. Other
// errors are those
// of reading.
func readCSV(file io.Reader, maxRows int) ([][]string, error) {
	text := bufio.NewReader(file)
	// In front of a quoted cell the mark would be an error. A file that cannot be read fails at its first row.
	if start, _ := text.Peek(len(byteOrderMark)); string(start) == byteOrderMark {
		_, _ = text.Discard(len(byteOrderMark))
	}
	r := csv.NewReader(text)
	r.FieldsPerRecord = -1 // the parser names rows of another length
	var rows [][]string
	for {
		row, err := r.Read()
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case errors.As(err, &wrong):
			return nil, fileFault("is not CSV: line %d: %v", wrong.Line, wrong.Err)
		case err != nil:
			return nil, err
		case len(rows) == maxRows:
			return nil, fileFault("must have at most %d rows", maxRows)
		}
		for _, cell := range row {
			if !utf8.ValidString(cell) {
				return nil, fileFault("must be UTF-8, also in row %d", len(rows)+1)
			}
		}
		rows = append(rows, row)
	}
}

func fileFault(format string, args ...any) error {
	return fault.Invalid(fault.Field{Field: "file", Message: fmt.Sprintf(format, args...)})
}
