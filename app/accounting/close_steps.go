package accounting

import (
	"context"
	"time"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

// CloseStep is a step on the way to a closed month, in the order in which they are taken.
type CloseStep struct {
	Name CloseStepName
	// At and By are when the step was taken last, and by whom; zero if it was not.
	At       time.Time
	By       platform.Author
	Approval platform.Approval
	// Blocker says why the step cannot be taken yet or, if it was taken, why it does not count any more; nil if nothing is wrong.
	Blocker error
	// FirstStep and FirstMonth are what comes before the step, if that is in its way.
	FirstStep  CloseStepName
	FirstMonth period.Month
}

// IsDone reports whether the step was taken and counts.
func (s CloseStep) IsDone() bool { return !s.At.IsZero() && s.Blocker == nil }

// CloseStepName is a step on the way to a closed month.
type CloseStepName string

// The steps.
const (
	StepSoftClose      CloseStepName = "SOFT_CLOSE"
	StepRecurring      CloseStepName = "RECURRING"       // only with recurring adjustments of the month
	StepExchangeResult CloseStepName = "EXCHANGE_RESULT" // only with a functional currency
	StepAllowance      CloseStepName = "ALLOWANCE"       // only with rates of an allowance for receivables
	StepFeeDeferral    CloseStepName = "FEE_DEFERRAL"    // only if fees are income at delivery
	StepYearEnd        CloseStepName = "YEAR_END"        // only in the last month of a year
	StepClose          CloseStepName = "CLOSE"
)

// CloseSteps returns the steps that a month needs, with what was done and what is in the way. They are those that ChangeState
// checks. Fault: NOT_FOUND for a month that has not begun or is before the first.
func (s *Periods) CloseSteps(ctx context.Context, p ident.Platform, m period.Month) (steps []CloseStep, err error) {
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := s.checkMonthExists(overview.Calendar, m); err != nil {
		return nil, err
	}
	month, now := newMonth(overview, m), s.Clock.Now()
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		steps = []CloseStep{softCloseStep(overview.Calendar, month, now)}
		recurring, needed, err := s.recurringStep(ctx, tx, p, overview.Calendar, month)
		if err != nil {
			return err
		}
		if needed {
			steps = append(steps, recurring)
		}
		settings, err := tx.BooksSettings(ctx, p)
		if err != nil {
			return err
		}
		for _, kind := range neededRuns(settings.Settings, MonthChange{}) {
			step, err := runStep(ctx, tx, p, settings, kind, month)
			if err != nil {
				return err
			}
			steps = append(steps, step)
		}
		year, needed, err := yearStep(ctx, tx, p, settings, overview.Calendar, month)
		if err != nil {
			return err
		}
		if needed {
			steps = append(steps, year)
		}
		for i, s := range steps {
			if month.State == period.Open && s.Blocker != nil && s.Name != StepSoftClose && s.Name != StepRecurring {
				steps[i].FirstStep = StepSoftClose
			}
		}
		steps = append(steps, closeStep(overview.Calendar, month, steps, now))
		return nil
	})
	return steps, err
}

func softCloseStep(c period.Calendar, m Month, now time.Time) CloseStep {
	step := CloseStep{Name: StepSoftClose}
	if m.State == period.Open {
		_, step.Blocker = c.Apply(period.SoftClose, m.Month, now)
		if isOutOfOrder(step.Blocker) {
			step.FirstMonth = c.FirstOpen
		}
		return step
	}
	for _, change := range m.Changes {
		if change.Action == period.SoftClose {
			step.At, step.By, step.Approval = change.At, change.By, change.Approval
		}
	}
	return step
}

// isOutOfOrder reports whether another month comes first.
func isOutOfOrder(err error) bool {
	f, ok := fault.As(err)
	return ok && f.Reason == "Out of order"
}

// runStep returns the step of a run that posts at the end of the month.
func runStep(ctx context.Context, tx Tx, p ident.Platform, settings books.SettingsVersion, kind ledger.Kind, m Month) (CloseStep, error) {
	step := CloseStep{Name: StepExchangeResult}
	if kind == ledger.KindFeeDeferral {
		step.Name = StepFeeDeferral
	} else if kind == ledger.KindAllowance {
		step.Name = StepAllowance
	}
	needed, err := neededRun(ctx, tx, p, settings, kind, m.Month)
	if err != nil {
		return step, err
	}
	if run := needed.Run; run.Exists() {
		step.At, step.By, step.Approval = run.At, run.By, run.Approval
	}
	if m.State == period.Closed {
		return step, nil // what was posted since counts in the next month
	}
	step.Blocker = monthend.CheckClose(m.Month, needed)
	return step, nil
}

// yearStep returns the step of closing a year, and whether the month needs it.
func yearStep(ctx context.Context, tx Tx, p ident.Platform, settings books.SettingsVersion, c period.Calendar, m Month) (step CloseStep,
	needed bool, err error) {
	step.Name = StepYearEnd
	year := yearend.OfMonth(m.Month, settings.YearEndMonth)
	closings, err := tx.YearClosings(ctx, p)
	if err != nil || year.Last() != m.Month || !yearend.ClosesYears(settings.FunctionalCurrency, closings) {
		return step, false, err
	}
	if current, closed := yearend.Current(closings, year); closed {
		step.At, step.By, step.Approval = current.At, current.By, current.Approval
	}
	switch {
	case m.State == period.Closed:
	case c.Started() && c.FirstUnclosed != m.Month || !c.Started():
		step.Blocker = fault.New(fault.Conflict, "The months of the year %s before %s are not closed. Close them first.", year, m.Month)
		step.FirstMonth = c.FirstUnclosed
	default:
		step.Blocker = checkYearEnd(ctx, tx, p, MonthChange{Month: m.Month})
		if _, isFault := fault.As(step.Blocker); !isFault && step.Blocker != nil {
			return step, true, step.Blocker
		}
	}
	return step, true, nil
}

// closeStep returns the last step, which the ones before it block.
func closeStep(c period.Calendar, m Month, before []CloseStep, now time.Time) CloseStep {
	step := CloseStep{Name: StepClose}
	if m.Closing != nil {
		step.At, step.By = m.Closing.At, m.Closing.By
		for _, change := range m.Changes {
			if change.Action == period.Close {
				step.Approval = change.Approval
			}
		}
		return step
	}
	if _, step.Blocker = c.Apply(period.Close, m.Month, now); step.Blocker != nil {
		if isOutOfOrder(step.Blocker) {
			step.FirstMonth = c.FirstUnclosed
		} else if m.State == period.Open {
			step.FirstStep = StepSoftClose
		}
		return step
	}
	for _, b := range before {
		if b.Blocker != nil {
			step.Blocker, step.FirstStep = b.Blocker, b.Name
			return step
		}
	}
	return step
}
