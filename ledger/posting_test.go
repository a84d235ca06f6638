package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

func TestPosting_EqualAndDigestCoverEveryField(t *testing.T) {
	t.Parallel()
	// Postings are equal, and have the same digest, if every stored field is equal, times
	// to the microsecond. One digest is a constant here, because stored ones depend on it.
	p := ledger.JITReceived(header(1), ledger.Rail("RTP"), usd(5))
	same := p
	same.Effective = noon.Add(999 * time.Nanosecond).In(time.FixedZone("", 3600))
	if !p.Equal(same) || p.Digest() != same.Digest() {
		t.Error("the same time in another zone is not equal")
	}
	if got, want := fmt.Sprintf("%x", p.Digest()), "74c637a401c259989f0f6b0056e20e632df9aa708eeaccbe7c195cc062f25201"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	for name, change := range map[string]func(r *ledger.Posting){
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
		change(&other)
		if p.Equal(other) || p.Digest() == other.Digest() {
			t.Errorf("%s: the difference was not detected", name)
		}
	}
}

func withChangedEntry(p *ledger.Posting, change func(e *ledger.Entry)) []ledger.Entry {
	entries := slices.Clone(p.Entries)
	change(&entries[0])
	return entries
}

func TestDerivedID(t *testing.T) {
	t.Parallel()
	// The same work has the same id, other work another, and the id sorts by its subject's
	// time. One value is a constant here, because stored ids depend on it.
	subject := uuid.MustParse("01936e1a-7a00-7abc-8def-0123456789ab")
	first := ledger.DerivedID(subject, ledger.KindConverted, 0)

	if want := "01936e1a-7a00-8a01-887e-1b4e14866ea5"; first.String() != want {
		t.Errorf("got %s, want %s", first, want)
	}
	if first.Version() != 8 || first.Variant() != uuid.RFC4122 {
		t.Errorf("version %d, variant %s", first.Version(), first.Variant())
	}
	seen := map[uuid.UUID]bool{}
	for _, s := range []uuid.UUID{subject, uuid.MustParse("01936e1a-7a00-7abc-8def-0123456789ac")} {
		for _, kind := range ledger.Kinds() {
			for nth := range 3 {
				id := ledger.DerivedID(s, kind, nth)
				if seen[id] || id != ledger.DerivedID(s, kind, nth) {
					t.Fatalf("%s %s %d: id %s is not unique", s, kind, nth, id)
				}
				seen[id] = true
			}
		}
	}
}
