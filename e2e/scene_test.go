package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// scene is a platform with one customer, on which one scenario is played.
type scene struct {
	*house
	customer string
	// ordered is when the order went out whose effect is played.
	ordered time.Time
}

// scene makes the platform, whose receiver listens.
func (h *house) scene(t *testing.T) *scene {
	t.Helper()
	here := *h
	here.t = t
	here.party = here.found(t.Name(), "SANDBOX", "--regulated")
	here.listen()
	return &scene{house: &here, customer: here.customer()}
}

// order is the request whose effect is played.
func (s *scene) order(path string, body any) answer {
	s.t.Helper()
	s.ordered = time.Now()
	return s.post(path, body)
}

// register makes an external account of the customer.
func (s *scene) register(currency string, info object) string {
	s.t.Helper()
	return s.post("/customers/external-accounts", object{"customerId": s.customer, "currency": currency, "accountInfo": info}).want(201).str("id")
}

var ana = object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US", "countryOfResidence": "DE"}

// dollars, euros, reais and bitcoin register an account whose identifier ends so.
func (s *scene) dollars(end string) string {
	s.t.Helper()
	return s.register("USD", object{"accountType": "US_ACCOUNT", "accountNumber": fmt.Sprintf("55%07d", serial.Add(1)) + end, "routingNumber": "021000021", "beneficiary": ana})
}

func (s *scene) euros(end string) string {
	s.t.Helper()
	return s.register("EUR", object{"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013" + end, "beneficiary": ana})
}

func (s *scene) reais(end string) string {
	s.t.Helper()
	return s.register("BRL", object{"accountType": "BRL_ACCOUNT", "pixKey": "testuser." + end + "@pay999.example.com", "pixKeyType": "EMAIL", "taxId": "12345678909", "beneficiary": ana})
}

func (s *scene) bitcoin(end string) string { s.t.Helper(); return s.wallet(s.customer, end) }

// internal is the customer's account in a currency, as it is listed.
func (s *scene) internal(currency string) answer {
	s.t.Helper()
	return s.get("/customers/internal-accounts?customerId=" + s.customer + "&currency=" + currency).want(200)
}

// fund pays dollars into the customer's account.
func (s *scene) fund(amount int64) string {
	s.t.Helper()
	account := s.internal("USD").str("data.0.id")
	s.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": amount}).want(200).each(map[string]any{"id": account, "balance.amount": amount})
	return account
}

// quiet returns when nothing of the platform is left to do or to tell but to end
// quotes that nobody pays.
func (s *scene) quiet() {
	s.t.Helper()
	until(s.t, "the end of all work", func() bool {
		return s.count(`SELECT (SELECT count(*) FROM jobs WHERE platform_id = $1 AND step <> 'expire')
			+ (SELECT count(*) FROM webhook_queue WHERE platform_id = $1) + (SELECT count(*) FROM webhook_backlog WHERE platform_id = $1)`, bare(s.platform)) == 0
	})
}

// checkPostings compares all entries of the platform's books, in order.
func (s *scene) checkPostings(want []string) {
	s.t.Helper()
	rows, err := s.db.Query(`
		SELECT kind, d.path, c.path, amount, e.currency FROM ledger_postings p
		JOIN ledger_entries e USING (platform_id, seq)
		JOIN ledger_accounts d ON d.platform_id = p.platform_id AND d.id = debit_account
		JOIN ledger_accounts c ON c.platform_id = p.platform_id AND c.id = credit_account
		WHERE p.platform_id = $1 ORDER BY seq, n`, bare(s.platform))
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var kind, currency string
		var l leg
		if err := rows.Scan(&kind, &l.from, &l.to, &l.amount, &currency); err != nil {
			s.t.Fatal(err)
		}
		l.currency, l.from, l.to = currency, s.alias(l.from), s.alias(l.to)
		got = append(got, posting(kind, l)...)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the books hold\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// alias calls every account of the customer "customer", and of the platform "platform".
func (s *scene) alias(path string) string {
	switch owner, _, _ := strings.Cut(path, "/"); owner {
	case "customers", "wallets":
		return "customer"
	case "platform":
		return owner
	default:
		return path
	}
}

// checkBalances compares what was told of the customer's accounts, by currency, and of
// the platform's, by "platform " and currency, in order, and what they hold in the end.
func (s *scene) checkBalances(want map[string][]int64) {
	s.t.Helper()
	if told := s.told(); !maps.EqualFunc(told, want, slices.Equal) {
		s.t.Errorf("told the balances %v, want %v", told, want)
	}
	s.checkHeld(s.get("/customers/internal-accounts?limit=100&customerId="+s.customer).want(200), "", want)
	s.checkHeld(s.get("/platform/internal-accounts").want(200), "platform ", want)
}

// told are the balances that were told, in order, by the same names.
func (s *scene) told() map[string][]int64 {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	told := map[string][]int64{}
	for _, d := range s.hooks.all {
		if d.event == "INTERNAL_ACCOUNT.BALANCE_UPDATED" && !d.again {
			name := d.str("internalAccount.balance.currency.code")
			if d.str("internalAccount.customerId") == "" {
				name = "platform " + name
			}
			told[name] = append(told[name], d.int("internalAccount.balance.amount"))
		}
	}
	return told
}

// checkHeld compares what accounts hold with the last that was to be told of them.
func (s *scene) checkHeld(accounts answer, owner string, want map[string][]int64) {
	s.t.Helper()
	if len(accounts.list("data")) == 0 {
		s.t.Errorf("%s: no accounts", accounts.what)
	}
	for i := range accounts.list("data") {
		at := fmt.Sprintf("data.%d.balance.", i)
		var left int64
		if history := want[owner+accounts.str(at+"currency.code")]; len(history) > 0 {
			left = history[len(history)-1]
		}
		accounts.each(map[string]any{at + "amount": left})
	}
}
