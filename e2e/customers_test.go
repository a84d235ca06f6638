package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// payments are the requests that move money of one customer.
type payments struct {
	p                                 *tenant
	customer, uma                     string
	balance, own, bank, wallet        string
	prefunded, justInTime, depositRef string // a quote, the quote of a reference, and the reference of the balance
	reference                         string
}

// preparePayments creates a customer with 100.00 dollars, accounts and quotes.
func preparePayments(p *tenant, change ...object) payments {
	in := payments{p: p, customer: p.createCustomer(change...)}
	in.uma = p.get("/customers/" + in.customer).text("umaAddress")
	account := p.get("/customers/internal-accounts?currency=USD&customerId=" + in.customer).wantStatus(200)
	in.balance, in.depositRef = account.text("data.0.id"), account.text("data.0.fundingPaymentInstructions.0.accountOrWalletInfo.reference")
	in.own = p.get("/platform/internal-accounts?currency=USD").wantStatus(200).text("data.0.id")
	p.post("/sandbox/internal-accounts/"+in.own+"/fund", object{"amount": 100_00}).wantStatus(200)
	in.bank, in.wallet = p.createBankAccount(in.customer), p.createWallet(in.customer, "")
	return in
}

// fund deposits 100.00 dollars and creates the quotes.
func (in *payments) fund() {
	in.p.post("/sandbox/internal-accounts/"+in.balance+"/fund", object{"amount": 100_00}).wantStatus(200)
	in.prefunded = in.p.post("/quotes", in.quoteBody(in.balance)).wantStatus(201).text("id")
	justInTime := in.p.post("/quotes", kit.RampQuoteBody(in.customer, in.wallet, "SENDING", 100_50)).wantStatus(201)
	in.justInTime, in.reference = justInTime.text("transactionId"), justInTime.text("paymentInstructions.0.accountOrWalletInfo.reference")
}

func (in *payments) quoteBody(from string) object {
	return object{"source": object{"sourceType": "ACCOUNT", "accountId": from}, "destination": object{"destinationType": "ACCOUNT",
		"accountId": in.wallet},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 20_00}
}

// begin sends every request that begins a payment, and returns the responses.
func (in *payments) begin() map[string]apiResponse {
	p := in.p
	transfer := func(from, to string) object {
		return object{"source": object{"accountId": from}, "destination": object{"accountId": to}, "amount": 10_00}
	}
	return map[string]apiResponse{
		"quote just in time":      p.post("/quotes", kit.RampQuoteBody(in.customer, in.wallet, "SENDING", 100_50)),
		"quote from the balance":  p.post("/quotes", in.quoteBody(in.balance)),
		"quote from the platform": p.post("/quotes", in.quoteBody(in.own)),
		"transfer in":             p.post("/transfer-in", transfer(in.bank, in.balance)),
		"transfer out":            p.post("/transfer-out", transfer(in.balance, in.bank)),
		"lookup of an address":    p.get("/receiver/uma/%24success.eur@sandbox.uma.test?customerId=" + in.customer),
		"lookup of an account":    p.get("/receiver/external-account/" + in.bank + "?customerId=" + in.customer),
		"UMA payment to the customer": p.post("/sandbox/uma/receive", object{"senderUmaAddress": "$bo@bank.example", "customerId": in.customer,
			"receivingCurrencyCode": "USD", "receivingCurrencyAmount": 10_00}),
		"UMA payment to the address": p.post("/sandbox/uma/receive", object{"senderUmaAddress": "$bo@bank.example", "receiverUmaAddress": in.uma,
			"receivingCurrencyCode": "USD", "receivingCurrencyAmount": 10_00}),
		"sandbox fund": p.post("/sandbox/internal-accounts/"+in.balance+"/fund", object{"amount": 10_00}),
		"deposit": p.post("/sandbox/send", object{"reference": in.depositRef, "currencyCode": "USD",
			"currencyAmount": 10_00}),
	}
}

func TestCustomers_NotReadyMovesNoMoney(t *testing.T) {
	t.Parallel()
	// Every request that begins a payment is refused for a business that is not verified yet, and for a
	// customer who was approved and is rejected: neither runs a quote from before. What is paid for such a
	// quote is refunded.
	h := newSharedEnv(t)
	p := h.createPlatform("Open", "SANDBOX")
	p.startReceiver()
	business := preparePayments(p, object{"customerType": "BUSINESS", "businessInfo": object{"legalName": "Ben GmbH"}})
	person := preparePayments(p)
	person.fund()
	h.exec("UPDATE customers SET status = 'REJECTED' WHERE id = $1", uuidOf(person.customer))

	for _, in := range []payments{business, person} {
		for name, response := range in.begin() {
			if response.status != 403 || response.text("code") != "USER_NOT_READY" {
				t.Errorf("%s of %s: %d %s", name, in.customer, response.status, response.body)
			}
		}
	}
	p.post("/quotes/"+person.prefunded+"/execute", nil).wantError(403, "USER_NOT_READY")
	p.post("/sandbox/send", object{"reference": person.reference, "currencyCode": "USD"}).wantStatus(200)

	eventually(t, "a refund", func() bool {
		return p.get("/transactions/"+person.justInTime).wantStatus(200).text("refund.status") == "COMPLETED"
	})
	if balance := p.usdBalance(person.customer); balance != 100_00 {
		t.Errorf("the balance is %d", balance)
	}
	p.delete("/customers/"+person.customer).wantError(409, "CONFLICT").wantValues(map[string]any{"details.balances.USD": 100_00})
}

func TestCustomers_DeletedMovesNoMoney(t *testing.T) {
	t.Parallel()
	// A customer with money cannot be deleted. Once it is deleted, nothing begins for it, its open quotes
	// do not run and what is paid for them is refunded; its history remains, and its ids are free.
	h := newSharedEnv(t)
	h.startReceiver()
	in := preparePayments(h.tenant, object{"platformCustomerId": "ana", "umaAddress": "$ana@uma.sandbox.test"})
	in.fund()
	h.delete("/customers/"+in.customer).wantError(409, "CONFLICT")
	out := h.post("/transfer-out", object{"source": object{"accountId": in.balance}, "destination": object{"accountId": in.bank},
		"amount": 100_00}).wantStatus(201).text("id")
	eventually(t, "a settled payment", func() bool { return h.get("/transactions/"+out).text("status") == "COMPLETED" })

	h.delete("/customers/" + in.customer).wantStatus(200).wantValues(map[string]any{"id": in.customer, "isDeleted": true})

	for name, response := range in.begin() {
		if response.status != 404 && response.status != 410 {
			t.Errorf("%s: %d %s", name, response.status, response.body)
		}
	}
	h.post("/quotes/"+in.prefunded+"/execute", nil).wantError(409, "QUOTE_NOT_EXECUTABLE")
	h.post("/sandbox/send", object{"reference": in.reference, "currencyCode": "USD"}).wantStatus(200)
	eventually(t, "a refund", func() bool {
		return h.get("/transactions/"+in.justInTime).wantStatus(200).text("refund.status") == "COMPLETED"
	})
	h.delete("/customers/"+in.customer).wantError(410, "CUSTOMER_DELETED")
	h.get("/customers/" + in.customer).wantStatus(200).wantValues(map[string]any{"isDeleted": true, "platformCustomerId": "ana"})
	h.get("/customers/external-accounts/"+in.bank).wantError(404, "EXTERNAL_ACCOUNT_NOT_FOUND")
	h.get("/transactions?platformCustomerId=ana").wantStatus(200).wantValues(map[string]any{"totalCount": 4})
	if successor := h.createCustomer(object{"platformCustomerId": "ana", "umaAddress": "$ana@uma.sandbox.test"}); h.usdBalance(
		successor) != 0 {
		t.Error("the successor has the balance of the customer")
	}
}

func TestCustomers_CurrencyRequiresFields(t *testing.T) {
	t.Parallel()
	// The configuration lists what a currency requires of a customer. A customer without it is created; it has no external
	// account before it has a name, and its quotes in the currency are refused until all fields are added.
	h := newSharedEnv(t)
	h.support("CNY")
	h.get("/config").wantStatus(200).wantValues(map[string]any{"supportedCurrencies.4.providerRequiredCustomerFields.1": "BIRTH_DATE",
		"supportedCurrencies.0.providerRequiredCustomerFields.0": "FULL_NAME", "supportedCurrencies.0.providerRequiredCustomerFields.1": ""})
	customer := h.post("/customers", object{"customerType": "INDIVIDUAL", "currencies": []string{"USD"}}).wantStatus(201).text("id")
	unnamed := map[string]any{"details.errors.0.field": "fullName", "details.missingFields.0": "FULL_NAME"}

	h.post("/customers/external-accounts", kit.WalletBody(customer, "a")).wantError(400, "MISSING_MANDATORY_USER_INFO").wantValues(unnamed)
	dollars := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")
	body := kit.RampQuoteBody(customer, dollars, "SENDING", 100_50)
	h.post("/quotes", body).wantError(400, "MISSING_MANDATORY_USER_INFO").wantValues(unnamed)
	h.patch("/customers/"+customer, object{"customerType": "INDIVIDUAL", "fullName": "Ana Silva"}).wantStatus(200)

	h.post("/quotes", kit.RampQuoteBody(customer, h.createWallet(customer, ""), "SENDING", 100_50)).wantStatus(201)
}

func TestCustomers_ConcurrentUpdatesAreAllKept(t *testing.T) {
	t.Parallel()
	// Updates of different fields at the same time are all kept, and identical deletions succeed once.
	h := newSharedEnv(t)
	business := h.createCustomer(object{"customerType": "BUSINESS", "businessInfo": object{"legalName": "Ben GmbH"}})
	changes := []object{
		{"email": "ben@example.com"}, {"currencies": []string{"EUR"}}, {"businessInfo": object{"taxId": "DE1"}},
		{"businessInfo": object{"country": "DE"}},
		{"businessInfo": object{"entityType": "LLC"}}, {"businessInfo": object{"sourceOfFunds": "sales"}},
	}
	statuses := make(chan int, len(changes))
	for _, change := range changes {
		change["customerType"] = "BUSINESS"
		go func() {
			response, err := h.do(t.Context(), "PATCH", "/customers/"+business, change)
			if err != nil {
				t.Error(err)
			}
			statuses <- response.status
		}()
	}
	for range changes {
		if status := <-statuses; status != 200 {
			t.Errorf("status %d", status)
		}
	}

	h.get("/customers/" + business).wantStatus(200).wantValues(map[string]any{"email": "ben@example.com", "currencies.0": "EUR",
		"businessInfo.taxId":   "DE1",
		"businessInfo.country": "DE", "businessInfo.entityType": "LLC", "businessInfo.sourceOfFunds": "sales",
		"businessInfo.legalName": "Ben GmbH"})
	for range changes {
		go func() {
			response, err := h.do(t.Context(), "DELETE", "/customers/"+business, nil)
			if err != nil {
				t.Error(err)
			}
			statuses <- response.status
		}()
	}
	counted := map[int]int{}
	for range changes {
		counted[<-statuses]++
	}
	if counted[200] != 1 || counted[410] != len(changes)-1 {
		t.Errorf("deleted with %v", counted)
	}
}

func TestCustomers_OperatorErases(t *testing.T) {
	t.Parallel()
	// An operator erases a deleted customer at once if no law asks to keep its data: the API shows nothing of
	// it any more but its payments, its webhooks have no resource any more, and the books pass: the evidence of the
	// texts of its payments says that they were erased. Without the flag, and before the deletion, it is refused.
	h := newTestEnv(t, "--seal-every", "1s")
	hooks := h.startReceiver()
	in := preparePayments(h.tenant, object{"platformCustomerId": "zacharias", "umaAddress": "$zacharias@uma.sandbox.test",
		"fullName": "Zacharias Quux", "email": "z@example.com"})
	in.fund()
	body := in.quoteBody(in.balance)
	body["description"] = "Rent of Zacharias"
	described := h.post("/quotes", body).wantStatus(201)
	h.post("/quotes/"+described.text("id")+"/execute", nil).wantStatus(200)
	out := h.post("/transfer-out", object{"source": object{"accountId": in.balance}, "destination": object{"accountId": in.bank},
		"amount": 80_00}).wantStatus(201).text("id")
	eventually(t, "the texts of the payments are sealed", func() bool {
		if h.get("/transactions/"+described.text("transactionId")).text("status") != "COMPLETED" ||
			h.get("/transactions/"+out).text("status") != "COMPLETED" {
			return false
		}
		return h.queryInt("SELECT count(*) FROM ledger_evidence WHERE 'transaction-texts' = ANY (kinds) AND $1 = ANY (subjects)",
			uuidOf(out)) == 1
	})
	sent := hooks.awaitDelivery("a settled payment", func(d delivery) bool { return d.event == "OUTGOING_PAYMENT.COMPLETED" })
	erase := func(want int, says string, flags ...string) {
		t.Helper()
		text, errors, status := runCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey},
			append([]string{"customers", "erase", in.customer, "--platform", h.platformID, "--actor", "ana"}, flags...)...)
		if status != want || !strings.Contains(text+errors, says) {
			t.Errorf("erase %q: status %d\n%s%s\nwant %d and %q", flags, status, text, errors, want, says)
		}
	}

	erase(1, "is not deleted", "--now")
	h.delete("/customers/" + in.customer).wantStatus(200)
	erase(1, "kept until")
	erase(0, "external accounts", "--now")
	erase(1, "was erased", "--now")

	erased := h.get("/customers/" + in.customer).wantStatus(200).wantValues(map[string]any{"isDeleted": true, "customerType": "INDIVIDUAL"})
	if text := strings.ToLower(string(erased.body)); strings.Contains(text, "zacharias") || strings.Contains(text, "z@example.com") {
		t.Errorf("still %s", erased.body)
	}
	h.get("/transactions/" + out).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED", "sentAmount.amount": 80_00})
	h.post("/webhook-deliveries/"+sent.id+"/redeliver", nil).wantStatus(200)
	again := hooks.awaitDelivery("the event without its resource", func(d delivery) bool {
		return d.id == sent.id &&
			d.value("transaction") == nil
	})
	if again.event != sent.event || again.value("timestamp") != sent.value("timestamp") || sent.value("transaction") == nil {
		t.Errorf("sent %v, and after the erasure %v", sent, again)
	}
	text, errors, status := runCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "customers", "show",
		in.customer, "--platform", h.platformID)
	if status != 0 || !strings.Contains(text, "erased") || strings.Contains(strings.ToLower(text), "zacharias") {
		t.Errorf("show: status %d\n%s%s", status, text, errors)
	}
	verified := mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "ledger", "verify")
	if !regexp.MustCompile(`erased texts are those of deleted customers +[1-9]\d* +transactions +passed`).MatchString(verified) {
		t.Errorf("verify:\n%s", verified)
	}
	text, errors, status = runCommand(t, []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}, "customers", "list",
		"--deleted", "--platform", h.platformID)
	if status != 0 || !strings.Contains(text, in.customer) {
		t.Errorf("list: status %d\n%s%s", status, text, errors)
	}
}

func TestPlatform_OperatorSetsRegulated(t *testing.T) {
	t.Parallel()
	// Only the operator makes a platform regulated: then its new customers are approved, and its present
	// ones keep their status. The platform itself cannot.
	h := newSharedEnv(t)
	p := h.createPlatform("Open", "SANDBOX")
	firm := func() apiResponse {
		return p.post("/customers", object{"customerType": "BUSINESS", "businessInfo": object{"legalName": "Ben GmbH"}}).wantStatus(201)
	}
	before := firm().wantValues(map[string]any{"kybStatus": "PENDING"})
	p.patch("/config", object{"isRegulatedFinancialInstitution": true}).wantStatus(200).wantValues(
		map[string]any{"isRegulatedFinancialInstitution": false})

	set := func(flag, says string, value ...string) {
		t.Helper()
		environment := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey}
		arguments := slices.Concat([]string{"platform", "set", "--platform", p.platformID, "--actor", "ana", flag}, value)
		if text, errors, status := runCommand(t, environment, arguments...); status != 0 || !strings.Contains(text, says) {
			t.Fatalf("%s: status %d\n%s%s", flag, status, text, errors)
		}
	}
	set("--regulated", "is regulated. Its customers of the European Economic Area and the United Kingdom need")
	set("--no-sca-payments", "They pay without an authorization of each payment.")
	set("--sca-payments", "They authorise each payment, with the exemptions NONE.")
	set("--sca-exemptions", "They authorise each payment, with the exemptions LOW_VALUE.", "LOW_VALUE")
	p.get("/config").wantStatus(200).wantValues(map[string]any{"isRegulatedFinancialInstitution": true})
	firm().wantValues(map[string]any{"kybStatus": "APPROVED"})
	p.get("/customers/" + before.text("id")).wantValues(map[string]any{"kybStatus": "PENDING"})
	set("--no-regulated", "is not regulated")
	firm().wantValues(map[string]any{"kybStatus": "PENDING"})
}
