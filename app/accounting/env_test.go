package accounting_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	ledgerdb "causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/outbox"
	"causeway/adapters/rails/sandbox"
	"causeway/adapters/rates/market"
	"causeway/app/accounting"
	"causeway/app/audit"
	"causeway/app/payments"
	"causeway/app/quoting"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
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
	*accounting.Service
	payments        *payments.Service
	quotes          *quoting.QuoteService
	store           *postgres.DB
	clock           *portstest.FakeClock
	ids             *ids.Generator
	admin           platform.Principal
	customer        customer.Customer
	eventsCommitted portstest.Wakeup // something was committed that told events
	receipts        int
}

// refusingRail is the sandbox's, and refuses to send anything back while told to.
type refusingRail struct {
	ports.Rail
	refuseRefunds bool
}

func (r *refusingRail) RailFor(ident.Platform) (ports.Rail, error) { return r, nil }

func (r *refusingRail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	if !r.refuseRefunds {
		return r.Rail.Refund(ctx, refunds)
	}
	outcomes := make([]ports.Outcome, len(refunds))
	for i := range outcomes {
		outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed}
	}
	return outcomes
}

func newEnv(t *testing.T, carriers ...func(ports.Rail) ports.Rails) *env {
	t.Helper()
	h := &env{clock: portstest.NewFakeClock(noon), ids: ids.New(), eventsCommitted: portstest.NewWakeup()}
	var err error
	h.store, err = postgres.Open(t.Context(), postgres.Options{URL: pgtest.New(t), MaxConnections: 8, Clock: h.clock, IDs: h.ids,
		Render: func(event.Event) ([]byte, error) { return []byte("{}"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.store.Close)
	log := logrus.New()
	log.SetOutput(t.Output())
	var rails ports.Rails = &refusingRail{Rail: sandbox.New(h.clock, 1)}
	for _, carrier := range carriers {
		rails = carrier(sandbox.New(h.clock, 1))
	}
	prices := market.New("test")
	h.payments = payments.New(payments.Config{Store: h.store, Jobs: h.store, Rails: rails, Clock: h.clock, IDs: h.ids,
		Log: logrus.NewEntry(log), Committed: h.eventsCommitted.Notify})
	h.quotes = quoting.NewQuoteService(quoting.QuoteConfig{Store: h.store, Market: prices, Rails: rails, Clock: h.clock, IDs: h.ids,
		Execute: h.payments.Execute, Committed: h.eventsCommitted.Notify})
	h.Service = accounting.New(accounting.Config{Store: h.store, Ledger: h.store.Finance(), WebhookLog: outbox.NewLog(h.store.Pool()), Market: prices,
		Clock: h.clock, IDs: h.ids, Committed: h.eventsCommitted.Notify})
	h.createPlatform(t)
	working, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { h.payments.Run(working) })
	t.Cleanup(func() { stop(); all.Wait() })
	return h
}

func (h *env) mustDo(t *testing.T, fn func(ctx context.Context, tx ports.Tx) error) {
	t.Helper()
	portstest.MustDo(t, h.store, fn)
}

func (h *env) createPlatform(t *testing.T) {
	t.Helper()
	made := portstest.SandboxPlatform(t, h.ids, noon)
	h.admin = platform.Principal{Platform: made.ID, Environment: platform.Sandbox, Token: ident.NewToken(h.ids.New, noon), Permissions: platform.Permissions}
	h.customer = portstest.ApprovedCustomer(h.ids, noon, made.ID, "ana")
	h.customer.FullName = "Ana Silva"
	h.mustDo(t, func(ctx context.Context, tx ports.Tx) error {
		return errors.Join(tx.CreatePlatform(ctx, made), tx.CreateCustomer(ctx, h.customer))
	})
}

// openAccount is an account of the customer.
func (h *env) openAccount(t *testing.T, currency money.Currency) account.Internal {
	t.Helper()
	opened, err := account.NewInternal(ident.NewInternalAccount(h.ids.New, noon), h.admin.Platform, h.customer.ID, currency, noon)
	if err != nil {
		t.Fatal(err)
	}
	h.mustDo(t, func(ctx context.Context, tx ports.Tx) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{opened})
	})
	return opened
}

// createQuote is a ramp of dollars to a wallet with this address.
func (h *env) createQuote(t *testing.T, address string, minor int64) quote.Quote {
	t.Helper()
	wallet := account.External{ID: ident.NewExternalAccount(h.ids.New, noon), Platform: h.admin.Platform, Customer: h.customer.ID, Currency: "BTC",
		Type: account.Layer2Wallet, Status: account.Active, Fields: map[string]string{"address": address}, Rails: []corridor.Rail{corridor.Layer2},
		CreatedAt: noon, UpdatedAt: noon}
	h.mustDo(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateExternalAccount(ctx, wallet) })
	made, err := h.quotes.Create(t.Context(), quote.Request{Platform: h.admin.Platform, Source: quote.Source{Customer: h.customer.ID, Currency: "USD"},
		Destination: quote.Destination{External: wallet.ID}, Side: quote.Sending, Amount: minor}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.Quote
}

// receivePayment is a payment that arrives with a reference.
func (h *env) receivePayment(t *testing.T, reference string, minor int64) ident.Receipt {
	t.Helper()
	h.receipts++
	id := fmt.Sprint("p", h.receipts)
	r := transaction.Receipt{ID: transaction.ReceiptID("rails/RTP", id, h.clock.Now()), PartnerID: id, Platform: h.admin.Platform, PartnerAccount: "rails/RTP",
		Reference: reference, Amount: money.Amount{Minor: minor, Currency: "USD"}, At: h.clock.Now()}
	if _, err := h.payments.Receive(t.Context(), r, nil); err != nil && !fault.Is(err, fault.ReferenceNotFound) {
		t.Fatal(err)
	}
	return r.ID
}

// waitForState waits for a transaction to come into a state.
func (h *env) waitForState(t *testing.T, id ident.Transaction, state string) (found transaction.Transaction) {
	t.Helper()
	h.eventsCommitted.WaitUntil(t, func() string {
		var err error
		if found, err = h.store.Transaction(t.Context(), h.admin.Platform, id); err != nil {
			t.Fatal(err)
		}
		if found.State.String() == state {
			return ""
		}
		return fmt.Sprintf("%s is %s and did not become %s", id, found.State, state)
	})
	return found
}

// balances are those of all accounts by "path currency", without those that are zero,
// each with the sign of its class.
func (h *env) balances(t *testing.T) map[string]string {
	t.Helper()
	page, err := h.Accounts(t.Context(), h.admin.Platform, ports.LedgerAccountFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, a := range page.Accounts {
		if a.Balance.Sign() != 0 {
			found[a.Account.Path+" "+string(a.Account.Currency)] = a.Balance.String()
		}
	}
	return found
}

// checkLedger holds every rule over the books, also that they explain the transactions.
func (h *env) checkLedger(t *testing.T) {
	t.Helper()
	kept := ledgerdb.New()
	report, err := audit.NewChecker(ledgerdb.NewReader(kept, h.store.Pool()), ledgerdb.NewAudit(kept, h.store.Pool()), h.store.CheckTransactionStates).Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Error(f)
	}
}

func newReceiptID() (id ident.Receipt) {
	ident.SetUUID(&id, uuid.New())
	return id
}
