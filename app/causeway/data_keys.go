package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/datakeys"
	"causeway/core/platform"
	"causeway/ports"
)

// ensureDataKey checks that the master key opens the data keys, and creates the first one of a new
// database. In a database with customers of the
// previous version, whose processes cannot read encrypted data, the operator creates it.
func (a *app) ensureDataKey(ctx context.Context, dataKeys *encryption.DataKeys) error {
	ctx = ports.ForAllPlatforms(ctx)
	keys, err := a.db.DataKeys(ctx)
	if err != nil {
		return err
	}
	if datakeys.HasDataKey(keys) {
		err := dataKeys.Load(ctx)
		if errors.Is(err, encryption.ErrCannotDecrypt) {
			return fmt.Errorf("the master key (%s) is not the one of this database: %w", masterKeyEnv, err)
		}
		if newest, failed := dataKeys.NewestKey(ctx); failed == nil && newest.Generation < ports.DataKeyGeneration {
			a.log.Warn("lookups and statement lines are stored unencrypted; when every process runs this version, run: causeway keys rotate")
		}
		return err
	}
	empty, err := a.db.StoresNoCustomers(ctx)
	if err != nil {
		return err
	}
	if !empty {
		a.log.Warn("personal data is stored unencrypted; when every process runs this version, run: causeway keys rotate")
		return nil
	}
	return dataKeys.Create(ctx, ids.New().New(systemClock{}.Now()))
}

// firstKeyDelay leaves the other processes time to read the first data key, or the first of a
// generation, and to finish what they began before.
const firstKeyDelay = 2 * encryption.DataKeysInterval

// DataKeys implements cli.Services.
func (s services) DataKeys(progress func(done, total int64)) *datakeys.Service {
	c := datakeys.Config{Store: keyStore{s.db}, CheckRemovable: encryption.CheckRemovable, Clock: systemClock{}, Progress: progress,
		AwaitFirstKey: func(ctx context.Context) error {
			select {
			case <-time.After(firstKeyDelay):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
	if s.master != nil {
		c.Keyring, c.Master = s.dataKeys, s.master
	}
	return datakeys.New(c)
}

// keyStore implements datakeys.Store.
type keyStore struct{ *postgres.DB }

// DataKeyUses implements datakeys.Store.
func (s keyStore) DataKeyUses(ctx context.Context, done func(table string, read int)) ([]datakeys.Use, error) {
	found, err := s.DB.DataKeyUses(ctx, done)
	uses := make([]datakeys.Use, len(found))
	for i, u := range found {
		uses[i] = datakeys.Use(u)
	}
	return uses, err
}

// RemoveDataKey implements datakeys.Store.
func (s keyStore) RemoveDataKey(ctx context.Context, key uuid.UUID, action platform.OperatorAction) error {
	return s.DB.Recording(action).RemoveDataKey(ctx, key)
}
