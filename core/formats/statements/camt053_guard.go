package statements

import "io"

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
