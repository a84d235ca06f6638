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
	version      = 1
	keyIDLength  = 8
	prefixLength = 1 + keyIDLength
)

// KeyLength is the length of a master key in bytes.
const KeyLength = 32

// ErrCannotDecrypt says that a value was sealed under another key or for another place,
// or was changed since.
var ErrCannotDecrypt = errors.New("the sealed value cannot be opened with this master key, or does not belong here")

// Sealer seals with one master key and opens with any it was given. It is safe for
// concurrent use.
type Sealer struct {
	currentKeyID [keyIDLength]byte
	keysByID     map[[keyIDLength]byte]cipher.AEAD
}

var _ ports.Sealer = (*Sealer)(nil)

// New makes a box that seals with the first key. Older keys still open what they sealed.
func New(current []byte, older ...[]byte) (*Sealer, error) {
	b := &Sealer{keysByID: map[[keyIDLength]byte]cipher.AEAD{}}
	for i, key := range append([][]byte{current}, older...) {
		if len(key) != KeyLength {
			return nil, fmt.Errorf("a master key has %d bytes, not %d", KeyLength, len(key))
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		id := keyID(key)
		if b.keysByID[id], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		if i == 0 {
			b.currentKeyID = id
		}
	}
	return b, nil
}

// Seal encrypts; context says where the value belongs and must be given to Open.
func (b *Sealer) Seal(plain, context []byte) ([]byte, error) {
	aead := b.keysByID[b.currentKeyID]
	sealed := make([]byte, prefixLength+aead.NonceSize(), prefixLength+aead.NonceSize()+len(plain)+aead.Overhead())
	sealed[0] = version
	copy(sealed[1:], b.currentKeyID[:])
	_, _ = rand.Read(sealed[prefixLength:]) // never fails
	return aead.Seal(sealed, sealed[prefixLength:], plain, associatedData(sealed[:prefixLength], context)), nil
}

// Open decrypts, or answers ErrNotOpened.
func (b *Sealer) Open(sealed, context []byte) ([]byte, error) {
	if len(sealed) < prefixLength || sealed[0] != version {
		return nil, ErrCannotDecrypt
	}
	aead, ok := b.keysByID[[keyIDLength]byte(sealed[1:prefixLength])]
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

// associatedData binds the ciphertext to its prefix and to where it belongs.
func associatedData(prefix, context []byte) []byte {
	return append(append(make([]byte, 0, len(prefix)+len(context)), prefix...), context...)
}

// keyID names a key without telling anything about it.
func keyID(key []byte) (id [keyIDLength]byte) {
	sum := sha256.Sum256(append([]byte("causeway master key id\x00"), key...))
	copy(id[:], sum[:])
	return id
}
