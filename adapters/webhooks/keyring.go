package webhooks

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"causeway/core/platform"
	"causeway/ports"
)

// refreshInterval is how long keys are used before the store is asked for newer ones: so
// long may another process sign with a key after it was replaced.
const refreshInterval = time.Minute

// Keyring holds the signing keys of both environments: it makes the first ones when
// they are first needed, replaces them on request, and keeps them ready in memory. It
// is safe for concurrent use.
type Keyring struct {
	store  ports.WebhookKeyStore
	sealer ports.Sealer
	clock  ports.Clock
	ids    ports.IDs
	caches map[platform.Environment]*keyCache
}

var _ ports.WebhookKeys = (*Keyring)(nil)

// NewKeyring makes a keyring on a store.
func NewKeyring(store ports.WebhookKeyStore, sealer ports.Sealer, clock ports.Clock, ids ports.IDs) *Keyring {
	return &Keyring{store: store, sealer: sealer, clock: clock, ids: ids, caches: map[platform.Environment]*keyCache{
		platform.Sandbox: {}, platform.Production: {},
	}}
}

// keyCache is what is in memory of one environment.
type keyCache struct {
	loading sync.Mutex
	keys    atomic.Pointer[keySet]
}

// keySet is a ready set of keys; it does not change.
type keySet struct {
	loadedAt time.Time
	stored   []ports.SealedWebhookKey // newest first
	ecdsa    *ecdsa.PrivateKey
	// ed25519 is the one that signs, then those it replaced that are still valid: a
	// receiver takes whichever signature it can verify.
	ed25519 []signingKey
}

type signingKey struct {
	private    ed25519.PrivateKey
	validUntil time.Time
}

// Keys are the public halves of all keys that are valid now.
func (k *Keyring) Keys(ctx context.Context, env platform.Environment, now time.Time) ([]ports.WebhookKey, error) {
	set, err := k.load(ctx, env)
	if err != nil {
		return nil, err
	}
	var public []ports.WebhookKey
	for _, s := range set.stored {
		if s.ValidUntil.IsZero() || s.ValidUntil.After(now) {
			one, err := publicKey(s)
			if err != nil {
				return nil, err
			}
			public = append(public, one)
		}
	}
	return public, nil
}

// Rotate replaces both keys of an environment.
func (k *Keyring) Rotate(ctx context.Context, env platform.Environment, now time.Time, overlap time.Duration) error {
	for range 3 { // another process may do the same at the same time
		set, err := k.load(ctx, env)
		if err != nil {
			return err
		}
		var ends []uuid.UUID
		for _, s := range set.stored {
			if s.ValidUntil.IsZero() {
				ends = append(ends, s.ID)
			}
		}
		adds, err := k.generate(env, now, algorithms)
		if err != nil {
			return err
		}
		replaced, err := k.store.ReplaceWebhookKeys(ctx, ends, now.Add(overlap), adds)
		if err != nil {
			return err
		}
		if replaced {
			_, err := k.load(ctx, env)
			return err
		}
	}
	return errors.New("the webhook keys are being replaced by somebody else")
}

var algorithms = []ports.KeyAlgorithm{ports.ECDSAP256, ports.Ed25519}

// current is the set to sign with. Keys that have been in memory for a while are
// still used while one caller looks for newer ones, and when the store is away.
func (k *Keyring) current(ctx context.Context, env platform.Environment) (*keySet, error) {
	r := k.caches[env]
	if r == nil {
		return nil, fmt.Errorf("there are no webhook keys for the environment %q", env)
	}
	held := r.keys.Load()
	if held != nil && k.clock.Now().Sub(held.loadedAt) < refreshInterval {
		return held, nil
	}
	if held != nil && !r.loading.TryLock() {
		return held, nil
	}
	if held == nil {
		r.loading.Lock()
	}
	defer r.loading.Unlock()
	if again := r.keys.Load(); again != held {
		return again, nil
	}
	fresh, err := k.read(ctx, env)
	if err != nil && held != nil {
		return held, nil
	}
	if err != nil {
		return nil, err
	}
	r.keys.Store(fresh)
	return fresh, nil
}

// load reads the keys whatever is in memory.
func (k *Keyring) load(ctx context.Context, env platform.Environment) (*keySet, error) {
	r := k.caches[env]
	if r == nil {
		return nil, fmt.Errorf("there are no webhook keys for the environment %q", env)
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	set, err := k.read(ctx, env)
	if err == nil {
		r.keys.Store(set)
	}
	return set, err
}

// read loads the keys from the store, and makes what is missing there.
func (k *Keyring) read(ctx context.Context, env platform.Environment) (*keySet, error) {
	for range 3 { // another process may make them at the same time
		now := k.clock.Now()
		stored, err := k.store.WebhookKeys(ctx, env, now)
		if err != nil {
			return nil, err
		}
		missing := slices.DeleteFunc(slices.Clone(algorithms), func(a ports.KeyAlgorithm) bool {
			return slices.ContainsFunc(stored, func(s ports.SealedWebhookKey) bool { return s.Algorithm == a && s.ValidUntil.IsZero() })
		})
		if len(missing) == 0 {
			return k.openKeys(stored, now)
		}
		adds, err := k.generate(env, now, missing)
		if err != nil {
			return nil, err
		}
		if _, err := k.store.ReplaceWebhookKeys(ctx, nil, now, adds); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the webhook keys could not be made")
}
