package transaction

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Receipt is one payment that was received on a rail or a chain, as the partner reported it.
type Receipt struct {
	ID       ident.Receipt
	Platform ident.Platform
	// Rail is the rail or chain on which it was received.
	Rail corridor.Rail
	// PartnerID is the partner's id of the payment. A platform has one receipt for a rail and a
	// partner's id, however often and with whichever time the partner reports the payment.
	PartnerID string
	// Reference is what the payer wrote, of any length; a payment with an empty or unknown one has no
	// owner.
	Reference string
	Amount    money.Amount
	// At is when the partner received the payment.
	At time.Time
	// Originator is who has sent it, nil if nothing is known, and TransactionHash that of the transfer on its chain, if it is one. They
	// are kept with the transaction that the receipt is for.
	Originator      *Originator
	TransactionHash string
}

// MaxPartnerID is the longest partner's id that is kept as it is, in bytes.
const MaxPartnerID = 255

// Storable returns the receipt as it is kept. What is not text in the reference (NUL, invalid UTF-8)
// becomes U+FFFD. A partner's id that is not text, or is longer than MaxPartnerID, becomes its hash,
// so that it stays unique.
func (r Receipt) Storable() Receipt {
	r.Reference = strings.ReplaceAll(strings.ToValidUTF8(r.Reference, "\uFFFD"), "\x00", "\uFFFD")
	if len(r.PartnerID) > MaxPartnerID || !utf8.ValidString(r.PartnerID) || strings.ContainsRune(r.PartnerID, 0) {
		r.PartnerID = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(r.PartnerID)))
	}
	return r
}

func (r Receipt) header(kind ledger.Kind, at time.Time, memo string) ledger.Header {
	return ledger.Header{ID: ledger.DerivedID(r.ID.UUID(), kind, 0), Platform: r.Platform, Effective: at, Memo: ledger.MemoOf(memo)}
}

// ReceiptKinds returns the kinds of postings that record a receipt under an id derived from the
// receipt, and not from the transaction that it pays for.
func ReceiptKinds() []ledger.Kind {
	return []ledger.Kind{ledger.KindUnmatchedReceived, ledger.KindJITReceived}
}

// Unmatched returns the posting for money whose owner is unknown.
func (r Receipt) Unmatched() ledger.Posting {
	memo := "no reference"
	if r.Reference != "" {
		memo = "unknown reference " + r.Reference
	}
	return r.unmatchedPosting(memo)
}

// RejectedByAccount returns the posting for money whose account is known and cannot receive it.
func (r Receipt) RejectedByAccount() ledger.Posting {
	return r.unmatchedPosting("not accepted by the account: " + r.Reference)
}

func (r Receipt) unmatchedPosting(memo string) ledger.Posting {
	return ledger.UnmatchedReceived(r.header(ledger.KindUnmatchedReceived, r.At, memo), r.Rail.LedgerPath(), r.Amount)
}

// Surplus returns the postings for a further payment to a transaction that already has its money:
// one that receives it, and one that opens its refund.
func (r Receipt) Surplus() []ledger.Posting {
	memo := surplusMemo + r.Reference
	return []ledger.Posting{
		ledger.JITReceived(r.header(ledger.KindJITReceived, r.At, memo), r.Rail.LedgerPath(), r.Amount),
		ledger.RefundOwed(r.header(ledger.KindRefundOwed, r.At, memo), ledger.FundingJIT, r.Amount),
	}
}

// SentBack returns the posting for a surplus or unmatched receipt that was returned to its payer; to
// is the ledger path to which it was paid.
func (r Receipt) SentBack(to string, now time.Time) ledger.Posting {
	return ledger.RefundPaid(r.header(ledger.KindRefundPaid, now, sentBackMemo+r.describe()), to, r.Amount)
}

// SendBackFailed returns the posting for a surplus or unmatched receipt that could not be sent back.
func (r Receipt) SendBackFailed(now time.Time) ledger.Posting {
	return ledger.RefundFailed(r.header(ledger.KindRefundFailed, now, sendBackFailedMemo+r.describe()), r.Amount)
}

func (r Receipt) describe() string {
	if r.Reference == "" {
		return "payment without a reference"
	}
	return "payment with the reference " + r.Reference
}

// SurplusMemos returns the memos of the postings for surplus payments with a reference. These postings
// belong to no transaction.
func SurplusMemos(reference string) []string {
	r := Receipt{Reference: reference}
	return []string{ledger.MemoOf(surplusMemo + reference), ledger.MemoOf(sentBackMemo + r.describe()),
		ledger.MemoOf(sendBackFailedMemo + r.describe())}
}

const (
	surplusMemo        = "further payment for "
	sentBackMemo       = "sent back: "
	sendBackFailedMemo = "cannot be sent back: "
)
