package accounting

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
)

// PeriodsConfig is what Periods needs.
type PeriodsConfig struct {
	Store  ports.Store
	Ledger ports.LedgerReader
	// Finance reads the balances that a first soft close makes the opening balances.
	Finance ports.Finance
	Clock   ports.Clock
	IDs     ports.IDs
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
	first := overview.Calendar.FirstMonth(overview.FirstPosted, now)
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

// MonthChange is a change of the state of a month.
type MonthChange struct {
	Action period.Action
	Month  period.Month
	Note   string // may be empty
	// ConfirmOpeningBalances confirms that what is effective before the first month that is
	// soft-closed forms its opening balances.
	ConfirmOpeningBalances bool
}

// ChangeState applies a change by a token. Faults: INVALID_INPUT; CONFLICT if the month does not take
// the action, or if it would be the first and that is not confirmed.
func (s *Periods) ChangeState(ctx context.Context, p ident.Platform, by ident.Token, request *ports.IdempotentRequest, c MonthChange) (Month, error) {
	return s.change(ctx, period.Change{Platform: p, Month: c.Month, Action: c.Action, By: platform.Author{Token: by}, Note: c.Note}, c.ConfirmOpeningBalances, request)
}

// ChangeStateAs is ChangeState for an operator, whose name is recorded.
func (s *Periods) ChangeStateAs(ctx context.Context, p ident.Platform, actor string, c MonthChange) (Month, error) {
	actor, err := platform.ParseActor(actor)
	if err != nil {
		return Month{}, err
	}
	return s.change(ctx, period.Change{Platform: p, Month: c.Month, Action: c.Action, By: platform.Author{Actor: actor}, Note: c.Note}, c.ConfirmOpeningBalances, nil)
}

var errUnconfirmed = errors.New("the first soft close is not confirmed")

func (s *Periods) change(ctx context.Context, change period.Change, confirmed bool, request *ports.IdempotentRequest) (done Month, err error) {
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
		if !confirmed && calendar.NeedsConfirmation(change.Action) {
			return errUnconfirmed
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
	if errors.Is(err, errUnconfirmed) {
		err = s.confirmFirst(ctx, change.Platform, change.Month)
	}
	return done, err
}

// OpeningBalance is what an account, or all accounts of a line of the chart, would begin with: debits
// minus credits.
type OpeningBalance struct {
	Account  string         `json:"account"`
	Currency money.Currency `json:"currency"`
	Balance  json.Number    `json:"balance"`
}

// confirmFirst returns the fault of a first soft close, with the opening balances in its details. They
// are left out if they take too long to read.
func (s *Periods) confirmFirst(ctx context.Context, p ident.Platform, first period.Month) error {
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return err
	}
	refused := period.ConfirmFirst(first, overview.FirstPosted)
	before := TrialBalance{TrialBalanceQuery: TrialBalanceQuery{By: ports.ByEffective, Interval: period.Interval{To: first.Start()}, Grouped: true}}
	err = s.Finance.Turnovers(ctx, p, "", []ports.Cutoff{{By: before.By, Moment: before.Last()}}, func(a ports.AccountTurnovers) error {
		before.addAccount(a)
		return nil
	})
	if isTooSlow(err) {
		return refused
	}
	if err != nil {
		return err
	}
	balances := []OpeningBalance{}
	for _, line := range before.Lines {
		if line.Closing.Sign() != 0 {
			balances = append(balances, OpeningBalance{line.Path, line.Currency, json.Number(line.Closing.String())})
		}
	}
	refused.Details["openingBalances"] = balances
	return refused
}
