package lightning_test

import (
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/account"
	"causeway/core/fault"
	core "causeway/core/lightning"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// send sends a payout, and returns its outcome.
func send(t testing.TB, r ports.Rail, p ports.Payout) ports.Outcome {
	t.Helper()
	return r.Send(t.Context(), []ports.Payout{p})[0]
}

func (w *world) wantPaid(text string, want ...int64) {
	w.t.Helper()
	got, _ := w.node.Paid(hashOf(w.t, text))
	if len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
		w.t.Errorf("the node has paid %v, want %v", got, want)
	}
}

// settle sends a payout until its outcome is final.
func (w *world) settle(r ports.Rail, p ports.Payout) ports.Outcome {
	w.t.Helper()
	for range 8 {
		if o := send(w.t, r, p); o.Verdict != ports.Waiting && o.Verdict != ports.Unknown {
			return o
		}
		w.run()
	}
	w.t.Fatal("the payout does not end")
	return ports.Outcome{}
}

func TestSend_PaysWhatAnInvoiceAsksFor(t *testing.T) {
	t.Parallel()
	// A payout to an invoice is done with the payment hash as its partner's id; the feed makes its job due when it has arrived. An
	// invoice without an amount is paid with that of the payout.
	w := newWorld(t)
	r := w.rail()
	named, open := w.payout(1, 5_000), w.payoutTo(2, 7_000, invoiceAccount(w.invoice(2, 0)))

	for _, p := range []ports.Payout{named, open} {
		text := p.Account.Fields["invoice"]
		hash := lightning.Hash(hashOf(t, text)).String()
		if o := send(t, r, p); o.Verdict != ports.Waiting || !o.Accepted || o.PartnerID != hash {
			t.Errorf("sent: %+v", o)
		}
		w.node.Step()
		if changed := w.mustPoll().Changed; len(changed) != 1 || changed[0].Subject != p.Transaction.ID.UUID() ||
			changed[0].Platform != w.platform {
			t.Errorf("news of %+v", changed)
		}
		if o := send(t, r, p); o.Verdict != ports.Done || o.PartnerID != hash {
			t.Errorf("paid: %+v", o)
		}
		w.wantPaid(text, p.Transaction.Pricing.Received.Minor)
	}
}

func TestSend_PaysFractionsOfASatoshi(t *testing.T) {
	t.Parallel()
	// An invoice that asks for fractions of a satoshi is paid by a payout of the next whole one. What is not paid of it is carried to the
	// next fee, so that the ledger has what the channels hold.
	w := newWorld(t)
	w.node.SetRouting(0, true)
	r := w.rail()
	const paid = 4_999_001 + 5_000_000 + 4_999_500
	for n, msats := range []int64{4_999_001, 5_000_000, 4_999_500} {
		text := lndtest.Write(w.payee.Key, lndtest.Terms{Network: core.Regtest, MilliSatoshis: msats, Hash: [32]byte{byte(n)},
			Description: "x", At: w.clock.Now(), Expiry: time.Hour})
		if o := w.settle(r, w.payoutTo(n+1, 5_000, invoiceAccount(text))); o.Verdict != ports.Done {
			t.Errorf("%d: %+v", msats, o)
		}
	}
	if got := w.node.Balance(); got != 1_000_000_000-paid {
		t.Errorf("the node holds %d, want %d", got, 1_000_000_000-paid)
	}
	if got, ledger := w.balance(), int64(1_000_000-3*5_000); got != ledger {
		t.Errorf("the channels hold %d, the ledger has %d", got, ledger)
	}
}

func TestSend_DoneAtOnceIfTheNodeIs(t *testing.T) {
	t.Parallel()
	// A payment that arrives within the call is done with its answer.
	w := newWorld(t)
	w.node.Instant = true
	p := w.payout(1, 5_000)
	if o := send(t, w.rail(), p); o.Verdict != ports.Done {
		t.Errorf("got %+v", o)
	}
	w.wantPaid(p.Account.Fields["invoice"], 5_000)
}

func TestSend_RefusesWhatItCannotPay(t *testing.T) {
	t.Parallel()
	// What can never be paid is refused with LIGHTNING_PAYMENT_FAILED and a code, and the node is not asked.
	w := newWorld(t)
	r := w.rail()
	mainnet := lndtest.NewPayee(core.Main)
	own := &lndtest.Payee{Key: w.node.Key, Network: core.Regtest}
	dollars := w.payout(6, 5_000)
	dollars.Transaction.Pricing.Received.Currency = "USD"
	for name, test := range map[string]struct {
		payout     ports.Payout
		code, text string
	}{
		"another amount": {w.payoutTo(1, 5_001, invoiceAccount(w.invoice(1, 5_000))), "DESTINATION", "asks for 5000000"},
		"another network": {w.payoutTo(2, 5_000, invoiceAccount(mainnet.Invoice("2", 5_000, w.clock.Now(), time.Hour))), "DESTINATION",
			"not of the network regtest"},
		"a wrong letter": {w.payoutTo(3, 5_000, invoiceAccount(strings.Replace(w.invoice(3, 5_000), "50000000p", "60000000p", 1))),
			"DESTINATION", "wrong letter"},
		"an offer": {w.payoutTo(4, 5_000, offerAccount),
			"DESTINATION", "BOLT 11"},
		"expired": {w.payoutTo(5, 5_000, invoiceAccount(w.payee.Invoice("5", 5_000, w.clock.Now().Add(-2*time.Hour), time.Hour))), "EXPIRED",
			"The invoice has expired."},
		"another currency": {dollars, "DESTINATION", "not USD"},
		"the node itself": {w.payoutTo(7, 5_000, invoiceAccount(own.Invoice("7", 5_000, w.clock.Now(), time.Hour))), "REFUSED",
			"Self-payments not allowed."},
	} {
		for range 2 {
			o := send(t, r, test.payout)
			if o.Verdict != ports.Refused || o.Reason != transaction.LightningFailed || o.Code != test.code || !strings.Contains(o.Text, test.text) {
				t.Errorf("%s: %+v", name, o)
			}
		}
	}
}

func TestSend_InvoicePaysOnePayoutOnly(t *testing.T) {
	t.Parallel()
	// A second payout to an invoice is refused while the first is on its way and after it: the payee has to give another one. If the first
	// has failed, a later one may try.
	w := newWorld(t)
	r := w.rail()
	text := w.invoice(1, 5_000)
	first, second, third := w.payoutTo(1, 5_000, invoiceAccount(text)), w.payoutTo(2, 5_000, invoiceAccount(text)),
		w.payoutTo(3, 5_000, invoiceAccount(text))
	send(t, r, first)
	if o := send(t, r, second); o.Verdict != ports.Refused || o.Code != "PAID_BEFORE" {
		t.Errorf("while it is on its way: %+v", o)
	}
	if o := w.settle(r, first); o.Verdict != ports.Done {
		t.Errorf("the first: %+v", o)
	}
	if o := send(t, r, third); o.Verdict != ports.Refused || o.Code != "PAID_BEFORE" {
		t.Errorf("after it: %+v", o)
	}
	w.wantPaid(text, 5_000)

	other := w.invoice(4, 6_000)
	w.node.SetFate(other, lndtest.NoRoute)
	if o := w.settle(r, w.payoutTo(4, 6_000, invoiceAccount(other))); o.Verdict != ports.Refused || o.Code != "NO_ROUTE" {
		t.Errorf("without a route: %+v", o)
	}
	w.node.SetFate(other, lndtest.Arrives)
	if o := w.settle(r, w.payoutTo(5, 6_000, invoiceAccount(other))); o.Verdict != ports.Done {
		t.Errorf("after a payout that has failed: %+v", o)
	}
	w.wantPaid(other, 6_000)
}

func TestSend_StuckPaymentIsAskedAboutUntilItEnds(t *testing.T) {
	t.Parallel()
	// A payment that is stuck for days, long after its invoice has expired, is neither refused nor sent again. It is done or refused when
	// the network says so.
	w := newWorld(t)
	r := w.rail()
	arrives, fails := w.payout(1, 5_000), w.payout(2, 5_000)
	for _, p := range []ports.Payout{arrives, fails} {
		w.node.SetFate(p.Account.Fields["invoice"], lndtest.Stuck)
		send(t, r, p)
	}
	for range 5 {
		w.clock.Advance(24 * time.Hour)
		w.run()
		for _, p := range []ports.Payout{arrives, fails} {
			if o := send(t, r, p); o.Verdict != ports.Waiting || !o.Accepted {
				t.Fatalf("stuck: %+v", o)
			}
		}
	}
	w.node.SetFate(arrives.Account.Fields["invoice"], lndtest.Arrives)
	w.node.SetFate(fails.Account.Fields["invoice"], lndtest.NoRoute)
	w.run()
	if o := send(t, r, arrives); o.Verdict != ports.Done {
		t.Errorf("arrived: %+v", o)
	}
	if o := send(t, r, fails); o.Verdict != ports.Refused || o.Code != "NO_ROUTE" {
		t.Errorf("failed: %+v", o)
	}
	for _, p := range []ports.Payout{arrives, fails} {
		if _, begun := w.node.Paid(hashOf(t, p.Account.Fields["invoice"])); begun != 1 {
			t.Errorf("the node has begun a payment %d times", begun)
		}
	}
}

func TestSend_FeeIsLimited(t *testing.T) {
	t.Parallel()
	// A route that costs more than the limit is not taken; above the least fee, the limit is a share of the amount.
	w := newWorld(t)
	w.settings["maxFeeRate"], w.settings["maxFeeLeast"] = "1000", "2"
	w.node.Fee = 60_000
	r := w.rail()
	if o := w.settle(r, w.payout(1, 50_000)); o.Verdict != ports.Refused || o.Code != "NO_ROUTE" {
		t.Errorf("60 satoshis for 50,000: %+v", o)
	}
	if o := w.settle(r, w.payout(2, 60_000)); o.Verdict != ports.Done {
		t.Errorf("60 satoshis for 60,000: %+v", o)
	}
	w.node.Fee = 2_000
	if o := w.settle(r, w.payout(3, 1)); o.Verdict != ports.Done {
		t.Errorf("2 satoshis for one: %+v", o)
	}
}

func TestSend_WaitsForANodeThatDoesNotLetIt(t *testing.T) {
	t.Parallel()
	// A payout waits with the reason as long as the macaroon does not suffice, and leaves once after it does.
	w := newWorld(t)
	r := w.rail()
	w.node.Deny("offchain:write")
	p := w.payout(1, 5_000)
	for range 2 {
		if o := send(t, r, p); o.Verdict != ports.Waiting || o.Accepted || !strings.Contains(o.Text, "Permission denied") {
			t.Errorf("denied: %+v", o)
		}
		w.run()
	}
	w.node.Allow("offchain:write")
	if o := w.settle(r, p); o.Verdict != ports.Done {
		t.Errorf("allowed: %+v", o)
	}
	w.wantPaid(p.Account.Fields["invoice"], 5_000)
}

func TestSend_NotSentBeforeItsInvoiceExpiresIsRefused(t *testing.T) {
	t.Parallel()
	// A call that never reached the node is made again after a while. If the invoice has expired meanwhile, the payout is refused.
	for name, expiry := range map[string]time.Duration{"again": time.Hour, "expired": time.Minute} {
		w := newWorld(t)
		p := w.payoutTo(1, 5_000, invoiceAccount(w.payee.Invoice("1", 5_000, w.clock.Now(), expiry)))
		fails := w.handover().Rail(w.open(func(call string) (bool, bool) { return call == "/v2/router/send", false }))
		if o := send(t, fails, p); o.Verdict != ports.Waiting {
			t.Fatalf("%s: %+v", name, o)
		}
		w.clock.Advance(30 * time.Second)
		r := w.rail()
		if o := send(t, r, p); o.Verdict != ports.Waiting { // the call may be on its way
			t.Fatalf("%s, soon: %+v", name, o)
		}
		if _, begun := w.node.Paid(hashOf(t, p.Account.Fields["invoice"])); begun != 0 {
			t.Errorf("%s: sent again at once", name)
		}
		w.clock.Advance(3 * time.Minute)
		switch o := w.settle(r, p); {
		case name == "again" && o.Verdict != ports.Done, name == "expired" && (o.Verdict != ports.Refused || o.Code != "EXPIRED"):
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestSend_AnotherPayoutWithTheIDIsUnknown(t *testing.T) {
	t.Parallel()
	// A payout with the id of another one is neither paid nor refused.
	w := newWorld(t)
	r := w.rail()
	w.settle(r, w.payout(1, 5_000))
	if o := send(t, r, w.payoutTo(1, 6_000, invoiceAccount(w.invoice(2, 6_000)))); o.Verdict != ports.Unknown {
		t.Errorf("got %+v", o)
	}
	if o := w.open(lndtest.Open).Status(t.Context(), []ports.Payout{w.payout(9, 1)})[0]; o.Verdict != ports.Unknown {
		t.Errorf("the status of what was never sent: %+v", o)
	}
}

func TestRefund_OnlyInside(t *testing.T) {
	t.Parallel()
	// Who has paid an invoice is not known: a refund is refused with NO_PAYER, unless the money stays inside.
	w := newWorld(t)
	refunds := []ports.Refund{{ID: littleID(3, 1), Platform: w.platform, Amount: money.Amount{Minor: 5, Currency: money.BTC}},
		{ID: littleID(3, 2), Platform: w.platform, Amount: money.Amount{Minor: 5, Currency: money.BTC}, Internal: true}}
	outcomes := w.open(lndtest.Open).Refund(t.Context(), refunds)
	if outcomes[0].Verdict != ports.Refused || outcomes[0].Code != "NO_PAYER" || outcomes[1].Verdict != ports.Done {
		t.Errorf("got %+v", outcomes)
	}
}

func TestCheckAccount(t *testing.T) {
	t.Parallel()
	// Accounts that can never be paid to are refused with the field.
	w := newWorld(t)
	r := w.open(lndtest.Open)
	mainnet := lndtest.NewPayee(core.Main).Invoice("1", 5, w.clock.Now(), time.Hour)
	for name, test := range map[string]struct {
		account     account.External
		field, text string
	}{
		"invoice":         {account: invoiceAccount(w.invoice(1, 5))},
		"address":         {account: addressAccount("ana@wallet.example.com")},
		"another type":    {account: account.External{Type: account.BitcoinAddress, Fields: map[string]string{"address": "x"}}},
		"another network": {invoiceAccount(mainnet), "accountInfo.invoice", "regtest"},
		"expired": {invoiceAccount(w.payee.Invoice("2", 5, w.clock.Now().Add(-time.Hour), time.Minute)), "accountInfo.invoice",
			"expired"},
		"no invoice": {invoiceAccount("lnbc20u1p3y0x3hpp"), "accountInfo.invoice", "letter"},
		"offer":      {offerAccount, "accountInfo.bolt12", "not paid"},
	} {
		err := r.CheckAccount(test.account)
		f, isFault := fault.As(err)
		switch {
		case test.field == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.field != "" && (!isFault || f.Code != fault.InvalidInput || len(f.Fields) != 1 || f.Fields[0].Field != test.field ||
			!strings.Contains(f.Fields[0].Message, test.text)):
			t.Errorf("%s: %+v", name, err)
		}
	}
}
