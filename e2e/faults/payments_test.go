package faults

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"causeway/adapters/apiclient"
	"causeway/core/sandbox"
	"causeway/e2e/kit"
)

// umaDomain is the domain of the sandbox's receivers.
const umaDomain = "people.example"

// payment is a payment that was accepted, and what it must lead to.
type payment struct {
	kind           string
	transactionID  string
	status, refund string   // final
	events         []string // all of them, in order
	// moves are the changes of balances, credits less debits: of internal accounts by their id, and of
	// the ledger's accounts by path and currency.
	moves map[string]int64
	// actions are those of an agent that led to the payment, or that were rejected or failed. A payment that was not made
	// has no transactionID.
	actions []action
	// arrivals are the incoming payments that it makes on the same platform.
	arrivals int
}

// kinds are the kinds of payments. Each customer makes each of them.
var kinds = []struct {
	name string
	pay  func(l *load, from, to *customer) (payment, error)
}{
	{"quote paid from the balance", func(l *load, from, _ *customer) (payment, error) {
		return l.execute(from, kit.Object{"accountId": from.wallet}, nil, "chains/LAYER2 BTC")
	}},
	{"quote funded just in time", func(l *load, from, _ *customer) (payment, error) { return l.fund(from, from.wallet) }},
	{"transfer out", func(l *load, from, _ *customer) (payment, error) { return l.transferOut(from) }},
	{"transfer in", func(l *load, from, _ *customer) (payment, error) {
		got, err := l.call(http.MethodPost, "/transfer-in", transferBody(from.bank, from.account), http.StatusCreated)
		return payment{transactionID: got.text("id"), status: "COMPLETED", events: []string{"INCOMING_PAYMENT.COMPLETED"},
			moves: map[string]int64{from.account: transferAmount, "rails/ACH USD": -transferAmount}}, err
	}},
	{"payment to a UMA address", func(l *load, from, _ *customer) (payment, error) {
		return l.payReceiver(from, "$success.eur@"+umaDomain, "rails/UMA")
	}},
	{"payment to a UMA address of the same platform", func(l *load, from, to *customer) (payment, error) {
		one, err := l.payReceiver(from, to.umaAddress, to.account)
		one.arrivals = 1
		return one, err
	}},
	{"incoming payment that is approved", func(l *load, from, _ *customer) (payment, error) { return l.receive(from, approvedAmount) }},
	{"incoming payment that is rejected", func(l *load, from, _ *customer) (payment, error) { return l.receive(from, rejectedAmount) }},
	{"incoming payment that is approved later", func(l *load, from, _ *customer) (payment, error) { return l.receive(from, deferredAmount) }},
	{"refund to the balance", func(l *load, from, _ *customer) (payment, error) {
		one, err := l.execute(from, kit.Object{"accountId": from.failingWallet}, nil, "chains/LAYER2 BTC")
		return one.refunded(), err
	}},
	{"payment from a wallet", func(l *load, from, _ *customer) (payment, error) { return l.executeSigned(from, from.wallet) }},
	{"payment to a wallet", func(l *load, from, _ *customer) (payment, error) {
		return l.execute(from, kit.Object{"accountId": from.embedded}, nil, from.embedded)
	}},
	{"refund to a wallet", func(l *load, from, _ *customer) (payment, error) {
		one, err := l.executeSigned(from, from.failingWallet)
		return one.refunded(), err
	}},
	{"payment by an agent", func(l *load, from, _ *customer) (payment, error) {
		return l.executeBy(from, from.wallet, automaticAmount)
	}},
	{askedTwice, func(l *load, from, _ *customer) (payment, error) {
		return l.executeBy(from, from.wallet, automaticAmount+1)
	}},
	{"payment by an agent that is rejected", func(l *load, from, _ *customer) (payment, error) { return l.rejectTransfer(from) }},
	{"refund of a payment by an agent", func(l *load, from, _ *customer) (payment, error) {
		one, err := l.executeBy(from, from.failingWallet, automaticAmount)
		return one.refunded(), err
	}},
	{"payment by an agent at its limits", func(l *load, from, _ *customer) (payment, error) { return l.raceAtLimit(from, transferAmount) }},
	{"payment by an agent at its limits that is approved", func(l *load, from, _ *customer) (payment, error) {
		return l.raceAtLimit(from, automaticAmount+transferAmount)
	}},
	{"refund to the source", func(l *load, from, _ *customer) (payment, error) {
		one, err := l.fund(from, from.failingWallet)
		return one.refunded(), err
	}},
}

var (
	deliveredEvents = []string{"OUTGOING_PAYMENT.PENDING", "OUTGOING_PAYMENT.PROCESSING", "OUTGOING_PAYMENT.COMPLETED"}
	refundedEvents  = []string{"OUTGOING_PAYMENT.PENDING", "OUTGOING_PAYMENT.PROCESSING", "OUTGOING_PAYMENT.FAILED",
		"OUTGOING_PAYMENT.REFUND_PENDING", "OUTGOING_PAYMENT.REFUND_COMPLETED"}
)

const (
	transferAmount = 1000
	quoteAmount    = 10050
)

func transferBody(from, to string) kit.Object {
	return kit.Object{"source": kit.Object{"accountId": from}, "destination": kit.Object{"accountId": to}, "amount": transferAmount}
}

// refunded returns the payment as one that is refused after it was accepted: no money moves.
func (p payment) refunded() payment {
	p.status, p.refund, p.events, p.moves = "FAILED", "COMPLETED", refundedEvents, nil
	return p
}

// pay makes one payment.
func (l *load) pay(turn int) (payment, error) {
	kind := kinds[turn%len(kinds)]
	at := turn / len(kinds)
	one, err := kind.pay(l, l.customers[at%len(l.customers)], l.customers[(at+1)%len(l.customers)])
	one.kind = kind.name
	return one, err
}

// quote creates a quote in dollars.
func (l *load) quote(from, to kit.Object, more kit.Object) (response, error) {
	body := kit.Object{"source": from, "destination": to, "lockedCurrencySide": "SENDING", "lockedCurrencyAmount": quoteAmount}
	for name, value := range more {
		body[name] = value
	}
	return l.call(http.MethodPost, "/quotes", body, http.StatusCreated)
}

// delivered returns the payment of a quote that is delivered to an account.
func (l *load) delivered(quote response, from, to string) payment {
	return payment{transactionID: quote.text("transactionId"), status: "COMPLETED", events: deliveredEvents,
		moves: map[string]int64{from: -quote.int(l.t, "totalSendingAmount"), to: quote.int(l.t, "totalReceivingAmount")}}
}

// execute pays a quote from the customer's balance. The money arrives at a rail, or at an internal
// account.
func (l *load) execute(from *customer, to, more kit.Object, arrives string) (payment, error) {
	quote, err := l.quote(kit.Object{"accountId": from.account}, to, more)
	if err != nil {
		return payment{}, err
	}
	_, err = l.call(http.MethodPost, "/quotes/"+quote.text("id")+"/execute", nil, http.StatusOK)
	return l.delivered(quote, from.account, arrives), err
}

// transferOut pays from the customer's balance to their bank, with one request.
func (l *load) transferOut(from *customer) (payment, error) {
	got, err := l.call(http.MethodPost, "/transfer-out", transferBody(from.account, from.bank), http.StatusCreated)
	return payment{kind: "transfer out", transactionID: got.text("id"), status: "COMPLETED", events: deliveredEvents,
		moves: map[string]int64{from.account: -transferAmount, "rails/RTP USD": transferAmount}}, err
}

// executeSigned pays a quote from the customer's wallet, with a valid signature.
func (l *load) executeSigned(from *customer, to string) (payment, error) {
	quote, err := l.quote(kit.Object{"accountId": from.embedded}, kit.Object{"accountId": to},
		kit.Object{"lockedCurrencyAmount": quoteAmount * 1000})
	if err != nil {
		return payment{}, err
	}
	_, err = l.repeat(apiclient.Request{Method: http.MethodPost, Path: "/quotes/" + quote.text("id") + "/execute",
		Signature: sandbox.WalletSignature}, nil, http.StatusOK)
	return l.delivered(quote, from.embedded, "chains/LAYER2 BTC"), err
}

// fund pays a quote by its reference.
func (l *load) fund(from *customer, to string) (payment, error) {
	quote, err := l.quote(kit.Object{"customerId": from.id, "currency": "USD"}, kit.Object{"accountId": to}, nil)
	if err != nil {
		return payment{}, err
	}
	_, err = l.call(http.MethodPost, "/sandbox/send",
		kit.Object{"reference": quote.text("paymentInstructions.0.accountOrWalletInfo.reference"), "currencyCode": "USD"}, http.StatusOK)
	return l.delivered(quote, "rails/RTP USD", "chains/LAYER2 BTC"), err
}

// payReceiver looks a UMA address up and pays to it from the balance.
func (l *load) payReceiver(from *customer, address, arrives string) (payment, error) {
	found, err := l.call(http.MethodGet, "/receiver/uma/"+url.PathEscape(address)+"?customerId="+from.id, nil, http.StatusOK)
	if err != nil {
		return payment{}, err
	}
	if arrives == "rails/UMA" {
		arrives += " " + found.text("supportedCurrencies.0.currency.code")
	}
	return l.execute(from, kit.Object{"destinationType": "UMA_ADDRESS", "umaAddress": address,
		"currency": found.text("supportedCurrencies.0.currency.code")},
		kit.Object{"lookupId": found.text("lookupId"), "senderCustomerInfo": kit.Object{"FULL_NAME": "Ana Silva"}}, arrives)
}

// receive simulates a payment from another provider. The amount selects what the platform decides.
func (l *load) receive(to *customer, amount int64) (payment, error) {
	got, err := l.call(http.MethodPost, "/sandbox/uma/receive", kit.Object{"senderUmaAddress": "$bo.berg@bank.example", "customerId": to.id,
		"receivingCurrencyCode": "USD", "receivingCurrencyAmount": amount}, http.StatusOK)
	one := payment{transactionID: got.text("id"), status: "FAILED", events: []string{"INCOMING_PAYMENT.FAILED"}}
	if err != nil || amount == rejectedAmount {
		return one, err
	}
	if amount == deferredAmount {
		approved, err := l.approve(one.transactionID)
		if err != nil || !approved {
			return one, err
		}
	}
	one.status, one.events = "COMPLETED", []string{"INCOMING_PAYMENT.COMPLETED"}
	one.moves = map[string]int64{to.account: amount, "rails/UMA USD": -amount}
	return one, nil
}

// approve approves a payment when the endpoint was asked, and reports whether it was in time.
func (l *load) approve(transaction string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), recoveryTimeout)
	defer cancel()
	for !l.receiver.isPending(transaction) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return false, fmt.Errorf("the endpoint was not asked about %s within %s", transaction, recoveryTimeout)
		}
	}
	got, err := l.call(http.MethodPost, "/transactions/"+transaction+"/approve", nil, http.StatusOK, http.StatusConflict)
	return got.status == http.StatusOK, err
}
