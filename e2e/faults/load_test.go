package faults

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/apiclient"
	"causeway/e2e/kit"
)

// workerCount is how many payments are made at once.
const workerCount = 12

// response is a response or a webhook.
type response struct {
	status   int
	document any
	body     []byte
}

// text returns the text, number or boolean at a path such as "data.0.id"; empty if there is none.
func (r response) text(path string) string { return apiclient.Text(r.document, path) }

// int returns the whole number at a path, which must be there.
func (r response) int(t testing.TB, path string) int64 {
	n, err := strconv.ParseInt(r.text(path), 10, 64)
	if err != nil {
		t.Errorf("%s is not a whole number in %s", path, r.body)
	}
	return n
}

// load makes payments of every kind in turn until it is stopped.
type load struct {
	*system
	customers []*customer
	stop      context.CancelFunc
	workers   sync.WaitGroup
	repeats   atomic.Int64 // requests that had to be repeated
	count     atomic.Int64 // payments that were accepted

	mu       sync.Mutex
	payments []payment
	checked  int // of payments, which have been compared one by one
}

// startLoad creates customers with money, and starts the workers.
func (s *system) startLoad() *load {
	s.t.Helper()
	l := &load{system: s}
	for n := range 4 {
		l.customers = append(l.customers, s.createCustomer(n))
	}
	l.start(workerCount)
	return l
}

// start starts workers, also again after finish.
func (l *load) start(workers int) {
	ctx, stop := context.WithCancel(l.t.Context())
	l.stop = stop
	for n := range workers {
		l.workers.Go(func() {
			for turn := n * len(kinds) / workers; ctx.Err() == nil; turn++ { // so that few payments are of all kinds
				one, err := l.pay(turn)
				if err != nil {
					l.t.Errorf("%s: %v", kinds[turn%len(kinds)].name, err)
					return
				}
				l.accepted(one)
			}
		})
	}
	l.t.Cleanup(l.finish)
}

func (l *load) accepted(p payment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.payments = append(l.payments, p)
	l.count.Add(1)
}

// awaitPayments returns when some more payments were accepted.
func (l *load) awaitPayments(more int64) {
	l.t.Helper()
	before := l.count.Load()
	l.eventually(func() string { return fmt.Sprintf("%d more payments; %d were accepted", more, l.count.Load()-before) },
		func() bool { return l.t.Failed() || l.count.Load() >= before+more })
	if l.t.Failed() {
		l.t.FailNow()
	}
}

// finish ends the load, when each worker has its last response.
func (l *load) finish() {
	l.stop()
	l.workers.Wait()
}

// call makes a request with one key until its response is final: by one process after the other,
// while they cannot be reached or cannot tell.
func (l *load) call(method, path string, body any, want ...int) (response, error) {
	return l.repeat(apiclient.Request{Method: method, Path: path, Body: body}, nil, want...)
}

// repeat is call for any request, of the platform or of an agent.
func (l *load) repeat(request apiclient.Request, by *agent, want ...int) (response, error) {
	request.IdempotencyKey = uuid.NewString()
	ctx, cancel := context.WithTimeout(context.Background(), recoveryTimeout)
	defer cancel()
	for attempt := 0; ; attempt++ {
		got, err := l.attempt(ctx, l.processes[attempt%len(l.processes)], request, by)
		switch {
		case err == nil && slices.Contains(want, got.status):
			return got, nil
		case err == nil && got.status < 500 && got.text("code") != "IDEMPOTENCY_KEY_IN_USE":
			return got, fmt.Errorf("%s %s: status %d: %s", request.Method, request.Path, got.status, got.body)
		}
		l.repeats.Add(1)
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return got, fmt.Errorf("%s %s: no final response within %s: %w, %d %s", request.Method, request.Path, recoveryTimeout, err,
				got.status, got.body)
		}
	}
}

// attempt makes a request once, of the platform or of an agent.
func (s *system) attempt(ctx context.Context, p *process, r apiclient.Request, by *agent) (response, error) {
	client := s.clientOf(p)
	if by != nil {
		client.ClientID, client.Header = "", http.Header{"Authorization": {"Bearer " + by.token}}
	}
	got, err := client.Do(ctx, r)
	if err != nil {
		return response{}, err
	}
	document, err := apiclient.ParseJSON(got.Body)
	return response{got.Status, document, got.Body}, err
}

// mustCall makes a request without faults.
func (s *system) mustCall(method, path string, body any, want int) response {
	s.t.Helper()
	got, err := s.attempt(waitContext(s.t), s.processes[0], apiclient.Request{Method: method, Path: path, Body: body}, nil)
	if err != nil || got.status != want {
		s.t.Fatalf("%s %s: %d, want %d: %s, %v", method, path, got.status, want, got.body, err)
	}
	return got
}

// customer is a customer with money in dollars, and the accounts to pay to.
type customer struct {
	id, umaAddress              string
	account, embedded           string // internal: in dollars, and the embedded wallet
	wallet, failingWallet, bank string // external
	agent, limitedAgent         *agent
}

// initialBalance is what each customer has at first, in cents, and initialCoins what their wallet holds.
const (
	initialBalance = 100_000_000
	initialCoins   = 100_000_000_000
)

func (s *system) createCustomer(n int) *customer {
	s.t.Helper()
	c := &customer{umaAddress: fmt.Sprintf("$customer%d@%s", n, s.umaDomain)}
	body := kit.CustomerBody()
	body["umaAddress"] = c.umaAddress
	c.id = s.mustCall(http.MethodPost, "/customers", body, http.StatusCreated).text("id")
	external := func(body kit.Object) string {
		return s.mustCall(http.MethodPost, "/customers/external-accounts", body, http.StatusCreated).text("id")
	}
	c.wallet, c.failingWallet, c.bank = external(kit.WalletBody(c.id, "")), external(kit.WalletBody(c.id, "004")),
		external(kit.USAccountBody(c.id, "555"))
	c.account = s.mustCall(http.MethodGet, "/customers/internal-accounts?currency=USD&customerId="+c.id, nil, http.StatusOK).text("data.0.id")
	s.mustCall(http.MethodPost, "/sandbox/internal-accounts/"+c.account+"/fund", kit.Object{"amount": initialBalance}, http.StatusOK)
	c.embedded = s.mustCall(http.MethodGet, "/customers/internal-accounts?currency=USDB&customerId="+c.id, nil,
		http.StatusOK).text("data.0.id")
	s.mustCall(http.MethodPost, "/sandbox/internal-accounts/"+c.embedded+"/fund", kit.Object{"amount": initialCoins}, http.StatusOK)
	c.agent, c.limitedAgent = s.createAgent(c), s.createAgent(c)
	return c
}
