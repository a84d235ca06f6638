package lightning_test

import (
	"slices"
	"testing"

	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/uma"
	"causeway/ports"
)

func TestChannels_OfWhatIsPaidAndReceived(t *testing.T) {
	t.Parallel()
	// The channels are those over which a payment went in the end, with its fee, and over which an invoice was paid. There are none of
	// what was not paid, or is not known.
	w := newWorld(t)
	w.node.SetRouting(1_000, true)
	w.settings["maxFeeLeast"] = "100"
	r, opened := w.rail(), w.open(lndtest.Open)
	node := opened.Invoices(w.platform).(ports.LightningChannels)
	payout := w.payout(1, 5_000)
	if o := w.settle(r, payout); o.Verdict != ports.Done {
		t.Fatalf("%+v", o)
	}

	paid, err := node.PaidOver(t.Context(), hashOf(t, payout.Account.Fields["invoice"]))
	if want := []uma.ChannelUse{{Outpoint: w.node.ChannelPoint(), MilliSatoshis: 5_001_000}}; err != nil || !slices.Equal(paid, want) {
		t.Errorf("paid over %v, want %v: %v", paid, want, err)
	}
	if _, err := node.PaidOver(t.Context(), [32]byte{9}); err == nil {
		t.Error("a payment that the node does not know")
	}

	request := w.request(7, 3_000)
	made, err := opened.Invoices(w.platform).Invoice(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := node.ReceivedOver(t.Context(), request.ID); err != nil || len(got) != 0 {
		t.Errorf("before it is paid: %v, %v", got, err)
	}
	w.node.Pay(made.Request, 0)
	received, err := node.ReceivedOver(t.Context(), request.ID)
	if want := []uma.ChannelUse{{Outpoint: w.node.ChannelPoint(), MilliSatoshis: 3_000_000}}; err != nil || !slices.Equal(received, want) {
		t.Errorf("received over %v, want %v: %v", received, want, err)
	}
}
