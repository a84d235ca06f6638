package faults

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/apiclient"
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

// reviewLostCommits waits until lost commits are noticed, checks that nothing is paid, reviews every finding, and returns how many
// commits the findings name.
func (s *system) reviewLostCommits(from *customer) (lost int) {
	s.t.Helper()
	recovery := func(args ...string) string {
		result, err := kit.MustSucceed(waitContext(s.t), kit.Command{Program: binary, Args: append([]string{"recover"}, args...),
			Env: []string{"DATABASE_URL=" + s.ownerURL}})
		s.must(err)
		return result.Output
	}
	open := func() (numbers []string, lost int) {
		for _, row := range strings.Split(strings.TrimSpace(recovery("list", "--output", "csv")), "\n")[1:] {
			cells := strings.Split(row, ",")
			if cells[3] == "" {
				numbers = append(numbers, cells[0])
			}
			named, err := strconv.Atoi(cells[2])
			s.must(err)
			lost += named
		}
		return numbers, lost
	}
	s.eventually(func() string { return "the new primary is used" }, s.isReady)
	s.eventually(func() string { return "the loss is noticed" }, func() bool {
		numbers, _ := open()
		return len(numbers) > 0
	})
	pay := func() response {
		request := apiclient.Request{Method: http.MethodPost, Path: "/sandbox/internal-accounts/" + from.account + "/fund",
			Body: kit.Object{"amount": transferAmount}, IdempotencyKey: uuid.NewString()}
		got, err := s.attempt(waitContext(s.t), s.processes[0], request, nil)
		s.must(err)
		return got
	}
	if refused := pay(); refused.status != http.StatusServiceUnavailable {
		s.t.Errorf("paid after a loss: %d %s", refused.status, refused.body)
	}
	numbers, lost := open()
	shown := ""
	for _, number := range numbers {
		shown += recovery("show", number, "--limit", "1000", "--output", "csv")
	}
	for _, kind := range []string{"POSTING", "EVENT,"} {
		if !strings.Contains(shown, kind) {
			s.t.Errorf("the findings name no %s:\n%.2000s", kind, shown)
		}
	}
	for _, number := range numbers {
		recovery("review", number, "--note", "A test", "--actor", "ana")
	}
	return lost
}

func TestLostCommits_ProcessPostsToTheAccountsOfTheNewPrimary(t *testing.T) {
	t.Parallel()
	// A standby takes over that has not received the last commits. A process notices that its postings are missing, and no money moves
	// until that is reviewed. The process goes on without a restart. It has used accounts of the ledger that were created in those
	// commits, whose ids the new primary gives to others: each payment changes its own accounts and no others.
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
	if lost := s.reviewLostCommits(from); lost < accounts {
		t.Errorf("%d commits are known to be lost, want %d at least", lost, accounts)
	}
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
