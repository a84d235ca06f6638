package payments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/payments"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// invoicingNode is the Lightning node of every platform.
type invoicingNode struct {
	mu sync.Mutex
	// closed is why there is no node, and down why it makes no invoice.
	closed, down error
	made         []ports.InvoiceRequest
	asked        func() // called before an invoice is made
}

func (n *invoicingNode) LightningFor(context.Context, ident.Platform) (ports.Lightning, error) {
	return n, n.closed
}

func (n *invoicingNode) Invoice(_ context.Context, r ports.InvoiceRequest) (ports.Invoice, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked != nil {
		n.asked()
	}
	if n.down != nil {
		return ports.Invoice{}, n.down
	}
	n.made = append(n.made, r)
	return ports.Invoice{Request: "lnbcrt-" + r.Reference, ExpiresAt: r.ExpiresAt}, nil
}

func (n *invoicingNode) CancelInvoice(context.Context, uuid.UUID) error { return nil }

func newFundedEnv(t testing.TB, store func(*env) payments.Store) (*env, *invoicingNode) {
	t.Helper()
	env, node := newIdleEnv(t), &invoicingNode{}
	from := payments.Store(env.Store)
	if store != nil {
		from = store(env)
	}
	env.Service = newService(env.Env, from, env.approvals, func(c *payments.Config) { c.Lightning = node })
	env.Run(env.Service.Run)
	return env, node
}

var accounts atomic.Int64

// fundedRequest asks for a quote of 200000 satoshi, paid over Lightning, to a new bank account.
func (e *env) fundedRequest(network string) quote.Request {
	r := e.QuoteRequest(money.BTC, 200_000, e.NewBankAccount(fmt.Sprint("9", accounts.Add(1), "456")))
	r.Source.Network = network
	return r
}

// invoiceOf returns the invoice of the first payment instruction; empty if it is none.
func invoiceOf(q quote.Quote) string {
	if len(q.Instructions) == 0 || q.Instructions[0].Info["accountType"] != "LIGHTNING" {
		return ""
	}
	return fmt.Sprint(q.Instructions[0].Info["invoice"])
}

func TestCreateQuote_FundedOverLightning(t *testing.T) {
	t.Parallel()
	// The instructions have the invoice of the node, for exactly what is sent and under the reference. It expires before the quote, by
	// less than ten seconds. No unit of work is open while the node is asked. The quote that is read again has the same invoice.
	env, node := newFundedEnv(t, nil)
	open := -1
	node.asked = func() {
		open = len(env.QueryStrings(`SELECT state FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
			AND pid <> pg_backend_pid()`))
	}

	created, err := env.CreateQuote(t.Context(), env.fundedRequest("LIGHTNING"), nil)
	if err != nil {
		t.Fatal(err)
	}

	q := created.Quote
	if len(q.Instructions) != 1 || len(node.made) != 1 || invoiceOf(q) != "lnbcrt-"+q.Reference {
		t.Fatalf("%+v, made %+v", q.Instructions, node.made)
	}
	made := node.made[0]
	if made.Amount != q.Pricing.Sent || made.Reference != q.Reference || made.ID != q.Transaction.UUID() ||
		made.DescriptionHash != [32]byte{} {
		t.Errorf("made %+v for %+v", made, q)
	}
	if before := q.ExpiresAt.Sub(made.ExpiresAt); before < time.Second || before > 10*time.Second {
		t.Errorf("expires %s before the quote", before)
	}
	if open != 0 {
		t.Errorf("%d transactions of the database are open while the node is asked", open)
	}
	again, err := env.GetQuote(t.Context(), env.Platform.ID, q.ID)
	if err != nil || invoiceOf(again.Quote) != invoiceOf(q) ||
		invoiceOf(quote.Quote{Instructions: env.Transaction(q.Transaction).Instructions}) != invoiceOf(q) {
		t.Errorf("read again: %+v, %v", again.Quote.Instructions, err)
	}

	// Without a network the invoice is one of several ways, and what is paid otherwise needs none.
	any, err := env.CreateQuote(t.Context(), env.fundedRequest(""), nil)
	if err != nil || len(any.Quote.Instructions) < 2 || invoiceOf(any.Quote) == "" {
		t.Errorf("on any network: %+v, %v", any.Quote.Instructions, err)
	}
	for _, r := range []quote.Request{env.fundedRequest("BITCOIN"), env.QuoteRequest("USD", 100_00, env.NewWallet("spark1good"))} {
		if other, err := env.CreateQuote(t.Context(), r, nil); err != nil || invoiceOf(other.Quote) != "" {
			t.Errorf("from %+v: %+v, %v", r.Source, other.Quote.Instructions, err)
		}
	}
	if len(node.made) != 2 {
		t.Errorf("%d invoices", len(node.made))
	}
}

func TestCreateQuote_NodeIsDown(t *testing.T) {
	t.Parallel()
	// Without the node a quote over Lightning is a temporary fault, and nothing is half made. One on any network names the other ways. What
	// is wrong with a request is answered without an invoice.
	env, node := newFundedEnv(t, nil)
	unavailable := fault.New(fault.ServiceUnavailable, "The node is not available.")
	for name, set := range map[string]func(){
		"closed": func() { node.closed, node.down = unavailable, nil },
		"down": func() {
			node.closed, node.down = nil, fmt.Errorf("%w: %w", unavailable, errors.New("no route to host"))
		},
	} {
		set()
		_, err := env.CreateQuote(t.Context(), env.fundedRequest("LIGHTNING"), nil)
		apptest.WantFault(t, name, err, fault.ServiceUnavailable)
		if made := env.QueryStrings(`SELECT id::text FROM transactions UNION ALL SELECT id::text FROM quotes UNION ALL
			SELECT id::text FROM jobs WHERE step = 'expire'`); len(made) != 0 {
			t.Errorf("%s: made %v", name, made)
		}
	}
	if any, err := env.CreateQuote(t.Context(), env.fundedRequest(""), nil); err != nil || len(any.Quote.Instructions) == 0 ||
		invoiceOf(any.Quote) != "" {
		t.Errorf("on any network: %+v, %v", any.Quote.Instructions, err)
	}
	node.closed, node.down = nil, nil
	little, nobody := env.fundedRequest("LIGHTNING"), env.fundedRequest("LIGHTNING")
	little.Amount = 1
	nobody.Destination.External = ident.NewExternalAccount(env.IDs.New, env.Clock.Now())
	_, err := env.CreateQuote(t.Context(), little, nil)
	apptest.WantFault(t, "too little", err, fault.AmountOutOfRange)
	_, err = env.CreateQuote(t.Context(), nobody, nil)
	apptest.WantFault(t, "no account", err, fault.ExternalAccountNotFound)
	node.closed = fault.New(fault.NotImplemented, "There is no node.")
	if without, err := env.CreateQuote(t.Context(), env.fundedRequest(""), nil); err != nil || invoiceOf(without.Quote) != "" {
		t.Errorf("without a node: %+v, %v", without.Quote.Instructions, err)
	}
	if len(node.made) != 0 {
		t.Errorf("made %+v", node.made)
	}
}

func TestCreateQuote_InvoiceWithoutQuote(t *testing.T) {
	t.Parallel()
	// If the process ends between the invoice and the quote, the caller has neither. A repeated request makes another invoice. If somebody
	// pays the first one all the same, the money is unmatched funds.
	var store *unavailableStore
	env, node := newFundedEnv(t, func(e *env) payments.Store {
		store = &unavailableStore{Store: e.Store}
		return store
	})
	node.asked = func() { store.failures.Store(100) }
	if _, err := env.CreateQuote(t.Context(), env.fundedRequest("LIGHTNING"), nil); err == nil {
		t.Fatal("there is a quote")
	}
	node.asked = nil
	store.failures.Store(0)

	created, err := env.CreateQuote(t.Context(), env.fundedRequest("LIGHTNING"), nil)
	if err != nil || len(node.made) != 2 || invoiceOf(created.Quote) != "lnbcrt-"+node.made[1].Reference ||
		node.made[0].Reference == node.made[1].Reference {
		t.Fatalf("%+v, %v, of %+v", created.Quote.Instructions, err, node.made)
	}
	_, err = env.Receive(t.Context(), env.NewReceipt(corridor.Lightning, node.made[0].Reference, node.made[0].Amount), nil)
	apptest.WantFault(t, "the first", err, fault.ReferenceNotFound)
	if unmatched := env.QueryStrings(`SELECT r.amount::text FROM unmatched_funds u JOIN receipts r ON r.platform_id = u.platform_id AND r.id = u.receipt_id`); len(unmatched) != 1 || unmatched[0] != "200000" {
		t.Errorf("unmatched %v", unmatched)
	}
	if report := audittest.Check(t, env.Env); len(report.Findings) > 0 {
		t.Errorf("%+v", report.Findings)
	}
}

func TestReceive_FundedOverLightning(t *testing.T) {
	t.Parallel()
	// The payment of the invoice is converted and paid out, also if it is reported after the quote has expired. One that is late, of
	// another amount, or that comes twice, is credited in bitcoin to the payer's account, because nobody knows on the network who has paid.
	for name, c := range map[string]struct {
		pay      func(*env, quote.Quote, func(at time.Time, satoshis int64))
		state    string
		credited int64
	}{
		"in time": {func(_ *env, q quote.Quote, receive func(time.Time, int64)) { receive(q.CreatedAt, 200_000) }, "COMPLETED", 0},
		"reported late": {func(e *env, q quote.Quote, receive func(time.Time, int64)) {
			e.Clock.Advance(time.Hour)
			e.waitForStatus(q.Transaction, transaction.Expired)
			receive(q.ExpiresAt.Add(-2*time.Second), 200_000)
		}, "COMPLETED", 0},
		"late": {func(e *env, q quote.Quote, receive func(time.Time, int64)) {
			e.Clock.Advance(time.Hour)
			e.waitForStatus(q.Transaction, transaction.Expired)
			receive(q.ExpiresAt, 200_000)
		}, "EXPIRED (refund COMPLETED)", 200_000},
		"late, and nothing had expired yet": {func(_ *env, q quote.Quote, receive func(time.Time, int64)) {
			receive(q.ExpiresAt.Add(time.Second), 200_000)
		}, "EXPIRED (refund COMPLETED)", 200_000},
		"too much": {func(_ *env, q quote.Quote, receive func(time.Time, int64)) { receive(q.CreatedAt, 200_001) },
			"FAILED (refund COMPLETED)", 200_001},
		"twice": {func(_ *env, q quote.Quote, receive func(time.Time, int64)) {
			receive(q.CreatedAt, 200_000)
			receive(q.CreatedAt, 200_000)
		}, "COMPLETED", 200_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := newFundedEnv(t, nil)
			created, err := env.CreateQuote(t.Context(), env.fundedRequest("LIGHTNING"), nil)
			if err != nil {
				t.Fatal(err)
			}
			q := created.Quote

			c.pay(env, q, func(at time.Time, satoshis int64) {
				r := env.receipt(q, corridor.Lightning, satoshis)
				r.At = at
				for range 2 { // the feed may be read again
					if _, err := env.Receive(t.Context(), r, nil); err != nil {
						t.Fatal(err)
					}
				}
			})
			env.WaitForState(q.Transaction, c.state)
			env.WaitForNoJobs(transaction.StepSendBack)

			want := map[string]int64{}
			if c.credited > 0 {
				home := env.QueryStrings(`SELECT path FROM ledger_accounts WHERE path LIKE 'customers/%' AND currency = 'BTC'`)
				if len(home) != 1 {
					t.Fatalf("accounts %v", home)
				}
				want[home[0]+" BTC"], want["chains/LIGHTNING BTC"] = -c.credited, c.credited
			}
			if p := q.Pricing; strings.HasPrefix(c.state, "COMPLETED") {
				want["chains/LIGHTNING BTC"] += p.Sent.Minor
				want["income/fees BTC"], want["fx/position BTC"] = -p.Fees, -(p.Sent.Minor - p.Fees - p.RoundingSent)
				want["fx/position USD"], want["rails/RTP USD"] = p.Received.Minor, -p.Received.Minor
				if p.RoundingSent > 0 {
					want["income/rounding BTC"] = -p.RoundingSent
				}
			}
			env.WantBalances(want)
			if report := audittest.Check(t, env.Env); len(report.Findings) > 0 {
				t.Errorf("%+v", report.Findings)
			}
		})
	}
}
