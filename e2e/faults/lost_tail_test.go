package faults

import (
	"net/http"
	"os"
	"testing"

	"causeway/e2e/kit"
)

// fundNewCustomers creates customers with money in dollars, and so as many accounts of the ledger.
func (l *load) fundNewCustomers(n int) {
	l.t.Helper()
	for range n {
		created, err := l.call(http.MethodPost, "/customers", kit.CustomerBody(), http.StatusCreated)
		l.must(err)
		account, err := l.call(http.MethodGet, "/customers/internal-accounts?currency=USD&customerId="+created.text("id"), nil, http.StatusOK)
		l.must(err)
		_, err = l.call(http.MethodPost, "/sandbox/internal-accounts/"+account.text("data.0.id")+"/fund", kit.Object{"amount": initialBalance},
			http.StatusOK)
		l.must(err)
	}
}

func TestLostCommits_ProcessPostsToTheAccountsOfTheNewPrimary(t *testing.T) {
	t.Parallel()
	// A standby takes over that has not received the last commits. The process goes on without a restart. It has
	// used accounts of the ledger that were created in those commits, whose ids the new primary gives to others:
	// each payment changes its own accounts and no others.
	if os.Getenv(roundsEnv) == "" {
		t.Skipf("%s is not set", roundsEnv)
	}
	// Sequences are replicated for 32 numbers ahead, so a standby repeats a number only after as many.
	const accounts = 40
	s := newSystem(t, scenario{standby: true})
	l := &load{system: s}
	from := s.createCustomer(0)
	transfer := func() {
		_, err := l.call(http.MethodPost, "/transfer-in", transferBody(from.bank, from.account), http.StatusCreated)
		s.must(err)
	}
	s.must(s.standby.CatchUp(waitContext(t), s.postgres))
	s.must(s.standby.StopReplication(waitContext(t)))
	l.fundNewCustomers(accounts)
	for range 3 { // the first ones use an account that they create
		transfer()
	}
	l.awaitEnd()
	if moved := l.ledgerBalances()["rails/ACH USD"]; moved != -3*transferAmount {
		t.Fatalf("the transfers moved %d, want %d", moved, -3*transferAmount)
	}

	s.postgres.Kill()
	s.must(s.standby.Exec(waitContext(t), "SELECT pg_promote()"))
	l.fundNewCustomers(2 * accounts)
	for range 2 {
		transfer()
	}
	l.awaitEnd()

	if moved := l.ledgerBalances()["rails/ACH USD"]; moved != -2*transferAmount {
		t.Errorf("the transfers moved %d, want %d", moved, -2*transferAmount)
	}
	got := l.mustCall(http.MethodGet, "/customers/internal-accounts?currency=USD&customerId="+from.id, nil, http.StatusOK)
	if balance := got.int(t, "data.0.balance.amount"); balance != initialBalance+2*transferAmount {
		t.Errorf("the balance is %d, want %d", balance, initialBalance+2*transferAmount)
	}
	l.checkLedger()
}
