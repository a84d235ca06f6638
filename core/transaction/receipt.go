package transaction

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Receipt is one payment that was received on a rail or a chain, as the partner reported it.
type Receipt struct {
	// ID is derived from the rail and PartnerID (see ReceiptID), so that a payment reported twice is
	// one receipt.
	ID        ident.Receipt
	PartnerID string
	Platform  ident.Platform
	// Rail is the rail or chain on which it was received.
	Rail corridor.Rail
	// Reference is the code from the payer; a payment with an empty or unknown one has no owner.
	Reference string
	Amount    money.Amount
	At        time.Time
}

// ReceiptID returns the id of the receipt with the partner's id. It is a UUID of version 8 that starts
// with the time of the receipt, so that receipts can be sorted by it.
func ReceiptID(rail corridor.Rail, partnerID string, at time.Time) ident.Receipt {
	sum := sha256.Sum256([]byte("causeway receipt\x00" + string(rail) + "\x00" + partnerID))
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16)
	copy(id[6:], sum[:])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	var receipt ident.Receipt
	ident.SetUUID(&receipt, id)
	return receipt
}

func (r Receipt) header(kind ledger.Kind, at time.Time, memo string) ledger.Header {
	return ledger.Header{ID: ledger.DerivedID(r.ID.UUID(), kind, 0), Platform: r.Platform, Effective: at, Memo: memo}
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
	return []string{surplusMemo + reference, sentBackMemo + r.describe(), sendBackFailedMemo + r.describe()}
}

const (
	surplusMemo        = "further payment for "
	sentBackMemo       = "sent back: "
	sendBackFailedMemo = "cannot be sent back: "
)
