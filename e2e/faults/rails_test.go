package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// railSystem is a production platform with one customer, whose payments go over one connection.
type railSystem struct {
	*system
	rand       *rand.Rand
	connection string
	currency   string
	customer   string
	payee      string // an account of the customer elsewhere
}

// newRailSystem opens a connection before the service starts. What is drawn depends on FAULT_SEED, if that is set.
func newRailSystem(t *testing.T, connection, currency string, document kit.Object, payee kit.Object) *railSystem {
	t.Helper()
	s := &railSystem{system: openSystem(t, scenario{}), connection: connection, currency: currency}
	seed := rand.Uint64()
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s must be a number", seedEnv)
		}
	}
	t.Logf("%s=%d", seedEnv, seed)
	s.rand = rand.New(rand.NewPCG(seed, 0))

	text, err := json.Marshal(document)
	s.must(err)
	file := filepath.Join(t.TempDir(), "connection.json")
	s.must(os.WriteFile(file, text, 0o600))
	s.operator("rails", "set", connection, file, "--note", "Account at a partner", "--actor", "ana")
	s.operator("rails", "test", connection)
	s.addProcess(s.startProxy(scenario{}))
	s.createPlatform("PRODUCTION")
	s.supportCurrency()
	s.customer = s.mustCall(http.MethodPost, "/customers", kit.CustomerBody(), http.StatusCreated).text("id")
	s.payee = s.mustCall(http.MethodPost, "/customers/external-accounts", kit.AccountBody(s.customer, currency, payee),
		http.StatusCreated).text("id")
	return s
}

// seedEnv repeats what a test of reports has drawn.
const seedEnv = "FAULT_SEED"

// faultRounds is how often each fault happens, at least 2. Without roundsEnv the test is skipped.
func faultRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv(roundsEnv)
	if text == "" {
		t.Skipf("%s is not set", roundsEnv)
	}
	rounds, err := strconv.Atoi(text)
	if err != nil || rounds < 1 {
		t.Fatalf("%s must be a number from 1", roundsEnv)
	}
	return max(2, rounds)
}

// supportCurrency adds the currency of the connection to those of the platform.
func (s *railSystem) supportCurrency() {
	s.t.Helper()
	config, _ := s.mustCall(http.MethodGet, "/config", nil, http.StatusOK).document.(map[string]any)
	supported, _ := config["supportedCurrencies"].([]any)
	if slices.ContainsFunc(supported, func(c any) bool { return c.(map[string]any)["currencyCode"] == s.currency }) {
		return
	}
	supported = append(supported, kit.Object{"currencyCode": s.currency, "minAmount": 1, "maxAmount": 9_000_000_000_000_000,
		"requiredCounterpartyFields": []any{}, "enabledTransactionTypes": []any{"OUTGOING", "INCOMING"}})
	s.mustCall(http.MethodPatch, "/config", kit.Object{"supportedCurrencies": supported}, http.StatusOK)
}

// operator runs a command of the operator.
func (s *railSystem) operator(args ...string) string {
	s.t.Helper()
	result, err := kit.MustSucceed(waitContext(s.t), kit.Command{Program: binary, Args: args, Env: environment(s.ownerURL)})
	s.must(err)
	return result.Output
}

// quote creates a quote that pays an exact amount to the payee. It returns the transaction, what has to be paid, and its reference.
func (s *railSystem) quote(minor int64) (transaction string, pays int64, reference string) {
	s.t.Helper()
	quote := s.mustCall(http.MethodPost, "/quotes", kit.Object{"source": kit.Object{"customerId": s.customer, "currency": s.currency},
		"destination":        kit.Object{"destinationType": "ACCOUNT", "accountId": s.payee},
		"lockedCurrencySide": "RECEIVING", "lockedCurrencyAmount": minor}, http.StatusCreated)
	return quote.text("transactionId"), quote.int(s.t, "totalSendingAmount"), quote.text("paymentInstructions.0.accountOrWalletInfo.reference")
}

// awaitTransaction waits until a transaction has a value.
func (s *railSystem) awaitTransaction(id, path, want string) {
	s.t.Helper()
	var last response
	s.eventually(func() string { return fmt.Sprintf("%s is %s: %s", path, want, last.body) }, func() bool {
		last = s.mustCall(http.MethodGet, "/transactions/"+id, nil, http.StatusOK)
		return last.text(path) == want
	})
}

// keptAside is a report that was kept aside.
type keptAside struct{ kind, place, problem string }

// aside returns what was kept aside and still is.
func (s *railSystem) aside() (items []keptAside) {
	s.t.Helper()
	rows, err := s.db.QueryContext(waitContext(s.t),
		"SELECT kind, place, problem FROM rail_feed_items WHERE connection = $1 AND discarded_at IS NULL ORDER BY kept_at", s.connection)
	s.must(err)
	defer rows.Close()
	for rows.Next() {
		var i keptAside
		s.must(rows.Scan(&i.kind, &i.place, &i.problem))
		items = append(items, i)
	}
	s.must(rows.Err())
	return items
}

// awaitProof waits until the ledger has what the partner holds.
func (s *railSystem) awaitProof(want string) {
	s.t.Helper()
	var last kit.Result
	s.eventually(func() string { return "the proof of " + want + ": " + last.Output }, func() bool {
		var err error
		last, err = kit.Run(waitContext(s.t), kit.Command{Program: binary, Args: []string{"rails", "prove"}, Env: environment(s.ownerURL)})
		return err == nil && last.ExitCode == 0 && strings.Contains(last.Output, s.connection) && strings.Contains(last.Output, want)
	})
}

// checkPostings checks that nothing was posted twice, that the log blames the database for nothing, and the ledger.
func (s *railSystem) checkPostings() {
	s.t.Helper()
	const repeated = `SELECT count(*) FROM (SELECT FROM ledger_postings WHERE transaction_id IS NOT NULL GROUP BY transaction_id, kind HAVING count(*) > 1) t`
	if n := s.queryInt(repeated); n > 0 {
		s.t.Errorf("%d transactions were posted more than once in a kind", n)
	}
	for _, p := range s.processes {
		if strings.Contains(p.running.Output(), "the database is not available") {
			s.t.Errorf("the log blames the database:\n%s", p.running.Tail())
		}
	}
	(&load{system: s.system}).checkLedger()
}
