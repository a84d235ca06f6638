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

// amount is what each ramp sends, in cents.
const amount = 10050

// customer is a customer with a wallet, and the body of the quote that sends there.
type customer struct {
	id, wallet string
	quote      []byte
	*funds     // nil until their account is funded
}

func newCustomer(customerID, accountID string) customer {
	return customer{id: customerID, wallet: accountID,
		quote: fmt.Appendf(nil, `{"source":{"customerId":%q,"currency":"USD"},"destination":{"destinationType":"ACCOUNT","accountId":%q},`+
			`"lockedCurrencySide":"SENDING","lockedCurrencyAmount":%d}`, customerID, accountID, amount)}
}

// moments are when the steps of one piece of work were done. A quote that is not paid
// has only the first two, and a transfer has no quote.
type moments struct {
	due       time.Time // when it was to begin
	quoted    time.Time // POST /quotes was answered
	paid      time.Time // the request that moves the money was answered: POST /sandbox/send for a ramp
	completed time.Time // the COMPLETED webhook was accepted
}

func (m moments) end() time.Time {
	if m.completed.IsZero() {
		return m.quoted
	}
	return m.completed
}

// worker does one piece of work after the other on one connection.
type worker struct {
	client    *client
	receiver  *receiver
	customers []customer
	random    *rand.Rand
	lines     lines
	keys      bool // give each request an idempotency key

	done    chan arrival
	request []byte
	body    []byte
	waiter  *time.Timer
}

// lines are the beginnings of the requests a worker makes; execute is what stands
// before and after the id of the quote.
type lines struct{ quote, send, executeBefore, executeAfter, transferOut, transferIn string }

func (t target) lines() lines {
	const id = "{id}"
	before, after, _ := strings.Cut(t.requestLine("POST", "/quotes/"+id+"/execute"), id)
	return lines{
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
		client: c, receiver: r, customers: customers, keys: keys,
		random: rand.New(rand.NewPCG(uint64(number), 0x5eed)),
		lines:  t.lines(),
		done:   make(chan arrival, 1),
	}, nil
}

// ramp plays one ramp to its end: quote, payment, and the webhook that says that
// the bitcoin is there.
func (w *worker) ramp(ctx context.Context, due time.Time) (moments, error) {
	m := moments{due: due}
	answer, err := w.post("POST /quotes", w.lines.quote, w.anyone().quote, 201)
	if err != nil {
		return m, err
	}
	m.quoted = time.Now()

	// The webhook may come before the answer, so it is expected first.
	id, ok := member(answer, `"transactionId":"Transaction:`)
	reference, found := member(answer, `"reference":"`)
	if !ok || !found || len(id) != len(transactionID{}) {
		return m, fmt.Errorf("the quote has no transaction or no reference: %.300s", answer)
	}
	w.receiver.expect(transactionID(id), w.done)
	w.body = append(w.body[:0], `{"reference":"`...)
	w.body = append(w.body, reference...)
	w.body = append(w.body, `","currencyCode":"USD","currencyAmount":`...)
	w.body = strconv.AppendInt(w.body, amount, 10)
	w.body = append(w.body, '}')
	if _, err := w.post("POST /sandbox/send", w.lines.send, w.body, 200); err != nil {
		return m, err
	}
	m.paid = time.Now()
	return w.await(ctx, m)
}

// await waits for the webhook that says that the money is there.
func (w *worker) await(ctx context.Context, m moments) (moments, error) {
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
func (w *worker) quoteOnly(_ context.Context, due time.Time) (moments, error) {
	_, err := w.post("POST /quotes", w.lines.quote, w.anyone().quote, 201)
	return moments{due: due, quoted: time.Now()}, err
}

func (w *worker) anyone() *customer { return &w.customers[w.random.IntN(len(w.customers))] }

// keyNumber makes idempotency keys; with the start of the process they are unique.
var (
	keyNumber atomic.Int64
	keyPrefix = "bench-" + strconv.FormatInt(time.Now().UnixNano(), 36) + "-"
)

func (w *worker) post(name, line string, body []byte, want int) ([]byte, error) {
	key := ""
	if w.keys {
		key = keyPrefix + strconv.FormatInt(keyNumber.Add(1), 10)
	}
	w.request = appendRequest(w.request[:0], line, key, body)
	status, answer, err := w.client.exchange(w.request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if status != want {
		return nil, unwantedAnswer(name, status, answer)
	}
	return answer, nil
}

// pause waits until a moment, or until ctx ends.
func (w *worker) pause(ctx context.Context, until time.Time) error {
	wait := time.Until(until)
	if wait <= 0 {
		return nil
	}
	if w.waiter == nil {
		w.waiter = time.NewTimer(wait)
	} else {
		w.waiter.Reset(wait)
	}
	select {
	case <-w.waiter.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
