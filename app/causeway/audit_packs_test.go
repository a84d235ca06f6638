package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
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
	packs := auditPacks{services{db: db, ids: ids.New()}, "postgres://127.0.0.1:1/none", "", must(newMaster(encryption.NewKey(), ""))}
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

func TestAuditPacks_NoSpace(t *testing.T) {
	t.Parallel()
	// A pack that needs more space than TMPDIR has fails before anything is read, and says how much is missing. A disk that becomes full
	// meanwhile is a fault that says what to do, after which the pack is not tried again.
	url := pgtest.New(t)
	db := openDB(t, postgres.Options{URL: url, MaxConnections: 2, Clock: systemClock{}, AllPlatforms: true, TxOf: newTx})
	platform := strings.TrimPrefix(fakePlatform, "PlatformConfig:")
	for _, insert := range []string{`ledger_clocks (platform_id, seq) VALUES ('` + platform + `', 1::bigint << 50)`,
		`ledger_log_state (platform_id, size) VALUES ('` + platform + `', 1::bigint << 50)`,
		`ledger_log_checkpoints (platform_id, size, sealed_at, root_hash, signed_note, previous_size)
			VALUES ('` + platform + `', 1::bigint << 50, now(), sha256('root'), 'note', 0)`} {
		pgtest.ExecAsSuperuser(t, url, "INSERT INTO "+insert)
	}
	packs := auditPacks{services{db: db, ids: ids.New()}, url, "", must(newMaster(encryption.NewKey(), ""))}

	_, err := packs.Write(t.Context(), must(ident.ParsePlatform(fakePlatform)), 2025, io.Discard, nil)

	if f, ok := fault.As(err); !ok || f.Code != fault.Conflict || !strings.Contains(f.Message, "needs about 549755813889 MiB") {
		t.Errorf("%v", err)
	}
	full := fmt.Errorf("general-ledger.csv: %w", &os.PathError{Op: "write", Path: "/tmp/pack", Err: syscall.ENOSPC})
	if f, ok := fault.As(packError(full)); !ok || f.Code != fault.Conflict || !strings.Contains(f.Message, "No space is left") ||
		!strings.Contains(f.Message, "causeway ledger audit-pack") {
		t.Errorf("%v", packError(full))
	}
}
