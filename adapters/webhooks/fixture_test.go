package webhooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type ids struct{}

func (ids) New(time.Time) uuid.UUID { return uuid.Must(uuid.NewV7()) }

// keyStore keeps keys in memory as the database does.
type keyStore struct {
	mu     sync.Mutex
	keys   []ports.SealedWebhookKey
	reads  int
	broken bool
	// before runs once, before the next replacement: somebody else was faster.
	before func()
}

var errStore = errors.New("the store is away")

func (s *keyStore) WebhookKeys(_ context.Context, env platform.Environment, now time.Time) ([]ports.SealedWebhookKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.broken {
		return nil, errStore
	}
	var found []ports.SealedWebhookKey
	for _, k := range slices.Backward(s.keys) {
		if k.Environment == env && (k.ValidUntil.IsZero() || k.ValidUntil.After(now)) {
			found = append(found, k)
		}
	}
	return found, nil
}

func (s *keyStore) ReplaceWebhookKeys(_ context.Context, ends []uuid.UUID, until time.Time, adds []ports.SealedWebhookKey) (bool, error) {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := slices.Clone(s.keys)
	for i := range next {
		if slices.Contains(ends, next[i].ID) && next[i].ValidUntil.IsZero() {
			next[i].ValidUntil = until
		}
	}
	for _, add := range adds {
		if slices.ContainsFunc(next, func(k ports.SealedWebhookKey) bool {
			return k.Environment == add.Environment && k.Algorithm == add.Algorithm && k.ValidUntil.IsZero()
		}) {
			return false, nil
		}
		next = append(next, add)
	}
	s.keys = next
	return true, nil
}

// sealer hides nothing, but opens only with the right context.
type sealer struct{}

func (sealer) Seal(plain, context []byte) ([]byte, error) {
	return append(append(bytes.Clone(context), 0), plain...), nil
}

func (sealer) Open(sealed, context []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, append(bytes.Clone(context), 0))
	if !ok {
		return nil, errors.New("sealed for another place")
	}
	return plain, nil
}

type fixture struct {
	clock   *clock
	store   *keyStore
	keyring *Keyring
	sender  *Sender
}

func newFixture(t testing.TB, o Options) *fixture {
	f := &fixture{clock: &clock{now: time.Now().UTC()}, store: &keyStore{}}
	f.keyring = NewKeyring(f.store, sealer{}, f.clock, ids{})
	f.sender = NewSender(f.keyring, o)
	t.Cleanup(f.sender.Close)
	return f
}

// delivery is one to a sandbox endpoint.
func (f *fixture) delivery(url string) ports.WebhookDelivery {
	var id ident.Webhook
	ident.SetUUID(&id, uuid.Must(uuid.NewV7()))
	e := event.Event{ID: id, Type: event.OutgoingPayment, Name: event.OutgoingPaymentCompleted, OccurredAt: f.clock.Now()}
	return ports.WebhookDelivery{
		Endpoint: ports.Endpoint{URL: url, Environment: platform.Sandbox}, ID: id,
		Body: e.Envelope([]byte(`{"id":"Transaction:1"}`)), At: f.clock.Now(),
	}
}

// received is a request as a receiver saw it.
type received struct {
	header http.Header
	body   []byte
	method string
	host   string
}

// receiver answers with respond and hands over what it got.
func receiver(t testing.TB, respond http.HandlerFunc) (*httptest.Server, chan received) {
	got := make(chan received, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Header.Clone(), body, r.Method, r.Host}
		if respond != nil {
			respond(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server, got
}
