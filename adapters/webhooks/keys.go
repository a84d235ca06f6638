package webhooks

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/core/platform"
	"causeway/ports"
)

// openKeys decrypts stored keys.
func (k *Keyring) openKeys(stored []ports.SealedWebhookKey, now time.Time) (*keySet, error) {
	set := &keySet{loadedAt: now, stored: stored}
	newestFirst := slices.SortedStableFunc(slices.Values(stored), func(a, b ports.SealedWebhookKey) int {
		return cmp.Or(trueFirst(a.ValidUntil.IsZero(), b.ValidUntil.IsZero()), b.ValidFrom.Compare(a.ValidFrom))
	})
	for _, s := range newestFirst {
		plain, err := k.sealer.Open(s.Sealed, sealContext(s))
		if err != nil && !s.ValidUntil.IsZero() {
			continue // it was replaced because it cannot be opened; the current keys sign without it
		}
		if err != nil {
			return nil, fmt.Errorf("open webhook key %s: %w", s.ID, err)
		}
		parsed, err := x509.ParsePKCS8PrivateKey(plain)
		if err != nil {
			return nil, fmt.Errorf("read webhook key %s: %w", s.ID, err)
		}
		switch private := parsed.(type) {
		case *ecdsa.PrivateKey:
			if set.ecdsa == nil {
				set.ecdsa, set.ecdsaID = private, s.ID
			}
		case ed25519.PrivateKey:
			set.ed25519 = append(set.ed25519, signingKey{private, s.ValidUntil})
		}
	}
	if set.ecdsa == nil || len(set.ed25519) == 0 {
		return nil, errors.New("a webhook key does not have the algorithm that is stored with it")
	}
	return set, nil
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func (k *Keyring) generate(env platform.Environment, now time.Time, algorithms []ports.KeyAlgorithm) ([]ports.SealedWebhookKey, error) {
	var generated []ports.SealedWebhookKey
	for _, algorithm := range algorithms {
		s := ports.SealedWebhookKey{ID: k.ids.New(now), Environment: env, Algorithm: algorithm, ValidFrom: now}
		var public, private any
		if algorithm == ports.ECDSAP256 {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				return nil, err
			}
			public, private = key.Public(), key
		} else {
			key, secret, err := ed25519.GenerateKey(rand.Reader)
			if err != nil {
				return nil, err
			}
			public, private = key, secret
		}
		plain, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			return nil, err
		}
		if s.Public, err = x509.MarshalPKIXPublicKey(public); err != nil {
			return nil, err
		}
		if s.Sealed, err = k.sealer.Seal(plain, sealContext(s)); err != nil {
			return nil, err
		}
		generated = append(generated, s)
	}
	return generated, nil
}

// sealContext binds a sealed key to its row.
func sealContext(s ports.SealedWebhookKey) []byte {
	return fmt.Appendf(nil, "webhook key %s %s %s", s.ID, s.Environment, s.Algorithm)
}

// publicKey returns the public half in the formats that verifiers read.
func publicKey(s ports.SealedWebhookKey) (ports.WebhookKey, error) {
	public := ports.WebhookKey{
		ID: s.ID, Environment: s.Environment, Algorithm: s.Algorithm, ValidFrom: s.ValidFrom, ValidUntil: s.ValidUntil,
		PEM: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: s.Public})),
	}
	key, err := x509.ParsePKIXPublicKey(s.Public)
	if err != nil {
		return ports.WebhookKey{}, fmt.Errorf("read public webhook key %s: %w", s.ID, err)
	}
	if raw, ok := key.(ed25519.PublicKey); ok {
		public.Standard = "whpk_" + base64.StdEncoding.EncodeToString(raw)
	}
	return public, nil
}
