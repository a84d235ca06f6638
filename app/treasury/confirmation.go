package treasury

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// postingsPerRead is how many postings of people are read at once.
const postingsPerRead = 500

// evidence is what a platform has to confirm what is held for its customers.
type evidence struct {
	platform ident.Platform
	sandbox  bool
	purposes safeguarding.Purposes
	hand     safeguarding.HandPostings
	proofs   []ports.DayProof
	// connections are those of the proofs.
	connections []rail.Connection
}

// evidenceUpTo reads what people posted and what was proved, up to a moment and the posting with a number, or all if it is 0.
func (s *Service) evidenceUpTo(ctx context.Context, p ident.Platform, purposes safeguarding.Purposes, moment time.Time,
	seq int64) (e evidence, err error) {
	e = evidence{platform: p, purposes: purposes}
	found, err := s.Store.Platform(ctx, p)
	if err != nil {
		return e, err
	}
	e.sandbox = found.Environment == platform.Sandbox
	last := safeguarding.DayOf(moment)
	first := safeguarding.ManualFrom(last).Start()
	days := safeguarding.ConfirmingDays(moment)
	recent := days[len(days)-1].Start().Add(-maxProofAge)
	for _, kind := range safeguarding.HandKinds(e.sandbox) {
		from := recent
		if kind == ledger.KindAdjustment {
			from = first
		}
		filter := ports.PostingFilter{Platform: p, Kind: kind, By: ports.ByEffective,
			Interval:  period.Interval{From: from, To: moment.Add(time.Microsecond)},
			Ascending: true, Limit: postingsPerRead}
		for more := true; more; {
			page, err := s.Ledger.Postings(ctx, filter)
			if err != nil {
				return e, err
			}
			for _, posting := range page.Postings {
				if filter.After = posting.Seq; seq == 0 || posting.Seq <= seq {
					e.hand = append(e.hand, safeguarding.HandPosting{Posting: posting.Posting, Recorded: posting.Recorded})
				}
			}
			more = page.More && len(page.Postings) > 0
		}
	}
	if e.sandbox {
		return e, nil // connections serve production platforms
	}
	if e.proofs, err = s.Proofs.ProvedRails(ctx, first, last.Start()); err != nil || len(e.proofs) == 0 {
		return e, err
	}
	versions, err := s.Connections.RailConnections(ctx)
	for _, v := range versions {
		e.connections = append(e.connections, v.Connection)
	}
	return e, err
}

// maxProofAge is how much older than its day the balances of a proof can be.
const maxProofAge = 5 * 24 * time.Hour

// proofsOf returns the proofs of an account, by day.
func (e evidence) proofsOf(l safeguarding.Line) (proofs []ports.DayProof) {
	for _, p := range e.proofs {
		if p.Covers(rail.LedgerAccount{Platform: e.platform, Path: l.Path}, l.Currency, e.connections) {
			proofs = append(proofs, p)
		}
	}
	return proofs
}

// confirm says for each line of the resource what confirms it at the end of a day, and what of it was posted by hand since the
// last day before that was confirmed.
func (s *Service) confirm(ctx context.Context, r *safeguarding.Report, e evidence, day safeguarding.Day) error {
	for i := range r.Figures {
		lines := r.Figures[i].Lines
		for j := range lines {
			l := &lines[j]
			if l.Section != safeguarding.Resource {
				continue
			}
			since, err := s.manualSince(ctx, e, day, *l)
			if err != nil {
				return err
			}
			l.ManualSince, l.Manual = since, e.hand.Manual(l.Path, l.Currency, since.Start())
			l.Confirmation = l.ConfirmedBy(day, e.of(r.Statements, day, *l))
		}
	}
	return nil
}

// of returns what is known about an account on a day.
func (e evidence) of(statements []safeguarding.Statement, day safeguarding.Day, l safeguarding.Line) safeguarding.Evidence {
	known := safeguarding.Evidence{Sandbox: e.sandbox}
	for _, s := range statements {
		if s.Path == l.Path && s.Currency == l.Currency {
			known.Statement = s
		}
	}
	for _, p := range e.proofsOf(l) {
		if safeguarding.DayOf(p.Day) == day {
			known.ProvedAt, known.ComparedAt = p.From, p.ProvedAt
			known.AddedSince = e.added(l, p.From, p.ProvedAt)
		}
	}
	return known
}

func (e evidence) added(l safeguarding.Line, from, compared time.Time) money.Total {
	return e.hand.AddedTo(e.purposes, l.Path, l.Currency, from, compared)
}

// manualSince returns the day after the last one, before a day, on which an account was confirmed by a statement or a proof. It is
// the earliest one that counts if nothing was posted by hand to the account.
func (s *Service) manualSince(ctx context.Context, e evidence, day safeguarding.Day, l safeguarding.Line) (safeguarding.Day, error) {
	since := safeguarding.ManualFrom(day)
	if e.hand.Manual(l.Path, l.Currency, since.Start()).Sign() == 0 {
		return since, nil
	}
	for _, p := range e.proofsOf(l) {
		proved := safeguarding.DayOf(p.From)
		if safeguarding.DayOf(p.Day) < day && proved > since &&
			e.added(l, proved.Start(), p.ProvedAt).Equal(e.added(l, proved.Start(), time.Time{})) {
			since = proved // nothing was posted into the time before it later
		}
	}
	for before := day.Before(); before >= since; {
		statements, err := s.Store.LastStatements(ctx, e.platform, before)
		if err != nil {
			return "", err
		}
		before = ""
		for _, statement := range statements {
			if statement.Path != l.Path || statement.Currency != l.Currency {
				continue
			}
			if err := s.compare(ctx, e.platform, &statement); err != nil {
				return "", err
			}
			if next := statement.Day.Next(); statement.HasClosing && statement.Difference.Sign() >= 0 {
				return max(since, next), nil
			}
			before = statement.Day.Before()
		}
	}
	return since, nil
}

// compare sets the difference of a statement with a closing balance from the ledger at the end of its last day.
func (s *Service) compare(ctx context.Context, p ident.Platform, statement *safeguarding.Statement) error {
	if !statement.HasClosing {
		return nil
	}
	balance, err := s.Balances.BalanceAt(ctx, ledger.Account{Platform: p, Path: statement.Path, Currency: statement.Currency},
		ports.ByEffective, statement.Day.Last())
	if f, isFault := fault.As(err); isFault && f.Code == fault.MonthArchived {
		statement.HasClosing, statement.Closing = false, money.Total{}
		return nil
	}
	statement.Difference = statement.Closing.Sub(money.TotalOf(balance))
	return err
}

// checkConfirmed returns CONFLICT if more would leave the accounts with customers' money than what is confirmed of the excess at a
// moment. figures are those of that moment in the currency.
func (s *Service) checkConfirmed(ctx context.Context, p ident.Platform, purposes safeguarding.Purposes, out money.Amount,
	figures []safeguarding.Figures, moment time.Time) error {
	var excess money.Total
	r := safeguarding.Report{Platform: p}
	for _, f := range figures {
		if f.Currency == out.Currency {
			excess, r.Figures = f.OwnFunds, []safeguarding.Figures{f}
		}
	}
	e, err := s.evidenceUpTo(ctx, p, purposes, moment, 0)
	if err != nil {
		return err
	}
	days := safeguarding.ConfirmingDays(moment)
	known := map[string][]safeguarding.Evidence{}
	var accounts []safeguarding.Held
	for i, day := range days {
		if err := s.addStatements(ctx, &r, day); err != nil {
			return err
		}
		if i == 0 {
			if err := s.confirm(ctx, &r, e, day); err != nil {
				return err
			}
		}
		for _, l := range resourceOf(r.Figures) {
			known[l.Path] = append(known[l.Path], e.of(r.Statements, day, l))
		}
	}
	for _, l := range resourceOf(r.Figures) {
		accounts = append(accounts, l.Hold(days, known[l.Path], func(from, compared time.Time) money.Total { return e.added(l, from, compared) }))
	}
	return treasury.CheckConfirmed(out, excess, accounts, days[len(days)-1])
}

func resourceOf(figures []safeguarding.Figures) (lines []safeguarding.Line) {
	for _, f := range figures {
		for _, l := range f.Lines {
			if l.Section == safeguarding.Resource {
				lines = append(lines, l)
			}
		}
	}
	return lines
}
