package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/webhookstest"
)

func TestQueue_Conformance(t *testing.T) {
	t.Parallel()
	// The queue in the database satisfies the contract of the port.
	webhookstest.RunQueueTests(t, func(t *testing.T) webhookstest.Fixture {
		h := newTestEnv(t)
		writer := h.connect()
		return webhookstest.Fixture{
			Queue: NewQueue(h.openPlain, nil), Log: NewLog(h.connectPlain(), nil),
			Platform: func(_ *testing.T, endpoint string) ident.Platform { return h.createPlatform(endpoint) },
			Append: func(t *testing.T, events ...event.Event) {
				if err := Append(context.Background(), writer, toRows(events)); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

func toRows(events []event.Event) []event.Rendered {
	rows := make([]event.Rendered, len(events))
	for i, e := range events {
		rows[i] = e.Rendered(e.Envelope())
	}
	return rows
}

func TestAppend_CommitsWithCaller(t *testing.T) {
	t.Parallel()
	// Events are stored if the caller's transaction commits, and not if it rolls back.
	h := newTestEnv(t)
	ctx := context.Background()
	p := h.createPlatform("http://127.0.0.1:1/")
	conn := h.connect()
	for _, commits := range []bool{false, true} {
		tx, err := conn.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := Append(ctx, tx, h.newRows(p, 4, 2, 10)); err != nil {
			t.Fatal(err)
		}
		if commits {
			err = tx.Commit(ctx)
		} else {
			err = tx.Rollback(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}

		page, err := NewLog(conn, nil).Deliveries(ctx, p, ports.DeliveryFilter{})

		if err != nil || len(page.Items) != map[bool]int{false: 0, true: 4}[commits] {
			t.Errorf("commit %v: %d deliveries, %v", commits, len(page.Items), err)
		}
	}
}

func TestAppend_NoEventsNoStatement(t *testing.T) {
	t.Parallel()
	// No events, no statement.
	if err := Append(context.Background(), nil, nil); err != nil {
		t.Error(err)
	}
}

func TestExchange_LateCommitIsRead(t *testing.T) {
	t.Parallel()
	// An event whose transaction commits after those of later events is still read, however
	// many later events were read before.
	h := newTestEnv(t)
	ctx := context.Background()
	p := h.createPlatform("http://127.0.0.1:1/")
	reader, inFlight := newReader(t, h, p)
	slow, quick := h.connect(), h.connect()
	tx, err := slow.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	late := h.newRows(p, 1, 1, 10)
	if err := Append(ctx, tx, late); err != nil {
		t.Fatal(err)
	}

	// Other events are committed, read and settled in the meantime.
	for range 5 {
		if err := Append(ctx, quick, h.newRows(p, 3, 3, 10)); err != nil {
			t.Fatal(err)
		}
		if got := reader(); len(got) != 3 {
			t.Fatalf("read %d", len(got))
		}
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}

	got := reader()
	if len(got) != 1 || got[0].ID != late[0].ID {
		t.Fatalf("read %d events without the late one", len(got))
	}
	if n := len(*inFlight); n != 16 {
		t.Errorf("read %d in all", n)
	}
}

func TestExchange_LateCommitAboveSnapshotXmax(t *testing.T) {
	t.Parallel()
	// The same if no transaction that began after the slow one has ended, so that xmax alone
	// would not show that it is running, and its events are its first write.
	h := newTestEnv(t)
	ctx := context.Background()
	p := h.createPlatform("http://127.0.0.1:1/")
	reader, _ := newReader(t, h, p)
	slow, quick := h.connect(), h.connect()
	first, err := quick.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Exec(ctx, "SELECT pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	second, err := slow.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	late := h.newRows(p, 1, 1, 10)
	if err := Append(ctx, second, late); err != nil {
		t.Fatal(err)
	}
	if err := Append(ctx, first, h.newRows(p, 3, 3, 10)); err != nil {
		t.Fatal(err)
	}
	if err := first.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if got := reader(); len(got) != 3 {
		t.Fatalf("read %d", len(got))
	}
	for range 5 { // the reader has every chance to believe that this was all
		if got := reader(); len(got) != 0 {
			t.Fatalf("read %d", len(got))
		}
	}

	if err := second.Commit(ctx); err != nil {
		t.Fatal(err)
	}

	if got := reader(); len(got) != 1 || got[0].ID != late[0].ID {
		t.Fatalf("read %d events without the late one", len(got))
	}
}

func TestExchange_TailAdvances(t *testing.T) {
	t.Parallel()
	// Without concurrent writers, a read begins after the events read before, even while a
	// long-running reader keeps all deleted rows from being vacuumed. The id of a transaction that
	// this needs is that of one that records a result, or of a read once the tail is far behind.
	h := newTestEnv(t)
	reader := h.connect()
	if _, err := reader.Exec(context.Background(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM webhook_queue"); err != nil {
		t.Fatal(err)
	}
	p := h.createPlatform("http://127.0.0.1:1/")
	s, err := NewQueue(h.openPlain, nil).OpenSession(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustClaim(t, s, p)
	appender, last := h.connect(), 0
	tail := s.(*session).watermarks[p]
	var inFlight []ports.QueuedWebhook
	read := func(results ...ports.WebhookResult) {
		t.Helper()
		fetch := ports.WebhookFetch{Platform: p, Fresh: 10}
		for _, q := range inFlight {
			fetch.InFlight = append(fetch.InFlight, q.Seq)
		}
		due, err := s.Exchange(context.Background(), h.now, results, []ports.WebhookFetch{fetch})
		if err != nil {
			t.Fatal(err)
		}
		inFlight = append(inFlight, due[0].Fresh...)
	}
	append5 := func() {
		t.Helper()
		if err := Append(context.Background(), appender, h.newRows(p, 5, 1, 10)); err != nil {
			t.Fatal(err)
		}
		read()
		if last += 5; len(inFlight) != last {
			t.Fatalf("%d events are read; want %d", len(inFlight), last)
		}
	}
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	awaitTail := func() {
		t.Helper()
		// other tests on the server hold transactions open for moments
		for deadline := time.Now().Add(3 * time.Minute); tail.tail != inFlight[last-1].Seq; <-ticks.C {
			if read(); time.Now().After(deadline) {
				t.Fatalf("the tail stays at %d: %+v", tail.tail, tail)
			}
		}
	}

	append5()
	read()
	if tail.untilXID != 0 {
		t.Fatalf("a read has asked for an id: %+v", tail)
	}
	read(ports.WebhookResult{Event: inFlight[0], Outcome: ports.WebhookSettled,
		Attempt: &event.Attempt{AttemptedAt: h.now, Outcome: event.Accepted}})
	awaitTail()

	if _, err := appender.Exec(context.Background(), "SELECT nextval('webhook_event_seq') FROM generate_series(1, $1)", maxLag); err != nil {
		t.Fatal(err)
	}
	append5()
	awaitTail()

	// Events that were handed over are not read. The first is sent and recorded before the next read.
	handedOver := h.newRows(p, 2, 1, 10)
	stored := Committed(handedOver)
	sql, args := Statement(handedOver)
	rows, err := appender.Query(context.Background(), sql, args...)
	if err := errors.Join(err, ScanQueued(rows, stored)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exchange(context.Background(), h.now, []ports.WebhookResult{{Event: stored[0].QueuedWebhook, Outcome: ports.WebhookSettled,
		Attempt: &event.Attempt{AttemptedAt: h.now, Outcome: event.Accepted}}}, nil); err != nil {
		t.Fatal(err)
	}
	if tail.highestRead != stored[0].Seq {
		t.Fatalf("after an event was recorded: %+v, want to know %d", tail, stored[0].Seq)
	}
	inFlight, last = append(inFlight, stored[1].QueuedWebhook), last+1
	read(ports.WebhookResult{Event: inFlight[1], Outcome: ports.WebhookSettled,
		Attempt: &event.Attempt{AttemptedAt: h.now, Outcome: event.Accepted}})
	awaitTail()
}

func TestRedeliver_Batches(t *testing.T) {
	t.Parallel()
	// Each chosen event is queued once, however many batches they take.
	h := newTestEnv(t)
	ctx := context.Background()
	p := h.createPlatform("")
	if err := Append(ctx, h.connect(), h.newRows(p, 23, 3, 10)); err != nil {
		t.Fatal(err)
	}
	log := NewLog(h.connectPlain(), nil)
	log.batchSize = 5

	for _, want := range []int{23, 0} {
		if n, err := log.Redeliver(ctx, p, ports.Redelivery{Created: period.Interval{From: h.now, To: h.now.Add(time.Millisecond)}},
			h.now); err != nil || n != want {
			t.Errorf("redelivered %d, want %d: %v", n, want, err)
		}
	}
	page, err := log.Deliveries(ctx, p, ports.DeliveryFilter{Status: event.Pending})
	if err != nil || len(page.Items) != 23 {
		t.Errorf("%d pending: %v", len(page.Items), err)
	}
}

func TestWait_EndsWithContextOrConnection(t *testing.T) {
	t.Parallel()
	// Wait returns nil when its context ends, and an error as soon as the connection ends.
	h := newTestEnv(t)
	p := h.createPlatform("http://127.0.0.1:1/")
	s, err := NewQueue(h.openPlain, nil).OpenSession(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustClaim(t, s, p)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exchange(context.Background(), h.now, nil, []ports.WebhookFetch{{Platform: p, Fresh: 1}}); err != nil {
		t.Fatal(err)
	}
	lost := make(chan error)
	go func() { lost <- s.Wait(context.Background()) }()

	killer := h.connect()
	if _, err := killer.Exec(context.Background(), fmt.Sprintf("RESET ROLE; SELECT pg_terminate_backend(%d)",
		s.(*session).conn.PgConn().PID())); err != nil {
		t.Fatal(err)
	}
	if err := <-lost; err == nil {
		t.Error("the lost connection was not noticed")
	}
}

func TestKeys_OneSigningKeyPerAlgorithm(t *testing.T) {
	t.Parallel()
	// Each environment has one active key of an algorithm. A replaced key stays valid for a
	// while. Of two concurrent replacements, one reports false.
	h := newTestEnv(t)
	ctx := context.Background()
	store := NewKeys(h.connectPlain())
	newKey := func(env platform.Environment, at time.Time) ports.SealedWebhookKey {
		return ports.SealedWebhookKey{
			ID: uuid.Must(uuid.NewV7()), Environment: env, Algorithm: ports.Ed25519, Public: []byte("p"), Sealed: []byte("s"), ValidFrom: at,
		}
	}
	replace := func(want bool, ends []uuid.UUID, until time.Time, adds ...ports.SealedWebhookKey) {
		t.Helper()
		if ok, err := store.ReplaceWebhookKeys(ctx, ends, until, adds); err != nil || ok != want {
			t.Fatalf("got %v, %v, want %v", ok, err, want)
		}
	}
	ids := func(at time.Time) (ids []uuid.UUID) {
		t.Helper()
		keys, err := store.WebhookKeys(ctx, platform.Sandbox, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		return ids
	}
	later := h.now.Add(time.Hour)
	first, second, third := newKey(platform.Sandbox, h.now), newKey(platform.Sandbox, later), newKey(platform.Sandbox, later)

	replace(true, nil, h.now, first)
	replace(true, nil, h.now, newKey(platform.Production, h.now))
	replace(false, nil, h.now, second)
	replace(true, []uuid.UUID{first.ID}, later.Add(time.Hour), second)
	replace(false, []uuid.UUID{first.ID}, later, third)

	if got := ids(later); !slices.Equal(got, []uuid.UUID{second.ID, first.ID}) {
		t.Errorf("valid during the overlap: %v", got)
	}
	if got := ids(later.Add(time.Hour)); !slices.Equal(got, []uuid.UUID{second.ID}) {
		t.Errorf("valid after it: %v", got)
	}
	keys, err := store.WebhookKeys(ctx, platform.Sandbox, later)
	if err != nil || !keys[1].ValidUntil.Equal(later.Add(time.Hour)) || !keys[1].ValidFrom.Equal(h.now) ||
		string(keys[1].Public) != "p" || string(keys[1].Sealed) != "s" || !keys[0].ValidUntil.IsZero() {
		t.Errorf("got %+v, %v", keys, err)
	}

	// A replacement deletes the keys of its environment that have ended.
	replace(true, []uuid.UUID{second.ID}, later.Add(2*time.Hour), newKey(platform.Sandbox, later.Add(2*time.Hour)))
	if got := ids(h.now); len(got) != 1 {
		t.Errorf("stored after all have ended: %v", got)
	}
	if production, err := store.WebhookKeys(ctx, platform.Production, later); err != nil || len(production) != 1 {
		t.Errorf("stored in production: %v, %v", production, err)
	}
}

func TestServiceRole_CannotRewriteHistory(t *testing.T) {
	t.Parallel()
	// The role of the service can neither change nor delete events and attempts.
	conn := newTestEnv(t).connect()
	for _, sql := range []string{
		"UPDATE webhook_events SET name = ''", "DELETE FROM webhook_events", "TRUNCATE webhook_events",
		"UPDATE webhook_attempts SET outcome = ''", "DELETE FROM webhook_attempts", "TRUNCATE webhook_attempts",
	} {
		if _, err := conn.Exec(context.Background(), sql); err == nil {
			t.Errorf("%s is allowed", sql)
		}
	}
}

// newReader claims a platform. The function it returns reads new events and keeps them in
// flight.
func newReader(t *testing.T, h *testEnv, p ident.Platform) (read func() []ports.QueuedWebhook, inFlight *[]int64) {
	t.Helper()
	s, err := NewQueue(h.openPlain, nil).OpenSession(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	mustClaim(t, s, p)
	inFlight = new([]int64)
	return func() []ports.QueuedWebhook {
		t.Helper()
		due, err := s.Exchange(context.Background(), h.now, nil, []ports.WebhookFetch{{Platform: p, Fresh: 100, InFlight: *inFlight}})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range due[0].Fresh {
			*inFlight = append(*inFlight, q.Seq)
		}
		return due[0].Fresh
	}, inFlight
}

func mustClaim(t *testing.T, s ports.WebhookSession, p ident.Platform) {
	t.Helper()
	if claimed, err := s.Claim(context.Background(), []ident.Platform{p}); err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %v, %v", claimed, err)
	}
}
