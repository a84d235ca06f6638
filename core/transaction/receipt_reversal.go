package transaction

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/core/platform"
	"causeway/ledger"
)

// ReceiptReversal says that the partner or chain took back money that it had received. A receipt is taken back once.
type ReceiptReversal struct {
	Receipt Receipt
	// PartnerID is the partner's id of the reversal, and Code and Note are its reason.
	PartnerID, Code, Note string
	At, RecordedAt        time.Time
	// By is who has recorded it; zero for the service.
	By platform.Author
}

// The maximum lengths of what is known of a reversal.
const (
	maxReversalID   = 140
	maxReversalCode = 40
	maxReversalNote = 500
	unknownCode     = "REVERSED"
)

// ReversedBy is the author of what follows from a reversal.
var ReversedBy = platform.Author{Actor: "(service)"}

// NewReceiptReversal returns a reversal with as much of what the partner said as can be stored. A time that is not
// known, before the receipt or in the future is replaced.
func NewReceiptReversal(r Receipt, partnerID, code, text string, at, now time.Time) ReceiptReversal {
	if at.IsZero() || at.After(now) {
		at = now
	}
	if at.Before(r.At) {
		at = r.At
	}
	reversal := ReceiptReversal{Receipt: r, PartnerID: plainText(partnerID, maxReversalID), Code: plainText(code, maxReversalCode),
		Note: plainText(text, maxReversalNote), At: at, RecordedAt: now}
	if reversal.Code == "" {
		reversal.Code = unknownCode
	}
	return reversal
}

// plainText returns a text in one line of at most some bytes.
func plainText(text string, maxBytes int) string {
	text = ledger.MemoOf(strings.ReplaceAll(text, "\x7f", " "))
	for len(text) > maxBytes {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return strings.TrimSpace(text)
}

// Reason says to operators why a payment ended that was made with the money.
func (v ReceiptReversal) Reason() string { return TakenBackReason(v.Code) }

// TakenBackReason says to operators why a payment ended whose money was taken back with a code.
func TakenBackReason(code string) string {
	return strings.TrimSpace("its money was taken back by the payer's bank or chain " + code)
}

// memo describes the reversal in the postings that follow from it.
func (v ReceiptReversal) memo() string {
	return ledger.MemoOf(strings.TrimSpace("taken back " + v.PartnerID + " " + v.Code + ": " + v.Receipt.describe()))
}

// OfUnmatched returns the postings and the assignment for money that is unmatched: it is owed to the payer, and has gone
// back. Fault: CONFLICT if the money is assigned.
func (v ReceiptReversal) OfUnmatched(u Unmatched) ([]ledger.Posting, Assignment, error) {
	if err := u.CheckUnassigned(); err != nil {
		return nil, Assignment{}, err
	}
	owed := u.assignmentPosting(ledger.TransitRefunds, v.memo(), Transaction{}.ID, v.At)
	paid := u.Receipt.SentBack(u.Receipt.Rail.LedgerPath(), v.At)
	paid.Memo = v.memo()
	note := strings.TrimSpace("Taken back by the partner: " + v.Code + " " + v.Note)
	assignment := Assignment{Note: plainText(note, maxReversalNote), By: cmp.Or(v.By, ReversedBy), At: v.RecordedAt}
	return []ledger.Posting{owed, paid}, assignment, nil
}

// Lost returns the posting for money that was sent back to its payer before, so that nobody owes it.
func (v ReceiptReversal) Lost() ledger.Posting { return v.posting(ledger.ExpenseChargebacks) }

// OfSendBack returns the posting for money that was to be sent back to its payer and has not left.
func (v ReceiptReversal) OfSendBack() ledger.Posting { return v.posting(ledger.TransitRefunds) }

// LossRecovered returns the posting for money that was lost because it was sent back before, and that the payer's bank refused.
func (r Receipt) LossRecovered(now time.Time) ledger.Posting {
	header := r.header(ledger.KindReceiptReversed, now, "not sent back, after it was taken back: "+r.describe())
	header.ID = ledger.DerivedID(r.ID.UUID(), ledger.KindReceiptReversed, 1)
	return ledger.ReceiptReversed(header, ledger.TransitRefunds, ledger.ExpenseChargebacks, r.Amount)
}

func (v ReceiptReversal) posting(from string) ledger.Posting {
	header := ledger.Header{ID: ledger.DerivedID(v.Receipt.ID.UUID(), ledger.KindReceiptReversed, 0), Platform: v.Receipt.Platform,
		Effective: v.At, Memo: v.memo()}
	return ledger.ReceiptReversed(header, from, v.Receipt.Rail.LedgerPath(), v.Receipt.Amount)
}
