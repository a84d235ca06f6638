package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

// rampAmount is what each ramp, payout and transfer sends, in cents.
const rampAmount = 10050

// customer is a customer with a wallet, and the bodies of its requests.
type customer struct {
	id, walletID   string
	rampQuoteBody  []byte
	*fundedAccount // nil until the account is funded
}

func newCustomer(customerID, walletID string) customer {
	source := fmt.Sprintf(`{"customerId":%q,"currency":"USD"}`, customerID)
	return customer{id: customerID, walletID: walletID, rampQuoteBody: quoteBody(source, walletID)}
}

func quoteBody(source, walletID string) []byte {
	return fmt.Appendf(nil, `{"source":%s,"destination":{"destinationType":"ACCOUNT","accountId":%q},"lockedCurrencySide":"SENDING","lockedCurrencyAmount":%d}`,
		source, walletID, rampAmount)
}

// fundedAccount is an internal account with money, and the bodies of requests that move it.
type fundedAccount struct {
	accountID                                        string
	payoutQuoteBody, transferOutBody, transferInBody []byte
	deposited, netMoved                              atomic.Int64 // cents
}

func newFundedAccount(c customer, accountID, bankID string) *fundedAccount {
	transfer := func(from, to string) []byte {
		return fmt.Appendf(nil, `{"source":{"accountId":%q},"destination":{"accountId":%q},"amount":%d}`, from, to, rampAmount)
	}
	return &fundedAccount{accountID: accountID, transferOutBody: transfer(accountID, bankID), transferInBody: transfer(bankID, accountID),
		payoutQuoteBody: quoteBody(fmt.Sprintf(`{"accountId":%q,"customerId":%q}`, accountID, c.id), c.walletID)}
}

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
	client          *client
	target          target
	receiver        *receiver
	customers       []customer
	random          *rand.Rand
	idempotencyKeys bool

	done    chan paymentEnd
	request []byte
	body    []byte
}

// ramp makes a quote, pays it, and waits for the COMPLETED webhook.
func (w *worker) ramp(ctx context.Context, due time.Time) (stepTimes, error) {
	return w.quoteAndPay(ctx, due, w.randomCustomer().rampQuoteBody, `"reference":"`, func(reference []byte) error {
		w.body = append(w.body[:0], `{"reference":"`...)
		w.body = append(w.body, reference...)
		w.body = append(w.body, `","currencyCode":"USD","currencyAmount":`...)
		w.body = strconv.AppendInt(w.body, rampAmount, 10)
		w.body = append(w.body, '}')
		_, err := w.post("/sandbox/send", w.body, 200)
		return err
	})
}

// payout makes a quote from a funded account, executes it, and waits for the COMPLETED webhook.
func (w *worker) payout(ctx context.Context, due time.Time) (stepTimes, error) {
	from := w.randomCustomer()
	return w.quoteAndPay(ctx, due, from.payoutQuoteBody, `"id":"Quote:`, func(quote []byte) error {
		from.netMoved.Add(-rampAmount)
		_, err := w.post("/quotes/Quote:"+string(quote)+"/execute", nil, 200)
		return err
	})
}

// quoteAndPay makes a quote, and pays it by the value that follows a marker in the response.
func (w *worker) quoteAndPay(ctx context.Context, due time.Time, body []byte, marker string, pay func(value []byte) error) (stepTimes, error) {
	s := stepTimes{due: due}
	response, err := w.post("/quotes", body, 201)
	if err != nil {
		return s, err
	}
	s.quoted = time.Now()
	value, found := jsonText(response, marker)
	if !found {
		return s, fmt.Errorf("the quote has no %s: %.300s", marker, response)
	}
	// The webhook may be received before the response, so it is expected first.
	if err := w.expect(response, `"transactionId":"Transaction:`); err != nil {
		return s, err
	}
	if err := pay(value); err != nil {
		return s, err
	}
	s.paid = time.Now()
	return w.awaitWebhook(ctx, s)
}

// quoteOnly makes a quote that nobody pays.
func (w *worker) quoteOnly(_ context.Context, due time.Time) (stepTimes, error) {
	_, err := w.post("/quotes", w.randomCustomer().rampQuoteBody, 201)
	return stepTimes{due: due, quoted: time.Now()}, err
}

// transferOut sends money from an account to the bank account of its owner.
func (w *worker) transferOut(ctx context.Context, due time.Time) (stepTimes, error) {
	from := w.randomCustomer()
	from.netMoved.Add(-rampAmount)
	return w.transfer(ctx, due, "/transfer-out", from.transferOutBody)
}

// transferIn pulls money from the bank account of its owner into an account.
func (w *worker) transferIn(ctx context.Context, due time.Time) (stepTimes, error) {
	to := w.randomCustomer()
	to.netMoved.Add(rampAmount)
	return w.transfer(ctx, due, "/transfer-in", to.transferInBody)
}

func (w *worker) transfer(ctx context.Context, due time.Time, path string, body []byte) (stepTimes, error) {
	s := stepTimes{due: due}
	response, err := w.post(path, body, 201)
	if err != nil {
		return s, err
	}
	s.paid = time.Now()
	if err := w.expect(response, `"id":"Transaction:`); err != nil {
		return s, err
	}
	return w.awaitWebhook(ctx, s)
}

// expect prepares for the end of the transaction whose id follows a marker in a response.
func (w *worker) expect(response []byte, marker string) error {
	id, _ := jsonText(response, marker)
	if len(id) != len(transactionID{}) {
		return fmt.Errorf("a response has no %s: %.300s", marker, response)
	}
	w.receiver.expect(transactionID(id), w.done)
	return nil
}

func (w *worker) awaitWebhook(ctx context.Context, s stepTimes) (stepTimes, error) {
	select {
	case end := <-w.done:
		if !end.completed {
			return s, errors.New("a payment failed")
		}
		s.completed = end.at
		return s, nil
	case <-ctx.Done():
		return s, context.Cause(ctx)
	}
}

func (w *worker) randomCustomer() *customer { return &w.customers[w.random.IntN(len(w.customers))] }

// The counter makes idempotency keys; the prefix makes them unique.
var (
	idempotencyCounter atomic.Int64
	idempotencyPrefix  = "bench-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
)

func (w *worker) post(path string, body []byte, want int) ([]byte, error) {
	key := ""
	if w.idempotencyKeys {
		key = idempotencyPrefix + strconv.FormatInt(idempotencyCounter.Add(1), 10)
	}
	w.request = w.target.appendRequest(w.request[:0], "POST", path, key, body)
	status, response, err := w.client.roundTrip(w.request)
	switch {
	case err != nil:
		return nil, fmt.Errorf("POST %s: %w", path, err)
	case status != want:
		return nil, newUnexpectedStatus("POST "+path, status, response)
	}
	return response, nil
}
