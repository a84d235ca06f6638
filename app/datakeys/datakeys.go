// Package datakeys replaces the keys that encrypt personal data, and shows which rows use each of them.
package datakeys

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/platform"
	"causeway/ports"
)

// Use is how many rows of a table a data key encrypts.
type Use struct {
	Key   uuid.UUID // zero: not encrypted
	Table string
	Rows  int
}

// Store is what is stored of keys and with them.
type Store interface {
	DataKeys(context.Context) ([]ports.SealedDataKey, error)
	// ResealSecrets replaces every stored secret by what reseal returns for it, and returns their number.
	ResealSecrets(ctx context.Context, reseal func(sealed, context []byte) ([]byte, error)) (int, error)
	// EstimateSealedRows returns about how many rows hold personal data.
	EstimateSealedRows(context.Context) (int64, error)
	// ReencryptPersonalData encrypts all personal data with the newest key. It calls done with each batch of rows.
	ReencryptPersonalData(ctx context.Context, done func(table string, read, changed int)) error
	// DataKeyUses counts the rows that use each key. It calls done with each batch of rows.
	DataKeyUses(ctx context.Context, done func(table string, read int)) ([]Use, error)
	// RemoveDataKey deletes a key, and records what the operator did.
	RemoveDataKey(context.Context, uuid.UUID, platform.OperatorAction) error
	RecordOperatorAction(context.Context, platform.OperatorAction) error
}

// Keyring encrypts data keys with the master key, and data with data keys.
type Keyring interface {
	// Rewrap encrypts the stored data keys with the current master key.
	Rewrap(context.Context) error
	Create(context.Context, uuid.UUID) error
	NewestKey(context.Context) (ports.NewestKey, error)
}

// Config is what a Service needs.
type Config struct {
	Store Store
	// Keyring and Master are nil for a Service that only lists and removes keys.
	Keyring Keyring
	Master  ports.Sealer
	// CheckRemovable returns an error if a key must be kept.
	CheckRemovable func([]ports.SealedDataKey, uuid.UUID, time.Time) error
	// AwaitFirstKey returns when the other processes use the first data key of a generation, and have finished what they began
	// before: until then they store personal data as it is.
	AwaitFirstKey func(context.Context) error
	// Progress is called while rows are read; nil if nobody looks.
	Progress func(done, total int64)
	Clock    ports.Clock
}

// Service is the use cases on data keys.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service {
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	return &Service{c}
}

// Rotation is what Rotate has done.
type Rotation struct {
	Key uuid.UUID
	// Rows were encrypted with the key, and Secrets with the current master key.
	Rows, Secrets int
}

// Rotate creates a data key and encrypts all personal data with it, beside the running service. It ends with all data under
// the new keys, or with an error that says what is left; the old keys still open the rest. The action is the operator's, whose
// name is the id of the new key.
func (s *Service) Rotate(ctx context.Context, key uuid.UUID, action platform.OperatorAction) (Rotation, error) {
	done := Rotation{Key: key}
	err := s.Keyring.Rewrap(ctx)
	if err != nil {
		return done, err
	}
	done.Secrets, err = s.Store.ResealSecrets(ctx, func(sealed, context []byte) ([]byte, error) {
		plain, err := s.Master.Open(sealed, context)
		if err != nil {
			return nil, err
		}
		return s.Master.Seal(plain, context)
	})
	if err != nil {
		return done, fmt.Errorf("encrypt the stored keys with the current master key: %w", err)
	}
	stored, err := s.Store.DataKeys(ctx)
	if err != nil {
		return done, err
	}
	if err := s.Store.RecordOperatorAction(ctx, action); err != nil {
		return done, err
	}
	if err := s.Keyring.Create(ctx, key); err != nil {
		return done, err
	}
	if IsFirst(stored) {
		if err := s.AwaitFirstKey(ctx); err != nil {
			return done, err
		}
	}
	done.Rows, err = s.reencrypt(ctx)
	return done, err
}

// Reencrypt encrypts with the newest data key what another one encrypted, or none. It returns that key and the number of rows
// that it changed. It can be repeated.
func (s *Service) Reencrypt(ctx context.Context) (uuid.UUID, int, error) {
	rows, err := s.reencrypt(ctx)
	if err != nil {
		return uuid.Nil, rows, err
	}
	newest, err := s.Keyring.NewestKey(ctx)
	return newest.ID, rows, err
}

func (s *Service) reencrypt(ctx context.Context) (rows int, err error) {
	total, err := s.Store.EstimateSealedRows(ctx)
	if err != nil {
		return 0, err
	}
	done := int64(0)
	err = s.Store.ReencryptPersonalData(ctx, func(_ string, read, changed int) {
		rows, done = rows+changed, done+int64(read)
		s.Progress(done, max(done, total))
	})
	if err != nil {
		return rows, fmt.Errorf("encrypted %d rows, then: %w; continue with: causeway keys reencrypt", rows, err)
	}
	return rows, nil
}

// Key is a data key with the rows that it encrypts.
type Key struct {
	ports.SealedDataKey
	Newest bool
	Uses   []Use
}

// List returns the data keys, the newest last, and the rows that none encrypts. It reads every row with personal data.
func (s *Service) List(ctx context.Context) (keys []Key, unencrypted []Use, err error) {
	stored, err := s.Store.DataKeys(ctx)
	if err != nil {
		return nil, nil, err
	}
	uses, err := s.countUses(ctx)
	if err != nil {
		return nil, nil, err
	}
	stored = slices.DeleteFunc(stored, func(k ports.SealedDataKey) bool { return k.Purpose != ports.DataKey })
	slices.SortFunc(stored, func(a, b ports.SealedDataKey) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for i, k := range stored {
		keys = append(keys, Key{k, i == len(stored)-1, usesOf(uses, k.ID)})
	}
	return keys, usesOf(uses, uuid.Nil), nil
}

// countUses returns the rows that use each data key.
func (s *Service) countUses(ctx context.Context) ([]Use, error) {
	total, err := s.Store.EstimateSealedRows(ctx)
	if err != nil {
		return nil, err
	}
	done := int64(0)
	return s.Store.DataKeyUses(ctx, func(_ string, read int) {
		done += int64(read)
		s.Progress(done, max(done, total))
	})
}

func usesOf(uses []Use, key uuid.UUID) []Use {
	return slices.DeleteFunc(slices.Clone(uses), func(u Use) bool { return u.Key != key })
}

// UsesText names tables with their numbers of rows; empty for none.
func UsesText(uses []Use) string {
	tables := make([]string, len(uses))
	for i, use := range uses {
		tables[i] = fmt.Sprintf("%s %d", use.Table, use.Rows)
	}
	return strings.Join(tables, ", ")
}

// Remove deletes a data key that encrypts nothing and that was replaced long ago.
func (s *Service) Remove(ctx context.Context, key uuid.UUID, action platform.OperatorAction) error {
	stored, err := s.Store.DataKeys(ctx)
	if err != nil {
		return err
	}
	if err := s.CheckRemovable(stored, key, s.Clock.Now()); err != nil {
		return err
	}
	uses, err := s.countUses(ctx)
	if err != nil {
		return err
	}
	if tables := UsesText(usesOf(uses, key)); tables != "" {
		return fmt.Errorf("the data key %s still encrypts rows: %s; encrypt them with the newest key first: causeway keys reencrypt", key, tables)
	}
	return s.Store.RemoveDataKey(ctx, key, action)
}

// HasDataKey reports whether one of the keys encrypts personal data.
func HasDataKey(keys []ports.SealedDataKey) bool {
	return slices.ContainsFunc(keys, func(k ports.SealedDataKey) bool { return k.Purpose == ports.DataKey })
}

// IsFirst reports whether a new data key is the first of its generation, beside the keys that are stored.
func IsFirst(stored []ports.SealedDataKey) bool {
	return !slices.ContainsFunc(stored, func(k ports.SealedDataKey) bool {
		return k.Purpose == ports.DataKey && k.Generation == ports.DataKeyGeneration
	})
}
