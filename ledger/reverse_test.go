package ledger_test

import (
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/ledger"
)

func TestReverse_RestoresBalances(t *testing.T) {
	t.Parallel()
	// A posting and its reversal leave every balance where it was, whatever was posted.
	rapid.Check(t, func(t *rapid.T) {
		p := anyPosting(1000).Draw(t, "posting")
		balances := ledger.Balances{}
		for _, a := range p.Accounts() {
			balances[a] = 10_000
		}
		before := maps.Clone(balances)

		r := ledger.Reverse(p, postingID(200), noon.Add(time.Hour), "wrong amount")
		for _, step := range []ledger.Posting{p, r} {
			if err := balances.Apply(step); err != nil {
				t.Fatal(err)
			}
		}

		if !maps.Equal(before, balances) {
			t.Fatalf("before %v, after %v", before, balances)
		}
		if !r.IsReversalOf(p) {
			t.Fatalf("%+v does not undo %+v", r, p)
		}
	})
}

func TestPosting_IsReversalOfDetectsDifferences(t *testing.T) {
	t.Parallel()
	// A reversal that differs in anything but its own id, time and memo undoes nothing.
	p := ledger.TransferOut(header(1), ledger.OutgoingFunds{From: ledger.CustomerAccount(alice), Amount: usd(100), Fees: 3})
	for name, spoil := range map[string]func(r *ledger.Posting){
		"other posting":     func(r *ledger.Posting) { r.Reverses = postingID(9) },
		"other kind":        func(r *ledger.Posting) { r.Kind = ledger.KindReturned },
		"other transaction": func(r *ledger.Posting) { r.Transaction = ident.Transaction{} },
		"other platform":    func(r *ledger.Posting) { r.Platform = ident.Platform{} },
		"other amount":      func(r *ledger.Posting) { r.Entries[1].Amount++ },
		"other account":     func(r *ledger.Posting) { r.Entries[0].Credit = ledger.CustomerAccount(bob) },
		"an entry less":     func(r *ledger.Posting) { r.Entries = r.Entries[:1] },
		"same direction":    func(r *ledger.Posting) { r.Entries = p.Entries },
	} {
		r := ledger.Reverse(p, postingID(2), noon, "")
		spoil(&r)
		if r.IsReversalOf(p) {
			t.Errorf("%s: still undoes", name)
		}
	}
}
