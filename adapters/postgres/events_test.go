package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/encryption"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/ports"
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
		Emitted: func([]ports.CommittedWebhook) {
			calls++
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

func TestStoreEvents_HandsOverWhatIsQueued(t *testing.T) {
	t.Parallel()
	// The hook gets the events as the queue returns them, with the endpoint of their platform, and with what was in the queue before
	// of their subject: the last event that is new, and whether any is in the backlog. Events that are not sent are left out.
	c := newEnv(t)
	sealer, err := encryption.New(bytes.Repeat([]byte{7}, encryption.KeyLength))
	if err != nil {
		t.Fatal(err)
	}
	clock := portstest.NewFakeClock(noon)
	var handedOver []ports.CommittedWebhook
	db := openWith(t, postgres.Options{URL: c.url, AllPlatforms: true, MaxConnections: 4, Clock: clock, IDs: generator,
		Emitted:   func(queued []ports.CommittedWebhook) { handedOver = queued },
		NewCipher: func(store ports.DataKeyStore) ports.Cipher { return encryption.NewDataKeys(store, sealer, clock) }})
	if err := db.Cipher().Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	sending := c.platform
	sending.WebhookEndpoint = "https://example.com/webhooks"
	first, second, accounts := uuid.New(), uuid.New(), false
	store := func(subjects ...uuid.UUID) []event.Rendered {
		t.Helper()
		events := make([]event.Rendered, len(subjects))
		for i, subject := range subjects {
			e := event.NewTest(ident.NewWebhook(generator.New, noon), c.platform.ID, noon)
			e.Subject = subject
			if accounts {
				e.Type = event.InternalAccountStatus
			}
			events[i] = e.Rendered([]byte(`{"subject":"` + subject.String() + `"}`))
		}
		want := slices.Clone(events)
		handedOver = nil
		err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockPlatform(ctx, c.platform.ID)
			return errors.Join(err, tx.StoreEvents(ctx, events))
		})
		if err != nil {
			t.Fatal(err)
		}
		return want
	}
	store(first)
	if len(handedOver) != 0 {
		t.Fatalf("handed over without an endpoint: %+v", handedOver)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePlatform(ctx, sending) })
	before := time.Now()

	stored := store(first, second, first)

	session, err := outbox.NewQueue(db.Connect, db.Cipher()).OpenSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	owned, err := session.Claim(t.Context(), []ident.Platform{sending.ID})
	if err != nil {
		t.Fatal(err)
	}
	due, err := session.Exchange(t.Context(), noon, nil, []ports.WebhookFetch{{Platform: sending.ID, Fresh: 10}})
	if err != nil || len(due[0].Fresh) != 3 || len(handedOver) != 3 {
		t.Fatalf("fetched %+v, %v; handed over %+v", due, err, handedOver)
	}
	for i, e := range handedOver {
		if !reflect.DeepEqual(e.QueuedWebhook, due[0].Fresh[i]) || !bytes.Equal(e.Body, stored[i].Body) {
			t.Errorf("event %d is %+v, want %+v", i, e.QueuedWebhook, due[0].Fresh[i])
		}
		if e.Endpoint != owned[sending.ID] || e.Since.Before(before) || e.Since.After(time.Now()) {
			t.Errorf("event %d is for %+v since %s, want %+v", i, e.Endpoint, e.Since, owned[sending.ID])
		}
	}
	if got, want := previousOf(handedOver), []int64{0, 0, handedOver[0].Seq}; !slices.Equal(got, want) {
		t.Errorf("before them are %d, want %d", got, want)
	}

	// The last event of the first subject is still there, and those of the second wait in the backlog.
	last, attempt := handedOver[2].Seq, &event.Attempt{AttemptedAt: noon, Outcome: event.Accepted}
	if _, err := session.Exchange(t.Context(), noon, []ports.WebhookResult{{Event: due[0].Fresh[0], Attempt: attempt},
		{Event: due[0].Fresh[1], Outcome: ports.WebhookRetry, RetryAt: noon.Add(time.Hour), Attempt: attempt}}, nil); err != nil {
		t.Fatal(err)
	}
	store(second, first)
	if got, want := previousOf(handedOver), []int64{0, last}; !slices.Equal(got, want) || !handedOver[0].Blocked || handedOver[1].Blocked {
		t.Errorf("then handed over %+v, before them %d, want %d", handedOver, got, want)
	}

	// What came before an event of an account is not looked up.
	accounts = true
	if store(uuid.New()); len(handedOver) != 1 || !handedOver[0].Blocked {
		t.Errorf("of an account handed over %+v", handedOver)
	}
}

func previousOf(events []ports.CommittedWebhook) []int64 {
	previous := make([]int64, len(events))
	for i, e := range events {
		previous[i] = e.Previous
	}
	return previous
}
