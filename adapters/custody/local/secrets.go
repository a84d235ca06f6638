package local

import (
	"fmt"
	"io"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// secrets are the private values of one call. They are on the heap, where they do not move.
type secrets struct {
	buffers [][]byte
	keys    []*secp256k1.PrivateKey
}

// add makes a buffer one that wipe overwrites, and returns it.
func (s *secrets) add(buffer []byte) []byte {
	s.buffers = append(s.buffers, buffer)
	return buffer
}

// addKey makes a key one that wipe overwrites, and returns it.
func (s *secrets) addKey(key *secp256k1.PrivateKey) *secp256k1.PrivateKey {
	s.keys = append(s.keys, key)
	return key
}

// wipe overwrites everything that was added.
func (s *secrets) wipe() {
	for _, buffer := range s.buffers {
		clear(buffer[:cap(buffer)])
	}
	for _, key := range s.keys {
		key.Zero()
	}
}

// Format shows nothing of the secrets, whatever the verb.
func (s *secrets) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, "secrets") }
