package lightning_test

import (
	"testing"
	"time"

	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/ports"
)

func TestPoll_ReportsEachPaidInvoiceOnce(t *testing.T) {
	t.Parallel()
	// An invoice of the service is received for its platform under its reference, one that was made by hand under its memo, in the order
	// in which they were paid. What was paid before the connection was set is not reported; what is paid while no process runs is.
	bothNodes(t, func(t *testing.T, w *world) {
		w.node.Pay(w.node.AddInvoice("before", 9_000), 0)
		w.mustPoll()
		given, err := w.poller.Invoices(w.platform).Invoice(t.Context(), w.request(1, 2_500))
		if err != nil {
			t.Fatal(err)
		}
		byHand, open := w.node.AddInvoice("BY-HAND", 7_000_000), w.node.AddInvoice("OPEN", 5_000)
		w.clock.Advance(time.Minute)
		w.node.Pay(byHand, 0)
		w.node.Pay(given.Request, 0)
		w.poller = w.open(lndtest.Open)

		first := w.mustPoll().Receipts
		again := w.mustPoll().Receipts
		w.cursor = "" // as if it had not been stored
		repeated := w.mustPoll().Receipts

		if len(first) != 2 || len(again) != 0 || len(repeated) != 2 || first[0] != repeated[0] || first[1] != repeated[1] {
			t.Fatalf("%+v, then %+v, and from the beginning %+v", first, again, repeated)
		}
		hand, own := first[0], first[1]
		if hand.Reference != "BY-HAND" || !hand.Platform.IsZero() || hand.Amount.Minor != 7_000 || hand.Rail != corridor.Lightning {
			t.Errorf("by hand: %+v", hand)
		}
		if own.Reference != "REF-B" || own.Platform != w.platform || own.Amount.Minor != 2_500 || own.At.Sub(w.clock.Now()).Abs() > time.Second ||
			own.Payer != nil {
			t.Errorf("of the service: %+v", own)
		}
		w.node.Pay(open, 0)
		if late := w.mustPoll().Receipts; len(late) != 1 || late[0].Reference != "OPEN" {
			t.Errorf("later: %+v", late)
		}
	})
}

func TestPoll_FirstInvoiceOfANode(t *testing.T) {
	t.Parallel()
	// The very first invoice of a node is reported too, of which the node reports nothing to somebody who knows none, also if it was paid
	// before the feed was read for the first time.
	bothNodes(t, func(t *testing.T, w *world) {
		given, err := w.poller.Invoices(w.platform).Invoice(t.Context(), w.request(1, 2_500))
		if err != nil {
			t.Fatal(err)
		}
		w.node.Pay(given.Request, 0)
		if receipts := w.mustPoll().Receipts; len(receipts) != 1 || receipts[0].Amount.Minor != 2_500 {
			t.Errorf("received %+v", receipts)
		}
	})
}

func TestPoll_NodeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	// A node that is away makes the feed fail, and nothing is lost: what was paid meanwhile is reported once when it is back.
	bothNodes(t, func(t *testing.T, w *world) {
		w.node.Pay(w.node.AddInvoice("before", 9_000), 0)
		w.mustPoll()
		text := w.node.AddInvoice("MEANWHILE", 5_000)
		w.setSilent(true)
		for range 2 {
			if _, err := w.poll(t.Context()); err == nil {
				t.Error("no failure")
			}
		}
		w.node.Pay(text, 0)
		w.setSilent(false)
		if receipts := w.mustPoll().Receipts; len(receipts) != 1 || receipts[0].Reference != "MEANWHILE" {
			t.Errorf("received %+v", receipts)
		}
		if _, err := w.poller.Poll(t.Context(), "nonsense"); err == nil {
			t.Error("any cursor is taken")
		}
	})
}

func (w *world) setSilent(silent bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = silent
}

// balance returns what the adapter says that the channels hold.
func (w *world) balance() int64 {
	w.t.Helper()
	balances, err := w.poller.Balances(w.t.Context())
	if err != nil || len(balances) != 1 || balances[0].Amount.Currency != money.BTC {
		w.t.Fatalf("%+v, %v", balances, err)
	}
	return balances[0].Amount.Minor
}

func TestBalances_AreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	// Fees are booked in whole satoshis, and the rest of each is carried to the next one; what payers have paid beyond whole satoshis
	// counts against it. So the balance is always what was received, less what was paid and booked as fees. A payment that is on its way
	// still counts as held.
	w := newWorld(t)
	w.settings["maxFeeLeast"] = "100"
	r := w.rail()
	ledger := int64(1_000_000)
	check := func(step string) {
		t.Helper()
		if got := w.balance(); got != ledger {
			t.Errorf("%s: the channels hold %d, the ledger has %d", step, got, ledger)
		}
	}
	check("at first")
	w.node.Fee = 1_400
	var fees int64
	for n := range 7 {
		p := w.payout(n, 10_000)
		send(t, r, p)
		check("on its way")
		w.node.Step()
		report := w.mustPoll()
		for _, fee := range report.Fees {
			if fee.Platform != w.platform || fee.Rail != corridor.Lightning || fee.PartnerID == "" {
				t.Errorf("fee %+v", fee)
			}
			fees += fee.Amount.Minor
		}
		ledger = 1_000_000 - 10_000*int64(n+1) - fees
		check("paid")
	}
	if fees != 9 { // 7 times 1.4 are 9.8
		t.Errorf("fees of %d satoshis, want 9", fees)
	}
	w.node.Pay(w.node.AddInvoice("MORE", 5_000), 5_900) // 0.9 more than a satoshi
	for _, receipt := range w.mustPoll().Receipts {
		ledger += receipt.Amount.Minor
	}
	check("received")
	w.node.Fee = 1_150
	o := w.settle(r, w.payout(20, 10_000))
	if o.Verdict != ports.Done {
		t.Fatal(o)
	}
	for _, fee := range w.seen.Fees[len(w.seen.Fees)-1:] {
		if fee.Amount.Minor != 1 { // 0.8 - 0.9 + 1.15
			t.Errorf("fee of %s", fee.Amount)
		}
		ledger -= 10_000 + fee.Amount.Minor
	}
	check("in the end")
}

func TestPoll_PaymentsThatNoRecordHas(t *testing.T) {
	t.Parallel()
	// What somebody else pays with the node is reported once, with its amount and fee, when it has arrived, and payouts of the service never
	// are, also if they are stuck. What was paid before the connection was set is not reported, nor what has failed.
	w := newWorld(t)
	w.node.PayByHand(w.payee.Invoice("before", 100, w.clock.Now(), time.Hour))
	w.node.Step()
	w.mustPoll()
	r := w.rail()
	stuck, own := w.payout(1, 1_000), w.payout(2, 2_000)
	w.node.SetFate(stuck.Account.Fields["invoice"], lndtest.Stuck)
	for _, p := range []ports.Payout{stuck, own} {
		send(t, r, p)
	}
	failing, byHand := w.payee.Invoice("fails", 400, w.clock.Now(), time.Hour), w.payee.Invoice("by hand", 500, w.clock.Now(), time.Hour)
	w.node.SetFate(failing, lndtest.NoRoute)
	w.node.PayByHand(failing)
	w.node.PayByHand(byHand)
	if early := w.mustPoll().Contradictions; len(early) != 0 {
		t.Errorf("on its way: %+v", early)
	}
	w.node.Step()
	found := w.mustPoll().Contradictions
	if len(found) != 1 || found[0].Reported.Amount.Minor != 501 || found[0].Reported.PartnerID != lightning.Hash(hashOf(t, byHand)).String() {
		t.Errorf("arrived: %+v", found)
	}
	w.run()
	if len(w.seen.Contradictions) != 1 {
		t.Errorf("reported in the end: %+v", w.seen.Contradictions)
	}
}
