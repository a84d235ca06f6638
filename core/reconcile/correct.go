package reconcile

import (
	"fmt"
	"slices"
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

// OffsetAccount is the account that a correction posts the difference against.
type OffsetAccount string

// The offset accounts.
const (
	// OffsetUnmatched: unmatched (suspense) funds, in either direction.
	OffsetUnmatched OffsetAccount = "UNMATCHED"
	// OffsetFees: income from the partner. Only for money received.
	OffsetFees OffsetAccount = "FEES"
	// OffsetExpense: fees of the partner, or their return.
	OffsetExpense OffsetAccount = "EXPENSE"
)

// OffsetAccounts lists the offset accounts.
func OffsetAccounts() []string {
	return []string{string(OffsetUnmatched), string(OffsetFees), string(OffsetExpense)}
}

// ResolutionMethod is how a break was resolved.
type ResolutionMethod string

// The methods.
const (
	// ResolvedByNote: resolved with a note and without a posting.
	ResolvedByNote ResolutionMethod = "NOTE"
	// ResolvedByPosting: a correction was posted.
	ResolvedByPosting ResolutionMethod = "POSTING"
	// ResolvedByMatch: a later comparison matched it.
	ResolvedByMatch ResolutionMethod = "MATCH"
	// ResolvedByBreak: a later comparison replaced it with a more specific break.
	ResolvedByBreak ResolutionMethod = "BREAK"
)

// MaxNote is the maximum length of a note in bytes.
const MaxNote = 500

// ResolveCommand resolves a break.
type ResolveCommand struct {
	Note string
	// Offset is empty to resolve the break without a posting.
	Offset OffsetAccount
}

// Check returns what is wrong with the command, for any break.
func (c ResolveCommand) Check() []fault.Field {
	var bad []fault.Field
	switch note := strings.TrimSpace(c.Note); {
	case note == "":
		bad = append(bad, fault.Field{Field: "note", Message: "is required: give the reason"})
	case len(c.Note) > MaxNote || !utf8.ValidString(c.Note) || strings.ContainsRune(c.Note, 0):
		bad = append(bad, fault.Field{Field: "note", Message: fmt.Sprintf("must have at most %d bytes of UTF-8, none of them NUL", MaxNote)})
	}
	if c.Offset != "" && !slices.Contains(OffsetAccounts(), string(c.Offset)) {
		bad = append(bad, fault.Field{Field: "against", Message: "must be one of " + strings.Join(OffsetAccounts(), ", ")})
	}
	return bad
}

// Correction returns the posting that adds the difference to the ledger account. Its id is derived
// from the break, so that it is posted once. Fault: INVALID_INPUT if the difference cannot be
// posted against the offset account.
func (c ResolveCommand) Correction(id ident.Break, account Account, difference int64, effective time.Time) (ledger.Posting, error) {
	if difference == 0 || difference < -ledger.MaxAmount || difference > ledger.MaxAmount {
		return ledger.Posting{}, fault.Invalid(fault.Field{Field: "against", Message: "cannot be used: the difference is zero or exceeds one " +
			"posting; resolve the break with a note"})
	}
	amount := money.Amount{Minor: max(difference, -difference), Currency: account.Currency}
	header := func(kind ledger.Kind) ledger.Header {
		return ledger.Header{ID: ledger.DerivedID(id.UUID(), kind, 0), Platform: account.Platform, Effective: effective,
			Memo: ledger.MemoOf(id.String() + ": " + c.Note)}
	}
	switch {
	case c.Offset == OffsetUnmatched && isOwn(account.Path):
		return ledger.Posting{}, fault.Invalid(fault.Field{Field: "against", Message: "cannot be UNMATCHED: " + account.Path +
			" has the company's own money, and unmatched funds belong to customers; use another account, or a note"})
	case c.Offset == OffsetUnmatched && difference > 0:
		return ledger.UnmatchedReceived(header(ledger.KindUnmatchedReceived), account.Path, amount), nil
	case c.Offset == OffsetUnmatched:
		return ledger.UnmatchedAssigned(header(ledger.KindUnmatchedAssigned), account.Path, amount), nil
	case c.Offset == OffsetFees && difference > 0:
		return ledger.FeeCharged(header(ledger.KindFee), account.Path, amount), nil
	case c.Offset == OffsetExpense && difference > 0:
		return ledger.FeeReturned(header(ledger.KindFee), account.Path, amount), nil
	case c.Offset == OffsetExpense:
		return ledger.FeePaid(header(ledger.KindFee), account.Path, amount), nil
	}
	return ledger.Posting{}, fault.Invalid(fault.Field{Field: "against",
		Message: "cannot be FEES: the statement has less than the ledger; use EXPENSE or UNMATCHED"})
}

// Resolution is the resolution of a break. It is final.
type Resolution struct {
	Break  ident.Break
	Method ResolutionMethod
	Note   string
	// Posting is the correction; zero if there is none.
	Posting uuid.UUID
	// Run is the comparison that resolved it; zero if it was resolved with a command.
	Run ident.Reconciliation
	By  string // a token, or a person at the command line
	// Actor is the person that the request of the token named; may be empty.
	Actor string
	// Person is who has resolved it, or stands behind the service that has; zero if none is known.
	Person ident.Person
	// Approval is that of four eyes; zero without.
	Approval platform.Approval
	At       time.Time
}
