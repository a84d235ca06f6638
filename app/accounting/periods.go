package accounting

import (
	"context"
	"encoding/json"

	"causeway/app/internal/foureyes"
	runs "causeway/app/internal/monthend"
	"causeway/app/internal/report"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// PeriodsConfig is what Periods needs.
type PeriodsConfig struct {
	Store  Store
	Ledger LedgerReader
	// Finance reads the balances that a first soft close makes the opening balances.
	Finance Finance
	Clock   ports.Clock
	IDs     ports.IDs
	// Archiver archives and restores months; nil if Archive and Restore are not called.
	Archiver MonthArchiver
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
	// WithoutRevaluation, WithoutFeeDeferral and WithoutAllowance confirm that a month is closed although it needs such a run and
	// has none, or one that is out of date.
	WithoutRevaluation, WithoutFeeDeferral, WithoutAllowance bool
	// WithoutYearEnd confirms that the last month of a year is closed although income and expense of the year are
	// not closed into retained earnings.
	WithoutYearEnd bool
}

// ChangeState applies a change, or makes a proposal of it. Faults: INVALID_INPUT; CONFLICT if the month does
// not take the action, or if it would be the first and that is not confirmed; those of foureyes.Run.
func (s *Periods) ChangeState(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	c MonthChange) (proposal.Outcome[Month], error) {
	changed, err := foureyes.Run(ctx, s.foureyes(), s.monthChange(c.Action), p, by, request, newMonthRequest(c))
	return changed, s.describeFirst(ctx, p, c, err)
}

// ChangeStateAs applies a change of an operator, whose name is recorded.
func (s *Periods) ChangeStateAs(ctx context.Context, p ident.Platform, by platform.Author, c MonthChange) (Month, error) {
	by, err := by.Parsed()
	if err != nil {
		return Month{}, err
	}
	changed, err := foureyes.RunAlone(ctx, s.foureyes(), s.monthChange(c.Action), p, by, nil, newMonthRequest(c))
	return changed.Done, s.describeFirst(ctx, p, c, err)
}

func (s *Periods) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

// Executors carry out the approved proposals of adjustments and changes of months.
func (s *Periods) Executors() []foureyes.Executor {
	executors := []foureyes.Executor{s.adjustment().Executor(s.foureyes()), s.recurring().Executor(s.foureyes())}
	for _, a := range period.Actions() {
		executors = append(executors, s.monthChange(a).Executor(s.foureyes()))
	}
	return executors
}

// monthOperations are the operations that change months, with the action that may need four eyes.
var monthOperations = map[period.Action]struct {
	id     string
	action books.Action
}{
	period.SoftClose: {"softCloseLedgerPeriod", books.ActionSoftClose},
	period.Reopen:    {"reopenLedgerPeriod", books.ActionSoftClose},
	period.Close:     {"closeLedgerPeriod", books.ActionClose},
}

func (s *Periods) monthChange(a period.Action) foureyes.Operation[Tx, monthRequest, Month] {
	return foureyes.Operation[Tx, monthRequest, Month]{ID: monthOperations[a].id, Action: monthOperations[a].action, Check: checkMonthRequest,
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r monthRequest) (Month, string, error) {
			month, err := s.change(ctx, tx, c, a, r)
			return month, r.Month, err
		}}
}

// monthRequest is the stored form of a change of a month.
type monthRequest struct {
	Month                  string `json:"month"`
	Note                   string `json:"note,omitempty"`
	ConfirmOpeningBalances bool   `json:"confirmOpeningBalances,omitempty"`
	WithoutRevaluation     bool   `json:"withoutRevaluation,omitempty"`
	WithoutFeeDeferral     bool   `json:"withoutFeeDeferral,omitempty"`
	WithoutAllowance       bool   `json:"withoutAllowance,omitempty"`
	WithoutYearEnd         bool   `json:"withoutYearEnd,omitempty"`
}

func newMonthRequest(c MonthChange) monthRequest {
	return monthRequest{c.Month.String(), c.Note, c.ConfirmOpeningBalances, c.WithoutRevaluation, c.WithoutFeeDeferral, c.WithoutAllowance,
		c.WithoutYearEnd}
}

func checkMonthRequest(_ context.Context, _ ident.Platform, r monthRequest) error {
	if bad := period.CheckNote(r.Note, true); len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

func (s *Periods) change(ctx context.Context, tx Tx, c foureyes.Change, a period.Action, r monthRequest) (done Month, err error) {
	month, err := period.ParseMonth(r.Month)
	if err != nil {
		return Month{}, fault.Invalid(fault.Field{Field: "month", Message: err.Error()})
	}
	change := period.Change{Platform: c.Platform, Month: month, Action: a, At: c.At, By: c.By, Approval: c.Approval, Note: r.Note}
	calendar, err := tx.LockPeriods(ctx, c.Platform)
	if err != nil {
		return Month{}, err
	}
	next, err := calendar.Apply(a, month, c.At)
	if err != nil {
		return Month{}, err
	}
	if !r.ConfirmOpeningBalances && calendar.NeedsConfirmation(a) {
		return Month{}, period.ConfirmFirst(month, period.Month{})
	}
	done = Month{Month: month, State: next.State(month), Changes: []period.Change{change}}
	if a == period.SoftClose && !calendar.Started() { // earlier months are closed with it
		if err := s.checkRecurringBefore(ctx, tx, c.Platform, calendar, month); err != nil {
			return Month{}, err
		}
	}
	if a == period.Close {
		if err := s.checkRecurring(ctx, tx, c.Platform, calendar, month); err != nil {
			return Month{}, err
		}
		if err := checkMonthEnd(ctx, tx, c.Platform, MonthChange{Month: month, WithoutRevaluation: r.WithoutRevaluation,
			WithoutFeeDeferral: r.WithoutFeeDeferral, WithoutAllowance: r.WithoutAllowance}); err != nil {
			return Month{}, err
		}
		if err := checkYearEnd(ctx, tx, c.Platform, MonthChange{Month: month, WithoutYearEnd: r.WithoutYearEnd}); err != nil {
			return Month{}, err
		}
		closing, err := tx.RecordClosing(ctx, change, calendar)
		if err != nil {
			return Month{}, err
		}
		done.Closing = &closing
	}
	return done, tx.ChangePeriods(ctx, change, next)
}

// describeFirst returns the fault of a first soft close that is not confirmed with what it would do, and any
// other error as it is.
func (s *Periods) describeFirst(ctx context.Context, p ident.Platform, c MonthChange, err error) error {
	if f, ok := fault.As(err); ok && f.Reason == period.ConfirmationRequired {
		return s.confirmFirst(ctx, p, c.Month)
	}
	return err
}

// checkMonthEnd returns CONFLICT if a month that is to be closed lacks the run of its exchange result, of the
// deferral of fees or of the allowance for receivables, or has one that is out of date, and that is not confirmed.
func checkMonthEnd(ctx context.Context, tx Tx, p ident.Platform, c MonthChange) error {
	settings, err := tx.BooksSettings(ctx, p)
	if err != nil {
		return err
	}
	for _, kind := range neededRuns(settings.Settings, c) {
		n, err := neededRun(ctx, tx, p, settings, kind, c.Month)
		if err != nil {
			return err
		}
		if err := monthend.CheckClose(c.Month, n); err != nil {
			return err
		}
	}
	return nil
}

// neededRuns returns the runs that a month needs before it is closed, but for those that the change leaves out.
func neededRuns(settings books.Settings, c MonthChange) (kinds []ledger.Kind) {
	if !settings.ReceivablesAllowance.IsZero() && !c.WithoutAllowance {
		kinds = append(kinds, ledger.KindAllowance) // before the exchange result, which it may change
	}
	if settings.FunctionalCurrency != "" && !c.WithoutRevaluation {
		kinds = append(kinds, ledger.KindRevaluation)
	}
	if settings.FeeRecognition == books.AtDelivery && !c.WithoutFeeDeferral {
		kinds = append(kinds, ledger.KindFeeDeferral)
	}
	return kinds
}

// neededRun reads the run of a month that is needed to close it.
func neededRun(ctx context.Context, tx Tx, p ident.Platform, settings books.SettingsVersion, kind ledger.Kind,
	m period.Month) (n monthend.Needed, err error) {
	n.Kind = kind
	if n.Run, err = tx.MonthEndRun(ctx, p, kind, m); err != nil {
		return n, err
	}
	if n.Previous, err = tx.MonthEndRunBefore(ctx, p, kind, m); err != nil {
		return n, err
	}
	n.Changed, err = runs.Changed(ctx, tx, monthend.Run{Platform: p, Month: m, Kind: kind}, settings.FunctionalCurrency, n.Run.LastSeq)
	return n, err
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
	before := TrialBalance{TrialBalanceQuery: TrialBalanceQuery{By: ports.ByEffective, Interval: period.Interval{To: first.Start()},
		Grouped: true}}
	err = s.Finance.Turnovers(ctx, p, "", []ports.Cutoff{{By: before.By, Moment: before.Last()}}, func(a ports.AccountTurnovers) error {
		before.addAccount(a)
		return nil
	})
	if report.IsTooSlow(err) {
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
