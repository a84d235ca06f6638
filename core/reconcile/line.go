package reconcile

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Account is the one that is reconciled: what a partner keeps for a platform.
type Account struct {
	Platform ident.Platform
	Path     string // "rails/RTP" or "chains/LAYER2"
	Currency money.Currency
}

// IsReconcilable tells whether a path is an account that a partner tells of.
func IsReconcilable(path string) bool {
	line, err := ledger.FindChartLine(path)
	return err == nil && (strings.HasPrefix(line.Path, "rails/") || strings.HasPrefix(line.Path, "chains/"))
}

// Line is one line of a partner's statement.
type Line struct {
	ID uuid.UUID
	// Ordinal is its place in the file, from 1.
	Ordinal int
	// Amount is minor units: above zero when the partner has more for us than before.
	Amount int64
	Booked Day
	Value  Day
	// ServicerReference is the partner's own name for the movement; empty where it gave none.
	ServicerReference string
	// References are all that the line says to tell payments apart, as they were written.
	References  []string
	Description string
	// Returned: the partner says that this is a payment that came back.
	Returned bool
	// Identity is the same for the same line in every statement that shows it.
	Identity [sha256.Size]byte
	// Reconciled: matched or resolved before; only there to be compared with.
	Reconciled bool
}

// Entry is one entry of our books on the account.
type Entry struct {
	Seq         int64 // number of the posting
	N           int   // of the entry in it
	Posting     uuid.UUID
	Transaction ident.Transaction
	Kind        ledger.Kind
	Memo        string
	// Amount is minor units: above zero when we have more at the partner than before.
	Amount int64
	Day    Day
	// PartnerReferences are further names that the partner may use: its own for what arrived, and
	// what the payer called money whose owner is unknown.
	PartnerReferences []string
	// Expected: the statement covers its day, so a line must be there.
	Expected bool
	// Reconciled: matched or resolved before; only there to be compared with.
	Reconciled bool
}

// The limits of a line, in bytes. Longer texts are cut.
const (
	MaxReference   = 140
	MaxReferences  = 16
	MaxDescription = 500
	// MaxLines is how many lines one statement may have.
	MaxLines = 500_000
	// MaxCompared is how many lines, and how many entries, one comparison takes: it holds
	// them all.
	MaxCompared = 1_500_000
)

// Identify gives each line of a file its identity: the partner's own name for it with
// day and amount, or else all that it says. Lines that are the same in that count up,
// so that what a partner books twice stays two lines, here and when it is sent again.
func Identify(lines []Line) {
	seen := make(map[[sha256.Size]byte]uint32, len(lines))
	for i := range lines {
		content := lines[i].contentHash()
		seen[content]++
		lines[i].Identity = sha256.Sum256(binary.BigEndian.AppendUint32(content[:], seen[content]))
	}
}

func (l Line) contentHash() [sha256.Size]byte {
	b := make([]byte, 0, 256)
	b = append(b, "causeway statement line 1\n"...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Amount))
	b = binary.BigEndian.AppendUint32(b, uint32(l.Booked))
	b = appendText(b, l.ServicerReference)
	if l.ServicerReference == "" {
		b = binary.BigEndian.AppendUint32(b, uint32(l.Value))
		b = binary.BigEndian.AppendUint32(b, uint32(len(l.References)))
		for _, r := range l.References {
			b = appendText(b, r)
		}
		b = appendText(b, l.Description)
	}
	return sha256.Sum256(b)
}

func appendText(b []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}
