package ledger

import (
	"fmt"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// OpeningBalance is the balance of an account in earlier books: a debit balance above zero, a credit balance
// below.
type OpeningBalance struct {
	Path  string
	Minor int64
}

// OpeningBalances records the balances of accounts in earlier books, in one currency. The balance of
// equity/brought-forward follows from the others, so that it has no entry of its own: it is zero if they add
// up to zero.
//
//	account → equity/brought-forward for a debit balance
//	equity/brought-forward → account for a credit balance
func OpeningBalances(h Header, currency money.Currency, balances []OpeningBalance) Posting {
	entries := make([]Entry, 0, len(balances))
	for _, b := range balances {
		switch {
		case b.Path == EquityBroughtForward:
		case b.Minor > 0:
			entries = append(entries, Entry{b.Path, EquityBroughtForward, currency, b.Minor})
		case b.Minor < 0:
			entries = append(entries, Entry{EquityBroughtForward, b.Path, currency, -b.Minor})
		}
	}
	return h.posting(KindOpeningBalances, entries...)
}

// OpeningBalancesID returns the id of the nth opening balances, from zero, of a platform in a currency. There is
// a further one only after the one before was reversed.
func OpeningBalancesID(p ident.Platform, currency money.Currency, nth int) uuid.UUID {
	return DerivedID(uuid.NewSHA1(p.UUID(), []byte(currency)), KindOpeningBalances, nth)
}

// CheckOpeningBalances returns what is wrong with a posting that should be the nth opening balances of its
// platform and currency: its id, or an entry that is not between equity/brought-forward and another account.
func (p Posting) CheckOpeningBalances(nth int) error {
	for i, e := range p.Entries {
		if e.Currency != p.Entries[0].Currency {
			return fmt.Errorf("entry %d is in %s and not in %s", i+1, e.Currency, p.Entries[0].Currency)
		}
		if (e.Debit == EquityBroughtForward) == (e.Credit == EquityBroughtForward) {
			return fmt.Errorf("entry %d, %s → %s, is not between %s and another account", i+1, e.Debit, e.Credit, EquityBroughtForward)
		}
	}
	if len(p.Entries) > 0 && p.ID != OpeningBalancesID(p.Platform, p.Entries[0].Currency, nth) {
		return fmt.Errorf("its id is not that of opening balances number %d in %s", nth+1, p.Entries[0].Currency)
	}
	return nil
}
