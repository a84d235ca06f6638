package payments_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/connections"
	"causeway/app/payments"
	"causeway/app/rails"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// connected is an adapter with the outcomes of the sandbox.
type connected struct{ ports.Rail }

func (connected) Test(context.Context) ([]string, error) { return nil, nil }

func (connected) Close() error { return nil }

// overConnections selects the rail of connections for every platform.
type overConnections struct{ *connections.Rail }

func (o overConnections) RailFor(ident.Platform) (ports.Rail, error) { return o.Rail, nil }

// connectedEnv is an environment whose payments take the connection "bank": dollars over ACH, up to 60.00 without a review.
type connectedEnv struct {
	*env
	operators *rails.Service
	rail      *connections.Rail
}

func newConnectedEnv(t *testing.T) *connectedEnv {
	t.Helper()
	c := newIdleConnectedEnv(t, func(r ports.Rail, _ *env) ports.Rail { return r })
	c.Env.Run(c.Service.Run)
	return c
}

// newIdleConnectedEnv is newConnectedEnv without workers, and with another adapter around the sandbox.
func newIdleConnectedEnv(t *testing.T, around func(ports.Rail, *env) ports.Rail) *connectedEnv {
	t.Helper()
	e := newIdleEnv(t)
	bank := rail.Connection{Name: "bank", Adapter: rail.Partner, Version: 1, Rails: []corridor.Rail{corridor.ACH},
		Currencies: []money.Currency{"USD"},
		Limits:     []rail.Limit{{Currency: "USD", PerPayout: 60_00}}, SetAt: e.Clock.Now()}
	portstest.SaveConnection(t, e.Store.Connections(), ports.RailConnectionVersion{Connection: bank, By: "ana", Note: "test"})
	open := func(rail.Connection) (ports.ConnectedRail, error) { return connected{around(e.Env.Rail, e)}, nil }
	opened := connections.New(connections.Config{Store: e.Store, Open: open, Bound: func(r ports.Rail) ports.Rail { return r }, Clock: e.Clock,
		IDs: e.IDs, Log: e.Log})
	if err := opened.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := &connectedEnv{env: e, rail: connections.NewRail(opened, e.Store, e.Store)}
	c.operators = rails.New(rails.Config{Store: e.Store, Connections: e.Store.Connections(), Open: open, Clock: e.Clock, IDs: e.IDs})
	e.Service = newService(e.Env, e.Store, e.approvals,
		func(c2 *payments.Config) { c2.Rails = overConnections{c.rail} })
	return c
}

// transfer sends dollars of a customer who has 100.50 to a bank account.
func (c *connectedEnv) transfer(t *testing.T, minor int64) transaction.Transaction {
	t.Helper()
	dollars, bank := c.account(c.Customer.ID, "USD", 10050), c.NewBankAccount("000123456")
	created, err := c.TransferOut(t.Context(), transaction.TransferOut{Platform: c.Platform.ID, From: dollars.ID, To: bank.ID, Amount: minor},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// waitFor waits until the payment of a transaction has a state.
func (c *connectedEnv) waitFor(t *testing.T, of transaction.Transaction, state rail.State) rail.Payment {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		found, err := c.Store.RailPaymentsByID(t.Context(), of.ID.UUID())
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 1 && found[0].State == state {
			return found[0]
		}
		if time.Now().After(deadline) {
			t.Fatalf("payments %+v, want one that is %s", found, state)
		}
	}
}

func TestConnections_DeliverPayouts(t *testing.T) {
	t.Parallel()
	// A payout takes the fastest rail that is connected. Within the limits it is recorded, handed over and delivered.
	c := newConnectedEnv(t)

	created := c.transfer(t, 50_00)

	if created.DestinationRail != corridor.ACH {
		t.Errorf("the rail is %s; only ACH is connected", created.DestinationRail)
	}
	c.WaitForState(created.ID, "COMPLETED")
	if p := c.waitFor(t, created, rail.Done); p.Connection != "bank" || p.SentAt.IsZero() || p.Amount.Minor != 50_00 {
		t.Errorf("payment %+v", p)
	}
}

func TestConnections_ReviewedPayouts(t *testing.T) {
	t.Parallel()
	// A payout above a limit waits. An operator releases it, and it is delivered; or cancels it, and it is refunded. That is no word of
	// the partner.
	by := rails.Author{Actor: "ana", Note: "decided"}
	for state, decide := range map[string]func(*connectedEnv, transaction.Transaction) error{
		"COMPLETED": func(c *connectedEnv, of transaction.Transaction) error {
			if _, err := c.operators.Release(context.Background(), of.ID.UUID(), by); err != nil {
				return err
			}
			return c.rail.SendQueued(context.Background())
		},
		"FAILED (refund COMPLETED)": func(c *connectedEnv, of transaction.Transaction) error {
			_, err := c.operators.Cancel(context.Background(), of.ID.UUID(), by)
			return err
		},
	} {
		c := newConnectedEnv(t)
		created := c.transfer(t, 70_00)
		waiting := c.waitFor(t, created, rail.InReview)
		if err := decide(c, created); err != nil {
			t.Fatal(err)
		}
		c.Clock.Advance(time.Hour)

		c.WaitForState(created.ID, state)

		if said := c.Transaction(created.ID).Rejection; said != (transaction.Rejection{}) {
			t.Errorf("%s: the partner is said to have said %+v", state, said)
		}
		decisions, err := c.Store.RailDecisions(t.Context(), c.Platform.ID, created.ID.UUID())
		if err != nil || len(decisions) != 1 || decisions[0].Payment.Reason != waiting.Reason || !strings.Contains(waiting.Reason, "60.00 USD") {
			t.Errorf("%s: decisions %+v, %v", state, decisions, err)
		}
	}
}

func TestConnections_RefuseWhatNoneCarries(t *testing.T) {
	t.Parallel()
	// A transfer or quote that no connection carries is refused when it is created, with the rail and the currency.
	c := newConnectedEnv(t)
	bitcoin := c.account(c.Customer.ID, "BTC", 100_000)
	_, err := c.TransferOut(t.Context(), transaction.TransferOut{Platform: c.Platform.ID, From: bitcoin.ID, To: c.NewWallet("spark1good").ID,
		Amount: 1000}, nil)
	if !fault.Is(err, fault.NotImplemented) {
		t.Errorf("transfer to a wallet: %v", err)
	}
	_, err = c.CreateQuote(t.Context(), c.QuoteRequest("USD", 10_00, c.NewWallet("spark1fine")), nil)
	if !fault.Is(err, fault.NotImplemented) || !strings.Contains(err.Error(), corridor.Layer2.PublicName()) {
		t.Errorf("quote for a wallet: %v", err)
	}
	pounds := c.NewExternalAccount(account.External{Customer: c.Customer.ID, Currency: "GBP", Type: "GBP_ACCOUNT",
		Fields: map[string]string{"sortCode": "200000", "accountNumber": "55779911"}, Rails: []corridor.Rail{corridor.FasterPayments}})
	_, err = c.TransferOut(t.Context(), transaction.TransferOut{Platform: c.Platform.ID, From: c.account(c.Customer.ID, "GBP", 10_00).ID,
		To: pounds.ID, Amount: 1000}, nil)
	if !fault.Is(err, fault.NotImplemented) || !strings.Contains(err.Error(), "GBP over FASTER_PAYMENTS to GB") {
		t.Errorf("transfer in pounds: %v", err)
	}
}

func TestConnections_TokenIsFundedOnTheOnlyNetwork(t *testing.T) {
	t.Parallel()
	// A quote in a token names the chain of the only connection that receives it. With a second one, the request has to.
	c := newConnectedEnv(t)
	wallet := func(name string, chain corridor.Rail) {
		t.Helper()
		connection := rail.Connection{Name: name, Adapter: rail.Partner, Version: 1, Rails: []corridor.Rail{chain},
			Currencies: []money.Currency{money.USDC}, SetAt: c.Clock.Now()}
		portstest.SaveConnection(t, c.Store.Connections(), ports.RailConnectionVersion{Connection: connection, By: "ana", Note: "test"})
		if err := c.rail.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	bank := c.NewBankAccount("000123456")
	request := c.QuoteRequest("USDC", 25_000_000, bank)
	request.Source.Network = ""

	wallet("ethereum", corridor.Ethereum)
	created, err := c.CreateQuote(t.Context(), request, nil)
	if err != nil || created.Quote.Source.Network != string(corridor.Ethereum) || len(created.Quote.Instructions) != 1 {
		t.Fatalf("with one chain: %+v, %v", created.Quote.Source, err)
	}
	stored, err := c.Store.Transaction(t.Context(), c.Platform.ID, created.Quote.Transaction)
	if err != nil || stored.SourceRail != corridor.Ethereum || stored.Source.Network != string(corridor.Ethereum) {
		t.Errorf("the transaction is on %s, %+v, %v", stored.SourceRail, stored.Source, err)
	}
	wallet("base", corridor.Base)
	_, err = c.CreateQuote(t.Context(), request, nil)
	if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), "received on BASE, ETHEREUM;") {
		t.Errorf("with two chains: %v", err)
	}
	request.Source.Network = string(corridor.Base)
	if created, err = c.CreateQuote(t.Context(), request, nil); err != nil || created.Quote.Source.Network != string(corridor.Base) {
		t.Errorf("on base: %+v, %v", created.Quote.Source, err)
	}
}

func TestConnections_ResumedPaymentsGoAtOnce(t *testing.T) {
	t.Parallel()
	// What waits for a paused connection, a payout and a receipt that is sent back, is done when the queue is looked at after the
	// connection is resumed: no time has to pass.
	c := newConnectedEnv(t)
	by := rails.Author{Actor: "ana", Note: "incident"}
	pause := func(paused bool) {
		t.Helper()
		if err := c.operators.Pause(t.Context(), "bank", paused, by); err != nil {
			t.Fatal(err)
		}
	}
	pause(true)
	payout := c.transfer(t, 50_00)
	receipt := c.sendBack(t, 5_00)
	c.waitFor(t, payout, rail.Queued)
	c.waitFor(t, receipt, rail.Queued)
	if err := c.rail.SendQueued(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.waitFor(t, receipt, rail.Queued)

	pause(false)
	if err := c.rail.SendQueued(t.Context()); err != nil {
		t.Fatal(err)
	}

	c.waitFor(t, payout, rail.Done)
	c.waitFor(t, receipt, rail.Done)
	c.WaitForState(payout.ID, "COMPLETED")
	c.WaitForNoJobs(transaction.StepSendBack)
	if posted := c.QueryStrings(`SELECT count(*)::text FROM ledger_postings WHERE kind = 'refund_paid'`); posted[0] != "1" {
		t.Errorf("%s receipts were sent back", posted[0])
	}
}

// sendBack receives dollars that nobody expects, and starts to send them back. It returns the receipt as a transaction, so
// that it can be waited for.
func (c *connectedEnv) sendBack(t *testing.T, minor int64) (named transaction.Transaction) {
	t.Helper()
	r := c.NewReceipt(corridor.ACH, "RENT", money.Amount{Minor: minor, Currency: "USD"})
	if _, err := c.Receive(t.Context(), r, nil); !fault.Is(err, fault.ReferenceNotFound) {
		t.Fatal(err)
	}
	page, err := c.Store.Unmatched(t.Context(), c.Platform.ID, ports.UnmatchedFilter{Limit: 10})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	posting, err := page.Items[0].SendBack(transaction.BeforeSendBack{}, "Unknown payer", c.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	c.Post(posting)
	c.Do(func(ctx context.Context, tx *postgres.Unit) error {
		err := tx.AssignUnmatched(ctx, page.Items[0], transaction.Assignment{Note: "Unknown payer", By: transaction.ReversedBy,
			At: c.Clock.Now()})
		if err != nil {
			return err
		}
		return tx.AddJobs(ctx, []ports.Job{{ID: c.IDs.New(c.Clock.Now()), Platform: c.Platform.ID, Step: transaction.StepSendBack,
			Due: c.Clock.Now(), Subjects: []uuid.UUID{r.ID.UUID()}}})
	})
	named.ID.SetUUID(r.ID.UUID())
	return named
}
