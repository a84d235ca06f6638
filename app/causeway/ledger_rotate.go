package main

import (
	"context"
	"fmt"
	"io"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
)

type ledgerRotateCommand struct {
	databaseFlags
	MasterKey string `name:"master-key" env:"CAUSEWAY_MASTER_KEY" help:"Master key of the service. Default: the one in the data folder." placeholder:"KEY"`
}

// Run replaces the key that signs checkpoints. It does not need the old key, which may be
// lost.
func (l ledgerRotateCommand) Run(ctx context.Context, out io.Writer) error {
	readKey := func() ([32]byte, error) { return parseMasterKey(l.MasterKey) }
	if l.MasterKey == "" {
		readKey = func() ([32]byte, error) { return loadOrCreateMasterKey(l.Data) }
	}
	master, err := readKey()
	if err != nil {
		return err
	}
	sealer, err := encryption.New(master[:])
	if err != nil {
		return err
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		key, err := checkpoints.NewKeyring(db.LedgerLog(), sealer, systemClock{}, ids.New()).Rotate(ctx)
		if err == nil {
			_, err = fmt.Fprintf(out, "New checkpoints are signed with key %s, listed by GET /ledger/log/keys.\n", key.ID)
		}
		return err
	})
}
