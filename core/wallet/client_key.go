package wallet

import (
	"crypto/ecdh"
	"crypto/elliptic"
	"encoding/hex"

	"causeway/core/fault"
)

// ClientKey is a public key of the customer's client: a point on P-256.
type ClientKey struct {
	point [65]byte // uncompressed as in SEC 1
	// compressed: the client has written it so.
	compressed bool
}

// ClientKeyPattern and ClientKeyRule are what a key of a client looks like.
const (
	ClientKeyPattern = "^(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$"
	ClientKeyRule    = "a P-256 public key in hexadecimal digits: 04 and the two coordinates (130 digits), or compressed (66 digits)"
)

// ParseClientKey parses the hexadecimal digits of a point, compressed or not, or returns INVALID_INPUT for the
// field clientPublicKey.
func ParseClientKey(text string) (ClientKey, error) {
	if key, ok := parsePoint(text); ok {
		return key, nil
	}
	return ClientKey{}, fault.Invalid(fault.Field{Field: "clientPublicKey", Message: "must be " + ClientKeyRule,
		Constraint: map[string]any{"pattern": ClientKeyPattern}})
}

func parsePoint(text string) (key ClientKey, ok bool) {
	point, err := hex.DecodeString(text)
	if err != nil {
		return key, false
	}
	if len(point) == len(SessionKey{}) {
		key.compressed = true
		point = SessionKey(point).uncompressed()
	}
	if len(point) != len(key.point) {
		return key, false
	}
	_, err = ecdh.P256().NewPublicKey(point)
	copy(key.point[:], point)
	return key, err == nil
}

// Bytes returns the uncompressed point.
func (k ClientKey) Bytes() []byte { return k.point[:] }

// SessionKey returns the compressed point, as the key of a session whose private key the client has.
func (k ClientKey) SessionKey() (s SessionKey) {
	s[0] = 2 | k.point[len(k.point)-1]&1
	copy(s[1:], k.point[1:])
	return s
}

// text returns the point as the client has written it, in lower case.
func (k ClientKey) text() string {
	if k.compressed {
		s := k.SessionKey()
		return hex.EncodeToString(s[:])
	}
	return hex.EncodeToString(k.point[:])
}

// StoredClientKey returns the key of an uncompressed point that Bytes returned.
func StoredClientKey(point []byte) (key ClientKey) {
	copy(key.point[:], point)
	return key
}

// uncompressed returns the point of 65 bytes; nil if there is none.
func (k SessionKey) uncompressed() []byte {
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), k[:])
	if x == nil {
		return nil
	}
	point := [65]byte{4}
	x.FillBytes(point[1:33])
	y.FillBytes(point[33:])
	return point[:]
}
