package safeguarding_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/safeguarding"
	"causeway/ledger"
)

const tuesday = safeguarding.Day("2026-03-17")

// statement returns a statement of a day whose closing balance differs from the ledger.
func statement(day safeguarding.Day, difference int64) safeguarding.Statement {
	return safeguarding.Statement{Day: day, HasClosing: true, Difference: money.TotalOf(difference)}
}

func TestLine_ConfirmedBy(t *testing.T) {
	t.Parallel()
	// A statement of the day confirms what it does not say less than, and a proof what was not posted by hand since. What needs no
	// bank is confirmed unless something was posted by hand, or a statement says less.
	proved := tuesday.End()
	for name, c := range map[string]struct {
		path           string
		amount, manual int64
		evidence       safeguarding.Evidence
		want           safeguarding.Confirmation
	}{
		"nothing": {"rails/RTP", 5, 0, safeguarding.Evidence{}, safeguarding.NoEvidence},
		"equal statement": {"rails/RTP", 5, 5, safeguarding.Evidence{Statement: statement(tuesday, 0)},
			safeguarding.ByStatement},
		"statement that says more": {"rails/RTP", 5, 0, safeguarding.Evidence{Statement: statement(tuesday, 1)},
			safeguarding.ByStatement},
		"statement that says less": {"rails/RTP", 5, 0, safeguarding.Evidence{Statement: statement(tuesday, -1)},
			safeguarding.NoEvidence},
		"statement of another day": {"rails/RTP", 5, 0, safeguarding.Evidence{Statement: statement("2026-03-16", 0)},
			safeguarding.NoEvidence},
		"statement without a balance": {"rails/RTP", 5, 0, safeguarding.Evidence{Statement: safeguarding.Statement{Day: tuesday}},
			safeguarding.NoEvidence},
		"proof": {"rails/RTP", 5, 5, safeguarding.Evidence{ProvedAt: proved}, safeguarding.ByRailProof},
		"proof, then posted by hand": {"rails/RTP", 5, 5, safeguarding.Evidence{ProvedAt: proved, AddedSince: money.TotalOf(1)},
			safeguarding.NoEvidence},
		"proof beside an earlier booking": {"rails/RTP", 5, 0, safeguarding.Evidence{ProvedAt: proved, Statement: statement(tuesday, -1)},
			safeguarding.ByRailProof},
		"sandbox":               {"rails/RTP", 5, 0, safeguarding.Evidence{Sandbox: true}, safeguarding.BySandbox},
		"sandbox, less by hand": {"rails/RTP", 5, -1, safeguarding.Evidence{Sandbox: true}, safeguarding.BySandbox},
		"sandbox, more by hand": {"rails/RTP", 5, 1, safeguarding.Evidence{Sandbox: true}, safeguarding.NoEvidence},
		"sandbox, statement that says less": {"rails/RTP", 5, 0, safeguarding.Evidence{Sandbox: true, Statement: statement(tuesday, -1)},
			safeguarding.NoEvidence},
		"nothing held":          {"rails/RTP", 0, 0, safeguarding.Evidence{}, safeguarding.NothingHeld},
		"nothing held, by hand": {"rails/RTP", 0, 5, safeguarding.Evidence{}, safeguarding.NoEvidence},
		"in transit":            {"transit/client-money", 5, 0, safeguarding.Evidence{}, safeguarding.InTransit},
		"in transit, by hand":   {"transit/client-money", 5, 5, safeguarding.Evidence{}, safeguarding.NoEvidence},
	} {
		l := safeguarding.Line{Section: safeguarding.Resource, Path: c.path, Currency: "USD", Amount: money.TotalOf(c.amount),
			Manual: money.TotalOf(c.manual)}
		if got := l.ConfirmedBy(tuesday, c.evidence); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestFigures_UnconfirmedIsNeverAnExcess(t *testing.T) {
	t.Parallel()
	// An account that nothing confirms makes an excess, or equality, unconfirmed, and hides no shortfall. Reports that do not record
	// it stay as they were.
	for _, c := range []struct {
		owed int64
		by   safeguarding.Confirmation
		want safeguarding.Status
	}{
		{5, safeguarding.NoEvidence, safeguarding.Unconfirmed}, {10, safeguarding.NoEvidence, safeguarding.Unconfirmed},
		{11, safeguarding.NoEvidence, safeguarding.Shortfall},
		{5, safeguarding.ByStatement, safeguarding.Excess}, {10, safeguarding.BySandbox, safeguarding.Even},
		{11, safeguarding.ByRailProof, safeguarding.Shortfall},
		{5, "", safeguarding.Excess}, {10, "", safeguarding.Even},
	} {
		f := safeguarding.Figures{Currency: "USD", Requirement: money.TotalOf(c.owed), Resource: money.TotalOf(10), Lines: []safeguarding.Line{
			{Section: safeguarding.Resource, Path: "rails/RTP", Currency: "USD", Amount: money.TotalOf(10), Confirmation: c.by,
				Manual: money.TotalOf(3)}}}
		r := safeguarding.Report{Figures: []safeguarding.Figures{{Currency: "EUR", Resource: money.TotalOf(1)}, f}}
		all := c.want
		if all == safeguarding.Even {
			all = safeguarding.Excess // of EUR
		}
		manual, known := f.Manual()
		if f.Status() != c.want || r.Status() != all || known != (c.by != "") || known && !manual.Equal(money.TotalOf(3)) {
			t.Errorf("%d owed, %s: %s, %s with EUR; %s by hand", c.owed, c.by, f.Status(), r.Status(), manual)
		}
	}
}

func TestReport_DigestCoversTheConfirmation(t *testing.T) {
	t.Parallel()
	// Each part of what confirms a line is in the digest. A report without it has the digest that it always had.
	report := func(edit func(*safeguarding.Line)) [32]byte {
		l := safeguarding.Line{Section: safeguarding.Resource, Path: "rails/RTP", Currency: "USD", Amount: money.TotalOf(10)}
		edit(&l)
		return safeguarding.Report{Day: tuesday, Version: 1, AsOf: tuesday.Last(), MadeAt: tuesday.End(),
			Figures: safeguarding.FiguresOf([]safeguarding.Line{l})}.Digest()
	}
	confirmed := func(l *safeguarding.Line) {
		l.Confirmation, l.Manual, l.ManualSince = safeguarding.ByStatement, money.TotalOf(3), tuesday
	}
	seen := [][32]byte{report(func(*safeguarding.Line) {}), report(confirmed)}
	for _, edit := range []func(*safeguarding.Line){
		func(l *safeguarding.Line) { l.Confirmation = safeguarding.ByRailProof },
		func(l *safeguarding.Line) { l.Manual = money.TotalOf(2) },
		func(l *safeguarding.Line) { l.ManualSince = "2026-03-16" },
	} {
		seen = append(seen, report(func(l *safeguarding.Line) { confirmed(l); edit(l) }))
	}
	for i, digest := range seen {
		if slices.Index(seen, digest) != i {
			t.Errorf("digest %d is that of %d", i, slices.Index(seen, digest))
		}
	}
	if got := fmt.Sprintf("%x", seen[0]); got != "5d36af8fe3fb01f711e1f4afd3f87cea9ad25956f88b3c0853ec06f2e7edeee6" {
		t.Errorf("a report without a confirmation has the digest %s", got)
	}
}

func TestConfirmingDays_PassesOverWeekends(t *testing.T) {
	t.Parallel()
	// The day itself and the last working day before it.
	for moment, want := range map[string][]safeguarding.Day{
		"2026-03-17T00:00:00Z": {"2026-03-17", "2026-03-16"},
		"2026-03-16T12:00:00Z": {"2026-03-16", "2026-03-15", "2026-03-14", "2026-03-13"},
		"2026-03-15T12:00:00Z": {"2026-03-15", "2026-03-14", "2026-03-13"},
		"2026-03-14T23:59:59Z": {"2026-03-14", "2026-03-13"},
	} {
		at, err := time.Parse(time.RFC3339, moment)
		if got := safeguarding.ConfirmingDays(at); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", moment, got, want)
		}
	}
}

func TestHold_NoMoreThanWhatIsConfirmedCanBeTakenOut(t *testing.T) {
	t.Parallel()
	// Accounts receive money of customers, fees, and amounts by hand, true or not, before and after the statement of yesterday. What
	// can be taken out is never more than what would be in excess if nothing that a person added since the last confirmation were true.
	now := tuesday.Start().Add(12 * time.Hour)
	days := safeguarding.ConfirmingDays(now)
	paths := []string{"rails/RTP", "rails/WIRE", "chains/LAYER2"}
	rapid.Check(t, func(t *rapid.T) {
		var hand safeguarding.HandPostings
		var accounts []safeguarding.Held
		var excess, believed money.Total
		unconfirmed := false
		for _, path := range paths {
			var atBank, held int64
			post := func(hours int, label string) {
				for range rapid.IntRange(0, 4).Draw(t, label+path) {
					amount := rapid.Int64Range(1, 50).Draw(t, "amount")
					effective := days[len(days)-1].Start().Add(time.Duration(hours) * time.Hour)
					source := rapid.SampledFrom([]string{"rail", "true", "false", "out"}).Draw(t, "source")
					switch source {
					case "rail":
						atBank, held, excess = atBank+amount, held+amount, excess.Add(money.TotalOf(amount))
						continue
					case "true":
						atBank, held, excess = atBank+amount, held+amount, excess.Add(money.TotalOf(amount))
					case "false":
						held, excess = held+amount, excess.Add(money.TotalOf(amount))
					case "out":
						atBank, held, excess = atBank-amount, held-amount, excess.Sub(money.TotalOf(amount))
					}
					e := ledger.Entry{Debit: path, Credit: "equity/capital", Currency: "USD", Amount: amount}
					if source == "out" {
						e.Debit, e.Credit = e.Credit, e.Debit
					}
					hand = append(hand, safeguarding.HandPosting{Posting: ledger.Posting{Kind: ledger.KindAdjustment, Effective: effective,
						Entries: []ledger.Entry{e}}})
				}
			}
			post(12, "before")
			heldAtStatement := held
			evidence := make([]safeguarding.Evidence, len(days))
			if rapid.Bool().Draw(t, "statement of "+path) {
				evidence[len(days)-1].Statement = statement(days[len(days)-1], atBank-heldAtStatement)
			}
			post(36, "after")
			believed = believed.Add(money.TotalOf(atBank))
			l := safeguarding.Line{Section: safeguarding.Resource, Path: path, Currency: "USD", Amount: money.TotalOf(held),
				Manual: hand.Manual(path, "USD", time.Time{})}
			a := l.Hold(days, evidence, func(from, compared time.Time) money.Total { return hand.AddedTo(nil, path, "USD", from, compared) })
			accounts = append(accounts, a)
			unconfirmed = unconfirmed || !a.Confirmed
			if a.Confirmed && held > 0 && evidence[len(days)-1].Statement.Day == "" {
				t.Fatalf("%s is confirmed by nothing: %+v", path, a)
			}
		}

		confirmed, missing := safeguarding.ConfirmedExcess(excess, accounts)

		if unconfirmed != (len(missing) > 0) || unconfirmed && confirmed.Sign() != 0 || confirmed.Sign() < 0 {
			t.Fatalf("%s can be taken out, not confirmed %v", confirmed, missing)
		}
		if confirmed.Sign() > 0 && confirmed.Sub(believed).Sign() > 0 {
			t.Fatalf("%s can be taken out, and %s are there: %+v", confirmed, believed, accounts)
		}
	})
}
