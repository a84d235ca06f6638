// Package journals makes journals for a general ledger, which is kept in another program: for a day or a month,
// one for each currency.
package journals

import (
	"context"
	"errors"
	"time"

	runs "causeway/app/internal/monthend"
	"causeway/app/internal/report"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store  Store
	Ledger Finance
	Clock  ports.Clock
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Table is a file of journals.
type Table = report.Table

// Make returns all journals of a span. It first makes those that bring a general ledger with the former ones
// up to date with what is posted, by effective time; the closing of a year is not part of any. Faults:
// INVALID_INPUT for a span that is not over; CONFLICT if journals of other spans have the same days; MONTH_ARCHIVED;
// SERVICE_UNAVAILABLE.
func (s *Service) Make(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	span journal.Span) (all []journal.Journal, err error) {
	now := s.Clock.Now().UTC().Truncate(time.Microsecond)
	if err := span.Check(now); err != nil {
		return nil, err
	}
	turnovers, err := s.turnovers(ctx, p, span)
	if err != nil {
		return nil, report.TooSlow(err, "Use `causeway ledger journals`.")
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		all, err = s.makeInTx(ctx, tx, p, by, span, turnovers, now)
		if err != nil {
			return err
		}
		return tx.SaveResponse(ctx, request, all, nil)
	})
	return all, err
}

func (s *Service) makeInTx(ctx context.Context, tx Tx, p ident.Platform, by platform.Author, span journal.Span,
	turnovers []journal.Turnover, now time.Time) ([]journal.Journal, error) {
	if _, err := tx.LockPeriods(ctx, p); err != nil {
		return nil, err
	}
	spans, err := tx.JournalSpans(ctx, p, span)
	if err != nil {
		return nil, err
	}
	if err := journal.CheckSpans(span, spans); err != nil {
		return nil, err
	}
	made, err := tx.JournalsOf(ctx, p, span)
	if err != nil {
		return nil, err
	}
	mapping, err := tx.GLMapping(ctx, p, time.Time{})
	if len(made) > 0 && err == nil && mapping.Version != made[0].MappingVersion {
		mapping, _, err = s.Store.GLMappingVersion(ctx, p, made[0].MappingVersion)
	}
	if err != nil {
		return nil, err
	}
	next, err := journal.Next(span, turnovers, made, mapping)
	if errors.Is(err, journal.ErrOutdated) {
		f := fault.New(fault.Conflict, "Journals of %s were made by another request meanwhile. Repeat the request.", span)
		f.Reason = "Made meanwhile"
		return nil, f
	}
	if err != nil {
		return nil, err
	}
	for i := range next {
		next[i].MadeAt, next[i].By = now, by
	}
	return append(made, next...), tx.SaveJournals(ctx, p, next)
}

// turnovers returns what was posted in a span to each account, without the closing of a year.
func (s *Service) turnovers(ctx context.Context, p ident.Platform, span journal.Span) (turnovers []journal.Turnover, err error) {
	interval := period.Interval{From: span.From, To: span.To}
	cuts := []ports.Cutoff{{By: ports.ByEffective, Moment: interval.BeforeFrom()}, {By: ports.ByEffective, Moment: interval.Last()}}
	err = s.Ledger.Turnovers(ctx, p, "", cuts, func(a ports.AccountTurnovers) error {
		t := journal.Turnover{Path: a.Account.Path, Currency: a.Account.Currency,
			Debits: a.Turnovers[1].Debits.Sub(a.Turnovers[0].Debits), Credits: a.Turnovers[1].Credits.Sub(a.Turnovers[0].Credits)}
		if t.Debits.Sign() != 0 || t.Credits.Sign() != 0 {
			turnovers = append(turnovers, t)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	closings, err := runs.YearPostings(ctx, p, s.Store, s.Ledger)
	for _, closing := range closings {
		if interval.Contains(closing.Effective) {
			turnovers = append(turnovers, journal.Without(closing.Posting)...)
		}
	}
	return turnovers, err
}

// List returns a page of journals without their lines, the latest days first. Fault: INVALID_INPUT if the last
// one of the previous page is unknown.
func (s *Service) List(ctx context.Context, p ident.Platform, span *journal.Span, after string, limit int) (ports.JournalPage, error) {
	filter := ports.JournalFilter{Span: span, Limit: limit}
	if after != "" {
		last, found, err := s.Store.Journal(ctx, p, after)
		if err != nil {
			return ports.JournalPage{}, err
		}
		if !found {
			return ports.JournalPage{}, fault.Invalid(fault.Field{Field: "cursor", Message: "is not one of this list"})
		}
		filter.After = &last
	}
	return s.Store.Journals(ctx, p, filter)
}

// Journal returns a journal with its lines. Fault: NOT_FOUND.
func (s *Service) Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, error) {
	j, found, err := s.Store.Journal(ctx, p, number)
	if err == nil && !found {
		err = fault.New(fault.NotFound, "There is no journal %.40q. List the journals with GET /ledger/journals, or make them with POST "+
			"/ledger/journals.", number)
	}
	return j, err
}

// File returns a journal in a format. Faults: NOT_FOUND; CONFLICT for a journal that the program cannot take.
func (s *Service) File(ctx context.Context, p ident.Platform, number string, f journal.Format, o journal.Options) (Table, error) {
	j, err := s.Journal(ctx, p, number)
	if err != nil {
		return Table{}, err
	}
	rows, err := j.Rows(f, o)
	return Table{Header: f.Header(), Rows: rows}, err
}

// Control returns the control totals of journals.
func Control(journals []journal.Journal) Table {
	t := Table{Header: journal.ControlHeader()}
	for _, j := range journals {
		t.Rows = append(t.Rows, j.ControlRow())
	}
	return t
}
