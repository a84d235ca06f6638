package ledger_test

import (
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/ledger"
)

func TestReverse_RestoresBalances(t *testing.T) {
	t.Parallel()
	// Any posting and its reversal leave every balance unchanged.
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
			t.Fatalf("%+v does not reverse %+v", r, p)
		}
	})
}

func TestPosting_IsReversalOfDetectsDifferences(t *testing.T) {
	t.Parallel()
	// A reversal that differs in anything but its own id, time and memo is none.
	p := ledger.TransferOut(header(1), ledger.OutgoingFunds{From: ledger.CustomerAccount(alice), Amount: usd(100), Fees: 3})
	for name, change := range map[string]func(r *ledger.Posting){
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
		change(&r)
		if r.IsReversalOf(p) {
			t.Errorf("%s: still a reversal", name)
		}
	}
}

func TestPosting_Redate(t *testing.T) {
	t.Parallel()
	// A redated posting names its original day in a memo that is still valid, and nothing
	// else of it changes: it repeats the original, and a reversal of that reverses it.
	rapid.Check(t, func(t *rapid.T) {
		p := ledger.RefundFailed(header(1), usd(5))
		p.Memo = rapid.StringN(0, 200, ledger.MaxMemo).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }).Draw(t, "memo")
		effective := p.Effective.AddDate(0, 1, rapid.IntRange(0, 300).Draw(t, "days"))

		redated := p.Redate(effective)

		if err := redated.Validate(); err != nil || !utf8.ValidString(redated.Memo) {
			t.Fatalf("%q: %v", redated.Memo, err)
		}
		if !strings.Contains(redated.Memo, "for "+p.Effective.UTC().Format(time.DateOnly)) || !redated.Effective.Equal(effective) {
			t.Errorf("effective %s, memo %q", redated.Effective, redated.Memo)
		}
		if len(p.Memo) < 180 && !strings.HasPrefix(redated.Memo, p.Memo) {
			t.Errorf("%q became %q", p.Memo, redated.Memo)
		}
		if !p.IsRepeatOf(redated) || !p.IsRepeatOf(p) {
			t.Error("the posting does not repeat itself")
		}
		if !ledger.Reverse(p, postingID(2), effective, "").IsReversalOf(redated) {
			t.Error("a reversal of the original is no reversal of the redated posting")
		}
		redated.Effective, redated.Memo = p.Effective, p.Memo
		if !redated.Equal(p) {
			t.Errorf("%v became %v", p, redated)
		}
	})
}

func TestPosting_IsRepeatOf(t *testing.T) {
	t.Parallel()
	// A posting with other content than the original, redated or not, is no repeat.
	p := ledger.RefundFailed(header(1), usd(5))
	redated := p.Redate(p.Effective.AddDate(0, 1, 0))
	for name, change := range map[string]func(*ledger.Posting){
		"another amount": func(p *ledger.Posting) { p.Entries = []ledger.Entry{{Debit: "a", Credit: "b", Amount: 6}} },
		"another memo":   func(p *ledger.Posting) { p.Memo = "for 1999-01-01" },
		"another kind":   func(p *ledger.Posting) { p.Kind = ledger.KindFee },
		"another moment": func(p *ledger.Posting) { p.Effective = p.Effective.Add(-48 * time.Hour) },
	} {
		other := p
		change(&other)
		if other.IsRepeatOf(redated) {
			t.Errorf("%s: still a repeat", name)
		}
	}
}
