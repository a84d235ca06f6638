package ledger

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"causeway/core/money"
)

// BalanceDelta is what a batch of postings, one after the other, does to one account.
type BalanceDelta struct {
	Account Account
	// Sum is the change of the balance by the whole batch. Lowest and Highest are
	// the extremes of the running change after each posting, at most and at least
	// zero: the balance before plus Lowest is the lowest it ever gets.
	Sum     int64
	Lowest  int64
	Highest int64
	// steps keeps each change, to tell afterwards which posting was the one too much.
	steps []step
}

type step struct {
	posting uuid.UUID
	amount  int64
}

// BalanceDeltas works out, in account order, what a batch does to the guarded accounts
// that it touches. Errors: ErrNotInChart, ErrOverflow.
func BalanceDeltas(postings []Posting) ([]BalanceDelta, error) {
	var strains []BalanceDelta
	index := map[Account]int{}
	for _, p := range postings {
		changes, err := p.Changes()
		if err != nil {
			return nil, err
		}
		for _, c := range changes {
			if !c.NoOverdraft {
				continue
			}
			i, seen := index[c.Account]
			if !seen {
				i = len(strains)
				index[c.Account] = i
				strains = append(strains, BalanceDelta{Account: c.Account})
			}
			if err := strains[i].add(p.ID, c.Amount); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(strains, func(a, b BalanceDelta) int { return a.Account.Compare(b.Account) })
	return strains, nil
}

func (s *BalanceDelta) add(posting uuid.UUID, amount int64) error {
	sum, err := money.AddMinor(s.Sum, amount)
	if err != nil {
		return fmt.Errorf("%w: %s in posting %s", ErrOverflow, s.Account, posting)
	}
	s.Sum, s.Lowest, s.Highest = sum, min(s.Lowest, sum), max(s.Highest, sum)
	s.steps = append(s.steps, step{posting, amount})
	return nil
}

// Check tells whether an account with this balance can take the batch: nil, a
// *ShortError that names the first posting too many, or ErrOverflow.
func (s BalanceDelta) Check(balance int64) error {
	if balance > math.MaxInt64-s.Highest {
		return fmt.Errorf("%w: %s", ErrOverflow, s.Account)
	}
	running := balance
	for _, step := range s.steps {
		after, err := money.AddMinor(running, step.amount)
		if err != nil {
			return fmt.Errorf("%w: %s in posting %s", ErrOverflow, s.Account, step.posting)
		}
		if after < 0 {
			return &InsufficientBalanceError{[]Shortfall{{s.Account, step.posting, running, after}}}
		}
		running = after
	}
	return nil
}
