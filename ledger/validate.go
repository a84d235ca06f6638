package ledger

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/money"
)

// ErrInvalid is the error for a posting that must not be written. It is a mistake of this
// program, never of a caller.
var ErrInvalid = errors.New("invalid posting")

// The limits of a posting.
const (
	// MaxEntries is the largest number of entries in one posting, except for opening balances and the closing of a year.
	MaxEntries = 256
	// MaxOpeningBalances is the largest number of entries in a posting of opening balances, in one that closes a year, and in
	// their reversals.
	MaxOpeningBalances = 30_000
	// MaxAmount is the largest amount of one entry, in minor units.
	MaxAmount = money.MaxMinor
	// MaxMemo is the longest memo, in bytes.
	MaxMemo = 200
)

// MemoOf returns as much of a text as fits into one line of a memo.
func MemoOf(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(c rune) bool {
		return unicode.IsSpace(c) ||
			unicode.IsControl(c)
	}), " ")
	for len(text) > MaxMemo {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// Validate returns ErrInvalid for a posting that must not be written: one without id,
// platform, effective time or entries, with an unknown kind or currency, an account that
// is not in the chart, an amount outside 1 to MaxAmount, an entry from an account to
// itself, or a reversal that names no posting.
func (p Posting) Validate() error {
	switch {
	case p.ID == uuid.Nil:
		return p.invalid("it has no id")
	case p.Platform.IsZero():
		return p.invalid("it has no platform")
	case !p.Kind.Known():
		return p.invalid("its kind %q is unknown", p.Kind)
	case p.Effective.IsZero():
		return p.invalid("it has no effective time")
	case (p.Kind == KindReversal) != (p.Reverses != uuid.Nil):
		return p.invalid("a reversal, and nothing else, names the posting it reverses")
	case p.Reverses == p.ID:
		return p.invalid("it reverses itself")
	case len(p.Memo) > MaxMemo || !utf8.ValidString(p.Memo) || strings.ContainsRune(p.Memo, 0):
		return p.invalid("its memo is not a text of at most %d bytes", MaxMemo)
	case len(p.Entries) == 0:
		return p.invalid("it has no entries")
	case len(p.Entries) > p.Kind.maxEntries():
		return p.invalid("it has %d entries, more than %d", len(p.Entries), p.Kind.maxEntries())
	}
	for i, e := range p.Entries {
		if err := e.validate(); err != nil {
			return p.invalid("entry %d, %s → %s: %w", i+1, e.Debit, e.Credit, err)
		}
	}
	return nil
}

func (k Kind) maxEntries() int {
	if k == KindOpeningBalances || k == KindYearEnd || k == KindReversal {
		return MaxOpeningBalances
	}
	return MaxEntries
}

func (e Entry) validate() error {
	if e.Amount < 1 || e.Amount > MaxAmount {
		return fmt.Errorf("its amount %d is not between 1 and %d", e.Amount, MaxAmount)
	}
	if !e.Currency.Known() {
		return fmt.Errorf("its currency %.8q is unknown", string(e.Currency))
	}
	if e.Debit == e.Credit {
		return errors.New("it moves from an account to itself")
	}
	if _, err := FindChartLine(e.Debit); err != nil {
		return err
	}
	_, err := FindChartLine(e.Credit)
	return err
}

func (p Posting) invalid(format string, args ...any) error {
	return fmt.Errorf("%w %s (%s): %w", ErrInvalid, p.ID, p.Kind, fmt.Errorf(format, args...))
}
