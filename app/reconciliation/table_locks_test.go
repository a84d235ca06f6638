package reconciliation_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/reconciliation"
	"causeway/core/ident"
	"causeway/core/reconcile"
)

// observedStore calls a function at two times of a unit of work that imports.
type observedStore struct {
	reconciliation.Store
	locked, done func() // when the account is locked, and before the commit
}

func (s observedStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return s.Store.DoUnit(ctx, func(ctx context.Context, tx any) error {
		return fn(ctx, observedTx{tx.(reconciliation.Tx), s})
	})
}

type observedTx struct {
	reconciliation.Tx
	store observedStore
}

func (tx observedTx) AddStatementLines(ctx context.Context, run ident.Reconciliation, a reconcile.Account,
	lines []reconcile.Line) ([]reconcile.Line, error) {
	tx.store.locked()
	return tx.Tx.AddStatementLines(ctx, run, a, lines)
}

func (tx observedTx) AddReconciliation(ctx context.Context, run reconcile.Run) error {
	if err := tx.Tx.AddReconciliation(ctx, run); err != nil {
		return err
	}
	// Reads after it, so that the run is written.
	if _, _, err := tx.PreviousStatement(ctx, run.Account, "", run.From); err != nil {
		return err
	}
	tx.store.done()
	return nil
}

// selectTableLocks lists the tables that the session with an advisory lock has locked, each with the mode. Partitions
// are protected by the table that they belong to.
const selectTableLocks = `
	SELECT DISTINCT c.relname || ' ' || l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = 'public'
		AND l.pid = (SELECT DISTINCT a.pid FROM pg_locks a WHERE a.locktype = 'advisory' AND a.database = l.database)`

func TestImport_LocksTablesBeforeItTakesTheLines(t *testing.T) {
	t.Parallel()
	// An import that has given its lines to the comparison cannot run again. So it has locked all tables that it uses
	// before, and meets no deadlock with a change of tables afterwards.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 500, "A"), env.receivedPosting(1, 700, "B"))
	earlier := newStatementFile()
	earlier.addLine(0, 500, "A", "payment A")
	earlier.addLine(1, 900, "C", "payment C")
	env.mustImport(t, earlier.String())
	var locked, done []string
	observed := reconciliation.New(reconciliation.Config{Runs: env.Store, Ledger: env.Store.LedgerReader(), Accounts: env.Store.Finance(),
		Clock: env.Clock, IDs: env.IDs,
		Store: observedStore{env.Store, func() { locked = env.QueryStrings(selectTableLocks) },
			func() { done = env.QueryStrings(selectTableLocks) }}})
	env.Post(env.receivedPosting(1, 900, "C"))
	later := newStatementFile()
	later.lines = earlier.lines
	later.addLine(1, 700, "B", "payment B")
	later.addLine(2, 300, "D", "payment D")

	run, err := observed.Import(t.Context(), env.importRequest(later.String()), nil)

	if err != nil || run.EarlierBreaksResolved == 0 || len(run.Matches) == 0 || len(run.Breaks) == 0 {
		t.Fatalf("%+v, %v", run, err)
	}
	for _, lock := range done {
		if !slices.Contains(locked, lock) {
			t.Errorf("the import locks a table late: %s", lock)
		}
	}
	if !slices.Contains(locked, "reconciliation_matches RowExclusiveLock") {
		t.Errorf("it has locked %q", locked)
	}
}

func TestImport_RunsAgainAfterDeadlock(t *testing.T) {
	t.Parallel()
	// A migration that changes two tables of an import meets a deadlock with it. Whichever of them the database ends,
	// the import takes place: it runs again with all lines.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 500, "A"))
	file := newStatementFile()
	file.addLine(0, 500, "A", "payment A")
	migration := pgtest.Connect(t, env.URL)
	if _, err := migration.Exec(t.Context(), "BEGIN; LOCK TABLE reconciliation_matches IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	imported := make(chan error, 1)
	var run reconciliation.ImportResult
	go func() {
		var err error
		run, err = env.reconciliation.Import(t.Context(), env.importRequest(file.String()), nil)
		imported <- err
	}()
	env.AwaitLockWait()

	_, err := migration.Exec(t.Context(), "LOCK TABLE reconciliation_lines IN ACCESS EXCLUSIVE MODE")

	if err != nil && !strings.Contains(err.Error(), "deadlock detected") {
		t.Fatal(err)
	}
	if _, err := migration.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-imported; err != nil || run.MatchedLines != 1 {
		t.Errorf("imported %+v, %v", run, err)
	}
}
