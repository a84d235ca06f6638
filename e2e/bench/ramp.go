package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// rampAmount is what each ramp sends, in cents.
const rampAmount = 10050

// customer is a customer with a wallet, and the body of the quote that sends there.
type customer struct {
	id, walletID   string
	rampQuoteBody  []byte
	*fundedAccount // nil until their account is funded
}

func newCustomer(customerID, accountID string) customer {
	return customer{id: customerID, walletID: accountID,
		rampQuoteBody: fmt.Appendf(nil, `{"source":{"customerId":%q,"currency":"USD"},"destination":{"destinationType":"ACCOUNT","accountId":%q},`+
			`"lockedCurrencySide":"SENDING","lockedCurrencyAmount":%d}`, customerID, accountID, rampAmount)}
}

// stepTimes are when the steps of one piece of work were done. A quote that is not paid
// has only the first two, and a transfer has no quote.
type stepTimes struct {
	due       time.Time // when it was to begin
	quoted    time.Time // POST /quotes was answered
	paid      time.Time // the request that moves the money was answered: POST /sandbox/send for a ramp
	completed time.Time // the COMPLETED webhook was accepted
}

func (m stepTimes) end() time.Time {
	if m.completed.IsZero() {
		return m.quoted
	}
	return m.completed
}

// worker does one piece of work after the other on one connection.
type worker struct {
	client          *client
	receiver        *receiver
	customers       []customer
	random          *rand.Rand
	requestLines    requestLines
	idempotencyKeys bool // give each request an idempotency key

	done    chan paymentEnd
	request []byte
	body    []byte
	timer   *time.Timer
}

// requestLines are the beginnings of the requests a worker makes; execute is what stands
// before and after the id of the quote.
type requestLines struct{ quote, send, executeBefore, executeAfter, transferOut, transferIn string }

func (t target) requestLines() requestLines {
	const id = "{id}"
	before, after, _ := strings.Cut(t.requestLine("POST", "/quotes/"+id+"/execute"), id)
	return requestLines{
		quote: t.requestLine("POST", "/quotes"), send: t.requestLine("POST", "/sandbox/send"), executeBefore: before, executeAfter: after,
		transferOut: t.requestLine("POST", "/transfer-out"), transferIn: t.requestLine("POST", "/transfer-in"),
	}
}

func newWorker(ctx context.Context, t target, r *receiver, customers []customer, number int, keys bool) (*worker, error) {
	c, err := dial(ctx, t.address)
	if err != nil {
		return nil, err
	}
	return &worker{
		client: c, receiver: r, customers: customers, idempotencyKeys: keys,
		random:       rand.New(rand.NewPCG(uint64(number), 0x5eed)),
		requestLines: t.requestLines(),
		done:         make(chan paymentEnd, 1),
	}, nil
}

// ramp plays one ramp to its end: quote, payment, and the webhook that says that
// the bitcoin is there.
func (w *worker) ramp(ctx context.Context, due time.Time) (stepTimes, error) {
	m := stepTimes{due: due}
	answer, err := w.post("POST /quotes", w.requestLines.quote, w.randomCustomer().rampQuoteBody, 201)
	if err != nil {
		return m, err
	}
	m.quoted = time.Now()

	// The webhook may come before the answer, so it is expected first.
	id, ok := jsonText(answer, `"transactionId":"Transaction:`)
	reference, found := jsonText(answer, `"reference":"`)
	if !ok || !found || len(id) != len(transactionID{}) {
		return m, fmt.Errorf("the quote has no transaction or no reference: %.300s", answer)
	}
	w.receiver.expect(transactionID(id), w.done)
	w.body = append(w.body[:0], `{"reference":"`...)
	w.body = append(w.body, reference...)
	w.body = append(w.body, `","currencyCode":"USD","currencyAmount":`...)
	w.body = strconv.AppendInt(w.body, rampAmount, 10)
	w.body = append(w.body, '}')
	if _, err := w.post("POST /sandbox/send", w.requestLines.send, w.body, 200); err != nil {
		return m, err
	}
	m.paid = time.Now()
	return w.awaitWebhook(ctx, m)
}

// awaitWebhook waits for the webhook that says that the money is there.
func (w *worker) awaitWebhook(ctx context.Context, m stepTimes) (stepTimes, error) {
	select {
	case end := <-w.done:
		m.completed = end.at
		if !end.completed {
			return m, errors.New("a payment failed that should have completed")
		}
		return m, nil
	case <-ctx.Done():
		return m, context.Cause(ctx)
	}
}

// quoteOnly makes a quote that nobody pays.
func (w *worker) quoteOnly(_ context.Context, due time.Time) (stepTimes, error) {
	_, err := w.post("POST /quotes", w.requestLines.quote, w.randomCustomer().rampQuoteBody, 201)
	return stepTimes{due: due, quoted: time.Now()}, err
}

func (w *worker) randomCustomer() *customer { return &w.customers[w.random.IntN(len(w.customers))] }

// keyNumber makes idempotency keys; with the start of the process they are unique.
var (
	idempotencyCounter atomic.Int64
	idempotencyPrefix  = "bench-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
)

func (w *worker) post(name, line string, body []byte, want int) ([]byte, error) {
	key := ""
	if w.idempotencyKeys {
		key = idempotencyPrefix + strconv.FormatInt(idempotencyCounter.Add(1), 10)
	}
	w.request = appendRequest(w.request[:0], line, key, body)
	status, answer, err := w.client.roundTrip(w.request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if status != want {
		return nil, newUnexpectedStatus(name, status, answer)
	}
	return answer, nil
}

// waitUntil waits until a moment, or until ctx ends.
func (w *worker) waitUntil(ctx context.Context, until time.Time) error {
	wait := time.Until(until)
	if wait <= 0 {
		return nil
	}
	if w.timer == nil {
		w.timer = time.NewTimer(wait)
	} else {
		w.timer.Reset(wait)
	}
	select {
	case <-w.timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
