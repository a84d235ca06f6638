package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// kind is a kind of work, as the report and countTransactions name it.
type kind string

const (
	ramps        kind = "Ramps"
	unpaidQuotes kind = "Unpaid quotes"
	payouts      kind = "Payouts"
	transfersOut kind = "Transfers out"
	transfersIn  kind = "Transfers in"
)

// workByKind does one piece of work of each kind, and notes when its steps were done.
var workByKind = map[kind]func(*worker, context.Context, *customer, *stepTimes){
	ramps: (*worker).ramp, unpaidQuotes: (*worker).quoteOnly, payouts: (*worker).payout,
	transfersOut: (*worker).transferOut, transfersIn: (*worker).transferIn,
}

// rampAmount is what each ramp, payout and transfer sends, in cents.
const rampAmount = 10050

// stepTimes is when each step of one piece of work was done. A quote that is not paid has
// only the first two, and a transfer has no quote.
type stepTimes struct {
	due       time.Time // when it was to begin
	quoted    time.Time // POST /quotes had its response
	paid      time.Time // the request that moves the money had its response
	completed time.Time // the COMPLETED webhook was accepted
}

func (s stepTimes) end() time.Time {
	if s.completed.IsZero() {
		return s.quoted
	}
	return s.completed
}

// worker does one piece of work after the other on one connection.
type worker struct {
	*connection
	receiver  *receiver
	customers []customer
	random    *rand.Rand
}

// do does a piece of work for any of the customers.
func (w *worker) do(ctx context.Context, k kind, due time.Time) stepTimes {
	s := stepTimes{due: due}
	workByKind[k](w, ctx, &w.customers[w.random.IntN(len(w.customers))], &s)
	return s
}

// ramp makes a quote, pays it, and waits for the COMPLETED webhook.
func (w *worker) ramp(ctx context.Context, c *customer, s *stepTimes) {
	quote := w.quote(c, fmt.Sprintf(`{"customerId":%q,"currency":"USD"}`, c.id), s)
	reference, transaction := member(quote, `"reference":"`), member(quote, `"transactionId":"Transaction:`)
	w.post("/sandbox/send", 200,
		fmt.Appendf(nil, `{"reference":%q,"currencyCode":"USD","currencyAmount":%d}`, reference, rampAmount))
	w.awaitEnd(ctx, transaction, s)
}

// payout makes a quote from a funded account, executes it, and waits for the COMPLETED webhook.
func (w *worker) payout(ctx context.Context, c *customer, s *stepTimes) {
	quote := w.quote(c, fmt.Sprintf(`{"accountId":%q,"customerId":%q}`, c.accountID, c.id), s)
	id, transaction := member(quote, `"id":"Quote:`), member(quote, `"transactionId":"Transaction:`)
	c.netMoved.Add(-rampAmount)
	w.post("/quotes/Quote:"+id+"/execute", 200, nil)
	w.awaitEnd(ctx, transaction, s)
}

// quoteOnly makes a quote that nobody pays.
func (w *worker) quoteOnly(_ context.Context, c *customer, s *stepTimes) {
	w.quote(c, fmt.Sprintf(`{"customerId":%q,"currency":"USD"}`, c.id), s)
}

// quote makes a quote from a source to the customer's wallet.
func (w *worker) quote(c *customer, source string, s *stepTimes) []byte {
	response := w.post("/quotes", 201, fmt.Appendf(nil, `{"source":%s,"destination":{"destinationType":"ACCOUNT","accountId":%q},`+
		`"lockedCurrencySide":"SENDING","lockedCurrencyAmount":%d}`, source, c.walletID, rampAmount))
	s.quoted = time.Now()
	return response
}

// transferOut sends money from an account to the bank account of its owner.
func (w *worker) transferOut(ctx context.Context, c *customer, s *stepTimes) {
	c.netMoved.Add(-rampAmount)
	w.transfer(ctx, "/transfer-out", c.accountID, c.bankID, s)
}

// transferIn pulls money from the bank account of its owner into an account.
func (w *worker) transferIn(ctx context.Context, c *customer, s *stepTimes) {
	c.netMoved.Add(rampAmount)
	w.transfer(ctx, "/transfer-in", c.bankID, c.accountID, s)
}

func (w *worker) transfer(ctx context.Context, path, from, to string, s *stepTimes) {
	response := w.post(path, 201, fmt.Appendf(nil, `{"source":{"accountId":%q},"destination":{"accountId":%q},"amount":%d}`,
		from, to, rampAmount))
	w.awaitEnd(ctx, member(response, `"id":"Transaction:`), s)
}

// awaitEnd waits, after the request that moves the money, for the webhook that ends the payment.
func (w *worker) awaitEnd(ctx context.Context, transaction string, s *stepTimes) {
	s.paid = time.Now()
	select {
	case end := <-w.receiver.end(transaction):
		if !end.completed {
			failf("a payment failed: %s", transaction)
		}
		s.completed = end.at
		w.receiver.forget(transaction)
	case <-ctx.Done():
		check(context.Cause(ctx))
	}
}

// member returns the text after the opening of a member that a response must have.
func member(response []byte, opening string) string {
	text, found := textAfter(response, opening)
	if !found {
		failf("a response has no %s: %.300s", opening, response)
	}
	return text
}
