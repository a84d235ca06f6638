package textfile

import (
	"errors"
	"fmt"
	"io"
)

// Error says what is wrong with a file, where, and what to do. Line is 0 if the whole file is wrong.
type Error struct {
	Line    int
	Problem string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// Errorf returns what is wrong in a line.
func Errorf(line int, format string, args ...any) *Error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

// ErrTooLarge is the error of a file with more bytes than are allowed.
var ErrTooLarge = errors.New("the file is too large")

// Limited reads a file up to a number of bytes. After that it returns ErrTooLarge, not io.EOF.
type Limited struct {
	source    io.Reader
	remaining int64
	err       error
}

// Limit returns a reader of at most so many bytes.
func Limit(r io.Reader, bytes int64) *Limited { return &Limited{source: r, remaining: bytes} }

// Err returns the first error of reading but io.EOF, however a parser has named it.
func (l *Limited) Err() error { return l.err }

func (l *Limited) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.source.Read(p)
	if l.remaining -= int64(n); l.remaining < 0 {
		n, err = 0, ErrTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}
