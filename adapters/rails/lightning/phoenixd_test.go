package lightning_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

func TestNew_RefusesWhatPhoenixdCannotDo(t *testing.T) {
	t.Parallel()
	// Settings that phoenixd decides itself are refused by name, and its password is required.
	c := rail.Connection{Name: "phoenixd", Adapter: rail.Lightning, Rails: []corridor.Rail{corridor.Lightning},
		Currencies: []money.Currency{money.BTC}, Settings: map[string]string{"node": "PHOENIXD", "url": "http://127.0.0.1:9740",
			"network": "main", "macaroon": "env:MACAROON", "maxFeeRate": "5000", "maxFeeLeast": "10", "payFor": "1m", "routeHints": "yes"}}
	_, err := lightning.New(lightning.Config{Connection: c})
	f, _ := fault.As(err)
	var fields []string
	for _, field := range f.Fields {
		fields = append(fields, field.Field)
	}
	if want := []string{"settings.macaroon", "settings.maxFeeLeast", "settings.maxFeeRate", "settings.password", "settings.payFor",
		"settings.routeHints"}; !slices.Equal(fields, want) {
		t.Errorf("%v, want %v", fields, want)
	}
	c.Settings = map[string]string{"node": "ECLAIR", "url": "http://127.0.0.1:9740", "network": "main", "macaroon": "env:MACAROON"}
	if _, err := lightning.New(lightning.Config{Connection: c}); err == nil || !strings.Contains(err.Error(), "LND or PHOENIXD") {
		t.Errorf("another node: %v", err)
	}
}

func TestTest_Phoenixd(t *testing.T) {
	t.Parallel()
	// A node without a channel passes, because it opens one for the first payment. A wrong password, one that may not pay, and a version that
	// can pay an invoice twice at the same time do not.
	w := newWorldOf(t, true)
	checked, err := w.poller.Test(t.Context())
	if err != nil || len(checked) != 3 || !strings.Contains(checked[0], "0.7.2") || !strings.Contains(checked[2], "0.01") {
		t.Errorf("%q, %v", checked, err)
	}
	for version, works := range map[string]bool{"0.5.1": false, "0.6.0": true, "0.10.0-rc1": true, "1.0.0": true, "dev": false} {
		w.node.Version = version
		if _, err := w.poller.Test(t.Context()); (err == nil) != works {
			t.Errorf("version %s: %v", version, err)
		}
	}
	w.node.Version = ""
	for password, part := range map[string]string{"wrong": "does not accept the password", lndtest.LimitedPassword: "may not pay"} {
		w.password = password
		if _, err := w.open(lndtest.Open).Test(t.Context()); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("with the password %s: %v", password, err)
		}
	}
}

func TestSend_PhoenixdPaysAlready(t *testing.T) {
	t.Parallel()
	// Phoenixd refuses to pay what it is paying or has paid, also by hand. That is no failure: the payout is on its way, and done in the
	// end, and nothing is paid twice.
	w := newWorldOf(t, true)
	r := w.rail()
	going, paid := w.payout(1, 1_000), w.payout(2, 2_000)
	w.node.PayByHand(paid.Account.Fields["invoice"])
	w.node.Step()
	w.node.PayByHand(going.Account.Fields["invoice"])

	for i, o := range r.Send(t.Context(), []ports.Payout{going, paid}) {
		if want := []ports.Verdict{ports.Waiting, ports.Done}[i]; o.Verdict != want {
			t.Errorf("payout %d: %+v", i, o)
		}
	}
	w.run()
	if o := r.Status(t.Context(), []ports.Payout{going})[0]; o.Verdict != ports.Done {
		t.Errorf("in the end %+v", o)
	}
	for _, p := range []ports.Payout{going, paid} {
		if times, begun := w.node.Paid(hashOf(t, p.Account.Fields["invoice"])); len(times) != 1 || begun != 1 {
			t.Errorf("paid %v, begun %d times", times, begun)
		}
	}
}

func TestPoll_PhoenixdIndexesAreTimes(t *testing.T) {
	t.Parallel()
	// A payment that appears with a time before that of the last one is reported too, and each once, over many pages. What was before the
	// connection is never reported.
	w := newWorldOf(t, true)
	w.node.Pay(w.node.AddInvoice("BEFORE", 9_000), 0)
	w.mustPoll()
	w.clock.Advance(10 * time.Minute)
	for range 7 {
		w.node.Pay(w.node.AddInvoice("ONE-OF-MANY", 5_000), 0)
	}
	first := len(w.mustPoll().Receipts)
	early := w.node.AddInvoice("EARLIER", 6_000)
	w.node.Pay(early, 0)
	w.node.Backdate(early, 5*time.Minute)
	second := w.mustPoll().Receipts
	if first != 7 || len(second) != 1 || second[0].Reference != "EARLIER" {
		t.Errorf("received %d, then %+v", first, second)
	}
	w.node.Pay(w.node.AddInvoice("LAST", 7_000), 0)
	if third := w.mustPoll().Receipts; len(third) != 1 || third[0].Reference != "LAST" {
		t.Errorf("then %+v", third)
	}
	if balance := w.balance(); balance != 1_000_000+9+7*5+6+7 {
		t.Errorf("the node holds %d", balance)
	}
}

func TestPoll_PhoenixdKeepsAFeeForItsChannel(t *testing.T) {
	t.Parallel()
	// What the node keeps of a payment for the channel that it comes over is a fee of the platform, which gets what the payer has paid. Of
	// an invoice that was made by hand, what is left is received, and nothing if nothing is. The node holds what the ledger has.
	w := newWorldOf(t, true)
	w.mustPoll()
	given, err := w.poller.Invoices(w.platform).Invoice(t.Context(), w.request(1, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	w.node.SetChannelFee(12_345_678)
	w.node.Pay(given.Request, 0)
	w.node.Pay(w.node.AddInvoice("BY-HAND", 20_000_000), 0)
	w.node.Pay(w.node.AddInvoice("ALL-KEPT", 12_345_678), 0)

	report := w.mustPoll()
	if len(report.Receipts) != 2 || report.Receipts[0].Amount.Minor != 100_000 || report.Receipts[1].Amount.Minor != 7_654 {
		t.Fatalf("received %+v", report.Receipts)
	}
	if len(report.Fees) != 1 || report.Fees[0].Amount.Minor != 12_346 || report.Fees[0].Platform != w.platform ||
		report.Fees[0].Memo != "channel" {
		t.Errorf("fees %+v", report.Fees)
	}
	if held := w.balance(); held != 1_000_000+100_000-12_346+7_654 {
		t.Errorf("the node holds %d", held)
	}
}

func TestPoll_PhoenixdSpendsOnChain(t *testing.T) {
	t.Parallel()
	// What leaves the channel to the chain is reported once, as what no record has; the cost of a channel is that of the money that came
	// over it, and is not.
	w := newWorldOf(t, true)
	w.mustPoll()
	w.node.SpendOnChain("splice_out", sha256.Sum256([]byte("out")), 5_000)
	w.node.SpendOnChain("auto_liquidity", sha256.Sum256([]byte("channel")), 0)
	for range 2 {
		w.run()
	}
	if found := w.seen.Contradictions; len(found) != 1 || found[0].Reported.Amount.Minor != 5_000 {
		t.Errorf("reported %+v", found)
	}
}

func TestCancelInvoice_PhoenixdCannot(t *testing.T) {
	t.Parallel()
	// Phoenixd cannot cancel an invoice, which is said until two minutes after it has expired.
	w := newWorldOf(t, true)
	mine := w.poller.Invoices(w.platform)
	if _, err := mine.Invoice(t.Context(), w.request(1, 100)); err != nil {
		t.Fatal(err)
	}
	if err := mine.CancelInvoice(t.Context(), littleID(5, 1)); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("an open one: %v", err)
	}
	paid, err := mine.Invoice(t.Context(), w.request(2, 100))
	if err != nil {
		t.Fatal(err)
	}
	if !w.node.Pay(paid.Request, 0) {
		t.Fatal("it was not paid")
	}
	w.clock.Advance(11 * time.Minute)
	if err := mine.CancelInvoice(t.Context(), littleID(5, 1)); !fault.Is(err, fault.NotImplemented) {
		t.Errorf("one that has just expired, and whose payment may be under way: %v", err)
	}
	w.clock.Advance(time.Hour)
	if err := mine.CancelInvoice(t.Context(), littleID(5, 1)); err != nil {
		t.Errorf("an expired one: %v", err)
	}
	if err := mine.CancelInvoice(t.Context(), littleID(5, 2)); !fault.Is(err, fault.Conflict) {
		t.Errorf("one that was paid, and is not reported yet: %v", err)
	}
}

func TestPhoenixdReason(t *testing.T) {
	t.Parallel()
	// The texts of phoenixd have codes; those that pass are waited for.
	for text, want := range map[string]string{
		"not enough funds in wallet to afford payment":               "INSUFFICIENT_BALANCE",
		"channel is not connected yet, please retry when connected":  "NO_CHANNEL",
		"the recipient was offline or did not have enough liquidity": "NO_ROUTE",
		"recipient node rejected the payment":                        "INCORRECT_PAYMENT_DETAILS",
		"wallet restarted while a payment was ongoing":               "ERROR", "": "ERROR",
	} {
		if got := lightning.PhoenixdReason(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestBalances_PhoenixdCountsWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	// What has left the balance of phoenixd and has not arrived counts as held, with its fee. What it never got, and what has failed, is in
	// the balance already.
	w := newWorldOf(t, true)
	w.mustPoll()
	r := w.rail()
	going, failing, never := w.payout(1, 100_000), w.payout(2, 50_000), w.payout(3, 30_000)
	w.node.SetFate(going.Account.Fields["invoice"], lndtest.Stuck)
	w.node.SetFate(failing.Account.Fields["invoice"], lndtest.NoRoute)
	send(t, r, going)
	send(t, r, failing)
	w.handover().Rail(w.open(func(call string) (bool, bool) { return pays(call), false })).Send(t.Context(), []ports.Payout{never})
	if held := w.balance(); held != 1_000_000 {
		t.Errorf("on the way: %d", held)
	}
	w.node.Step()
	if held := w.balance(); held != 1_000_000 {
		t.Errorf("one has failed: %d", held)
	}
	w.node.SettleFate(going.Account.Fields["invoice"])
	w.node.Step()
	if held := w.balance(); held != 1_000_000-100_000-404 {
		t.Errorf("one has arrived: %d", held)
	}
}
