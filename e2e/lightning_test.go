package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/lightning"
	"causeway/e2e/kit"
)

// lightningEnv is a production platform with a node of the Lightning network.
type lightningEnv struct {
	*chainEnv
	node  *lndtest.Node
	payee *lndtest.Payee
	// hold stops the next call of its path until the test lets it go on; nil for none. The node then has the call, and its answer is lost.
	hold atomic.Pointer[heldCall]
	away atomic.Bool // no call reaches the node
}

// heldCall is a call of the node. called is closed when it comes, and the test closes goOn.
type heldCall struct {
	path         string
	called, goOn chan struct{}
}

func newLightningEnv(t *testing.T, phoenixd bool) *lightningEnv {
	t.Helper()
	return newLightningEnvOf(t, lndtest.New(lightning.Regtest, 0), phoenixd)
}

// newLightningEnvOf is newLightningEnv with a node, and options of the server.
func newLightningEnvOf(t testing.TB, of *lndtest.Node, phoenixd bool, options ...string) *lightningEnv {
	t.Helper()
	e := &lightningEnv{chainEnv: &chainEnv{testEnv: newDatabaseEnv(t), options: options}, node: of,
		payee: lndtest.NewPayee(lightning.Regtest)}
	e.node.Instant = true
	serve := e.node.Serve
	if phoenixd {
		serve = e.node.ServePhoenixd
	}
	node := serve(t, func(call string) (bool, bool) {
		if held := e.hold.Load(); held != nil && call == held.path {
			e.hold.Store(nil)
			close(held.called)
			<-held.goOn
			return false, true
		}
		return e.away.Load(), false
	})
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	settings := `"macaroon": "file:` + file("macaroon", lndtest.Macaroon) + `"`
	if phoenixd {
		settings = `"node": "PHOENIXD", "password": "file:` + file("password", lndtest.Password) + `"`
	}
	e.operator("rails", "set", "lightning", file("lightning.json", `{"adapter": "LIGHTNING", "rails": ["LIGHTNING"], "currencies": ["BTC"],
		"settings": {"url": "`+node.URL+`", `+settings+`, "network": "regtest"}}`),
		"--note", "Node", "--actor", "ana")
	e.operator("rails", "test", "lightning")
	login, err := kit.CreateServiceLogin(waitContext(t), e.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	e.login = login
	e.server = startServerAs(t, e.login, e.options...)
	e.tenant = e.createPlatform("Live", "PRODUCTION", "--regulated")
	e.customer = e.createCustomer()
	eventually(t, "the customer has an account", func() bool {
		list := e.get("/customers/internal-accounts?currency=BTC&customerId=" + e.customer).wantStatus(200)
		if len(list.list("data")) > 0 {
			e.account = list.text("data.0.id")
		}
		return e.account != ""
	})
	return e
}

// holdCall stops the next call of a path.
func (e *lightningEnv) holdCall(path string) *heldCall {
	held := &heldCall{path, make(chan struct{}), make(chan struct{})}
	e.hold.Store(held)
	return held
}

func (e *lightningEnv) balance() int64 {
	return e.get("/customers/internal-accounts?currency=BTC&customerId=" + e.customer).wantStatus(200).int("data.0.balance.amount")
}

// pay sends satoshis to an invoice of the payee, and returns the transaction and the payment hash.
func (e *lightningEnv) pay(name string, satoshis int64, fate lndtest.Fate) (transaction string, hash [32]byte) {
	text := e.payee.Invoice(name, satoshis, time.Now(), time.Hour)
	e.node.SetFate(text, fate)
	to := e.post("/customers/external-accounts", kit.AccountBody(e.customer, "BTC",
		object{"accountType": "LIGHTNING", "invoice": text})).wantStatus(201).text("id")
	sent := e.post("/transfer-out", object{"source": object{"accountId": e.account}, "destination": object{"accountId": to},
		"amount": satoshis}).wantStatus(201)
	i, err := lightning.ParseInvoice(text)
	if err != nil {
		e.t.Fatal(err)
	}
	return sent.text("id"), i.PaymentHash
}

func (e *lightningEnv) status(transaction string) string {
	status, _ := e.get("/transactions/" + transaction).wantStatus(200).value("status").(string)
	return status
}

func TestLightning_MoneyComesInAndGoesOut(t *testing.T) {
	t.Parallel()
	// An invoice that is paid while the service does not run is received once. A payout is paid once although the service is killed between
	// its call of the node and the answer, and one without a route is refused with the reason, and its money is back. The ledger has what
	// the channels hold.
	e := newLightningEnv(t, false)
	first, second := e.node.AddInvoice("TOPUP", 2_000_000_000), e.node.AddInvoice("TOPUP", 500_000_000)
	eventually(t, "the feed is read", func() bool { return e.queryInt(`SELECT count(*) FROM lightning_nodes WHERE settle_index = 0`) == 1 })
	e.server.kill()
	e.node.Pay(first, 0)
	e.restart()
	e.node.Pay(second, 0)
	eventually(t, "the invoices are received", func() bool { return e.queryInt(`SELECT count(*) FROM unmatched_funds`) == 2 })
	for range 2 {
		receipt := e.get("/ledger/unmatched?assigned=false&limit=1").wantStatus(200).text("data.0.receiptId")
		e.post("/ledger/unmatched/"+receipt+"/assign", object{"to": e.account, "note": "For payouts"}).wantStatus(200)
	}
	eventually(t, "the account has them", func() bool { return e.balance() == 2_500_000 })

	for name, info := range map[string]object{
		"an offer":        {"accountType": "LIGHTNING", "bolt12": "lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjq"},
		"another network": {"accountType": "LIGHTNING", "invoice": lndtest.NewPayee(lightning.Main).Invoice("x", 5, time.Now(), time.Hour)},
	} {
		if refused := e.post("/customers/external-accounts", kit.AccountBody(e.customer, "BTC", info)); refused.status != 400 {
			t.Errorf("%s: %d", name, refused.status)
		}
	}

	held := e.holdCall("/v2/router/send")
	killed, hash := e.pay("killed", 100_000, lndtest.Arrives)
	<-held.called
	e.server.kill()
	close(held.goOn)
	eventually(t, "the node has paid", func() bool { _, begun := e.node.Paid(hash); return begun == 1 })
	e.restart()
	eventually(t, "the payout is done", func() bool { return e.status(killed) == "COMPLETED" })

	lost, lostHash := e.pay("lost", 50_000, lndtest.NoRoute)
	eventually(t, "the payout is refused", func() bool { return e.status(lost) == "FAILED" || e.status(lost) == "REFUNDED" })
	if got := e.get("/transactions/" + lost).wantStatus(200).text("failureReason"); got != "LIGHTNING_PAYMENT_FAILED" {
		t.Errorf("failed with %s", got)
	}
	eventually(t, "its money is back", func() bool { return e.balance() == 2_400_000 })

	done, doneHash := e.pay("done", 30_000, lndtest.Arrives)
	eventually(t, "another payout is done", func() bool { return e.status(done) == "COMPLETED" })

	for hash, want := range map[[32]byte]int{hash: 1, lostHash: 0, doneHash: 1} {
		if paid, begun := e.node.Paid(hash); len(paid) != want || begun != 1 {
			t.Errorf("paid %v, begun %d times; want %d", paid, begun, want)
		}
	}
	eventually(t, "the fees are booked", func() bool { return e.queryInt(`SELECT count(*) FROM ledger_postings WHERE kind = 'rail_fee'`) == 2 })
	e.restart() // and the balance is asked for at once
	eventually(t, "the ledger has what the channels hold", func() bool {
		out, _, status := runCommand(t, e.operatorEnv(), "rails", "prove")
		return status == 0 && strings.Contains(out, "lightning")
	})
}

// fund asks for a quote of satoshis over Lightning, to the customer's account in bitcoin, and returns its transaction and its invoice.
func (e *lightningEnv) fund(satoshis int64) (transaction, invoice string) {
	e.t.Helper()
	q := e.requestFunding(satoshis).wantStatus(201)
	kind := q.text("paymentInstructions.0.accountOrWalletInfo.accountType")
	if kind != "LIGHTNING" || len(q.list("paymentInstructions")) != 1 {
		e.t.Errorf("instructions of the type %s", kind)
	}
	return q.text("transactionId"), q.text("paymentInstructions.0.accountOrWalletInfo.invoice")
}

func (e *lightningEnv) requestFunding(satoshis int64) apiResponse {
	return e.post("/quotes", object{"source": object{"sourceType": "REALTIME_FUNDING", "customerId": e.customer, "currency": "BTC",
		"cryptoNetwork": "LIGHTNING"}, "destination": object{"destinationType": "ACCOUNT", "accountId": e.account},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": satoshis})
}

func TestLightning_FundsQuotes(t *testing.T) {
	t.Parallel()
	// A quote is paid by its invoice, also while the service does not run. The invoice is for the exact amount, shows the reference and
	// expires with the quote. A larger payment fails the quote and is credited. While the node is away, a quote is a temporary fault and
	// nothing is left of it. It is the same with LND and phoenixd.
	// phoenixd keeps a part of a payment for its channel, which is a fee and no part of what was paid.
	for name, kept := range map[string]int64{"LND": 0, "phoenixd": 5_000_500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fundQuotes(t, newLightningEnv(t, kept > 0), kept)
		})
	}
}

// fundQuotes funds quotes over a node that keeps thousandths of a satoshi of the last payment.
func fundQuotes(t *testing.T, e *lightningEnv, kept int64) {
	t.Helper()
	first, invoice := e.fund(1_000_000)
	i, err := lightning.ParseInvoice(invoice)
	expires, _ := time.Parse(time.RFC3339, e.get("/transactions/"+first).wantStatus(200).text("createdAt"))
	if err != nil || i.MilliSatoshis != 1_000_000_000 || i.Description == "" || i.ExpiresAt.Before(expires) {
		t.Errorf("the invoice asks for %+v, %v", i, err)
	}
	e.server.kill()
	e.node.Pay(invoice, 0)
	if e.node.Pay(invoice, 0) {
		t.Error("the node takes the payment of an invoice twice")
	}
	e.restart()
	eventually(t, "the quote is paid", func() bool { return e.status(first) == "COMPLETED" })
	received := e.balance()
	if want := e.get("/transactions/" + first).wantStatus(200).int("receivedAmount.amount"); received != want || want == 0 {
		t.Errorf("the account has %d, want %d", received, want)
	}

	second, invoice := e.fund(2_000_000)
	e.node.Pay(invoice, 2_500_000_000)
	eventually(t, "the quote fails", func() bool { return e.status(second) == "FAILED" })
	eventually(t, "the payment is credited", func() bool { return e.balance() == received+2_500_000 })
	if got := e.get("/transactions/" + second).wantStatus(200); got.text("failureReason") != "FUNDING_AMOUNT_MISMATCH" {
		t.Errorf("failed with %s", got.text("failureReason"))
	}

	before := e.queryInt(`SELECT count(*) FROM transactions`)
	e.away.Store(true)
	if refused := e.requestFunding(1_000_000); refused.status != 503 {
		t.Errorf("without the node: %d %s", refused.status, refused.text("message"))
	}
	e.away.Store(false)
	if after := e.queryInt(`SELECT count(*) FROM transactions`); after != before {
		t.Errorf("%d transactions, before %d", after, before)
	}
	third, invoice := e.fund(1_000_000)
	e.node.SetChannelFee(kept)
	e.node.Pay(invoice, 0)
	eventually(t, "the next quote is paid", func() bool { return e.status(third) == "COMPLETED" })
	if kept > 0 {
		eventually(t, "what the node keeps is a fee", func() bool {
			return e.queryInt(`SELECT count(*) FROM ledger_postings WHERE kind = 'rail_fee'`) == 1
		})
	}
	eventually(t, "the ledger has what the channels hold", func() bool {
		out, _, status := runCommand(t, e.operatorEnv(), "rails", "prove")
		return status == 0 && strings.Contains(out, "lightning")
	})
	if out, _, status := runCommand(t, e.operatorEnv(), "ledger", "check"); status != 0 {
		t.Errorf("the ledger: %s", out)
	}
}
