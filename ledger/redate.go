package ledger

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Redate is the posting as it is written when the month of its effective time takes
// nothing any more: effective at another moment, with a memo that says for which day
// (UTC) it was. The end of a long memo gives way. Everything else stays, so that a
// reversal still mirrors what it reverses.
func (p Posting) Redate(at time.Time) Posting {
	moved := p
	day := "for " + p.Effective.UTC().Format(time.DateOnly)
	moved.Memo = day
	if p.Memo != "" {
		moved.Memo = truncate(p.Memo, MaxMemo-len(day)-3) + " (" + day + ")"
	}
	moved.Effective = at
	return moved
}

// IsRepeatOf tells whether p says the same as a posting that is written, or did before that
// one was moved: whoever repeats work does not know of the move.
func (p Posting) IsRepeatOf(written Posting) bool {
	return p.Equal(written) || p.Redate(written.Effective).Equal(written)
}

// truncate shortens a text to at most so many bytes, at the end of a character.
func truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimRight(text[:most], " ")
}
