package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"causeway/adapters/cli"
	"causeway/adapters/encryption"
	"causeway/adapters/pgembed/backups"
	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// auditPacks implements exports.AuditPacks as the command does.
type auditPacks struct {
	services services
	// readURL is that of a standby; may be empty.
	databaseURL, readURL string
	master               *encryption.Master
}

// Check implements exports.AuditPacks.
func (a auditPacks) Check(ctx context.Context, p ident.Platform, year int) error {
	return cli.CheckAuditPack(ctx, a.services, p, year)
}

// Write implements exports.AuditPacks. The whole ledger is read, so that it takes connections of its own, whose statements may be long.
func (a auditPacks) Write(ctx context.Context, p ident.Platform, year int, out io.Writer, written func(int64)) (string, error) {
	findings, err := a.write(ctx, p, year, out, written)
	return findings, packError(err)
}

// packError says what to do about a full disk, and that an outage of the database is one.
func packError(err error) error {
	switch _, isFault := fault.As(err); {
	case errors.Is(err, syscall.ENOSPC):
		err = noSpace("No space is left for the files of the pack, in TMPDIR or where CAUSEWAY_BLOBS stores them")
	case !isFault && postgres.IsUnavailable(err):
		err = fmt.Errorf("%w: %w", ports.ErrStoreUnavailable, err)
	}
	return err
}

func (a auditPacks) write(ctx context.Context, p ident.Platform, year int, out io.Writer, written func(int64)) (string, error) {
	log, err := a.services.Log().Status(ctx, p)
	if err != nil {
		return "", err
	}
	free, err := backups.FreeSpace(os.TempDir())
	if err != nil {
		return "", err
	}
	if need := log.Checkpoint.Size * packSpace; free < need {
		return "", noSpace(fmt.Sprintf("TMPDIR of the service has %d MiB free, and the pack needs about %d MiB", free>>20, need>>20+1))
	}
	// The schema was checked when the process began; meanwhile a newer version may have migrated the database.
	options := postgres.Options{URL: a.databaseURL, AllPlatforms: true, ForReports: true, StatementTimeout: auditTimeout,
		MaxConnections: packConnections, Clock: systemClock{}, IDs: a.services.ids, TxOf: newTx,
		NewCipher: func(store ports.DataKeyStore) ports.Cipher {
			return encryption.NewDataKeys(store, a.master, systemClock{})
		}}
	if a.readURL != "" { // for the reports: what is verified is the primary, whose statements no replay ends
		options.ReadURL, options.MaxReadConnections = a.readURL, packConnections
	}
	db, err := postgres.Open(ctx, options)
	if err != nil {
		return "", fmt.Errorf("open connections for the pack: %w: %w", ports.ErrStoreUnavailable, err)
	}
	defer db.Close()
	return cli.WriteAuditPack(ctx, services{db: db, ids: a.services.ids}, systemClock{}, p, year, out, written)
}

// packConnections is how many connections a pack takes to each server while it is written.
const packConnections = 4

// packSpace is about how many bytes the compressed files of a pack have for each posting of the ledger.
const packSpace = 512

func noSpace(what string) error {
	return fault.New(fault.Conflict, "%s. Give it more, then ask for the pack again; or write it on another machine with `causeway ledger "+
		"audit-pack`.", what)
}
