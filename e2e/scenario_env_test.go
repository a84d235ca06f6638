package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/e2e/kit"
)

// scenarioEnv is a platform with one customer, on which one scenario runs.
type scenarioEnv struct {
	*testEnv
	customerID string
	// requestedAt is when the request was sent that the scenario is about.
	requestedAt time.Time
}

// newScenarioEnv creates the platform and starts its receiver.
func (h *testEnv) newScenarioEnv(t *testing.T) *scenarioEnv {
	t.Helper()
	env := *h
	env.t = t
	env.tenant = env.createPlatform(t.Name(), "SANDBOX", "--regulated")
	env.startReceiver()
	return &scenarioEnv{testEnv: &env, customerID: env.createCustomer()}
}

// postTimed sends the request that the scenario is about.
func (s *scenarioEnv) postTimed(path string, body any) apiResponse {
	s.t.Helper()
	s.requestedAt = time.Now()
	return s.post(path, body)
}

// createExternalAccount creates an external account of the customer.
func (s *scenarioEnv) createExternalAccount(currency string, info object) string {
	s.t.Helper()
	return s.post("/customers/external-accounts", object{"customerId": s.customerID, "currency": currency, "accountInfo": info}).wantStatus(
		201).text("id")
}

var testBeneficiary = object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US",
	"countryOfResidence": "DE"}

// createUSDAccount and the next functions create an account whose identifier has a suffix, a
// test value.
func (s *scenarioEnv) createUSDAccount(end string) string {
	s.t.Helper()
	return s.createExternalAccount("USD", object{"accountType": "US_ACCOUNT", "accountNumber": fmt.Sprintf("55%07d", kit.SerialNumber()) + end,
		"routingNumber": "021000021", "beneficiary": testBeneficiary})
}

func (s *scenarioEnv) createEURAccount(end string) string {
	s.t.Helper()
	return s.createExternalAccount("EUR", object{"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013" + end,
		"beneficiary": testBeneficiary})
}

func (s *scenarioEnv) createBRLAccount(end string) string {
	s.t.Helper()
	return s.createExternalAccount("BRL", object{"accountType": "BRL_ACCOUNT", "pixKey": "testuser." + end + "@pay999.example.com",
		"pixKeyType": "EMAIL", "taxId": "12345678909", "beneficiary": testBeneficiary})
}

func (s *scenarioEnv) createBTCWallet(end string) string {
	s.t.Helper()
	return s.createWallet(s.customerID, end)
}

// internalAccounts lists the customer's account in a currency.
func (s *scenarioEnv) internalAccounts(currency string) apiResponse {
	s.t.Helper()
	return s.get("/customers/internal-accounts?customerId=" + s.customerID + "&currency=" + currency).wantStatus(200)
}

// fundUSDAccount deposits dollars into the customer's account.
func (s *scenarioEnv) fundUSDAccount(amount int64) string {
	s.t.Helper()
	account := s.internalAccounts("USD").text("data.0.id")
	s.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": amount}).wantStatus(200).wantValues(map[string]any{"id": account,
		"balance.amount": amount})
	return account
}

// awaitIdle returns when the platform has no jobs and no events to send, except the expiry of
// unpaid quotes.
func (s *scenarioEnv) awaitIdle() {
	s.t.Helper()
	eventually(s.t, "the end of all jobs and webhooks", func() bool {
		return s.queryInt(`SELECT (SELECT count(*) FROM jobs WHERE platform_id = $1 AND step <> 'expire')
			+ (SELECT count(*) FROM webhook_queue WHERE platform_id = $1) + (SELECT count(*) FROM webhook_backlog WHERE platform_id = $1)`,
			uuidOf(s.platformID)) == 0
	})
}

// checkPostings compares all entries of the platform, in order.
func (s *scenarioEnv) checkPostings(want []string) {
	s.t.Helper()
	rows, err := s.db.Query(`
		SELECT kind, d.path, c.path, amount, e.currency FROM ledger_postings p
		JOIN ledger_entries e USING (platform_id, seq)
		JOIN ledger_accounts d ON d.platform_id = p.platform_id AND d.id = debit_account_id
		JOIN ledger_accounts c ON c.platform_id = p.platform_id AND c.id = credit_account_id
		WHERE p.platform_id = $1 ORDER BY seq, entry_no`, uuidOf(s.platformID))
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var kind, currency string
		var l ledgerEntry
		if err := rows.Scan(&kind, &l.debit, &l.credit, &l.amount, &currency); err != nil {
			s.t.Fatal(err)
		}
		l.currency, l.debit, l.credit = currency, s.accountAlias(l.debit), s.accountAlias(l.credit)
		got = append(got, postingLines(kind, l)...)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the ledger has\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// accountAlias returns "customer" for every account of the customer, and "platform" for those
// of the platform.
func (s *scenarioEnv) accountAlias(path string) string {
	switch owner, _, _ := strings.Cut(path, "/"); owner {
	case "customers", "wallets":
		return "customer"
	case "platform":
		return owner
	default:
		return path
	}
}

// checkBalances compares the balance events of the customer's accounts, by currency, and of
// the platform's, by "platform " and currency, in order, and the final balances.
func (s *scenarioEnv) checkBalances(want map[string][]int64) {
	s.t.Helper()
	if balances := s.notifiedBalances(); !maps.EqualFunc(balances, want, slices.Equal) {
		s.t.Errorf("balances in events %v, want %v", balances, want)
	}
	s.checkFinalBalances(s.get("/customers/internal-accounts?limit=100&customerId="+s.customerID).wantStatus(200), "", want)
	s.checkFinalBalances(s.get("/platform/internal-accounts").wantStatus(200), "platform ", want)
}

// notifiedBalances returns the balances in events, in order, by the same names.
func (s *scenarioEnv) notifiedBalances() map[string][]int64 {
	s.receiver.mu.Lock()
	defer s.receiver.mu.Unlock()
	balances := map[string][]int64{}
	for _, d := range s.receiver.deliveries {
		if d.event == "INTERNAL_ACCOUNT.BALANCE_UPDATED" && !d.repeated {
			name := d.text("internalAccount.balance.currency.code")
			if d.text("internalAccount.customerId") == "" {
				name = "platform " + name
			}
			balances[name] = append(balances[name], d.int("internalAccount.balance.amount"))
		}
	}
	return balances
}

// checkFinalBalances compares the balances of accounts with the last wanted ones.
func (s *scenarioEnv) checkFinalBalances(accounts apiResponse, owner string, want map[string][]int64) {
	s.t.Helper()
	if len(accounts.list("data")) == 0 {
		s.t.Errorf("%s: no accounts", accounts.request)
	}
	for i := range accounts.list("data") {
		prefix := fmt.Sprintf("data.%d.balance.", i)
		var left int64
		if history := want[owner+accounts.text(prefix+"currency.code")]; len(history) > 0 {
			left = history[len(history)-1]
		}
		accounts.wantValues(map[string]any{prefix + "amount": left})
	}
}
