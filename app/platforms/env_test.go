package platforms_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/platforms"
	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// env is the use cases on the real database, with one platform and its first token.
type env struct {
	*platforms.Service
	store *postgres.DB
	url   string
	// committedCalls counts the calls that say that events were committed.
	committedCalls int
	created        platforms.Created
	admin          platform.Principal
}

func newEnv(t *testing.T) *env {
	t.Helper()
	h := &env{url: pgtest.New(t)}
	made := ids.New()
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{
		URL: h.url, MaxConnections: 4, Clock: portstest.NewFakeClock(noon), IDs: made,
		Render: func(e event.Event) ([]byte, error) { return e.Envelope(nil), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	h.Service = platforms.New(platforms.Config{Store: h.store, Clock: portstest.NewFakeClock(noon), IDs: made, Committed: func() { h.committedCalls++ }})
	h.created, h.admin = h.createPlatform(t, "Acme")
	return h
}

// createPlatform makes a platform and says who holds its first token.
func (h *env) createPlatform(t *testing.T, name string) (platforms.Created, platform.Principal) {
	t.Helper()
	founded, err := h.Create(t.Context(), platforms.CreateRequest{Name: name, Environment: platform.Sandbox})
	if err != nil {
		t.Fatal(err)
	}
	return founded, principalOf(founded.Platform, founded.Token)
}

func principalOf(p platform.Platform, t platform.Token) platform.Principal {
	return platform.Principal{Platform: p.ID, Environment: p.Environment, Token: t.ID, Permissions: t.Permissions}
}

// withPermission is a principal with one permission.
func (h *env) withPermission(permission platform.Permission) platform.Principal {
	p := h.admin
	p.Permissions = []platform.Permission{permission}
	return p
}

// queryTexts asks the database for a column of texts, as its owner.
func (h *env) queryTexts(t *testing.T, query string, args ...any) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), h.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// idempotentRequest is a request of the boss under a key; render makes its answer.
func (h *env) idempotentRequest(key string, render func(result any) string) *ports.IdempotentRequest {
	return &ports.IdempotentRequest{
		Platform: h.admin.Platform, Token: h.admin.Token, Key: key, Fingerprint: sha256.Sum256([]byte(key)),
		Render: func(result any, err error) (int, []byte) {
			if err != nil {
				return 500, nil
			}
			return 201, []byte(render(result))
		},
	}
}
