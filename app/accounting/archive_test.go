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
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// archiveEnv is a house in which two deposits were recorded in January 2026 and two in
// February, and January is closed and sealed; now it is March 2027.
type archiveEnv struct {
	*periodEnv
	ana, bob ident.InternalAccount
	posted   []ledger.Posting
}

func newArchiveEnv(t *testing.T) *archiveEnv {
	t.Helper()
	h := &archiveEnv{periodEnv: newPeriodEnvAt(t, day(time.January, 10))}
	ident.SetUUID(&h.ana, h.ids.New(midMarch))
	ident.SetUUID(&h.bob, h.ids.New(midMarch))
	h.deposit(h.ana, 100)
	h.deposit(h.bob, 20)
	h.setClock(day(time.February, 10))
	h.deposit(h.ana, 3)
	h.deposit(h.ana, 4)
	h.changeState(period.SoftClose, "2026-01")
	h.changeState(period.Close, "2026-01")
	h.setClock(time.Date(2027, time.March, 14, 12, 0, 0, 0, time.UTC))
	h.seal()
	return h
}

func (h *archiveEnv) setClock(at time.Time) { h.clock.Advance(at.Sub(h.clock.Now())) }

// deposit posts now what takes effect now.
func (h *archiveEnv) deposit(to ident.InternalAccount, minor int64) ledger.Posting {
	h.t.Helper()
	p := ledger.Deposit(ledger.Header{ID: h.ids.New(h.clock.Now()), Platform: h.admin.Platform, Effective: h.clock.Now()},
		ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(to), Amount: money.Amount{Minor: minor, Currency: money.USD}})
	h.post(p)
	h.posted = append(h.posted, p)
	return p
}

func (h *archiveEnv) seal() {
	h.t.Helper()
	key := sha256.Sum256([]byte("master"))
	box, err := encryption.New(key[:])
	if err != nil {
		h.t.Fatal(err)
	}
	quiet, _ := test.NewNullLogger()
	err = audit.NewLog(audit.LogConfig{Log: h.store.LedgerLog(), Signer: checkpoints.NewKeyring(h.store.LedgerLog(), box, h.clock, h.ids), Publisher: discardPublisher{},
		Clock: h.clock, Logger: logrus.NewEntry(quiet), Interval: time.Hour}).SealDue(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
}

// discardPublisher is where heads go that nobody reads.
type discardPublisher struct{}

func (discardPublisher) Publish(context.Context, []ports.SignedCheckpoint) error { return nil }

func (h *archiveEnv) archive() {
	h.t.Helper()
	if err := h.Archive(h.t.Context(), mustMonth("2026-01")); err != nil {
		h.t.Fatalf("%+v", err)
	}
}

// wantArchived asks that something is refused because its month is detached.
func wantArchived(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.MonthArchived) || !strings.Contains(err.Error(), "2026-0") {
		t.Errorf("%s: %v, want that it is detached", what, err)
	}
}

func TestArchive_ArchivedMonthIsRefused(t *testing.T) {
	t.Parallel()
	// Without January everything later is as before; what lies in it, or reaches into it, is
	// refused and never told as if it had not been.
	h := newArchiveEnv(t)
	h.archive()
	ctx, of := h.t.Context(), h.admin.Platform
	ana := ledger.Account{Platform: of, Path: ledger.CustomerAccount(h.ana), Currency: money.USD}
	ach := ledger.Account{Platform: of, Path: ledger.Rail("ACH"), Currency: money.USD}
	reports, reader := h.store.Finance(), h.store.LedgerReader()

	balances, err := reader.Balances(ctx, []ledger.Account{ana, ach})
	if err != nil || balances[ana] != 107 || balances[ach] != 127 {
		t.Errorf("now: %v, %v", balances, err)
	}
	for _, by := range []ports.TimeKind{ports.ByRecorded, ports.ByEffective} {
		for _, a := range []ledger.Account{ana, ach} {
			for at, want := range map[time.Time]int64{day(time.February, 1).Add(-time.Microsecond): 100, day(time.February, 3): 100, day(time.March, 1): 107} {
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
			page, _, err = reports.AccountEntries(ctx, ports.AccountEntryFilter{Account: a, By: by, Limit: 9, Ascending: true, Interval: period.Interval{From: day(time.February, 1)}})
			if err != nil || len(page.Entries) != 2 || page.More {
				t.Errorf("entries since February: %+v, %v", page, err)
			}
		}
		var lines []string
		cuts := []ports.Cutoff{{By: by, Moment: day(time.February, 1).Add(-time.Microsecond)}, {By: by, Moment: day(time.March, 1)}}
		err := reports.Turnovers(ctx, of, "", cuts, func(l ports.AccountTurnovers) error {
			lines = append(lines, fmt.Sprintf("%s-%s %s-%s", l.Turnovers[0].Debits, l.Turnovers[0].Credits, l.Turnovers[1].Debits, l.Turnovers[1].Credits))
			return nil
		})
		if want := []string{"0-100 0-107", "0-20 0-20", "120-0 127-0"}; err != nil || !slices.Equal(lines, want) {
			t.Errorf("turnovers by %d: %q, %v; want %q", by, lines, err, want)
		}
		err = reports.Turnovers(ctx, of, "", []ports.Cutoff{{By: by, Moment: day(time.January, 31)}}, func(ports.AccountTurnovers) error { return nil })
		wantArchived(t, "turnovers of January", err)

		list, err := reports.Postings(ctx, ports.PostingFilter{Platform: of, By: by, Limit: 9})
		if err != nil || len(list.Postings) != 2 || !list.More {
			t.Errorf("the newest postings: %+v, %v", list, err)
		}
		_, err = reports.Postings(ctx, ports.PostingFilter{Platform: of, By: by, Limit: 9, After: list.Postings[1].Seq})
		wantArchived(t, "the postings before them", err)
		_, err = reports.Postings(ctx, ports.PostingFilter{Platform: of, By: by, Limit: 9, Interval: period.Interval{From: day(time.January, 5), To: day(time.February, 5)}})
		wantArchived(t, "postings from January on", err)
	}
	_, _, err = reports.RecordedPosting(ctx, of, h.posted[0].ID)
	wantArchived(t, "a posting of January", err)
	_, _, err = h.store.LedgerLog().Leaf(ctx, of, h.posted[1].ID)
	wantArchived(t, "its leaf", err)
	if p, found, err := reports.RecordedPosting(ctx, of, h.posted[2].ID); err != nil || !found || p.Seq != 3 {
		t.Errorf("a posting of February: %+v, %t, %v", p, found, err)
	}
	var young, old ident.Transaction
	ident.SetUUID(&young, ids.New().New(day(time.February, 2)))
	ident.SetUUID(&old, ids.New().New(day(time.January, 2)))
	for what, c := range map[string]struct {
		filter ports.EntryFilter
		gone   bool
	}{
		"all entries":                    {ports.EntryFilter{}, true},
		"those of an account":            {ports.EntryFilter{Path: ana.Path, Currency: ana.Currency}, true},
		"those of an old transaction":    {ports.EntryFilter{Transaction: old}, true},
		"those of a young one":           {ports.EntryFilter{Transaction: young}, false},
		"those of a posting of January":  {ports.EntryFilter{Posting: h.posted[0].ID}, true},
		"those of a posting of February": {ports.EntryFilter{Posting: h.posted[2].ID}, false},
		"those after January":            {ports.EntryFilter{After: ports.EntryPosition{Seq: 2, N: 1}}, false},
	} {
		c.filter.Platform = of
		if _, err := reader.Entries(ctx, c.filter); c.gone {
			wantArchived(t, what, err)
		} else if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = h.tryCheckLedger()
	wantArchived(t, "a check", err)

	view := func(asOf time.Time, fn func(context.Context, ports.LedgerView) error) error {
		return h.store.LedgerViews().View(ctx, of, asOf, fn)
	}
	wantArchived(t, "a view of January", view(day(time.January, 12), func(context.Context, ports.LedgerView) error { return nil }))
	err = view(time.Time{}, func(ctx context.Context, v ports.LedgerView) error {
		every := func(ports.RecordedEntry) error { return nil }
		wantArchived(t, "all entries", v.Entries(ctx, ports.LedgerFilter{}, every))
		wantArchived(t, "all movements", v.EntriesByEffectiveTime(ctx, ana, period.Interval{}, every))
		wantArchived(t, "all accounts", v.Accounts(ctx, ports.LedgerFilter{}, func(ports.AccountTurnover) error { return nil }))
		var seen []string
		since := period.Interval{From: day(time.February, 1)}
		err := errors.Join(v.Entries(ctx, ports.LedgerFilter{Interval: since}, func(e ports.RecordedEntry) error {
			seen = append(seen, fmt.Sprint(e.Position.Seq))
			return nil
		}), v.Accounts(ctx, ports.LedgerFilter{Interval: since}, func(a ports.AccountTurnover) error {
			seen = append(seen, fmt.Sprint(a.Opening, a.Debits.Sum, a.Credits.Sum, a.Closing))
			return nil
		}), v.EntriesByEffectiveTime(ctx, ana, since, func(e ports.RecordedEntry) error {
			seen = append(seen, fmt.Sprint(e.Amount))
			return nil
		}))
		if want := []string{"3", "4", "-100 0 7 -107", "-20 0 0 -20", "120 7 0 127", "3", "4"}; !slices.Equal(seen, want) {
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
	// What is posted later is numbered on, an id of the month that is gone is not used again,
	// months close, and when the month is back the books are whole and proved.
	h := newArchiveEnv(t)
	h.archive()
	if err := h.tryPost(h.posted[0]); err != nil {
		t.Errorf("repeated: %v", err)
	}
	h.deposit(h.bob, 5)
	h.changeState(period.SoftClose, "2026-02")
	h.changeState(period.Close, "2026-02")
	wantLines(t, h.getMonth("2026-02"), "customers/"+h.ana.String()+" 100 0 7 107", "rails/ACH 120 7 0 127", "customers/"+h.bob.String()+" 20 0 0 20")
	if err := h.Restore(t.Context(), mustMonth("2026-01")); err != nil {
		t.Fatal(err)
	}

	report, err := h.tryCheckLedger()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Error(f)
	}
	if _, found, err := h.store.Finance().RecordedPosting(t.Context(), h.admin.Platform, h.posted[0].ID); err != nil || !found {
		t.Errorf("a posting of January: %t, %v", found, err)
	}
	h.archive() // as often as one likes
}

func TestArchive_Blockers(t *testing.T) {
	t.Parallel()
	// A month stays as long as anything of it is open, on any platform; all of it is named.
	for name, c := range map[string]struct {
		prepare func(*archiveEnv)
		says    string
	}{
		"another platform's month": {func(h *archiveEnv) {
			other := h.createPlatform("Bolt")
			h.setClock(day(time.January, 12))
			h.post(ledger.FeePaid(ledger.Header{ID: h.ids.New(midMarch), Platform: other.Platform, Effective: day(time.January, 9)}, ledger.Rail("WIRE"), money.Amount{Minor: 1, Currency: money.USD}))
			h.setClock(time.Date(2027, time.March, 14, 12, 0, 0, 0, time.UTC))
			h.seal()
		}, "the month is not closed; close it"},
		"a log that is behind": {func(h *archiveEnv) {
			if err := h.execAsOwner("UPDATE ledger_sealed SET size = 1"); err != nil {
				h.t.Fatal(err)
			}
		}, "1 of its postings are in no head of the log"},
		"a posting for the next month": {func(h *archiveEnv) {
			if err := h.execAsOwner("ALTER TABLE ledger_postings DISABLE TRIGGER ledger_append_only", "UPDATE ledger_postings SET effective_at = '2026-02-02' WHERE seq = 2"); err != nil {
				h.t.Fatal(err)
			}
		}, "1 of its postings take effect after it"},
		"money without an owner": {func(h *archiveEnv) {
			if err := h.execAsOwner("ALTER TABLE ledger_postings DISABLE TRIGGER ledger_append_only", "UPDATE ledger_postings SET kind = 'unmatched_received' WHERE seq = 1"); err != nil {
				h.t.Fatal(err)
			}
		}, "1 payments that came in it have no owner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newArchiveEnv(t)
			h.t = t
			c.prepare(h)
			err := h.Archive(t.Context(), mustMonth("2026-01"))
			var refused *fault.Error
			if !errors.As(err, &refused) || refused.Code != fault.Conflict || !slices.ContainsFunc(refused.Fields, func(f fault.Field) bool { return strings.Contains(f.Message, c.says) }) {
				t.Errorf("%+v, want that it says %q", err, c.says)
			}
			if got, err := h.store.LedgerReader().BalanceAt(t.Context(), ledger.Account{Platform: h.admin.Platform, Path: ledger.Rail("ACH"), Currency: money.USD}, ports.ByRecorded, day(time.January, 20)); err != nil || got != 120 {
				t.Errorf("January is gone all the same: %d, %v", got, err)
			}
		})
	}
}

func TestArchive_OldestMonthFirst(t *testing.T) {
	t.Parallel()
	// The oldest month goes first, not before its money can no longer come back, and the
	// latest comes back first.
	h := newArchiveEnv(t)
	ctx := t.Context()
	wantConflict := func(what, says string, err error) {
		t.Helper()
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", what, err, says)
		}
	}
	wantConflict("the second", "can be detached from 2027-04-01 on", h.Archive(ctx, mustMonth("2026-02")))
	h.setClock(time.Date(2027, time.April, 1, 0, 0, 0, 0, time.UTC))
	wantConflict("the second before the first", "2026-01 comes before 2026-02", h.Archive(ctx, mustMonth("2026-02")))
	wantConflict("one without postings", "2025-12 is not in the books", h.Archive(ctx, mustMonth("2025-12")))
	wantConflict("what is in the books", "2026-01 is not detached", h.Restore(ctx, mustMonth("2026-01")))
	h.archive()
	h.changeState(period.SoftClose, "2026-02")
	h.changeState(period.Close, "2026-02")
	if err := h.Archive(ctx, mustMonth("2026-02")); err != nil { // on a platform that posted nothing since
		t.Fatalf("%+v", err)
	}
	wantConflict("the first", "the latest first, and that is 2026-02", h.Restore(ctx, mustMonth("2026-01")))
	for _, month := range []string{"2026-02", "2026-01"} {
		if err := h.Restore(ctx, mustMonth(month)); err != nil {
			t.Fatal(err)
		}
	}
	report, err := h.tryCheckLedger()
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("%v, %v", report.Findings, err)
	}
}
