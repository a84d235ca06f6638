package ledger

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Reverse is the posting that undoes p: the same entries the other way round, under
// its own id and effective time. Reversing a reversal brings the first one back.
func Reverse(p Posting, id uuid.UUID, effective time.Time, memo string) Posting {
	return Posting{
		ID:          id,
		Platform:    p.Platform,
		Kind:        KindReversal,
		Transaction: p.Transaction,
		Effective:   effective,
		Memo:        memo,
		Reverses:    p.ID,
		Entries:     reversedEntries(p.Entries),
	}
}

// IsReversalOf tells whether p is a reversal of original: it names it, belongs to the same
// transaction and mirrors every entry in its order.
func (p Posting) IsReversalOf(original Posting) bool {
	return p.Kind == KindReversal &&
		p.Reverses == original.ID &&
		p.Platform == original.Platform &&
		p.Transaction == original.Transaction &&
		slices.Equal(p.Entries, reversedEntries(original.Entries))
}

func reversedEntries(entries []Entry) []Entry {
	mirror := make([]Entry, len(entries))
	for i, e := range entries {
		mirror[i] = Entry{Debit: e.Credit, Credit: e.Debit, Currency: e.Currency, Amount: e.Amount}
	}
	return mirror
}
