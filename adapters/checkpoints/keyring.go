// Package checkpoints signs checkpoints of the ledger log with a key that is encrypted at rest,
// publishes them to a folder or a URL outside of the database, and reads them back.
//
// It does not decide the content of a checkpoint, and it never returns a private key.
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

// Keyring signs checkpoints with the current key, and creates the first key on first use. It
// reads the key from the store each time, so that a replaced key is not used any more.
type Keyring struct {
	store  ports.CheckpointKeyStore
	sealer ports.Sealer
	clock  ports.Clock
	ids    ports.IDs
}

var _ ports.CheckpointSigner = (*Keyring)(nil)

// NewKeyring returns a keyring on a store.
func NewKeyring(store ports.CheckpointKeyStore, sealer ports.Sealer, clock ports.Clock, ids ports.IDs) *Keyring {
	return &Keyring{store, sealer, clock, ids}
}

// Sign implements ports.CheckpointSigner.
func (k *Keyring) Sign(ctx context.Context, checkpoint ledger.Checkpoint) (string, error) {
	keys, err := k.ensureKeys(ctx)
	if err != nil {
		return "", err
	}
	private, err := k.openKey(keys[0])
	if err != nil {
		return "", err
	}
	signer, err := newSigner(checkpoint.Origin(), private)
	if err != nil {
		return "", err
	}
	signed, err := note.Sign(&note.Note{Text: checkpoint.Text()}, signer)
	return string(signed), err
}

// Keys implements ports.CheckpointSigner.
func (k *Keyring) Keys(ctx context.Context) ([]ports.CheckpointKey, error) {
	keys, err := k.ensureKeys(ctx)
	public := make([]ports.CheckpointKey, len(keys))
	for i, s := range keys {
		public[i] = s.CheckpointKey
	}
	return public, err
}

// Rotate creates a new key, which signs from now on. Signatures of earlier keys stay valid.
func (k *Keyring) Rotate(ctx context.Context) (ports.CheckpointKey, error) {
	for range maxAttempts {
		keys, err := k.store.CheckpointKeys(ctx)
		if err != nil {
			return ports.CheckpointKey{}, err
		}
		var current uuid.UUID
		if len(keys) > 0 {
			current = keys[0].ID
		}
		fresh, err := k.generateKey()
		if err != nil {
			return ports.CheckpointKey{}, err
		}
		replaced, err := k.store.ReplaceCheckpointKey(ctx, current, fresh)
		if err != nil || replaced {
			return fresh.CheckpointKey, err
		}
	}
	return ports.CheckpointKey{}, errors.New("the key of the ledger log is being replaced by another process")
}

// maxAttempts is how often another process may replace the key first.
const maxAttempts = 3

// ensureKeys returns all keys, the current one first, which it creates if there is none.
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
	return nil, errors.New("cannot create a key of the ledger log")
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
		return nil, fmt.Errorf("decrypt key %s of the ledger log: %w", s.ID, err)
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("key %s of the ledger log is not an Ed25519 key", s.ID)
	}
	private := ed25519.NewKeyFromSeed(seed)
	if !private.Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(s.Public[:])) {
		return nil, fmt.Errorf("key %s of the ledger log does not match its public key", s.ID)
	}
	return private, nil
}

// sealContext binds an encrypted key to its row.
func sealContext(id uuid.UUID) []byte { return fmt.Appendf(nil, "ledger log key %s", id) }

// newSigner returns a signer under a name. The library takes keys as text.
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
