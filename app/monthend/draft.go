package monthend

import (
	"context"
	"errors"
	"math"

	"causeway/app/internal/foureyes"
	runs "causeway/app/internal/monthend"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
)

// draft is a run that is not posted yet, with what it rests on.
type draft struct {
	run               monthend.Run
	current, previous monthend.Run
	settings          books.Settings
	// former are the postings of the current run that are in force, and postings those of this one.
	former, postings []ledger.Posting
}

// draft checks that a run is possible and reads what it rests on.
func (s *Service) draft(ctx context.Context, p ident.Platform, kind ledger.Kind, month string) (d draft, err error) {
	m, err := period.ParseMonth(month)
	if err != nil {
		return d, fault.Invalid(fault.Field{Field: "month", Message: err.Error()})
	}
	d.run = monthend.Run{Platform: p, Month: m, Kind: kind, LastSeq: math.MaxInt64}
	settings, err := s.Store.BooksSettings(ctx, p)
	if err != nil {
		return d, err
	}
	d.settings = settings.Settings
	if d.current, err = s.Store.MonthEndRun(ctx, p, kind, m); err != nil {
		return d, err
	}
	if d.previous, err = s.Store.MonthEndRunBefore(ctx, p, kind, m); err != nil {
		return d, err
	}
	d.run.Previous = d.previous.Ref()
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return d, err
	}
	if err := monthend.CheckMonth(overview.Calendar, m, kind, d.previous); err != nil {
		return d, err
	}
	d.former, err = s.formerPostings(ctx, d.current)
	return d, err
}

// formerPostings returns the postings of a run that are in force.
func (s *Service) formerPostings(ctx context.Context, run monthend.Run) ([]ledger.Posting, error) {
	postings := make([]ledger.Posting, len(run.Postings))
	for i, id := range run.Postings {
		posting, found, err := s.Postings.Posting(ctx, run.Platform, id)
		if err == nil && !found {
			err = errors.New("the posting " + id.String() + " of a month-end run is missing")
		}
		if err != nil {
			return nil, err
		}
		postings[i] = posting
	}
	return postings, nil
}

// write writes the run with its postings, and what save adds. It returns the run as it counts now, which is the one
// before, and nothing made, if nothing has changed. Error: uow.ErrChanged.
func (d draft) write(ctx context.Context, tx Tx, c foureyes.Change,
	save func(monthend.Run) error) (run monthend.Run, made string, err error) {
	unchanged, err := d.check(ctx, tx)
	if err != nil {
		return run, "", err
	}
	same := d.current.Exists() && monthend.SameEntries(d.former, d.postings)
	if unchanged && same {
		return d.current, "", nil
	}
	run = d.run
	run.At, run.By, run.Approval = c.At, c.By, c.Approval
	run.Number, run.Postings = d.current.Number+1, d.current.Postings
	var all []ledger.Posting
	if !same {
		var authorisations []period.Authorisation
		all, authorisations = run.Post(d.former, d.postings)
		if err := tx.Authorise(ctx, authorisations); err != nil {
			return run, "", err
		}
	}
	if err := tx.SaveMonthEndRun(ctx, run); err != nil {
		return run, "", err
	}
	if err := save(run); err != nil {
		return run, "", err
	}
	return run, run.Month.String(), tx.Post(ctx, all)
}

// check locks the calendar and returns uow.ErrChanged if what the draft rests on has changed, and otherwise whether
// the current run of the month was computed from the same.
func (d draft) check(ctx context.Context, tx Tx) (unchanged bool, err error) {
	p, m, kind := d.run.Platform, d.run.Month, d.run.Kind
	calendar, err := tx.LockPeriods(ctx, p)
	if err != nil {
		return false, err
	}
	current, err := tx.MonthEndRun(ctx, p, kind, m)
	if err != nil {
		return false, err
	}
	previous, err := tx.MonthEndRunBefore(ctx, p, kind, m)
	if err != nil {
		return false, err
	}
	if err := monthend.CheckMonth(calendar, m, kind, previous); err != nil {
		return false, err
	}
	settings, err := tx.BooksSettings(ctx, p)
	if err != nil {
		return false, err
	}
	if current.Ref() != d.current.Ref() || previous.Ref() != d.previous.Ref() || !settings.Equal(d.settings) {
		return false, uow.ErrChanged
	}
	added, err := runs.Changed(ctx, tx, d.run, settings.FunctionalCurrency, d.run.LastSeq)
	if err != nil {
		return false, err
	}
	if added {
		return false, uow.ErrChanged
	}
	if !current.Exists() || current.Previous != previous.Ref() {
		return false, nil
	}
	added, err = runs.Changed(ctx, tx, d.run, settings.FunctionalCurrency, current.LastSeq)
	return !added, err
}
