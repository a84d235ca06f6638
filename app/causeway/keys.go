package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type keysCommand struct {
	Rotate    keysRotateCommand    `cmd:"" help:"Create a new data key and encrypt the stored personal data with it, and encrypt all stored keys with the current master key."`
	Reencrypt keysReencryptCommand `cmd:"" help:"Encrypt with the newest data key what another one encrypted, or none. Continues a rotation that was interrupted."`
	List      keysListCommand      `cmd:"" help:"List the data keys with the number of rows that still use each. It reads every row with personal data."`
	Remove    keysRemoveCommand    `cmd:"" help:"Delete a data key that no row uses and that was replaced a day ago. With the login that migrates the database."`
}

// keysDatabase is the database of a command that encrypts.
type keysDatabase struct {
	*postgres.DB
	master   *encryption.Master
	dataKeys *encryption.DataKeys
}

// withKeys opens the database with its keys and calls do.
func (f databaseFlags) withKeys(ctx context.Context, key masterKeyFlag, do func(keysDatabase) error) error {
	master, err := key.sealer(f)
	if err != nil {
		return err
	}
	keys := keysDatabase{master: master}
	options := postgres.Options{AllPlatforms: true, MaxConnections: 2, Clock: systemClock{}, NewCipher: func(store ports.DataKeyStore) ports.Cipher {
		keys.dataKeys = encryption.NewDataKeys(store, master, systemClock{})
		return keys.dataKeys
	}}
	return f.withOptions(ctx, options, func(db *postgres.DB) error {
		keys.DB = db
		return do(keys)
	})
}

type keysRotateCommand struct {
	databaseFlags
	masterKeyFlag
	actorFlag

	// awaitProcesses returns when the other processes use the first data key of a generation; nil for
	// awaitFirstKey.
	awaitProcesses func(context.Context) error
}

// firstKeyDelay leaves the other processes time to read the first data key, or the first of a
// generation, and to finish what they began before. Until then they store personal data as it is.
const firstKeyDelay = 2 * encryption.DataKeysInterval

func awaitFirstKey(ctx context.Context) error {
	select {
	case <-time.After(firstKeyDelay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run runs beside the service. It ends with all data under the new keys, or with an error that says
// what is left; the old keys still open the rest.
func (k keysRotateCommand) Run(ctx context.Context, out io.Writer) error {
	id := ids.New().New(systemClock{}.Now())
	action, err := k.action(platform.OperatorRotatedDataKey, ident.Platform{}, id.String())
	if err != nil {
		return err
	}
	return k.withKeys(ctx, k.masterKeyFlag, func(db keysDatabase) error {
		if err := db.dataKeys.Rewrap(ctx); err != nil {
			return err
		}
		secrets, err := db.ResealSecrets(ctx, func(sealed, context []byte) ([]byte, error) {
			plain, err := db.master.Open(sealed, context)
			if err != nil {
				return nil, err
			}
			return db.master.Seal(plain, context)
		})
		if err != nil {
			return fmt.Errorf("encrypt the stored keys with the current master key: %w", err)
		}
		stored, err := db.DataKeys(ctx)
		if err != nil {
			return err
		}
		if err := db.RecordOperatorAction(ctx, action); err != nil {
			return err
		}
		if err := db.dataKeys.Create(ctx, id); err != nil {
			return err
		}
		if isFirst(stored) {
			await := awaitFirstKey
			if k.awaitProcesses != nil {
				await = k.awaitProcesses
			}
			if err := await(ctx); err != nil {
				return err
			}
		}
		rows, err := db.reencrypt(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "Created data key %s and encrypted %d rows with it.\nEncrypted %d stored keys and secrets with the current master key.\n", id, rows, secrets)
		return err
	})
}

type keysReencryptCommand struct {
	databaseFlags
	masterKeyFlag
}

// Run can be repeated, and runs beside the service.
func (k keysReencryptCommand) Run(ctx context.Context, out io.Writer) error {
	return k.withKeys(ctx, k.masterKeyFlag, func(db keysDatabase) error {
		rows, err := db.reencrypt(ctx)
		if err != nil {
			return err
		}
		newest, err := db.dataKeys.NewestKey(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "Encrypted %d rows with data key %s; the others were already.\n", rows, newest.ID)
		return err
	})
}

// reencrypt encrypts all personal data with the newest data key, and returns the number of rows that
// it changed.
func (db keysDatabase) reencrypt(ctx context.Context) (rows int, err error) {
	total, err := db.EstimateSealedRows(ctx)
	if err != nil {
		return 0, err
	}
	bar, done := newProgress(os.Stderr, "rows"), int64(0)
	defer bar.finish()
	err = db.ReencryptPersonalData(ctx, func(_ string, read, changed int) {
		rows, done = rows+changed, done+int64(read)
		bar.update(done, max(done, total))
	})
	if err != nil {
		return rows, fmt.Errorf("encrypted %d rows, then: %w; continue with: causeway keys reencrypt", rows, err)
	}
	return rows, nil
}

func hasDataKey(keys []ports.SealedDataKey) bool {
	return slices.ContainsFunc(keys, func(k ports.SealedDataKey) bool { return k.Purpose == ports.DataKey })
}

// isFirst reports whether a new data key is the first of its generation, beside the keys that are stored.
func isFirst(stored []ports.SealedDataKey) bool {
	return !slices.ContainsFunc(stored, func(k ports.SealedDataKey) bool {
		return k.Purpose == ports.DataKey && k.Generation == ports.DataKeyGeneration
	})
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
