package treasury

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/ports"
)

// Report compares what is owed to customers with what is held for them at the end of a moment's millisecond, or
// now if it is zero. It is not kept. Fault: INVALID_INPUT for a moment in the future.
func (s *Service) Report(ctx context.Context, p ident.Platform, at time.Time) (safeguarding.Report, error) {
	now := s.Clock.Now()
	if at.After(now) {
		return safeguarding.Report{}, fault.Invalid(fault.Field{Field: "at", Message: "must not be in the future"})
	}
	asOf := at.Truncate(time.Millisecond).Add(time.Millisecond - time.Microsecond)
	if at.IsZero() {
		asOf = now.Truncate(time.Microsecond)
	}
	purposes, err := s.purposesAt(ctx, p, asOf)
	if err != nil {
		return safeguarding.Report{}, err
	}
	r := safeguarding.Report{Platform: p, AsOf: asOf, MadeAt: now.Truncate(time.Microsecond)}
	err = s.fill(ctx, &r, purposes, safeguarding.DayOf(asOf))
	return r, tooSlow(err)
}

// Coverage returns what is held for customers now and what is owed to them, by currency. Report reads every account, which takes the
// longer the more customers there are; here what is owed is what is held less the company's own funds in it (safeguarding.Figures).
func (s *Service) Coverage(ctx context.Context, p ident.Platform) ([]safeguarding.Figures, error) {
	purposes, err := s.purposesAt(ctx, p, s.Clock.Now())
	if err != nil {
		return nil, err
	}
	figures, err := s.ownFunds(ctx, p, purposes, "")
	for i := range figures {
		figures[i].Requirement = figures[i].Resource.Sub(figures[i].OwnFunds)
	}
	return figures, err
}

// fill reads the figures of a report as of its moment, with the statements that ended by a day.
func (s *Service) fill(ctx context.Context, r *safeguarding.Report, purposes safeguarding.Purposes, statementsBy safeguarding.Day) error {
	counter := safeguarding.NewCounter(purposes)
	state, err := s.Ledger.BalancesAt(ctx, r.Platform, r.AsOf, func(a ports.LedgerAccount) error {
		return counter.Add(a.Account.Path, a.Account.Currency, a.Balance)
	})
	if err != nil {
		return err
	}
	r.Figures, r.Seq, r.PostingDigest, r.Checkpoint = counter.Figures(), state.Seq, state.Digest, state.Checkpoint
	for _, f := range r.Figures {
		if !f.Explained() {
			return fmt.Errorf("safeguarding report of %s: the ledger does not balance in %s: %s held, %s owed, own funds of %s; run causeway "+
				"ledger check",
				r.Platform, f.Currency, f.Resource, f.Requirement, f.OwnFunds)
		}
	}
	if err := s.addConfirmation(ctx, r, purposes, statementsBy); err != nil {
		return err
	}
	return s.addValuation(ctx, r)
}

// addConfirmation adds the statements that ended by a day, and what confirms the resource.
func (s *Service) addConfirmation(ctx context.Context, r *safeguarding.Report, purposes safeguarding.Purposes,
	statementsBy safeguarding.Day) error {
	if err := s.addStatements(ctx, r, statementsBy); err != nil {
		return err
	}
	known, err := s.evidenceUpTo(ctx, r.Platform, purposes, r.AsOf, r.Seq)
	if err != nil {
		return err
	}
	return s.confirm(ctx, r, known, statementsBy)
}

// addStatements adds the last statement of each account of the resource, and compares its closing balance with
// the ledger at the end of its last day.
func (s *Service) addStatements(ctx context.Context, r *safeguarding.Report, by safeguarding.Day) error {
	r.Statements = nil
	statements, err := s.Store.LastStatements(ctx, r.Platform, by)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if !isResource(r.Figures, statement) {
			continue
		}
		if err := s.compare(ctx, r.Platform, &statement); err != nil {
			return err
		}
		r.Statements = append(r.Statements, statement)
	}
	return nil
}

func isResource(figures []safeguarding.Figures, statement safeguarding.Statement) bool {
	return slices.ContainsFunc(figures, func(f safeguarding.Figures) bool {
		return f.Currency == statement.Currency && slices.ContainsFunc(f.Lines, func(l safeguarding.Line) bool {
			return l.Section == safeguarding.Resource && l.Path == statement.Path
		})
	})
}

func (s *Service) addValuation(ctx context.Context, r *safeguarding.Report) error {
	settings, err := s.Store.BooksSettings(ctx, r.Platform)
	if err != nil || settings.FunctionalCurrency == "" {
		return err
	}
	rates, err := s.KeptRates.RatesAt(ctx, r.AsOf)
	r.Valuation = safeguarding.Value(r.Figures, settings.FunctionalCurrency, r.AsOf, rates)
	return err
}

// KeepReport makes the report of a day and keeps it as its next version. Faults: INVALID_INPUT for a day that is
// not over; CONFLICT if a later one was made meanwhile; MONTH_ARCHIVED.
func (s *Service) KeepReport(ctx context.Context, p ident.Platform, day safeguarding.Day, by platform.Author,
	request *ports.IdempotentRequest) (ports.KeptReport, error) {
	if !s.Clock.Now().After(day.End()) {
		return ports.KeptReport{}, fault.Invalid(fault.Field{Field: "day", Message: "must be a day that is over, in UTC"})
	}
	kept, err := s.keep(ctx, p, day, func(safeguarding.Report) bool { return true }, by, request)
	return kept, tooSlow(err)
}

// keep makes the report of a day and keeps it, if it is wanted. The figures are read before the unit of work,
// which could be long; the lock makes versions follow each other.
func (s *Service) keep(ctx context.Context, p ident.Platform, day safeguarding.Day, wanted func(safeguarding.Report) bool,
	by platform.Author, request *ports.IdempotentRequest) (kept ports.KeptReport, err error) {
	purposes, err := s.purposesAt(ctx, p, day.Last())
	if err != nil {
		return kept, err
	}
	r := safeguarding.Report{Platform: p, Day: day, AsOf: day.Last(), By: by}
	if err := s.fill(ctx, &r, purposes, day); err != nil {
		return kept, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.LockSafeguarding(ctx, p); err != nil {
			return err
		}
		last, _, err := s.Store.SafeguardingReport(ctx, p, day, 0)
		if err != nil {
			return err
		}
		if r.Version = last.Version + 1; !wanted(r) {
			return nil
		}
		if err := r.CheckFollows(last.Report); err != nil {
			return err
		}
		r.MadeAt = s.Clock.Now().Truncate(time.Microsecond)
		if err := tx.SaveSafeguardingReport(ctx, r); err != nil {
			return err
		}
		digest := r.Digest()
		kept = ports.KeptReport{Report: r, Digest: digest[:], Versions: r.Version}
		if safeguarding.StillAcknowledged([]safeguarding.Report{last.Report, r}) {
			kept.Acknowledgements = last.Acknowledgements
		}
		if err := tx.SaveResponse(ctx, request, kept, nil); err != nil {
			return err
		}
		if len(r.NewShortfalls(last.Report)) == 0 { // none, or those that the last version has announced
			return nil
		}
		return tx.Emit(ctx, []event.Event{{ID: ident.NewWebhook(s.IDs.New, r.MadeAt), Platform: p, Type: event.SafeguardingReport,
			Name:    event.SafeguardingShortfall,
			Subject: subjectOf(p), OccurredAt: r.MadeAt, Resource: kept}})
	})
	return kept, err
}

// subjectOf returns the subject of the events on the whole ledger of a platform, which are sent in order.
func subjectOf(p ident.Platform) uuid.UUID { return p.UUID() }

// eachPlatform calls do for every platform of an environment. It goes on after an error, so that one platform's trouble is never
// another's, and returns all errors.
func (s *Service) eachPlatform(ctx context.Context, environment platform.Environment,
	do func(context.Context, platform.Platform) error) error {
	var errs []error
	for p, err := range ports.AllPlatforms(ctx, s.Store) {
		switch {
		case err != nil:
			errs = append(errs, err)
		case p.Environment == environment:
			if err := do(ports.ForPlatform(ctx, p.ID), p); err != nil {
				errs = append(errs, fmt.Errorf("platform %s: %w", p.ID, err))
			}
		}
	}
	return errors.Join(errs...)
}

// KeepDueReports keeps the report of each day that is over, for every platform of an environment. Every
// process calls it; one of them makes the report.
func (s *Service) KeepDueReports(ctx context.Context, environment platform.Environment) error {
	return s.eachPlatform(ctx, environment, func(ctx context.Context, p platform.Platform) error {
		last, err := s.Store.LastSafeguardingDay(ctx, p.ID)
		if err != nil {
			return err
		}
		for _, day := range safeguarding.DueDays(last, s.Clock.Now()) {
			// Reports begin with the first day at whose end there is something to report.
			wanted := func(r safeguarding.Report) bool { return r.Version == 1 && (last != "" || !r.IsEmpty()) }
			if _, err := s.keep(ctx, p.ID, day, wanted, platform.Author{}, nil); err != nil {
				return fmt.Errorf("safeguarding report of %s: %w", day, err)
			}
		}
		return s.keepConfirmed(ctx, p.ID)
	})
}

// keepConfirmed makes the reports of the last days again that were not confirmed, once a statement or a proof confirms more: those
// of a day come after its end.
func (s *Service) keepConfirmed(ctx context.Context, p ident.Platform) error {
	for _, day := range safeguarding.RecentDays(s.Clock.Now()) {
		kept, found, err := s.Store.SafeguardingReport(ctx, p, day, 0)
		if err != nil {
			return err
		}
		if !found || !kept.LacksConfirmation() {
			continue
		}
		wanted := func(r safeguarding.Report) bool {
			return r.ConfirmsMoreThan(kept.Report) && r.Version == kept.Version+1
		}
		again := kept.Report.Clone()
		purposes, err := s.purposesAt(ctx, p, day.Last())
		if err != nil {
			return err
		}
		if err := s.addConfirmation(ctx, &again, purposes, day); err != nil {
			return err
		}
		if again.Version++; !wanted(again) {
			continue
		}
		if _, err := s.keep(ctx, p, day, wanted, platform.Author{}, nil); err != nil {
			return fmt.Errorf("safeguarding report of %s: %w", day, err)
		}
	}
	return nil
}

// Reports returns a page of the kept reports, newest day first.
func (s *Service) Reports(ctx context.Context, p ident.Platform, f ports.SafeguardingFilter) (ports.SafeguardingPage, error) {
	return s.Store.SafeguardingReports(ctx, p, f)
}

// KeptReport returns the report of a day: a version, or the last one if it is 0. Fault: NOT_FOUND.
func (s *Service) KeptReport(ctx context.Context, p ident.Platform, day safeguarding.Day, version int) (ports.KeptReport, error) {
	report, found, err := s.Store.SafeguardingReport(ctx, p, day, version)
	if err == nil && !found {
		err = reportNotFound(day, version)
	}
	return report, err
}

func reportNotFound(day safeguarding.Day, version int) error {
	if version > 0 {
		return fault.New(fault.NotFound, "There is no version %d of the report of %s.", version, day)
	}
	return fault.New(fault.NotFound, "There is no report of %s. Reports are kept soon after the end of a day, in UTC; make one with POST "+
		"/ledger/safeguarding/%s/run.", day, day)
}

// Acknowledge records that someone has seen the last version of the report of a day, and what was done. Faults:
// INVALID_INPUT; NOT_FOUND.
func (s *Service) Acknowledge(ctx context.Context, p ident.Platform, day safeguarding.Day, by platform.Author, note string,
	request *ports.IdempotentRequest) (ports.KeptReport, error) {
	if bad := period.CheckNote(note, false); len(bad) > 0 {
		return ports.KeptReport{}, fault.Invalid(bad...)
	}
	var report ports.KeptReport
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) (err error) {
		if err := tx.LockSafeguarding(ctx, p); err != nil {
			return err
		}
		if report, err = s.KeptReport(ctx, p, day, 0); err != nil {
			return err
		}
		a := safeguarding.Acknowledgement{Day: day, Version: report.Version, At: s.Clock.Now().Truncate(time.Microsecond), By: by, Note: note}
		if err := tx.AcknowledgeSafeguardingReport(ctx, p, a); err != nil {
			return err
		}
		report.Acknowledgements = append(report.Acknowledgements, a)
		return tx.SaveResponse(ctx, request, report, nil)
	})
	return report, err
}
