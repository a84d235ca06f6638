package postgres_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"causeway/adapters/postgres"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports/portstest"
)

func TestStoreEvents_NotifiesAfterCommit(t *testing.T) {
	t.Parallel()
	// The hook runs once for each commit with events, when they can be read, and for no other
	// unit of work.
	c := newEnv(t)
	stored, calls := 0, 0
	var db *postgres.DB
	db, err := postgres.Open(t.Context(), postgres.Options{URL: c.url, AllPlatforms: true, MaxConnections: 4,
		Clock: portstest.NewFakeClock(noon), IDs: generator,
		Emitted: func(of []ident.Platform) {
			calls++
			if !slices.Equal(of, []ident.Platform{c.platform.ID}) {
				t.Errorf("the platforms are %v", of)
			}
			if err := c.Pool().QueryRow(context.Background(), `SELECT count(*) FROM webhook_events`).Scan(&stored); err != nil {
				t.Error(err)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	newEvents := func(n int) []event.Rendered {
		events := make([]event.Rendered, n)
		for i := range events {
			events[i] = event.NewTest(ident.NewWebhook(generator.New, noon), c.platform.ID, noon).Rendered([]byte("{}"))
		}
		return events
	}
	refused := errors.New("refused")

	for _, step := range []struct {
		name          string
		events        int
		err           error
		calls, stored int
	}{
		{"two events", 2, nil, 1, 2},
		{"no event", 0, nil, 1, 2},
		{"rolled back", 1, refused, 1, 2},
		{"one event", 1, nil, 2, 3},
	} {
		err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			if _, err := tx.LockPlatform(ctx, c.platform.ID); err != nil {
				return err
			}
			return errors.Join(tx.StoreEvents(ctx, newEvents(step.events)), step.err)
		})
		if !errors.Is(err, step.err) || calls != step.calls || stored != step.stored {
			t.Errorf("%s: %v, %d calls, %d events stored; want %d calls, %d stored", step.name, err, calls, stored, step.calls, step.stored)
		}
	}
}
