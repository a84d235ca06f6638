package ledger

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/ident"
	"causeway/core/money"
)

// NetChanges sums what postings do to guarded accounts: one change for each whose balance
// is another afterwards, in the order of the accounts. Errors: ErrNotInChart,
// ErrOverflow.
func NetChanges(postings []Posting) ([]Change, error) {
	var sums map[Account]int64
	add := func(a Account, amount int64, debit bool) error {
		line, err := FindChartLine(a.Path)
		if err != nil || !line.NoOverdraft {
			return err
		}
		if line.Class.IsDebitNormal() != debit {
			amount = -amount // an amount is above zero, so this cannot overflow
		}
		if sums == nil {
			sums = map[Account]int64{}
		}
		if sums[a], err = money.AddMinor(sums[a], amount); err != nil {
			return fmt.Errorf("%w: %s", ErrOverflow, a)
		}
		return nil
	}
	for _, p := range postings {
		for _, e := range p.Entries {
			if err := add(Account{p.Platform, e.Debit, e.Currency}, e.Amount, true); err != nil {
				return nil, fmt.Errorf("posting %s: %w", p.ID, err)
			}
			if err := add(Account{p.Platform, e.Credit, e.Currency}, e.Amount, false); err != nil {
				return nil, fmt.Errorf("posting %s: %w", p.ID, err)
			}
		}
	}
	moved := make([]Change, 0, len(sums))
	for account, amount := range sums {
		if amount != 0 {
			moved = append(moved, Change{account, true, amount})
		}
	}
	slices.SortFunc(moved, func(a, b Change) int { return a.Account.Compare(b.Account) })
	return moved, nil
}

// InternalAccount is the internal account whose balance lies at the path; false for any other
// path.
func (a Account) InternalAccount() (ident.InternalAccount, bool) {
	_, name, _ := strings.Cut(a.Path, "/")
	id, err := ident.ParseInternalAccount(name)
	return id, err == nil
}
