package ledger

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// DerivedID is the id of the nth posting of a kind on behalf of a subject (a
// transaction, a receipt). Whoever repeats the work arrives at the same id, so the
// posting is written once. It is a UUID of version 8: the 48 bits of time of a
// version 7 subject, so that it sorts beside its subject, and a hash of the rest.
func DerivedID(subject uuid.UUID, kind Kind, nth int) uuid.UUID {
	hash := sha256.New()
	hash.Write([]byte("causeway posting\x00"))
	hash.Write(subject[:])
	hash.Write(binary.BigEndian.AppendUint64(nil, uint64(nth)))
	hash.Write([]byte(kind))

	var id uuid.UUID
	copy(id[:6], subject[:6])
	copy(id[6:], hash.Sum(nil))
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}
