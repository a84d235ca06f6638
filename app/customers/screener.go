package customers

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/ports"
)

// Screener compares names with the sanctions lists that are loaded. It keeps them in memory and reads
// them again when another one was loaded.
type Screener struct {
	lists     SanctionsLists
	threshold int
	// turn is held by the call that reads or writes compared.
	turn     chan struct{}
	compared screening.Compared
}

// Screeners has the Screener of each environment whose customers are screened.
type Screeners map[platform.Environment]*Screener

// NewScreener returns a Screener that finds entries with a score of at least threshold.
func NewScreener(lists SanctionsLists, threshold int) *Screener {
	return &Screener{lists: lists, threshold: threshold, turn: make(chan struct{}, 1), compared: screening.Compared{Threshold: threshold}}
}

// maxListReads is how often lists are read that are replaced meanwhile.
const maxListReads = 5

// Compared returns the lists that are loaded now.
func (s *Screener) Compared(ctx context.Context) (screening.Compared, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return screening.Compared{}, ctx.Err()
	}
	for range maxListReads {
		lists, err := s.lists.SanctionsLists(ctx)
		if err != nil {
			return screening.Compared{}, err
		}
		if slices.EqualFunc(lists, s.compared.Lists, func(a, b screening.LoadedList) bool { return a.ID == b.ID }) {
			return s.compared, nil
		}
		entries, err := s.lists.SanctionsEntries(ctx)
		if err != nil {
			return screening.Compared{}, err
		}
		// The next round reads the lists again: if one was replaced meanwhile, so are the entries.
		s.compared = screening.Compared{Lists: lists, Threshold: s.threshold, Index: screening.NewIndex(entries, s.threshold)}
	}
	return screening.Compared{}, errors.New("the sanctions lists were replaced while they were read")
}

// comparedOf returns what the customers of a platform are compared with: nothing, if those of its
// environment are not screened.
func (s *Verifications) comparedOf(ctx context.Context, p ident.Platform) (screening.Compared, error) {
	owner, err := s.Store.Platform(ctx, p)
	if err != nil {
		return screening.Compared{}, err
	}
	screener, screened := s.Sanctions[owner.Environment]
	if !screened {
		return screening.Compared{}, nil
	}
	return screener.Compared(ctx)
}

// enqueue adds the job that screens customers who are new or changed.
func (s Screeners) enqueue(ctx context.Context, tx Tx, ids ports.IDs, p ident.Platform, environment platform.Environment,
	now time.Time, customers ...ident.Customer) error {
	if _, screened := s[environment]; !screened || len(customers) == 0 {
		return nil
	}
	subjects := make([]uuid.UUID, len(customers))
	for i, c := range customers {
		subjects[i] = c.UUID()
	}
	return tx.AddJobs(ctx, []ports.Job{{ID: ids.New(now), Platform: p, Step: ports.StepScreenCustomers, Due: now, Subjects: subjects}})
}

// hasNewSubject reports whether a change of a customer changes what is screened of it.
func hasNewSubject(before, after customer.Customer) bool {
	old, _ := screening.CustomerSubject(before)
	present, _ := screening.CustomerSubject(after)
	return old.Version() != present.Version()
}
