package accounting_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/app/journals"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// archiveEnv has two deposits recorded in January 2026 and two in February. January is closed
// and sealed, and the time is March 2027.
type archiveEnv struct {
	*periodEnv
	ana, bob ident.InternalAccount
	posted   []ledger.Posting
}

func newArchiveEnv(t *testing.T, options ...apptest.Option) *archiveEnv {
	t.Helper()
	e := &archiveEnv{periodEnv: newPeriodEnvAt(t, day(time.January, 10), options...)}
	e.ana.SetUUID(e.IDs.New(apptest.Noon))
	e.bob.SetUUID(e.IDs.New(apptest.Noon))
	e.deposit(e.ana, 100)
	e.deposit(e.bob, 20)
	e.setClock(day(time.February, 10))
	e.deposit(e.ana, 3)
	e.deposit(e.ana, 4)
	e.changeState(period.SoftClose, "2026-01")
	e.changeState(period.Close, "2026-01")
	e.setClock(time.Date(2027, time.March, 14, 12, 0, 0, 0, time.UTC))
	e.seal()
	return e
}

func (e *archiveEnv) setClock(at time.Time) { e.Clock.Advance(at.Sub(e.Clock.Now())) }

// deposit records a deposit that is effective now.
func (e *archiveEnv) deposit(to ident.InternalAccount, minor int64) ledger.Posting {
	e.t.Helper()
	p := ledger.Deposit(ledger.Header{ID: e.IDs.New(e.Clock.Now()), Platform: e.Admin.Platform, Effective: e.Clock.Now()},
		ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(to),
			Amount: money.Amount{Minor: minor, Currency: money.USD}})
	e.Post(p)
	e.posted = append(e.posted, p)
	return p
}

func (e *archiveEnv) seal() {
	e.t.Helper()
	key := sha256.Sum256([]byte("master"))
	box, err := encryption.New(key[:])
	if err != nil {
		e.t.Fatal(err)
	}
	quiet, _ := test.NewNullLogger()
	err = audit.NewLog(audit.LogConfig{Log: e.Store.LedgerLog(), Signer: checkpoints.NewKeyring(e.Store.LedgerLog(), box, e.Clock, e.IDs),
		Publisher: discardPublisher{},
		Clock:     e.Clock, Logger: logrus.NewEntry(quiet), Interval: time.Hour}).SealDue(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
}

// discardPublisher discards checkpoints.
type discardPublisher struct{}

func (discardPublisher) Newest(context.Context) ([]string, error) { return nil, nil }

func (discardPublisher) Publish(context.Context, []ports.SignedCheckpoint) error { return nil }

func (e *archiveEnv) archive() {
	e.t.Helper()
	if err := e.periods.Archive(e.t.Context(), mustMonth("2026-01")); err != nil {
		e.t.Fatalf("%+v", err)
	}
}

// wantArchived checks that an error is MONTH_ARCHIVED.
func wantArchived(t *testing.T, name string, err error) {
	t.Helper()
	if !fault.Is(err, fault.MonthArchived) || !strings.Contains(err.Error(), "2026-0") {
		t.Errorf("%s: %v, want MONTH_ARCHIVED", name, err)
	}
}

func TestArchive_ArchivedMonthIsRefused(t *testing.T) {
	t.Parallel()
	// With January archived, everything later reads as before, and every read that needs January
	// returns MONTH_ARCHIVED instead of leaving it out.
	env := newArchiveEnv(t)
	env.archive()
	ctx, p := env.t.Context(), env.Admin.Platform
	ana := ledger.Account{Platform: p, Path: ledger.CustomerAccount(env.ana), Currency: money.USD}
	ach := ledger.Account{Platform: p, Path: ledger.Rail("ACH"), Currency: money.USD}
	reports, reader := env.Store.Finance(), env.Store.LedgerReader()

	balances, err := reader.Balances(ctx, []ledger.Account{ana, ach})
	if err != nil || balances[ana] != 107 || balances[ach] != 127 {
		t.Errorf("now: %v, %v", balances, err)
	}
	for _, by := range []ports.TimeKind{ports.ByRecorded, ports.ByEffective} {
		for _, a := range []ledger.Account{ana, ach} {
			for at, want := range map[time.Time]int64{day(time.February, 1).Add(-time.Microsecond): 100, day(time.February, 3): 100,
				day(time.March, 1): 107} {
				if a == ach {
					want += 20
				}
				if got, err := reader.BalanceAt(ctx, a, by, at); err != nil || got != want {
					t.Errorf("%s at %s by %d: %d, %v; want %d", a.Path, at, by, got, err, want)
				}
			}
			_, err := reader.BalanceAt(ctx, a, by, day(time.January, 20))
			wantArchived(t, "a balance in January", err)

			page, _, err := reports.AccountEntries(ctx, ports.AccountEntryFilter{Account: a, By: by, Limit: 9})
			if err != nil || len(page.Entries) != 2 || !page.More || page.Entries[0].Balance.String() == "" {
				t.Errorf("the newest entries: %+v, %v", page, err)
			}
			_, _, err = reports.AccountEntries(ctx, ports.AccountEntryFilter{Account: a, By: by, Limit: 9, After: page.Entries[1].Position})
			wantArchived(t, "the entries before them", err)
			_, _, err = reports.AccountEntries(ctx, ports.AccountEntryFilter{Account: a, By: by, Limit: 9, Ascending: true})
			wantArchived(t, "the oldest entries", err)
			page, _, err = reports.AccountEntries(ctx, ports.AccountEntryFilter{Account: a, By: by, Limit: 9, Ascending: true,
				Interval: period.Interval{From: day(time.February, 1)}})
			if err != nil || len(page.Entries) != 2 || page.More {
				t.Errorf("entries since February: %+v, %v", page, err)
			}
		}
		var lines []string
		cuts := []ports.Cutoff{{By: by, Moment: day(time.February, 1).Add(-time.Microsecond)}, {By: by, Moment: day(time.March, 1)}}
		err := reports.Turnovers(ctx, p, "", cuts, func(l ports.AccountTurnovers) error {
			lines = append(lines, fmt.Sprintf("%s-%s %s-%s", l.Turnovers[0].Debits, l.Turnovers[0].Credits, l.Turnovers[1].Debits,
				l.Turnovers[1].Credits))
			return nil
		})
		if want := []string{"0-100 0-107", "0-20 0-20", "120-0 127-0"}; err != nil || !slices.Equal(lines, want) {
			t.Errorf("turnovers by %d: %q, %v; want %q", by, lines, err, want)
		}
		err = reports.Turnovers(ctx, p, "", []ports.Cutoff{{By: by, Moment: day(time.January, 31)}},
			func(ports.AccountTurnovers) error { return nil })
		wantArchived(t, "turnovers of January", err)

		list, err := reports.Postings(ctx, ports.PostingFilter{Platform: p, By: by, Limit: 9})
		if err != nil || len(list.Postings) != 2 || !list.More {
			t.Errorf("the newest postings: %+v, %v", list, err)
		}
		_, err = reports.Postings(ctx, ports.PostingFilter{Platform: p, By: by, Limit: 9, After: list.Postings[1].Seq})
		wantArchived(t, "the postings before them", err)
		_, err = reports.Postings(ctx, ports.PostingFilter{Platform: p, By: by, Limit: 9, Interval: period.Interval{From: day(time.January, 5),
			To: day(time.February, 5)}})
		wantArchived(t, "postings from January on", err)
	}
	_, _, err = reports.RecordedPosting(ctx, p, env.posted[0].ID)
	wantArchived(t, "a posting of January", err)
	_, _, err = env.Store.LedgerLog().Leaf(ctx, p, env.posted[1].ID)
	wantArchived(t, "its leaf", err)
	if posting, found, err := reports.RecordedPosting(ctx, p, env.posted[2].ID); err != nil || !found || posting.Seq != 3 {
		t.Errorf("a posting of February: %+v, %t, %v", posting, found, err)
	}
	var recent, old ident.Transaction
	recent.SetUUID(ids.New().New(day(time.February, 2)))
	old.SetUUID(ids.New().New(day(time.January, 2)))
	for what, c := range map[string]struct {
		filter   ports.EntryFilter
		archived bool
	}{
		"all entries":                    {ports.EntryFilter{}, true},
		"those of an account":            {ports.EntryFilter{Path: ana.Path, Currency: ana.Currency}, true},
		"those of an old transaction":    {ports.EntryFilter{Transaction: old}, true},
		"those of a recent one":          {ports.EntryFilter{Transaction: recent}, false},
		"those of a posting of January":  {ports.EntryFilter{Posting: env.posted[0].ID}, true},
		"those of a posting of February": {ports.EntryFilter{Posting: env.posted[2].ID}, false},
		"those after January":            {ports.EntryFilter{After: ports.EntryPosition{Seq: 2, N: 1}}, false},
	} {
		c.filter.Platform = p
		if _, err := reader.Entries(ctx, c.filter); c.archived {
			wantArchived(t, what, err)
		} else if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	since := period.Interval{From: day(time.January, 31)} // a day before, as a timeline reads it
	for what, c := range map[string]struct {
		filter   ports.PostingFilter
		archived bool
	}{
		"an old transaction":              {ports.PostingFilter{Transaction: old, Ascending: true}, true},
		"an old one since a day":          {ports.PostingFilter{Transaction: old, Interval: since}, true},
		"a recent one":                    {ports.PostingFilter{Transaction: recent, Ascending: true}, false},
		"a recent one since a day before": {ports.PostingFilter{Transaction: recent, Interval: since, Ascending: true}, false},
		"with a reference":                {ports.PostingFilter{OrOf: recent, Memos: []string{"x"}, Interval: since, Ascending: true}, false},
		"an old one with a reference":     {ports.PostingFilter{OrOf: old, Memos: []string{"x"}, Interval: since, Ascending: true}, true},
		"with a reference at any time":    {ports.PostingFilter{OrOf: recent, Memos: []string{"x"}, Ascending: true}, true},
	} {
		c.filter.Platform, c.filter.Limit = p, 9
		if page, err := reports.Postings(ctx, c.filter); c.archived {
			wantArchived(t, what, err)
		} else if err != nil || page.More {
			t.Errorf("%s: %+v, %v", what, page, err)
		}
	}
	_, err = env.tryCheckLedger()
	wantArchived(t, "a check", err)
	if !strings.HasPrefix(err.Error(), "MONTH_ARCHIVED: The month 2026-01 is archived") {
		t.Errorf("a check: %v", err)
	}

	view := func(asOf time.Time, fn func(context.Context, ports.LedgerView) error) error {
		return env.Store.LedgerViews().View(ctx, p, asOf, fn)
	}
	wantArchived(t, "a view of January", view(day(time.January, 12), func(context.Context, ports.LedgerView) error { return nil }))
	err = view(time.Time{}, func(ctx context.Context, v ports.LedgerView) error {
		discard := func(ports.RecordedEntry) error { return nil }
		wantArchived(t, "all entries", v.Entries(ctx, ports.LedgerFilter{}, discard))
		wantArchived(t, "all movements", v.EntriesByEffectiveTime(ctx, []ledger.Account{ana}, period.Interval{},
			func(ledger.Account, ports.RecordedEntry) error { return nil }))
		wantArchived(t, "all accounts", v.Accounts(ctx, ports.LedgerFilter{}, func(ports.AccountTurnover) error { return nil }))
		var seen []string
		since := period.Interval{From: day(time.February, 1)}
		noDay := func(d ports.DayTurnover) error { return fmt.Errorf("there is a day %+v", d) }
		wantArchived(t, "days since January", v.Days(ctx, ana, day(time.January, 1), since, noDay))
		err := errors.Join(v.Entries(ctx, ports.LedgerFilter{Interval: since}, func(e ports.RecordedEntry) error {
			seen = append(seen, fmt.Sprint(e.Position.Seq))
			return nil
		}), v.Accounts(ctx, ports.LedgerFilter{Interval: since}, func(a ports.AccountTurnover) error {
			seen = append(seen, fmt.Sprint(a.Opening, a.Debits.Sum, a.Credits.Sum, a.Closing))
			return nil
		}), v.EntriesByEffectiveTime(ctx, []ledger.Account{ana}, since, func(_ ledger.Account, e ports.RecordedEntry) error {
			seen = append(seen, fmt.Sprint(e.Amount))
			return nil
		}), v.Days(ctx, ana, since.From, since, func(d ports.DayTurnover) error {
			seen = append(seen, fmt.Sprint(d.Debits.Count+d.Credits.Count))
			return nil
		}))
		if want := []string{"3", "4", "-100 0 7 -107", "-20 0 0 -20", "120 7 0 127", "3", "4", "2"}; !slices.Equal(seen, want) {
			t.Errorf("since February: %q, want %q", seen, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestArchive_PostingContinues(t *testing.T) {
	t.Parallel()
	// After archiving, numbering continues, an archived posting is not posted again, months are
	// closed, and after the month is restored the ledger check is clean.
	env := newArchiveEnv(t)
	env.archive()
	if err := env.tryPost(env.posted[0]); err != nil {
		t.Errorf("repeated: %v", err)
	}
	env.deposit(env.bob, 5)
	env.changeState(period.SoftClose, "2026-02")
	env.changeState(period.Close, "2026-02")
	wantLines(t, env.getMonth("2026-02"), "customers/"+env.ana.String()+" 100 0 7 107", "rails/ACH 120 7 0 127",
		"customers/"+env.bob.String()+" 20 0 0 20")
	if err := env.periods.Restore(t.Context(), mustMonth("2026-01")); err != nil {
		t.Fatal(err)
	}

	report, err := env.tryCheckLedger()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Error(f)
	}
	if _, found, err := env.Store.Finance().RecordedPosting(t.Context(), env.Admin.Platform, env.posted[0].ID); err != nil || !found {
		t.Errorf("a posting of January: %t, %v", found, err)
	}
	env.archive() // again
}

func TestArchive_JournalsOfLaterMonths(t *testing.T) {
	t.Parallel()
	// The journals of a later month, and of its first day, are those that they would be without archiving; those of the archived month
	// cannot be made.
	env := newArchiveEnv(t)
	env.archive()
	service := journals.New(journals.Config{Store: env.Store, Ledger: env.Store.Finance(), Clock: env.Clock})
	journalsOf := func(text string) ([]journal.Journal, error) {
		span, err := journal.ParseSpan(text)
		if err != nil {
			t.Fatal(err)
		}
		return service.Make(t.Context(), env.Admin.Platform, ana(env.Admin), nil, span)
	}

	if all, err := journalsOf("2026-02"); err != nil || len(all) != 1 || all[0].Control().Debits.String() != "7" {
		t.Errorf("February: %+v, %v", all, err)
	}
	if all, err := journalsOf("2026-03-01"); err != nil || len(all) > 0 {
		t.Errorf("a day without postings: %+v, %v", all, err)
	}
	_, err := journalsOf("2026-01")
	wantArchived(t, "journals of January", err)
}

func TestArchive_PostingDoesNotWaitForReaders(t *testing.T) {
	t.Parallel()
	// While a long query reads the month, archiving it keeps trying, and no posting waits for as long
	// as a unit of work waits for a lock; when the query has ended, the month is archived.
	env := newArchiveEnv(t, apptest.LockTimeout(3*time.Second)) // as the service waits
	reader, err := env.Store.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := reader.Exec(t.Context(), "SELECT count(*) FROM ledger_entries"); err != nil {
		t.Fatal(err)
	}

	archived := make(chan error, 1)
	go func() { archived <- env.periods.Archive(context.WithoutCancel(t.Context()), mustMonth("2026-01")) }()
	for start := time.Now(); time.Since(start) < 3*time.Second; {
		env.deposit(env.bob, 1) // which fails if it waits too long
	}
	select {
	case err := <-archived:
		t.Errorf("archived while the month is read: %v", err)
	default:
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}

	if err := <-archived; err != nil {
		t.Error(err)
	}
	if months, err := env.Store.LedgerMonths(t.Context()); err != nil || months.LastArchived != mustMonth("2026-01") {
		t.Errorf("%+v, %v", months, err)
	}
}

func TestArchive_Blockers(t *testing.T) {
	t.Parallel()
	// A month is not archived while anything in it is open on any platform; each blocker is named.
	for name, c := range map[string]struct {
		prepare func(*archiveEnv)
		want    string
	}{
		"another platform": {func(env *archiveEnv) {
			other := env.NewPrincipal(env.NewPlatform())
			env.setClock(day(time.January, 12))
			env.Post(ledger.FeePaid(ledger.Header{ID: env.IDs.New(apptest.Noon), Platform: other.Platform, Effective: day(time.January, 9)},
				ledger.Rail("WIRE"), money.Amount{Minor: 1, Currency: money.USD}))
			env.setClock(time.Date(2027, time.March, 14, 12, 0, 0, 0, time.UTC))
			env.seal()
		}, "the month is not closed; close it"},
		"unsealed postings": {func(env *archiveEnv) {
			if err := env.Exec("UPDATE ledger_log_state SET size = 1"); err != nil {
				env.t.Fatal(err)
			}
		}, "1 of its postings are not in a checkpoint of the log yet"},
		"a posting effective later": {func(env *archiveEnv) {
			if err := env.Exec("ALTER TABLE ledger_postings DISABLE TRIGGER append_only", "UPDATE ledger_postings SET effective_at = '2026-02-02' "+
				"WHERE seq = 2"); err != nil {
				env.t.Fatal(err)
			}
		}, "1 of its postings are effective after it"},
		"unmatched funds": {func(env *archiveEnv) {
			if err := env.Exec("ALTER TABLE ledger_postings DISABLE TRIGGER append_only", "UPDATE ledger_postings SET kind = 'unmatched_received' "+
				"WHERE seq = 1"); err != nil {
				env.t.Fatal(err)
			}
		}, "1 payments received in it are unmatched"},
		"a refund that is sent again": {func(env *archiveEnv) {
			const id = "'33333333-3333-4333-8333-333333333333'"
			if err := env.Exec("ALTER TABLE ledger_postings DISABLE TRIGGER append_only",
				"INSERT INTO transactions (platform_id, id, direction, status, refund_status, refund_again, stage, failure_reason, source_rail, "+
					"source_account, destination_rail, destination_account, sent_currency, sent_minor, received_currency, received_minor, "+
					"created_at, updated_at, source_uma, destination_uma, reference, details) SELECT platform_id, "+id+", 'OUTGOING', 'FAILED', "+
					"'FAILED', 'PENDING', '', '', '', '', '', '', 'USD', 1, 'USD', 1, now(), now(), '', '', '', '' FROM ledger_postings WHERE seq = 1",
				"UPDATE ledger_postings SET transaction_id = "+id+" WHERE seq = 1"); err != nil {
				env.t.Fatal(err)
			}
		}, "1 payments"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newArchiveEnv(t)
			c.prepare(env)
			err := env.periods.Archive(t.Context(), mustMonth("2026-01"))
			var refused *fault.Error
			if !errors.As(err, &refused) || refused.Code != fault.Conflict ||
				!slices.ContainsFunc(refused.Fields, func(f fault.Field) bool { return strings.Contains(f.Message, c.want) }) {
				t.Errorf("%+v, want that it says %q", err, c.want)
			}
			if got, err := env.Store.LedgerReader().BalanceAt(t.Context(), ledger.Account{Platform: env.Admin.Platform, Path: ledger.Rail("ACH"),
				Currency: money.USD}, ports.ByRecorded, day(time.January, 20)); err != nil || got != 120 {
				t.Errorf("January is archived nevertheless: %d, %v", got, err)
			}
		})
	}
}

func TestArchive_OldestMonthFirst(t *testing.T) {
	t.Parallel()
	// Months are archived in order, after the period in which payments can be returned, and
	// restored in reverse order.
	env := newArchiveEnv(t)
	ctx := t.Context()
	wantConflict := func(name, want string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	wantConflict("the second", "can be archived from 2027-04-01 on", env.periods.Archive(ctx, mustMonth("2026-02")))
	env.setClock(time.Date(2027, time.April, 1, 0, 0, 0, 0, time.UTC))
	wantConflict("the second before the first", "archive 2026-01 before 2026-02", env.periods.Archive(ctx, mustMonth("2026-02")))
	wantConflict("one without postings", "2025-12 is not in the ledger", env.periods.Archive(ctx, mustMonth("2025-12")))
	wantConflict("a month in the ledger", "2026-01 is not archived", env.periods.Restore(ctx, mustMonth("2026-01")))
	env.archive()
	env.changeState(period.SoftClose, "2026-02")
	env.changeState(period.Close, "2026-02")
	if err := env.periods.Archive(ctx, mustMonth("2026-02")); err != nil { // on a platform that posted nothing since
		t.Fatalf("%+v", err)
	}
	wantConflict("the first", "restore 2026-02 first", env.periods.Restore(ctx, mustMonth("2026-01")))
	for _, month := range []string{"2026-02", "2026-01"} {
		if err := env.periods.Restore(ctx, mustMonth(month)); err != nil {
			t.Fatal(err)
		}
	}
	report, err := env.tryCheckLedger()
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("%v, %v", report.Findings, err)
	}
}
