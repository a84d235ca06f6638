package customers

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"causeway/core/customer"
	"causeway/ports"
)

const (
	// MaxImportRows is the maximum number of rows of a file.
	MaxImportRows = 1_000_000
	// MaxImportRowBytes bounds a row: a quote that is not closed makes the rest of the file one row.
	MaxImportRowBytes = 64 << 10
	// A chunk of rows is imported together.
	maxChunkRows  = 250
	maxChunkBytes = 256 << 10
)

// importFile reads the rows of a CSV file in bounded memory.
type importFile struct {
	source *rowSource
	csv    *csv.Reader
	// Header has the names of the columns.
	header []string
	rows   int
	// carried is a row that was read for a chunk and did not fit.
	carried *ports.ImportRow
}

// fileError is what is wrong with a file.
type fileError []customer.ImportError

func (e fileError) Error() string { return e[0].Message }

func newFileError(reason, format string, args ...any) error {
	return fileError{customer.NewImportFileError(reason, format, args...)}
}

// openImportFile reads the header of a file. Its errors are those of the source, or a fileError.
func openImportFile(source io.Reader) (*importFile, error) {
	f := &importFile{source: &rowSource{source: bufio.NewReader(source)}}
	if err := f.source.skipMark(); err != nil {
		return nil, err
	}
	f.csv = csv.NewReader(f.source)
	f.csv.FieldsPerRecord, f.csv.ReuseRecord = -1, true
	header, err := f.read()
	if errors.Is(err, io.EOF) {
		return nil, newFileError(customer.ImportEmptyFile, "The file is empty. Its first row must be the names of the columns.")
	}
	if err != nil {
		return nil, err
	}
	f.header = slices.Clone(header.Values)
	if _, invalid := customer.ParseImportHeader(f.header); len(invalid) > 0 {
		return nil, fileError(invalid)
	}
	return f, nil
}

// next returns the next chunk of rows; an empty one at the end of the file.
func (f *importFile) next() (ports.ImportChunk, error) {
	chunk, size := ports.ImportChunk{FirstRow: f.rows + 1}, 0
	for len(chunk.Rows) < maxChunkRows {
		row, err := f.nextRow()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return chunk, err
		}
		for _, value := range row.Values {
			size += len(value) + 1
		}
		if size > maxChunkBytes && len(chunk.Rows) > 0 {
			f.carried = &row
			break
		}
		chunk.Rows = append(chunk.Rows, row)
	}
	f.rows += len(chunk.Rows)
	if f.rows > MaxImportRows {
		return chunk, newFileError(customer.ImportTooManyRows, "The file has more than %d rows. Split it.", MaxImportRows)
	}
	return chunk, nil
}

// nextRow returns the next row that has any value but spaces. Spreadsheets write empty rows at the end.
func (f *importFile) nextRow() (ports.ImportRow, error) {
	if row := f.carried; row != nil {
		f.carried = nil
		return *row, nil
	}
	for {
		row, err := f.read()
		if err != nil || slices.ContainsFunc(row.Values, func(v string) bool { return strings.TrimSpace(v) != "" }) {
			row.Values = slices.Clone(row.Values)
			return row, err
		}
	}
}

// read returns the next record, which is valid until the next call.
func (f *importFile) read() (ports.ImportRow, error) {
	f.source.left = MaxImportRowBytes
	record, err := f.csv.Read()
	var malformed *csv.ParseError
	switch {
	case errors.As(err, &malformed) && errors.Is(malformed.Err, csv.ErrBareQuote):
		return ports.ImportRow{}, newFileError(customer.ImportMalformedCSV, "Line %d: a quotation mark is inside a value that does not begin "+
			"with one. Enclose the value in quotation marks and double those inside.", malformed.Line)
	case errors.As(err, &malformed):
		return ports.ImportRow{}, newFileError(customer.ImportMalformedCSV, "The value in quotation marks that begins on line %d does not end, "+
			"or is followed by other characters than a comma, such as a semicolon.", malformed.StartLine)
	case errors.Is(err, errRowTooLong):
		return ports.ImportRow{}, newFileError(customer.ImportRowTooLong, "After line %d comes a row of more than %d KiB. A value is too long, "+
			"or a quotation mark is not closed.", f.source.lines, MaxImportRowBytes>>10)
	case err != nil:
		return ports.ImportRow{}, err
	}
	line, _ := f.csv.FieldPos(0)
	f.source.lines = line
	for _, value := range record {
		if !utf8.ValidString(value) {
			return ports.ImportRow{}, newFileError(customer.ImportInvalidEncoding, "Line %d is not UTF-8. Save the file as CSV in UTF-8.", line)
		}
	}
	return ports.ImportRow{Line: line, Values: record}, nil
}

// rowSource is a file of which no more than some bytes are read for one row.
type rowSource struct {
	source *bufio.Reader
	left   int
	lines  int // the line of the last row
}

var errRowTooLong = errors.New("the row is too long")

func (s *rowSource) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, errRowTooLong
	}
	n, err := s.source.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, err
}

// skipMark skips the byte order mark of UTF-8, and refuses files that are no text in UTF-8.
func (s *rowSource) skipMark() error {
	start, err := s.source.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, err := s.source.Discard(3)
		return err
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")), bytes.IndexByte(start, 0) >= 0:
		return newFileError(customer.ImportInvalidEncoding, "The file is not UTF-8 but probably UTF-16. Save it as CSV in UTF-8.")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return newFileError(customer.ImportInvalidEncoding, "The file is a spreadsheet. Save it as CSV in UTF-8.")
	}
	return nil
}
