// Package ids makes identifiers: UUIDv7 (RFC 9562) from a moment and randomness.
package ids

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Generator makes UUIDv7 that carry the moment they are asked for in milliseconds.
// Its ids only ever increase: when a moment is not later than the last one, a
// counter in the 12 bits after it (and then the next millisecond) sorts them.
type Generator struct {
	mu      sync.Mutex
	random  *bufio.Reader
	millis  int64
	counter uint16
}

// New makes a generator on the system's randomness.
func New() *Generator {
	return &Generator{random: bufio.NewReaderSize(rand.Reader, 1024)}
}

// New is the next identifier, for the given moment.
func (g *Generator) New(at time.Time) uuid.UUID {
	g.mu.Lock()
	defer g.mu.Unlock()
	if millis := at.UnixMilli(); millis > g.millis {
		g.millis, g.counter = millis, 0
	} else if g.counter++; g.counter == 1<<12 {
		g.millis++
		g.counter = 0
	}
	var id uuid.UUID
	// crypto/rand never fails; the buffer in front of it cannot either.
	_, _ = io.ReadFull(g.random, id[8:])
	binary.BigEndian.PutUint64(id[:8], uint64(g.millis)<<16|0x7000|uint64(g.counter))
	id[8] = id[8]&0x3f | 0x80
	return id
}
