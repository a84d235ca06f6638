package ledgerdb_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/ledger"
	"causeway/ports"
)

// advanceSnapshots creates all snapshots that are due.
func (h *env) advanceSnapshots() {
	h.t.Helper()
	for advanced := true; advanced; {
		var err error
		if advanced, err = h.store.AdvanceBalanceSnapshots(context.Background(), h.pool); err != nil {
			h.t.Fatal(err)
		}
	}
}

func TestPost_MonthOfRecordedTime(t *testing.T) {
	t.Parallel()
	// Postings and entries are stored in the month in which they were recorded, whatever their
	// effective time. The first posting of a month creates its partitions if they are missing.
	h := newEnv(t)
	alice := newInternal()
	for _, at := range []string{"2026-11-30T23:59:59.999999Z", "2026-12-01T00:00:00Z", "2027-02-28T23:59:59Z", "2027-03-01T00:00:01Z"} {
		h.postAt(parseTime(at), h.deposit(alice, 1))
	}

	for table, want := range map[string]int64{"202611": 1, "202612": 1, "202702": 1, "202703": 1} {
		postings, entries := h.ownerCount("SELECT count(*) FROM ledger_postings_"+table),
			h.ownerCount("SELECT count(*) FROM ledger_entries_"+table)
		if postings != want || entries != want {
			t.Errorf("%s has %d postings and %d entries", table, postings, entries)
		}
	}
	if n := h.ownerCount("SELECT count(*) FROM pg_inherits WHERE inhparent = 'ledger_postings'::regclass"); n != 4 {
		t.Errorf("there are %d months; nothing was posted in another", n)
	}
	for at, want := range map[string]int64{
		"2026-11-01T00:00:00Z": 0, "2026-11-30T23:59:59.999998Z": 0, "2026-11-30T23:59:59.999999Z": 1, "2026-12-01T00:00:00Z": 2,
		"2027-01-31T00:00:00Z": 2, "2027-02-28T23:59:58Z": 2, "2027-02-28T23:59:59Z": 3, "2027-03-01T00:00:00Z": 3, "2027-03-01T00:00:01Z": 4,
		"2031-01-01T00:00:00Z": 4,
	} {
		if got := h.count("SELECT ledger_seq_at($1, $2)", h.platform.UUID(), parseTime(at)); got != want {
			t.Errorf("at %s the last posting is number %d, want %d", at, got, want)
		}
	}
}

func TestPost_BatchSpanningMonthEnd(t *testing.T) {
	t.Parallel()
	// A batch whose last posting falls into the next month is recorded completely in that
	// month, so that a number determines its month.
	h := newEnv(t)
	alice := newInternal()
	h.postAt(parseTime("2026-11-30T23:59:59.999990Z"), h.deposit(alice, 1))
	var batch []ledger.Posting
	for range 30 {
		batch = append(batch, h.deposit(alice, 1))
	}
	h.postAt(parseTime("2026-11-30T23:59:59.999995Z"), batch...)

	if n := h.ownerCount("SELECT count(*) FROM ledger_postings_202612"); n != 30 {
		t.Errorf("%d postings are in the next month, want all 30", n)
	}
	if n := h.count("SELECT first_seq FROM ledger_months WHERE month = '2026-12-01'"); n != 2 {
		t.Errorf("the next month begins with number %d", n)
	}
	if n := h.count(
		"SELECT count(*) FROM ledger_postings p JOIN ledger_postings q ON q.seq = p.seq + 1 WHERE q.recorded_at <= p.recorded_at"); n != 0 {
		t.Errorf("recorded time ran backwards %d times", n)
	}
}

func TestPost_RefusedBatchStartsMonth(t *testing.T) {
	t.Parallel()
	// If the first posting of a month is refused, the next one gets its number.
	h := newEnv(t)
	alice := newInternal()
	h.mustPost(h.deposit(alice, 5))
	if err := h.post(parseTime("2026-12-10T00:00:00Z"), h.spend(alice, 6)); err == nil {
		t.Fatal("an account was overdrawn")
	}
	h.postAt(parseTime("2027-01-10T00:00:00Z"), h.spend(alice, 5))
	h.advanceSnapshots()

	if n := h.count("SELECT ledger_seq_at($1, $2)", h.platform.UUID(), parseTime("2027-01-09T00:00:00Z")); n != 1 {
		t.Errorf("number %d was posted before it", n)
	}
	for at, want := range map[string]int64{"2026-12-31T00:00:00Z": 5, "2027-01-31T00:00:00Z": 0} {
		got, err := h.reader().BalanceAt(t.Context(), h.account(ledger.CustomerAccount(alice), "USD"), ports.ByRecorded, parseTime(at))
		if err != nil || got != want {
			t.Errorf("at %s %d, %v; want %d", at, got, err, want)
		}
	}
}

func TestAdvanceBalanceSnapshots_MonthEnd(t *testing.T) {
	t.Parallel()
	// At the end of a month, each account with a posting in it gets a snapshot, even for one
	// entry; other accounts get none.
	h := newEnv(t)
	alice, bob, carol := newInternal(), newInternal(), newInternal()
	h.postAt(parseTime("2026-11-20T00:00:00Z"), h.deposit(alice, 1), h.deposit(bob, 2))
	h.postAt(parseTime("2026-12-20T00:00:00Z"), h.deposit(alice, 4), h.deposit(carol, 8))
	h.advanceSnapshots()

	const query = "SELECT count(*) FROM ledger_balance_snapshots k JOIN ledger_accounts a ON a.id = k.account_id WHERE a.path = $1"
	for _, c := range []struct {
		path string
		want int64
	}{{ledger.CustomerAccount(alice), 1}, {ledger.CustomerAccount(bob), 1}, {ledger.CustomerAccount(carol), 0}, {ledger.Rail("ACH"), 1}} {
		if n := h.count(query, c.path); n != c.want {
			t.Errorf("%s has %d snapshots, want %d", c.path, n, c.want)
		}
	}
	h.postAt(parseTime("2027-02-20T00:00:00Z"), h.deposit(carol, 16))
	h.advanceSnapshots()
	for path, want := range map[string]int64{ledger.CustomerAccount(alice): 2, ledger.CustomerAccount(bob): 1,
		ledger.CustomerAccount(carol): 1, ledger.Rail("ACH"): 2} {
		if n := h.count(query, path); n != want {
			t.Errorf("%s has %d snapshots, want %d", path, n, want)
		}
	}
	if n := h.count(
		"SELECT count(*) FROM ledger_snapshot_progress WHERE months_complete_before = '2027-02-01Z' AND last_account_id = 0"); n != 1 {
		t.Error("the snapshots are not complete before February")
	}
	h.wantBalance(h.account(ledger.CustomerAccount(carol), "USD"), 24)
	h.wantBalance(h.account(ledger.Rail("ACH"), "USD"), 31)
}

func TestCreateMonthPartitions_Idempotent(t *testing.T) {
	t.Parallel()
	// The partitions of the next months can be created any number of times, with triggers and
	// grants. The service cannot create or change them in any other way.
	h := newEnv(t)
	for range 2 {
		if err := h.store.CreateMonthPartitions(t.Context(), h.pool, parseTime("2026-12-31T23:00:00Z")); err != nil {
			t.Fatal(err)
		}
	}
	for _, month := range []string{"202612", "202701", "202702"} {
		if n := h.ownerCount("SELECT count(*) FROM pg_inherits WHERE inhrelid IN ('ledger_postings_" + month + "'::regclass, 'ledger_entries_" +
			month + "'::regclass)"); n != 2 {
			t.Errorf("%s has %d of its two tables", month, n)
		}
		if n := h.ownerCount("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'ledger_entries_" + month +
			"'::regclass AND tgname = 'append_only'"); n != 1 {
			t.Errorf("%s can be changed", month)
		}
	}
	for _, statement := range []string{"CREATE TABLE x (id int)", "SELECT * FROM ledger_postings_202612",
		"INSERT INTO ledger_entries_202612 SELECT * FROM ledger_entries"} {
		if _, err := h.pool.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("service: %s: %v", statement, err)
		}
	}
}

func TestPost_ConcurrentFirstPostingsCreateMonthOnce(t *testing.T) {
	t.Parallel()
	// Many platforms post at the same time in a month without partitions, some transactions for
	// several platforms: all succeed, and the partitions are created once.
	h := newEnv(t)
	failed := make(chan error)
	const many = 8
	for range many {
		go func() {
			one, two := newHeaderFor(newPlatform()), newHeaderFor(newPlatform())
			failed <- h.post(parseTime("2027-05-05T00:00:00Z"), ledger.JITReceived(one, ledger.Rail("RTP"), usd(1)),
				ledger.JITReceived(two, ledger.Rail("RTP"), usd(1)))
		}()
	}
	for range many {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if n := h.ownerCount("SELECT count(*) FROM ledger_postings_202705"); n != 2*many {
		t.Errorf("%d postings, want %d", n, 2*many)
	}
}

func TestViews_SpanningMonths(t *testing.T) {
	t.Parallel()
	// A view at a time reads the months before it in order, and the entries of an account by
	// effective time.
	h := newEnv(t)
	alice := newInternal()
	for _, at := range []string{"2026-11-20T00:00:00Z", "2026-12-20T00:00:00Z", "2027-01-20T00:00:00Z"} {
		h.postAt(parseTime(at), h.deposit(alice, 1))
	}
	err := ledgerdb.NewViews(h.store, h.pool).View(t.Context(), h.platform, parseTime("2026-12-31T00:00:00Z"),
		func(ctx context.Context, view ports.LedgerView) error {
			var seqs []int64
			err := view.Entries(ctx, ports.LedgerFilter{}, func(e ports.RecordedEntry) error {
				seqs = append(seqs, e.Position.Seq)
				return nil
			})
			if len(seqs) != 2 || seqs[0] != 1 || seqs[1] != 2 {
				t.Errorf("the entries are of %v", seqs)
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
}

func parseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}

// ownerCount runs a query that returns one number, as the owner of the tables.
func (h *env) ownerCount(query string) (n int64) {
	h.t.Helper()
	if err := h.ownerConn().QueryRow(context.Background(), query).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}
