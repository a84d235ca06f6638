package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
)

// PeriodsConfig is what Periods needs.
type PeriodsConfig struct {
	Store  ports.Store
	Ledger ports.LedgerReader
	Clock  ports.Clock
	IDs    ports.IDs
	// Archiver archives and restores months; nil if Archive and Restore are not called.
	Archiver ports.MonthArchiver
}

// Periods holds the use cases on accounting periods and adjustments.
type Periods struct{ PeriodsConfig }

// NewPeriods returns Periods.
func NewPeriods(c PeriodsConfig) *Periods { return &Periods{c} }

// Month is an accounting period of a platform.
type Month struct {
	Month period.Month
	State period.State
	// Closing is the record of its closing; nil unless it is closed.
	Closing *period.Closing
	// Changes are the changes of its state, in order.
	Changes []period.Change
	// Totals are the totals of its trial balance by currency, and Lines is a page of it. Both
	// are set by Get for a closed month, and not by List.
	Totals []period.Total
	Lines  ports.LinePage
}

// List lists the months of a platform, newest first: from the first one with a posting or
// with a state to the current one.
func (s *Periods) List(ctx context.Context, p ident.Platform) ([]Month, error) {
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return nil, err
	}
	now := period.MonthOf(s.Clock.Now())
	first := now
	for _, m := range []period.Month{overview.FirstPosted, overview.Calendar.First} {
		if !m.IsZero() && m.Before(first) {
			first = m
		}
	}
	if overview.Calendar.Started() {
		first = overview.Calendar.First
	} else if first.Before(period.Earliest) {
		first = period.Earliest
	}
	var months []Month
	for m := now; !m.Before(first); m = m.Previous() {
		months = append(months, newMonth(overview, m))
	}
	return months, nil
}

func newMonth(overview ports.PeriodOverview, m period.Month) Month {
	month := Month{Month: m, State: overview.Calendar.State(m)}
	for i := range overview.Closings {
		if overview.Closings[i].Month == m {
			month.Closing = &overview.Closings[i]
		}
	}
	for _, c := range overview.Changes {
		if c.Month == m {
			month.Changes = append(month.Changes, c)
		}
	}
	return month
}

// Get returns one month of a platform and, if it is closed, a page of its trial balance.
// Fault: NOT_FOUND for a month that has not begun or is before the first.
func (s *Periods) Get(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (Month, error) {
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return Month{}, err
	}
	if err := s.checkMonthExists(overview.Calendar, m); err != nil {
		return Month{}, err
	}
	month := newMonth(overview, m)
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
		return fault.New(fault.NotFound, "%s has not begun. The current month is %s.", m, now)
	}
	if c.Started() && m.Before(c.First) {
		return fault.New(fault.NotFound, "The first accounting period is %s; earlier postings are its opening balances.", c.First)
	}
	return nil
}

// ChangeState applies an action of a token to a month. The note may be empty. Faults: INVALID_INPUT;
// CONFLICT if the month does not take the action.
func (s *Periods) ChangeState(ctx context.Context, p ident.Platform, by ident.Token, request *ports.IdempotentRequest, a period.Action, m period.Month, note string) (done Month, err error) {
	return s.change(ctx, period.Change{Platform: p, Month: m, Action: a, By: by, Note: note}, request)
}

// ChangeStateAs is ChangeState for an operator, whose name is recorded.
func (s *Periods) ChangeStateAs(ctx context.Context, p ident.Platform, actor string, a period.Action, m period.Month, note string) (Month, error) {
	actor, err := platform.ParseActor(actor)
	if err != nil {
		return Month{}, err
	}
	return s.change(ctx, period.Change{Platform: p, Month: m, Action: a, Actor: actor, Note: note}, nil)
}

func (s *Periods) change(ctx context.Context, change period.Change, request *ports.IdempotentRequest) (done Month, err error) {
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
		if err := tx.SaveResponse(ctx, request, done, nil); err != nil {
			return err
		}
		return tx.ChangePeriods(ctx, change, next)
	})
	return done, err
}
