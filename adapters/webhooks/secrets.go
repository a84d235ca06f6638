package webhooks

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// secretPrefix begins a secret in the format of Standard Webhooks.
const secretPrefix = "whsec_"

// NewSecret returns a new secret of 256 random bits, in the format of Standard Webhooks and sealed.
func (k *Keyring) NewSecret(p ident.Platform, id ident.WebhookSecret) (secret string, sealed []byte, err error) {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	sealed, err = k.sealer.Seal(key[:], secretSealContext(p, id))
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:]), sealed, err
}

// SealAgain implements platforms.Secrets.
func (k *Keyring) SealAgain(s ports.SealedWebhookSecret, from, to ident.Platform) (ports.SealedWebhookSecret, error) {
	key, err := k.sealer.Open(s.Sealed, secretSealContext(from, s.ID))
	if err != nil {
		return s, fmt.Errorf("open webhook secret %s: %w", s.ID, err)
	}
	s.Sealed, err = k.sealer.Seal(key, secretSealContext(to, s.ID))
	return s, err
}

// secretSealContext binds a sealed secret to its row.
func secretSealContext(p ident.Platform, id ident.WebhookSecret) []byte {
	return fmt.Appendf(nil, "webhook secret %s %s", p, id)
}

// maxCachedSecrets is how many platforms' secrets are cached.
const maxCachedSecrets = 10_000

// secretCache caches the secrets of platforms. It is safe for concurrent use.
type secretCache struct {
	mu         sync.RWMutex
	byPlatform map[ident.Platform]*secretSet
	cleared    int // how often
}

// secretSet is an immutable set of secrets, newest first.
type secretSet struct {
	version int64
	secrets []signingSecret
}

type signingSecret struct {
	platform.WebhookSecret
	key []byte
}

// secrets returns the secrets that sign a delivery, newest first. They are read again when their
// version has changed, so that every process uses a new secret, and none a deleted one, as soon as it
// reads events after the change.
func (k *Keyring) secrets(ctx context.Context, e ports.Endpoint, at time.Time) ([][]byte, error) {
	if !e.Signatures.HMAC || e.SecretsVersion == 0 {
		return nil, nil
	}
	set, cleared := k.secretCache.get(e.Platform)
	if set == nil || set.version != e.SecretsVersion {
		stored, err := k.secretReader.WebhookSecrets(ctx, e.Platform)
		if err != nil {
			return nil, err
		}
		if set, err = k.openSecrets(e, stored); err != nil {
			return nil, err
		}
		k.secretCache.put(e.Platform, set, cleared)
	}
	var valid [][]byte
	for _, s := range set.secrets {
		if s.ValidAt(at) {
			valid = append(valid, s.key)
		}
	}
	return valid, nil
}

func (k *Keyring) openSecrets(e ports.Endpoint, stored []ports.SealedWebhookSecret) (*secretSet, error) {
	set := &secretSet{version: e.SecretsVersion}
	for _, s := range stored {
		key, err := k.sealer.Open(s.Sealed, secretSealContext(e.Platform, s.ID))
		if err != nil {
			return nil, fmt.Errorf("open webhook secret %s: %w", s.ID, err)
		}
		set.secrets = append(set.secrets, signingSecret{s.WebhookSecret, key})
	}
	return set, nil
}

// get returns the secrets of a platform, nil if they are not cached, and how often the cache was cleared.
func (c *secretCache) get(p ident.Platform) (set *secretSet, cleared int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byPlatform[p], c.cleared
}

// put caches secrets, unless the cache was cleared while they were read.
func (c *secretCache) put(p ident.Platform, set *secretSet, cleared int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cleared != cleared {
		return
	}
	if c.byPlatform == nil || len(c.byPlatform) >= maxCachedSecrets {
		c.byPlatform = map[ident.Platform]*secretSet{}
	}
	c.byPlatform[p] = set
}

func (c *secretCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byPlatform = nil
	c.cleared++
}
