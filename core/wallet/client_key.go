package wallet

import (
	"crypto/ecdh"
	"encoding/hex"

	"causeway/core/fault"
)

// ClientKey is a public key of the customer's client, to which secrets are sealed: a point on P-256,
// uncompressed as in SEC 1 (65 bytes).
type ClientKey struct{ point [65]byte }

// ParseClientKey parses 130 hexadecimal digits that begin with 04, or returns INVALID_INPUT for the field
// clientPublicKey.
func ParseClientKey(text string) (ClientKey, error) {
	var key ClientKey
	point, err := hex.DecodeString(text)
	if err == nil && len(point) == len(key.point) {
		if _, err = ecdh.P256().NewPublicKey(point); err == nil {
			key.point = [65]byte(point)
			return key, nil
		}
	}
	return key, fault.Invalid(fault.Field{Field: "clientPublicKey",
		Message:    "must be a P-256 public key in uncompressed form: 04 and the two coordinates, 130 hexadecimal digits",
		Constraint: map[string]any{"pattern": "^04[0-9a-fA-F]{128}$"}})
}

// Bytes returns the uncompressed point.
func (k ClientKey) Bytes() []byte { return k.point[:] }

// text returns the point as clients write it, in lower case.
func (k ClientKey) text() string { return hex.EncodeToString(k.point[:]) }

// StoredClientKey returns the key of an uncompressed point that Bytes returned.
func StoredClientKey(point []byte) (key ClientKey) {
	copy(key.point[:], point)
	return key
}
