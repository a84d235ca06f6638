package period

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// MaxNote is the longest note, in characters.
const MaxNote = 500

// Change is what somebody did to a month.
type Change struct {
	Platform ident.Platform
	Month    Month
	Action   Action
	At       time.Time
	// By is the token it was done with; zero for the operator, on the command line.
	By   ident.Token
	Note string // may be empty
}

// Closing is what the books said when a month was closed. It never changes.
type Closing struct {
	Platform ident.Platform
	Month    Month
	At       time.Time
	By       ident.Token // zero for the operator
	Note     string
	// Seq is the number of the platform's last posting then, and Digest its digest; 0
	// and nil on empty books.
	Seq    int64
	Digest []byte
	// Checkpoint is the newest signed head of the log then; empty if there was none.
	Checkpoint string
}

// Line is what a month came to for one account, in minor units. Opening and Closing have
// the sign of the account's class; Debits and Credits are at least zero.
type Line struct {
	Account         ledger.Account
	Class           ledger.Class
	Opening         money.Total
	Debits, Credits money.Total
	Closing         money.Total
}

// ExpectedClosing is the balance that the line must close with.
func (l Line) ExpectedClosing() money.Total {
	return l.Opening.Add(l.Class.Balance(l.Debits, l.Credits))
}

// Authorisation names who stands behind a posting that was made by hand, and why. With
// it a posting may be effective in a month that is held.
type Authorisation struct {
	Platform ident.Platform
	Posting  uuid.UUID
	By       ident.Token
	Note     string
	At       time.Time
}

// CheckNote finds what is wrong with a note; none may be given where it is optional.
func CheckNote(note string, optional bool) []fault.Field {
	switch {
	case utf8.RuneCountInString(note) > MaxNote || !utf8.ValidString(note) || strings.ContainsRune(note, 0):
		return []fault.Field{{Field: "note", Message: "must be a text of at most 500 characters"}}
	case strings.TrimSpace(note) == "" && !optional:
		return []fault.Field{{Field: "note", Message: "say in a few words why"}}
	}
	return nil
}

// Total is a currency of a trial balance. On every platform debits equal credits.
type Total struct {
	Currency        money.Currency
	Accounts        int64
	Debits, Credits money.Total
}
