package ledger

import (
	"crypto/sha256"
	"encoding/binary"
)

// Digest is a hash over everything the posting says. It is stored beside the posting,
// so that a later change of any of it shows. Every field goes in with its length or at
// a fixed one, in the order of the struct, so that no two postings write the same bytes.
func (p Posting) Digest() [32]byte {
	platform, transaction := p.Platform.UUID(), p.Transaction.UUID()
	b := make([]byte, 0, 512)
	b = append(b, "causeway posting 1\n"...)
	b = append(b, p.ID[:]...)
	b = append(b, platform[:]...)
	b = appendText(b, string(p.Kind))
	b = append(b, transaction[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Effective.UnixMicro()))
	b = appendText(b, p.Memo)
	b = append(b, p.Reverses[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(p.Entries)))
	for _, e := range p.Entries {
		b = appendText(b, e.Debit)
		b = appendText(b, e.Credit)
		b = appendText(b, string(e.Currency))
		b = binary.BigEndian.AppendUint64(b, uint64(e.Amount))
	}
	return sha256.Sum256(b)
}

func appendText(b []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}
