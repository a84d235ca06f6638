// Package encryption encrypts secrets at rest with AES-256-GCM under a master key that is not
// stored with the data. It stores nothing and never returns a key.
package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"causeway/ports"
)

// A sealed value is a version, the id of the master key, a nonce, and the ciphertext with its
// tag. The version, the id and the caller's context are authenticated too.
const (
	version      = 1
	keyIDLength  = 8
	prefixLength = 1 + keyIDLength
)

// KeyLength is the length of a master key in bytes.
const KeyLength = 32

// ErrCannotDecrypt means that a value was sealed with another key or another context, or was
// changed.
var ErrCannotDecrypt = ports.ErrCannotDecrypt

// Sealer seals with the current master key and opens with that or an older one. It is safe for
// concurrent use.
type Sealer struct {
	currentKeyID [keyIDLength]byte
	keysByID     map[[keyIDLength]byte]cipher.AEAD
}

var _ ports.Sealer = (*Sealer)(nil)

// New returns a Sealer that seals with the current key. Older keys open what they sealed.
func New(current []byte, older ...[]byte) (*Sealer, error) {
	s := &Sealer{keysByID: map[[keyIDLength]byte]cipher.AEAD{}}
	for i, key := range append([][]byte{current}, older...) {
		if len(key) != KeyLength {
			return nil, fmt.Errorf("a master key must have %d bytes, not %d", KeyLength, len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		id := keyID(key)
		if s.keysByID[id], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		if i == 0 {
			s.currentKeyID = id
		}
	}
	return s, nil
}

// Seal encrypts a value. Open needs the same context, which names where the value belongs.
func (s *Sealer) Seal(plain, context []byte) ([]byte, error) {
	aead := s.keysByID[s.currentKeyID]
	sealed := make([]byte, prefixLength+aead.NonceSize(), prefixLength+aead.NonceSize()+len(plain)+aead.Overhead())
	sealed[0] = version
	copy(sealed[1:], s.currentKeyID[:])
	_, _ = rand.Read(sealed[prefixLength:]) // never fails
	return aead.Seal(sealed, sealed[prefixLength:], plain, associatedData(sealed[:prefixLength], context)), nil
}

// Open decrypts a value that Seal returned. Its only error is ErrCannotDecrypt.
func (s *Sealer) Open(sealed, context []byte) ([]byte, error) {
	if len(sealed) < prefixLength || sealed[0] != version {
		return nil, ErrCannotDecrypt
	}
	aead, ok := s.keysByID[[keyIDLength]byte(sealed[1:prefixLength])]
	if !ok || len(sealed) < prefixLength+aead.NonceSize() {
		return nil, ErrCannotDecrypt
	}
	nonce, ciphertext := sealed[prefixLength:prefixLength+aead.NonceSize()], sealed[prefixLength+aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, ciphertext, associatedData(sealed[:prefixLength], context))
	if err != nil {
		return nil, ErrCannotDecrypt
	}
	return plain, nil
}

// ParseKey parses a master key: 32 bytes in base64.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		key, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	}
	if err != nil || len(key) != KeyLength {
		return nil, fmt.Errorf("must be %d random bytes in base64; create one with: openssl rand -base64 %d", KeyLength, KeyLength)
	}
	return key, nil
}

// NewKey returns a new master key in the form that ParseKey parses.
func NewKey() string {
	var key [KeyLength]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// associatedData binds the ciphertext to its prefix and context.
func associatedData(prefix, context []byte) []byte {
	return append(append(make([]byte, 0, len(prefix)+len(context)), prefix...), context...)
}

// keyID identifies a key without revealing it.
func keyID(key []byte) (id [keyIDLength]byte) {
	sum := sha256.Sum256(append([]byte("causeway master key id\x00"), key...))
	copy(id[:], sum[:])
	return id
}
