package apptest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// WantBalances compares all balances of Platform that are not zero with those expected, by
// "path currency", debits positive.
func (e *Env) WantBalances(want map[string]int64) {
	e.t.Helper()
	portstest.WantTrialBalance(e.t, e.Store.LedgerReader(), e.Platform.ID, want)
}

// WantEntries compares the entries of a transaction with those expected, in the order in
// which they were recorded, each as "kind debit credit minor currency".
func (e *Env) WantEntries(id ident.Transaction, want ...string) {
	e.t.Helper()
	page, err := e.Store.LedgerReader().Entries(context.Background(), ports.EntryFilter{Platform: e.Platform.ID, Transaction: id, Limit: 1000})
	if err != nil {
		e.t.Fatal(err)
	}
	var got []string
	for _, r := range page.Entries {
		got = append(got, fmt.Sprintf("%s %s %s %d %s", r.Kind, r.Debit, r.Credit, r.Amount, r.Currency))
	}
	if !slices.Equal(got, want) {
		e.t.Errorf("entries %q, want %q", got, want)
	}
}

// WantEvents compares the names of the events about a transaction with those expected.
func (e *Env) WantEvents(id ident.Transaction, want ...string) {
	e.t.Helper()
	e.Events.Want(id.UUID(), want...)
}

// WantFault checks the code of an error, and the fields it names in their order.
func WantFault(t testing.TB, name string, err error, code fault.Code, fields ...string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != code {
		t.Errorf("%s: %v, want %s", name, err, code)
		return
	}
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Field)
	}
	if !slices.Equal(got, fields) {
		t.Errorf("%s: invalid fields %q, want %q", name, got, fields)
	}
}

// Transaction reads a transaction of Platform.
func (e *Env) Transaction(id ident.Transaction) transaction.Transaction {
	e.t.Helper()
	found, err := e.Store.Transaction(context.Background(), e.Platform.ID, id)
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

// WaitForTransaction waits until a transaction satisfies done. It looks again after every
// notification of Committed; name says in a failure what was expected.
func (e *Env) WaitForTransaction(id ident.Transaction, name string, done func(transaction.Transaction) bool) (
	found transaction.Transaction) {
	e.t.Helper()
	e.Emitted.WaitUntil(e.t, func() string {
		if found = e.Transaction(id); done(found) {
			return ""
		}
		return fmt.Sprintf("%s is %s (%s) and did not become %s", id, found.State, found.State.Reason, name)
	})
	return found
}

// WaitForState waits until a transaction is in a state, as State.String writes it.
func (e *Env) WaitForState(id ident.Transaction, state string) transaction.Transaction {
	e.t.Helper()
	return e.WaitForTransaction(id, state, func(t transaction.Transaction) bool { return t.State.String() == state })
}

// CountJobs counts the jobs of a step that are stored.
func (e *Env) CountJobs(step transaction.Step) int {
	e.t.Helper()
	var n int
	if err := e.Store.Pool().QueryRow(context.Background(), `SELECT count(*) FROM jobs WHERE step = $1`, string(step)).Scan(&n); err != nil {
		e.t.Fatal(err)
	}
	return n
}

// WaitTimeout is the limit for what a test polls for. It only ends a test that would never end: nothing
// takes that long, also on a machine that is busy or slow.
const WaitTimeout = 3 * time.Minute

// WaitForNoJobs waits until no job of a step is stored. Finishing a job emits no event, so it
// polls the table.
func (e *Env) WaitForNoJobs(step transaction.Step) {
	e.t.Helper()
	timeout := time.After(WaitTimeout)
	for e.CountJobs(step) > 0 {
		select {
		case <-timeout:
			e.t.Fatalf("jobs of step %s remain", step)
		case <-time.After(time.Millisecond):
		}
	}
}

// QueryStrings returns the one column of a query, run as the owner of the tables.
func (e *Env) QueryStrings(query string, args ...any) []string {
	e.t.Helper()
	ctx := context.Background()
	conn := e.connect()
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		e.t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		e.t.Fatal(err)
	}
	return values
}

// Exec runs statements as the owner of the tables. It returns the first error, so that a
// test can also show what is refused.
func (e *Env) Exec(statements ...string) error {
	e.t.Helper()
	ctx := context.Background()
	conn := e.connect()
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// AwaitLockWait waits until a session of the database waits for a lock.
func (e *Env) AwaitLockWait() {
	e.t.Helper()
	ctx := context.Background()
	conn := e.connect()
	defer func() { _ = conn.Close(ctx) }()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var waits bool
		err := conn.QueryRow(
			ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
		if err != nil {
			e.t.Fatal(err)
		}
		if waits {
			return
		}
	}
	e.t.Fatal("nothing waits for a lock")
}

func (e *Env) connect() *pgx.Conn {
	e.t.Helper()
	conn, err := pgx.Connect(context.Background(), e.URL)
	if err != nil {
		e.t.Fatal(err)
	}
	return conn
}

// WantChanges compares what the records of a kind of actions have of the changed fields, in the order of the actions.
func (e *Env) WantChanges(kind platform.OperatorActionKind, want ...string) {
	e.t.Helper()
	got := e.QueryStrings(`SELECT actor || ': ' || coalesce((SELECT string_agg(concat(f ->> 'field', CASE WHEN f ? 'hidden' THEN ' changed'
			ELSE concat(' ', f ->> 'before', ' → ', f ->> 'after') END), '; ' ORDER BY n)
		FROM jsonb_array_elements(changes) WITH ORDINALITY AS fields (f, n)), '') FROM operator_actions WHERE action = $1 ORDER BY id`, string(kind))
	if !slices.Equal(got, want) {
		e.t.Errorf("%s changed\n%s\nwant\n%s", kind, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
