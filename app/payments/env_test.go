package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sirupsen/logrus"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/rails/sandbox"
	"causeway/adapters/rates/market"
	"causeway/app/payments"
	"causeway/app/quoting"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// env is one platform with a customer, on the real database and the sandbox rail.
type env struct {
	*payments.Service
	quotes   *quoting.QuoteService
	store    *postgres.DB
	pool     *pgxpool.Pool
	clock    *portstest.FakeClock
	ids      *ids.Generator
	platform platform.Platform
	customer customer.Customer

	committed  portstest.Wakeup // something was committed that told events
	mu         sync.Mutex
	events     []event.Event
	partnerSeq int
	// completed, when set, hears of every completed payment, and events are not kept.
	completed chan struct{}
}

func newEnv(t testing.TB) *env {
	t.Helper()
	return newEnvAt(t, pgtest.New(t))
}

// newEnvAt builds the house on a database reached by url.
func newEnvAt(t testing.TB, url string) *env {
	t.Helper()
	h := &env{clock: portstest.NewFakeClock(noon), ids: ids.New(), committed: portstest.NewWakeup()}
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: url, MaxConnections: 8, Clock: h.clock, IDs: h.ids, Render: h.render})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	h.pool = h.store.Pool()
	heard := logrus.New()
	heard.SetOutput(t.Output())
	rails := portstest.SingleRail{Rail: sandbox.New(h.clock, 1)}
	h.Service = payments.New(payments.Config{Store: h.store, Jobs: h.store, Rails: rails, Clock: h.clock, IDs: h.ids,
		Log: logrus.NewEntry(heard), Committed: h.committed.Notify})
	h.quotes = quoting.NewQuoteService(quoting.QuoteConfig{Store: h.store, Market: market.New("test"), Rails: rails, Clock: h.clock, IDs: h.ids,
		Execute: h.Execute, Committed: h.committed.Notify})
	h.createPlatform(t)
	working, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { h.Run(working) })
	t.Cleanup(func() { stop(); all.Wait() })
	return h
}

// render keeps the events in the order in which they were told.
func (h *env) render(e event.Event) ([]byte, error) {
	if h.completed != nil {
		if e.Name == event.OutgoingPaymentCompleted {
			h.completed <- struct{}{}
		}
		return []byte("{}"), nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	return []byte("{}"), nil
}

// eventNames are the events told about a transaction so far.
func (h *env) eventNames(id ident.Transaction) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, e := range h.events {
		if e.Subject == id.UUID() {
			names = append(names, strings.TrimPrefix(e.Name, "OUTGOING_PAYMENT."))
		}
	}
	return names
}

func (h *env) createPlatform(t testing.TB) {
	t.Helper()
	h.platform = portstest.SandboxPlatform(t, h.ids, noon)
	h.customer = portstest.ApprovedCustomer(h.ids, noon, h.platform.ID, "ana")
	h.customer.FullName = "Ana Silva"
	portstest.MustDo(t, h.store, func(ctx context.Context, tx ports.Tx) error {
		return errors.Join(tx.CreatePlatform(ctx, h.platform), tx.CreateCustomer(ctx, h.customer))
	})
}

// wallet registers a bitcoin wallet of the customer; its address picks the scenario.
func (h *env) wallet(t testing.TB, address string) account.External {
	t.Helper()
	return h.register(t, account.External{Currency: "BTC", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": address}, Rails: []corridor.Rail{corridor.Layer2}})
}

// bank registers a US bank account of the customer.
func (h *env) bank(t testing.TB, number string) account.External {
	t.Helper()
	return h.register(t, account.External{Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": number, "routingNumber": "021000021"}, Rails: []corridor.Rail{corridor.RTP, corridor.ACH}})
}

func (h *env) register(t testing.TB, a account.External) account.External {
	t.Helper()
	a.ID, a.Platform, a.Customer = ident.NewExternalAccount(h.ids.New, noon), h.platform.ID, h.customer.ID
	a.Status, a.CreatedAt, a.UpdatedAt = account.Active, noon, noon
	portstest.MustDo(t, h.store, func(ctx context.Context, tx ports.Tx) error { return tx.CreateExternalAccount(ctx, a) })
	return a
}

// quote asks for a quote that sends an amount of a currency to an account.
func (h *env) quote(t testing.TB, from money.Currency, amount int64, to account.External) quote.Quote {
	t.Helper()
	made, err := h.quotes.Create(t.Context(), quote.Request{Platform: h.platform.ID,
		Source:      quote.Source{Customer: h.customer.ID, Currency: from},
		Destination: quote.Destination{External: to.ID}, Side: quote.Sending, Amount: amount}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.Quote
}

// receipt is a payment of an amount for a quote, by a partner's new name.
func (h *env) receipt(q quote.Quote, rail string, minor int64) transaction.Receipt {
	h.mu.Lock()
	h.partnerSeq++
	partner := fmt.Sprint("partner-", h.partnerSeq)
	h.mu.Unlock()
	now := h.clock.Now()
	return transaction.Receipt{ID: transaction.ReceiptID(rail, partner, now), PartnerID: partner, Platform: h.platform.ID, PartnerAccount: rail,
		Reference: q.Reference, Amount: money.Amount{Minor: minor, Currency: q.Pricing.Sent.Currency}, At: now}
}

// waitForState waits for a state, woken by every commit that tells events.
func (h *env) waitForState(t testing.TB, id ident.Transaction, state string) (found transaction.Transaction) {
	t.Helper()
	h.committed.WaitUntil(t, func() string {
		var err error
		if found, err = h.Get(t.Context(), h.platform.ID, id); err != nil {
			t.Fatal(err)
		}
		if found.State.String() == state {
			return ""
		}
		return fmt.Sprintf("%s is %s and did not become %s", id, found.State, state)
	})
	return found
}

func (h *env) wantTrialBalance(t testing.TB, want map[string]int64) {
	t.Helper()
	portstest.WantTrialBalance(t, h.store.LedgerReader(), h.platform.ID, want)
}

func (h *env) wantEvents(t testing.TB, id ident.Transaction, want ...string) {
	t.Helper()
	if got := h.eventNames(id); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// jobCount counts the jobs of a step that wait.
func (h *env) jobCount(t testing.TB, step transaction.Step) (n int) {
	t.Helper()
	if err := h.pool.QueryRow(t.Context(), `SELECT count(*) FROM jobs WHERE step = $1`, string(step)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// waitForNoJobs waits until no job of a step is left. Such jobs tell no events, so there is
// no signal but the table itself.
func (h *env) waitForNoJobs(t testing.TB, step transaction.Step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for h.jobCount(t, step) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("%s is not done", step)
		}
	}
}
