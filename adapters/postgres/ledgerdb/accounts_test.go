package ledgerdb_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/money"
	"causeway/ledger"
)

// loseEverything empties the ledger and gives the id of one account to another, as a standby does
// that had not received the last commits. The cache of h.store stays as it is.
func (h *env) loseEverything(was, becomes ledger.Account) {
	h.t.Helper()
	pgtest.ExecAsSuperuser(h.t, h.url, fmt.Sprintf(`
		CREATE TEMP TABLE lost AS SELECT * FROM ledger_accounts WHERE path = '%s';
		DELETE FROM ledger_entries; DELETE FROM ledger_backdated_entries; DELETE FROM ledger_postings; DELETE FROM ledger_posting_ids;
		DELETE FROM ledger_months; DELETE FROM ledger_clocks; DELETE FROM ledger_balances; DELETE FROM ledger_accounts;
		UPDATE lost SET path = '%s';
		INSERT INTO ledger_accounts OVERRIDING SYSTEM VALUE SELECT * FROM lost;
		INSERT INTO ledger_balances (platform_id, account_id) SELECT platform_id, id FROM lost WHERE no_overdraft;`, was.Path, becomes.Path))
}

func TestPost_IDOfAnotherAccountRefused(t *testing.T) {
	t.Parallel()
	// A database that has lost its last commits gives the id of an account to another one, in the
	// same currency. A process that has cached the id posts nothing to the other account: the
	// posting is refused once, and is then written to its own.
	h := newEnv(t)
	alice, bob := newInternal(), newInternal()
	ofAlice, ofBob := h.account(ledger.CustomerAccount(alice), money.USD), h.account(ledger.CustomerAccount(bob), money.USD)
	h.mustPost(h.deposit(alice, 1))
	h.mustPost(h.deposit(alice, 1)) // finds the accounts committed, and caches their ids
	h.loseEverything(ofAlice, ofBob)
	posting := h.deposit(alice, 7)

	err := h.post(noon, posting)
	if !ledgerdb.IsOutdated(err) {
		t.Errorf("posted to the id of another account: %v", err)
	}
	h.wantBalance(ofBob, 0)

	h.mustPost(posting)
	h.wantBalance(ofAlice, 7)
	h.wantBalance(ofBob, 0)
}

func TestPost_IDOfNoAccountRefused(t *testing.T) {
	t.Parallel()
	// An id that the database has not given yet is refused as one that it gave to another account.
	h := newEnv(t)
	alice, bob := newInternal(), newInternal()
	ofAlice := h.account(ledger.CustomerAccount(alice), money.USD)
	h.mustPost(h.deposit(alice, 1), h.deposit(bob, 1))
	h.mustPost(h.deposit(alice, 1))
	h.loseEverything(h.account("none", money.USD), ofAlice)
	posting := h.deposit(alice, 7)

	if err := h.post(noon, posting); !ledgerdb.IsOutdated(err) {
		t.Errorf("posted to an account that does not exist: %v", err)
	}

	h.mustPost(posting)
	h.wantBalance(ofAlice, 7)
}

func TestBalances_IDOfAnotherAccountRefused(t *testing.T) {
	t.Parallel()
	// After such a loss, a balance is locked and read of the account that was named.
	h := newEnv(t)
	ctx := context.Background()
	alice, bob := newInternal(), newInternal()
	ofAlice, ofBob := h.account(ledger.CustomerAccount(alice), money.USD), h.account(ledger.CustomerAccount(bob), money.USD)
	h.mustPost(h.deposit(alice, 1))
	h.mustPost(h.deposit(alice, 1)) // finds the accounts committed, and caches their ids
	h.loseEverything(ofAlice, ofBob)
	other := ledgerdb.New() // of another process
	if err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		return other.Post(ctx, tx, noon, []ledger.Posting{h.deposit(bob, 9)})
	}); err != nil {
		t.Fatal(err)
	}
	h.wantBalance(ofAlice, 0)
	h.wantBalance(ofBob, 9)
	lock := func() (balance int64, err error) {
		err = pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
			balances, err := h.store.Balances(ctx, tx, []ledger.Account{ofAlice}, ledgerdb.Lock)
			balance = balances[ofAlice]
			return err
		})
		return balance, err
	}

	if balance, err := lock(); !ledgerdb.IsOutdated(err) {
		t.Errorf("locked a balance of %d: %v", balance, err)
	}
	if balance, err := lock(); balance != 0 || err != nil {
		t.Errorf("the balance is %d, %v", balance, err)
	}
}
