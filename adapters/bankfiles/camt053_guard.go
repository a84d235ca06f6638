package bankfiles

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// charsetReader converts ASCII and ISO 8859-1 to UTF-8.
func charsetReader(label string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "utf8":
		return r, nil
	case "iso-8859-1", "latin1":
		return &latin1Reader{source: r}, nil
	}
	return nil, fmt.Errorf("the encoding %.40q is not supported; use UTF-8", label)
}

// latin1Reader converts ISO 8859-1 to UTF-8.
type latin1Reader struct {
	source  io.Reader
	pending byte // the second byte of a character that did not fit; 0 for none
}

func (l *latin1Reader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if l.pending != 0 {
		p[0], l.pending = l.pending, 0
		return 1, nil
	}
	raw := make([]byte, (len(p)+1)/2)
	count, err := l.source.Read(raw)
	for _, b := range raw[:count] {
		if b < 0x80 {
			p[n] = b
			n++
			continue
		}
		p[n] = 0xc0 | b>>6
		n++
		if second := 0x80 | b&0x3f; n < len(p) {
			p[n] = second
			n++
		} else {
			l.pending = second
		}
	}
	if l.pending != 0 && errors.Is(err, io.EOF) {
		err = nil // the pending byte is still to be read
	}
	return n, err
}

// elementGuard refuses a file with too many bytes between two elements: the decoder keeps a whole
// text, tag or comment in memory.
type elementGuard struct {
	source            io.Reader
	bytesSinceElement int
	err               error
}

func (g *elementGuard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.source.Read(p)
	for _, b := range p[:n] {
		if g.bytesSinceElement++; b == '<' {
			g.bytesSinceElement = 0
		}
		if g.bytesSinceElement > maxBytesBetweenElements {
			g.err = errTooLarge
			return 0, g.err
		}
	}
	return n, err
}
