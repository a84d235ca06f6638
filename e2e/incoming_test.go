package e2e

import (
	"slices"
	"strings"
	"testing"
)

// usdBalance returns the balance of a customer in dollars, in cents.
func (p *tenant) usdBalance(customer string) int64 {
	p.t.Helper()
	return p.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).int("data.0.balance.amount")
}

// umaPaymentBody is an incoming payment of 12.50 dollars.
func umaPaymentBody(customer string) object {
	return object{"senderUmaAddress": "$bo.berg@bank.example", "customerId": customer,
		"receivingCurrencyCode": "USD", "receivingCurrencyAmount": 12_50}
}

// awaitIncomingEvent returns the last event about an incoming payment.
func (h *webhookReceiver) awaitIncomingEvent(transaction, event string) delivery {
	h.t.Helper()
	return h.awaitDelivery(event+" of "+transaction, func(d delivery) bool {
		return d.transactionID == transaction && d.event == "INCOMING_PAYMENT."+event
	})
}

func TestIncomingPayment_PlatformApproval(t *testing.T) {
	t.Parallel()
	// The platform receives one approval request for a payment from another provider, and its
	// response decides: 200 credits the account, 202 waits for its decision, anything else
	// fails the payment, with its reason. The request is in the list of deliveries.
	h := newSharedEnv(t)
	ana := h.createCustomer(object{"umaAddress": "$ana@uma.sandbox.test"})
	h.post("/sandbox/uma/receive", umaPaymentBody(ana)).wantError(400, "WEBHOOK_ENDPOINT_NOT_SET")
	hooks := h.startReceiver()
	h.patch("/config", object{"supportedCurrencies": []object{{"currencyCode": "USD", "minAmount": 1, "maxAmount": 1_000_000,
		"requiredCounterpartyFields": []object{{"name": "FULL_NAME", "mandatory": true}}, "enabledTransactionTypes": []string{"INCOMING",
			"OUTGOING"}}}}).wantStatus(200)
	second := secondServer(t)

	var credited int64
	for _, test := range []struct {
		what   string
		status int
		reply  string
		decide func(id string)
		event  string
		reason string
	}{
		{"yes", 200, `{"receiverCustomerInfo": {"NATIONALITY": "US"}}`, nil, "COMPLETED", ""},
		{"yes, without a word", 200, "", nil, "COMPLETED", ""},
		{"no", 403, `{"code": 403, "message": "no", "reason": "not today"}`, nil, "FAILED", "PAY_REQUEST_FAILED"},
		{"who is it", 422, `{"requiredFields": ["TAX_ID"]}`, nil, "FAILED", "PAY_REQUEST_FAILED"},
		{"a mistake", 500, "", nil, "FAILED", "PAYMENT_APPROVAL_WEBHOOK_ERROR"},
		{"approved at another server", 202, "", func(id string) {
			h.withServer(second).post("/transactions/"+id+"/approve", nil).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED",
				"type": "INCOMING"})
		}, "COMPLETED", ""},
		{"rejected", 202, "", func(id string) {
			h.post("/transactions/"+id+"/reject", object{"reason": "not today"}).wantStatus(200).wantValues(map[string]any{"status": "FAILED"})
		}, "FAILED", "PAY_REQUEST_FAILED"},
		{"forgotten", 202, "", nil, "FAILED", "PAYMENT_APPROVAL_TIMED_OUT"},
	} {
		hooks.setApprovalResponse(test.status, test.reply)
		payment := h.post("/sandbox/uma/receive", umaPaymentBody(ana)).wantStatus(200)
		id := payment.text("id")
		payment.wantValues(map[string]any{"status": "PENDING", "type": "INCOMING", "customerId": ana,
			"source.umaAddress": "$bo.berg@bank.example",
			"senderUmaAddress":  "$bo.berg@bank.example", "receiverUmaAddress": "$ana@uma.sandbox.test",
			"counterpartyInformation.FULL_NAME": "Bo Berg"})

		request := hooks.awaitIncomingEvent(id, "PENDING")
		if test.decide != nil {
			test.decide(id)
		}
		event := hooks.awaitIncomingEvent(id, test.event)

		request.wantValues(map[string]any{"type": "INCOMING_PAYMENT", "transaction.status": "PENDING",
			"transaction.counterpartyInformation.FULL_NAME": "Bo Berg"})
		if n := len(hooks.attempts(request.id)); n != 1 {
			t.Errorf("%s: %d approval requests", test.what, n)
		}
		event.wantValues(map[string]any{"type": "INCOMING_PAYMENT", "transaction.status": test.event})
		if test.reason != "" {
			event.wantValues(map[string]any{"transaction.failureReason": test.reason})
			if test.reason == "PAY_REQUEST_FAILED" && test.status != 422 {
				event.wantValues(map[string]any{"transaction.rejectionReason": "not today"})
			}
		} else {
			credited += 12_50
		}
		if got := h.usdBalance(ana); got != credited {
			t.Errorf("%s: the balance is %d, want %d", test.what, got, credited)
		}
		// The approval request is stored once its response has been processed.
		eventually(t, "the delivery is stored", func() bool { return h.get("/webhook-deliveries/"+request.id).status == 200 })
		delivery := h.get("/webhook-deliveries/" + request.id).wantStatus(200)
		delivery.wantValues(map[string]any{"event": "INCOMING_PAYMENT.PENDING", "transactionId": id,
			"attempts.0.statusCode": float64(test.status)})
		if len(delivery.list("attempts")) != 1 {
			t.Errorf("%s: %s", test.what, delivery.body)
		}
		for _, decision := range []string{"approve", "reject"} {
			h.post("/transactions/"+id+"/"+decision, nil).wantError(409, "TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL")
		}
	}
	if found := h.get("/transactions?type=INCOMING&senderAccountIdentifier=%24bo.berg@bank.example&limit=100").list("data"); len(found) != 8 {
		t.Errorf("%d transactions of the sender, want 8", len(found))
	}
}

func TestIncomingPayment_ApprovalSurvivesUnreadableKeys(t *testing.T) {
	t.Parallel()
	// While the signing keys cannot be read, nothing can be sent, and this is no failure of the
	// endpoint: a payment that needs approval stays pending, no attempt is counted, and no event
	// is lost. The platform is asked as soon as the keys can be read.
	h := newTestEnv(t)
	h.exec("REVOKE SELECT ON webhook_keys FROM causeway_service")
	hooks := h.startReceiverNoWait()
	ana := h.createCustomer()
	payment := h.post("/sandbox/uma/receive", umaPaymentBody(ana)).wantStatus(200).text("id")
	quote := h.createQuote("")
	h.payQuote(quote, 0).wantStatus(200)
	eventually(t, "a repeated request for approval", func() bool {
		return h.queryInt("SELECT count(*) FROM jobs WHERE step = 'request-approval' AND attempts > 1") == 1
	})
	h.get("/transactions/" + payment).wantStatus(200).wantValues(map[string]any{"status": "PENDING"})
	if n := h.queryInt("SELECT count(*) FROM webhook_attempts"); n != 0 {
		t.Errorf("%d attempts are recorded", n)
	}

	h.exec("GRANT SELECT ON webhook_keys TO causeway_service")

	hooks.awaitDelivery("TEST", func(d delivery) bool { return d.event == "TEST" })
	hooks.awaitIncomingEvent(payment, "PENDING")
	hooks.awaitIncomingEvent(payment, "COMPLETED")
	hooks.checkEvents(quote.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
}

func TestIncomingPayment_DepositAndPull(t *testing.T) {
	t.Parallel()
	// An account is funded by a deposit and by a pull from a bank account; each is listed as a
	// transaction and sends events about itself and about the balance.
	h := newTestEnv(t, "--sandbox-speed", "30")
	ana := h.createCustomer()
	hooks := h.startReceiver()
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + ana).text("data.0.id")

	funded := h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 50_00}).wantStatus(200)
	funded.wantValues(map[string]any{"id": account, "balance.amount": 50_00.0, "balance.currency.code": "USD", "customerId": ana})
	transfer := object{"source": object{"accountId": h.createBankAccount(ana)}, "destination": object{"accountId": account}, "amount": 25_00}
	pulled := h.post("/transfer-in", transfer).wantStatus(201)
	pulled.wantValues(map[string]any{"status": "PENDING", "type": "INCOMING", "receivedAmount.amount": 25_00.0})
	if settledAt := pulled.value("settledAt"); settledAt != nil {
		t.Errorf("settled at %v before it was received", settledAt)
	}
	event := hooks.awaitIncomingEvent(pulled.text("id"), "COMPLETED")
	event.wantValues(map[string]any{"transaction.status": "COMPLETED"})
	hooks.awaitDelivery("the balance", func(d delivery) bool {
		return d.event == "INTERNAL_ACCOUNT.BALANCE_UPDATED" && d.text("internalAccount.id") == account &&
			d.int("internalAccount.balance.amount") == 75_00
	})

	empty := usAccountBody(ana)
	empty["accountInfo"].(object)["accountNumber"] = "5500000002"
	broke := h.post("/customers/external-accounts", empty).wantStatus(201).text("id")
	failed := h.post("/transfer-in", object{"source": object{"accountId": broke}, "destination": object{"accountId": account},
		"amount": 100}).wantStatus(201)
	hooks.awaitIncomingEvent(failed.text("id"), "FAILED").wantValues(map[string]any{"transaction.failureReason": "COLLECTION_FAILED"})

	if got := h.usdBalance(ana); got != 75_00 {
		t.Errorf("the balance is %d", got)
	}
	h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 0}).wantError(400, "INVALID_INPUT")
	h.post("/sandbox/internal-accounts/"+account[:len(account)-4]+"0000/fund", object{"amount": 1}).wantError(404,
		"INTERNAL_ACCOUNT_NOT_FOUND")
	h.post("/transfer-in", object{"source": object{"accountId": h.createWallet(ana, "")}, "destination": object{"accountId": account},
		"amount": 1}).wantError(400, "INVALID_CURRENCY")

	again := h.withHeader("Idempotency-Key", "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b")
	first, repeated := again.post("/transfer-in", transfer).wantStatus(201), again.post("/transfer-in", transfer).wantStatus(201)
	if first.text("id") != repeated.text("id") {
		t.Error("a repeated transfer was made twice")
	}
	hooks.awaitIncomingEvent(first.text("id"), "COMPLETED")
	if got := h.usdBalance(ana); got != 100_00 {
		t.Errorf("the balance is %d", got)
	}
}

func TestReceiver_Lookup(t *testing.T) {
	t.Parallel()
	// A receiver at another provider, a customer of the same platform and an external account
	// can be looked up; an unknown receiver, oneself, and a request without a sender are
	// rejected.
	h := newSharedEnv(t)
	ana := h.createCustomer(object{"umaAddress": "$ana@uma.sandbox.test"})
	h.createCustomer(object{"umaAddress": "$bo@uma.sandbox.test"})
	by := "?customerId=" + ana

	person := h.get("/receiver/uma/%24success.eur@sandbox.uma.test" + by).wantStatus(200)
	person.wantValues(map[string]any{"receiverUmaAddress": "$success.eur@sandbox.uma.test", "supportedCurrencies.0.currency.code": "EUR"})
	if !strings.HasPrefix(person.text("lookupId"), "Lookup:") || person.int("supportedCurrencies.0.min") < 1 ||
		person.int("supportedCurrencies.0.max") <= person.int("supportedCurrencies.0.min") ||
		person.rat("supportedCurrencies.0.estimatedExchangeRate").Sign() <= 0 {
		t.Errorf("%s", person.body)
	}
	h.get("/receiver/uma/%24bo@uma.sandbox.test?senderUmaAddress=%24ana@uma.sandbox.test").wantStatus(200).wantValues(
		map[string]any{"receiverUmaAddress": "$bo@uma.sandbox.test"})
	bank := h.createBankAccount(ana)
	h.get("/receiver/external-account/" + bank + by).wantStatus(200).wantValues(map[string]any{"accountId": bank,
		"supportedCurrencies.0.currency.code": "USD"})

	h.get("/receiver/uma/%24nobody@sandbox.uma.test"+by).wantError(404, "UMA_NOT_FOUND")
	h.get("/receiver/uma/%24ana@uma.sandbox.test"+by).wantError(400, "SELF_PAYMENT")
	h.get("/receiver/uma/ana"+by).wantError(400, "INVALID_UMA_ADDRESS")
	h.get("/receiver/uma/%24success.eur@sandbox.uma.test").wantError(400, "INVALID_INPUT")
	h.get("/uma-providers?currencyCode=EUR").wantStatus(200).wantValues(map[string]any{"data.0.domain": "sandbox.uma.test", "totalCount": 1.0})
	if found := h.get("/uma-providers?currencyCode=JPY").wantStatus(200).list("data"); len(found) != 0 {
		t.Errorf("providers for yen: %v", found)
	}
}

func TestUMAPayment_BetweenCustomers(t *testing.T) {
	t.Parallel()
	// A customer pays another of the same platform by address, also across currencies: if the
	// platform approves, the other customer has the money; if not, the payer has it back.
	h := newSharedEnv(t)
	ana, bo := h.createCustomer(object{"umaAddress": "$ana@uma.sandbox.test"}), h.createCustomer(object{"umaAddress": "$bo@uma.sandbox.test"})
	hooks := h.startReceiver()
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + ana).text("data.0.id")
	h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100_00}).wantStatus(200)
	pay := func(currency string) apiResponse {
		event := h.get("/receiver/uma/%24bo@uma.sandbox.test?customerId=" + ana).wantStatus(200)
		return h.post("/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": account}, "lookupId": event.text("lookupId"),
			"destination":        object{"destinationType": "UMA_ADDRESS", "umaAddress": "$bo@uma.sandbox.test", "currency": currency},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 20_00, "immediatelyExecute": true}).wantStatus(201)
	}
	incoming := func(not ...string) apiResponse {
		return hooks.awaitDelivery("the question", func(d delivery) bool {
			return d.event == "INCOMING_PAYMENT.PENDING" && !slices.Contains(not, d.transactionID)
		}).apiResponse
	}

	hooks.setApprovalResponse(200, "")
	taken := pay("USD")
	first := incoming().text("transaction.id")
	hooks.checkEvents(taken.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	hooks.awaitIncomingEvent(first, "COMPLETED").wantValues(map[string]any{"transaction.receivedAmount.amount": 20_00.0,
		"transaction.senderUmaAddress": "$ana@uma.sandbox.test"})
	if a, b := h.usdBalance(ana), h.usdBalance(bo); a != 80_00 || b != 20_00 {
		t.Errorf("Ana has %d and Bo %d", a, b)
	}

	hooks.setApprovalResponse(403, `{"reason": "not him"}`)
	rejected := pay("USD")
	second := incoming(first).text("transaction.id")
	hooks.checkEvents(rejected.text("transactionId"), "PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
	hooks.awaitIncomingEvent(second, "FAILED")
	if a, b := h.usdBalance(ana), h.usdBalance(bo); a != 80_00 || b != 20_00 {
		t.Errorf("Ana has %d and Bo %d", a, b)
	}

	hooks.setApprovalResponse(200, "")
	exchanged := pay("BTC")
	hooks.checkEvents(exchanged.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	got := h.get("/customers/internal-accounts?currency=BTC&customerId=" + bo).int("data.0.balance.amount")
	if a := h.usdBalance(ana); a != 60_00 || got != exchanged.int("totalReceivingAmount") {
		t.Errorf("Ana has %d, and Bo %d of %s", a, got, exchanged.body)
	}
}
