package transaction

import (
	"crypto/sha256"
	"encoding/base32"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// CounterpartID returns the id of the incoming transaction of a payment between two customers of a
// platform. It is derived from the id of the outgoing one, so that the payment is received once. It
// is a UUID of version 8 with the same time.
func CounterpartID(sent ident.Transaction) ident.Transaction {
	return deriveID("causeway counterpart\x00", sent.UUID())
}

// RepeatableID returns the id of the transaction that a request makes, however often it is sent. It is a UUID of version 8 with the time of
// what the request refers to.
func RepeatableID(request []byte, refersTo uuid.UUID) ident.Transaction {
	return deriveID("causeway repeatable\x00"+string(request), refersTo)
}

func deriveID(label string, from uuid.UUID) (derived ident.Transaction) {
	sum := sha256.Sum256(append([]byte(label), from[:]...))
	var id uuid.UUID
	copy(id[:6], from[:6])
	copy(id[6:], sum[:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	derived.SetUUID(id)
	return derived
}

// crockford is Crockford's base 32, which has no letters that are mistaken for digits.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// NewReference returns the code that a payer puts into the memo of a payment: 12 characters made
// of the random part of the transaction's id.
func NewReference(id ident.Transaction) string {
	u := id.UUID()
	return crockford.EncodeToString(u[8:])[1:]
}
