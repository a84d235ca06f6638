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
	"causeway/ledger"
)

// OffsetAccount is what a correction books the difference against.
type OffsetAccount string

// What there is to choose from.
const (
	// OffsetUnmatched: money whose owner nobody knows, in or out.
	OffsetUnmatched OffsetAccount = "UNMATCHED"
	// OffsetFees: what the partner paid us, as income. Only money that came.
	OffsetFees OffsetAccount = "FEES"
	// OffsetExpense: what the partner took for itself, or gave back of that.
	OffsetExpense OffsetAccount = "EXPENSE"
)

// OffsetAccounts lists what a correction can be booked against.
func OffsetAccounts() []string {
	return []string{string(OffsetUnmatched), string(OffsetFees), string(OffsetExpense)}
}

// ResolutionMethod says by what a break was resolved.
type ResolutionMethod string

// The ways.
const (
	// ResolvedByNote: somebody has looked into it, and nothing is to be posted.
	ResolvedByNote ResolutionMethod = "NOTE"
	// ResolvedByPosting: a correction was posted.
	ResolvedByPosting ResolutionMethod = "POSTING"
	// ResolvedByMatch: a later statement, or a later entry, has matched it.
	ResolvedByMatch ResolutionMethod = "MATCH"
	// ResolvedByBreak: a later comparison knows better what it is; another break stands for it.
	ResolvedByBreak ResolutionMethod = "BREAK"
)

// MaxNote is the longest note, in bytes.
const MaxNote = 500

// ResolveCommand is what somebody decides about a break.
type ResolveCommand struct {
	Note string
	// Offset is empty for a note alone.
	Offset OffsetAccount
}

// Check lists what is wrong with the order, whatever break it is for.
func (o ResolveCommand) Check() []fault.Field {
	var bad []fault.Field
	switch note := strings.TrimSpace(o.Note); {
	case note == "":
		bad = append(bad, fault.Field{Field: "note", Message: "say why it is settled"})
	case len(o.Note) > MaxNote || !utf8.ValidString(o.Note) || strings.ContainsRune(o.Note, 0):
		bad = append(bad, fault.Field{Field: "note", Message: fmt.Sprintf("must be a text of at most %d bytes", MaxNote)})
	}
	if o.Offset != "" && !slices.Contains(OffsetAccounts(), string(o.Offset)) {
		bad = append(bad, fault.Field{Field: "against", Message: "must be one of " + strings.Join(OffsetAccounts(), ", ")})
	}
	return bad
}

// Correction is the posting that makes our books say what the partner says. Its id
// follows from the break, so it is written once. Faults: INVALID_INPUT where nothing of
// that kind can be posted.
func (o ResolveCommand) Correction(of ident.Break, account Account, difference int64, now time.Time) (ledger.Posting, error) {
	if difference == 0 || difference < -ledger.MaxAmount || difference > ledger.MaxAmount {
		return ledger.Posting{}, fault.Invalid(fault.Field{Field: "against", Message: "leaves nothing that one posting could correct; resolve the break with a note"})
	}
	amount := money.Amount{Minor: max(difference, -difference), Currency: account.Currency}
	header := func(kind ledger.Kind) ledger.Header {
		return ledger.Header{ID: ledger.DerivedID(of.UUID(), kind, 0), Platform: account.Platform, Effective: now, Memo: breakMemo(of, o.Note)}
	}
	switch {
	case o.Offset == OffsetUnmatched && difference > 0:
		return ledger.UnmatchedReceived(header(ledger.KindUnmatchedReceived), account.Path, amount), nil
	case o.Offset == OffsetUnmatched:
		return ledger.UnmatchedAssigned(header(ledger.KindUnmatchedAssigned), account.Path, amount), nil
	case o.Offset == OffsetFees && difference > 0:
		return ledger.FeeCharged(header(ledger.KindFee), account.Path, amount), nil
	case o.Offset == OffsetExpense && difference > 0:
		return ledger.FeeReturned(header(ledger.KindFee), account.Path, amount), nil
	case o.Offset == OffsetExpense:
		return ledger.FeePaid(header(ledger.KindFee), account.Path, amount), nil
	}
	return ledger.Posting{}, fault.Invalid(fault.Field{Field: "against",
		Message: "cannot be FEES: the partner has less than our books, and income is not what it took; use EXPENSE or UNMATCHED"})
}

// breakMemo names the break, and as much of the note as fits.
func breakMemo(of ident.Break, note string) string {
	text := of.String() + ": " + strings.Join(strings.Fields(note), " ")
	for len(text) > ledger.MaxMemo {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// Resolution is how a break was resolved, for good.
type Resolution struct {
	Break  ident.Break
	Method ResolutionMethod
	Note   string
	// Posting is the correction; zero for none.
	Posting uuid.UUID
	// Run is the comparison that resolved it; zero when somebody did.
	Run ident.Reconciliation
	By  string // a token, or a person at the command line
	At  time.Time
}
