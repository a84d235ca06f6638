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

// house is the use cases on the real database, with one platform and its first token.
type house struct {
	*platforms.Platforms
	store *postgres.DB
	url   string
	// told counts the calls that say that events were committed.
	told    int
	founded platforms.Founded
	boss    platform.Principal
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{url: pgtest.New(t)}
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
	h.Platforms = platforms.New(platforms.Config{Store: h.store, Clock: portstest.NewFakeClock(noon), IDs: made, Committed: func() { h.told++ }})
	h.founded, h.boss = h.found(t, "Acme")
	return h
}

// found makes a platform and says who holds its first token.
func (h *house) found(t *testing.T, name string) (platforms.Founded, platform.Principal) {
	t.Helper()
	founded, err := h.Create(t.Context(), platforms.Founding{Name: name, Environment: platform.Sandbox})
	if err != nil {
		t.Fatal(err)
	}
	return founded, who(founded.Platform, founded.Token)
}

func who(p platform.Platform, t platform.Token) platform.Principal {
	return platform.Principal{Platform: p.ID, Environment: p.Environment, Token: t.ID, Permissions: t.Permissions}
}

// only is a principal with one permission.
func (h *house) only(permission platform.Permission) platform.Principal {
	p := h.boss
	p.Permissions = []platform.Permission{permission}
	return p
}

// texts asks the database for a column of texts, as its owner.
func (h *house) texts(t *testing.T, query string, args ...any) []string {
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

// claim is a request of the boss under a key; render makes its answer.
func (h *house) claim(key string, render func(result any) string) *ports.IdempotentRequest {
	return &ports.IdempotentRequest{
		Platform: h.boss.Platform, Token: h.boss.Token, Key: key, Fingerprint: sha256.Sum256([]byte(key)),
		Render: func(result any, err error) (int, []byte) {
			if err != nil {
				return 500, nil
			}
			return 201, []byte(render(result))
		},
	}
}
