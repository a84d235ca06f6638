package bitcoin_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/bitcoin/btc"
	"causeway/adapters/rails/bitcoin/devnet"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/ports"
)

func (w *world) wantVerdicts(t *testing.T, r ports.Rail, payouts []ports.Payout, want ports.Verdict) []ports.Outcome {
	t.Helper()
	outcomes := r.Send(t.Context(), payouts)
	for i, o := range outcomes {
		if o.Verdict != want {
			t.Fatalf("payout %d: %+v, want %s", i, o, want)
		}
	}
	return outcomes
}

func (w *world) wantPaid(t *testing.T, p ports.Payout, want ...int64) {
	t.Helper()
	got, err := w.paid(t.Context(), p.Account.Identifier())
	if err != nil || len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
		t.Fatalf("the chain has paid %v to %s, %v; want %v", got, p.Account.Identifier(), err, want)
	}
}

// feeInChain returns the fee of a transaction of the hot wallet, from its coins.
func (w *world) feeInChain(t *testing.T, txid string) (fee int64) {
	t.Helper()
	w.hot.Mu.Lock()
	defer w.hot.Mu.Unlock()
	tx := w.hot.Txs[txid]
	for _, i := range tx.Inputs {
		coin, _ := w.hot.Coin(bitcoin.Output{TxID: i.TxID, Vout: int64(i.Vout)})
		fee += coin.Satoshis
	}
	for _, o := range tx.Outputs {
		fee -= o.Satoshis
	}
	return fee
}

func TestSend_PayoutsShareATransaction(t *testing.T) {
	t.Parallel()
	// Payouts that are sent together leave in one transaction, except two to one address. Each is done when it has three
	// confirmations, which the feed reports with the fee of each transaction.
	w := newWorld(t, 5)
	w.poll()
	same := w.addressFor(devnet.LittleID(9, 1))
	payouts := []ports.Payout{w.payout(1, 10_000, ""), w.payout(2, 20_000, same), w.payout(3, 30_000, same), w.payout(4, 40_000, "")}
	w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	w.node.Mine(t, 2)
	if r := w.poll(); len(r.Changed)+len(r.Fees) > 0 {
		t.Fatalf("reported early: %+v", r)
	}
	w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	w.node.Mine(t, 1)

	report := w.poll()
	done := w.wantVerdicts(t, w.poller, payouts, ports.Done)
	if len(report.Changed) != 4 || len(report.Fees) != 2 || done[0].PartnerID != done[1].PartnerID || done[1].PartnerID == done[2].PartnerID ||
		done[0].PartnerID != done[3].PartnerID {
		t.Errorf("%+v; %+v", report, done)
	}
	for _, fee := range report.Fees {
		if txid := strings.TrimPrefix(fee.PartnerID, "fee:"); fee.Amount.Minor != w.feeInChain(t, txid) || fee.Amount.Minor == 0 ||
			fee.Platform != w.platform {
			t.Errorf("the fee %+v, and in the chain %d", fee, w.feeInChain(t, txid))
		}
	}
	w.wantPaid(t, payouts[0], 10_000)
	w.wantPaid(t, payouts[1], 20_000, 30_000)
	w.node.Mine(t, 100)
	if r := w.poll(); len(r.Changed)+len(r.Fees) > 0 {
		t.Errorf("reported again: %+v", r)
	}
	w.wantVerdicts(t, w.poller, payouts, ports.Done)
}

func TestSend_SpellingsOfOneAddressAreOneDestination(t *testing.T) {
	t.Parallel()
	// A SegWit address in upper case is the same destination as in lower case. Payouts to both leave in two transactions, and those behind
	// them are not kept waiting.
	w := newWorld(t, 5)
	w.poll()
	lower := w.addressFor(devnet.LittleID(9, 1))
	payouts := []ports.Payout{w.payout(1, 10_000, lower), w.payout(2, 20_000, strings.ToUpper(lower)), w.payout(3, 30_000, "")}
	for _, o := range w.wantVerdicts(t, w.poller, payouts, ports.Waiting) {
		if !o.Accepted {
			t.Errorf("not sent: %+v", o)
		}
	}
	w.node.Mine(t, 3)
	w.poll()

	done := w.wantVerdicts(t, w.poller, payouts, ports.Done)
	if done[0].PartnerID == done[1].PartnerID || done[0].PartnerID != done[2].PartnerID {
		t.Errorf("the transactions %+v", done)
	}
	w.wantPaid(t, payouts[0], 10_000, 20_000)
	w.wantPaid(t, payouts[2], 30_000)
}

func TestPoll_PaymentThatNoRecordKnows(t *testing.T) {
	t.Parallel()
	// What has left the wallet in a transaction that the database does not have, because it has lost it, is reported once when it has its
	// confirmations, and not by the database that has it.
	w := newWorld(t, 5)
	w.poll()
	earlier := openDatabase(t, w.clock) // as the database was before the payout
	newPlatform(t, earlier, w.clock.Now())
	restored := w.openOn(earlier.Pool(), devnet.Open)
	cursor := ""
	poll := func() (found []rail.Contradiction) {
		t.Helper()
		for more := true; more; {
			piece, err := restored.Poll(t.Context(), cursor)
			if err != nil {
				t.Fatal(err)
			}
			cursor, more, found = piece.Cursor, piece.More, append(found, piece.Contradictions...)
		}
		return found
	}
	if found := poll(); len(found) > 0 {
		t.Fatalf("at first: %+v", found)
	}
	p := w.payout(1, 10_000, "")
	w.wantVerdicts(t, w.poller, []ports.Payout{p}, ports.Waiting)
	w.node.Mine(t, 1)
	if found := poll(); len(found) > 0 {
		t.Errorf("before its confirmations: %+v", found)
	}
	w.node.Mine(t, 2)
	if known := w.poll().Contradictions; len(known) > 0 {
		t.Errorf("of the database that has it: %+v", known)
	}

	found := poll()

	if len(found) != 1 || found[0].Reported.Amount.Minor != 10_000 || !strings.Contains(found[0].Problem, "0.00010000 BTC") {
		t.Fatalf("%+v", found)
	}
	w.node.Mine(t, 1)
	if again := poll(); len(again) > 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestSend_StuckTransactionIsReplaced(t *testing.T) {
	t.Parallel()
	// No block takes the transaction for an hour. One with a higher fee, which spends the same coins, replaces it; its fee
	// is the one that is reported, and the payout leaves once.
	w := newWorld(t, 3)
	w.poll()
	w.hot.FeeRate = "0.00002000"
	payouts := []ports.Payout{w.payout(1, 50_000, ""), w.payout(2, 60_000, "")}
	w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	first := w.waiting(t)
	w.clock.Advance(59 * time.Minute)
	w.poll()
	if now := w.waiting(t); now != first {
		t.Fatalf("replaced early by %s", now)
	}
	w.clock.Advance(time.Minute)
	w.poll()
	second := w.waiting(t)
	if second == first {
		t.Fatal("not replaced")
	}
	w.hot.FeeRate = "0.00500000" // above the limit: it is not replaced again
	w.clock.Advance(time.Hour)
	if _, err := w.pollOnce(t.Context()); err == nil || w.waiting(t) != second {
		t.Errorf("above the limit: %v", err)
	}
	w.node.Mine(t, 3)

	report := w.poll()
	if done := w.wantVerdicts(t, w.poller, payouts, ports.Done); done[0].PartnerID != second {
		t.Errorf("done as %q, want %q", done[0].PartnerID, second)
	}
	if len(report.Fees) != 1 || report.Fees[0].Amount.Minor != w.feeInChain(t, second) {
		t.Errorf("the fees %+v, and in the chain %d", report.Fees, w.feeInChain(t, second))
	}
	w.wantPaid(t, payouts[0], 50_000)
	w.wantPaid(t, payouts[1], 60_000)
}

// waiting returns the only transaction that waits for a block.
func (w *world) waiting(t *testing.T) string {
	t.Helper()
	var ids []string
	w.node.Must(t, &ids, "getrawmempool")
	if len(ids) != 1 {
		t.Fatalf("%v wait for a block", ids)
	}
	return ids[0]
}

func TestSend_CoinsThatSomebodyElseSpent(t *testing.T) {
	t.Parallel()
	// The service vanishes before it sends a transaction that it has kept, and an operator spends its coins by hand. The
	// payout is made anew only when that is six blocks deep, and leaves once.
	w := newWorld(t, 3)
	w.poll()
	var refuses atomic.Bool
	refuses.Store(true)
	vanishing := w.open(func(method string) (fails, lost bool) { return method == "sendrawtransaction" && refuses.Load(), false })
	payouts := []ports.Payout{w.payout(1, 50_000, "")}
	w.wantVerdicts(t, vanishing, payouts, ports.Waiting)
	batches, err := w.store.OpenBatches(t.Context(), "bitcoin-hot", 10)
	if err != nil || len(batches) != 1 {
		t.Fatalf("%+v, %v", batches, err)
	}
	kept, err := btc.ParseTransaction(batches[0].Versions[0].Raw)
	if err != nil {
		t.Fatal(err)
	}
	coin := bitcoin.Output{TxID: kept.Inputs[0].TxID, Vout: int64(kept.Inputs[0].Vout)}
	w.hot.Spend(t, "20", []bitcoin.Output{coin}, map[string]int64{w.payer.Address(): 1_000_000})
	for range 5 {
		w.node.Mine(t, 1)
		w.poll()
	}
	w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	if open, _ := w.store.OpenBatches(t.Context(), "bitcoin-hot", 10); len(open) != 1 || open[0].Number != batches[0].Number {
		t.Fatalf("made anew after 5 blocks: %+v", open)
	}

	w.node.Mine(t, 1)
	w.poll()
	w.node.Mine(t, 3)
	w.poll()
	w.wantVerdicts(t, w.poller, payouts, ports.Done)
	w.wantPaid(t, payouts[0], 50_000)
	if fees := w.seen.Fees; len(fees) != 1 {
		t.Errorf("the fees %+v", fees)
	}
}

func TestSend_VersionThatTheDatabaseHasLost(t *testing.T) {
	t.Parallel()
	// A transaction of which there is no record has spent the coins of a batch, and pays what that was to pay: it is a version that the
	// database has lost. The payout is done with it, and not made anew.
	w := newWorld(t, 3)
	w.poll()
	refuses := w.open(func(method string) (fails, lost bool) { return method == "sendrawtransaction", false })
	payouts := []ports.Payout{w.payout(1, 50_000, "")}
	w.wantVerdicts(t, refuses, payouts, ports.Waiting)
	batches, err := w.store.OpenBatches(t.Context(), "bitcoin-hot", 10)
	if err != nil || len(batches) != 1 {
		t.Fatalf("%+v, %v", batches, err)
	}
	kept, err := btc.ParseTransaction(batches[0].Versions[0].Raw)
	if err != nil {
		t.Fatal(err)
	}
	var coins []bitcoin.Output
	for _, i := range kept.Inputs {
		coins = append(coins, bitcoin.Output{TxID: i.TxID, Vout: int64(i.Vout)})
	}
	w.hot.Spend(t, "20", coins, map[string]int64{payouts[0].Account.Identifier(): 50_000})
	for range 10 {
		w.node.Mine(t, 1)
		w.poll()
	}

	w.wantVerdicts(t, w.poller, payouts, ports.Done)
	w.wantPaid(t, payouts[0], 50_000)
	if open, err := w.store.OpenBatches(t.Context(), "bitcoin-hot", 10); err != nil || len(open) != 1 || len(open[0].Versions) != 2 {
		t.Errorf("%+v, %v", open, err)
	}
}

func TestSend_ConfirmedPayoutIsSentAgainWhenItsBlockIsReplaced(t *testing.T) {
	t.Parallel()
	// Done stays done: the same transaction is in the new blocks, without a second fee.
	w := newWorld(t, 3)
	w.poll()
	payouts := []ports.Payout{w.payout(1, 50_000, "")}
	w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	block := w.node.Mine(t, 3)[0]
	w.poll()
	done := w.wantVerdicts(t, w.poller, payouts, ports.Done)

	w.node.ReplaceFrom(t, block)
	w.poll()
	w.node.Mine(t, 5)
	w.poll()
	if again := w.wantVerdicts(t, w.poller, payouts, ports.Done); again[0].PartnerID != done[0].PartnerID {
		t.Errorf("done as %q, and then %q", done[0].PartnerID, again[0].PartnerID)
	}
	w.wantPaid(t, payouts[0], 50_000)
	if fees := w.seen.Fees; len(fees) != 1 {
		t.Errorf("the fees %+v", fees)
	}
}

func TestSend_WaitsForMoneyInOrder(t *testing.T) {
	t.Parallel()
	// The wallet has money for the first of two payouts only. The second one waits, with the reason, until more comes.
	w := newWorld(t, 1)
	w.poll()
	first, second := w.payout(1, 6_000_000, ""), w.payout(2, 7_000_000, "")
	outcomes := w.wantVerdicts(t, w.poller, []ports.Payout{first, second}, ports.Waiting)
	if !outcomes[0].Accepted || outcomes[1].Accepted || !strings.Contains(outcomes[1].Text, "Insufficient funds") ||
		outcomes[1].RetryAt.IsZero() {
		t.Fatalf("got %+v", outcomes)
	}
	w.node.Mine(t, 3)
	w.poll()
	w.poll() // nothing fails while a payout waits
	w.payer.Pay(t, "10", map[string]int64{w.hot.Address(): 20_000_000})
	w.node.Mine(t, 1)
	w.wantVerdicts(t, w.poller, []ports.Payout{second}, ports.Waiting)
	w.node.Mine(t, 3)
	w.poll()
	w.wantVerdicts(t, w.poller, []ports.Payout{first, second}, ports.Done)
	w.wantPaid(t, first, 6_000_000)
	w.wantPaid(t, second, 7_000_000)
}

func TestSend_FeeAboveTheLimitKeepsNoOthersWaiting(t *testing.T) {
	t.Parallel()
	// A wallet of many small coins makes smaller transactions if the fee of one is above the limit. A payout whose fee alone is waits with
	// the reason, and those behind it leave; it leaves when its fee has fallen.
	w := newWorld(t, 0)
	small := map[string]int64{}
	for range 40 {
		small[w.hot.Address()] = 20_000
	}
	w.payer.Pay(t, "10", small)
	w.node.Mine(t, 3)
	w.settings["maxFee"] = "0.00005000"
	w.poller = w.open(devnet.Open)
	w.poll()
	payouts := []ports.Payout{w.payout(1, 200_000, "")}
	for n := range 8 {
		payouts = append(payouts, w.payout(n+2, 15_000, ""))
	}
	outcomes := w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	if o := outcomes[0]; o.Accepted || !strings.Contains(o.Text, "maxFee") || o.RetryAt.IsZero() {
		t.Errorf("the payout that costs too much: %+v", o)
	}
	for i, o := range outcomes[1:] {
		if !o.Accepted {
			t.Errorf("payout %d behind it: %+v", i, o)
		}
	}
	w.node.Mine(t, 3)
	report := w.poll() // which does not fail meanwhile
	w.wantVerdicts(t, w.poller, payouts[1:], ports.Done)
	if len(report.Fees) < 2 {
		t.Errorf("the fees %+v", report.Fees)
	}
	for _, fee := range report.Fees {
		if fee.Amount.Minor > 5000 {
			t.Errorf("a fee of %d", fee.Amount.Minor)
		}
	}

	w.hot.Mu.Lock()
	w.hot.FeeRate = "0.00002000"
	w.hot.Mu.Unlock()
	w.clock.Advance(10 * time.Minute)
	w.poll()
	w.node.Mine(t, 3)
	w.poll()
	w.wantVerdicts(t, w.poller, payouts, ports.Done)
	w.wantPaid(t, payouts[0], 200_000)
}

func TestSend_RefusesBeforeAnythingIsKept(t *testing.T) {
	t.Parallel()
	// Addresses of other networks, other currencies and amounts that are not relayed are refused for good. A payment with
	// the id of another one is neither made nor refused.
	w := newWorld(t, 1)
	other := w.payout(3, 50_000, "")
	other.Transaction.Pricing.Received.Currency = "USDC"
	refused := []ports.Payout{w.payout(1, 50_000, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), w.payout(2, 545, ""), other}
	for i, o := range w.wantVerdicts(t, w.poller, refused, ports.Refused) {
		if o.Reason == "" || o.Text == "" {
			t.Errorf("payout %d: %+v", i, o)
		}
	}
	if kept, err := w.store.UnsignedPayments(t.Context(), "bitcoin-hot", 10); err != nil || len(kept) > 0 {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if o := w.poller.Status(t.Context(), []ports.Payout{w.payout(4, 50_000, "")}); o[0].Verdict != ports.Unknown {
		t.Errorf("a payout that was never sent is %+v", o[0])
	}
	w.wantVerdicts(t, w.poller, []ports.Payout{w.payout(4, 50_000, "")}, ports.Waiting)
	w.wantVerdicts(t, w.poller, []ports.Payout{w.payout(4, 50_001, "")}, ports.Unknown)
}

func TestBalances_AreWhatWasReported(t *testing.T) {
	t.Parallel()
	// At every moment the balance is what was reported as received, less what was paid and what it cost: deposits that wait
	// for confirmations do not count, and payouts that wait still do, also when the wallet pays to its own deposit address.
	w := newWorld(t, 4)
	ana := w.show("ANA")
	payouts := []ports.Payout{w.payout(1, 3_000_000, ""), w.payout(2, 2_000_000, ana)}
	check := func(step string) {
		t.Helper()
		balances, err := w.poller.Balances(t.Context())
		if err != nil || len(balances) != 1 {
			t.Fatalf("%s: %v, %v", step, balances, err)
		}
		w.poll()
		want := int64(0)
		for _, r := range w.seen.Receipts {
			want += r.Amount.Minor
		}
		for _, fee := range w.seen.Fees {
			want -= fee.Amount.Minor
		}
		for i, o := range w.poller.Status(t.Context(), payouts) {
			if o.Verdict == ports.Done {
				want -= payouts[i].Transaction.Pricing.Received.Minor
			}
		}
		if got := balances[0].Amount; got.Minor != want || got.Currency != "BTC" {
			t.Fatalf("%s: the balance is %d, and the reports come to %d", step, got.Minor, want)
		}
	}
	if report, err := w.poller.Poll(t.Context(), ""); err != nil || len(report.Balances) != 1 ||
		report.Balances[0].Amount.Minor != 40_000_000 {
		t.Fatalf("the feed reports the balances %v, %v", report.Balances, err)
	}
	check("at first")
	w.payer.Pay(t, "10", map[string]int64{ana: 500_000})
	check("with a deposit that waits")
	w.node.Mine(t, 1)
	check("with a deposit that has one confirmation")
	w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	check("with payouts that wait")
	w.node.Mine(t, 2)
	check("with a deposit that is credited")
	w.node.Mine(t, 1)
	check("with payouts that are done")
	w.node.Mine(t, 3)
	check("at last")
}

func TestTest_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	// A connection that works says what was checked; one that does not names the setting.
	w := newWorld(t, 1)
	checked, err := w.poller.Test(t.Context())
	if err != nil || len(checked) != 5 {
		t.Fatalf("%q, %v", checked, err)
	}
	for _, text := range checked {
		if strings.Contains(text, devnet.DepositXprv) || strings.Contains(text, "hunter2") {
			t.Errorf("a check names a secret: %s", text)
		}
	}
	w.hot.FeeRate = ""
	if _, err := w.poller.Test(t.Context()); err == nil || !strings.Contains(err.Error(), "fallbackFeeRate") {
		t.Errorf("without an estimate: %v", err)
	}
	w.settings["fallbackFeeRate"] = "5"
	if _, err := w.open(devnet.Open).Test(t.Context()); err != nil {
		t.Errorf("with a fallback: %v", err)
	}
	w.settings["user"] = "somebody"
	if _, err := w.open(devnet.Open).Test(t.Context()); err == nil || !strings.Contains(err.Error(), "rpcauth") {
		t.Errorf("with another user: %v", err)
	}
}

func TestNew_ChecksSettings(t *testing.T) {
	t.Parallel()
	// Each setting that is not valid is named, and no secret is taken for its reference.
	good := map[string]string{"url": "http://127.0.0.1:8332", "wallet": "hot", "cookie": "file:/run/bitcoind/.cookie", "network": "regtest",
		"depositXpub": devnet.DepositXpub, "depositKey": "env:KEY"}
	for name, test := range map[string]struct{ setting, value, names string }{
		"without a wallet":              {"wallet", "", "wallet"},
		"without TLS to another host":   {"url", "http://node.example.com:8332", "url"},
		"with a password in the URL":    {"url", "https://u:p@node.example.com", "url"},
		"with the private key":          {"depositXpub", devnet.DepositXprv, "depositXpub"},
		"with a key of another network": {"network", "main", "depositXpub"},
		"with the key itself":           {"depositKey", devnet.DepositXprv, "depositKey"},
		"with two ways to log in":       {"user", "u", "cookie"},
		"with no confirmation":          {"confirmations", "0", "confirmations"},
		"with a wrong rate":             {"maxFeeRate", "many", "maxFeeRate"},
		"with impatience":               {"replaceAfter", "1m", "replaceAfter"},
		"with an unknown one":           {"colour", "blue", "colour"},
	} {
		settings := map[string]string{}
		for key, value := range good {
			settings[key] = value
		}
		settings[test.setting] = test.value
		if test.setting == "user" {
			settings["password"] = "env:RPC"
		}
		_, err := bitcoin.New(bitcoin.Config{Connection: rail.Connection{Settings: settings}})
		if err == nil || !strings.Contains(err.Error(), test.names) || strings.Contains(err.Error(), devnet.DepositXprv) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := bitcoin.New(bitcoin.Config{Connection: rail.Connection{Settings: good}}); err != nil {
		t.Error(err)
	}
}

func TestCheckAccount_RefusesOtherNetworks(t *testing.T) {
	t.Parallel()
	// An address of another network than that of the connection is refused with the name of the network; one of the
	// network is accepted, and so is an account of another type, which the connection says nothing about.
	const mainKey = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	addresses := map[string][]string{
		"main":    {"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"},
		"signet":  {"tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"},
		"regtest": {"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"},
	}
	for network, key := range map[string]string{"main": mainKey, "signet": devnet.DepositXpub, "regtest": devnet.DepositXpub} {
		r, err := bitcoin.New(
			bitcoin.Config{Connection: rail.Connection{Settings: map[string]string{"url": "http://127.0.0.1:8332", "wallet": "hot",
				"cookie": "file:/run/bitcoind/.cookie", "network": network, "depositXpub": key, "depositKey": "env:KEY"}}})
		if err != nil {
			t.Fatal(err)
		}
		for of, list := range addresses {
			for _, address := range list {
				// The older addresses are the same on all test networks.
				accepted := of == network || network == "regtest" && strings.HasPrefix(address, "m")
				err := r.CheckAccount(account.External{Type: account.BitcoinAddress, Fields: map[string]string{"address": address}})
				if (err == nil) != accepted || err != nil &&
					(!fault.Is(err, fault.InvalidInput) || !strings.Contains(fmt.Sprint(err), "network "+network)) {
					t.Errorf("%s on %s: %v", address, network, err)
				}
			}
		}
		if err := r.CheckAccount(account.External{Type: account.BaseWallet, Fields: map[string]string{"address": "0x"}}); err != nil {
			t.Error(err)
		}
	}
}
