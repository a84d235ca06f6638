package receivable

import (
	"strings"
	"time"
	"unicode/utf8"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/plaintext"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// The maximum lengths of the partner's texts, in bytes.
const (
	maxReasonCode = 40
	maxPartnerID  = 140
)

// Check returns everything that is wrong with a return, by request field.
func (r Return) Check(now time.Time) []fault.Field {
	bad := period.CheckNote(r.Note, true)
	if r.ReasonCode == "" || !isPlain(r.ReasonCode, maxReasonCode) {
		bad = append(bad, fault.Field{Field: "reasonCode", Message: "must be the partner's code of the return, such as R01: 1 to 40 bytes of " +
			"printable text"})
	}
	if !isPlain(r.PartnerID, maxPartnerID) {
		bad = append(bad, fault.Field{Field: "partnerId", Message: "must have at most 140 bytes of printable text"})
	}
	if r.ReturnedAt.IsZero() || r.ReturnedAt.After(now) {
		bad = append(bad, fault.Field{Field: "returnedAt", Message: "must be when the partner took the money back, and not in the future"})
	}
	return bad
}

// noCode is the code of a return for which the partner has given none.
const noCode = "NONE"

// Reported returns a return as a partner has reported it, in a form that Check accepts: texts are shortened, and a time
// that is missing, in the future or before the collection is now.
func Reported(code, partnerID, text string, at time.Time, t transaction.Transaction, now time.Time) Return {
	r := Return{ReasonCode: plaintext.Clean(code, maxReasonCode), PartnerID: plaintext.Clean(partnerID, maxPartnerID),
		ReturnedAt: at, Note: plaintext.Clean(text, transaction.MaxPartnerText), By: platform.Service}
	if r.ReasonCode == "" {
		r.ReasonCode = noCode
	}
	if at.IsZero() || at.After(now) || at.Before(t.CreatedAt.Truncate(24*time.Hour)) {
		r.ReturnedAt = now
	}
	return r
}

func isPlain(text string, maxBytes int) bool {
	return len(text) <= maxBytes && utf8.ValidString(text) && text == strings.TrimSpace(text) &&
		!strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })
}

func refuseReturn(t transaction.Transaction, message string) error {
	return &fault.Error{Code: fault.Conflict, Reason: "Collection cannot be returned", Message: message,
		Details: map[string]any{"transactionId": t.ID.String(), "status": string(t.State.Status)}}
}

// CheckEnded returns CONFLICT unless the transaction has ended: a person cannot stop what it pays.
func CheckEnded(t transaction.Transaction) error {
	if t.State.IsFinal() {
		return nil
	}
	return refuseReturn(t, "The transaction "+t.ID.String()+" has not ended. Record the return when it has.")
}

// CheckReturnable returns CONFLICT unless the transaction collected money, so that its return makes a receivable: the money was
// credited, paid out or refunded, or will be.
func CheckReturnable(t transaction.Transaction, returnedAt time.Time) error {
	switch {
	case t.Flow().Funding != transaction.Pull:
		return refuseReturn(t, "The transaction "+t.ID.String()+" collected nothing from an external account. If a partner took money back, "+
			"post it as an adjustment.")
	case !t.HasCollected():
		return refuseReturn(t, "The money of the transaction "+t.ID.String()+" was never collected. Post what the partner took back as an "+
			"adjustment.")
	case returnedAt.Before(t.CreatedAt.Truncate(24 * time.Hour)):
		return fault.Invalid(fault.Field{Field: "returnedAt", Message: "must not be before the transaction was created"})
	}
	return nil
}

// ErrNotOwed returns CONFLICT for the return of a collection whose refund has failed: its money went back from the unmatched funds.
func ErrNotOwed(t transaction.Transaction) error {
	return &fault.Error{Code: fault.Conflict, Reason: "Nothing is owed",
		Message: "The return of " + t.ID.String() + " is recorded without a receivable: its refund had failed, and its money went back from " +
			"the unmatched funds. There is nothing else to do.",
		Details: map[string]any{"transactionId": t.ID.String(), "status": string(t.State.Status)}}
}

// New returns the receivable for a transaction whose collection was returned, owed by the owner of an account.
func New(id ident.Receivable, t transaction.Transaction, owedBy account.Internal, returned Return) Receivable {
	collected := t.Pricing.Sent
	if t.Type == transaction.Incoming {
		collected = t.Pricing.Received
	}
	return Receivable{ID: id, Platform: t.Platform, Transaction: t.ID, Customer: owedBy.Customer, Account: owedBy.ID,
		AccountPath: owedBy.LedgerPath(),
		Partner:     t.SourceAccount, Reference: t.Reference, Amount: collected, Return: returned}
}

// CheckRepeated returns CONFLICT unless a return that is recorded again has the content of the first. Its note and
// author may differ.
func (r Receivable) CheckRepeated(again Return) error {
	var differs []string
	if r.ReasonCode != again.ReasonCode {
		differs = append(differs, "reasonCode")
	}
	if r.PartnerID != again.PartnerID {
		differs = append(differs, "partnerId")
	}
	if !r.ReturnedAt.Equal(again.ReturnedAt) {
		differs = append(differs, "returnedAt")
	}
	if len(differs) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Return already recorded",
		Message: "The return of this transaction is recorded as " + r.ID.String() + " with another " + strings.Join(differs, " and ") +
			". A collection is returned once: check the transaction.",
		Details: map[string]any{"receivableId": r.ID.String(), "transactionId": r.Transaction.String()}}
}

// ErrNotOpen returns CONFLICT for a write-off of a receivable that is not open.
func (r Receivable) ErrNotOpen() error {
	return &fault.Error{Code: fault.Conflict, Reason: "Receivable not open", Message: "The receivable " + r.ID.String() + " is " +
		string(r.State) + ": nothing is owed.",
		Details: map[string]any{"receivableId": r.ID.String(), "status": string(r.State)}}
}
