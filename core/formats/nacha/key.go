package nacha

import (
	"crypto/sha256"
	"encoding/base32"

	"github.com/google/uuid"
)

// KeyOf returns the key under which a payment travels in ACH files, which have no room for its id: 15 characters
// derived from it. Two of a billion payments have the same key with a probability of 1 in 75,000.
func KeyOf(id uuid.UUID) string {
	sum := sha256.Sum256(id[:])
	return keyEncoding.EncodeToString(sum[:])[:keyLength]
}

const keyLength = 15

// keyEncoding has no I, L, O and U, which persons mistake for others.
var keyEncoding = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)
