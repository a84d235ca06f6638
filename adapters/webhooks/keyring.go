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

// refreshInterval is how long cached keys are used before they are read again. For that long a
// process may sign with a key after another process replaced it.
const refreshInterval = time.Minute

// Keyring holds the signing keys of both environments and the secrets of platforms. It generates the
// first keys when they are needed, replaces keys on request, and caches all in memory. It is safe for
// concurrent use.
type Keyring struct {
	store        ports.WebhookKeyStore
	secretReader ports.WebhookSecretReader
	sealer       ports.Sealer
	clock        ports.Clock
	ids          ports.IDs
	caches       map[platform.Environment]*keyCache
	secretCache  secretCache

	bodySignatures bodySignatures
}

var _ ports.WebhookKeys = (*Keyring)(nil)

// NewKeyring returns a keyring on a store.
func NewKeyring(store ports.WebhookKeyStore, secrets ports.WebhookSecretReader, sealer ports.Sealer, clock ports.Clock,
	ids ports.IDs) *Keyring {
	return &Keyring{store: store, secretReader: secrets, sealer: sealer, clock: clock, ids: ids, caches: map[platform.Environment]*keyCache{
		platform.Sandbox: {}, platform.Production: {},
	}}
}

// keyCache caches the keys of one environment.
type keyCache struct {
	loading sync.Mutex
	keys    atomic.Pointer[keySet]
}

// keySet is an immutable set of keys, ready for signing.
type keySet struct {
	loadedAt time.Time
	stored   []ports.SealedWebhookKey // newest first
	ecdsa    *ecdsa.PrivateKey
	ecdsaID  uuid.UUID
	// ed25519 is the current key, and then the replaced keys that are still valid. All of them
	// sign, and a receiver uses the signature that it can verify.
	ed25519 []signingKey
}

type signingKey struct {
	private    ed25519.PrivateKey
	validUntil time.Time
}

// Keys returns the public halves of all keys that are valid now.
func (k *Keyring) Keys(ctx context.Context, env platform.Environment, now time.Time) ([]ports.WebhookKey, error) {
	set, err := k.load(ctx, env)
	if err != nil {
		return nil, err
	}
	var public []ports.WebhookKey
	for _, s := range set.stored {
		if s.ValidUntil.IsZero() || s.ValidUntil.After(now) {
			key, err := publicKey(s)
			if err != nil {
				return nil, err
			}
			public = append(public, key)
		}
	}
	return public, nil
}

// Rotate replaces both keys of an environment. It does not need the private halves of the present
// ones.
func (k *Keyring) Rotate(ctx context.Context, env platform.Environment, now time.Time, overlap time.Duration) error {
	for range 3 { // another process may rotate at the same time
		stored, err := k.store.WebhookKeys(ctx, env, now)
		if err != nil {
			return err
		}
		var replacedIDs []uuid.UUID
		for _, s := range stored {
			if s.ValidUntil.IsZero() {
				replacedIDs = append(replacedIDs, s.ID)
			}
		}
		newKeys, err := k.generate(env, now, algorithms)
		if err != nil {
			return err
		}
		replaced, err := k.store.ReplaceWebhookKeys(ctx, replacedIDs, now.Add(overlap), newKeys)
		if err != nil {
			return err
		}
		if replaced {
			_, err := k.load(ctx, env)
			return err
		}
	}
	return errors.New("another process keeps replacing the webhook keys; try again")
}

var algorithms = []ports.KeyAlgorithm{ports.ECDSAP256, ports.Ed25519}

// Forget makes every key and secret be read again. It is called when the database may have lost some: a
// version of secrets may then stand for others.
func (k *Keyring) Forget() {
	for _, cache := range k.caches {
		cache.keys.Store(nil)
	}
	k.secretCache.clear()
}

// current returns the keys to sign with. Cached keys that are due for a refresh are still used while
// one caller refreshes them, and if the store cannot be read.
func (k *Keyring) current(ctx context.Context, env platform.Environment) (*keySet, error) {
	cache := k.caches[env]
	if cache == nil {
		return nil, fmt.Errorf("there are no webhook keys for the environment %q", env)
	}
	cached := cache.keys.Load()
	if cached != nil && k.clock.Now().Sub(cached.loadedAt) < refreshInterval {
		return cached, nil
	}
	if cached != nil && !cache.loading.TryLock() {
		return cached, nil
	}
	if cached == nil {
		cache.loading.Lock()
	}
	defer cache.loading.Unlock()
	if refreshed := cache.keys.Load(); refreshed != cached && refreshed != nil {
		return refreshed, nil
	}
	loaded, err := k.read(ctx, env)
	if err != nil && cached != nil {
		return cached, nil
	}
	if err != nil {
		return nil, err
	}
	cache.keys.Store(loaded)
	return loaded, nil
}

// load reads the keys from the store and caches them.
func (k *Keyring) load(ctx context.Context, env platform.Environment) (*keySet, error) {
	cache := k.caches[env]
	if cache == nil {
		return nil, fmt.Errorf("there are no webhook keys for the environment %q", env)
	}
	cache.loading.Lock()
	defer cache.loading.Unlock()
	set, err := k.read(ctx, env)
	if err == nil {
		cache.keys.Store(set)
	}
	return set, err
}

// read reads the keys from the store, and generates missing ones.
func (k *Keyring) read(ctx context.Context, env platform.Environment) (*keySet, error) {
	for range 3 { // another process may generate them at the same time
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
		newKeys, err := k.generate(env, now, missing)
		if err != nil {
			return nil, err
		}
		if _, err := k.store.ReplaceWebhookKeys(ctx, nil, now, newKeys); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the webhook keys could not be generated")
}
