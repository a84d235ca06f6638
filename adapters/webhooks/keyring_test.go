package webhooks

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports"
)

func TestKeyring_RotateKeepsOldKeysDuringOverlap(t *testing.T) {
	t.Parallel()
	// After a rotation the new keys sign. During the overlap the old keys are published, and the old
	// Ed25519 key signs too. After it they are gone.
	f := newFixture(t, Options{})
	ctx := context.Background()
	server, requests := newReceiver(t, nil)
	deliver := func() receivedRequest {
		t.Helper()
		f.sender.Deliver(ctx, f.delivery(server.URL))
		return <-requests
	}
	keys := func() []ports.WebhookKey {
		t.Helper()
		keys, err := f.keyring.Keys(ctx, platform.Sandbox, f.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	old := keys()
	f.clock.advance(time.Second)
	if err := f.keyring.Rotate(ctx, platform.Sandbox, f.clock.Now(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}

	during := keys()
	r := deliver()
	if len(old) != 2 || len(during) != 4 || strings.Count(r.header.Get("webhook-signature"), "v1a,") != 2 {
		t.Fatalf("%d keys, then %d, header %q", len(old), len(during), r.header.Get("webhook-signature"))
	}
	for i, k := range during { // newest first
		if k.ValidUntil.IsZero() != (i < 2) {
			t.Errorf("key %d ends at %v", i, k.ValidUntil)
		}
	}
	if err := verifySignatures(during[:2], r); err != nil {
		t.Errorf("with the new keys: %v", err)
	}
	if err := verifySignatures([]ports.WebhookKey{during[0], during[1], during[2], during[3]}, r); err != nil {
		t.Errorf("with all: %v", err)
	}

	f.clock.advance(24 * time.Hour)
	if after, r := keys(), deliver(); len(after) != 2 || after[0].ID != during[0].ID ||
		strings.Contains(r.header.Get("webhook-signature"), " ") || verifySignatures(after, r) != nil {
		t.Errorf("after the overlap: %d keys, header %q", len(after), r.header.Get("webhook-signature"))
	}
}

func TestKeyring_OldKeyVerifiesDuringOverlap(t *testing.T) {
	t.Parallel()
	// A receiver that has only the old Ed25519 key can verify deliveries during the overlap.
	f := newFixture(t, Options{})
	ctx := context.Background()
	old, err := f.keyring.Keys(ctx, platform.Sandbox, f.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.keyring.Rotate(ctx, platform.Sandbox, f.clock.Now().Add(time.Second), time.Hour); err != nil {
		t.Fatal(err)
	}
	server, requests := newReceiver(t, nil)
	f.sender.Deliver(ctx, f.delivery(server.URL))

	err = verifySignatures(old, <-requests)

	if err == nil || !strings.Contains(err.Error(), "id, time and body verify: true") {
		t.Errorf("with the old keys: %v", err)
	}
}

func TestKeyring_EnvironmentsHaveSeparateKeys(t *testing.T) {
	t.Parallel()
	// The environments have no key in common.
	f := newFixture(t, Options{})
	seen := map[string]bool{}
	for _, env := range []platform.Environment{platform.Sandbox, platform.Production} {
		keys, err := f.keyring.Keys(context.Background(), env, f.clock.Now())
		if err != nil || len(keys) != 2 {
			t.Fatalf("%s: %d keys, %v", env, len(keys), err)
		}
		for _, k := range keys {
			if seen[k.PEM] || k.Environment != env {
				t.Errorf("%s: key %+v", env, k)
			}
			seen[k.PEM] = true
		}
	}
	if _, err := f.keyring.Keys(context.Background(), "ELSEWHERE", f.clock.Now()); err == nil {
		t.Error("an unknown environment has keys")
	}
}

func TestKeyring_ConcurrentFirstUseCreatesOnePair(t *testing.T) {
	t.Parallel()
	// Concurrent first requests, in this process and in another, create one pair of keys.
	f := newFixture(t, Options{})
	other := NewKeyring(f.store, f.secrets, fakeSealer{}, f.clock, randomIDs{})
	var others []ports.WebhookKey
	f.store.beforeReplace = func() {
		var err error
		if others, err = other.Keys(context.Background(), platform.Sandbox, f.clock.Now()); err != nil {
			t.Error(err)
		}
	}
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if _, err := f.keyring.current(context.Background(), platform.Sandbox); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()

	keys, err := f.keyring.Keys(context.Background(), platform.Sandbox, f.clock.Now())
	if err != nil || len(keys) != 2 || len(others) != 2 || keys[0].ID != others[0].ID || keys[1].ID != others[1].ID {
		t.Errorf("got %v, the other %v, %v", keys, others, err)
	}
}

func TestKeyring_ConcurrentRotation(t *testing.T) {
	t.Parallel()
	// Two concurrent rotations both succeed, one after the other. Another process uses the new keys
	// within a minute.
	f := newFixture(t, Options{})
	ctx := context.Background()
	before, err := f.keyring.current(ctx, platform.Sandbox)
	if err != nil {
		t.Fatal(err)
	}
	other := NewKeyring(f.store, f.secrets, fakeSealer{}, f.clock, randomIDs{})
	f.clock.advance(time.Second)
	f.store.beforeReplace = func() {
		if err := other.Rotate(ctx, platform.Sandbox, f.clock.Now(), time.Hour); err != nil {
			t.Error(err)
		}
	}
	third := NewKeyring(f.store, f.secrets, fakeSealer{}, f.clock, randomIDs{})
	if err := third.Rotate(ctx, platform.Sandbox, f.clock.Now().Add(time.Millisecond), time.Hour); err != nil {
		t.Fatal(err)
	}

	if same, err := f.keyring.current(ctx, platform.Sandbox); err != nil || same != before {
		t.Errorf("the cached keys were read again: %v", err)
	}
	f.clock.advance(refreshInterval)
	after, err := f.keyring.current(ctx, platform.Sandbox)
	if err != nil || after.ecdsa.Equal(before.ecdsa) || len(after.ed25519) != 3 {
		t.Errorf("the new keys were not found: %v", err)
	}
}

func TestKeyring_SignsWhileStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	// Cached keys continue to sign while the store is unavailable. Without cached keys the delivery
	// fails with an internal error that says why, and not as if the endpoint had failed.
	f := newFixture(t, Options{})
	ctx := context.Background()
	if _, err := f.keyring.current(ctx, platform.Sandbox); err != nil {
		t.Fatal(err)
	}
	f.store.failing = true
	f.clock.advance(time.Hour)

	if _, err := f.keyring.current(ctx, platform.Sandbox); err != nil {
		t.Error(err)
	}
	d := f.delivery("https://example.com")
	d.Endpoint.Environment = platform.Production
	if response := f.sender.Deliver(ctx, d); response.Outcome != event.InternalError ||
		response.Error != "sign the delivery: "+errStore.Error() {
		t.Errorf("response %+v", response)
	}
}

func TestKeyring_KeyMovedToOtherRowDoesNotOpen(t *testing.T) {
	t.Parallel()
	// A sealed key that is moved to another row does not open.
	f := newFixture(t, Options{})
	if _, err := f.keyring.Keys(context.Background(), platform.Sandbox, f.clock.Now()); err != nil {
		t.Fatal(err)
	}
	moved := f.store.keys[0]
	f.store.keys[0].ID = randomIDs{}.New(f.clock.Now())
	if _, err := f.keyring.Keys(context.Background(), platform.Sandbox, f.clock.Now()); err == nil {
		t.Errorf("the key of %s opened in another row", moved.ID)
	}
}

func TestKeyring_RotateAfterLostMasterKey(t *testing.T) {
	t.Parallel()
	// Keys whose master key is lost can be replaced. The new ones sign, also while the old ones are
	// still published.
	f := newFixture(t, Options{})
	old, err := f.keyring.Keys(t.Context(), platform.Sandbox, f.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.store.keys {
		f.store.keys[i].Sealed = []byte("by a lost key")
	}
	other := NewKeyring(f.store, f.secrets, fakeSealer{}, f.clock, randomIDs{})
	if _, err := other.current(t.Context(), platform.Sandbox); err == nil {
		t.Fatal("the keys can still be opened")
	}
	f.clock.advance(time.Second)

	if err := other.Rotate(t.Context(), platform.Sandbox, f.clock.Now(), time.Hour); err != nil {
		t.Fatal(err)
	}

	keys, err := other.Keys(t.Context(), platform.Sandbox, f.clock.Now())
	if err != nil || len(keys) != 4 || keys[0].ID == old[0].ID {
		t.Errorf("published %+v, %v", keys, err)
	}
	if set, err := other.current(t.Context(), platform.Sandbox); err != nil || len(set.ed25519) != 1 {
		t.Errorf("the new keys do not sign: %v", err)
	}
}
