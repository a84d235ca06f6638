package postgres_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/screening"
	"causeway/core/verification"
	"causeway/ports"
)

// retentionEnv is a database whose owner makes up rows around the cutoff, which is noon.
type retentionEnv struct {
	*env
	owner *pgx.Conn
}

func newRetentionEnv(t testing.TB) *retentionEnv {
	c := newEnv(t)
	return &retentionEnv{c, connect(t, c.url)}
}

const (
	justBefore = -time.Millisecond
	longBefore = -100 * 24 * time.Hour
)

var allCutoffs = postgres.RetentionCutoffs{Lookups: noon, RequestLog: noon, Responses: noon, WebhookEvents: noon, UnpaidQuotes: noon,
	RailReplies: noon, KYCLinks: noon, IdentityMessages: noon, ScreeningRuns: noon, WalletSessions: noon, WalletCodes: noon,
	UsedChallenges: noon, RevokedCredentials: noon, Mails: noon, DeviceCodes: noon, AgentAttempts: noon, Usage: noon}

// uuidAt is a UUIDv7 of the time t.at in SQL.
const uuidAt = `overlay(gen_random_uuid()::text PLACING left(first_uuid_v7(t.at)::text, 13) FROM 1)::uuid`

// deleteOld deletes with the cutoff noon for all tables and returns how many rows, by table.
func (c *retentionEnv) deleteOld(t *testing.T) map[string]int {
	t.Helper()
	deleted := map[string]int{}
	err := c.DeleteOld(t.Context(), allCutoffs, func(table string, rows int) { deleted[table] += rows })
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(deleted, func(_ string, rows int) bool { return rows == 0 })
	return deleted
}

// count returns the number of rows that a condition selects.
func (c *retentionEnv) count(t *testing.T, from string, args ...any) (n int) {
	t.Helper()
	if err := c.owner.QueryRow(t.Context(), "SELECT count(*) FROM "+from, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	return n
}

func (c *retentionEnv) wantDeleted(t *testing.T, table string, want int) {
	t.Helper()
	if deleted := c.deleteOld(t); deleted[table] != want || len(deleted) > 1 {
		t.Errorf("deleted %v, want %d of %s", deleted, want, table)
	}
}

// split gives a table partitions that end at times before today. The last one ends at the last time;
// later rows are in the default partition.
func (c *retentionEnv) split(t testing.TB, parent string, ends ...time.Time) {
	t.Helper()
	exec(t, c.owner, fmt.Sprintf("ALTER TABLE %[1]s DETACH PARTITION %[1]s_first", parent))
	from := "MINVALUE"
	for i, end := range ends {
		to := "'" + newFirstID(end).String() + "'"
		if i == 0 {
			exec(t, c.owner, fmt.Sprintf("ALTER TABLE %[1]s ATTACH PARTITION %[1]s_first FOR VALUES FROM (MINVALUE) TO (%[2]s)", parent, to))
		} else {
			exec(t, c.owner, fmt.Sprintf("CREATE TABLE %[1]s_%[2]d PARTITION OF %[1]s FOR VALUES FROM (%[3]s) TO (%[4]s)", parent, i, from, to))
		}
		from = to
	}
}

func (c *retentionEnv) splitWebhooks(t testing.TB, ends ...time.Time) {
	t.Helper()
	c.split(t, "webhook_events", ends...)
	c.split(t, "webhook_attempts", ends...)
}

// newFirstID returns the lowest UUIDv7 of a time.
func newFirstID(at time.Time) (id uuid.UUID) {
	made := newIDAt(at)
	copy(id[:], made[:6])
	return id
}

// idMargin is how long before the cutoff a partition ends that is dropped.
const idMargin = 10 * time.Minute

func TestDeleteOld_Lookups(t *testing.T) {
	t.Parallel()
	// A partition that ended before the time is dropped with its lookups; the next one, and what has
	// no partition of its own, stays. A second call drops nothing.
	c := newRetentionEnv(t)
	end := noon.Add(-idMargin)
	c.split(t, "lookups", end, noon.Add(time.Hour))
	createLookup := func(at time.Time) ident.Lookup {
		l := quote.Lookup{Platform: c.platform.ID, SenderUMA: "$ana@uma.test", ReceiverUMA: "$bo@uma.test",
			CreatedAt: at, ExpiresAt: noon.Add(24 * time.Hour)}
		l.ID.SetUUID(newIDAt(at))
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateLookup(ctx, l) })
		return l.ID
	}
	old, fresh, later := createLookup(end.Add(justBefore)), createLookup(end), createLookup(noon.Add(2*time.Hour))
	exec(t, c.owner, "ANALYZE lookups")

	c.wantDeleted(t, "lookups", 1)
	c.wantDeleted(t, "lookups", 0)

	if _, err := c.Lookup(t.Context(), c.platform.ID, old); !fault.Is(err, fault.LookupRequestNotFound) {
		t.Errorf("the old one: %v", err)
	}
	for _, id := range []ident.Lookup{fresh, later} {
		if found, err := c.Lookup(t.Context(), c.platform.ID, id); err != nil || found.ReceiverUMA != "$bo@uma.test" {
			t.Errorf("a new one: %+v, %v", found, err)
		}
	}
}

// newIDAt returns a UUIDv7 of a time.
func newIDAt(at time.Time) uuid.UUID {
	id := uuid.New()
	millis := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(millis >> (40 - 8*i))
	}
	id[6] = 0x70 | id[6]&0x0f
	return id
}

func TestDeleteOld_ResponsesOfValidKeysStay(t *testing.T) {
	t.Parallel()
	// Responses stored before the time are deleted, of every platform and in several batches, even if
	// many were stored at the same time. One stored at that time, or later, still answers its key.
	c := newRetentionEnv(t)
	insert := `INSERT INTO idempotency_keys SELECT $1, gen_random_uuid(), $2 || n, '\x00', 200, 'done', $3 FROM generate_series(1, $4) n`
	for _, p := range []uuid.UUID{c.platform.ID.UUID(), c.otherPlatform.ID.UUID()} {
		exec(t, c.owner, insert, p, "long", noon.Add(longBefore), 1500)
		exec(t, c.owner, insert, p, "old", noon.Add(justBefore), 1000)
		exec(t, c.owner, insert, p, "kept", noon, 2)
	}

	c.wantDeleted(t, "idempotency_keys", 5000)

	if kept, all := c.count(t, "idempotency_keys WHERE key LIKE 'kept%'"), c.count(t, "idempotency_keys"); kept != 4 || all != 4 {
		t.Errorf("%d of %d responses are those to keep, want 4 of 4", kept, all)
	}
	found, err := c.StoredResponses(t.Context(), []ports.IdempotencyKey{{Platform: c.platform.ID, Key: "kept1"},
		{Platform: c.platform.ID, Key: "old1"}})
	if err != nil || found[0] == nil || found[1] != nil {
		t.Errorf("kept: %v, old: %v, %v", found[0], found[1], err)
	}
}

func TestDeleteOld_WebhookEventsStillNeededStay(t *testing.T) {
	t.Parallel()
	// A partition of events is dropped with that of their attempts when it ended before the cutoff and
	// no attempt was made since. One with an event that is queued, waits or is retried stays whole, and
	// does not keep a later one.
	c := newRetentionEnv(t)
	type event struct {
		createdAt, lastAttempt time.Duration // from the cutoff
		neverSent              bool
		queue                  string // "new" and "retry" wait to be sent, "blocked" for another event
		wantDropped            bool
	}
	const day = 24 * time.Hour
	cases := map[string]*event{ // each in a partition of its own, of a day
		"not sent yet":             {createdAt: -20 * day, neverSent: true, queue: "new"},
		"delivered long ago":       {createdAt: -19 * day, lastAttempt: -19*day + time.Second, wantDropped: true},
		"retried":                  {createdAt: -18 * day, lastAttempt: -18 * day, queue: "retry"},
		"never sent":               {createdAt: -17 * day, neverSent: true, wantDropped: true},
		"waits for an earlier one": {createdAt: -16 * day, lastAttempt: -16 * day, queue: "blocked"},
		"attempted just before":    {createdAt: -15 * day, lastAttempt: justBefore, wantDropped: true},
		"attempted at the cutoff":  {createdAt: -14 * day},
		"redelivered since":        {createdAt: -13 * day, lastAttempt: time.Hour},
		"ended before":             {createdAt: -idMargin - time.Hour, lastAttempt: justBefore, wantDropped: true},
		"ended since":              {createdAt: -idMargin, lastAttempt: justBefore},
		"without a partition":      {createdAt: 10 * day, lastAttempt: 10 * day},
	}
	var ends []time.Time
	for n := -20; n <= -13; n++ {
		ends = append(ends, noon.Add(time.Duration(n)*day+time.Hour))
	}
	c.splitWebhooks(t, append(ends, noon.Add(-idMargin), noon.Add(time.Hour))...)
	p, ids := c.platform.ID.UUID(), map[string]uuid.UUID{}
	for name, e := range cases {
		id := newIDAt(noon.Add(e.createdAt))
		ids[name] = id
		var seq int64
		if err := c.owner.QueryRow(t.Context(), `
			INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body) VALUES ($1, $2, $2, $3, 'TEST', 'TEST', '\x00') RETURNING seq`,
			p, id, noon.Add(e.createdAt)).Scan(&seq); err != nil {
			t.Fatal(err)
		}
		if !e.neverSent {
			for n, at := range []time.Time{noon.Add(e.createdAt), noon.Add(e.lastAttempt)} {
				exec(t, c.owner, `INSERT INTO webhook_attempts VALUES ($1, $2, $3, $4, 1, 500, false, 'ERROR', '', '')`, p, id, at, n+1)
			}
		}
		switch e.queue {
		case "new":
			exec(t, c.owner, `INSERT INTO webhook_queue VALUES ($1, $2, $3, $3)`, p, seq, id)
		case "retry", "blocked":
			exec(t, c.owner, `INSERT INTO webhook_backlog VALUES ($1, $2, $3, $2, CASE WHEN $4 THEN now() END, now(), 1, 1)`, p, id, seq,
				e.queue == "retry")
		}
	}
	exec(t, c.owner, "ANALYZE webhook_events")

	c.wantDeleted(t, "webhook_events", 4)
	c.wantDeleted(t, "webhook_events", 0)

	for name, e := range cases {
		events, attempts := 1, 2
		if e.neverSent {
			attempts = 0
		}
		if e.wantDropped {
			events, attempts = 0, 0
		}
		if n := c.count(t, "webhook_events WHERE id = $1", ids[name]); n != events {
			t.Errorf("%s: %d events left, want %d", name, n, events)
		}
		if n := c.count(t, "webhook_attempts WHERE event_id = $1", ids[name]); n != attempts {
			t.Errorf("%s: %d attempts left, want %d", name, n, attempts)
		}
	}
	if queued, waiting := c.count(t, "webhook_queue"), c.count(t, "webhook_backlog"); queued != 1 || waiting != 2 {
		t.Errorf("%d queued, %d in the backlog; want 1 and 2", queued, waiting)
	}

	// What has been sent in the end does not keep its partition.
	exec(t, c.owner, "DELETE FROM webhook_queue")
	exec(t, c.owner, "DELETE FROM webhook_backlog")
	c.wantDeleted(t, "webhook_events", 3)
}

func TestDeleteOld_RedeliveryOfDroppedEventIsForgotten(t *testing.T) {
	t.Parallel()
	// A redelivery that began while the event was dropped is removed, and no other.
	c := newRetentionEnv(t)
	c.splitWebhooks(t, noon.Add(-time.Hour))
	p, fresh := c.platform.ID.UUID(), newIDAt(time.Now())
	insert := `INSERT INTO webhook_backlog VALUES ($1, $2, $3, $2, now(), now(), 0, 0)`
	dropped := newIDAt(noon.Add(longBefore))
	if n := c.deleteOld(t); len(n) > 0 { // the empty partition
		t.Errorf("deleted %v", n)
	}
	exec(t, c.owner, insert, p, dropped, 1)
	exec(t, c.owner, insert, p, fresh, 2)

	c.deleteOld(t)

	if all, left := c.count(t, "webhook_backlog"), c.count(t, "webhook_backlog WHERE event_id = $1", fresh); all != 1 || left != 1 {
		t.Errorf("%d of %d in the backlog are of the event that is there, want 1 of 1", left, all)
	}
}

func TestDeleteOld_PartitionInUse(t *testing.T) {
	t.Parallel()
	// While a transaction uses the table, its old partition is not dropped, and others neither wait for
	// that longer than the lock timeout nor fail. It is dropped when the transaction has ended.
	c := newRetentionEnv(t)
	c.splitWebhooks(t, noon.Add(-time.Hour))
	p := c.platform.ID.UUID()
	insert := `INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body) VALUES ($1, $2, $2, $3, 'TEST', 'TEST', '\x00')`
	exec(t, c.owner, insert, p, newIDAt(noon.Add(longBefore)), noon.Add(longBefore))
	exec(t, c.owner, "ANALYZE webhook_events")
	reader, err := connect(t, c.url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), `SELECT count(*) FROM webhook_events`); err != nil {
		t.Fatal(err)
	}
	deleted := make(chan map[string]int)
	go func() { deleted <- c.deleteOld(t) }()

	payments := connect(t, c.url)
	exec(t, payments, "SET lock_timeout = '1s'")
	for range 2 { // of the attempts to drop it
		awaitBlockedStatement(t, c.owner)
		for range 5 {
			exec(t, payments, insert, p, newIDAt(noon), noon)
		}
	}
	select {
	case n := <-deleted:
		t.Errorf("deleted %v while the table was read", n)
		return
	default:
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := <-deleted; n["webhook_events"] != 1 {
		t.Errorf("deleted %v, want 1 event", n)
	}
	if n := c.count(t, "webhook_events"); n != 10 {
		t.Errorf("%d events left, want 10", n)
	}
}

// insertQuote inserts a quote of a time and its transaction, changed by an assignment of columns.
func (c *retentionEnv) insertQuote(t *testing.T, at time.Time, changes string) (quoteID, transactionID uuid.UUID) {
	t.Helper()
	p := c.platform.ID.UUID()
	quoteID, transactionID = newIDAt(at), newIDAt(at)
	exec(
		t, c.owner, `INSERT INTO quotes VALUES ($1, $2, $3, 'SENDING', 1, 0, 0, 0, '0', '1', '1', 0, 0, '', $5, '[]', '', '', $4::timestamptz + interval '5 min', $4)`,
		p, quoteID, transactionID, at, quoteID.String())
	exec(
		t, c.owner, `INSERT INTO transactions (platform_id, id, quote_id, direction, status, refund_status, stage, failure_reason, source_rail, source_account,
			destination_rail, destination_account, sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details)
		VALUES ($1, $2, $3, 'OUTGOING', 'EXPIRED', '', '', '', '', '', '', '', 'USD', 1, 'USD', 1, $4, $4, '', '', '', '')`, p,
		transactionID, quoteID, at)
	if changes != "" {
		exec(t, c.owner, "UPDATE transactions SET "+changes+" WHERE id = $1", transactionID)
	}
	return quoteID, transactionID
}

func TestDeleteOld_QuotesThatMoneyBelongsToStay(t *testing.T) {
	t.Parallel()
	// Old quotes that expired unpaid are deleted with their transactions. Any sign of money, of
	// work that is left, or of another status keeps both.
	c := newRetentionEnv(t)
	p := c.platform.ID.UUID()
	exec(t, c.owner, `SELECT ledger_create_month_partitions('2026-03-01')`)
	for name, test := range map[string]struct {
		createdAt   time.Duration
		changes     string // of the transaction
		insert      string // a row that refers to the transaction ($2)
		wantDeleted bool
	}{
		"expired":               {createdAt: longBefore, wantDeleted: true},
		"expired just before":   {createdAt: justBefore, wantDeleted: true},
		"expired at the cutoff": {},
		"pending":               {createdAt: longBefore, changes: "status = 'PENDING'"},
		"processing":            {createdAt: longBefore, changes: "status = 'PROCESSING'"},
		"completed":             {createdAt: longBefore, changes: "status = 'COMPLETED'"},
		"failed":                {createdAt: longBefore, changes: "status = 'FAILED'"},
		"to be authorised":      {createdAt: longBefore, changes: "status = 'PENDING_AUTHORIZATION'"},
		"not authorised": {createdAt: longBefore, changes: "status = 'FAILED', failure_reason = 'SCA_NOT_COMPLETED'",
			wantDeleted: true},
		"paid, and not authorised": {createdAt: longBefore,
			changes: "status = 'FAILED', failure_reason = 'SCA_NOT_COMPLETED', refund_status = 'COMPLETED'"},
		"paid late":      {createdAt: longBefore, changes: "refund_status = 'PENDING'"},
		"refunded":       {createdAt: longBefore, changes: "refund_status = 'COMPLETED'"},
		"refund failed":  {createdAt: longBefore, changes: "refund_status = 'FAILED'"},
		"with a receipt": {createdAt: longBefore, changes: "receipt_id = gen_random_uuid()"},
		"funded":         {createdAt: longBefore, changes: "funded_minor = 1"},
		"received":       {createdAt: longBefore, changes: "stage = 'RECEIVED'"},
		"with a posting": {createdAt: longBefore,
			insert: `INSERT INTO ledger_postings (platform_id, id, seq, transaction_id, effective_at, recorded_at, kind, memo, digest)
			VALUES ($1, gen_random_uuid(), 1, $2, '2026-03-01', '2026-03-01', 'adjustment', '', sha256(''))`},
		"with assigned funds": {createdAt: longBefore,
			insert: `INSERT INTO unmatched_assignments VALUES ($1, gen_random_uuid(), gen_random_uuid(), $2, NULL, '', gen_random_uuid(), now())`},
		"with a dead job": {createdAt: longBefore, insert: `INSERT INTO jobs (platform_id, id, step, due_at, subjects)
			VALUES ($1, first_uuid_v7('2025-12-04'), 'expire', 'infinity', ARRAY[gen_random_uuid(), $2::uuid])`},
	} {
		quoteID, transactionID := c.insertQuote(t, noon.Add(test.createdAt), test.changes)
		if test.insert != "" {
			exec(t, c.owner, test.insert, p, transactionID)
		}
		exec(t, c.owner, `DELETE FROM quote_retention_progress`) // so that the order of the cases does not matter

		deleted := c.deleteOld(t)["quotes"]

		want := 1
		if test.wantDeleted {
			want = 0
		}
		if deleted != 1-want {
			t.Errorf("%s: %d quotes deleted, want %d", name, deleted, 1-want)
		}
		if n := c.count(t, "quotes WHERE id = $1", quoteID); n != want {
			t.Errorf("%s: %d quotes left, want %d", name, n, want)
		}
		if n := c.count(t, "transactions WHERE id = $1", transactionID); n != want {
			t.Errorf("%s: %d transactions left, want %d", name, n, want)
		}
	}
}

func TestDeleteOld_QuoteOpenWhenCheckedIsCheckedAgain(t *testing.T) {
	t.Parallel()
	// A quote whose transaction is locked, because a payment for it is being recorded, is not waited
	// for. It is checked again a day later, and so are quotes that were open or had a job: those that
	// expired unpaid since are deleted then, and those that were paid are not checked any more.
	c := newRetentionEnv(t)
	p, old := c.platform.ID.UUID(), noon.Add(longBefore)
	_, locked := c.insertQuote(t, old, "")
	_, open := c.insertQuote(t, old, "status = 'PENDING'")
	_, paid := c.insertQuote(t, old, "status = 'PENDING'")
	_, stuck := c.insertQuote(t, old, "")
	exec(t, c.owner, `INSERT INTO jobs (platform_id, id, step, due_at, subjects) VALUES ($1, $2, 'expire', 'infinity', ARRAY[$3::uuid])`, p,
		newIDAt(old), stuck)
	c.insertQuote(t, old, "")
	c.insertQuote(t, old, "status = 'COMPLETED'")
	payment, err := connect(t, c.url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := payment.Exec(t.Context(), `SELECT FROM transactions WHERE id = $1 FOR UPDATE`, locked); err != nil {
		t.Fatal(err)
	}

	c.wantDeleted(t, "quotes", 1)

	if err := payment.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.wantDeleted(t, "quotes", 0) // not yet a day
	if n := c.count(t, "quote_retention_open"); n != 4 {
		t.Errorf("%d quotes are to be checked again, want 4", n)
	}

	aDayLater := func() {
		exec(t, c.owner, `UPDATE quote_retention_open SET check_at = check_at - interval '1 day 1 second'`)
	}
	exec(t, c.owner, `UPDATE transactions SET status = 'COMPLETED' WHERE id = $1`, paid)
	aDayLater()
	c.wantDeleted(t, "quotes", 1)
	if n := c.count(t, "transactions WHERE id = $1", locked); n != 0 {
		t.Errorf("%d transactions of the quote that was locked, want 0", n)
	}

	exec(t, c.owner, `UPDATE transactions SET status = 'EXPIRED' WHERE id = $1`, open)
	exec(t, c.owner, `DELETE FROM jobs`)
	aDayLater()
	c.wantDeleted(t, "quotes", 2)
	if left, waiting := c.count(t, "quotes"), c.count(t, "quote_retention_open"); left != 2 || waiting != 0 {
		t.Errorf("%d quotes left, %d to be checked again; want the 2 that were paid, and 0", left, waiting)
	}
}

func TestDeleteOld_ManyQuotesAreCheckedAgain(t *testing.T) {
	t.Parallel()
	// More quotes than one batch are checked again, and the ones after them are checked too.
	c := newRetentionEnv(t)
	exec(t, c.owner, `INSERT INTO quotes SELECT $1, `+uuidAt+
		`, gen_random_uuid(), 'SENDING', 1, 0, 0, 0, '0', '1', '1', 0, 0, '', gen_random_uuid(), '[]', '', '', t.at, t.at
		FROM generate_series(1, 2500) n, LATERAL (SELECT $2::timestamptz + n * interval '1 s' AS at) t`, c.platform.ID.UUID(),
		noon.Add(longBefore))
	exec(
		t, c.owner, `INSERT INTO transactions (platform_id, id, quote_id, direction, status, refund_status, stage, failure_reason, source_rail, source_account,
			destination_rail, destination_account, sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details)
		SELECT platform_id, transaction_id, id, 'OUTGOING', 'PENDING', '', '', '', '', '', '', '', 'USD', 1, 'USD', 1, created_at, created_at, '', '', '', '' FROM quotes`)
	c.wantDeleted(t, "quotes", 0)
	exec(t, c.owner, `UPDATE transactions SET status = 'EXPIRED'`)
	exec(t, c.owner, `UPDATE quote_retention_open SET check_at = now()`)
	c.insertQuote(t, noon.Add(justBefore), "")

	c.wantDeleted(t, "quotes", 2501)

	if left, waiting := c.count(t, "quotes"), c.count(t, "quote_retention_open"); left != 0 || waiting != 0 {
		t.Errorf("%d quotes left, %d to be checked again; want none", left, waiting)
	}
}

func TestDeleteOld_RailRepliesOfOpenPaymentsStay(t *testing.T) {
	t.Parallel()
	// Old replies are deleted, however many have the same time; those about open payments and
	// refunds stay, and so do those since the cutoff.
	c := newRetentionEnv(t)
	p := c.platform.ID.UUID()
	insert := `INSERT INTO rail_replies SELECT $1, $2, $3, 'SEND', 'REFUSED', '', true FROM generate_series(1, $4::int)`
	for changes, kept := range map[string]bool{
		"status = 'PENDING'": true, "status = 'PROCESSING'": true, "status = 'FAILED', refund_status = 'PENDING'": true,
		"status = 'COMPLETED'": false, "status = 'FAILED'": false, "status = 'FAILED', refund_status = 'COMPLETED'": false,
	} {
		_, transactionID := c.insertQuote(t, noon.Add(longBefore), changes)
		exec(t, c.owner, insert, p, transactionID, noon.Add(longBefore), 1)
		exec(t, c.owner, insert, p, transactionID, noon, 1)
		want := 1
		if kept {
			want = 2
		}

		c.deleteOld(t)

		if n := c.count(t, "rail_replies WHERE subject_id = $1", transactionID); n != want {
			t.Errorf("%s: %d replies left, want %d", changes, n, want)
		}
	}
	receipt := uuid.New() // a subject without a transaction
	exec(t, c.owner, insert, p, receipt, noon.Add(longBefore), 2500)
	exec(t, c.owner, insert, p, receipt, noon.Add(justBefore), 10)
	exec(t, c.owner, insert, p, receipt, noon, 3)

	c.wantDeleted(t, "rail_replies", 2510)

	if n := c.count(t, "rail_replies WHERE subject_id = $1", receipt); n != 3 {
		t.Errorf("%d replies left, want 3", n)
	}
}

func TestDeleteOld_ServiceDeletesNothingYoung(t *testing.T) {
	t.Parallel()
	// The role of the service cannot delete from the tables, and the functions keep what is younger
	// than the least that can be configured, whatever time they are given.
	c := newRetentionEnv(t)
	oldestEvent, oldestRow := time.Now().AddDate(0, 0, -8).Add(-idMargin), time.Now().AddDate(0, 0, -30)
	c.splitWebhooks(t, oldestEvent.Add(-time.Second), oldestEvent.Add(2*time.Minute))
	service := connect(t, c.url)
	exec(t, service, "SET ROLE causeway_service; SET causeway.platform = '*'")
	for _, table := range []string{"webhook_events", "webhook_attempts", "quotes", "transactions", "rail_replies"} {
		if _, err := service.Exec(t.Context(), "DELETE FROM "+table); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("delete from %s: %v", table, err)
		}
	}
	p := c.platform.ID.UUID()
	for table, test := range map[string]struct {
		oldest time.Time
		insert func(at time.Time)
		call   string
	}{
		"webhook_events": {oldestEvent, func(at time.Time) {
			exec(
				t, c.owner, `INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body) VALUES ($1, $2, $2, $3, 'TEST', 'TEST', '\x00')`, p, newIDAt(at), at)
		}, `SELECT drop_webhook_partition('infinity') WHERE $1::uuid IS NOT NULL`},
		"quotes": {oldestRow, func(at time.Time) { c.insertQuote(t, at, "") }, `SELECT delete_unpaid_quotes($1, 'infinity', 10)`},
		"rail_replies": {oldestRow, func(at time.Time) {
			exec(t, c.owner, `INSERT INTO rail_replies VALUES ($1, $2, $3, 'SEND', 'REFUSED', '', true)`, p, uuid.New(), at)
		}, `SELECT delete_rail_replies($1, 'infinity', '-infinity', 10)`},
	} {
		test.insert(test.oldest.Add(time.Minute))
		test.insert(test.oldest.Add(-time.Minute))

		exec(t, service, test.call, p)
		exec(t, service, test.call, p)

		if n := c.count(t, table); n != 1 {
			t.Errorf("%s: %d rows left, want the one that is younger than %s", table, n, test.oldest)
		}
	}
}

func TestDeleteOld_SeveralProcessesAtOnce(t *testing.T) {
	t.Parallel()
	// Processes that delete at the same time do not disturb one another: every old row is deleted and
	// counted once, and no call fails.
	c := newRetentionEnv(t)
	p, rows := c.platform.ID.UUID(), 3000
	ends := []time.Time{noon.Add(longBefore + 1000*time.Second), noon.Add(longBefore + 2000*time.Second),
		noon.Add(longBefore + 3001*time.Second)}
	c.splitWebhooks(t, ends...)
	c.split(t, "lookups", ends...)
	exec(
		t, c.owner, `INSERT INTO idempotency_keys SELECT $1, gen_random_uuid(), n, '\x00', 200, 'done', $2 FROM generate_series(1, $3::int) n`, p,
		noon.Add(longBefore), rows)
	exec(
		t, c.owner, `INSERT INTO rail_replies SELECT $1, gen_random_uuid(), $2::timestamptz + n * interval '1 s', 'SEND', 'REFUSED', '', true FROM generate_series(1, $3::int) n`, p, noon.Add(longBefore), rows)
	exec(t, c.owner, `INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body)
		SELECT $1, `+uuidAt+`, gen_random_uuid(), t.at, 'TEST', 'TEST', '\x00' FROM generate_series(1, $3::int) n, LATERAL (SELECT $2::timestamptz + n * interval '1 s' AS at) t`, p, noon.Add(longBefore), rows)
	exec(
		t, c.owner, `INSERT INTO lookups (platform_id, id, sender_uma, receiver_uma, requested_fields, expires_at, created_at, currencies, receiver_info)
		SELECT $1, `+uuidAt+`, '', '$bo@uma.test', '[]', t.at, t.at, '{}', '{}' FROM generate_series(1, $3::int) n, LATERAL (SELECT $2::timestamptz + n * interval '1 s' AS at) t`, p, noon.Add(longBefore), rows)
	exec(t, c.owner, "ANALYZE webhook_events, lookups")
	var mu sync.Mutex
	total := map[string]int{}
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if err := c.DeleteOld(t.Context(), allCutoffs, func(table string, n int) {
				mu.Lock()
				defer mu.Unlock()
				total[table] += n
			}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()

	for table, n := range c.deleteOld(t) { // what the last of them was still deleting
		total[table] += n
	}
	for _, table := range []string{"lookups", "idempotency_keys", "webhook_events", "rail_replies"} {
		if left := c.count(t, table); total[table] != rows || left != 0 {
			t.Errorf("%s: %d deleted, %d left; want %d and 0", table, total[table], left, rows)
		}
	}
}

func TestDeleteOld_FailureOfOneTableDeletesOthers(t *testing.T) {
	t.Parallel()
	// If old rows of one table cannot be dropped or deleted, the error names it, and those of the other
	// tables are deleted.
	c := newRetentionEnv(t)
	exec(t, c.owner, `ALTER TABLE webhook_events RENAME TO elsewhere`)
	exec(t, c.owner, `ALTER TABLE idempotency_keys RENAME TO elsewhere_too`)
	exec(t, c.owner, `INSERT INTO rail_replies VALUES ($1, $2, $3, 'SEND', 'REFUSED', '', true)`, c.platform.ID.UUID(), uuid.New(),
		noon.Add(longBefore))

	deleted := 0
	err := c.DeleteOld(t.Context(), allCutoffs, func(_ string, n int) { deleted += n })

	if err == nil || !strings.Contains(err.Error(), "old partitions of webhook_events:") ||
		!strings.Contains(err.Error(), "idempotency_keys of platform "+fmt.Sprint(c.platform.ID.UUID())) || deleted != 1 {
		t.Errorf("%d deleted, %v", deleted, err)
	}
}

func TestDeleteOld_KYCLinks(t *testing.T) {
	t.Parallel()
	// Links that were created before the time are deleted, opened or not; others stay.
	c := newRetentionEnv(t)
	customer := newCustomer(c.platform, "ana")
	c.createCustomers(t, customer)
	for i, age := range []time.Duration{-longBefore, -justBefore, 0, -time.Hour} {
		at := noon.Add(-age)
		link := verification.Link{ID: newIDAt(at), Platform: c.platform.ID, Customer: customer.ID, TokenHash: verification.SecretHash{byte(i)},
			CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
		if i == 0 {
			link.OpenedAt, link.SessionHash, link.SessionExpiresAt = at, verification.SecretHash{byte(i), 1}, at
		}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateKYCLink(ctx, link) })
	}

	c.wantDeleted(t, "kyc_links", 2)
	c.wantDeleted(t, "kyc_links", 0)
}

func TestDeleteOld_Mails(t *testing.T) {
	t.Parallel()
	// Mails that were created before the time are deleted, whatever became of them; others stay.
	c := newRetentionEnv(t)
	for i, age := range []time.Duration{-longBefore, -justBefore, 0, -time.Hour} {
		m := newMail(c.platform.ID, noon.Add(-age))
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if err := tx.AddMail(ctx, m); err != nil || i == 0 {
				return err
			}
			return tx.EndMail(ctx, m.Platform, m.ID, ports.MailOutcome{Status: ports.MailSent, At: m.CreatedAt})
		})
	}

	c.wantDeleted(t, "mails", 2)
	c.wantDeleted(t, "mails", 0)
}

func TestDeleteOld_IdentityMessages(t *testing.T) {
	t.Parallel()
	// A message is new once for each platform. It is forgotten when it was received before the time.
	c := newRetentionEnv(t)
	save := func(id string, at time.Time) (isNew bool) {
		t.Helper()
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
			isNew, err = tx.SaveDecisionMessage(ctx, c.platform.ID, id, at)
			return err
		})
		return isNew
	}
	for id, at := range map[string]time.Time{"old": noon.Add(longBefore), "new": noon} {
		if !save(id, at) || save(id, noon) {
			t.Errorf("%q is not new once", id)
		}
	}

	c.wantDeleted(t, "identity_messages", 1)
	c.wantDeleted(t, "identity_messages", 0)
	if !save("old", noon) || save("new", noon) {
		t.Error("another message was deleted")
	}
}

func TestDeleteOld_ScreeningRuns(t *testing.T) {
	t.Parallel()
	// Runs that began before the time are deleted; others stay.
	c := newRetentionEnv(t)
	for _, age := range []time.Duration{-longBefore, -justBefore, 0, -time.Hour} {
		at := noon.Add(-age)
		list := screening.LoadedList{ID: newIDAt(at), List: screening.EU, SHA256: "00", Entries: 1, LoadedAt: at, Actor: "ana"}
		entries := []screening.Entry{{List: screening.EU, Ref: "1", Kind: screening.Person, Names: []screening.EntryName{{Text: "Ivan Testov"}}}}
		if err := c.ReplaceSanctionsList(t.Context(), list, entries, []screening.Run{{ID: newIDAt(at), Platform: c.platform.ID}}); err != nil {
			t.Fatal(err)
		}
	}

	c.wantDeleted(t, "screening_runs", 2)
	c.wantDeleted(t, "screening_runs", 0)
}

// awaitBlockedStatement returns when a statement on the database of the connection waits for a lock.
func awaitBlockedStatement(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for blocked := false; !blocked; {
		err := conn.QueryRow(
			ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())`).Scan(&blocked)
		if err != nil {
			t.Fatalf("no statement waits for a lock: %v", err)
		}
	}
}
