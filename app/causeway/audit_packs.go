package main

import (
	"context"
	"io"

	"causeway/adapters/cli"
	"causeway/adapters/encryption"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/ports"
)

// auditPacks implements exports.AuditPacks as the command does.
type auditPacks struct {
	services    services
	databaseURL string
	master      *encryption.Master
}

// Check implements exports.AuditPacks.
func (a auditPacks) Check(ctx context.Context, p ident.Platform, year int) error {
	return cli.CheckAuditPack(ctx, a.services, p, year)
}

// Write implements exports.AuditPacks. The whole ledger is read, so that it takes connections of its own, whose statements may be long.
func (a auditPacks) Write(ctx context.Context, p ident.Platform, year int, out io.Writer, written func(int64)) (string, error) {
	db, err := openMigrated(ctx, postgres.Options{URL: a.databaseURL, AllPlatforms: true, ForReports: true, StatementTimeout: auditTimeout,
		MaxConnections: packConnections, Clock: systemClock{}, IDs: a.services.ids, TxOf: newTx,
		NewCipher: func(store ports.DataKeyStore) ports.Cipher {
			return encryption.NewDataKeys(store, a.master, systemClock{})
		}})
	if err != nil {
		return "", err
	}
	defer db.Close()
	return cli.WriteAuditPack(ctx, services{db: db, ids: a.services.ids}, systemClock{}, p, year, out, written)
}

// packConnections is how many connections to the database a pack takes while it is written.
const packConnections = 4
