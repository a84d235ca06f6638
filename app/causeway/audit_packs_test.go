package main

import (
	"errors"
	"io"
	"testing"

	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

func TestAuditPacks_OpensConnectionsOfItsOwn(t *testing.T) {
	t.Parallel()
	// A connection that cannot be opened is an outage of the store, after which jobs try again; a database that a newer version has migrated
	// since the process began is none, and is read.
	url := pgtest.New(t)
	pgtest.ExecAsSuperuser(t, url, `INSERT INTO schema_migrations (version_id, is_applied) VALUES (99999, true)`)
	db := openDB(t, postgres.Options{URL: url, MaxConnections: 2, Clock: systemClock{}, AllPlatforms: true, TxOf: newTx})
	packs := auditPacks{services{db: db, ids: ids.New()}, "postgres://127.0.0.1:1/none", must(newMaster(encryption.NewKey(), ""))}
	write := func() error {
		_, err := packs.Write(t.Context(), must(ident.ParsePlatform(fakePlatform)), 2025, io.Discard, nil)
		return err
	}

	if err := write(); !errors.Is(err, ports.ErrStoreUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	packs.databaseURL = url
	if err := write(); err == nil || errors.Is(err, ports.ErrStoreUnavailable) || !fault.Is(err, fault.NotFound) {
		t.Errorf("of an empty ledger: %v", err)
	}
}
