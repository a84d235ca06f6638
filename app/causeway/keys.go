package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/ports"
)

type keysCommand struct {
	Rotate keysRotateCommand `cmd:"" help:"Create a new data key and encrypt the stored personal data with it, and encrypt all stored keys with the current master key."`
}

type keysRotateCommand struct {
	databaseFlags
	masterKeyFlag

	// awaitProcesses returns when the other processes use the first data key; nil for awaitFirstKey.
	awaitProcesses func(context.Context) error
}

// firstKeyDelay leaves the other processes time to read the first data key and to finish
// what they began before. Until then they store personal data as it is.
const firstKeyDelay = 2 * encryption.DataKeysInterval

func awaitFirstKey(ctx context.Context) error {
	select {
	case <-time.After(firstKeyDelay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run can be repeated, and runs beside the service. It ends with all data under the new keys, or
// with an error that says what is left; the old keys still open the rest.
func (k keysRotateCommand) Run(ctx context.Context, out io.Writer) (err error) {
	master, err := k.sealer(k.databaseFlags)
	if err != nil {
		return err
	}
	url, release, err := k.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	var dataKeys *encryption.DataKeys
	db, err := openMigrated(ctx, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 2, Clock: systemClock{},
		NewCipher: func(store ports.DataKeyStore) ports.Cipher {
			dataKeys = encryption.NewDataKeys(store, master, systemClock{})
			return dataKeys
		}})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := dataKeys.Rewrap(ctx); err != nil {
		return err
	}
	secrets, err := db.ResealSecrets(ctx, func(sealed, context []byte) ([]byte, error) {
		plain, err := master.Open(sealed, context)
		if err != nil {
			return nil, err
		}
		return master.Seal(plain, context)
	})
	if err != nil {
		return fmt.Errorf("encrypt the stored keys with the current master key: %w", err)
	}
	stored, err := db.DataKeys(ctx)
	if err != nil {
		return err
	}
	id := ids.New().New(systemClock{}.Now())
	if err := dataKeys.Create(ctx, id); err != nil {
		return err
	}
	if !hasDataKey(stored) {
		await := awaitFirstKey
		if k.awaitProcesses != nil {
			await = k.awaitProcesses
		}
		if err := await(ctx); err != nil {
			return err
		}
	}
	rows := 0
	if err := db.ReencryptPersonalData(ctx, func(_ string, _, changed int) { rows += changed }); err != nil {
		return fmt.Errorf("encrypt the personal data again, after %d rows: %w; run the command again", rows, err)
	}
	_, err = fmt.Fprintf(out, "Created data key %s and encrypted %d rows with it.\nEncrypted %d stored keys and secrets with the current master key.\n", id, rows, secrets)
	return err
}

func hasDataKey(keys []ports.SealedDataKey) bool {
	return slices.ContainsFunc(keys, func(k ports.SealedDataKey) bool { return k.Purpose == ports.DataKey })
}

// ensureDataKey checks that the master key opens the data keys, and creates the first one of a new
// database. In a database with customers of the
// previous version, whose processes cannot read encrypted data, the operator creates it.
func (a *app) ensureDataKey(ctx context.Context, dataKeys *encryption.DataKeys) error {
	ctx = ports.ForAllPlatforms(ctx)
	keys, err := a.db.DataKeys(ctx)
	if err != nil {
		return err
	}
	if hasDataKey(keys) {
		err := dataKeys.Load(ctx)
		if errors.Is(err, encryption.ErrCannotDecrypt) {
			return fmt.Errorf("the master key (%s) is not the one of this database: %w", masterKeyEnv, err)
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
