package encryption

import (
	"errors"
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

// masterReadTimeout is how long a caller waits for the source, such as a file on a server that does
// not respond.
const masterReadTimeout = 2 * time.Second

// Master seals with the master keys of a source that can change while the process runs, such as a
// file. It is safe for concurrent use.
type Master struct {
	read  func() (ports.Sealer, error)
	clock ports.Clock

	mu      sync.Mutex // never held while the source is read
	sealer  ports.Sealer
	failed  error         // of the last read
	readAt  time.Time     // when it began, or was last waited for
	reading chan struct{} // closed at the end of the read that is under way; nil if none is
}

var _ ports.Sealer = (*Master)(nil)

// NewMaster returns a Master. read returns what seals with the current key and opens with it and the older
// ones, such as Sealers.
func NewMaster(read func() (ports.Sealer, error), clock ports.Clock) (*Master, error) {
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
// again, or not within masterReadTimeout, the former ones stay in use. While a read takes long, only
// one caller in each interval waits for it.
func (m *Master) current(maxAge time.Duration) (ports.Sealer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := m.clock.Now(); m.sealer == nil || now.Sub(m.readAt) >= maxAge {
		m.readAt = now
		m.waitForRead()
	}
	switch {
	case m.sealer != nil:
		return m.sealer, nil
	case m.failed != nil:
		return nil, m.failed
	default:
		return nil, fmt.Errorf("the master key could not be read within %s", masterReadTimeout)
	}
}

// waitForRead begins to read the source, unless that is under way, and waits for it with mu unlocked.
func (m *Master) waitForRead() {
	if m.reading == nil {
		m.reading = make(chan struct{})
		go m.readAgain(m.reading)
	}
	ended := m.reading
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-ended:
	case <-time.After(masterReadTimeout):
	}
}

// readAgain reads the source once.
func (m *Master) readAgain(ended chan struct{}) {
	sealer, err := m.readSealer()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed = err; err == nil {
		m.sealer = sealer
	}
	m.reading = nil
	close(ended)
}

func (m *Master) readSealer() (sealer ports.Sealer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while reading the master key: %v", p)
		}
	}()
	return m.read()
}

// Sealers seals with the first of some sealers, and opens with any. There is at least one.
type Sealers []ports.Sealer

// Seal implements ports.Sealer.
func (s Sealers) Seal(plain, context []byte) ([]byte, error) { return s[0].Seal(plain, context) }

// Open implements ports.Sealer. If one of them cannot say whether it sealed the value, because it does not
// respond, its error is returned.
func (s Sealers) Open(sealed, context []byte) ([]byte, error) {
	var failed error
	for _, sealer := range s {
		plain, err := sealer.Open(sealed, context)
		if err == nil {
			return plain, nil
		}
		if failed == nil || errors.Is(failed, ErrCannotDecrypt) {
			failed = err
		}
	}
	return nil, failed
}

// ParseMaster parses master keys separated by commas, spaces or lines: the current one and then older
// ones. elsewhere returns what seals with a key that has another form than ParseKey parses, and whether the
// text is one.
func ParseMaster(text string, elsewhere func(text string) (sealer ports.Sealer, isKey bool, err error)) (ports.Sealer, error) {
	var sealers Sealers
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		sealer, isKey, err := elsewhere(field)
		if !isKey {
			sealer, err = parseSealer(field)
		}
		if err != nil {
			return nil, err
		}
		sealers = append(sealers, sealer)
	}
	if len(sealers) == 0 {
		_, err := ParseKey("")
		return nil, err
	}
	return sealers, nil
}

func parseSealer(text string) (ports.Sealer, error) {
	key, err := ParseKey(text)
	if err != nil {
		return nil, err
	}
	return New(key)
}
