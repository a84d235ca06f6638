package bitcoin_test

import (
	"strings"
	"testing"

	"causeway/adapters/rails/bitcoin/devnet"
	"causeway/ports"
)

func TestSend_WaitsWhileTheWalletIsLocked(t *testing.T) {
	t.Parallel()
	// With a wrong passphrase nothing is paid and nothing is refused, deposits to addresses that are watched are credited,
	// and no error has the passphrase. With the right one everything is made up for, once.
	w := newWorld(t, 2)
	watched := w.show("ANA")
	w.poll()
	w.hot.Mu.Lock()
	w.hot.Passphrase = "correct horse"
	w.hot.Mu.Unlock()
	w.settings["passphrase"], w.passphrase = "env:WALLET", "battery staple"
	locked := w.open(devnet.Open)
	if _, err := locked.Test(t.Context()); err == nil || strings.Contains(err.Error(), "staple") {
		t.Errorf("the test of a locked wallet: %v", err)
	}
	late := w.show("BEN")
	w.payer.Pay(t, "10", map[string]int64{watched: 30_000, late: 40_000})
	w.node.Mine(t, 3)
	w.poller = locked
	payouts := []ports.Payout{w.payout(1, 20_000, "")}

	for _, o := range locked.Send(t.Context(), payouts) {
		if o.Verdict != ports.Waiting && o.Verdict != ports.Unknown || strings.Contains(o.Text, "staple") {
			t.Errorf("the payout of a locked wallet: %+v", o)
		}
	}
	if _, err := w.pollOnce(t.Context()); err != nil && strings.Contains(err.Error(), "staple") {
		t.Errorf("reading a locked wallet: %v", err)
	}
	w.wantPaid(t, payouts[0])
	w.passphrase = "correct horse"
	w.poller = w.open(devnet.Open)
	w.wantVerdicts(t, w.poller, payouts, ports.Waiting)
	w.poll()
	w.node.Mine(t, 3)
	w.poll()

	w.wantVerdicts(t, w.poller, payouts, ports.Done)
	credited := map[string]int64{}
	for _, r := range w.seen.Receipts {
		credited[r.Reference] += r.Amount.Minor
	}
	if credited["ANA"] != 30_000 || credited["BEN"] != 40_000 {
		t.Errorf("credited %v", credited)
	}
}

func TestTest_StatesOfTheNode(t *testing.T) {
	t.Parallel()
	// A node or a wallet that cannot be used yet, or not safely, is named with what to do.
	w := newWorld(t, 0)
	for name, state := range map[string]struct {
		chain, info map[string]any
		says        string
	}{
		"another network":    {map[string]any{"chain": "main"}, nil, "network"},
		"initial download":   {map[string]any{"initialblockdownload": true}, nil, "wait until it has all"},
		"blocks are missing": {map[string]any{"headers": 100_000}, nil, "wait until it has all"},
		"pruned too much":    {map[string]any{"pruned": true, "pruneheight": 440}, nil, "week"},
		"legacy wallet":      {nil, map[string]any{"descriptors": false}, "createwallet"},
		"watches only":       {nil, map[string]any{"private_keys_enabled": false}, "cannot pay"},
		"encrypted":          {nil, map[string]any{"unlocked_until": 0}, "passphrase"},
		"rescanning":         {nil, map[string]any{"scanning": map[string]any{"duration": 5, "progress": 0.5}}, "reading blocks"},
	} {
		w.hot.Mu.Lock()
		w.hot.Chain, w.hot.Info = state.chain, state.info
		w.hot.Mu.Unlock()
		if _, err := w.poller.Test(t.Context()); err == nil || !strings.Contains(err.Error(), state.says) {
			t.Errorf("%s: %v, want something about %q", name, err, state.says)
		}
	}
}
