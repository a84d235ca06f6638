package accounting_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/internal/apptest"
	"causeway/core/fault"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

func TestPeriods_SoftCloseAndClose(t *testing.T) {
	t.Parallel()
	// A month is soft-closed and closed: its trial balance is stored and adds up, the next month
	// opens with its closing balances, and the ledger check is clean.
	env := newPeriodEnv(t)
	before, january, february := env.newFeePosting(day(time.December, 5).AddDate(-1, 0, 0), 100), env.newFeePosting(day(time.January, 31), 20),
		env.newFeePosting(day(time.February, 1), 3)
	env.Post(before, january, february)

	env.changeState(period.SoftClose, "2026-01")
	first := env.changeState(period.Close, "2026-01")
	env.changeState(period.SoftClose, "2026-02")
	env.Post(env.newFeePosting(day(time.March, 1), 7))
	env.changeState(period.Close, "2026-02")

	if first.State != period.Closed || first.Closing == nil || first.Closing.Seq != 3 || first.Closing.By != ana(env.Admin) {
		t.Errorf("closed: %+v", first.Closing)
	}
	if digest := february.Digest(); !slices.Equal(first.Closing.Digest, digest[:]) {
		t.Errorf("closed at %x, want %x", first.Closing.Digest, digest)
	}
	wantLines(t, env.getMonth("2026-01"), "expense/rails 100 20 0 120", "rails/WIRE -100 0 20 -120")
	wantLines(t, env.getMonth("2026-02"), "expense/rails 120 3 0 123", "rails/WIRE -120 0 3 -123")
	if totals := env.getMonth("2026-02").Totals; len(totals) != 1 || totals[0].Accounts != 2 || totals[0].Debits.String() != "3" ||
		totals[0].Credits.String() != "3" {
		t.Errorf("totals %v", totals)
	}
	for _, f := range env.checkLedger().Findings {
		t.Error(f)
	}
}

func TestPeriods_OperatorIsRecorded(t *testing.T) {
	t.Parallel()
	// A change on the command line records the name of the operator; without one it is refused.
	env := newPeriodEnv(t)
	env.Post(env.newFeePosting(day(time.January, 31), 20))
	month := mustMonth("2026-01")

	_, err := env.periods.ChangeStateAs(t.Context(), env.Admin.Platform, platform.Author{Actor: " "},
		accounting.MonthChange{Action: period.SoftClose, Month: month})
	apptest.WantFault(t, "no name", err, fault.InvalidInput, "actor")
	if _, err := env.periods.ChangeStateAs(t.Context(), env.Admin.Platform, platform.Author{Actor: "ana"}, accounting.MonthChange{
		Action: period.SoftClose, Month: month, ConfirmOpeningBalances: true}); err != nil {
		t.Fatal(err)
	}
	env.changeState(period.Close, "2026-01")

	changes := env.getMonth("2026-01").Changes
	if len(changes) != 2 || changes[0].By != (platform.Author{Actor: "ana"}) || changes[1].By != ana(env.Admin) {
		t.Errorf("changes %+v", changes)
	}
}

func TestSoftClose_FirstNeedsConfirmation(t *testing.T) {
	t.Parallel()
	// A first soft close while an earlier month is open is refused with that month and with what
	// would become the opening balances. Nothing is lost: the earlier month still takes postings,
	// and can be soft-closed first; with the confirmation the later month begins the calendar.
	env := newPeriodEnv(t)
	env.Post(env.newFeePosting(day(time.March, 2), 7)) // recorded first
	env.Post(env.newFeePosting(day(time.January, 31), 20), env.newFeePosting(day(time.February, 3), 4))
	softClose := func(m string, confirmed bool) error {
		_, err := env.periods.ChangeState(t.Context(), env.Admin.Platform, env.Admin.Author(), nil,
			accounting.MonthChange{Action: period.SoftClose, Month: mustMonth(m), ConfirmOpeningBalances: confirmed})
		return err
	}

	refused, ok := fault.As(softClose("2026-02", false))

	if !ok || refused.Code != fault.Conflict || refused.Reason != "Earlier months are open" ||
		!strings.Contains(refused.Message, "Soft-close 2026-01 first.") || refused.Details["earliestOpenMonth"] != "2026-01" {
		t.Fatalf("refused with %v", refused)
	}
	want := []accounting.OpeningBalance{{Account: "expense/rails", Currency: "USD", Balance: "20"},
		{Account: "rails/<RAIL>", Currency: "USD", Balance: "-20"}}
	if got, _ := refused.Details["openingBalances"].([]accounting.OpeningBalance); !slices.Equal(got, want) {
		t.Errorf("opening balances %v, want %v", got, want)
	}
	late := env.newFeePosting(day(time.January, 20), 1)
	env.Post(late)
	if got := env.readPosting(late.ID); !got.Effective.Equal(late.Effective) {
		t.Errorf("after the refusal a posting of January is effective on %s", got.Effective)
	}

	refused, ok = fault.As(softClose("2026-01", false))
	if !ok || refused.Reason != "Confirmation required" || len(refused.Details["openingBalances"].([]accounting.OpeningBalance)) != 0 {
		t.Errorf("the earliest month: %v", refused)
	}
	if err := softClose("2026-01", true); err != nil {
		t.Fatal(err)
	}
	if err := softClose("2026-02", false); err != nil {
		t.Errorf("the second month needs a confirmation: %v", err)
	}
	env.changeState(period.Reopen, "2026-02")
	env.changeState(period.Reopen, "2026-01")
	if err := softClose("2026-02", true); err != nil {
		t.Fatal(err)
	}
	env.changeState(period.Close, "2026-02")
	wantLines(t, env.getMonth("2026-02"), "expense/rails 21 4 0 25", "rails/WIRE -21 0 4 -25")
	for _, f := range env.checkLedger().Findings {
		t.Error(f)
	}
}

// wantLines compares a trial balance: account, opening, debits, credits and closing.
func wantLines(t *testing.T, m accounting.Month, want ...string) {
	t.Helper()
	var got []string
	for _, l := range m.Lines.Lines {
		got = append(got, fmt.Sprintf("%s %s %s %s %s", l.Account.Path, l.Opening, l.Debits, l.Credits, l.Closing))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", m.Month, got, want)
	}
}

func TestPost_IntoClosedMonth(t *testing.T) {
	t.Parallel()
	// A posting for a month that does not accept it is effective in the first month that does,
	// and its memo names the day. Repeated it is written once, and its reversal mirrors it.
	env := newPeriodEnv(t)
	early := env.newFeePosting(day(time.January, 10), 1)
	env.Post(early)
	env.changeState(period.SoftClose, "2026-01")
	env.changeState(period.Close, "2026-01")
	env.changeState(period.SoftClose, "2026-02")

	closed, softClosed, open := env.newFeePosting(day(time.January, 20), 2), env.newFeePosting(day(time.February, 20), 3),
		env.newFeePosting(day(time.March, 2), 4)
	env.Post(closed, softClosed, open, early)
	env.Post(open, closed, softClosed)
	reversal := ledger.Reverse(closed, env.IDs.New(apptest.Noon), day(time.January, 21), "a mistake")
	env.Post(reversal)

	for _, c := range []struct {
		posting   ledger.Posting
		effective time.Time
		memo      string
	}{
		{early, early.Effective, "wire"}, {open, open.Effective, "wire"},
		{closed, mustMonth("2026-03").Start(), "wire (for 2026-01-20)"}, {softClosed, mustMonth("2026-03").Start(), "wire (for 2026-02-20)"},
		{reversal, mustMonth("2026-03").Start(), "a mistake (for 2026-01-21)"},
	} {
		if got := env.readPosting(c.posting.ID); !got.Effective.Equal(c.effective) || got.Memo != c.memo || !c.posting.IsRepeatOf(got) {
			t.Errorf("effective %s, memo %q; want %s, %q", got.Effective, got.Memo, c.effective, c.memo)
		}
	}
	changed := closed
	changed.Memo = "another wire"
	if err := env.tryPost(changed); err == nil {
		t.Error("a different posting with the same id is accepted as a repetition")
	}
	wantLines(t, env.getMonth("2026-01"), "expense/rails 0 1 0 1", "rails/WIRE 0 0 1 -1")
	for _, f := range env.checkLedger().Findings {
		t.Error(f)
	}
}

func TestReopen_AcceptsPostingsAgain(t *testing.T) {
	t.Parallel()
	// A reopened month accepts postings again, and its changes stay recorded.
	env := newPeriodEnv(t)
	env.changeState(period.SoftClose, "2026-01")
	env.changeState(period.Reopen, "2026-01")
	p := env.newFeePosting(day(time.January, 20), 2)
	env.Post(p)

	if got := env.readPosting(p.ID); !got.Equal(p) {
		t.Errorf("posted %v", got)
	}
	months, err := env.periods.List(t.Context(), env.Admin.Platform)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range months {
		got = append(got, fmt.Sprintf("%s %s %d", m.Month, m.State, len(m.Changes)))
	}
	if want := []string{"2026-03 OPEN 0", "2026-02 OPEN 0", "2026-01 OPEN 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPeriods_Refused(t *testing.T) {
	t.Parallel()
	// A month that does not exist is not found, and a change that its state or order does not
	// allow is refused; nothing changes.
	env := newPeriodEnv(t)
	env.changeState(period.SoftClose, "2026-01")
	change := func(a period.Action, m string, note string) error {
		_, err := env.periods.ChangeState(t.Context(), env.Admin.Platform, env.Admin.Author(), nil,
			accounting.MonthChange{Action: a, Month: mustMonth(m), Note: note})
		return err
	}
	get := func(m string) error {
		_, err := env.periods.Get(t.Context(), env.Admin.Platform, mustMonth(m), ports.LineFilter{Limit: 1})
		return err
	}
	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"a future month":            {get("2026-04"), fault.NotFound},
		"before the first":          {get("2025-12"), fault.NotFound},
		"current month soft-closed": {change(period.SoftClose, "2026-03", ""), fault.Conflict},
		"open month closed":         {change(period.Close, "2026-02", ""), fault.Conflict},
		"soft-closed twice":         {change(period.SoftClose, "2026-01", ""), fault.Conflict},
		"invalid note":              {change(period.Close, "2026-01", "\x00"), fault.InvalidInput},
	} {
		if !fault.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %s", name, c.err, c.want)
		}
	}
	if m := env.getMonth("2026-01"); m.State != period.SoftClosed || len(m.Changes) != 1 {
		t.Errorf("%+v", m)
	}
	// Another platform has months of its own.
	other := env.NewPrincipal(env.NewPlatform())
	if months, err := env.periods.List(t.Context(), other.Platform); err != nil || len(months) != 1 || months[0].State != period.Open {
		t.Errorf("%v, %v", months, err)
	}
}

func TestGet_PagesTrialBalance(t *testing.T) {
	t.Parallel()
	// The pages of a long trial balance have every line once.
	env := newPeriodEnv(t)
	var batch []ledger.Posting
	for i := range 5 {
		p := env.newFeePosting(day(time.January, 1), 1)
		p.Entries[0].Credit = ledger.Rail(fmt.Sprintf("R%d", i))
		batch = append(batch, p)
	}
	env.Post(batch...)
	env.changeState(period.SoftClose, "2026-01")
	env.changeState(period.Close, "2026-01")

	seen := map[string]int{}
	f := ports.LineFilter{Limit: 4}
	for pages := 1; ; pages++ {
		m, err := env.periods.Get(t.Context(), env.Admin.Platform, mustMonth("2026-01"), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range m.Lines.Lines {
			seen[l.Account.Path]++
		}
		if f.After = m.Lines.Last; !m.Lines.More {
			if pages != 2 {
				t.Errorf("%d pages, want 2", pages)
			}
			break
		}
	}
	if len(seen) != 6 {
		t.Errorf("seen %v", seen)
	}
}

func TestAuthorise_RequiresPosting(t *testing.T) {
	t.Parallel()
	// An authorisation without its posting fails the unit of work.
	env := newPeriodEnv(t)
	err := env.Store.Do(t.Context(), func(ctx testContext, tx *postgres.Unit) error {
		return tx.Authorise(ctx, []period.Authorisation{{Platform: env.Admin.Platform, Posting: uuid.New(), By: env.Admin.Author(), Note: "x",
			At: apptest.Noon}})
	})
	if err == nil {
		t.Error("the authorisation is committed")
	}
}

func TestClose_RecordsLatestCheckpoint(t *testing.T) {
	t.Parallel()
	// The closing records the newest checkpoint of the log.
	env := newPeriodEnv(t)
	env.Post(env.newFeePosting(day(time.January, 1), 1))
	if err := env.Exec(
		fmt.Sprintf(
			`INSERT INTO ledger_log_checkpoints (platform_id, size, sealed_at, root_hash, signed_note) SELECT '%s', n, now(), sha256('x'), 'checkpoint ' || n FROM generate_series(1, 2) n`, env.Admin.Platform.UUID())); err != nil {
		t.Fatal(err)
	}
	env.changeState(period.SoftClose, "2026-01")
	env.changeState(period.Close, "2026-01")

	if checkpoint := env.getMonth("2026-01").Closing.Checkpoint; checkpoint != "checkpoint 2" {
		t.Errorf("checkpoint %q", checkpoint)
	}
}
