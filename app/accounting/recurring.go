package accounting

import (
	"context"
	"errors"
	"fmt"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/recurring"
	"causeway/ports"
)

// RecurringStore reads adjustments that are posted every month, and what was posted.
type RecurringStore interface {
	// RecurringAdjustments returns the recurring adjustments of a platform, by name.
	RecurringAdjustments(ctx context.Context, p ident.Platform) ([]recurring.Adjustment, error)
	// RecurringRuns returns the months that are posted, from one on or, if that is zero, all.
	RecurringRuns(ctx context.Context, p ident.Platform, from period.Month) ([]recurring.Run, error)
}

// SetRecurring adds or changes a recurring adjustment, or makes a proposal of that: on production platforms always. An author
// without a token is an operator on the command line. Faults: INVALID_INPUT with everything that is wrong; CONFLICT for months that are
// posted or closed, or if there are too many; those of foureyes.Run.
func (s *Periods) SetRecurring(ctx context.Context, p ident.Platform, by platform.Author,
	v recurring.Version) (proposal.Outcome[recurring.Version], error) {
	run := foureyes.Run[Tx, recurringRequest, recurring.Version]
	if by.Token.IsZero() {
		run = foureyes.RunAlone[Tx, recurringRequest, recurring.Version]
	}
	return run(ctx, s.foureyes(), s.recurring(), p, by, nil, newRecurringRequest(v))
}

// EndRecurring ends a recurring adjustment after a month, or makes a proposal of that, as SetRecurring does. Fault: NOT_FOUND.
func (s *Periods) EndRecurring(ctx context.Context, p ident.Platform, by platform.Author, name string,
	last period.Month) (done proposal.Outcome[recurring.Version], err error) {
	all, err := s.Store.RecurringAdjustments(ctx, p)
	if err != nil {
		return done, err
	}
	a := namedRecurring(all, name)
	if len(a) == 0 {
		return done, fault.New(fault.NotFound, "There is no recurring adjustment %.40q. List them with `causeway ledger recurring list`.", name)
	}
	return s.SetRecurring(ctx, p, by, a.End(last))
}

func namedRecurring(all []recurring.Adjustment, name string) recurring.Adjustment {
	for _, a := range all {
		if a[0].Name == name {
			return a
		}
	}
	return nil
}

// Recurring is a recurring adjustment with the months that were posted, newest first.
type Recurring struct {
	recurring.Version // the latest one
	Runs              []recurring.Run
	// IsOver: nothing more is posted.
	IsOver bool
}

// Recurring lists the recurring adjustments, by name.
func (s *Periods) Recurring(ctx context.Context, p ident.Platform) (list []Recurring, err error) {
	all, err := s.Store.RecurringAdjustments(ctx, p)
	if err != nil {
		return nil, err
	}
	runs, err := s.Store.RecurringRuns(ctx, p, period.Month{})
	for _, a := range all {
		latest, _ := a.Latest()
		item := Recurring{Version: latest, IsOver: a.IsOver(runs, period.Calendar{}, s.Clock.Now())} // closed months are posted
		for i := range runs {
			if run := runs[len(runs)-1-i]; run.Name == latest.Name {
				item.Runs = append(item.Runs, run)
			}
		}
		list = append(list, item)
	}
	return list, err
}

// recurringRequest is the stored form of a version of a recurring adjustment.
type recurringRequest struct {
	Name     string            `json:"name"`
	Entries  []adjustmentEntry `json:"entries"`
	Note     string            `json:"note"`
	First    string            `json:"first"`
	Last     string            `json:"last,omitempty"`
	Reverses bool              `json:"reverses,omitempty"`
}

func newRecurringRequest(v recurring.Version) recurringRequest {
	return recurringRequest{v.Name, newAdjustmentEntries(v.Entries), v.Note, v.First.String(), v.Last.String(), v.Reverses}
}

// version parses the months. Fault: INVALID_INPUT for one that is none.
func (r recurringRequest) version(p ident.Platform) (recurring.Version, error) {
	v := recurring.Version{Platform: p, Name: r.Name, Entries: ledgerEntries(r.Entries), Note: r.Note, Reverses: r.Reverses}
	var bad []fault.Field
	for _, m := range []struct {
		name, text string
		to         *period.Month
	}{{"first", r.First, &v.First}, {"last", r.Last, &v.Last}} {
		var err error
		if *m.to, err = period.ParseMonth(m.text); err != nil && (m.text != "" || m.name == "first") {
			bad = append(bad, fault.Field{Field: m.name, Message: err.Error()})
		}
	}
	if len(bad) > 0 {
		return v, fault.Invalid(bad...)
	}
	return v, nil
}

func (s *Periods) recurring() foureyes.Operation[Tx, recurringRequest, recurring.Version] {
	return foureyes.Operation[Tx, recurringRequest, recurring.Version]{ID: "setRecurringAdjustment", Action: books.ActionAdjustment,
		TwoPersons: func(recurringRequest) bool { return true },
		Check: func(_ context.Context, p ident.Platform, r recurringRequest) error {
			v, err := r.version(p)
			if err != nil {
				return err
			}
			if bad := v.Check(s.Clock.Now()); len(bad) > 0 {
				return fault.Invalid(bad...)
			}
			return nil
		},
		Execute: s.setRecurring}
}

func (s *Periods) setRecurring(ctx context.Context, tx Tx, c foureyes.Change, r recurringRequest) (v recurring.Version, made string,
	err error) {
	if v, err = r.version(c.Platform); err != nil {
		return v, "", err
	}
	calendar, err := tx.LockPeriods(ctx, c.Platform)
	if err != nil {
		return v, "", err
	}
	if !v.Ends() {
		if err := checkAddedAccounts(ctx, tx, period.Adjustment{Platform: c.Platform, Entries: v.Entries}); err != nil {
			return v, "", err
		}
	}
	all, err := tx.RecurringAdjustments(ctx, c.Platform)
	if err != nil {
		return v, "", err
	}
	posted, err := tx.RecurringRuns(ctx, c.Platform, calendar.FirstUnclosed)
	if err != nil {
		return v, "", err
	}
	if v, err = namedRecurring(all, v.Name).Change(v, posted, calendar); err != nil {
		return v, "", err
	}
	if err := recurring.CheckNumber(all, v, posted, calendar, c.At); err != nil {
		return v, "", err
	}
	v.At, v.By, v.Approval = c.At, c.By, c.Approval
	return v, v.Name, tx.SaveRecurringAdjustment(ctx, v)
}

// PostRecurring posts the recurring adjustments of all months that are over, on all platforms. Every process calls it: the calendar is
// locked before what is due is read, so that each month is posted once. What cannot be posted waits, see CloseSteps, and does not keep
// others from being posted.
func (s *Periods) PostRecurring(ctx context.Context) error {
	platforms, err := s.Store.RecurringPlatforms(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, p := range platforms {
		if err := s.postRecurringOf(ctx, p); err != nil {
			failed = append(failed, fmt.Errorf("post recurring adjustments of %s: %w", p, err))
		}
	}
	return errors.Join(failed...)
}

func (s *Periods) postRecurringOf(ctx context.Context, p ident.Platform) error {
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return err
	}
	due, err := s.dueRecurring(ctx, s.Store, p, overview.Calendar)
	var failed []error
	for _, d := range due {
		if err := s.postRecurring(ctx, d); err != nil {
			failed = append(failed, fmt.Errorf("%s of %s: %w", d.Name, d.Month, err))
		}
	}
	return errors.Join(append(failed, err)...)
}

// dueRecurring returns the months that are over, not closed and not posted, oldest first for each name.
func (s *Periods) dueRecurring(ctx context.Context, read RecurringStore, p ident.Platform,
	c period.Calendar) (due []recurring.Due, err error) {
	all, err := read.RecurringAdjustments(ctx, p)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	posted, err := read.RecurringRuns(ctx, p, c.FirstUnclosed)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		due = append(due, a.Due(posted, c, s.Clock.Now())...)
	}
	return due, nil
}

// postRecurring posts a month, unless another process has, or its accounts do not take it.
func (s *Periods) postRecurring(ctx context.Context, seen recurring.Due) error {
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		calendar, err := tx.LockPeriods(ctx, seen.Platform)
		if err != nil {
			return err
		}
		due, err := s.dueRecurring(ctx, tx, seen.Platform, calendar)
		if err != nil {
			return err
		}
		for _, d := range due {
			if d.Name != seen.Name || d.Month != seen.Month {
				continue
			}
			problems, err := recurringProblems(ctx, tx, d)
			if err != nil || len(problems) > 0 {
				return err
			}
			run, postings, authorised := d.Post(foureyes.Now(s.Clock))
			if err := tx.Authorise(ctx, authorised); err != nil {
				return err
			}
			if err := tx.SaveRecurringRun(ctx, run); err != nil {
				return err
			}
			work := uow.NewWork(run.At, s.IDs, 0)
			work.Post(postings...)
			return work.Write(ctx, tx)
		}
		return nil
	})
}

// recurringProblems returns why the accounts of a recurring adjustment do not take its posting.
func recurringProblems(ctx context.Context, tx Tx, d recurring.Due) ([]fault.Field, error) {
	err := checkAddedAccounts(ctx, tx, period.Adjustment{Platform: d.Platform, Entries: d.Entries})
	if f, ok := fault.As(err); ok && f.Code == fault.InvalidInput {
		return f.Fields, nil
	}
	return nil, err
}

// recurringStep is the step of the recurring adjustments of a month, and whether the month has any.
func (s *Periods) recurringStep(ctx context.Context, tx Tx, p ident.Platform, c period.Calendar, m Month) (step CloseStep, needed bool,
	err error) {
	step.Name = StepRecurring
	runs, err := tx.RecurringRuns(ctx, p, m.Month)
	if err != nil {
		return step, false, err
	}
	for _, run := range runs {
		if run.Month == m.Month && !run.At.Before(step.At) {
			step.At, step.By, needed = run.At, recurringAuthor, true
		}
	}
	blocker, err := s.recurringBlocker(ctx, tx, p, c, m.Month)
	step.Blocker = blocker
	return step, needed || blocker != nil, err
}

// recurringAuthor is who posts the months that two persons have approved.
var recurringAuthor = platform.Author{Actor: "service"}

// checkRecurring returns CONFLICT if a month that is to be closed lacks a recurring adjustment.
func (s *Periods) checkRecurring(ctx context.Context, tx Tx, p ident.Platform, c period.Calendar, m period.Month) error {
	blocker, err := s.recurringBlocker(ctx, tx, p, c, m)
	if err != nil {
		return err
	}
	return blocker
}

// checkRecurringBefore returns CONFLICT if a month before one lacks a recurring adjustment.
func (s *Periods) checkRecurringBefore(ctx context.Context, tx Tx, p ident.Platform, c period.Calendar, m period.Month) error {
	due, err := s.dueRecurring(ctx, tx, p, c)
	for _, d := range due {
		if d.Month.Before(m) {
			return s.checkRecurring(ctx, tx, p, c, d.Month)
		}
	}
	return err
}

// recurringBlocker returns CONFLICT with the first recurring adjustment that a month lacks.
func (s *Periods) recurringBlocker(ctx context.Context, tx Tx, p ident.Platform, c period.Calendar, m period.Month) (blocker, err error) {
	due, err := s.dueRecurring(ctx, tx, p, c)
	for _, d := range due {
		if d.Month != m {
			continue
		}
		problems, err := recurringProblems(ctx, tx, d)
		if err != nil {
			return nil, err
		}
		if found := d.Blocker(problems); blocker == nil || len(problems) > 0 {
			blocker = found
		}
	}
	return blocker, err
}
