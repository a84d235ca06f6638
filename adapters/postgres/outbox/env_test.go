package outbox

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/schema"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
)

// testEnv is a test database with builders for its rows.
type testEnv struct {
	t   testing.TB
	url string
	now time.Time
	ids *ids.Generator
}

func newTestEnv(t testing.TB) *testEnv {
	return &testEnv{t: t, url: pgtest.New(t), now: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC), ids: ids.New()}
}

// connect opens a connection in the service's role.
func (h *testEnv) connect() *pgx.Conn {
	h.t.Helper()
	conn, err := h.open(context.Background(), pgx.QueryExecModeCacheStatement)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// connectPlain opens a connection that does not prepare statements, like those of the pool.
func (h *testEnv) connectPlain() *pgx.Conn {
	h.t.Helper()
	conn, err := h.openPlain(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (h *testEnv) openPlain(ctx context.Context) (*pgx.Conn, error) {
	return h.open(ctx, pgx.QueryExecModeExec)
}

// connectOwner opens a connection in the role that owns the tables.
func (h *testEnv) connectOwner() *pgx.Conn {
	h.t.Helper()
	conn, err := pgx.Connect(context.Background(), h.url)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (h *testEnv) open(ctx context.Context, mode pgx.QueryExecMode) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(h.url)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = mode
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	schema.RegisterCodecs(conn.TypeMap())
	_, err = conn.Exec(ctx, "SET ROLE causeway_service; SET causeway.platform = '*'")
	return conn, err
}

func (h *testEnv) createPlatform(endpoint string) ident.Platform {
	h.t.Helper()
	conn := h.connect()
	var p ident.Platform
	p.SetUUID(uuid.Must(uuid.NewV7()))
	_, err := conn.Exec(context.Background(), `
		INSERT INTO platforms (id, name, environment, regulated, uma_domain, webhook_endpoint, currencies, created_at, updated_at)
		VALUES ($1, 'test', $2, false, 'uma.test', $3, '[]', $4, $4)`,
		p.UUID(), string(platform.Sandbox), endpoint, h.now)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// newRows returns consecutive events, perSubject of each subject, with bodies of one size.
func (h *testEnv) newRows(p ident.Platform, count, perSubject, size int) []event.Rendered {
	rows := make([]event.Rendered, count)
	var subject uuid.UUID
	names := []string{event.OutgoingPaymentPending, event.OutgoingPaymentProcessing, event.OutgoingPaymentCompleted}
	for i := range rows {
		if i%perSubject == 0 {
			subject = uuid.Must(uuid.NewV7())
		}
		e := event.Event{
			ID: ident.NewWebhook(h.ids.New, h.now), Platform: p,
			Type: event.OutgoingPayment, Name: names[i%perSubject%len(names)], Subject: subject, OccurredAt: h.now,
		}
		resource := `,"transaction":{"x":"` + strings.Repeat("y", size) + `"}}`
		rows[i] = e.Rendered(append(bytes.TrimSuffix(e.Envelope(), []byte("}")), resource...))
	}
	return rows
}
