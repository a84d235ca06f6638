package main

import (
	"context"
	"fmt"
	"io"

	"causeway/adapters/checkpoints"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/platform"
)

type ledgerRotateCommand struct {
	databaseFlags
	masterKeyFlag
	actorFlag
}

// Run replaces the key that signs checkpoints. It does not need the old key, which may be
// lost.
func (l ledgerRotateCommand) Run(ctx context.Context, out io.Writer) error {
	sealer, err := l.sealer(l.databaseFlags)
	if err != nil {
		return err
	}
	action, err := l.action(platform.OperatorRotatedLedgerKey, ident.Platform{}, "")
	if err != nil {
		return err
	}
	return l.withDatabase(ctx, func(db *postgres.DB) error {
		if err := db.RecordOperatorAction(ctx, action); err != nil {
			return err
		}
		key, err := checkpoints.NewKeyring(db.LedgerLog(), sealer, systemClock{}, ids.New()).Rotate(ctx)
		if err == nil {
			_, err = fmt.Fprintf(out, "New checkpoints are signed with key %s, listed by GET /ledger/log/keys.\n", key.ID)
		}
		return err
	})
}
