package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// fundedAccount are an internal account with money in it, an external account in the same
// currency, and the bodies of what is asked of them.
type fundedAccount struct {
	accountID                                        string // InternalAccount:<uuid>
	payoutQuoteBody, transferOutBody, transferInBody []byte
	deposited, netMoved                              atomic.Int64 // what was paid in at first, and what work has added or taken since; cents
}

// newFundedAccount are those of a customer with this internal account and bank account.
func newFundedAccount(c customer, accountID, bankID string) *fundedAccount {
	transfer := func(from, to string) []byte {
		return fmt.Appendf(nil, `{"source":{"accountId":%q},"destination":{"accountId":%q},"amount":%d}`, from, to, rampAmount)
	}
	return &fundedAccount{accountID: accountID, transferOutBody: transfer(accountID, bankID), transferInBody: transfer(bankID, accountID),
		payoutQuoteBody: fmt.Appendf(nil, `{"source":{"accountId":%q,"customerId":%q},"destination":{"destinationType":"ACCOUNT","accountId":%q},`+
			`"lockedCurrencySide":"SENDING","lockedCurrencyAmount":%d}`, accountID, c.id, c.walletID, rampAmount)}
}

// payout plays a payout from an account that is funded already: quote, execution, and
// the webhook that says that the bitcoin is there.
func (w *worker) payout(ctx context.Context, due time.Time) (stepTimes, error) {
	m, from := stepTimes{due: due}, w.randomCustomer()
	answer, err := w.post("POST /quotes", w.requestLines.quote, from.payoutQuoteBody, 201)
	if err != nil {
		return m, err
	}
	m.quoted = time.Now()

	id, ok := jsonText(answer, `"transactionId":"Transaction:`)
	quote, found := jsonText(answer, `"id":"Quote:`)
	if !ok || !found || len(id) != len(transactionID{}) {
		return m, fmt.Errorf("the quote has no id or no transaction: %.300s", answer)
	}
	w.receiver.expect(transactionID(id), w.done)
	if _, err := w.post("POST /quotes/{id}/execute", w.requestLines.executeBefore+"Quote:"+string(quote)+w.requestLines.executeAfter, nil, 200); err != nil {
		return m, err
	}
	m.paid = time.Now()
	from.netMoved.Add(-rampAmount)
	return w.awaitWebhook(ctx, m)
}

// transferOut sends money from an account to the bank account of its owner.
func (w *worker) transferOut(ctx context.Context, due time.Time) (stepTimes, error) {
	from := w.randomCustomer()
	from.netMoved.Add(-rampAmount)
	return w.transfer(ctx, due, "POST /transfer-out", w.requestLines.transferOut, from.transferOutBody)
}

// transferIn pulls money from the bank account of its owner into an account.
func (w *worker) transferIn(ctx context.Context, due time.Time) (stepTimes, error) {
	to := w.randomCustomer()
	to.netMoved.Add(rampAmount)
	return w.transfer(ctx, due, "POST /transfer-in", w.requestLines.transferIn, to.transferInBody)
}

func (w *worker) transfer(ctx context.Context, due time.Time, name, line string, body []byte) (stepTimes, error) {
	m := stepTimes{due: due}
	answer, err := w.post(name, line, body, 201)
	if err != nil {
		return m, err
	}
	m.paid = time.Now()
	id, ok := jsonText(answer, `"id":"Transaction:`)
	if !ok || len(id) != len(transactionID{}) {
		return m, fmt.Errorf("the transfer has no id: %.300s", answer)
	}
	w.receiver.expect(transactionID(id), w.done)
	return w.awaitWebhook(ctx, m)
}
