package payments_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	counterparties "causeway/adapters/counterparties/sandbox"
	sandboxrail "causeway/adapters/rails/sandbox"
	"causeway/adapters/rates/market"
	"causeway/app/internal/apptest"
	"causeway/app/internal/batch"
	"causeway/app/internal/prices"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// env is an environment with payments on it. Its platform has a webhook endpoint, and requires the
// name of senders of dollars.
type env struct {
	*apptest.Env
	*payments.Service
	approvals *fakeApprovals
	// dollars is the account of Customer in an environment of newReceivingEnv.
	dollars account.Internal
}

// newReceivingEnv builds an environment whose workers run, and whose Customer has an empty account
// in dollars.
func newReceivingEnv(t testing.TB) *env {
	t.Helper()
	e := newEnv(t)
	e.dollars = e.NewInternalAccount(e.Customer.ID, "USD", 0)
	return e
}

// newEnv builds an environment whose workers run.
func newEnv(t testing.TB, opts ...apptest.Option) *env {
	t.Helper()
	e := newIdleEnv(t, opts...)
	e.Env.Run(e.Service.Run)
	return e
}

// newIdleEnv builds an environment whose workers do not run.
func newIdleEnv(t testing.TB, opts ...apptest.Option) *env {
	t.Helper()
	e := apptest.New(t, append(opts, apptest.EditPlatform(func(p *platform.Platform) {
		p.WebhookEndpoint = "https://example.com/hooks"
		p.Currencies[0].RequiredCounterpartyFields = []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}}
	}))...)
	approvals := &fakeApprovals{}
	return &env{Env: e, approvals: approvals, Service: newService(e, e.Store, approvals)}
}

func newService(e *apptest.Env, store payments.Store, approvals ports.Approvals, edits ...func(*payments.Config)) *payments.Service {
	c := payments.Config{Timetable: e.Timetable(), Store: store, Jobs: e.Store, Rails: e.Rail, Chains: e.Chain, Custody: e.Custody,
		Simulated:      sandboxrail.New(e.Clock, 1),
		WalletProofs:   ports.WalletProofsByEnvironment{platform.Sandbox: apptest.Signatures{}},
		Prices:         prices.New(e.Store, market.New("test"), e.Clock),
		Counterparties: ports.CounterpartiesByEnvironment{platform.Sandbox: counterparties.New(counterparties.DefaultDomain)},
		Approvals:      approvals,
		Clock:          e.Clock, IDs: e.IDs, Log: e.Log,
		Batches: batch.Options{Timeout: time.Minute}} // a loaded machine is slow
	for _, edit := range edits {
		edit(&c)
	}
	return payments.New(c)
}

// fakeApprovals is the webhook endpoint of the platform.
type fakeApprovals struct {
	mu       sync.Mutex
	respond  func(event.Event) (ports.WebhookResponse, error)
	requests []event.Event
}

// RequestApproval records the request and returns the response that is set.
func (a *fakeApprovals) RequestApproval(_ context.Context, e event.Event) (ports.WebhookResponse, error) {
	a.mu.Lock()
	a.requests = append(a.requests, e)
	respond := a.respond
	a.mu.Unlock()
	if respond == nil {
		return ports.WebhookResponse{}, errors.New("the test has set no response")
	}
	return respond(e)
}

// all returns the requests so far.
func (a *fakeApprovals) all() []event.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// set makes the endpoint return a response to every request.
func (a *fakeApprovals) set(status int, body string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.respond = func(event.Event) (ports.WebhookResponse, error) {
		return ports.WebhookResponse{Outcome: event.OutcomeOf(status), StatusCode: status, Response: body}, nil
	}
}

// setWith makes the endpoint call before, and then return a response to every request.
func (a *fakeApprovals) setWith(status int, before func() error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.respond = func(event.Event) (ports.WebhookResponse, error) {
		return ports.WebhookResponse{Outcome: event.OutcomeOf(status), StatusCode: status}, before()
	}
}

// account opens an account of an owner (zero: the platform) with a balance that was paid in by wire.
func (e *env) account(owner ident.Customer, currency money.Currency, minor int64) account.Internal {
	opened := e.NewInternalAccount(owner, currency, 0)
	if minor > 0 {
		now := e.Clock.Now()
		e.Post(ledger.Deposit(ledger.Header{ID: e.IDs.New(now), Platform: e.Platform.ID, Effective: now},
			ledger.IncomingFunds{Partner: "rails/WIRE", To: opened.LedgerPath(), Amount: money.Amount{Minor: minor, Currency: currency}}))
	}
	return opened
}

// quote creates a quote that sends minor units of a currency, paid just in time, to an account.
func (e *env) quote(t testing.TB, from money.Currency, minor int64, to account.External) quote.Quote {
	t.Helper()
	created, err := e.CreateQuote(t.Context(), e.QuoteRequest(from, minor, to), nil)
	if err != nil {
		t.Fatal(err)
	}
	return created.Quote
}

// quoteFrom creates a quote with any source and destination.
func (e *env) quoteFrom(t testing.TB, from quote.Source, minor int64, to quote.Destination) quote.Quote {
	t.Helper()
	created, err := e.CreateQuote(t.Context(), quote.Request{Platform: e.Platform.ID, Source: from, Destination: to, Side: quote.Sending,
		Amount: minor}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return created.Quote
}

func (e *env) execute(t testing.TB, q quote.Quote) quote.WithStatus {
	t.Helper()
	executed, err := e.ExecuteQuote(t.Context(), e.Platform.ID, q.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return executed
}

// receipt is a payment for a quote that is received from a rail.
func (e *env) receipt(q quote.Quote, rail corridor.Rail, minor int64) transaction.Receipt {
	return e.NewReceipt(rail, q.Reference, money.Amount{Minor: minor, Currency: q.Pricing.Sent.Currency})
}

// waitForStatus waits until a transaction has a status.
func (e *env) waitForStatus(id ident.Transaction, status transaction.Status) transaction.Transaction {
	return e.WaitForTransaction(id, string(status), func(t transaction.Transaction) bool { return t.State.Status == status })
}

// waitForIncomingState waits for a state whose change emits no event, so it polls.
func (e *env) waitForIncomingState(t testing.TB, id ident.Transaction, state transaction.IncomingState) transaction.Transaction {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), apptest.WaitTimeout)
	defer cancel()
	for {
		if found := e.Transaction(id); found.IncomingState() == state {
			return found
		} else if ctx.Err() != nil {
			t.Fatalf("%s is %s, not %s", id, found.IncomingState(), state)
		}
	}
}

// wantOutgoingEvents compares the events of an outgoing payment, without their common prefix.
func (e *env) wantOutgoingEvents(id ident.Transaction, want ...string) {
	names := make([]string, len(want))
	for i, name := range want {
		names[i] = "OUTGOING_PAYMENT." + name
	}
	e.WantEvents(id, names...)
}

// wantIncomingEvents compares the events of an incoming payment, and their type.
func (e *env) wantIncomingEvents(t testing.TB, id ident.Transaction, want ...string) {
	t.Helper()
	e.WantEvents(id, want...)
	for _, ev := range e.Events.About(id.UUID()) {
		if ev.Type != event.IncomingPayment {
			t.Errorf("%s has the type %s", ev.Name, ev.Type)
		}
	}
}

// wantNotifiedBalances compares the balances that events reported for an account.
func (e *env) wantNotifiedBalances(t testing.TB, a account.Internal, want ...int64) {
	t.Helper()
	if got := e.Events.Balances(a.ID); !slices.Equal(got, want) {
		t.Errorf("events report the balances %v of %s, want %v", got, a.Currency, want)
	}
}
