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
	MasterKey string `name:"master-key" env:"CAUSEWAY_MASTER_KEY" help:"The master key of the service. Without it, the one of the data folder." placeholder:"KEY"`
}

// Run replaces the key that signs heads; it never asks for the old one, which may be
// lost.
func (l ledgerRotateCommand) Run(ctx context.Context, out io.Writer) error {
	read := func() ([32]byte, error) { return parseMasterKey(l.MasterKey) }
	if l.MasterKey == "" {
		read = func() ([32]byte, error) { return loadOrCreateMasterKey(l.Data) }
	}
	master, err := read()
	if err != nil {
		return err
	}
	box, err := encryption.New(master[:])
	if err != nil {
		return err
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		key, err := checkpoints.NewKeyring(db.LedgerLog(), box, systemClock{}, ids.New()).Rotate(ctx)
		if err == nil {
			_, err = fmt.Fprintf(out, "Heads are signed with key %s from now on. GET /ledger/log/keys shows it.\n", key.ID)
		}
		return err
	})
}
