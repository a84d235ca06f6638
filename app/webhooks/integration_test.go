package webhooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/outbox"
	sending "causeway/adapters/webhooks"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/ident"
)

// testEnv is the real thing: Postgres, HTTP, keys, and any number of dispatchers.
type testEnv struct {
	t    testing.TB
	url  string
	pool *pgxpool.Pool
	ids  *ids.Generator
	keys *sending.Keyring
	log  *outbox.Log
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now().UTC() }

func newTestEnv(t testing.TB) *testEnv {
	w := &testEnv{t: t, url: pgtest.New(t), ids: ids.New()}
	config, err := pgxpool.ParseConfig(w.url)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.AfterConnect = setServiceRole
	if w.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.pool.Close)
	key, err := encryption.ParseKey(encryption.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	box, err := encryption.New(key)
	if err != nil {
		t.Fatal(err)
	}
	w.keys = sending.NewKeyring(outbox.NewKeys(w.pool), box, realClock{}, w.ids)
	w.log = outbox.NewLog(w.pool)
	return w
}

func setServiceRole(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SET ROLE causeway_service")
	return err
}

// connectFunc opens a session's connection; name tells it apart for those who end it.
func (w *testEnv) connectFunc(name string) func(context.Context) (*pgx.Conn, error) {
	return func(ctx context.Context) (*pgx.Conn, error) {
		config, err := pgx.ParseConfig(w.url)
		if err != nil {
			return nil, err
		}
		config.RuntimeParams["application_name"] = name
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		return conn, setServiceRole(ctx, conn)
	}
}

// newService makes one whose deliveries carry its name as their user agent.
func (w *testEnv) newService(name string, meter webhooks.Metrics) *webhooks.Service {
	sender := sending.NewSender(w.keys, sending.Options{UserAgent: name})
	w.t.Cleanup(sender.Close)
	return webhooks.New(webhooks.Config{
		Queue: outbox.NewQueue(w.connectFunc(name)), Log: w.log, Webhooks: sender, Keys: w.keys,
		Clock: realClock{}, IDs: w.ids, Metrics: meter, Grace: 100 * time.Millisecond,
	})
}

// startService runs a dispatcher until the function it returns is called.
func startService(n *webhooks.Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

func (w *testEnv) createPlatform(endpoint string) (p ident.Platform) {
	w.t.Helper()
	ident.SetUUID(&p, w.ids.New(time.Now()))
	_, err := w.pool.Exec(context.Background(), `
		INSERT INTO platforms (id, name, environment, regulated, uma_domain, webhook_endpoint, currencies, created_at, updated_at)
		VALUES ($1, 'test', 'SANDBOX', false, 'uma.test', $2, '[]', now(), now())`, p.UUID(), endpoint)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// newRows are the three of each of so many payments, in the order they happen.
func (w *testEnv) newRows(p ident.Platform, payments int) []outbox.Row {
	names := []string{event.OutgoingPaymentPending, event.OutgoingPaymentProcessing, event.OutgoingPaymentCompleted}
	resource := []byte(`{"padding":"` + strings.Repeat("x", 1100) + `"}`)
	rows := make([]outbox.Row, 0, 3*payments)
	for range payments {
		now := time.Now().UTC()
		subject := w.ids.New(now)
		for _, name := range names {
			e := event.Event{ID: ident.NewWebhook(w.ids.New, now), Platform: p, Type: event.OutgoingPayment, Name: name, Subject: subject, OccurredAt: now}
			rows = append(rows, outbox.Row{Event: e, Body: e.Envelope(resource)})
		}
	}
	return rows
}

func (w *testEnv) appendRows(rows []outbox.Row) {
	w.t.Helper()
	if err := outbox.Append(context.Background(), w.pool, rows); err != nil {
		w.t.Fatal(err)
	}
}

// fakeReceiver is a receiver that remembers the order in which events first came.
type fakeReceiver struct {
	*httptest.Server
	mu        sync.Mutex
	received  []string // webhook ids
	counts    map[string]int
	active    map[string]int // deliveries at the same time, by who sends them
	changed   *sync.Cond
	violation string
	wanted    int
	complete  chan struct{}
	// respond decides with what status, after it was decided that the event is here.
	respond func(r *http.Request, id string) int
}

func newFakeReceiver(t testing.TB, wanted int) *fakeReceiver {
	in := &fakeReceiver{counts: map[string]int{}, active: map[string]int{}, wanted: wanted, complete: make(chan struct{})}
	in.changed = sync.NewCond(&in.mu)
	in.Server = httptest.NewServer(http.HandlerFunc(in.handle))
	t.Cleanup(in.Close)
	return in
}

func (in *fakeReceiver) handle(w http.ResponseWriter, r *http.Request) {
	var envelope struct{ WebhookID string }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &envelope)
	agent := r.UserAgent()
	in.beginRequest(agent)
	status := http.StatusOK
	if in.respond != nil {
		status = in.respond(r, envelope.WebhookID)
	}
	in.endRequest(agent, envelope.WebhookID, status)
	w.WriteHeader(status)
}

func (in *fakeReceiver) beginRequest(agent string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.active[agent]++
	for other, n := range in.active {
		if other != agent && n > 0 {
			in.violation = fmt.Sprintf("%s and %s deliver at the same time", agent, other)
		}
	}
}

func (in *fakeReceiver) endRequest(agent, id string, status int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.active[agent]--
	if status != http.StatusOK {
		return
	}
	if in.counts[id]++; in.counts[id] == 1 {
		if in.received = append(in.received, id); len(in.received) == in.wanted {
			close(in.complete)
		}
		in.changed.Broadcast()
	}
}

// checkOrder checks that every event came, those of a subject in their order.
func (in *fakeReceiver) checkOrder(t testing.TB, rows []outbox.Row) {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	place := map[string]int{}
	for i, id := range in.received {
		place[id] = i
	}
	last := map[uuid.UUID]int{}
	for _, row := range rows {
		i, came := place[row.Event.ID.String()]
		if !came {
			t.Fatalf("%s never came", row.Event.ID)
		}
		if before, ok := last[row.Event.Subject]; ok && i < before {
			t.Fatalf("%s of %s came out of order", row.Event.Name, row.Event.Subject)
		}
		last[row.Event.Subject] = i
	}
}

// checkDelivered waits until the log says so of all, and checks that each has one last attempt.
func (w *testEnv) checkDelivered(p ident.Platform, count int) {
	w.t.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	var pending int
	for range 1000 {
		err := w.pool.QueryRow(context.Background(), `
			SELECT (SELECT count(*) FROM webhook_queue WHERE platform_id = $1) + (SELECT count(*) FROM webhook_backlog WHERE platform_id = $1)`,
			p.UUID()).Scan(&pending)
		if err != nil {
			w.t.Fatal(err)
		}
		if pending == 0 {
			break
		}
		<-ticks.C
	}
	var events, attempted int
	err := w.pool.QueryRow(context.Background(), `
		SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT 1 FROM webhook_attempts a
			WHERE a.platform_id = e.platform_id AND a.event_id = e.id AND a.outcome IN ('ACCEPTED', 'DUPLICATE')))
		FROM webhook_events e WHERE platform_id = $1`, p.UUID()).Scan(&events, &attempted)
	if err != nil || pending != 0 || events != count || attempted != count {
		w.t.Fatalf("%d pending, %d of %d events with a good attempt, want %d; %v", pending, attempted, events, count, err)
	}
}

func TestService_DeliversSignedInOrder(t *testing.T) {
	t.Parallel()
	// Events that are committed reach the receiver, each subject's in order, signed, and
	// the log says delivered.
	w := newTestEnv(t)
	in := newFakeReceiver(t, 300)
	p := w.createPlatform(in.URL)
	n := w.newService("one", nil)
	defer startService(n)()
	rows := w.newRows(p, 100)

	for chunk := range slices.Chunk(rows, 30) {
		w.appendRows(chunk)
		n.Wake()
	}
	<-in.complete

	in.checkOrder(t, rows)
	w.checkDelivered(p, 300)
}

func TestService_TakesOverAfterConnectionLoss(t *testing.T) {
	t.Parallel()
	// Two dispatchers on one database: one serves the platform, the other waits. When the
	// connection of the one is cut the other goes on, nothing is lost, the order holds.
	w := newTestEnv(t)
	in := newFakeReceiver(t, 600)
	p := w.createPlatform(in.URL)
	served := make(chan string, 10_000)
	in.respond = func(r *http.Request, _ string) int { served <- r.UserAgent(); return http.StatusOK }
	names := []string{"one", "two"}
	for _, name := range names {
		defer startService(w.newService(name, nil))()
	}
	rows := w.newRows(p, 200)
	w.appendRows(rows[:300])

	// While nobody is disturbed only one of them delivers.
	owner := <-served
	for range 250 {
		if agent := <-served; agent != owner {
			t.Fatalf("%s delivers beside %s", agent, owner)
		}
	}
	if _, err := w.execAsOwner(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`, owner); err != nil {
		t.Fatal(err)
	}
	w.appendRows(rows[300:])
	<-in.complete

	in.checkOrder(t, rows)
	w.checkDelivered(p, 600)
}

// execAsOwner runs one statement as the database's owner.
func (w *testEnv) execAsOwner(sql string, args ...any) (int64, error) {
	conn, err := pgx.Connect(context.Background(), w.url)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tag, err := conn.Exec(context.Background(), sql, args...)
	return tag.RowsAffected(), err
}

func TestService_RestartsLoseNothing(t *testing.T) {
	t.Parallel()
	// Dispatchers that are stopped in the middle of everything, or lose their
	// connection, while the receiver fails now and then: in the end everything came, in
	// order, and none is delivered while another process delivers.
	w := newTestEnv(t)
	in := newFakeReceiver(t, 900)
	p := w.createPlatform(in.URL)
	var mu sync.Mutex
	calls := 0
	in.respond = func(*http.Request, string) int {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%17 == 0 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}
	rows := w.newRows(p, 300)
	for i, chunk := range slices.Collect(slices.Chunk(rows, 90)) {
		stop := startService(w.newService(fmt.Sprintf("number %d", i), nil))
		w.appendRows(chunk)
		in.await(60 * i)
		stop()
	}
	defer startService(w.newService("last", nil))()
	<-in.complete

	in.checkOrder(t, rows)
	w.checkDelivered(p, 900)
	if in.violation != "" {
		t.Error(in.violation)
	}
}

// await returns when so many events have come.
func (in *fakeReceiver) await(count int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.received) < count {
		in.changed.Wait()
	}
}
