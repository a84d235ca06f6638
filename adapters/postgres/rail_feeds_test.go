package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

func TestRailFeeds_OneReaderAtATime(t *testing.T) {
	t.Parallel()
	// A feed has one reader. After its lease has ended another process continues at the stored cursor, and the first
	// can change nothing any more.
	c := newEnv(t)
	ctx, now := t.Context(), noon
	take := func(at time.Time) (ports.RailFeedLease, bool) {
		t.Helper()
		c.at(at)
		lease, taken, err := c.TakeRailFeed(ctx, "bank-eur", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return lease, taken
	}

	lease, taken := take(now)
	if !taken || lease.Cursor != "" || lease.Failures != 0 {
		t.Fatalf("the first lease is %+v, %v", lease, taken)
	}
	if _, taken := take(now.Add(59 * time.Second)); taken {
		t.Error("two processes read at the same time")
	}
	if err := c.AdvanceRailFeed(ctx, lease, "10", now); err != nil {
		t.Fatal(err)
	}
	if err := c.RenewRailFeed(ctx, lease, 61*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, taken := take(now.Add(time.Minute)); taken {
		t.Error("a renewed lease was taken")
	}
	later, taken := take(now.Add(2 * time.Minute))
	if !taken || later.Cursor != "10" || later.Fence <= lease.Fence {
		t.Fatalf("the second lease is %+v, %v", later, taken)
	}
	for name, change := range map[string]func() error{
		"advance": func() error { return c.AdvanceRailFeed(ctx, lease, "5", now) },
		"renew":   func() error { return c.RenewRailFeed(ctx, lease, time.Hour) },
		"fail":    func() error { return c.FailRailFeed(ctx, lease, "late", time.Hour) },
		"release": func() error { return c.ReleaseRailFeed(ctx, lease) },
	} {
		if err := change(); !errors.Is(err, ports.ErrLeaseLost) {
			t.Errorf("%s without the lease: %v", name, err)
		}
	}

	c.at(now.Add(3 * time.Minute))
	if err := c.FailRailFeed(ctx, later, "bank closed\x00", 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, taken := take(now.Add(4 * time.Minute)); taken {
		t.Error("a feed that failed was taken before it is due")
	}
	again, taken := take(now.Add(5 * time.Minute))
	if !taken || again.Failures != 1 || again.Cursor != "10" {
		t.Fatalf("after a failure the lease is %+v, %v", again, taken)
	}
	states, err := c.RailFeedStates(ctx)
	if err != nil || len(states) != 1 || states[0].Failures != 1 || states[0].LastError != "bank closed\uFFFD" ||
		!states[0].SucceededAt.Equal(now) || !states[0].FailedAt.Equal(now.Add(3*time.Minute)) ||
		!states[0].RetryAt.Equal(now.Add(5*time.Minute)) {
		t.Errorf("states %+v, %v", states, err)
	}
	if err := c.ReleaseRailFeed(ctx, again); err != nil {
		t.Fatal(err)
	}
	if _, taken := take(now.Add(5 * time.Minute)); !taken {
		t.Error("a released feed was not taken")
	}
}

func TestRailFeedItems_KeptOnceAndDiscarded(t *testing.T) {
	t.Parallel()
	// An item is kept once, however often it is reported, also after it was discarded. It is due again when its time has come.
	c := newEnv(t)
	ctx := ports.ForAllPlatforms(t.Context())
	item := func(key string) ports.RailFeedItem {
		return ports.RailFeedItem{ID: generator.New(noon), Connection: "bank-eur", Kind: ports.RailFeedReceipt, Key: key,
			Content: []byte(`{"payer":"Ana"}`), Problem: "no platform", Attempts: 1, KeptAt: noon, RetryAt: noon.Add(time.Minute)}
	}
	owned := item("2")
	owned.Platform = c.platform.ID
	first := item("1")
	first.Place = "in/camt.xml"
	for n := range 2 {
		kept, err := c.KeepRailFeedItems(ctx, []ports.RailFeedItem{first, owned, item("1")})
		if err != nil || len(kept) != 2-2*n {
			t.Fatalf("kept %+v, %v", kept, err)
		}
	}

	due, err := c.DueRailFeedItems(ctx, "bank-eur", noon.Add(time.Minute), 10)
	if err != nil || len(due) != 2 || string(due[0].Content) != `{"payer":"Ana"}` {
		t.Fatalf("due %+v, %v", due, err)
	}
	owned.Problem, owned.Attempts, owned.RetryAt = "still none", 2, noon.Add(time.Hour)
	if err := c.RetryRailFeedItem(ctx, owned); err != nil {
		t.Fatal(err)
	}
	if due, err = c.DueRailFeedItems(ctx, "bank-eur", noon.Add(time.Minute), 10); err != nil || len(due) != 1 || due[0].Key != "1" ||
		!due[0].Platform.IsZero() {
		t.Errorf("due %+v, %v", due, err)
	}
	if found, err := c.RailFeedItemsByKey(ctx, "bank-eur", ports.RailFeedReceipt, []string{"2", "3"}); err != nil || len(found) != 1 ||
		found[0].Problem != "still none" || found[0].Attempts != 2 {
		t.Errorf("by key %+v, %v", found, err)
	}
	states, err := c.RailFeedStates(ctx)
	if err != nil || len(states) != 1 || states[0].Waiting != 2 || !states[0].Since.Equal(noon) {
		t.Errorf("states %+v, %v", states, err)
	}

	if listed, err := c.RailFeedItems(ctx, "bank-eur", 10); err != nil || len(listed) != 2 || listed[0].Content != nil ||
		listed[0].Place+listed[1].Place != "in/camt.xml" {
		t.Errorf("listed %+v, %v", listed, err)
	}

	if ok, err := c.DiscardRailFeedItem(ctx, first.ID, platform.Author{Actor: "operator"}, "a test of the bank", noon); err != nil || !ok {
		t.Fatalf("discarded %v, %v", ok, err)
	}
	if shown, found, err := c.RailFeedItem(ctx, first.ID); err != nil || !found || string(shown.Content) != `{"payer":"Ana"}` ||
		shown.Discarded != (ports.Discarded{DiscardedAt: noon, DiscardedBy: "operator", Note: "a test of the bank"}) {
		t.Errorf("shown %+v, %v, %v", shown, found, err)
	}
	if _, found, err := c.RailFeedItem(ctx, uuid.New()); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if ok, err := c.DiscardRailFeedItem(ctx, first.ID, platform.Author{Actor: "operator"}, "again", noon); err != nil || ok {
		t.Errorf("discarded twice: %v, %v", ok, err)
	}
	if err := c.DeleteRailFeedItem(ctx, owned); err != nil {
		t.Fatal(err)
	}
	if kept, err := c.KeepRailFeedItems(ctx, []ports.RailFeedItem{item("1")}); err != nil || len(kept) != 0 {
		t.Fatalf("kept %+v, %v", kept, err)
	}
	if left, err := c.RailFeedItems(ctx, "", 10); err != nil || len(left) != 0 {
		t.Errorf("left %+v, %v", left, err)
	}
}

func TestRailBalances_LastOfEachDay(t *testing.T) {
	t.Parallel()
	// The last balance of each day is kept, and at a time the last one before it is returned, by currency.
	c := newEnv(t)
	ctx := t.Context()
	balance := func(minor int64, currency money.Currency, at time.Time) ports.RailBalance {
		return ports.RailBalance{Amount: money.Amount{Minor: minor, Currency: currency}, At: at}
	}
	yesterday := noon.Add(-24 * time.Hour)
	for _, b := range [][]ports.RailBalance{
		{balance(1, "EUR", yesterday), balance(5, "ETH", yesterday)},
		{balance(2, "EUR", noon)},
		{balance(3, "EUR", noon.Add(time.Hour)), balance(-7, "USD", noon)},
		{balance(9, "EUR", noon.Add(-time.Hour))}, // reported late
	} {
		if err := c.SaveRailBalances(ctx, "bank-eur", b); err != nil {
			t.Fatal(err)
		}
	}

	want := func(at time.Time, amounts ...money.Amount) {
		t.Helper()
		got, err := c.RailBalancesAt(ctx, "bank-eur", at)
		if err != nil || len(got) != len(amounts) {
			t.Fatalf("at %s %+v, %v", at, got, err)
		}
		for i := range amounts {
			if got[i].Amount != amounts[i] {
				t.Errorf("at %s %s, want %s", at, got[i].Amount, amounts[i])
			}
		}
	}
	want(yesterday.Add(time.Hour), money.Amount{Minor: 5, Currency: "ETH"}, money.Amount{Minor: 1, Currency: "EUR"})
	want(noon.Add(2*time.Hour), money.Amount{Minor: 5, Currency: "ETH"}, money.Amount{Minor: 3, Currency: "EUR"},
		money.Amount{Minor: -7, Currency: "USD"})
	if got, err := c.RailBalancesAt(ctx, "another", noon); err != nil || len(got) != 0 {
		t.Errorf("another connection has %+v, %v", got, err)
	}
}

func TestRailStatements_QueuedOnceUntilReconciled(t *testing.T) {
	t.Parallel()
	// A statement is queued once, taken by one process at a time, tried again after a failure, and its content is
	// deleted when it is reconciled.
	c := newEnv(t)
	ctx := ports.ForAllPlatforms(t.Context())
	statement := func() ports.QueuedStatement {
		return ports.QueuedStatement{ID: generator.New(noon), Platform: c.platform.ID, Connection: "bank-eur", Accounts: "DE1=rails/SEPA",
			RailStatement: ports.RailStatement{Name: "camt053.xml", Format: "CAMT053", Data: []byte("<Document>Ana</Document>")}, ReceivedAt: noon}
	}
	for range 2 {
		if err := c.QueueRailStatement(ctx, statement()); err != nil {
			t.Fatal(err)
		}
	}
	take := func(at time.Time) (ports.QueuedStatement, bool) {
		t.Helper()
		c.at(at)
		s, found, err := c.TakeRailStatement(ctx, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return s, found
	}

	s, found := take(noon)
	if !found || string(s.Data) != "<Document>Ana</Document>" || s.Accounts != "DE1=rails/SEPA" || s.Attempts != 1 ||
		s.Platform != c.platform.ID {
		t.Fatalf("took %+v, %v", s, found)
	}
	if _, found := take(noon.Add(59 * time.Second)); found {
		t.Error("a statement that is taken was taken again, or it was queued twice")
	}
	if err := c.RailStatementFailed(ctx, s, "does not continue the last one", noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if s, found = take(noon.Add(time.Hour)); !found || s.Attempts != 2 || s.Problem == "" {
		t.Fatalf("took %+v, %v", s, found)
	}
	if err := c.RailStatementReconciled(ctx, s, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := c.QueueRailStatement(ctx, statement()); err != nil {
		t.Fatal(err)
	}
	if _, found := take(noon.Add(24 * time.Hour)); found {
		t.Error("a reconciled statement was taken")
	}
	if countRows(t, c.url, `SELECT count(*) FROM rail_statements WHERE length(content) > 0`) != 0 {
		t.Error("the content is kept")
	}
	if ok, err := c.DiscardRailStatement(ctx, s.ID, platform.Author{Actor: "ana"}, "too late", noon); ok || err != nil {
		t.Errorf("a reconciled statement was discarded: %v, %v", ok, err)
	}
}

func TestRailStatements_RefusedAreListedUntilDiscarded(t *testing.T) {
	t.Parallel()
	// A refused statement is listed and counted, and its content can be read, until it is reconciled or discarded. Then its
	// content is deleted, it is not taken, and not queued again.
	c := newEnv(t)
	ctx := ports.ForAllPlatforms(t.Context())
	statement := func() ports.QueuedStatement {
		return ports.QueuedStatement{ID: generator.New(noon), Platform: c.platform.ID, Connection: "bank-eur", ReceivedAt: noon,
			RailStatement: ports.RailStatement{Name: "1.xml", Format: "CAMT053", Data: []byte("<Document/>")}}
	}
	s := statement()
	if err := errors.Join(c.QueueRailStatement(ctx, s), c.RailStatementFailed(ctx, s, "a gap", noon)); err != nil {
		t.Fatal(err)
	}
	refused := func() map[string]postgres.Backlog {
		t.Helper()
		o, err := c.Operations(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		return o.Rails.RefusedStatements
	}
	listed, err := c.RailStatements(ctx, "bank-eur", 10)
	if err != nil || len(listed) != 1 || listed[0].Problem != "a gap" || listed[0].Data != nil || refused()["bank-eur"].Count != 1 {
		t.Errorf("listed %+v, %v; counted %v", listed, err, refused())
	}
	if shown, found, err := c.RailStatement(ctx, s.ID); err != nil || !found || string(shown.Data) != "<Document/>" {
		t.Errorf("shown %+v, %v, %v", shown, found, err)
	}

	if ok, err := c.DiscardRailStatement(ctx, s.ID, platform.Author{Actor: "ana"}, "by hand", noon); err != nil || !ok {
		t.Fatalf("discarded %v, %v", ok, err)
	}

	if err := c.QueueRailStatement(ctx, statement()); err != nil {
		t.Fatal(err)
	}
	c.at(noon.Add(time.Hour))
	if _, found, err := c.TakeRailStatement(ctx, time.Hour); found || err != nil || len(refused()) != 0 {
		t.Errorf("taken %v, %v; counted %v", found, err, refused())
	}
	shown, found, err := c.RailStatement(ctx, s.ID)
	if err != nil || !found || len(shown.Data) != 0 ||
		shown.Discarded != (ports.Discarded{DiscardedAt: noon, DiscardedBy: "ana", Note: "by hand"}) || !shown.ReconciledAt.IsZero() {
		t.Errorf("shown %+v, %v, %v", shown, found, err)
	}
}

func TestDeleteOld_RailData(t *testing.T) {
	t.Parallel()
	// Old balances, reconciled statements, discarded items and settled payments are deleted; what is open stays.
	c := newEnv(t)
	ctx := ports.ForAllPlatforms(t.Context())
	owner := pgtest.Connect(t, c.url)
	exec(t, owner, `
		INSERT INTO rail_balances (connection, currency, day, amount, at) VALUES ('b', 'EUR', '2020-01-01', 1, '2020-01-01'), ('b', 'EUR', '2026-01-01', 1, '2026-01-01');
		INSERT INTO rail_proofs SELECT day, 'EUR', '{b}', NULL, NULL, 0, 0, 0, 0, 0, 'PROVED', 0, '{}', '', day FROM unnest('{2020-01-01,2026-01-01}'::date[]) AS day;
		INSERT INTO rail_receipts (platform_id, rail, partner_id, connection, currency, amount, received_at)
			SELECT '`+uuid.Nil.String()+`', 'SEPA', at::text, 'b', 'EUR', 1, at FROM unnest('{2020-01-01,2026-01-01}'::timestamptz[]) AS at;
		INSERT INTO rail_usage (connection, currency, hour, rail, amount) VALUES ('b', 'EUR', '2020-01-01', 'SEPA', 1), ('b', 'EUR', '2026-01-01', 'SEPA', 1);
		INSERT INTO rail_payments (platform_id, id, kind, rail, country, connection, currency, amount, state, wait, reason, recorded_at, settled_at)
			VALUES ('`+uuid.Nil.String()+`', gen_random_uuid(), 'PAYOUT', 'SEPA', '', 'b', 'EUR', 1, 'DONE', '', '', '2020-01-01', '2020-01-01'),
				('`+uuid.Nil.String()+`', gen_random_uuid(), 'PAYOUT', 'SEPA', '', 'b', 'EUR', 1, 'SENT', '', '', '2020-01-01', NULL);
		INSERT INTO rail_feed_items (platform_id, id, connection, kind, key, content, problem, kept_at, retry_at, discarded_at)
			VALUES ('`+uuid.Nil.String()+`', gen_random_uuid(), 'b', 'FEE', '1', '{}', '', '2020-01-01', '2020-01-01', '2020-01-01'),
				('`+uuid.Nil.String()+`', gen_random_uuid(), 'b', 'FEE', '2', '{}', '', '2020-01-01', '2020-01-01', NULL);
		INSERT INTO rail_statements (platform_id, id, connection, name, format, account, currency, accounts, digest, content, received_at, retry_at, reconciled_at)
			SELECT '`+uuid.Nil.String()+`', gen_random_uuid(), 'b', '', 'CAMT053', '', '', '', sha256(n::text::bytea), '', '2020-01-01', '2020-01-01', CASE n WHEN 1 THEN timestamptz '2020-01-01' END
			FROM generate_series(1, 2) AS n`)
	deleted := map[string]int{}
	if err := c.DeleteOld(ctx, postgres.RetentionCutoffs{RailData: noon.Add(-365 * 24 * time.Hour)},
		func(table string, n int) { deleted[table] += n }); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"rail_balances", "rail_proofs", "rail_receipts", "rail_usage", "rail_payments", "rail_feed_items",
		"rail_statements"} {
		if deleted[table] != 1 || countRows(t, c.url, `SELECT count(*) FROM `+table) != 1 {
			t.Errorf("%s: %d deleted", table, deleted[table])
		}
	}
}
