package period

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
)

// MaxNote is the maximum length of a note in characters.
const MaxNote = 500

// Change is one change of the state of a month.
type Change struct {
	Platform ident.Platform
	Month    Month
	Action   Action
	At       time.Time
	// By is who made the change. An operator of an earlier version has no name.
	By       platform.Author
	Approval platform.Approval
	Note     string // may be empty
}

// Closing is the ledger of a platform at the time a month was closed. It never changes.
type Closing struct {
	Platform ident.Platform
	Month    Month
	At       time.Time
	By       platform.Author
	Note     string
	// Seq is the number of the platform's last posting at that time, and Digest its digest;
	// 0 and nil if there was none.
	Seq    int64
	Digest []byte
	// Checkpoint is the newest signed checkpoint of the log at that time; empty if none.
	Checkpoint string
}

// Line is a line of the trial balance of a closed month: one account, in minor units.
// Opening and Closing have the sign of the account's class; Debits and Credits are at least
// zero.
type Line struct {
	Account         ledger.Account
	Class           ledger.Class
	Opening         money.Total
	Debits, Credits money.Total
	Closing         money.Total
}

// ExpectedClosing returns the closing balance that follows from the other columns.
func (l Line) ExpectedClosing() money.Total {
	return l.Opening.Add(l.Class.Balance(l.Debits, l.Credits))
}

// Authorisation records who authorised a posting, and why. A posting with an
// authorisation may be effective in a soft-closed month.
type Authorisation struct {
	Platform ident.Platform
	Posting  uuid.UUID
	By       platform.Author
	Approval platform.Approval
	Note     string
	At       time.Time
}

// CheckNote returns what is wrong with a note. An optional note may be empty.
func CheckNote(note string, optional bool) []fault.Field {
	switch {
	case utf8.RuneCountInString(note) > MaxNote || !utf8.ValidString(note) || strings.ContainsRune(note, 0):
		return []fault.Field{{Field: "note", Message: "must have at most 500 characters of UTF-8, none of them NUL"}}
	case strings.TrimSpace(note) == "" && !optional:
		return []fault.Field{{Field: "note", Message: "is required: give the reason"}}
	}
	return nil
}

// Total adds up a trial balance in one currency. Debits equal credits.
type Total struct {
	Currency        money.Currency
	Accounts        int64
	Debits, Credits money.Total
}
