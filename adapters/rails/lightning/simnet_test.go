package lightning_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/adapters/rails/lightning/simnet"
	core "causeway/core/lightning"
	"causeway/ports"
)

func TestSimnet_PaymentsBothWays(t *testing.T) {
	t.Parallel()
	// Two nodes of LND with a channel on a chain of btcd, run by make lightning. The connection is tested, pays, is paid, waits for a payment
	// that is held, and for one whose node was killed; each is paid once, and the channels hold what the ledger has.
	simnet.Programs(t)
	w := newWorld(t)
	chain := simnet.Start(t)
	own, other := chain.Node("own"), chain.Node("other")
	own.Fund()
	own.Open(other, 1_000_000, 300_000)
	w.settings = map[string]string{"url": own.URL, "network": "simnet", "certificate": own.Fingerprint()}
	w.macaroon = own.Macaroon()
	w.clock.Advance(time.Until(w.clock.Now()) + time.Second)
	w.poller = w.open(lndtest.Open)

	checked, err := w.poller.Test(t.Context())
	if err != nil {
		t.Fatalf("%q, %v", checked, err)
	}
	t.Log(strings.Join(checked, "\n"))
	w.mustPoll()
	ledger := w.balance()
	r := w.rail()
	check := func(step string, want int64) {
		t.Helper()
		ledger += want
		if got := w.balance(); got != ledger {
			t.Errorf("%s: the channels hold %d, the ledger has %d", step, got, ledger)
		}
	}
	done := func(step string, p ports.Payout) {
		t.Helper()
		for range 60 {
			w.clock.Advance(2 * time.Second)
			w.mustPoll()
			if o := send(t, r, p); o.Verdict == ports.Done {
				return
			} else if o.Verdict != ports.Waiting && o.Verdict != ports.Unknown {
				t.Fatalf("%s: %+v", step, o)
			}
			time.Sleep(500 * time.Millisecond)
		}
		t.Fatalf("%s: not done", step)
	}

	p := w.payoutTo(1, 40_000, invoiceAccount(other.AddInvoice("one", 40_000)))
	done("a payout", p)
	check("a payout", -40_000)
	if o := send(t, w.rail(), p); o.Verdict != ports.Done || o.PartnerID != lightning.Hash(hashOf(t, p.Account.Fields["invoice"])).String() {
		t.Errorf("repeated: %+v", o)
	}

	given, err := w.poller.Invoices(w.platform).Invoice(t.Context(), w.request(1, 25_000))
	if err != nil {
		t.Fatal(err)
	}
	other.Pay(given.Request)
	byHand := own.AddInvoice("BY-HAND", 5_000)
	other.Pay(byHand)
	receipts := w.mustPoll().Receipts
	if len(receipts) != 2 || receipts[0].Reference != "REF-B" || receipts[0].Amount.Minor != 25_000 || receipts[1].Reference != "BY-HAND" {
		t.Fatalf("received %+v", receipts)
	}
	check("receipts", 30_000)
	cancelled, err := w.poller.Invoices(w.platform).Invoice(t.Context(), w.request(2, 25_000))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.poller.Invoices(w.platform).CancelInvoice(t.Context(), littleID(5, 2)); err != nil {
			t.Error(err)
		}
	}
	if err := w.poller.Invoices(w.platform).CancelInvoice(t.Context(), littleID(5, 1)); err == nil {
		t.Error("a paid invoice was cancelled")
	}
	if state, _ := own.State(cancelled.PaymentHash); state != "CANCELED" {
		t.Errorf("the cancelled invoice is %s", state)
	}

	// The invoice of a quote shows its reference, and is paid once and in time. The nodes have the time of the machine.
	w.clock.Advance(max(time.Since(w.clock.Now()), 0))
	funding, short := w.request(3, 12_000), w.request(4, 13_000)
	funding.DescriptionHash, short.DescriptionHash = [32]byte{}, [32]byte{}
	short.ExpiresAt = w.clock.Now().Add(30 * time.Second)
	quoted, err := w.poller.Invoices(w.platform).Invoice(t.Context(), funding)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := core.ParseInvoice(quoted.Request); err != nil || i.Description != funding.Reference || i.MilliSatoshis != 12_000_000 ||
		i.ExpiresAt.Sub(funding.ExpiresAt).Abs() > 10*time.Second {
		t.Errorf("the invoice of a quote: %+v, %v", i, err)
	}
	other.Pay(quoted.Request)
	if problem := other.TryPay(quoted.Request); problem == "" {
		t.Error("the invoice of a quote was paid twice")
	}
	expiring, err := w.poller.Invoices(w.platform).Invoice(t.Context(), short)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(expiring.ExpiresAt) + 2*time.Second)
	if problem := other.TryPay(expiring.Request); problem == "" {
		t.Error("an invoice that has expired was paid")
	}
	if receipts := w.mustPoll().Receipts; len(receipts) != 1 || receipts[0].Reference != funding.Reference ||
		receipts[0].Amount.Minor != 12_000 || !receipts[0].At.Before(funding.ExpiresAt) {
		t.Errorf("received for a quote: %+v", receipts)
	}
	check("the invoice of a quote", 12_000)

	// The payee holds the payment, and the node is killed meanwhile.
	preimage := sha256.Sum256([]byte("held"))
	held := w.payoutTo(2, 60_000, invoiceAccount(other.AddHeldInvoice(preimage, 60_000)))
	if o := send(t, r, held); o.Verdict != ports.Waiting || !o.Accepted {
		t.Fatalf("held: %+v", o)
	}
	check("held", 0)
	own.Kill()
	if o := send(t, r, held); o.Verdict == ports.Done || o.Verdict == ports.Refused {
		t.Errorf("without the node: %+v", o)
	}
	if _, err := w.poll(t.Context()); err == nil {
		t.Error("a killed node is read")
	}
	own.Start()
	own.Connect(other)
	own.AwaitChannel()
	w.clock.Advance(10 * time.Minute)
	if o := send(t, r, held); o.Verdict != ports.Waiting {
		t.Errorf("held, after the node is back: %+v", o)
	}
	other.Settle(preimage)
	done("settled", held)
	check("settled", -60_000)
	if state, paid := other.State(sha256.Sum256(preimage[:])); state != "SETTLED" || paid != "60000" {
		t.Errorf("the payee has %s of an invoice that is %s", paid, state)
	}

	// The payee refuses one, and the channel holds too little for another.
	refusedBy := sha256.Sum256([]byte("refused"))
	refused := w.payoutTo(3, 10_000, invoiceAccount(other.AddHeldInvoice(refusedBy, 10_000)))
	send(t, r, refused)
	other.Cancel(refusedBy)
	var last ports.Outcome
	for range 60 {
		w.clock.Advance(5 * time.Second)
		w.mustPoll()
		if last = send(t, r, refused); last.Verdict == ports.Refused {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	if last.Verdict != ports.Refused || last.Code != "INCORRECT_PAYMENT_DETAILS" {
		t.Errorf("refused: %+v", last)
	}
	check("refused", 0)
	large := w.payoutTo(4, 5_000_000, invoiceAccount(other.AddInvoice("large", 5_000_000)))
	if o := send(t, r, large); o.Verdict != ports.Waiting || o.Code != "INSUFFICIENT_BALANCE" {
		t.Errorf("too large: %+v", o)
	}
	if len(w.seen.Contradictions) != 0 {
		t.Errorf("contradictions %+v", w.seen.Contradictions)
	}
}
