package encryption

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"causeway/ports"
)

// A value sealed with a data key is a version, the id of the data key, a nonce, and the ciphertext
// with its tag.
const (
	dataVersion      = 2
	dataPrefixLength = 1 + len(uuid.UUID{})
	nonceLength      = 12
)

// DataKeysInterval is how soon every process uses a new data key.
const DataKeysInterval = 10 * time.Second

// maxKeysAge is how long after they were last read the keys encrypt new values. removeAfter, which is
// longer, is how long a data key was replaced before it can be removed. So no process encrypts with a
// key that was removed because nothing used it.
const (
	maxKeysAge  = 12 * time.Hour
	removeAfter = 24 * time.Hour
)

// reloadTimeout is how long a caller, which may hold locks, waits for keys to be read again.
const reloadTimeout = time.Second

// DataKeys implements ports.Cipher with data keys that are stored encrypted under the master key.
// It is safe for concurrent use.
type DataKeys struct {
	store  ports.DataKeyStore
	master ports.Sealer
	clock  ports.Clock

	loading   sync.Mutex
	loaded    atomic.Pointer[dataKeySet]
	forgotten atomic.Int64 // calls of Forget
}

var _ ports.Cipher = (*DataKeys)(nil)

// dataKeySet is an immutable set of keys.
type dataKeySet struct {
	readAt   time.Time       // or last tried
	storedAt time.Time       // when the store had these keys
	newest   ports.NewestKey // zero if there is no data key
	keys     map[uuid.UUID][]byte
	indexKey []byte // nil if there is none
}

// NewDataKeys returns data keys on a store.
func NewDataKeys(store ports.DataKeyStore, master ports.Sealer, clock ports.Clock) *DataKeys {
	return &DataKeys{store: store, master: master, clock: clock}
}

// Load reads the keys, unless they were read. The error is ErrCannotDecrypt if they are encrypted
// with another master key.
func (d *DataKeys) Load(ctx context.Context) error {
	_, err := d.current(ctx)
	return err
}

// Seal implements ports.Cipher.
func (d *DataKeys) Seal(ctx context.Context, plain, row []byte) ([]byte, error) {
	set, err := d.current(ctx)
	if err != nil || set.newest.ID == uuid.Nil {
		return nil, err
	}
	if d.clock.Now().Sub(set.storedAt) > maxKeysAge {
		if set, err = d.read(ctx, set); err != nil {
			return nil, err
		}
	}
	sealed := make([]byte, dataPrefixLength+nonceLength, dataPrefixLength+nonceLength+len(plain)+16)
	sealed[0] = dataVersion
	copy(sealed[1:], set.newest.ID[:])
	_, _ = rand.Read(sealed[dataPrefixLength:]) // never fails
	aead, err := rowAEAD(set.keys[set.newest.ID], row)
	if err != nil {
		return nil, err
	}
	return aead.Seal(sealed, sealed[dataPrefixLength:], plain, associatedData(sealed[:dataPrefixLength], row)), nil
}

// Open implements ports.Cipher. A key that another process has just created is read first.
func (d *DataKeys) Open(ctx context.Context, sealed, row []byte) ([]byte, error) {
	if len(sealed) < dataPrefixLength+nonceLength || sealed[0] != dataVersion {
		return nil, ErrCannotDecrypt
	}
	set, err := d.current(ctx)
	if err != nil {
		return nil, err
	}
	id := uuid.UUID(sealed[1:dataPrefixLength])
	key, known := set.keys[id]
	if !known {
		if set, err = d.read(ctx, set); err != nil {
			return nil, err
		}
		if key, known = set.keys[id]; !known {
			return nil, ErrCannotDecrypt
		}
	}
	aead, err := rowAEAD(key, row)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, sealed[dataPrefixLength:dataPrefixLength+nonceLength], sealed[dataPrefixLength+nonceLength:],
		associatedData(sealed[:dataPrefixLength], row))
	if err != nil {
		return nil, ErrCannotDecrypt
	}
	return plain, nil
}

// NewestKey implements ports.Cipher.
func (d *DataKeys) NewestKey(ctx context.Context) (ports.NewestKey, error) {
	set, err := d.current(ctx)
	if err != nil {
		return ports.NewestKey{}, err
	}
	return set.newest, nil
}

// Fingerprint implements ports.Cipher.
func (d *DataKeys) Fingerprint(ctx context.Context, text string) (string, error) {
	set, err := d.current(ctx)
	if err != nil || set.indexKey == nil || strings.HasPrefix(text, fingerprintPrefix) {
		return text, err
	}
	mac := hmac.New(sha256.New, set.indexKey)
	mac.Write([]byte(text))
	return fingerprintPrefix + hex.EncodeToString(mac.Sum(nil)), nil
}

// fingerprintPrefix begins no plain fingerprint.
const fingerprintPrefix = "hmac-sha256:"

// Create implements ports.Cipher. The first call also creates the key of the fingerprints, which
// stays the same.
func (d *DataKeys) Create(ctx context.Context, id uuid.UUID) error {
	now := d.clock.Now()
	for _, purpose := range []ports.DataKeyPurpose{ports.IndexKey, ports.DataKey} {
		key := ports.SealedDataKey{ID: id, Purpose: purpose, Generation: ports.DataKeyGeneration, CreatedAt: now}
		var plain [KeyLength]byte
		_, _ = rand.Read(plain[:]) // never fails
		var err error
		if key.Sealed, err = d.master.Seal(plain[:], dataKeyContext(id, purpose)); err != nil {
			return err
		}
		if err := d.store.AddDataKey(ctx, key); err != nil {
			return err
		}
	}
	_, err := d.read(ctx, d.loaded.Load())
	return err
}

// Rewrap encrypts the data keys with the current master key.
func (d *DataKeys) Rewrap(ctx context.Context) error {
	stored, err := d.store.DataKeys(ctx)
	if err != nil {
		return err
	}
	for _, s := range stored {
		row := dataKeyContext(s.ID, s.Purpose)
		plain, err := d.master.Open(s.Sealed, row)
		if err != nil {
			return fmt.Errorf("data key %s: %w", s.ID, err)
		}
		if s.Sealed, err = d.master.Seal(plain, row); err != nil {
			return err
		}
		if err := d.store.ReplaceDataKey(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// CheckRemovable returns an error that says why a data key cannot be removed yet, if that does not
// depend on whether a value is encrypted with it. keys are all keys of the store.
func CheckRemovable(keys []ports.SealedDataKey, id uuid.UUID, now time.Time) error {
	exists, replacedAt := false, time.Time{}
	var createdAt time.Time
	for _, k := range keys {
		if k.Purpose == ports.DataKey && k.ID == id {
			exists, createdAt = true, k.CreatedAt
		}
	}
	for _, k := range keys {
		if k.Purpose == ports.DataKey && k.CreatedAt.After(createdAt) && (replacedAt.IsZero() || k.CreatedAt.Before(replacedAt)) {
			replacedAt = k.CreatedAt
		}
	}
	switch {
	case !exists:
		return fmt.Errorf("there is no data key %s; list them with: causeway keys list", id)
	case replacedAt.IsZero():
		return fmt.Errorf("the data key %s encrypts new data; replace it first with: causeway keys rotate", id)
	case now.Sub(replacedAt) < removeAfter:
		return fmt.Errorf("the data key %s can be removed from %s on, %.0f hours after it was replaced, because until then a process may still "+
			"use it",
			id, replacedAt.Add(removeAfter).UTC().Format(time.RFC3339), removeAfter.Hours())
	}
	return nil
}

// current returns the keys that were read last, and reads them again when they are due. Keys that
// cannot be read again stay in use.
func (d *DataKeys) current(ctx context.Context) (*dataKeySet, error) {
	set := d.loaded.Load()
	if set == nil {
		return d.read(ctx, nil)
	}
	if d.clock.Now().Sub(set.readAt) >= DataKeysInterval && d.loading.TryLock() {
		defer d.loading.Unlock()
		ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
		defer cancel()
		fresh, err := d.loadCurrent(ctx)
		if err == nil {
			return fresh, nil
		}
		stale := *set
		stale.readAt = d.clock.Now()
		if !d.loaded.CompareAndSwap(set, &stale) { // they were forgotten
			return nil, err
		}
		return &stale, nil
	}
	return set, nil
}

// Forget makes the next call read the keys again, and not use those that were read if that fails. It is
// called when the database may have lost keys: what is encrypted with such a key can never be read.
func (d *DataKeys) Forget() {
	d.forgotten.Add(1)
	d.loaded.Store(nil)
}

// read reads the keys, unless another caller has since the former were read.
func (d *DataKeys) read(ctx context.Context, former *dataKeySet) (*dataKeySet, error) {
	d.loading.Lock()
	defer d.loading.Unlock()
	if set := d.loaded.Load(); set != former {
		return set, nil
	}
	return d.loadCurrent(ctx)
}

// loadCurrent reads the keys until none are forgotten meanwhile. The caller holds loading.
func (d *DataKeys) loadCurrent(ctx context.Context) (*dataKeySet, error) {
	for {
		before := d.forgotten.Load()
		set, err := d.load(ctx)
		if err != nil {
			return nil, err
		}
		d.loaded.Store(set)
		if d.forgotten.Load() == before {
			return set, nil
		}
	}
}

func (d *DataKeys) load(ctx context.Context) (*dataKeySet, error) {
	stored, err := d.store.DataKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the data keys: %w", err)
	}
	now := d.clock.Now()
	set := &dataKeySet{readAt: now, storedAt: now, keys: make(map[uuid.UUID][]byte, len(stored))}
	var newestAt, fingerprintsSince time.Time
	for _, s := range stored {
		plain, err := d.master.Open(s.Sealed, dataKeyContext(s.ID, s.Purpose))
		if err != nil {
			return nil, fmt.Errorf("data key %s: %w", s.ID, err)
		}
		if s.Purpose == ports.IndexKey {
			set.indexKey, fingerprintsSince = plain, time.Unix(s.ID.Time().UnixTime()) // the key belongs to its id
			continue
		}
		set.keys[s.ID] = plain
		if later := s.CreatedAt.Compare(newestAt); set.newest.ID == uuid.Nil || later > 0 || later == 0 &&
			bytes.Compare(s.ID[:], set.newest.ID[:]) > 0 {
			set.newest, newestAt = ports.NewestKey{ID: s.ID, Generation: s.Generation}, s.CreatedAt
		}
	}
	set.newest.FingerprintsSince = fingerprintsSince
	return set, nil
}

func dataKeyContext(id uuid.UUID, purpose ports.DataKeyPurpose) []byte {
	return fmt.Appendf(nil, "data key %s %s", id, purpose)
}

// rowAEAD returns the cipher of one row. Each row has a key of its own, derived from the data key,
// so that a data key may encrypt any number of rows with random nonces.
func rowAEAD(key, row []byte) (cipher.AEAD, error) {
	mac := hmac.New(sha256.New, key)
	mac.Write(row)
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
