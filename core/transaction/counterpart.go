package transaction

import (
	"crypto/sha256"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// CounterpartID is the id of the transaction by which a payment between two customers of
// the service arrives. It follows from that by which it is sent, so that it arrives
// once: a UUID of version 8 that sorts beside the other.
func CounterpartID(sent ident.Transaction) ident.Transaction {
	return deriveID("causeway counterpart\x00", sent.UUID())
}

func deriveID(label string, from uuid.UUID) (follows ident.Transaction) {
	sum := sha256.Sum256(append([]byte(label), from[:]...))
	var id uuid.UUID
	copy(id[:6], from[:6])
	copy(id[6:], sum[:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	ident.SetUUID(&follows, id)
	return follows
}
