package ledger

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// ErrNotReversible is the error for a reversal of a posting that does not exist, is reversed
// already, or is not mirrored by it.
var ErrNotReversible = errors.New("not reversible")

// Reverse returns the posting that undoes p: the same entries with debit and credit
// swapped, under an id and effective time of its own. Reversing a reversal restores the
// first posting.
func Reverse(p Posting, id uuid.UUID, effective time.Time, memo string) Posting {
	return Posting{
		ID:          id,
		Platform:    p.Platform,
		Kind:        KindReversal,
		Transaction: p.Transaction,
		Effective:   effective,
		Memo:        memo,
		Reverses:    p.ID,
		Entries:     reversedEntries(p.Entries),
	}
}

// IsReversalOf reports whether p is a reversal of original: it names it, belongs to the
// same transaction and swaps every entry, in the same order.
func (p Posting) IsReversalOf(original Posting) bool {
	return p.Kind == KindReversal &&
		p.Reverses == original.ID &&
		p.Platform == original.Platform &&
		p.Transaction == original.Transaction &&
		slices.Equal(p.Entries, reversedEntries(original.Entries))
}

func reversedEntries(entries []Entry) []Entry {
	reversed := make([]Entry, len(entries))
	for i, e := range entries {
		reversed[i] = Entry{Debit: e.Credit, Credit: e.Debit, Currency: e.Currency, Amount: e.Amount}
	}
	return reversed
}

// Redate returns the posting as it is written when its month is closed: with another
// effective time, and a memo that names the day (UTC) that it was meant for. A long memo
// is shortened at its end. Everything else is unchanged, so that a reversal still mirrors
// what it reverses.
func (p Posting) Redate(effective time.Time) Posting {
	redated := p
	day := "for " + p.Effective.UTC().Format(time.DateOnly)
	redated.Memo = day
	if p.Memo != "" {
		redated.Memo = truncate(p.Memo, MaxMemo-len(day)-3) + " (" + day + ")"
	}
	redated.Effective = effective
	return redated
}

// RedatedFrom returns the day that a memo of Redate names, or false if it names none. A memo that ends alike
// without Redate names one too.
func RedatedFrom(memo string) (day time.Time, ok bool) {
	text, found := strings.CutPrefix(memo, "for ")
	if i := strings.LastIndex(memo, " (for "); i >= 0 && strings.HasSuffix(memo, ")") {
		text, found = memo[i+len(" (for "):len(memo)-1], true
	}
	if !found {
		return time.Time{}, false
	}
	day, err := time.Parse(time.DateOnly, text)
	return day, err == nil
}

// IsRepeatOf reports whether p has the content of a written posting, or had it before that
// posting was redated: repeated work does not know that its first try was redated.
func (p Posting) IsRepeatOf(written Posting) bool {
	return p.Equal(written) || p.Redate(written.Effective).Equal(written)
}

// truncate shortens a text to at most maxBytes bytes, at the end of a character.
func truncate(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return strings.TrimRight(text[:maxBytes], " ")
}
