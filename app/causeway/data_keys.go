package main

import (
	"context"
	"errors"
	"fmt"

	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/app/datakeys"
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
