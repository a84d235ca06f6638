package audit_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/audit"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// storedTreasury is a TreasuryAudit.
type storedTreasury struct {
	reports   []ports.KeptReport
	movements []treasury.Movement
}

func (s storedTreasury) AuditedReports(_ context.Context, _ ident.Platform, skip, limit int) ([]ports.KeptReport, error) {
	return s.reports[min(skip, len(s.reports)):min(skip+limit, len(s.reports))], nil
}

func (s storedTreasury) AuditedMovements(context.Context, ident.Platform) ([]treasury.Movement, error) {
	return s.movements, nil
}

// newMovement returns a transfer in transit that has arrived.
func (e *env) newMovement() treasury.Movement {
	m := treasury.Movement{Platform: e.platform, Kind: treasury.Transfer, From: "rails/RTP", To: "rails/WIRE",
		Amount: money.Amount{Minor: 60, Currency: "USD"}, InTransit: true,
		Note: "Bank change", Effective: noon, At: noon, Posting: e.IDs.New(noon), Arrival: &treasury.Arrival{Posting: e.IDs.New(noon),
			Effective: noon, At: noon}}
	m.ID.SetUUID(e.IDs.New(noon))
	return m
}

// newReport returns the report of noon's day after the movement has arrived.
func (e *env) newReport(last ledger.Posting, seq int64) ports.KeptReport {
	day := safeguarding.DayOf(noon)
	digest := last.Digest()
	usd := func(section safeguarding.Section, path string, minor int64) safeguarding.Line {
		return safeguarding.Line{Section: section, Path: path, Currency: "USD", Amount: money.TotalOf(minor)}
	}
	r := safeguarding.Report{Platform: e.platform, Day: day, Version: 1, AsOf: day.Last(), MadeAt: day.End().Add(time.Hour), Seq: seq,
		PostingDigest: digest[:],
		Figures: safeguarding.FiguresOf([]safeguarding.Line{
			usd(safeguarding.Requirement, "funding/unmatched", 100), usd(safeguarding.Resource, "rails/RTP", 40),
			usd(safeguarding.Resource, "rails/WIRE", 60), usd(safeguarding.Resource, "transit/client-money", 0),
		})}
	return sealed(r)
}

func sealed(r safeguarding.Report) ports.KeptReport {
	digest := r.Digest()
	return ports.KeptReport{Report: r, Digest: digest[:], Versions: r.Version}
}

// confirmedBy returns a report that records what confirms rails/RTP, and an amount that was posted to it by hand.
func confirmedBy(r ports.KeptReport, by safeguarding.Confirmation, manual int64) ports.KeptReport {
	report := r.Clone()
	l := &report.Figures[0].Lines[1]
	l.Confirmation, l.Manual, l.ManualSince = by, money.TotalOf(manual), safeguarding.ManualFrom(report.Day)
	return sealed(report)
}

func TestCheck_SafeguardingReportsAndMovements(t *testing.T) {
	t.Parallel()
	// A kept report is what it was, names an unchanged posting and follows from the postings up to it; a movement
	// has its postings, and they have it. Whatever differs is named.
	env := newEnv(t)
	m := env.newMovement()
	received := ledger.UnmatchedReceived(ledger.Header{ID: env.IDs.New(noon), Platform: env.platform, Effective: noon}, "rails/RTP",
		money.Amount{Minor: 100, Currency: "USD"})
	sent := m.PostingFor(nil)
	arrived := m.ArrivalPosting(*m.Arrival, sent)
	later := ledger.UnmatchedReceived(ledger.Header{ID: env.IDs.New(noon), Platform: env.platform, Effective: noon}, "rails/RTP",
		money.Amount{Minor: 1, Currency: "USD"})
	env.mustPost(received, sent, arrived)
	if err := env.post(noon.Add(time.Hour), later); err != nil {
		t.Fatal(err)
	}
	whole := storedTreasury{reports: []ports.KeptReport{env.newReport(arrived, 3)}, movements: []treasury.Movement{m}}

	for name, c := range map[string]struct {
		edit func(*storedTreasury)
		rule audit.Rule
		want []string
	}{
		"as it should be": {func(*storedTreasury) {}, "", nil},
		"a report was changed": {func(s *storedTreasury) { s.reports[0].Figures[0].Lines[0].Amount = money.TotalOf(90) }, audit.RuleSafeguarding,
			[]string{"the report of 2026-11-20, version 1, on " + env.platform.String() + " has been changed"}},
		"a report was changed with its digest": {func(s *storedTreasury) {
			s.reports[0].Figures[0].Lines[0].Amount = money.TotalOf(99)
			s.reports[0] = sealed(s.reports[0].Report)
		}, audit.RuleSafeguarding, []string{"has 99 of USD for funding/unmatched; the postings up to number 3 come to 100"}},
		"a line was removed with its digest": {func(s *storedTreasury) {
			s.reports[0].Figures[0].Lines = s.reports[0].Figures[0].Lines[:2]
			s.reports[0] = sealed(s.reports[0].Report)
		}, audit.RuleSafeguarding, []string{"for rails/WIRE; the postings up to number 3 come to 60"}},
		"a report names another posting": {func(s *storedTreasury) {
			s.reports[0].PostingDigest = slices.Repeat([]byte{1}, 32)
			s.reports[0] = sealed(s.reports[0].Report)
		}, audit.RuleSafeguarding, []string{"was made at posting number 3, which has been changed or is missing"}},
		"nothing was posted by hand": {func(s *storedTreasury) { s.reports[0] = confirmedBy(s.reports[0], safeguarding.NoEvidence, 0) }, "", nil},
		"an invented manual amount": {func(s *storedTreasury) { s.reports[0] = confirmedBy(s.reports[0], safeguarding.NoEvidence, 7) },
			audit.RuleSafeguarding,
			[]string{"says that 7 of USD were posted by hand to rails/RTP since 2025-12-01; the adjustments up to number 3 come to 0"}},
		"a statement that does not exist": {func(s *storedTreasury) { s.reports[0] = confirmedBy(s.reports[0], safeguarding.ByStatement, 0) },
			audit.RuleSafeguarding,
			[]string{"says that a statement of the day confirms rails/RTP in USD, and has none"}},
		"a confirmation was changed": {func(s *storedTreasury) {
			s.reports[0] = confirmedBy(s.reports[0], safeguarding.NoEvidence, 0)
			s.reports[0].Figures[0].Lines[1].Confirmation = safeguarding.ByRailProof
		}, audit.RuleSafeguarding, []string{"has been changed"}},
		"a movement was deleted": {func(s *storedTreasury) { s.movements = nil }, audit.RuleTreasury,
			[]string{"posting " + sent.ID.String() + " (treasury_transfer, number 2", "posting " + arrived.ID.String() +
				" (treasury_transfer, number 3"}},
		"an amount was changed": {func(s *storedTreasury) { s.movements[0].Amount.Minor = 61 }, audit.RuleTreasury,
			[]string{"number 2 on " + env.platform.String() + ") is not what movement", "is not the arrival of movement"}},
		"an arrival was changed": {func(s *storedTreasury) { s.movements[0].To = "rails/ACH" }, audit.RuleTreasury,
			[]string{"is not the arrival of movement"}},
		"an invented movement": {func(s *storedTreasury) {
			other := env.newMovement()
			other.Arrival = nil
			s.movements = append(s.movements, other)
		}, audit.RuleTreasury, []string{"which does not exist"}},
	} {
		stored := storedTreasury{reports: slices.Clone(whole.reports), movements: slices.Clone(whole.movements)}
		stored.reports[0] = env.newReport(arrived, 3)
		c.edit(&stored)
		report, err := env.newService(nil, func(s *sources) { s.TreasuryAudit = stored }).Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Findings) != len(c.want) {
			t.Errorf("%s: %v, want %q", name, report.Findings, c.want)
			continue
		}
		for i, want := range c.want {
			if f := report.Findings[i]; f.Rule != c.rule || !strings.Contains(f.Message, want) {
				t.Errorf("%s: %v, want %q", name, f, want)
			}
		}
	}
}
