package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"causeway/core/money"
)

// ErrOverflow is the error for a balance that does not fit into an int64 of minor units.
var ErrOverflow = errors.New("balance does not fit")

// Change is the change of the balance of one account.
type Change struct {
	Account     Account
	NoOverdraft bool
	// Amount is in minor units, with the sign of the account's class: above zero the
	// balance grows.
	Amount int64
}

// NetChanges sums the entries of postings to one change per account, in the order of the
// accounts. The change of an account that ends where it began is zero. Errors:
// ErrNotInChart, ErrOverflow.
func NetChanges(postings ...Posting) ([]Change, error) {
	var sums changeSums
	for _, p := range postings {
		for _, e := range p.Entries {
			if err := sums.add(Account{p.Platform, e.Debit, e.Currency}, e.Amount, true); err != nil {
				return nil, fmt.Errorf("posting %s: %w", p.ID, err)
			}
			if err := sums.add(Account{p.Platform, e.Credit, e.Currency}, e.Amount, false); err != nil {
				return nil, fmt.Errorf("posting %s: %w", p.ID, err)
			}
		}
	}
	slices.SortFunc(sums.changes, func(a, b Change) int { return a.Account.Compare(b.Account) })
	return sums.changes, nil
}

// changeSums sums changes by account. Most postings have a few accounts, for which a linear
// search is faster than a map.
type changeSums struct {
	changes     []Change
	debitNormal []bool          // of the account of each change
	index       map[Account]int // of changes; nil as long as there are few
}

const maxLinearSearch = 16

func (s *changeSums) add(a Account, amount int64, debit bool) error {
	i, err := s.find(a)
	if err != nil {
		return err
	}
	if s.debitNormal[i] != debit {
		amount = -amount // cannot overflow: the amount of an entry is above zero
	}
	if s.changes[i].Amount, err = money.AddMinor(s.changes[i].Amount, amount); err != nil {
		return fmt.Errorf("%w: %s", ErrOverflow, a)
	}
	return nil
}

// find returns the index of the change of an account, which it adds if there is none.
func (s *changeSums) find(a Account) (int, error) {
	if s.index == nil {
		if i := slices.IndexFunc(s.changes, func(c Change) bool { return c.Account == a }); i >= 0 {
			return i, nil
		}
	} else if i, found := s.index[a]; found {
		return i, nil
	}
	line, err := FindChartLine(a.Path)
	if err != nil {
		return 0, err
	}
	i := len(s.changes)
	s.changes = append(s.changes, Change{Account: a, NoOverdraft: line.NoOverdraft})
	s.debitNormal = append(s.debitNormal, line.Class.IsDebitNormal())
	switch {
	case s.index != nil:
		s.index[a] = i
	case len(s.changes) > maxLinearSearch:
		s.index = make(map[Account]int, 2*len(s.changes))
		for j, c := range s.changes {
			s.index[c.Account] = j
		}
	}
	return i, nil
}

// Balances holds the balances of accounts, in minor units with the sign of their class.
// A use case applies one posting after the other to it, to decide many in memory.
type Balances map[Account]int64

// Apply adds a posting to the balances, or returns an error and leaves them unchanged:
// ErrInvalid, ErrOverflow, or an *InsufficientBalanceError if an account that may not be
// overdrawn would go below zero. The entries of a posting are netted first.
func (b Balances) Apply(p Posting) error {
	if err := p.Validate(); err != nil {
		return err
	}
	changes, err := NetChanges(p)
	if err != nil {
		return err
	}
	var shortfalls []Shortfall
	for i, c := range changes {
		before := b[c.Account]
		after, err := money.AddMinor(before, c.Amount)
		if err != nil {
			return fmt.Errorf("%w: %s in posting %s", ErrOverflow, c.Account, p.ID)
		}
		if c.NoOverdraft && after < 0 {
			shortfalls = append(shortfalls, Shortfall{c.Account, p.ID, before, after})
		}
		changes[i].Amount = after
	}
	if shortfalls != nil {
		return &InsufficientBalanceError{shortfalls}
	}

	for _, c := range changes {
		b[c.Account] = c.Amount
	}
	return nil
}

// InsufficientBalanceError names the accounts that would have gone below zero, each with
// the first posting that would have done it. Nothing of the batch was written.
type InsufficientBalanceError struct{ Shortfalls []Shortfall }

// Shortfall is an account that a posting would take below zero.
type Shortfall struct {
	Account Account
	Posting uuid.UUID
	Balance int64 // before the posting, in minor units
	After   int64 // after the posting: below zero
}

func (e *InsufficientBalanceError) Error() string {
	parts := make([]string, len(e.Shortfalls))
	for i, s := range e.Shortfalls {
		parts[i] = fmt.Sprintf("%s has %d and posting %s would leave %d", s.Account, s.Balance, s.Posting, s.After)
	}
	return "balance too low: " + strings.Join(parts, "; ")
}
