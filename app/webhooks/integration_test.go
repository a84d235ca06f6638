package webhooks_test

import (
	"bytes"
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

	"causeway/adapters/encryption"
	"causeway/adapters/postgres/outbox"
	"causeway/adapters/postgres/schema"
	sending "causeway/adapters/webhooks"
	"causeway/app/internal/apptest"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
)

// testEnv is the environment of a test with real HTTP, keys and any number of dispatchers.
type testEnv struct {
	*apptest.Env
	t    testing.TB
	keys *sending.Keyring
	log  *outbox.Log
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now().UTC() }

func newTestEnv(t testing.TB) *testEnv {
	t.Helper()
	e := apptest.New(t)
	key, err := encryption.ParseKey(encryption.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	box, err := encryption.New(key)
	if err != nil {
		t.Fatal(err)
	}
	pool := e.Store.Pool()
	return &testEnv{Env: e, t: t, log: outbox.NewLog(pool, nil), keys: sending.NewKeyring(outbox.NewKeys(pool), e.Store, box,
		realClock{}, e.IDs)}
}

// connectFunc opens the connection of a session, with name as its application name.
func (e *testEnv) connectFunc(name string) func(context.Context) (*pgx.Conn, error) {
	return func(ctx context.Context) (*pgx.Conn, error) {
		config, err := pgx.ParseConfig(e.URL)
		if err != nil {
			return nil, err
		}
		config.RuntimeParams["application_name"] = name
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		schema.RegisterCodecs(conn.TypeMap())
		_, err = conn.Exec(ctx, "SET ROLE causeway_service; SET causeway.platform = '*'")
		return conn, err
	}
}

// newService is a service whose deliveries carry its name as their user agent.
func (e *testEnv) newService(name string, metrics webhooks.Metrics) *webhooks.Service {
	sender := sending.NewSender(e.keys, sending.Options{UserAgent: name, AllowPrivate: true})
	e.t.Cleanup(sender.Close)
	return webhooks.New(webhooks.Config{
		Queue: outbox.NewQueue(e.connectFunc(name), nil), Log: e.log, Webhooks: sender, Keys: e.keys,
		Clock: realClock{}, IDs: e.IDs, Metrics: metrics, Grace: 100 * time.Millisecond,
	})
}

// startService runs the dispatcher of a service. stop stops it and waits.
func startService(service *webhooks.Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { service.Run(ctx) })
	return func() { cancel(); running.Wait() }
}

func (e *testEnv) createPlatform(endpoint string) ident.Platform {
	return e.NewPlatform(func(p *platform.Platform) { p.WebhookEndpoint = endpoint }).ID
}

// newRows are the three events of each of so many payments, in their order.
func (e *testEnv) newRows(p ident.Platform, payments int) []event.Rendered {
	names := []string{event.OutgoingPaymentPending, event.OutgoingPaymentProcessing, event.OutgoingPaymentCompleted}
	resource := `,"transaction":{"padding":"` + strings.Repeat("x", 1100) + `"}}`
	rows := make([]event.Rendered, 0, 3*payments)
	for range payments {
		now := time.Now().UTC()
		subject := e.IDs.New(now)
		for _, name := range names {
			created := event.Event{ID: ident.NewWebhook(e.IDs.New, now), Platform: p, Type: event.OutgoingPayment, Name: name,
				Subject: subject, OccurredAt: now}
			rows = append(rows, created.Rendered(append(bytes.TrimSuffix(created.Envelope(), []byte("}")), resource...)))
		}
	}
	return rows
}

func (e *testEnv) appendRows(rows []event.Rendered) {
	e.t.Helper()
	if err := outbox.Append(context.Background(), e.Store.Pool(), rows); err != nil {
		e.t.Fatal(err)
	}
}

// fakeReceiver is an endpoint that records the order in which events were first accepted.
type fakeReceiver struct {
	*httptest.Server
	mu        sync.Mutex
	received  []string // webhook ids
	counts    map[string]int
	active    map[string]int // concurrent deliveries by sender
	changed   *sync.Cond
	violation string
	wanted    int
	complete  chan struct{}
	// respond decides the status of the response; 200 if nil.
	respond func(r *http.Request, id string) int
}

func newFakeReceiver(t testing.TB, wanted int) *fakeReceiver {
	r := &fakeReceiver{counts: map[string]int{}, active: map[string]int{}, wanted: wanted, complete: make(chan struct{})}
	r.changed = sync.NewCond(&r.mu)
	r.Server = httptest.NewServer(http.HandlerFunc(r.handle))
	t.Cleanup(r.Close)
	return r
}

func (r *fakeReceiver) handle(w http.ResponseWriter, request *http.Request) {
	var envelope struct{ WebhookID string }
	body, _ := io.ReadAll(request.Body)
	_ = json.Unmarshal(body, &envelope)
	agent := request.UserAgent()
	r.beginRequest(agent)
	status := http.StatusOK
	if r.respond != nil {
		status = r.respond(request, envelope.WebhookID)
	}
	r.endRequest(agent, envelope.WebhookID, status)
	w.WriteHeader(status)
}

func (r *fakeReceiver) beginRequest(agent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active[agent]++
	for other, n := range r.active {
		if other != agent && n > 0 {
			r.violation = fmt.Sprintf("%s and %s deliver at the same time", agent, other)
		}
	}
}

func (r *fakeReceiver) endRequest(agent, id string, status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active[agent]--
	if status != http.StatusOK {
		return
	}
	if r.counts[id]++; r.counts[id] == 1 {
		if r.received = append(r.received, id); len(r.received) == r.wanted {
			close(r.complete)
		}
		r.changed.Broadcast()
	}
}

// checkOrder checks that every event was accepted, and those of a subject in their order.
func (r *fakeReceiver) checkOrder(t testing.TB, rows []event.Rendered) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	position := map[string]int{}
	for i, id := range r.received {
		position[id] = i
	}
	last := map[uuid.UUID]int{}
	for _, row := range rows {
		i, accepted := position[row.ID.String()]
		if !accepted {
			t.Fatalf("%s was not accepted", row.ID)
		}
		if before, ok := last[row.Subject]; ok && i < before {
			t.Fatalf("%s of %s was accepted out of order", row.Name, row.Subject)
		}
		last[row.Subject] = i
	}
}

// checkDelivered waits until no event is pending, and checks that each has a successful attempt.
func (e *testEnv) checkDelivered(p ident.Platform, count int) {
	e.t.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	var pending int
	for deadline := time.Now().Add(apptest.WaitTimeout); time.Now().Before(deadline); {
		err := e.Store.Pool().QueryRow(context.Background(), `
			SELECT (SELECT count(*) FROM webhook_queue WHERE platform_id = $1) + (SELECT count(*) FROM webhook_backlog WHERE platform_id = $1)`,
			p.UUID()).Scan(&pending)
		if err != nil {
			e.t.Fatal(err)
		}
		if pending == 0 {
			break
		}
		<-ticks.C
	}
	var events, attempted int
	err := e.Store.Pool().QueryRow(context.Background(), `
		SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT 1 FROM webhook_attempts a
			WHERE a.platform_id = e.platform_id AND a.event_id = e.id AND a.outcome IN ('ACCEPTED', 'DUPLICATE')))
		FROM webhook_events e WHERE platform_id = $1`, p.UUID()).Scan(&events, &attempted)
	if err != nil || pending != 0 || events != count || attempted != count {
		e.t.Fatalf("%d pending, %d of %d events with a successful attempt, want %d; %v", pending, attempted, events, count, err)
	}
}

func TestService_DeliversSignedInOrder(t *testing.T) {
	t.Parallel()
	// Committed events are delivered signed, those of a subject in their order, and are recorded as
	// delivered.
	env := newTestEnv(t)
	endpoint := newFakeReceiver(t, 300)
	p := env.createPlatform(endpoint.URL)
	service := env.newService("one", nil)
	defer startService(service)()
	rows := env.newRows(p, 100)

	for chunk := range slices.Chunk(rows, 30) {
		env.appendRows(chunk)
		service.Wake(p)
	}
	<-endpoint.complete

	endpoint.checkOrder(t, rows)
	env.checkDelivered(p, 300)
}

func TestService_TakesOverAfterConnectionLoss(t *testing.T) {
	t.Parallel()
	// Of two dispatchers on one database one serves the platform. When its connection is closed the
	// other continues; no event is lost, and the order is kept.
	env := newTestEnv(t)
	endpoint := newFakeReceiver(t, 600)
	p := env.createPlatform(endpoint.URL)
	served := make(chan string, 10_000)
	endpoint.respond = func(r *http.Request, _ string) int { served <- r.UserAgent(); return http.StatusOK }
	names := []string{"one", "two"}
	for _, name := range names {
		defer startService(env.newService(name, nil))()
	}
	rows := env.newRows(p, 200)
	env.appendRows(rows[:300])

	// Only one of them delivers.
	owner := <-served
	for range 250 {
		if agent := <-served; agent != owner {
			t.Fatalf("%s delivers beside %s", agent, owner)
		}
	}
	env.QueryStrings(
		`SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`, owner)
	env.appendRows(rows[300:])
	<-endpoint.complete

	endpoint.checkOrder(t, rows)
	env.checkDelivered(p, 600)
}

func TestService_RestartsLoseNothing(t *testing.T) {
	t.Parallel()
	// Dispatchers are stopped while they deliver, and the endpoint fails now and then. In the end
	// every event is accepted in order, and no two processes delivered at the same time.
	env := newTestEnv(t)
	endpoint := newFakeReceiver(t, 900)
	p := env.createPlatform(endpoint.URL)
	var mu sync.Mutex
	calls := 0
	endpoint.respond = func(*http.Request, string) int {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%17 == 0 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}
	rows := env.newRows(p, 300)
	for i, chunk := range slices.Collect(slices.Chunk(rows, 90)) {
		stop := startService(env.newService(fmt.Sprintf("number %d", i), nil))
		env.appendRows(chunk)
		endpoint.await(60 * i)
		stop()
	}
	defer startService(env.newService("last", nil))()
	<-endpoint.complete

	endpoint.checkOrder(t, rows)
	env.checkDelivered(p, 900)
	if endpoint.violation != "" {
		t.Error(endpoint.violation)
	}
}

// await returns when so many events are accepted.
func (r *fakeReceiver) await(count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.received) < count {
		r.changed.Wait()
	}
}
