package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// depositTo returns a posting that credits an account with dollars.
func depositTo(p ident.Platform, account string, minor int64) ledger.Posting {
	return ledger.Deposit(ledger.Header{ID: uuid.New(), Platform: p, Effective: noon},
		ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: account, Amount: money.Amount{Minor: minor, Currency: money.USD}})
}

// post posts each posting in a unit of work of its own.
func post(t *testing.T, db *postgres.DB, postings ...ledger.Posting) {
	t.Helper()
	for _, p := range postings {
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			return tx.Post(ctx,
				[]ledger.Posting{p})
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func wantBalances(t *testing.T, db *postgres.DB, p ident.Platform, want map[string]int64) {
	t.Helper()
	var accounts []ledger.Account
	for path := range want {
		accounts = append(accounts, ledger.Account{Platform: p, Path: path, Currency: money.USD})
	}
	balances, err := db.LedgerReader().Balances(t.Context(), accounts)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accounts {
		if balances[a] != want[a.Path] {
			t.Errorf("the balance of %s is %d, want %d", a.Path, balances[a], want[a.Path])
		}
	}
}

func TestDo_IDsOfLostAccountsArePostedToTheirAccounts(t *testing.T) {
	t.Parallel()
	// The database has lost an account, and given its id to another one of the same currency, without a new
	// connection of the process, as behind a pooler. The process posts to the account that it means, and the
	// caller learns nothing of it: the unit of work is run twice.
	c := newEnv(t)
	alice, bob := ledger.CustomerAccount(ident.NewInternalAccount(generator.New, noon)),
		ledger.CustomerAccount(ident.NewInternalAccount(generator.New, noon))
	p := c.platform.ID
	post(t, c.DB, depositTo(p, alice, 1), depositTo(p, alice, 1))
	pgtest.ExecAsSuperuser(t, c.url, fmt.Sprintf(`
		CREATE TEMP TABLE lost AS SELECT * FROM ledger_accounts WHERE path = '%s';
		DELETE FROM ledger_entries; DELETE FROM ledger_backdated_entries; DELETE FROM ledger_postings; DELETE FROM ledger_posting_ids;
		DELETE FROM ledger_months; DELETE FROM ledger_clocks; DELETE FROM ledger_balances; DELETE FROM ledger_accounts;
		UPDATE lost SET path = '%s';
		INSERT INTO ledger_accounts OVERRIDING SYSTEM VALUE SELECT * FROM lost;
		INSERT INTO ledger_balances (platform_id, account_id) SELECT platform_id, id FROM lost;`, alice, bob))
	runs := 0

	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		runs++
		return tx.Post(ctx, []ledger.Posting{depositTo(p, alice, 7)})
	}); err != nil {
		t.Fatal(err)
	}

	wantBalances(t, c.DB, p, map[string]int64{alice: 7, bob: 0})
	if runs != 2 {
		t.Errorf("ran %d times", runs)
	}
}

func TestOnDatabaseChange_NewConnectionToAnotherDatabase(t *testing.T) {
	t.Parallel()
	// The first connection to another database has all caches dropped before it is used, and only that one. The database lacks what
	// this process has posted to the one before: it posts nothing, until somebody has looked at that. A unit of work is not repeated
	// then, and posts to the account that it means, though another one has its id.
	one, other := pgtest.SimulateClock(t, pgtest.New(t)), pgtest.SimulateClock(t, pgtest.New(t))
	db, otherDB := openDB(t, one), openDB(t, other)
	var p ident.Platform
	p.SetUUID(generator.New(noon))
	alice, bob := ledger.CustomerAccount(ident.NewInternalAccount(generator.New, noon)),
		ledger.CustomerAccount(ident.NewInternalAccount(generator.New, noon))
	post(t, db, depositTo(p, alice, 1), depositTo(p, alice, 1))
	post(t, otherDB, depositTo(p, bob, 3))
	otherDB.Close()
	changes := 0
	db.OnDatabaseChange(func() { changes++ })
	db.Pool().Reset()
	post(t, db, depositTo(p, alice, 1))
	if changes != 0 {
		t.Fatalf("%d changes after new connections to the same database", changes)
	}
	swapDatabases(t, one, other)
	db.Pool().Reset() // the connections to the former database have ended

	runs := 0
	err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.Post(ctx, []ledger.Posting{depositTo(p, alice, 7)})
	})
	if !fault.Is(err, fault.ServiceUnavailable) || !errors.Is(err, ports.ErrStoreUnavailable) {
		t.Errorf("posted to a database that lacks postings: %v", err)
	}
	reviewLostPostings(t, db, 3)
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		if runs++; changes != 1 {
			t.Errorf("%d changes before the first statement", changes)
		}
		return tx.Post(ctx, []ledger.Posting{depositTo(p, alice, 7)})
	}); err != nil {
		t.Fatal(err)
	}

	wantBalances(t, db, p, map[string]int64{alice: 7, bob: 3})
	conn, err := db.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if runs != 1 || changes != 1 {
		t.Errorf("ran %d times, %d changes", runs, changes)
	}
}

// reviewLostPostings reviews the one finding, which must name a number of postings.
func reviewLostPostings(t *testing.T, db *postgres.DB, want int) {
	t.Helper()
	ctx := ports.ForAllPlatforms(t.Context())
	findings, err := db.LostCommitFindings(ctx)
	if err != nil || len(findings) != 1 || findings[0].Lost != want {
		t.Fatalf("found %+v, %v", findings, err)
	}
	lost, err := db.LostCommits(ctx, findings[0].ID, 100)
	if err != nil || len(lost) != want {
		t.Fatalf("lost %+v, %v", lost, err)
	}
	for _, l := range lost {
		if l.Kind != ports.LostPosting || l.CommittedAt.IsZero() || uuid.Validate(l.Reference) != nil {
			t.Errorf("lost %+v", l)
		}
	}
	if err := db.SaveLostCommitReview(ctx, findings[0].ID, platform.Author{Actor: "ana"}, "Compared with the statement", noon); err != nil {
		t.Fatal(err)
	}
}

// swapDatabases ends the connections to two databases, and exchanges their names.
func swapDatabases(t *testing.T, one, other string) {
	t.Helper()
	nameOf := func(database string) string {
		parsed, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(parsed.Path, "/")
	}
	a, b := nameOf(one), nameOf(other)
	pgtest.ExecAsSuperuser(t, pgtest.ServerURL(t),
		fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('%[1]s', '%[2]s');
		ALTER DATABASE %[1]s RENAME TO swapped_%[1]s; ALTER DATABASE %[2]s RENAME TO %[1]s; ALTER DATABASE swapped_%[1]s RENAME TO %[2]s;`, a, b))
}
