package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// PeriodsConfig is what the use cases work with.
type PeriodsConfig struct {
	Store  ports.Store
	Ledger ports.LedgerReader
	Clock  ports.Clock
	IDs    ports.IDs
	// Archiver detaches and attaches months; nil for who never does.
	Archiver ports.MonthArchiver
	// Committed is called when something was committed that tells events; may be nil.
	Committed func()
}

// Periods are the use cases.
type Periods struct{ PeriodsConfig }

// NewPeriods makes the use cases.
func NewPeriods(c PeriodsConfig) *Periods { return &Periods{c} }

// Month is one month of a platform's books.
type Month struct {
	Month period.Month
	State period.State
	// Closing is what the books said when it was closed; nil unless it is.
	Closing *period.Closing
	// Changes is everything that was done to it, in order.
	Changes []period.Change
	// Totals adds up its trial balance by currency, and Lines is a page of it. Both are
	// given for one closed month and not in a list.
	Totals []period.Total
	Lines  ports.LinePage
}

// List lists the months of the caller's platform, the newest first: from the first that
// has anything in it to the present one.
func (s *Periods) List(ctx context.Context, p ident.Platform) ([]Month, error) {
	book, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return nil, err
	}
	now := period.MonthOf(s.Clock.Now())
	first := now
	for _, m := range []period.Month{book.FirstPosted, book.Calendar.First} {
		if !m.IsZero() && m.Before(first) {
			first = m
		}
	}
	if book.Calendar.Started() {
		first = book.Calendar.First
	} else if first.Before(period.Earliest) {
		first = period.Earliest
	}
	var months []Month
	for m := now; !m.Before(first); m = m.Previous() {
		months = append(months, newMonth(book, m))
	}
	return months, nil
}

func newMonth(book ports.PeriodOverview, m period.Month) Month {
	month := Month{Month: m, State: book.Calendar.State(m)}
	for i := range book.Closings {
		if book.Closings[i].Month == m {
			month.Closing = &book.Closings[i]
		}
	}
	for _, c := range book.Changes {
		if c.Month == m {
			month.Changes = append(month.Changes, c)
		}
	}
	return month
}

// Get reads one month of the caller's platform and, once it is closed, a page of its
// trial balance. A month that has not begun is NOT_FOUND.
func (s *Periods) Get(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (Month, error) {
	book, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return Month{}, err
	}
	if err := s.checkMonthExists(book.Calendar, m); err != nil {
		return Month{}, err
	}
	month := newMonth(book, m)
	if month.Closing == nil {
		return month, nil
	}
	if month.Totals, err = s.Store.ClosingTotals(ctx, p, m); err != nil {
		return Month{}, err
	}
	month.Lines, err = s.Store.ClosingLines(ctx, p, m, f)
	return month, err
}

func (s *Periods) checkMonthExists(c period.Calendar, m period.Month) error {
	if now := period.MonthOf(s.Clock.Now()); now.Before(m) {
		return fault.New(fault.NotFound, "%s has not begun. The present month is %s.", m, now)
	}
	if c.Started() && m.Before(c.First) {
		return fault.New(fault.NotFound, "The books' months begin with %s; what is effective before is what it opens with.", c.First)
	}
	return nil
}

// ChangeState applies an action to a month. The note may be empty, and so may the token, if
// the operator does it. Faults: INVALID_INPUT; CONFLICT if the month does not take the action.
func (s *Periods) ChangeState(ctx context.Context, p ident.Platform, by ident.Token, claim *ports.IdempotentRequest, a period.Action, m period.Month, note string) (done Month, err error) {
	change := period.Change{Platform: p, Month: m, Action: a, By: by, Note: note}
	if bad := period.CheckNote(change.Note, true); len(bad) > 0 {
		return Month{}, fault.Invalid(bad...)
	}
	change.At = s.Clock.Now().Truncate(time.Microsecond)
	err = s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		calendar, err := tx.LockPeriods(ctx, change.Platform)
		if err != nil {
			return err
		}
		next, err := calendar.Apply(change.Action, change.Month, change.At)
		if err != nil {
			return err
		}
		done = Month{Month: change.Month, State: next.State(change.Month), Changes: []period.Change{change}}
		if change.Action == period.Close {
			closing, err := tx.RecordClosing(ctx, change, calendar)
			if err != nil {
				return err
			}
			done.Closing = &closing
		}
		if err := tx.SaveResponse(ctx, claim, done, nil); err != nil {
			return err
		}
		return tx.ChangePeriods(ctx, change, next)
	})
	return done, err
}
