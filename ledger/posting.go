package ledger

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// Entry moves Amount minor units of Currency from the account at path Debit to the
// one at path Credit. Written "Debit → Credit".
type Entry struct {
	Debit    string
	Credit   string
	Currency money.Currency
	Amount   int64
}

// Posting is a list of entries that happen together or not at all.
type Posting struct {
	// ID is decided before the posting is written; posting it again changes nothing.
	ID       uuid.UUID
	Platform ident.Platform
	Kind     Kind
	// Transaction is the movement this belongs to; zero for none.
	Transaction ident.Transaction
	// Effective is when it counts for the parties, to the microsecond. When it was
	// recorded is the storage's to say.
	Effective time.Time
	Memo      string
	// Reverses is the posting that this one undoes; zero for none.
	Reverses uuid.UUID
	Entries  []Entry
}

// Equal tells whether both say the same, to the microsecond of the effective time.
func (p Posting) Equal(other Posting) bool {
	return p.ID == other.ID &&
		p.Platform == other.Platform &&
		p.Kind == other.Kind &&
		p.Transaction == other.Transaction &&
		p.Effective.UnixMicro() == other.Effective.UnixMicro() &&
		p.Memo == other.Memo &&
		p.Reverses == other.Reverses &&
		slices.Equal(p.Entries, other.Entries)
}

// Accounts lists the accounts of the posting, each once, in the order of its entries.
func (p Posting) Accounts() []Account {
	accounts := make([]Account, 0, 2*len(p.Entries))
	for _, e := range p.Entries {
		for _, path := range [...]string{e.Debit, e.Credit} {
			if a := (Account{p.Platform, path, e.Currency}); !slices.Contains(accounts, a) {
				accounts = append(accounts, a)
			}
		}
	}
	return accounts
}
