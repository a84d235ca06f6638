package treasury_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/treasury"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/core/safeguarding"
	movements "causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

const (
	yesterday = safeguarding.Day("2026-03-14") // of apptest.Noon, after a day has passed
	day       = 24 * time.Hour
)

func TestReport_ComparesHeldWithOwed(t *testing.T) {
	t.Parallel()
	// 100.00 USD are held and 99.00 are owed; the fee explains the difference. A past moment has its own balances.
	e := newEnv(t)

	report, err := e.Report(t.Context(), e.Platform.ID, time.Time{})
	if err != nil {
		t.Fatal(err)
	}

	want := []safeguarding.Line{
		{Section: safeguarding.Requirement, Path: "customers/<InternalAccount>", Currency: "USD", Amount: money.TotalOf(99_00)},
		{Section: safeguarding.Resource, Path: "rails/RTP", Currency: "USD", Amount: money.TotalOf(100_00)},
		{Section: safeguarding.OwnFunds, Path: "income/fees", Currency: "USD", Amount: money.TotalOf(1_00)},
	}
	if len(report.Figures) != 1 || !slices.EqualFunc(report.Figures[0].Lines, want, func(a, b safeguarding.Line) bool {
		return a.Section == b.Section && a.Path == b.Path && a.Currency == b.Currency && a.Amount.Equal(b.Amount)
	}) {
		t.Errorf("figures %+v", report.Figures)
	}
	now, err := e.Coverage(t.Context(), e.Platform.ID)
	if err != nil || len(now) != 1 || !now[0].Resource.Equal(money.TotalOf(100_00)) || !now[0].Requirement.Equal(money.TotalOf(99_00)) ||
		now[0].Status() != safeguarding.Excess {
		t.Errorf("now: %+v, %v", now, err)
	}
	if report.Seq != 2 || len(report.PostingDigest) != 32 || report.Day != "" {
		t.Errorf("up to posting %d, digest %x, day %q", report.Seq, report.PostingDigest, report.Day)
	}
	past, err := e.Report(t.Context(), e.Platform.ID, apptest.Noon.Add(-time.Hour))
	if err != nil || len(past.Figures) != 1 || past.Figures[0].Resource.Sign() != 0 {
		t.Errorf("an hour before: %+v, %v", past.Figures, err)
	}
	if _, err := e.Report(t.Context(), e.Platform.ID, apptest.Noon.Add(time.Hour)); err == nil {
		t.Error("a report of the future was made")
	}
}

func TestReport_ValuedInFunctionalCurrency(t *testing.T) {
	t.Parallel()
	// With a functional currency all currencies are added up at kept rates.
	e := newEnv(t)
	e.Post(ledger.UnmatchedReceived(e.header(), "rails/SEPA", money.Amount{Minor: 10_00, Currency: "EUR"}))
	e.setFunctionalCurrency("USD")
	rate := func(text string) price.KeptRate {
		return price.KeptRate{Rate: money.MustRate(text), At: apptest.Noon, Source: "TEST"}
	}
	if err := e.Store.KeepRates(t.Context(), price.KeptRates{At: apptest.Noon, InUSD: map[money.Currency]price.KeptRate{"USD": rate("1"),
		"EUR": rate("1.1")}}); err != nil {
		t.Fatal(err)
	}

	report, err := e.Report(t.Context(), e.Platform.ID, time.Time{})

	if v := report.Valuation; err != nil || !v.Complete() || v.Requirement.String() != "11000" || v.Resource.String() != "11100" ||
		v.Status() != safeguarding.Excess {
		t.Errorf("valuation %+v, %v", report.Valuation, err)
	}
}

func (e *env) setFunctionalCurrency(c money.Currency) {
	e.t.Helper()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockPeriods(ctx, e.Platform.ID); err != nil {
			return err
		}
		settings, err := tx.BooksSettings(ctx, e.Platform.ID)
		if err != nil {
			return err
		}
		settings.FunctionalCurrency = c
		settings.Version, settings.At, settings.By = settings.Version+1, e.Clock.Now(), e.by()
		return tx.SaveBooksSettings(ctx, e.Platform.ID, settings)
	})
}

func TestKeepDueReports_OncePerDayWithEvent(t *testing.T) {
	t.Parallel()
	// After each day its report is kept, once however often and by however many processes the task runs, and an
	// event is sent for a shortfall. Days without the service are made up for.
	e := newEnv(t)
	e.Post(ledger.FeePaid(e.header(), "rails/RTP", usd(3_00))) // paid with customers' money
	keep := func() {
		t.Helper()
		if err := e.KeepDueReports(t.Context(), e.Platform.Environment); err != nil {
			t.Fatal(err)
		}
	}
	keep()
	if day, err := e.Store.LastSafeguardingDay(t.Context(), e.Platform.ID); err != nil || day != "" {
		t.Fatalf("before the end of the day: %q, %v", day, err)
	}

	e.Clock.Advance(day)
	done := make(chan error)
	for range 3 {
		go func() { done <- e.KeepDueReports(context.WithoutCancel(t.Context()), e.Platform.Environment) }()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	keep()
	e.Clock.Advance(2 * day)
	keep()

	page, err := e.Reports(t.Context(), e.Platform.ID, ports.SafeguardingFilter{Limit: 10})
	if err != nil || len(page.Reports) != 3 || page.Reports[2].Day != yesterday || page.Reports[0].Day != "2026-03-16" {
		t.Fatalf("reports %+v, %v", page.Reports, err)
	}
	for _, r := range page.Reports {
		if digest := r.Report.Digest(); r.Version != 1 || r.Versions != 1 || r.By != (platform.Author{}) || !slices.Equal(digest[:], r.Digest) {
			t.Errorf("report of %s: version %d by %+v, digest %x stored as %x", r.Day, r.Version, r.By, digest, r.Digest)
		}
		if short := r.Shortfalls(); len(short) != 1 || r.Figures[0].Difference().String() != "-200" {
			t.Errorf("report of %s: %v short, %+v", r.Day, short, r.Figures)
		}
	}
	if names := e.eventNames(); len(names) != 3 || names[0] != event.SafeguardingShortfall {
		t.Errorf("events %v", names)
	}
	older, err := e.Reports(t.Context(), e.Platform.ID, ports.SafeguardingFilter{Limit: 1, Before: page.Reports[0].Day, ShortfallOnly: true})
	if err != nil || len(older.Reports) != 1 || !older.More || older.Reports[0].Day != page.Reports[1].Day {
		t.Errorf("second page %+v, %v", older, err)
	}
}

// eventNames returns the names of the events on the ledger of the platform.
func (e *env) eventNames() []string {
	return e.QueryStrings(`SELECT name FROM webhook_events WHERE subject_id = $1 ORDER BY id`, e.Platform.ID.UUID())
}

func TestKeepReport_NewVersionKeepsTheFormer(t *testing.T) {
	t.Parallel()
	// What is posted later into a reported day is in the next version; the first one stays as it was.
	e := newEnv(t)
	e.Clock.Advance(day)
	if err := e.KeepDueReports(t.Context(), e.Platform.Environment); err != nil {
		t.Fatal(err)
	}
	late := e.header()
	late.Effective = apptest.Noon.Add(time.Hour)
	e.Post(ledger.FeePaid(late, "rails/RTP", usd(40)))

	second, err := e.KeepReport(t.Context(), e.Platform.ID, yesterday, e.by(), nil)
	if err != nil {
		t.Fatal(err)
	}

	first, err := e.KeptReport(t.Context(), e.Platform.ID, yesterday, 1)
	if err != nil || first.Figures[0].Difference().String() != "100" || first.Versions != 2 || first.Seq != 2 {
		t.Errorf("first version %+v, %v", first, err)
	}
	last, err := e.KeptReport(t.Context(), e.Platform.ID, yesterday, 0)
	if err != nil || second.Version != 2 || last.Version != 2 || last.Figures[0].Difference().String() != "60" ||
		last.By != e.by() || last.Seq != 3 {
		t.Errorf("second version %+v, %v", last, err)
	}
	e.wantCode(fault.NotFound, func() error {
		_, err := e.KeptReport(t.Context(), e.Platform.ID, yesterday, 3)
		return err
	})
	e.wantCode(fault.InvalidInput, func() error {
		_, err := e.KeepReport(t.Context(), e.Platform.ID, safeguarding.DayOf(e.Clock.Now()), e.by(), nil)
		return err
	})
}

// laterReport is a reader of the ledger that posts and keeps another report after it was first read.
type laterReport struct {
	treasury.Finance
	then func()
}

func (l *laterReport) BalancesAt(ctx context.Context, p ident.Platform, at time.Time, each func(ports.LedgerAccount) error) (
	ports.LedgerState, error) {
	state, err := l.Finance.BalancesAt(ctx, p, at, each)
	if then := l.then; then != nil {
		l.then = nil
		then()
	}
	return state, err
}

func TestKeepReport_NoVersionIsOlderThanTheOneBefore(t *testing.T) {
	t.Parallel()
	// A report whose figures were read before those of the last version is not kept after it.
	e := newEnv(t)
	e.Clock.Advance(day)
	reader := &laterReport{Finance: e.Ledger}
	reader.then = func() {
		late := e.header()
		late.Effective = apptest.Noon.Add(time.Hour)
		e.Post(ledger.FeePaid(late, "rails/RTP", usd(40)))
		if _, err := e.KeepReport(t.Context(), e.Platform.ID, yesterday, e.by(), nil); err != nil {
			t.Error(err)
		}
	}
	e.Ledger = reader

	e.wantCode(fault.Conflict, func() error {
		_, err := e.KeepReport(t.Context(), e.Platform.ID, yesterday, e.by(), nil)
		return err
	})

	again, err := e.KeepReport(t.Context(), e.Platform.ID, yesterday, e.by(), nil)
	if err != nil || again.Version != 2 || again.Seq != 3 {
		t.Errorf("repeated: version %d up to posting %d, %v", again.Version, again.Seq, err)
	}
}

func TestReport_PurposesOfItsMoment(t *testing.T) {
	t.Parallel()
	// An account that becomes the company's own is of the resource in the reports of days before that, also if they are
	// made later, and no more in those after.
	e := newEnv(t)
	e.Post(ledger.FeePaid(e.header(), "rails/RTP", usd(60)))
	e.Post(ledger.UnmatchedReceived(e.header(), "rails/WIRE", usd(50_00)))
	e.mustMove(e.movement(movements.Transfer, "rails/WIRE", "rails/RTP", usd(50_00)))
	e.mustMove(e.movement(movements.Transfer, "rails/RTP", "rails/WIRE", usd(30)))
	e.Clock.Advance(day)
	if err := e.setPurpose("rails/WIRE", safeguarding.Own); err != nil {
		t.Fatal(err)
	}

	before, err := e.KeepReport(t.Context(), e.Platform.ID, yesterday, e.by(), nil)
	if err != nil {
		t.Fatal(err)
	}
	past, err := e.Report(t.Context(), e.Platform.ID, yesterday.Last())
	if err != nil {
		t.Fatal(err)
	}
	after, err := e.Report(t.Context(), e.Platform.ID, time.Time{})
	if err != nil {
		t.Fatal(err)
	}

	if got := before.Figures[0].Difference().String() + " " + past.Figures[0].Difference().String() + " " +
		after.Figures[0].Difference().String(); got != "40 40 10" {
		t.Errorf("excess on the day, as of its end, and now: %s; want 40 40 10", got)
	}
}

func (e *env) wantCode(want fault.Code, do func() error) {
	e.t.Helper()
	err := do()
	if f, ok := fault.As(err); !ok || f.Code != want {
		e.t.Errorf("got %v, want %s", err, want)
	}
}

func TestAcknowledge_RecordsWhoAndWhat(t *testing.T) {
	t.Parallel()
	// The last version of a report carries who has seen it and what was done; a note is required.
	e := newEnv(t)
	e.Clock.Advance(day)
	e.wantCode(fault.NotFound, func() error {
		_, err := e.Acknowledge(t.Context(), e.Platform.ID, yesterday, e.by(), "Seen", nil)
		return err
	})
	if err := e.KeepDueReports(t.Context(), e.Platform.Environment); err != nil {
		t.Fatal(err)
	}
	e.wantCode(fault.InvalidInput, func() error {
		_, err := e.Acknowledge(t.Context(), e.Platform.ID, yesterday, e.by(), " ", nil)
		return err
	})

	if _, err := e.Acknowledge(t.Context(), e.Platform.ID, yesterday, e.by(), "Swept 1.00 USD", nil); err != nil {
		t.Fatal(err)
	}

	r, err := e.KeptReport(t.Context(), e.Platform.ID, yesterday, 0)
	if err != nil || len(r.Acknowledgements) != 1 || r.Acknowledgements[0].Note != "Swept 1.00 USD" || r.Acknowledgements[0].By != e.by() {
		t.Errorf("acknowledgements %+v, %v", r.Acknowledgements, err)
	}
}

func TestReports_CannotBeChanged(t *testing.T) {
	t.Parallel()
	// The database refuses to change or delete what is kept.
	e := newEnv(t)
	e.Clock.Advance(day)
	if err := e.KeepDueReports(t.Context(), e.Platform.Environment); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"UPDATE safeguarding_reports SET seq = 1", "DELETE FROM safeguarding_report_lines", "UPDATE safeguarding_report_lines SET amount = 0",
		"TRUNCATE safeguarding_acknowledgements", "DELETE FROM safeguarding_purposes", "DELETE FROM treasury_movements",
	} {
		if err := e.Exec(statement); err == nil {
			t.Errorf("%s: not refused", statement)
		}
	}
}

func TestKeepDueReports_OnePlatformDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	// A platform without postings has no report, and each of several has its own.
	e := newEnv(t)
	other := e.NewPlatform()
	e.Clock.Advance(day)
	if err := e.KeepDueReports(t.Context(), e.Platform.Environment); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[ident.Platform]safeguarding.Day{e.Platform.ID: yesterday, other.ID: ""} {
		if got, err := e.Store.LastSafeguardingDay(t.Context(), p); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", p, got, err, want)
		}
	}
}
