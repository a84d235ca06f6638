package ledger_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"causeway/ledger"
)

func TestPosting_Redate(t *testing.T) {
	t.Parallel()
	// A posting that is moved says for which day it was, in a memo that is still one, and
	// nothing else of it changes: it repeats the first, and a reversal undoes it.
	rapid.Check(t, func(t *rapid.T) {
		p := ledger.RefundFailed(header(1), usd(5))
		p.Memo = rapid.StringN(0, 200, ledger.MaxMemo).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }).Draw(t, "memo")
		to := p.Effective.AddDate(0, 1, rapid.IntRange(0, 300).Draw(t, "days"))

		moved := p.Redate(to)

		if err := moved.Validate(); err != nil || !utf8.ValidString(moved.Memo) {
			t.Fatalf("%q: %v", moved.Memo, err)
		}
		if !strings.Contains(moved.Memo, "for "+p.Effective.UTC().Format(time.DateOnly)) || !moved.Effective.Equal(to) {
			t.Errorf("effective %s, memo %q", moved.Effective, moved.Memo)
		}
		if len(p.Memo) < 180 && !strings.HasPrefix(moved.Memo, p.Memo) {
			t.Errorf("%q became %q", p.Memo, moved.Memo)
		}
		if !p.IsRepeatOf(moved) || !p.IsRepeatOf(p) {
			t.Error("the posting does not repeat itself")
		}
		if !ledger.Reverse(p, postingID(2), to, "").IsReversalOf(moved) {
			t.Error("a reversal does not undo what was moved")
		}
		moved.Effective, moved.Memo = p.Effective, p.Memo
		if !moved.Equal(p) {
			t.Errorf("%v became %v", p, moved)
		}
	})
}

func TestPosting_IsRepeatOf(t *testing.T) {
	t.Parallel()
	// What says anything else than the posting did, moved or not, does not repeat it.
	p := ledger.RefundFailed(header(1), usd(5))
	moved := p.Redate(p.Effective.AddDate(0, 1, 0))
	for name, change := range map[string]func(*ledger.Posting){
		"another amount": func(p *ledger.Posting) { p.Entries = []ledger.Entry{{Debit: "a", Credit: "b", Amount: 6}} },
		"another memo":   func(p *ledger.Posting) { p.Memo = "for 1999-01-01" },
		"another kind":   func(p *ledger.Posting) { p.Kind = ledger.KindFee },
		"another moment": func(p *ledger.Posting) { p.Effective = p.Effective.Add(-48 * time.Hour) },
	} {
		other := p
		change(&other)
		if other.IsRepeatOf(moved) {
			t.Errorf("%s repeats it", name)
		}
	}
}
