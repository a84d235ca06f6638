package ledgerdb

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/core/fault"
)

// row is one row of a result.
type row interface{ Scan(targets ...any) error }

const (
	// maxSpoolMemory is the size above which the rows of a spool are in a file.
	maxSpoolMemory = 1 << 20
	// maxSpoolSize is enough for some millions of accounts or entries.
	maxSpoolSize = 1 << 30
)

// rowSpool keeps the rows of a query after its transaction has ended: a few in memory, more in
// a temporary file. The file has no name, so the system deletes it when the process ends,
// however it ends. The zero value is empty.
type rowSpool struct {
	fields []pgconn.FieldDescription
	memory bytes.Buffer
	file   *os.File
	out    *bufio.Writer // writes file
	size   int64
	count  int64
}

// add appends the current row.
func (s *rowSpool) add(rows pgx.Rows) error {
	if s.fields == nil {
		s.fields = slices.Clone(rows.FieldDescriptions())
	}
	var length [4]byte
	s.count++
	for _, value := range rows.RawValues() {
		binary.BigEndian.PutUint32(length[:], ^uint32(0)) // NULL
		if value != nil {
			binary.BigEndian.PutUint32(length[:], uint32(len(value)))
		}
		if err := errors.Join(s.write(length[:]), s.write(value)); err != nil {
			return err
		}
	}
	return nil
}

func (s *rowSpool) write(p []byte) error {
	if s.size += int64(len(p)); s.size > maxSpoolSize {
		return fault.New(fault.InvalidInput, "The period has more entries or accounts than fit into %d MiB. Request a shorter one.",
			maxSpoolSize>>20)
	}
	if s.file == nil && s.size > maxSpoolMemory {
		if err := s.openFile(); err != nil {
			return fmt.Errorf("create a temporary file (set TMPDIR to a folder with free space): %w", err)
		}
	}
	var err error
	if s.file != nil {
		_, err = s.out.Write(p)
	} else {
		s.memory.Write(p)
	}
	return err
}

// openFile moves the rows to a file without a name.
func (s *rowSpool) openFile() (err error) {
	if s.file, err = os.CreateTemp("", "causeway-*"); err != nil {
		return err
	}
	s.out = bufio.NewWriterSize(s.file, 64<<10)
	if err := os.Remove(s.file.Name()); err != nil {
		return err
	}
	_, err = s.memory.WriteTo(s.out)
	s.memory = bytes.Buffer{}
	return err
}

// each calls scan for every row, in order, as often as it is called.
func (s *rowSpool) each(scan func(row) error) error {
	var in io.Reader = bytes.NewReader(s.memory.Bytes())
	if s.file != nil {
		if err := s.out.Flush(); err != nil {
			return err
		}
		in = bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), 64<<10)
	}
	types := pgtype.NewMap()
	schema.RegisterCodecs(types)
	r := &spooledRow{types: types, fields: s.fields, values: make([][]byte, len(s.fields)), buffers: make([][]byte, len(s.fields))}
	for range s.count {
		if err := r.read(in); err != nil {
			return fmt.Errorf("read a temporary file: %w", err)
		}
		if err := scan(r); err != nil {
			return err
		}
	}
	return nil
}

// Close deletes the rows.
func (s *rowSpool) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// spooledRow is a row that was read back.
type spooledRow struct {
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	// values are slices of buffers, which are reused for each row; nil for NULL.
	values, buffers [][]byte
}

func (r *spooledRow) read(in io.Reader) error {
	var length [4]byte
	for i := range r.values {
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(length[:])
		if r.values[i] = nil; n == ^uint32(0) {
			continue
		}
		r.buffers[i] = slices.Grow(r.buffers[i][:0], int(n)+1)[:n] // not nil if n is zero
		r.values[i] = r.buffers[i]
		if _, err := io.ReadFull(in, r.values[i]); err != nil {
			return err
		}
	}
	return nil
}

// Scan implements row.
func (r *spooledRow) Scan(targets ...any) error {
	return pgx.ScanRow(r.types, r.fields, r.values, targets...)
}
