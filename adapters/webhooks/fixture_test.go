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

// fakeClock is a clock that the test advances.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type randomIDs struct{}

func (randomIDs) New(time.Time) uuid.UUID { return uuid.Must(uuid.NewV7()) }

// fakeKeyStore keeps keys in memory with the rules of the database.
type fakeKeyStore struct {
	mu      sync.Mutex
	keys    []ports.SealedWebhookKey
	reads   int
	failing bool
	// beforeReplace runs once, before the next replacement, as another process might.
	beforeReplace func()
}

var errStore = errors.New("store unavailable")

func (s *fakeKeyStore) WebhookKeys(_ context.Context, env platform.Environment, now time.Time) ([]ports.SealedWebhookKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.failing {
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

func (s *fakeKeyStore) ReplaceWebhookKeys(_ context.Context, replaced []uuid.UUID, until time.Time,
	added []ports.SealedWebhookKey) (bool, error) {
	if before := s.beforeReplace; before != nil {
		s.beforeReplace = nil
		before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := slices.Clone(s.keys)
	for i := range next {
		if slices.Contains(replaced, next[i].ID) && next[i].ValidUntil.IsZero() {
			next[i].ValidUntil = until
		}
	}
	for _, add := range added {
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

// fakeSecrets are the secrets of one platform.
type fakeSecrets struct {
	mu      sync.Mutex
	stored  []ports.SealedWebhookSecret // newest first
	reads   int
	failing bool
}

func (s *fakeSecrets) WebhookSecrets(context.Context, ident.Platform) ([]ports.SealedWebhookSecret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.failing {
		return nil, errStore
	}
	return slices.Clone(s.stored), nil
}

// fakeSealer does not encrypt, but opens only with the context used to seal.
type fakeSealer struct{}

func (fakeSealer) Seal(plain, context []byte) ([]byte, error) {
	return append(append(bytes.Clone(context), 0), plain...), nil
}

func (fakeSealer) Open(sealed, context []byte) ([]byte, error) {
	plain, ok := bytes.CutPrefix(sealed, append(bytes.Clone(context), 0))
	if !ok {
		return nil, errors.New("sealed with another context")
	}
	return plain, nil
}

type fixture struct {
	clock   *fakeClock
	store   *fakeKeyStore
	secrets *fakeSecrets
	keyring *Keyring
	sender  *Sender
}

// newFixture returns a fixture whose sender reaches receivers on this machine.
func newFixture(t testing.TB, o Options) *fixture {
	o.AllowPrivate = true
	f := &fixture{clock: &fakeClock{now: time.Now().UTC()}, store: &fakeKeyStore{}, secrets: &fakeSecrets{}}
	f.keyring = NewKeyring(f.store, f.secrets, fakeSealer{}, f.clock, randomIDs{})
	f.sender = NewSender(f.keyring, o)
	t.Cleanup(f.sender.Close)
	return f
}

// delivery is a delivery to a sandbox endpoint.
func (f *fixture) delivery(url string) ports.WebhookDelivery {
	var id ident.Webhook
	id.SetUUID(uuid.Must(uuid.NewV7()))
	e := event.Event{ID: id, Type: event.OutgoingPayment, Name: event.OutgoingPaymentCompleted, OccurredAt: f.clock.Now()}
	return ports.WebhookDelivery{
		Endpoint: ports.Endpoint{URL: url, Environment: platform.Sandbox, Signatures: platform.WebhookSignatures{ECDSA: true, HMAC: true,
			Ed25519: true}}, ID: id,
		Body: append(bytes.TrimSuffix(e.Envelope(), []byte("}")), `,"transaction":{"id":"Transaction:1"}}`...), At: f.clock.Now(),
	}
}

// receivedRequest is a request as the receiver got it.
type receivedRequest struct {
	header http.Header
	body   []byte
	method string
	host   string
}

// newReceiver starts a receiver that responds with respond. Its requests are sent to the channel.
func newReceiver(t testing.TB, respond http.HandlerFunc) (*httptest.Server, chan receivedRequest) {
	requests := make(chan receivedRequest, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- receivedRequest{r.Header.Clone(), body, r.Method, r.Host}
		if respond != nil {
			respond(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server, requests
}
