package iso20022

import (
	"errors"
	"fmt"
	"io"
)

var (
	errFileTooLarge    = errors.New("the file is too large")
	errElementTooLarge = errors.New("an element is too large")
	errRead            = errors.New("the file cannot be read")
)

// guard ends a file that is too large with an error, and marks errors of its source.
type guard struct {
	source    io.Reader
	remaining int64
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.source.Read(p)
	if g.remaining -= int64(n); g.remaining < 0 {
		return 0, errFileTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errRead, err)
	}
	return n, err
}

// elementGuard refuses a file with too many bytes between two elements: the decoder keeps a whole text, tag or comment
// in memory.
type elementGuard struct {
	source            io.Reader
	bytesSinceElement int
}

func (g *elementGuard) Read(p []byte) (int, error) {
	n, err := g.source.Read(p)
	for _, b := range p[:n] {
		if g.bytesSinceElement++; b == '<' {
			g.bytesSinceElement = 0
		}
		if g.bytesSinceElement > maxBytesBetweenElements {
			return 0, errElementTooLarge
		}
	}
	return n, err
}
