package ledger

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"causeway/core/money"
)

// Balances holds the balance of accounts, in minor units, each with the sign of its
// class. It lets a use case decide many postings one after the other in memory.
type Balances map[Account]int64

// Apply carries out a posting, or returns an error and leaves the balances as they
// were: ErrInvalid, ErrOverflow, or a *ShortError when a guarded account would go
// below zero. The entries of a posting count together.
func (b Balances) Apply(p Posting) error {
	if err := p.Validate(); err != nil {
		return err
	}
	changes, err := p.Changes()
	if err != nil {
		return err
	}
	var short []Shortfall
	for i, c := range changes {
		before := b[c.Account]
		after, err := money.AddMinor(before, c.Amount)
		if err != nil {
			return fmt.Errorf("%w: %s in posting %s", ErrOverflow, c.Account, p.ID)
		}
		if c.NoOverdraft && after < 0 {
			short = append(short, Shortfall{c.Account, p.ID, before, after})
		}
		changes[i].Amount = after
	}
	if short != nil {
		return &InsufficientBalanceError{short}
	}

	for _, c := range changes {
		b[c.Account] = c.Amount
	}
	return nil
}

// Change is what happens to the balance of one account.
type Change struct {
	Account     Account
	NoOverdraft bool
	// Amount is minor units with the sign of the account's class: above zero the
	// balance grows.
	Amount int64
}

// Changes sums the entries of the posting up to one change an account, in the order
// in which the entries name them. A change may be zero. Errors: ErrNotInChart,
// ErrOverflow.
func (p Posting) Changes() ([]Change, error) {
	changes := make([]Change, 0, 2*len(p.Entries))
	for _, e := range p.Entries {
		var err error
		if changes, err = addChange(changes, Account{p.Platform, e.Debit, e.Currency}, e.Amount, true); err != nil {
			return nil, fmt.Errorf("posting %s: %w", p.ID, err)
		}
		if changes, err = addChange(changes, Account{p.Platform, e.Credit, e.Currency}, e.Amount, false); err != nil {
			return nil, fmt.Errorf("posting %s: %w", p.ID, err)
		}
	}
	return changes, nil
}

func addChange(changes []Change, a Account, amount int64, debit bool) ([]Change, error) {
	line, err := FindChartLine(a.Path)
	if err != nil {
		return nil, err
	}
	if line.Class.IsDebitNormal() != debit {
		amount = -amount // an amount is above zero, so this cannot overflow
	}
	for i := range changes {
		if changes[i].Account == a {
			sum, err := money.AddMinor(changes[i].Amount, amount)
			if err != nil {
				return nil, fmt.Errorf("%w: %s", ErrOverflow, a)
			}
			changes[i].Amount = sum
			return changes, nil
		}
	}
	return append(changes, Change{a, line.NoOverdraft, amount}), nil
}

// Shortfall is one guarded account that a posting would take below zero.
type Shortfall struct {
	Account Account
	Posting uuid.UUID
	Balance int64 // before the posting, minor units
	After   int64 // what it would be after it: below zero
}

// InsufficientBalanceError says which guarded accounts would have gone below zero, and by which
// posting first. Nothing of the batch was written.
type InsufficientBalanceError struct{ Shortfalls []Shortfall }

func (e *InsufficientBalanceError) Error() string {
	parts := make([]string, len(e.Shortfalls))
	for i, s := range e.Shortfalls {
		parts[i] = fmt.Sprintf("%s has %d and posting %s would leave %d", s.Account, s.Balance, s.Posting, s.After)
	}
	return "balance too low: " + strings.Join(parts, "; ")
}
