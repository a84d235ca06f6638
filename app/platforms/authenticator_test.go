package platforms_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// fakeTokens holds tokens in memory and notes what it was asked. Each look-up waits
// until it may go on.
type fakeTokens struct {
	mu       sync.Mutex
	tokens   map[string]ports.TokenWithEnvironment
	requests [][]string
	err      error
	release  chan struct{}
	started  chan struct{}
}

func newFakeTokens() *fakeTokens {
	return &fakeTokens{tokens: map[string]ports.TokenWithEnvironment{}, release: make(chan struct{}), started: make(chan struct{}, 1000)}
}

func (d *fakeTokens) TokensByClientID(_ context.Context, clientIDs []string) (map[string]ports.TokenWithEnvironment, error) {
	d.started <- struct{}{}
	<-d.release
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = append(d.requests, slices.Clone(clientIDs))
	found := map[string]ports.TokenWithEnvironment{}
	for _, id := range clientIDs {
		if token, ok := d.tokens[id]; ok {
			found[id] = token
		}
	}
	return found, d.err
}

func (d *fakeTokens) add(t *testing.T, n byte) (clientID, secret string) {
	t.Helper()
	var id ident.Token
	var p ident.Platform
	ident.SetUUID(&id, uuid.UUID{n})
	ident.SetUUID(&p, uuid.UUID{n, n})
	token, secret, err := platform.NewToken(id, p, "t", platform.Permissions, [16]byte{n}, [32]byte{n}, noon)
	if err != nil {
		t.Fatal(err)
	}
	d.tokens[token.ClientID] = ports.TokenWithEnvironment{Token: token, Environment: platform.Sandbox}
	return token.ClientID, secret
}

func TestAuthenticator_RejectsWrongCredentials(t *testing.T) {
	t.Parallel()
	// A known client id with its own secret is let in; every other pair is refused in
	// the same words, so that nobody learns which client ids exist.
	d := newFakeTokens()
	close(d.release)
	first, secret := d.add(t, 1)
	_, others := d.add(t, 2)
	authenticator := platforms.NewAuthenticator(d)

	principal, err := authenticator.Authenticate(t.Context(), first, secret)
	if err != nil || principal.Token.UUID() != (uuid.UUID{1}) || principal.Platform.UUID() != (uuid.UUID{1, 1}) ||
		principal.Environment != platform.Sandbox || len(principal.Permissions) != 3 {
		t.Errorf("the right secret: %+v, %v", principal, err)
	}

	var words []string
	for name, pair := range map[string][2]string{
		"another token's secret": {first, others}, "an empty secret": {first, ""}, "an unknown client": {"nobody", secret},
		"nobody at all": {"", ""}, "the secret with a space": {first, secret + " "},
	} {
		principal, err := authenticator.Authenticate(t.Context(), pair[0], pair[1])
		if !fault.Is(err, fault.Unauthorized) || !principal.Token.IsZero() {
			t.Errorf("%s: %+v, %v", name, principal, err)
			continue
		}
		words = append(words, err.Error())
	}
	if slices.Sort(words); len(slices.Compact(words)) != 1 {
		t.Errorf("refusals differ: %q", words)
	}
}

func TestAuthenticator_SharesConcurrentLookups(t *testing.T) {
	t.Parallel()
	// While look-ups run, those who come meanwhile wait for the next one. It names a
	// client once however many ask, and each is answered for its own secret.
	d := newFakeTokens()
	clientID, secret := d.add(t, 1)
	authenticator := platforms.NewAuthenticator(d)
	const many = 100
	results := make(chan error, many)
	ask := func(secret string) {
		_, err := authenticator.Authenticate(t.Context(), clientID, secret)
		results <- err
	}
	for range 2 { // both lanes are busy
		go ask(secret)
		<-d.started
	}
	for i := range many - 2 {
		if i%2 == 0 {
			go ask(secret)
		} else {
			go ask("wrong")
		}
	}
	close(d.release)

	refused := 0
	for range many {
		if err := <-results; err != nil {
			refused++
		}
	}
	if refused != (many-2)/2 {
		t.Errorf("%d refused, want %d", refused, (many-2)/2)
	}
	for _, asked := range d.requests {
		if len(asked) != 1 {
			t.Errorf("a look-up named %q", asked)
		}
	}
}

func TestAuthenticator_LookupErrorIsNotUnauthorized(t *testing.T) {
	t.Parallel()
	// When the tokens cannot be read nobody is told that the secret is wrong.
	d := newFakeTokens()
	close(d.release)
	clientID, secret := d.add(t, 1)
	d.err = errors.New("the database is away")

	if _, err := platforms.NewAuthenticator(d).Authenticate(t.Context(), clientID, secret); !errors.Is(err, d.err) {
		t.Errorf("%v, want the failure itself", err)
	}
}
