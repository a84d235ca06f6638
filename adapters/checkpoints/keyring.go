// Package heads is the outside of the ledger's log: it signs heads with a key that is
// sealed at rest, and brings them to a folder or to an address outside of the database.
//
// It never decides what a head says, and it never shows a private key.
package checkpoints

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"causeway/ledger"
	"causeway/ports"
)

// Keyring signs heads with the key that has no end, and makes the first one when it is
// needed. Heads are few, so it asks the store each time: a key that was replaced signs
// no more.
type Keyring struct {
	store  ports.CheckpointKeyStore
	sealer ports.Sealer
	clock  ports.Clock
	ids    ports.IDs
}

var _ ports.CheckpointSigner = (*Keyring)(nil)

// NewKeyring makes a keyring on a store.
func NewKeyring(store ports.CheckpointKeyStore, sealer ports.Sealer, clock ports.Clock, ids ports.IDs) *Keyring {
	return &Keyring{store, sealer, clock, ids}
}

// Sign is as ports.HeadSigner says.
func (k *Keyring) Sign(ctx context.Context, head ledger.Checkpoint) (string, error) {
	keys, err := k.ensureKeys(ctx)
	if err != nil {
		return "", err
	}
	private, err := k.openKey(keys[0])
	if err != nil {
		return "", err
	}
	signer, err := newSigner(ledger.LogOrigin(head.Platform), private)
	if err != nil {
		return "", err
	}
	signed, err := note.Sign(&note.Note{Text: head.Text()}, signer)
	return string(signed), err
}

// Keys is as ports.HeadSigner says.
func (k *Keyring) Keys(ctx context.Context) ([]ports.CheckpointKey, error) {
	keys, err := k.ensureKeys(ctx)
	public := make([]ports.CheckpointKey, len(keys))
	for i, s := range keys {
		public[i] = s.CheckpointKey
	}
	return public, err
}

// Rotate makes a new key that signs from now on. What the one before it signed can be
// verified for good.
func (k *Keyring) Rotate(ctx context.Context) (ports.CheckpointKey, error) {
	for range maxAttempts {
		keys, err := k.store.CheckpointKeys(ctx)
		if err != nil {
			return ports.CheckpointKey{}, err
		}
		var ends uuid.UUID
		if len(keys) > 0 {
			ends = keys[0].ID
		}
		fresh, err := k.generateKey()
		if err != nil {
			return ports.CheckpointKey{}, err
		}
		replaced, err := k.store.ReplaceCheckpointKey(ctx, ends, fresh)
		if err != nil || replaced {
			return fresh.CheckpointKey, err
		}
	}
	return ports.CheckpointKey{}, errors.New("the key of the ledger's log is being replaced by somebody else")
}

// maxAttempts is how often somebody else may be quicker.
const maxAttempts = 3

// ensureKeys are all there are, the one that signs first; it is made when there is none.
func (k *Keyring) ensureKeys(ctx context.Context) ([]ports.SealedCheckpointKey, error) {
	for range maxAttempts {
		keys, err := k.store.CheckpointKeys(ctx)
		if err != nil {
			return nil, err
		}
		if len(keys) > 0 && keys[0].ValidUntil.IsZero() {
			return keys, nil
		}
		fresh, err := k.generateKey()
		if err != nil {
			return nil, err
		}
		if _, err := k.store.ReplaceCheckpointKey(ctx, uuid.Nil, fresh); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the key of the ledger's log could not be made")
}

func (k *Keyring) generateKey() (ports.SealedCheckpointKey, error) {
	now := k.clock.Now()
	fresh := ports.SealedCheckpointKey{CheckpointKey: ports.CheckpointKey{ID: k.ids.New(now), ValidFrom: now}}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fresh, err
	}
	fresh.Public = [32]byte(public)
	fresh.Sealed, err = k.sealer.Seal(private.Seed(), sealContext(fresh.ID))
	return fresh, err
}

func (k *Keyring) openKey(s ports.SealedCheckpointKey) (ed25519.PrivateKey, error) {
	seed, err := k.sealer.Open(s.Sealed, sealContext(s.ID))
	if err != nil {
		return nil, fmt.Errorf("open key %s of the ledger's log: %w", s.ID, err)
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("key %s of the ledger's log is not one", s.ID)
	}
	private := ed25519.NewKeyFromSeed(seed)
	if !private.Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(s.Public[:])) {
		return nil, fmt.Errorf("key %s of the ledger's log does not belong to its public half", s.ID)
	}
	return private, nil
}

// sealContext binds a sealed key to its row.
func sealContext(id uuid.UUID) []byte { return fmt.Appendf(nil, "ledger log key %s", id) }

// newSigner signs under a name, in the way of the library, which takes keys as texts.
func newSigner(name string, private ed25519.PrivateKey) (note.Signer, error) {
	public, err := note.NewEd25519VerifierKey(name, private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	parts := strings.Split(public, "+") // name, hash, key
	const algorithm = 1                 // Ed25519
	secret := base64.StdEncoding.EncodeToString(append([]byte{algorithm}, private.Seed()...))
	return note.NewSigner("PRIVATE+KEY+" + parts[0] + "+" + parts[1] + "+" + secret)
}
