package treasury_test

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/treasury"
	"causeway/core/corridor"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/reconcile"
	"causeway/core/safeguarding"
	movements "causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// newProductionEnv is newEnv on a platform in production, at noon on Tuesday, 17 March.
func newProductionEnv(t *testing.T) *env {
	t.Helper()
	e := newEnv(t)
	e.Clock.Advance(3 * day)
	e.Platform = e.NewPlatform(func(p *platform.Platform) { p.Environment = platform.Production })
	e.account = e.NewInternalAccount(ident.Customer{}, "USD", 0).ID
	e.Post(ledger.Deposit(e.header(), ledger.IncomingFunds{Partner: "rails/RTP", To: ledger.CustomerAccount(e.account), Amount: usd(100_00)}))
	e.Post(ledger.FeeCharged(e.header(), ledger.CustomerAccount(e.account), usd(1_00)))
	return e
}

// adjust posts an amount into an account by hand.
func (e *env) adjust(path string, amount money.Amount) {
	e.t.Helper()
	e.Post(ledger.Adjustment(e.header(), []ledger.Entry{{Debit: path, Credit: "equity/capital", Currency: amount.Currency,
		Amount: amount.Minor}}))
}

// importStatement stores a statement of a day of rails/RTP in USD.
func (e *env) importStatement(of time.Time, closing int64) {
	e.t.Helper()
	run := reconcile.Run{ID: ident.NewReconciliation(e.IDs.New, e.Clock.Now()), Account: reconcile.Account{Platform: e.Platform.ID,
		Path: "rails/RTP", Currency: "USD"},
		Format: reconcile.CSV, By: "Ana Silva", At: e.Clock.Now()}
	run.Digest = sha256.Sum256([]byte(run.ID.String()))
	run.From, run.To, run.Closing = reconcile.DayOf(of), reconcile.DayOf(of), &closing
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.AddReconciliation(ctx, run) })
}

func (e *env) sweep(minor int64) movements.Movement {
	return e.movement(movements.Sweep, "rails/RTP", "own/OPERATING", usd(minor))
}

// wantReport checks the report of now: its status, what was posted by hand and what confirms rails/RTP.
func (e *env) wantReport(status safeguarding.Status, manual int64, by safeguarding.Confirmation) {
	e.t.Helper()
	r, err := e.Report(e.t.Context(), e.Platform.ID, time.Time{})
	if err != nil {
		e.t.Fatal(err)
	}
	e.wantFigures(r, status, manual, by)
}

func (e *env) wantFigures(r safeguarding.Report, status safeguarding.Status, manual int64, by safeguarding.Confirmation) {
	e.t.Helper()
	got, known := r.Figures[0].Manual()
	line := r.Figures[0].Lines[slices.IndexFunc(r.Figures[0].Lines, func(l safeguarding.Line) bool { return l.Path == "rails/RTP" })]
	if r.Status() != status || r.Figures[0].Status() != status || !known || !got.Equal(money.TotalOf(manual)) || line.Confirmation != by {
		e.t.Errorf("%s, %s by hand, %s; want %s, %d, %s", r.Status(), got, line.Confirmation, status, manual, by)
	}
}

func TestMove_NoSweepOfWhatNoBankHasConfirmed(t *testing.T) {
	t.Parallel()
	// A manual entry of 9,000 USD is no excess that can be taken out, until the statement of its day confirms it. The report of
	// that day says so as well, and is made again when the statement has come.
	e := newProductionEnv(t)
	e.adjust("rails/RTP", usd(9_000_00))
	e.wantReport(safeguarding.Unconfirmed, 9_000_00, safeguarding.NoEvidence)

	f := e.wantRefused(e.sweep(9_000_00), "Excess is not confirmed")
	if !strings.Contains(f.Message, "rails/RTP") || !strings.Contains(f.Message, "Import the statement of 2026-03-16") ||
		f.Details["confirmedExcess"] != "0" {
		t.Errorf("%s, %v", f.Message, f.Details)
	}
	e.wantRefused(e.sweep(1_00), "Excess is not confirmed")
	e.wantRefused(e.movement(movements.Transfer, "rails/RTP", "own/OPERATING", usd(9_000_00)), "Excess is not confirmed")

	e.Clock.Advance(day)
	keep := func() ports.KeptReport {
		t.Helper()
		if err := e.KeepDueReports(t.Context(), platform.Production); err != nil {
			t.Fatal(err)
		}
		kept, err := e.KeptReport(t.Context(), e.Platform.ID, "2026-03-17", 0)
		if err != nil {
			t.Fatal(err)
		}
		if digest := kept.Report.Digest(); !slices.Equal(digest[:], kept.Digest) {
			t.Errorf("version %d: digest %x, stored %x", kept.Version, digest, kept.Digest)
		}
		return kept
	}
	e.wantFigures(keep().Report, safeguarding.Unconfirmed, 9_000_00, safeguarding.NoEvidence)
	if again := keep(); again.Version != 1 {
		t.Errorf("version %d was made without a statement", again.Version)
	}
	e.wantRefused(e.sweep(9_000_00), "Excess is not confirmed")

	e.importStatement(e.Clock.Now().Add(-day), 9_100_00)

	kept := keep()
	if kept.Version != 2 || kept.By != (platform.Author{}) {
		t.Errorf("version %d by %v", kept.Version, kept.By)
	}
	e.wantFigures(kept.Report, safeguarding.Excess, 9_000_00, safeguarding.ByStatement)
	e.mustMove(e.sweep(9_000_00))
	e.wantReport(safeguarding.Unconfirmed, 0, safeguarding.NoEvidence) // today has no statement yet
}

func TestMove_SweepsWhatIsConfirmedBesideWhatIsNot(t *testing.T) {
	t.Parallel()
	// Of the excess, what the statement of yesterday confirms can be taken out, and not what people posted since, in whichever
	// way. A correction that is posted into the time of the statement takes its confirmation away.
	for name, post := range map[string]func(*env){
		"adjustment": func(e *env) { e.adjust("rails/RTP", usd(9_000_00)) },
		"transfer from own money that is not there": func(e *env) {
			m := e.movement(movements.Transfer, "own/RESERVE", "rails/RTP", usd(9_000_00))
			m.AllowOverdraft, m.Note = true, "It will come"
			e.mustMove(m)
		},
	} {
		e := newProductionEnv(t)
		e.Clock.Advance(day)
		e.importStatement(e.Clock.Now().Add(-day), 100_00)
		post(e)

		f := e.wantRefused(e.sweep(1_01), "Excess is not confirmed")
		if !strings.Contains(f.Message, "at most 1.00 USD") || f.Details["confirmedExcess"] != "100" || f.Details["excess"] != "900100" {
			t.Errorf("%s: %s, %v", name, f.Message, f.Details)
		}
		e.mustMove(e.sweep(1_00))
		e.wantRefused(e.sweep(1), "Excess is not confirmed")
	}

	e := newProductionEnv(t)
	e.Clock.Advance(day)
	e.importStatement(e.Clock.Now().Add(-day), 100_00)
	backdated := e.header()
	backdated.Effective = e.Clock.Now().Add(-day)
	e.Post(ledger.Adjustment(backdated, []ledger.Entry{{Debit: "rails/RTP", Credit: "equity/capital", Currency: "USD", Amount: 9_000_00}}))
	e.wantRefused(e.sweep(1), "Excess is not confirmed")
}

func TestMove_StatementBelowTheLedgerConfirmsNothing(t *testing.T) {
	t.Parallel()
	// A closing balance one cent below the ledger confirms nothing; neither does the one of the day before it then.
	e := newProductionEnv(t)
	e.Clock.Advance(day)
	e.importStatement(e.Clock.Now().Add(-day), 100_00)
	e.importStatement(e.Clock.Now(), 99_99)
	e.wantReport(safeguarding.Unconfirmed, 0, safeguarding.NoEvidence)
	e.wantRefused(e.sweep(1_00), "Excess is not confirmed")

	e.importStatement(e.Clock.Now(), 100_00)
	e.wantReport(safeguarding.Excess, 0, safeguarding.ByStatement)
	e.mustMove(e.sweep(1_00))
}

func TestMove_ProofOfConnectionsConfirms(t *testing.T) {
	t.Parallel()
	// The daily proof confirms what it compared, and not what was posted by hand after its balances or after it was made.
	e := newProductionEnv(t)
	connection := rail.Connection{Name: "bank-usd", Adapter: rail.BankFile, Rails: []corridor.Rail{"RTP"}, Currencies: []money.Currency{"USD"},
		Platforms: []ident.Platform{e.Platform.ID}, SetAt: e.Clock.Now()}
	e.Connections = connections{RailConnectionReader: e.Store, list: []ports.RailConnectionVersion{{Connection: connection}}}
	midnight := e.Clock.Now().Truncate(day).Add(day)
	prove := func(state rail.ProofState) {
		t.Helper()
		p := rail.Proof{Connections: []string{"bank-usd"}, Currency: "USD", From: midnight, To: midnight, State: state, ProvedAt: e.Clock.Now()}
		if state == rail.Different {
			p.Difference = money.TotalOf(-1)
		}
		if err := e.Store.SaveRailProofs(t.Context(), midnight.Add(-day), []rail.Proof{p}); err != nil {
			t.Fatal(err)
		}
	}
	e.Clock.Advance(day)
	prove(rail.Different)
	e.wantRefused(e.sweep(1_00), "Excess is not confirmed")
	prove(rail.Proved)

	e.adjust("rails/RTP", usd(9_000_00))
	f := e.wantRefused(e.sweep(9_000_00), "Excess is not confirmed")
	if f.Details["confirmedExcess"] != "100" {
		t.Errorf("details %v", f.Details)
	}
	kept, err := e.KeepReport(t.Context(), e.Platform.ID, "2026-03-17", e.by(), nil)
	if err != nil {
		t.Fatal(err)
	}
	e.wantFigures(kept.Report, safeguarding.Excess, 0, safeguarding.ByRailProof)

	backdated := e.header()
	backdated.Effective = midnight.Add(-time.Hour)
	e.Clock.Advance(time.Minute)
	e.Post(ledger.Adjustment(backdated, []ledger.Entry{{Debit: "rails/RTP", Credit: "equity/capital", Currency: "USD", Amount: 50}}))
	f = e.wantRefused(e.sweep(9_000_00), "Excess is not confirmed")
	if f.Details["confirmedExcess"] != "100" {
		t.Errorf("details %v", f.Details)
	}
	if kept, err = e.KeepReport(t.Context(), e.Platform.ID, "2026-03-17", e.by(), nil); err != nil {
		t.Fatal(err)
	}
	e.wantFigures(kept.Report, safeguarding.Unconfirmed, 50, safeguarding.NoEvidence)
}

// connections are those in force.
type connections struct {
	treasury.RailConnectionReader
	list []ports.RailConnectionVersion
}

func (c connections) RailConnections(context.Context) ([]ports.RailConnectionVersion, error) {
	return c.list, nil
}

func TestSetPurpose_NotOnTheStrengthOfWhatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	// An account becomes the company's own only if the others hold what is owed, as far as it is confirmed.
	e := newProductionEnv(t)
	e.Post(ledger.UnmatchedReceived(e.header(), "rails/WIRE", usd(50_00)))
	e.adjust("rails/RTP", usd(9_000_00))
	e.wantCode(fault.Conflict, func() error { return e.setPurpose("rails/WIRE", safeguarding.Own) })
}

func TestReport_SandboxConfirmsItsOwnMoney(t *testing.T) {
	t.Parallel()
	// The sandbox confirms what it moves itself. What was posted by hand needs a statement there too, of its day; then the sandbox
	// confirms the following days.
	e := newEnv(t)
	e.wantReport(safeguarding.Excess, 0, safeguarding.BySandbox)
	e.adjust("rails/RTP", usd(9_000_00))
	e.wantReport(safeguarding.Unconfirmed, 9_000_00, safeguarding.NoEvidence)
	e.wantRefused(e.sweep(9_000_00), "Excess is not confirmed")

	e.importStatement(e.Clock.Now(), 9_100_00)
	e.wantReport(safeguarding.Excess, 9_000_00, safeguarding.ByStatement)
	e.Clock.Advance(7 * day)
	e.wantReport(safeguarding.Excess, 0, safeguarding.BySandbox)
	e.mustMove(e.sweep(9_001_00))
	e.wantReport(safeguarding.Even, 0, safeguarding.BySandbox)
}

func TestReport_ShortfallStaysOne(t *testing.T) {
	t.Parallel()
	// Less held than owed is a shortfall, whatever confirms what is held.
	e := newProductionEnv(t)
	e.Post(ledger.FeePaid(e.header(), "rails/RTP", usd(3_00)))
	e.wantReport(safeguarding.Shortfall, 0, safeguarding.NoEvidence)
}

// shortReport is the report of a day at whose end euros lack 2.00 EUR and US dollars are not confirmed, with the event of that, which
// was acknowledged.
func (e *env) shortReport() ports.KeptReport {
	e.t.Helper()
	e.Post(ledger.FeePaid(e.header(), "rails/SEPA", money.Amount{Minor: 2_00, Currency: "EUR"}))
	e.Clock.Advance(day)
	kept := e.keepDue("2026-03-17")
	if names := e.eventNames(); kept.Version != 1 || !slices.Equal(names, []string{event.SafeguardingShortfall}) {
		e.t.Fatalf("version %d, events %q", kept.Version, names)
	}
	e.wantShort(1)
	if _, err := e.Acknowledge(e.t.Context(), e.Platform.ID, "2026-03-17", e.by(), "Paid in", nil); err != nil {
		e.t.Fatal(err)
	}
	e.wantShort(0)
	return kept
}

// keepDue keeps what is due, and returns the last version of the report of a day.
func (e *env) keepDue(of safeguarding.Day) ports.KeptReport {
	e.t.Helper()
	if err := e.KeepDueReports(e.t.Context(), platform.Production); err != nil {
		e.t.Fatal(err)
	}
	kept, err := e.KeptReport(e.t.Context(), e.Platform.ID, of, 0)
	if err != nil {
		e.t.Fatal(err)
	}
	return kept
}

// wantShort checks on how many platforms operators see a shortfall that nobody has acknowledged.
func (e *env) wantShort(platforms int) {
	e.t.Helper()
	if o, err := e.Store.Operations(e.t.Context(), nil); err != nil || o.Safeguarding.Count != platforms {
		e.t.Errorf("%d platforms are short, %v; want %d", o.Safeguarding.Count, err, platforms)
	}
}

func statuses(r safeguarding.Report) map[money.Currency]safeguarding.Status {
	of := map[money.Currency]safeguarding.Status{}
	for _, f := range r.Figures {
		of[f.Currency] = f.Status()
	}
	return of
}

func TestKeepDueReports_ConfirmsCurrenciesBesideAShortOne(t *testing.T) {
	t.Parallel()
	// A currency that is short does not keep a statement from confirming another one. The shortfall is the same, so there is no other
	// event, and who acknowledged it need not do so again.
	e := newProductionEnv(t)
	first := e.shortReport()
	if again := e.keepDue("2026-03-17"); again.Version != 1 {
		t.Errorf("version %d was made without a statement", again.Version)
	}
	e.importStatement(e.Clock.Now().Add(-day), 100_00)

	second := e.keepDue("2026-03-17")

	if got := statuses(first.Report); got["USD"] != safeguarding.Unconfirmed || got["EUR"] != safeguarding.Shortfall {
		t.Errorf("first version: %v", got)
	}
	if got := statuses(second.Report); second.Version != 2 || got["USD"] != safeguarding.Excess || got["EUR"] != safeguarding.Shortfall {
		t.Errorf("version %d: %v", second.Version, got)
	}
	if names := e.eventNames(); len(names) != 1 {
		t.Errorf("events %q", names)
	}
	if seen := second.Acknowledgements; len(seen) != 1 || seen[0].Version != 1 || seen[0].Note != "Paid in" {
		t.Errorf("acknowledged: %+v", seen)
	}
	page, err := e.Reports(t.Context(), e.Platform.ID, ports.SafeguardingFilter{Limit: 10, ShortfallOnly: true})
	if err != nil || len(page.Reports) != 1 || len(page.Reports[0].Acknowledgements) != 1 {
		t.Errorf("listed: %+v, %v", page, err)
	}
	e.wantShort(0)
	if again := e.keepDue("2026-03-17"); again.Version != 2 {
		t.Errorf("version %d was made without another statement", again.Version)
	}
}

func TestKeepDueReports_AShortfallThatGrewIsNews(t *testing.T) {
	t.Parallel()
	// A version with a larger shortfall, or one of another currency, has an event, and nobody has acknowledged it; one with a smaller
	// shortfall has neither.
	euro := func(minor int64) func(ledger.Header) ledger.Posting {
		return func(h ledger.Header) ledger.Posting {
			return ledger.FeePaid(h, "rails/SEPA", money.Amount{Minor: minor, Currency: "EUR"})
		}
	}
	for name, c := range map[string]struct {
		late func(ledger.Header) ledger.Posting
		news bool
	}{
		"larger":  {euro(1), true},
		"another": {func(h ledger.Header) ledger.Posting { return ledger.FeePaid(h, "rails/RTP", usd(5_00)) }, true},
		"smaller": {func(h ledger.Header) ledger.Posting {
			return ledger.Adjustment(h, []ledger.Entry{{Debit: "rails/SEPA", Credit: "equity/capital", Currency: "EUR", Amount: 50}})
		}, false},
	} {
		e := newProductionEnv(t)
		e.shortReport()
		late := e.header()
		late.Effective = e.Clock.Now().Add(-day)
		e.Post(c.late(late))
		e.importStatement(e.Clock.Now().Add(-day), 100_00)

		kept := e.keepDue("2026-03-17")

		events, seen, short := 1, 1, 0
		if c.news {
			events, seen, short = 2, 0, 1
		}
		if names := e.eventNames(); kept.Version != 2 || len(names) != events || len(kept.Acknowledgements) != seen {
			t.Errorf("%s: version %d, events %q, acknowledged: %+v", name, kept.Version, names, kept.Acknowledgements)
		}
		e.wantShort(short)
		if first, err := e.KeptReport(t.Context(), e.Platform.ID, "2026-03-17", 1); err != nil || len(first.Acknowledgements) != 1 {
			t.Errorf("%s: first version: %+v, %v", name, first.Acknowledgements, err)
		}
	}
}

func TestReports_OlderOnesStayWhatTheyWere(t *testing.T) {
	t.Parallel()
	// A report that was kept before confirmations were recorded is read as it was made, with its digest, and is not made again.
	e := newProductionEnv(t)
	old := safeguarding.Report{Platform: e.Platform.ID, Day: "2026-03-16", Version: 1, AsOf: safeguarding.Day("2026-03-16").Last(),
		MadeAt: e.Clock.Now(),
		Figures: safeguarding.FiguresOf([]safeguarding.Line{{Section: safeguarding.Resource, Path: "rails/RTP", Currency: "USD",
			Amount: money.TotalOf(5)},
			{Section: safeguarding.OwnFunds, Path: "income/fees", Currency: "USD", Amount: money.TotalOf(5)}})}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveSafeguardingReport(ctx, old) })
	if err := e.KeepDueReports(t.Context(), platform.Production); err != nil {
		t.Fatal(err)
	}

	kept, err := e.KeptReport(t.Context(), e.Platform.ID, "2026-03-16", 0)

	digest := kept.Report.Digest()
	_, known := kept.Figures[0].Manual()
	if err != nil || kept.Version != 1 || known || kept.Status() != safeguarding.Excess || !slices.Equal(digest[:], kept.Digest) {
		t.Errorf("%+v, %v", kept, err)
	}
	stored := e.QueryStrings(
		`SELECT count(*)::text FROM safeguarding_report_lines WHERE platform_id = $1 AND confirmation IS NULL AND manual IS NULL AND manual_since IS NULL`, e.Platform.ID.UUID())
	if stored[0] != "2" {
		t.Errorf("%s lines without a confirmation", stored[0])
	}
}
