package ledger

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// Header is what every movement needs beside its amounts.
type Header struct {
	ID          uuid.UUID
	Platform    ident.Platform
	Transaction ident.Transaction // zero for none
	Effective   time.Time
	Memo        string
}

// posting builds a movement's posting. Amounts of zero are left out: a payment
// without a fee has no fee entry. What is left is for Validate to judge, so a
// movement built from nonsense is refused when it is posted.
func (h Header) posting(kind Kind, entries ...Entry) Posting {
	p := Posting{
		ID:          h.ID,
		Platform:    h.Platform,
		Kind:        kind,
		Transaction: h.Transaction,
		Effective:   h.Effective,
		Memo:        h.Memo,
		Entries:     make([]Entry, 0, len(entries)),
	}
	for _, e := range entries {
		if e.Amount != 0 {
			p.Entries = append(p.Entries, e)
		}
	}
	return p
}

func entry(debit, credit string, amount money.Amount) Entry {
	return Entry{Debit: debit, Credit: credit, Currency: amount.Currency, Amount: amount.Minor}
}
