package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

func TestPosting_EqualAndDigestCoverEveryField(t *testing.T) {
	t.Parallel()
	// Postings are equal, and hash alike, when they agree in all that is stored, times to
	// the microsecond. The first hash is written down, because stored ones depend on it.
	p := ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(5))
	same := p
	same.Effective = noon.Add(999 * time.Nanosecond).In(time.FixedZone("", 3600))
	if !p.Equal(same) || p.Digest() != same.Digest() {
		t.Error("the same moment in another zone is not equal")
	}
	if got, want := fmt.Sprintf("%x", p.Digest()), "74c637a401c259989f0f6b0056e20e632df9aa708eeaccbe7c195cc062f25201"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	for name, spoil := range map[string]func(r *ledger.Posting){
		"id":          func(r *ledger.Posting) { r.ID = postingID(2) },
		"platform":    func(r *ledger.Posting) { r.Platform = ident.Platform{} },
		"kind":        func(r *ledger.Posting) { r.Kind = ledger.KindDeposit },
		"transaction": func(r *ledger.Posting) { r.Transaction = ident.Transaction{} },
		"effective":   func(r *ledger.Posting) { r.Effective = noon.Add(time.Microsecond) },
		"memo":        func(r *ledger.Posting) { r.Memo = "" },
		"reverses":    func(r *ledger.Posting) { r.Reverses = postingID(3) },
		"entries":     func(r *ledger.Posting) { r.Entries = repeat(r.Entries[0], 2) },
		"debit": func(r *ledger.Posting) {
			r.Entries = withChangedEntry(r, func(e *ledger.Entry) { e.Debit = ledger.Rail("ACH") })
		},
		"credit": func(r *ledger.Posting) {
			r.Entries = withChangedEntry(r, func(e *ledger.Entry) { e.Credit = ledger.FundingUnmatched })
		},
		"currency": func(r *ledger.Posting) {
			r.Entries = withChangedEntry(r, func(e *ledger.Entry) { e.Currency = money.EUR })
		},
		"amount": func(r *ledger.Posting) { r.Entries = withChangedEntry(r, func(e *ledger.Entry) { e.Amount++ }) },
	} {
		other := p
		spoil(&other)
		if p.Equal(other) || p.Digest() == other.Digest() {
			t.Errorf("%s: a difference was not seen", name)
		}
	}
}

func withChangedEntry(p *ledger.Posting, change func(e *ledger.Entry)) []ledger.Entry {
	entries := slices.Clone(p.Entries)
	change(&entries[0])
	return entries
}
