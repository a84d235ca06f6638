package uma

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	eciesgo "github.com/ecies/go/v2"
	"github.com/sirupsen/logrus"
	"github.com/uma-universal-money-address/uma-go-sdk/uma/protocol"

	"causeway/core/ident"
	"causeway/core/uma"
	"causeway/ports"
)

// Config is what a provider needs.
type Config struct {
	Store  ports.UMAStore
	Client *Client
	Policy uma.Policy
	// Certificates are those of keys of platforms; others are published without.
	Certificates []CertificateChain
	// Settles returns NOT_IMPLEMENTED if the payments of a platform cannot be settled.
	Settles func(ident.Platform) error
	Clock   ports.Clock
	IDs     ports.IDs
	Log     *logrus.Entry
}

// Provider is the provider of each production platform, at the platform's UMA domain.
type Provider struct{ Config }

// New returns the providers.
func New(c Config) *Provider { return &Provider{c} }

// ring returns the keys of a platform, of which one is active. It makes the first, and the next ones when they are due.
func (p *Provider) ring(ctx context.Context, platform ident.Platform) (uma.KeyRing, error) {
	for range 3 { // another process may make them at the same time
		now := p.Clock.Now()
		ring, err := p.Store.UMAKeys(ctx, platform)
		if err != nil {
			return nil, err
		}
		if _, _, found := ring.Active(now); found {
			if ring.Due(now) {
				if err := p.rotate(ctx, platform, ring, now); err != nil {
					return nil, err
				}
			}
			return ring, nil
		}
		if _, err := p.addKeys(ctx, platform, ring, now); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the UMA keys could not be made")
}

func (p *Provider) addKeys(ctx context.Context, platform ident.Platform, ring uma.KeyRing, now time.Time) (uma.KeyPair, error) {
	pair := uma.KeyPair{ID: p.IDs.New(now), Platform: platform, Number: ring.NextNumber(), ActiveFrom: ring.NextActiveFrom(now),
		CreatedAt: now}
	for _, key := range []*[]byte{&pair.Signing, &pair.Encryption} {
		made, err := secp256k1.GeneratePrivateKeyFromRand(rand.Reader)
		if err != nil {
			return pair, err
		}
		*key = made.Serialize()
	}
	_, err := p.Store.AddUMAKeys(ctx, pair)
	return pair, err
}

// rotate makes the next keys of a platform, which take the place of the present ones when no other provider may still have kept
// these. It deletes keys that have no use any more.
func (p *Provider) rotate(ctx context.Context, platform ident.Platform, ring uma.KeyRing, now time.Time) error {
	if _, err := p.addKeys(ctx, platform, ring, now); err != nil {
		return err
	}
	var outdated []uma.KeyPair
	for _, k := range ring {
		if ring.Outdated(k, now) {
			outdated = append(outdated, k)
		}
	}
	if len(outdated) == 0 {
		return nil
	}
	return p.Store.DeleteUMAKeys(ctx, platform, outdated)
}

// signature is the signature of a message, and what makes that unique.
type signature struct {
	uma.Stamp
	text string
}

// sign signs a message of a platform.
func (p *Provider) sign(ctx context.Context, platform ident.Platform, addresses ...string) (signature, error) {
	ring, err := p.ring(ctx, platform)
	if err != nil {
		return signature{}, err
	}
	now := p.Clock.Now()
	active, _, _ := ring.Active(now)
	s := signature{Stamp: uma.Stamp{Nonce: p.IDs.New(now).String(), Seconds: now.Unix()}}
	s.text = uma.Sign(active.Signing, uma.SignedText(s.Stamp, addresses...))
	return s, nil
}

// verify checks a message of another provider: that it is fresh, that its signature is right, and that it was not received before.
// What it learns of the provider is stored only then. The error is a uma.Refusal if the message is not accepted.
func (p *Provider) verify(ctx context.Context, platform ident.Platform, domain string, s signature, addresses ...string) (
	uma.PeerKeys, error) {
	if err := s.Check(p.Clock.Now()); err != nil {
		return uma.PeerKeys{}, err
	}
	keys, fetched, err := p.peerKeys(ctx, platform, domain)
	if err != nil {
		return uma.PeerKeys{}, err
	}
	if err := uma.Verify(keys.Signing, uma.SignedText(s.Stamp, addresses...), s.text); err != nil {
		return uma.PeerKeys{}, err
	}
	fresh, err := p.Store.SaveUMANonce(ctx, platform, domain, s.Nonce, s.NonceUntil())
	if err == nil && !fresh {
		err = uma.Refuse(uma.InvalidNonce, "a message with this signatureNonce was received before")
	}
	if err == nil && fetched {
		err = p.Store.SaveUMAPeer(ctx, platform, keys)
	}
	return keys, err
}

const keyTimeout = 5 * time.Second

// peerKeys returns the keys of another provider, and whether they were just read from it.
func (p *Provider) peerKeys(ctx context.Context, platform ident.Platform, domain string) (uma.PeerKeys, bool, error) {
	now := p.Clock.Now()
	kept, found, err := p.Store.UMAPeer(ctx, platform, domain)
	if err != nil || found && now.Before(kept.Until) {
		return kept, false, err
	}
	failed := func(err error) (uma.PeerKeys, bool, error) {
		if _, is := errors.AsType[*uma.Refusal](err); is {
			return uma.PeerKeys{}, false, err
		}
		return uma.PeerKeys{}, false, uma.Refuse(uma.PubkeyFetchFailed, fmt.Sprintf("the keys of %s cannot be read: %v", domain, err))
	}
	answer, err := p.Client.get(ctx, "https://"+domain+"/.well-known/lnurlpubkey", keyTimeout)
	if err != nil {
		return failed(err)
	}
	if answer.status != 200 {
		return failed(fmt.Errorf("the answer has the status %d", answer.status))
	}
	keys, err := parsePublicKeys(answer.body, domain, now)
	if err != nil {
		return failed(err)
	}
	return keys, true, nil
}

// parsePublicKeys reads the keys of another provider, which may be in certificates.
func parsePublicKeys(body []byte, domain string, now time.Time) (keys uma.PeerKeys, err error) {
	defer func() {
		if recover() != nil { // the SDK's reader of certificates
			err = errors.New("they are not as the protocol has them")
		}
	}()
	var answer protocol.PubKeyResponse
	if err := json.Unmarshal(body, &answer); err != nil {
		return keys, err
	}
	keys.Domain = domain
	if keys.Signing, err = answer.SigningPubKey(); err != nil {
		return keys, err
	}
	if keys.Encryption, err = answer.EncryptionPubKey(); err != nil {
		return keys, err
	}
	if !uma.IsPublicKey(keys.Signing) || !uma.IsPublicKey(keys.Encryption) {
		return keys, errors.New("they are not keys of secp256k1")
	}
	var said time.Time
	if answer.ExpirationTimestamp != nil {
		said = time.Unix(*answer.ExpirationTimestamp, 0)
	}
	keys.Until = uma.KeptUntil(said, now)
	for _, certified := range []*string{answer.SigningCertChain, answer.EncryptionCertChain} {
		if certified == nil {
			continue
		}
		chain, err := ReadCertificateChain([]byte(*certified))
		if err == nil {
			err = keys.CheckCertificate(chain.from, chain.until, now)
		}
		if err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// encrypt encrypts a text to another provider, in hexadecimal.
func encrypt(to uma.PeerKeys, text []byte) (string, error) {
	key, err := eciesgo.NewPublicKeyFromBytes(to.Encryption)
	if err != nil {
		return "", err
	}
	encrypted, err := eciesgo.Encrypt(key, text)
	return hex.EncodeToString(encrypted), err
}

// decrypt returns what another provider has encrypted to a platform.
func (p *Provider) decrypt(ctx context.Context, platform ident.Platform, text string) (string, error) {
	refused := uma.Refuse(uma.InvalidInput, "encryptedTravelRuleInfo is not encrypted to the present keys")
	encrypted, err := hex.DecodeString(text)
	if err != nil {
		return "", refused
	}
	ring, err := p.ring(ctx, platform)
	if err != nil {
		return "", err
	}
	for _, pair := range ring.Decrypting(p.Clock.Now()) {
		if plain, err := eciesgo.Decrypt(eciesgo.NewPrivateKeyFromBytes(pair.Encryption), encrypted); err == nil {
			return string(plain), nil
		}
	}
	return "", refused
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
