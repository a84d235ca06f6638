package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// funds are an internal account with money in it, an external account in the same
// currency, and the bodies of what is asked of them.
type funds struct {
	account          string // InternalAccount:<uuid>
	payout, out, in  []byte
	deposited, moved atomic.Int64 // what was paid in at first, and what work has added or taken since; cents
}

// newFunds are those of a customer with this internal account and bank account.
func newFunds(c customer, accountID, bankID string) *funds {
	transfer := func(from, to string) []byte {
		return fmt.Appendf(nil, `{"source":{"accountId":%q},"destination":{"accountId":%q},"amount":%d}`, from, to, amount)
	}
	return &funds{account: accountID, out: transfer(accountID, bankID), in: transfer(bankID, accountID),
		payout: fmt.Appendf(nil, `{"source":{"accountId":%q,"customerId":%q},"destination":{"destinationType":"ACCOUNT","accountId":%q},`+
			`"lockedCurrencySide":"SENDING","lockedCurrencyAmount":%d}`, accountID, c.id, c.wallet, amount)}
}

// payout plays a payout from an account that is funded already: quote, execution, and
// the webhook that says that the bitcoin is there.
func (w *worker) payout(ctx context.Context, due time.Time) (moments, error) {
	m, from := moments{due: due}, w.anyone()
	answer, err := w.post("POST /quotes", w.lines.quote, from.payout, 201)
	if err != nil {
		return m, err
	}
	m.quoted = time.Now()

	id, ok := member(answer, `"transactionId":"Transaction:`)
	quote, found := member(answer, `"id":"Quote:`)
	if !ok || !found || len(id) != len(transactionID{}) {
		return m, fmt.Errorf("the quote has no id or no transaction: %.300s", answer)
	}
	w.receiver.expect(transactionID(id), w.done)
	if _, err := w.post("POST /quotes/{id}/execute", w.lines.executeBefore+"Quote:"+string(quote)+w.lines.executeAfter, nil, 200); err != nil {
		return m, err
	}
	m.paid = time.Now()
	from.moved.Add(-amount)
	return w.await(ctx, m)
}

// transferOut sends money from an account to the bank account of its owner.
func (w *worker) transferOut(ctx context.Context, due time.Time) (moments, error) {
	from := w.anyone()
	from.moved.Add(-amount)
	return w.transfer(ctx, due, "POST /transfer-out", w.lines.transferOut, from.out)
}

// transferIn pulls money from the bank account of its owner into an account.
func (w *worker) transferIn(ctx context.Context, due time.Time) (moments, error) {
	to := w.anyone()
	to.moved.Add(amount)
	return w.transfer(ctx, due, "POST /transfer-in", w.lines.transferIn, to.in)
}

func (w *worker) transfer(ctx context.Context, due time.Time, name, line string, body []byte) (moments, error) {
	m := moments{due: due}
	answer, err := w.post(name, line, body, 201)
	if err != nil {
		return m, err
	}
	m.paid = time.Now()
	id, ok := member(answer, `"id":"Transaction:`)
	if !ok || len(id) != len(transactionID{}) {
		return m, fmt.Errorf("the transfer has no id: %.300s", answer)
	}
	w.receiver.expect(transactionID(id), w.done)
	return w.await(ctx, m)
}
