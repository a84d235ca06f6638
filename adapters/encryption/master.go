package encryption

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"causeway/ports"
)

// Intervals at which the source of the master keys is read again: while it is used, and when a
// value cannot be opened.
const (
	masterReadInterval  = 10 * time.Second
	masterRetryInterval = time.Second
)

// Master seals with the master keys of a source that can change while the process runs, such as a
// file. It is safe for concurrent use.
type Master struct {
	read  func() ([][]byte, error)
	clock ports.Clock

	mu     sync.Mutex
	sealer *Sealer
	readAt time.Time
}

var _ ports.Sealer = (*Master)(nil)

// NewMaster returns a Master. read returns the current key and then the older ones.
func NewMaster(read func() ([][]byte, error), clock ports.Clock) (*Master, error) {
	m := &Master{read: read, clock: clock}
	_, err := m.current(0)
	return m, err
}

// Seal implements ports.Sealer.
func (m *Master) Seal(plain, context []byte) ([]byte, error) {
	sealer, err := m.current(masterReadInterval)
	if err != nil {
		return nil, err
	}
	return sealer.Seal(plain, context)
}

// Open implements ports.Sealer. A value that was sealed with a key that is new in the source is
// opened too.
func (m *Master) Open(sealed, context []byte) ([]byte, error) {
	sealer, err := m.current(masterReadInterval)
	if err != nil {
		return nil, err
	}
	plain, err := sealer.Open(sealed, context)
	if err == nil {
		return plain, nil
	}
	if sealer, err = m.current(masterRetryInterval); err != nil {
		return nil, err
	}
	return sealer.Open(sealed, context)
}

// current returns the sealer, with keys that were read at most maxAge ago. If they cannot be read
// again, the former ones stay in use.
func (m *Master) current(maxAge time.Duration) (*Sealer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	if m.sealer != nil && now.Sub(m.readAt) < maxAge {
		return m.sealer, nil
	}
	m.readAt = now
	keys, err := m.read()
	if err == nil && len(keys) == 0 {
		err = fmt.Errorf("there is no master key")
	}
	if err == nil {
		var fresh *Sealer
		if fresh, err = New(keys[0], keys[1:]...); err == nil {
			m.sealer = fresh
		}
	}
	if m.sealer != nil {
		return m.sealer, nil
	}
	return nil, err
}

// ParseKeys parses master keys separated by commas, spaces or lines: the current one and then
// older ones.
func ParseKeys(text string) ([][]byte, error) {
	var keys [][]byte
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		key, err := ParseKey(field)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		_, err := ParseKey("")
		return nil, err
	}
	return keys, nil
}
