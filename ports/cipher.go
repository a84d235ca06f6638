package ports

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// ErrNoMasterKey is the error for encrypted data if the master key was not given.
var ErrNoMasterKey = errors.New("it is missing")

// Cipher encrypts personal data at rest with data keys, which can be replaced while the service
// runs.
type Cipher interface {
	// Seal encrypts and authenticates plain with the newest data key. Open needs the same row,
	// which names where the value is stored. Without a data key Seal returns nil, and the value is
	// to be stored as it is. A sealed value begins with a version below any printable character and
	// the id of the key.
	Seal(ctx context.Context, plain, row []byte) ([]byte, error)
	// Open decrypts what Seal returned with any data key. The error is ErrCannotDecrypt if no key does.
	Open(ctx context.Context, sealed, row []byte) ([]byte, error)
	// NewestKey returns the key that Seal uses; zero if there is none.
	NewestKey(ctx context.Context) (NewestKey, error)
	// Fingerprint returns a keyed hash, by which equal values are found. Without a key it returns
	// the text itself; a keyed hash stays as it is. The key is never replaced.
	Fingerprint(ctx context.Context, text string) (string, error)
	// Create creates a data key, which every process uses within seconds.
	Create(ctx context.Context, id uuid.UUID) error
}

// NewestKey identifies a data key.
type NewestKey struct {
	ID         uuid.UUID
	Generation int
	// FingerprintsSince is when the key of the fingerprints was created, as its id says; zero if there is none.
	FingerprintsSince time.Time
}

// DataKeyGeneration is the generation of the data keys that this version creates. It increases when
// more columns are encrypted: these are stored as they are until the newest key has the generation,
// so that processes of the version before, which cannot read them encrypted, run beside this one.
const DataKeyGeneration = 2

// DataKeyPurpose says what a data key is for.
type DataKeyPurpose string

// The purposes of data keys.
const (
	DataKey  DataKeyPurpose = "DATA"
	IndexKey DataKeyPurpose = "INDEX" // of fingerprints; there is one
)

// SealedDataKey is a data key as it is stored.
type SealedDataKey struct {
	ID         uuid.UUID
	Purpose    DataKeyPurpose
	Generation int
	Sealed     []byte // encrypted by a Sealer
	CreatedAt  time.Time
}

// DataKeyStore stores data keys.
type DataKeyStore interface {
	DataKeys(ctx context.Context) ([]SealedDataKey, error)
	// AddDataKey adds a key. A second IndexKey is not added.
	AddDataKey(ctx context.Context, key SealedDataKey) error
	// ReplaceDataKey replaces the sealed form of a key.
	ReplaceDataKey(ctx context.Context, key SealedDataKey) error
}
