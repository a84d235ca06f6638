// Package ids generates UUIDv7 identifiers (RFC 9562) from a time and random bits.
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

// Generator generates UUIDv7 identifiers that contain the given time in milliseconds. Its ids
// always increase: if a time is not later than the previous one, a 12-bit counter, and then the
// next millisecond, orders them.
type Generator struct {
	mu      sync.Mutex
	random  *bufio.Reader
	millis  int64
	counter uint16
}

// New returns a generator that uses the system's random source.
func New() *Generator {
	return &Generator{random: bufio.NewReaderSize(rand.Reader, 1024)}
}

// New returns the next identifier for the given time.
func (g *Generator) New(now time.Time) uuid.UUID {
	g.mu.Lock()
	defer g.mu.Unlock()
	if millis := now.UnixMilli(); millis > g.millis {
		g.millis, g.counter = millis, 0
	} else if g.counter++; g.counter == 1<<12 {
		g.millis++
		g.counter = 0
	}
	var id uuid.UUID
	// crypto/rand never fails, and neither does the buffer.
	_, _ = io.ReadFull(g.random, id[8:])
	binary.BigEndian.PutUint64(id[:8], uint64(g.millis)<<16|0x7000|uint64(g.counter))
	id[8] = id[8]&0x3f | 0x80
	return id
}
