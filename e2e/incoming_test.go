package e2e

import (
	"slices"
	"strings"
	"testing"
)

// balance is what a customer holds in dollars, in cents.
func (p *party) balance(customer string) int64 {
	p.t.Helper()
	return p.get("/customers/internal-accounts?currency=USD&customerId=" + customer).want(200).int("data.0.balance.amount")
}

// lunch is 12.50 dollars that somebody elsewhere pays a customer.
func lunch(customer string) object {
	return object{"senderUmaAddress": "$bo.berg@bank.example", "customerId": customer,
		"receivingCurrencyCode": "USD", "receivingCurrencyAmount": 12_50}
}

// ended awaits the last event about an incoming payment.
func (h *hooks) ended(transaction, event string) delivery {
	h.t.Helper()
	return h.await(event+" of "+transaction, func(d delivery) bool {
		return d.about == transaction && d.event == "INCOMING_PAYMENT."+event
	})
}

func TestApprovalOfIncomingPayments(t *testing.T) {
	t.Parallel()
	// The platform is asked about a payment from another provider once, and what it answers
	// decides: 200 credits the account, 202 waits for its decision, everything else fails
	// the payment, with its reason. The question stands among the deliveries.
	h := newHouse(t)
	ana := h.customer(object{"umaAddress": "$ana@uma.example.com"})
	h.post("/sandbox/uma/receive", lunch(ana)).refused(400, "WEBHOOK_ENDPOINT_NOT_SET")
	hooks := h.listen()
	h.patch("/config", object{"supportedCurrencies": []object{{"currencyCode": "USD", "minAmount": 1, "maxAmount": 1_000_000,
		"requiredCounterpartyFields": []object{{"name": "FULL_NAME", "mandatory": true}}, "enabledTransactionTypes": []string{"INCOMING", "OUTGOING"}}}}).want(200)
	second := serve(t, h.database)

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
		{"no", 403, `{"code": 403, "message": "no", "reason": "not her"}`, nil, "FAILED", "PAY_REQUEST_FAILED"},
		{"who is it", 422, `{"requiredFields": ["TAX_ID"]}`, nil, "FAILED", "PAY_REQUEST_FAILED"},
		{"a mistake", 500, "", nil, "FAILED", "PAYMENT_APPROVAL_WEBHOOK_ERROR"},
		{"approved at another server", 202, "", func(id string) {
			h.at(second).post("/transactions/"+id+"/approve", nil).want(200).each(map[string]any{"status": "COMPLETED", "type": "INCOMING"})
		}, "COMPLETED", ""},
		{"rejected", 202, "", func(id string) {
			h.post("/transactions/"+id+"/reject", object{"reason": "not today"}).want(200).each(map[string]any{"status": "FAILED"})
		}, "FAILED", "PAY_REQUEST_FAILED"},
		{"forgotten", 202, "", nil, "FAILED", "PAYMENT_APPROVAL_TIMED_OUT"},
	} {
		hooks.say(test.status, test.reply)
		made := h.post("/sandbox/uma/receive", lunch(ana)).want(200)
		id := made.str("id")
		made.each(map[string]any{"status": "PENDING", "type": "INCOMING", "customerId": ana, "source.umaAddress": "$bo.berg@bank.example",
			"senderUmaAddress": "$bo.berg@bank.example", "receiverUmaAddress": "$ana@uma.example.com", "counterpartyInformation.FULL_NAME": "Bo Berg"})

		asked := hooks.ended(id, "PENDING")
		if test.decide != nil {
			test.decide(id)
		}
		told := hooks.ended(id, test.event)

		asked.each(map[string]any{"type": "INCOMING_PAYMENT", "transaction.status": "PENDING", "transaction.counterpartyInformation.FULL_NAME": "Bo Berg"})
		if n := len(hooks.attempts(asked.id)); n != 1 {
			t.Errorf("%s: asked %d times", test.what, n)
		}
		told.each(map[string]any{"type": "INCOMING_PAYMENT", "transaction.status": test.event})
		if test.reason != "" {
			told.each(map[string]any{"transaction.failureReason": test.reason})
		} else {
			credited += 12_50
		}
		if got := h.balance(ana); got != credited {
			t.Errorf("%s: the balance is %d, want %d", test.what, got, credited)
		}
		// How the platform was asked is kept once its answer has been acted upon.
		until(t, "the delivery is kept", func() bool { return h.get("/webhook-deliveries/"+asked.id).status == 200 })
		delivery := h.get("/webhook-deliveries/" + asked.id).want(200)
		delivery.each(map[string]any{"event": "INCOMING_PAYMENT.PENDING", "transactionId": id, "attempts.0.statusCode": float64(test.status)})
		if len(delivery.list("attempts")) != 1 {
			t.Errorf("%s: %s", test.what, delivery.text)
		}
		for _, decision := range []string{"approve", "reject"} {
			h.post("/transactions/"+id+"/"+decision, nil).refused(409, "TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL")
		}
	}
	if found := h.get("/transactions?type=INCOMING&senderAccountIdentifier=%24bo.berg@bank.example&limit=100").list("data"); len(found) != 8 {
		t.Errorf("%d transactions of the sender, want 8", len(found))
	}
}

func TestMoneyComesIn(t *testing.T) {
	t.Parallel()
	// A balance is funded by a deposit and by a pull from a bank account; each stands among
	// the transactions, and the platform is told of it and of the balance.
	h := newHouse(t, "--sandbox-speed", "30")
	ana := h.customer()
	hooks := h.listen()
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + ana).str("data.0.id")

	funded := h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 50_00}).want(200)
	funded.each(map[string]any{"id": account, "balance.amount": 50_00.0, "balance.currency.code": "USD", "customerId": ana})
	transfer := object{"source": object{"accountId": h.bank(ana)}, "destination": object{"accountId": account}, "amount": 25_00}
	pulled := h.post("/transfer-in", transfer).want(201)
	pulled.each(map[string]any{"status": "PENDING", "type": "INCOMING", "receivedAmount.amount": 25_00.0})
	if at := pulled.value("settledAt"); at != nil {
		t.Errorf("settled at %v before it came", at)
	}
	told := hooks.ended(pulled.str("id"), "COMPLETED")
	told.each(map[string]any{"transaction.status": "COMPLETED"})
	hooks.await("the balance", func(d delivery) bool {
		return d.event == "INTERNAL_ACCOUNT.BALANCE_UPDATED" && d.str("internalAccount.id") == account && d.int("internalAccount.balance.amount") == 75_00
	})

	empty := usAccount(ana)
	empty["accountInfo"].(object)["accountNumber"] = "5500000002"
	broke := h.post("/customers/external-accounts", empty).want(201).str("id")
	failed := h.post("/transfer-in", object{"source": object{"accountId": broke}, "destination": object{"accountId": account}, "amount": 1}).want(201)
	hooks.ended(failed.str("id"), "FAILED").each(map[string]any{"transaction.failureReason": "QUOTE_EXECUTION_FAILED"})

	if got := h.balance(ana); got != 75_00 {
		t.Errorf("the balance is %d", got)
	}
	h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 0}).refused(400, "INVALID_INPUT")
	h.post("/sandbox/internal-accounts/"+account[:len(account)-4]+"0000/fund", object{"amount": 1}).refused(404, "INTERNAL_ACCOUNT_NOT_FOUND")
	h.post("/transfer-in", object{"source": object{"accountId": h.wallet(ana, "")}, "destination": object{"accountId": account}, "amount": 1}).refused(400, "INVALID_CURRENCY")

	again := h.with("Idempotency-Key", "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b")
	first, repeated := again.post("/transfer-in", transfer).want(201), again.post("/transfer-in", transfer).want(201)
	if first.str("id") != repeated.str("id") {
		t.Error("a repeated transfer was made twice")
	}
	hooks.ended(first.str("id"), "COMPLETED")
	if got := h.balance(ana); got != 100_00 {
		t.Errorf("the balance is %d", got)
	}
}

func TestReceiversAreLookedUp(t *testing.T) {
	t.Parallel()
	// A person elsewhere, one of the platform's own customers and an external account can
	// be asked about; who nobody is, oneself, and a question without a sender are refused.
	h := newHouse(t)
	ana := h.customer(object{"umaAddress": "$ana@uma.example.com"})
	h.customer(object{"umaAddress": "$bo@uma.example.com"})
	by := "?customerId=" + ana

	person := h.get("/receiver/uma/%24success.eur@sandbox.uma.test" + by).want(200)
	person.each(map[string]any{"receiverUmaAddress": "$success.eur@sandbox.uma.test", "supportedCurrencies.0.currency.code": "EUR"})
	if !strings.HasPrefix(person.str("lookupId"), "Lookup:") || person.int("supportedCurrencies.0.min") < 1 ||
		person.int("supportedCurrencies.0.max") <= person.int("supportedCurrencies.0.min") || person.rat("supportedCurrencies.0.estimatedExchangeRate").Sign() <= 0 {
		t.Errorf("%s", person.text)
	}
	h.get("/receiver/uma/%24bo@uma.example.com?senderUmaAddress=%24ana@uma.example.com").want(200).each(map[string]any{"receiverUmaAddress": "$bo@uma.example.com"})
	bank := h.bank(ana)
	h.get("/receiver/external-account/" + bank + by).want(200).each(map[string]any{"accountId": bank, "supportedCurrencies.0.currency.code": "USD"})

	h.get("/receiver/uma/%24nobody@sandbox.uma.test"+by).refused(404, "UMA_NOT_FOUND")
	h.get("/receiver/uma/%24ana@uma.example.com"+by).refused(400, "SELF_PAYMENT")
	h.get("/receiver/uma/ana"+by).refused(400, "INVALID_UMA_ADDRESS")
	h.get("/receiver/uma/%24success.eur@sandbox.uma.test").refused(400, "INVALID_INPUT")
	h.get("/uma-providers?currencyCode=EUR").want(200).each(map[string]any{"data.0.domain": "sandbox.uma.test", "totalCount": 1.0})
	if found := h.get("/uma-providers?currencyCode=JPY").want(200).list("data"); len(found) != 0 {
		t.Errorf("providers for yen: %v", found)
	}
}

func TestCustomersPayEachOther(t *testing.T) {
	t.Parallel()
	// A customer pays another of the same platform by address: the platform is asked, and
	// when it takes the payment the other has the money; when it does not, the payer has
	// it back. Across currencies too.
	h := newHouse(t)
	ana, bo := h.customer(object{"umaAddress": "$ana@uma.example.com"}), h.customer(object{"umaAddress": "$bo@uma.example.com"})
	hooks := h.listen()
	account := h.get("/customers/internal-accounts?currency=USD&customerId=" + ana).str("data.0.id")
	h.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100_00}).want(200)
	pay := func(currency string) answer {
		told := h.get("/receiver/uma/%24bo@uma.example.com?customerId=" + ana).want(200)
		return h.post("/quotes", object{"source": object{"sourceType": "ACCOUNT", "accountId": account}, "lookupId": told.str("lookupId"),
			"destination":        object{"destinationType": "UMA_ADDRESS", "umaAddress": "$bo@uma.example.com", "currency": currency},
			"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 20_00, "immediatelyExecute": true}).want(201)
	}
	incoming := func(not ...string) answer {
		return hooks.await("the question", func(d delivery) bool { return d.event == "INCOMING_PAYMENT.PENDING" && !slices.Contains(not, d.about) }).answer
	}

	hooks.say(200, "")
	taken := pay("USD")
	first := incoming().str("transaction.id")
	hooks.story(taken.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	hooks.ended(first, "COMPLETED").each(map[string]any{"transaction.receivedAmount.amount": 20_00.0, "transaction.senderUmaAddress": "$ana@uma.example.com"})
	if a, b := h.balance(ana), h.balance(bo); a != 80_00 || b != 20_00 {
		t.Errorf("Ana has %d and Bo %d", a, b)
	}

	hooks.say(403, `{"reason": "not him"}`)
	refused := pay("USD")
	second := incoming(first).str("transaction.id")
	hooks.story(refused.str("transactionId"), "PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
	hooks.ended(second, "FAILED")
	if a, b := h.balance(ana), h.balance(bo); a != 80_00 || b != 20_00 {
		t.Errorf("Ana has %d and Bo %d", a, b)
	}

	hooks.say(200, "")
	exchanged := pay("BTC")
	hooks.story(exchanged.str("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	got := h.get("/customers/internal-accounts?currency=BTC&customerId=" + bo).int("data.0.balance.amount")
	if a := h.balance(ana); a != 60_00 || got != exchanged.int("totalReceivingAmount") {
		t.Errorf("Ana has %d, and Bo %d of %s", a, got, exchanged.text)
	}
}
