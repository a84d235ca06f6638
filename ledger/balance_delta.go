package ledger

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"causeway/core/money"
)

// BalanceDelta is the effect of a batch of postings, in their order, on one account that
// may not be overdrawn.
type BalanceDelta struct {
	Account Account
	// Sum is the change of the balance by the whole batch. Lowest (zero or less) and
	// Highest (zero or more) are the extremes of the running change after each posting:
	// the balance before the batch plus Lowest is the lowest that it ever gets.
	Sum     int64
	Lowest  int64
	Highest int64
	// changes are kept to find the posting that overdraws the account.
	changes []postingChange
}

type postingChange struct {
	posting uuid.UUID
	amount  int64
}

// BalanceDeltas returns, in account order, the effect of a batch on the accounts in it
// that may not be overdrawn. Errors: ErrNotInChart, ErrOverflow.
func BalanceDeltas(postings []Posting) ([]BalanceDelta, error) {
	var deltas []BalanceDelta
	places := map[Account]int{}
	for _, p := range postings {
		changes, err := NetChanges(p)
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if !c.NoOverdraft {
				continue
			}
			i, seen := places[c.Account]
			if !seen {
				i = len(deltas)
				places[c.Account] = i
				deltas = append(deltas, BalanceDelta{Account: c.Account})
			}
			if err := deltas[i].add(p.ID, c.Amount); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(deltas, func(a, b BalanceDelta) int { return a.Account.Compare(b.Account) })
	return deltas, nil
}

func (d *BalanceDelta) add(posting uuid.UUID, amount int64) error {
	sum, err := money.AddMinor(d.Sum, amount)
	if err != nil {
		return fmt.Errorf("%w: %s in posting %s", ErrOverflow, d.Account, posting)
	}
	d.Sum, d.Lowest, d.Highest = sum, min(d.Lowest, sum), max(d.Highest, sum)
	d.changes = append(d.changes, postingChange{posting, amount})
	return nil
}

// Check returns nil if an account with this balance allows the batch. Otherwise it
// returns an *InsufficientBalanceError that names the first posting that overdraws the
// account, or ErrOverflow.
func (d BalanceDelta) Check(balance int64) error {
	if balance > math.MaxInt64-d.Highest {
		return fmt.Errorf("%w: %s", ErrOverflow, d.Account)
	}
	running := balance
	for _, c := range d.changes {
		after, err := money.AddMinor(running, c.amount)
		if err != nil {
			return fmt.Errorf("%w: %s in posting %s", ErrOverflow, d.Account, c.posting)
		}
		if after < 0 {
			return &InsufficientBalanceError{[]Shortfall{{d.Account, c.posting, running, after}}}
		}
		running = after
	}
	return nil
}
