// Package seal encrypts what must not lie readable at rest, with AES-256-GCM under a
// master key that is not kept beside the data. It never stores anything and never
// shows a key.
package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"causeway/ports"
)

// A sealed value is a version, the id of the master key, a nonce and the ciphertext
// with its tag. Version, id and the caller's context are authenticated with it.
const (
	version     = 1
	keyIDLength = 8
	prefix      = 1 + keyIDLength
)

// KeyLength is the length of a master key in bytes.
const KeyLength = 32

// ErrNotOpened says that a value was sealed under another key or for another place,
// or was changed since.
var ErrNotOpened = errors.New("the sealed value cannot be opened with this master key, or does not belong here")

// Box seals with one master key and opens with any it was given. It is safe for
// concurrent use.
type Box struct {
	current [keyIDLength]byte
	keys    map[[keyIDLength]byte]cipher.AEAD
}

var _ ports.Sealer = (*Box)(nil)

// New makes a box that seals with the first key. Older keys still open what they sealed.
func New(current []byte, older ...[]byte) (*Box, error) {
	b := &Box{keys: map[[keyIDLength]byte]cipher.AEAD{}}
	for i, key := range append([][]byte{current}, older...) {
		if len(key) != KeyLength {
			return nil, fmt.Errorf("a master key has %d bytes, not %d", KeyLength, len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		id := keyID(key)
		if b.keys[id], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		if i == 0 {
			b.current = id
		}
	}
	return b, nil
}

// Seal encrypts; context says where the value belongs and must be given to Open.
func (b *Box) Seal(plain, context []byte) ([]byte, error) {
	aead := b.keys[b.current]
	sealed := make([]byte, prefix+aead.NonceSize(), prefix+aead.NonceSize()+len(plain)+aead.Overhead())
	sealed[0] = version
	copy(sealed[1:], b.current[:])
	_, _ = rand.Read(sealed[prefix:]) // never fails
	return aead.Seal(sealed, sealed[prefix:], plain, associated(sealed[:prefix], context)), nil
}

// Open decrypts, or answers ErrNotOpened.
func (b *Box) Open(sealed, context []byte) ([]byte, error) {
	if len(sealed) < prefix || sealed[0] != version {
		return nil, ErrNotOpened
	}
	aead, ok := b.keys[[keyIDLength]byte(sealed[1:prefix])]
	if !ok || len(sealed) < prefix+aead.NonceSize() {
		return nil, ErrNotOpened
	}
	nonce, ciphertext := sealed[prefix:prefix+aead.NonceSize()], sealed[prefix+aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, ciphertext, associated(sealed[:prefix], context))
	if err != nil {
		return nil, ErrNotOpened
	}
	return plain, nil
}

// ParseKey reads a master key as a setting gives it: 32 bytes in base64.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		key, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	}
	if err != nil || len(key) != KeyLength {
		return nil, fmt.Errorf("a master key is %d random bytes in base64, as `openssl rand -base64 %d` prints them", KeyLength, KeyLength)
	}
	return key, nil
}

// NewKey makes a master key, in the form that ParseKey reads.
func NewKey() string {
	var key [KeyLength]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// associated binds the ciphertext to its prefix and to where it belongs.
func associated(prefix, context []byte) []byte {
	return append(append(make([]byte, 0, len(prefix)+len(context)), prefix...), context...)
}

// keyID names a key without telling anything about it.
func keyID(key []byte) (id [keyIDLength]byte) {
	sum := sha256.Sum256(append([]byte("causeway master key id\x00"), key...))
	copy(id[:], sum[:])
	return id
}
