package platforms_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// fakeTokens keeps tokens in memory and records the lookups. Each lookup blocks until
// release is closed.
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

func (f *fakeTokens) TokensByClientID(_ context.Context, clientIDs []string) (map[string]ports.TokenWithEnvironment, error) {
	f.started <- struct{}{}
	<-f.release
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, slices.Clone(clientIDs))
	found := map[string]ports.TokenWithEnvironment{}
	for _, id := range clientIDs {
		if token, ok := f.tokens[id]; ok {
			found[id] = token
		}
	}
	return found, f.err
}

func (f *fakeTokens) add(t *testing.T, n byte) (clientID, secret string) {
	t.Helper()
	var id ident.Token
	var p ident.Platform
	id.SetUUID(uuid.UUID{n})
	p.SetUUID(uuid.UUID{n, n})
	token, secret, err := platform.NewToken(id, p, "t", platform.Permissions, [16]byte{n}, [32]byte{n}, apptest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	f.tokens[token.ClientID] = ports.TokenWithEnvironment{Token: token, Environment: platform.Sandbox}
	return token.ClientID, secret
}

func TestAuthenticator_RejectsWrongCredentials(t *testing.T) {
	t.Parallel()
	// A client id is accepted with its own secret only. Every other pair is rejected with
	// the same message, so that it does not disclose which client ids exist.
	tokens := newFakeTokens()
	close(tokens.release)
	first, secret := tokens.add(t, 1)
	_, others := tokens.add(t, 2)
	authenticator := platforms.NewAuthenticator(tokens)

	principal, err := authenticator.Authenticate(t.Context(), first, secret)
	if err != nil || principal.Token.UUID() != (uuid.UUID{1}) || principal.Platform.UUID() != (uuid.UUID{1, 1}) ||
		principal.Environment != platform.Sandbox || len(principal.Permissions) != 3 {
		t.Errorf("the correct secret: %+v, %v", principal, err)
	}

	var messages []string
	for name, pair := range map[string][2]string{
		"another token's secret": {first, others}, "an empty secret": {first, ""}, "an unknown client": {"unknown", secret},
		"no credentials": {"", ""}, "the secret with a trailing space": {first, secret + " "},
	} {
		principal, err := authenticator.Authenticate(t.Context(), pair[0], pair[1])
		if !fault.Is(err, fault.Unauthorized) || !principal.Token.IsZero() {
			t.Errorf("%s: %+v, %v", name, principal, err)
			continue
		}
		messages = append(messages, err.Error())
	}
	if slices.Sort(messages); len(slices.Compact(messages)) != 1 {
		t.Errorf("messages differ: %q", messages)
	}
}

func TestAuthenticator_SharesConcurrentLookups(t *testing.T) {
	t.Parallel()
	// Requests that arrive while lookups run share the next one. It names a client once,
	// however many requests wait, and each request is checked against its own secret.
	tokens := newFakeTokens()
	clientID, secret := tokens.add(t, 1)
	authenticator := platforms.NewAuthenticator(tokens)
	const requests = 100
	results := make(chan error, requests)
	authenticate := func(secret string) {
		_, err := authenticator.Authenticate(t.Context(), clientID, secret)
		results <- err
	}
	for range 2 { // both workers are busy
		go authenticate(secret)
		<-tokens.started
	}
	for i := range requests - 2 {
		if i%2 == 0 {
			go authenticate(secret)
		} else {
			go authenticate("wrong")
		}
	}
	close(tokens.release)

	rejected := 0
	for range requests {
		if err := <-results; err != nil {
			rejected++
		}
	}
	if rejected != (requests-2)/2 {
		t.Errorf("%d rejected, want %d", rejected, (requests-2)/2)
	}
	for _, clientIDs := range tokens.requests {
		if len(clientIDs) != 1 {
			t.Errorf("a lookup named %q", clientIDs)
		}
	}
}

func TestAuthenticator_KeepsTokens(t *testing.T) {
	t.Parallel()
	// A token is read once for as long as a deletion waits, counted from the beginning of the read, and also then a wrong secret is
	// refused. A client id that is not found is looked up each time: its token may be created at any time.
	synctest.Test(t, func(t *testing.T) {
		tokens := newFakeTokens()
		clientID, secret := tokens.add(t, 1)
		authenticator := platforms.NewAuthenticator(tokens)
		authenticate := func(clientID, secret string) error {
			_, err := authenticator.Authenticate(t.Context(), clientID, secret)
			return err
		}
		go func() {
			time.Sleep(platform.TokenKept / 2) // the read takes so long
			close(tokens.release)
		}()
		if err := authenticate(clientID, secret); err != nil {
			t.Fatal(err)
		}

		delete(tokens.tokens, clientID)
		time.Sleep(platform.TokenKept/2 - 1)
		if err := authenticate(clientID, secret); err != nil {
			t.Errorf("a token that was just read: %v", err)
		}
		if err := authenticate(clientID, "wrong"); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("a wrong secret: %v", err)
		}
		if len(tokens.requests) != 1 {
			t.Errorf("looked up %q", tokens.requests)
		}
		time.Sleep(time.Nanosecond)
		if err := authenticate(clientID, secret); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("a token that was deleted so long ago: %v", err)
		}
		clientID, secret = tokens.add(t, 1)
		if err := authenticate(clientID, secret); err != nil {
			t.Errorf("a token that is new: %v", err)
		}
	})
}

func TestAuthenticator_LookupErrorIsNotUnauthorized(t *testing.T) {
	t.Parallel()
	// If the tokens cannot be read, the error is not reported as wrong credentials.
	tokens := newFakeTokens()
	close(tokens.release)
	clientID, secret := tokens.add(t, 1)
	tokens.err = errors.New("database unavailable")

	if _, err := platforms.NewAuthenticator(tokens).Authenticate(t.Context(), clientID, secret); !errors.Is(err, tokens.err) {
		t.Errorf("%v, want the error of the lookup", err)
	}
}
