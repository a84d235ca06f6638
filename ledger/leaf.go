package ledger

import (
	"encoding/binary"
	"time"
)

// Leaf is a posting as it stands in its platform's log: what it says, its number and
// when it was recorded. Seq counts from one without a gap; the leaf of number n is the
// one at index n-1 of the log's tree.
type Leaf struct {
	Posting
	Seq      int64
	Recorded time.Time
}

// leafVersion begins every leaf, so that another encoding can never be taken for this one.
const leafVersion = "causeway leaf 1\n"

// Encode appends the bytes that the log is made of, which anybody can make again from
// an export. Whole numbers are big-endian; a text is its length in bytes in 4 bytes and
// then its UTF-8; an id is its 16 bytes, zeros for none; a time is microseconds since
// 1970 in 8 bytes. In this order:
//
//	"causeway leaf 1\n"
//	platform id, number (8 bytes), posting id, kind (text)
//	transaction id, id of the posting it reverses
//	effective time, recorded time, memo (text)
//	how many entries (4 bytes), and for each in order:
//	    its number from one (4 bytes), debit account (text), credit account (text),
//	    currency (text), amount in minor units (8 bytes)
func (l Leaf) Encode(b []byte) []byte {
	platform, transaction := l.Platform.UUID(), l.Transaction.UUID()
	b = append(b, leafVersion...)
	b = append(b, platform[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Seq))
	b = append(b, l.ID[:]...)
	b = appendText(b, string(l.Kind))
	b = append(b, transaction[:]...)
	b = append(b, l.Reverses[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Effective.UnixMicro()))
	b = binary.BigEndian.AppendUint64(b, uint64(l.Recorded.UnixMicro()))
	b = appendText(b, l.Memo)
	b = binary.BigEndian.AppendUint32(b, uint32(len(l.Entries)))
	for i, e := range l.Entries {
		b = binary.BigEndian.AppendUint32(b, uint32(i+1))
		b = appendText(b, e.Debit)
		b = appendText(b, e.Credit)
		b = appendText(b, string(e.Currency))
		b = binary.BigEndian.AppendUint64(b, uint64(e.Amount))
	}
	return b
}
