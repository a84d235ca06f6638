package accounting_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres/outbox"
	"causeway/adapters/rates/market"
	"causeway/app/accounting"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/internal/prices"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/ports"
)

// env is the environment of a test with accounting on it, and payments that are worked on.
type env struct {
	*apptest.Env
	accounting *accounting.Service
	payments   *payments.Service
}

// ana returns a principal whose requests name Ana.
func ana(p platform.Principal) platform.Author {
	return platform.Author{Token: p.Token, Actor: "Ana"}
}

// newEnv builds an environment. Each edit runs before the workers start.
func newEnv(t *testing.T, edits ...func(*apptest.Env)) *env {
	t.Helper()
	e := &env{Env: apptest.New(t)}
	for _, edit := range edits {
		edit(e.Env)
	}
	rates := market.New("test")
	e.payments = payments.New(payments.Config{Timetable: e.Timetable(), Store: e.Store, Jobs: e.Store,
		Rails: e.Rail, Chains: e.Chain, Clock: e.Clock,
		IDs: e.IDs, Log: e.Log,
		Prices: prices.New(e.Store, rates, e.Clock)})
	e.accounting = accounting.New(accounting.Config{
		Store: e.Store, Ledger: e.Store.Finance(), WebhookLog: outbox.NewLog(e.Store.Pool(), nil),
		Market: rates, KeptRates: e.Store,
		Clock: e.Clock, IDs: e.IDs})
	e.Run(e.payments.Run)
	return e
}

// createQuote quotes dollars to a wallet with this address, which selects the outcome.
func (e *env) createQuote(t *testing.T, address string, minor int64) quote.Quote {
	t.Helper()
	created, err := e.payments.CreateQuote(t.Context(), e.QuoteRequest("USD", minor, e.NewWallet(address)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return created.Quote
}

// receivePayment receives a payment in dollars over RTP with a reference, which may be unknown.
func (e *env) receivePayment(t *testing.T, reference string, minor int64) ident.Receipt {
	t.Helper()
	receipt := e.NewReceipt("RTP", reference, money.Amount{Minor: minor, Currency: "USD"})
	if _, err := e.payments.Receive(t.Context(), receipt, nil); err != nil && !fault.Is(err, fault.ReferenceNotFound) {
		t.Fatal(err)
	}
	return receipt.ID
}

// balances returns the balances that are not zero by "path currency", each with the sign of its
// class.
func (e *env) balances(t *testing.T) map[string]string {
	t.Helper()
	page, err := e.accounting.Accounts(t.Context(), e.Admin.Platform, ports.LedgerAccountFilter{Limit: 100})
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

// checkLedger checks every ledger invariant, also that the entries match the transactions.
func (e *env) checkLedger(t *testing.T) {
	t.Helper()
	for _, f := range audittest.Check(t, e.Env).Findings {
		t.Error(f)
	}
}

func newReceiptID() (id ident.Receipt) {
	id.SetUUID(uuid.New())
	return id
}
