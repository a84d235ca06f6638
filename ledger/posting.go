package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/money"
)

// Entry moves Amount minor units of Currency from the account at path Debit to the
// account at path Credit. It is written "Debit → Credit".
type Entry struct {
	Debit    string
	Credit   string
	Currency money.Currency
	Amount   int64
}

// Posting is a list of entries that are written together or not at all.
type Posting struct {
	// ID is decided before the posting is written. Writing it again changes nothing.
	ID       uuid.UUID
	Platform ident.Platform
	Kind     Kind
	// Transaction is the payment that the posting belongs to; zero for none.
	Transaction ident.Transaction
	// Effective is when the posting counts for the parties, to the microsecond. The
	// storage adds the time at which it was recorded.
	Effective time.Time
	Memo      string
	// Reverses is the posting that this one undoes; zero for none.
	Reverses uuid.UUID
	Entries  []Entry
}

// Kind says what a posting records.
type Kind string

// The kinds. The function that builds a posting of a kind documents its entries.
const (
	KindDeposit           Kind = "deposit"
	KindJITReceived       Kind = "jit_received"
	KindConverted         Kind = "converted"
	KindFee               Kind = "fee"
	KindDelivered         Kind = "delivered"
	KindReturned          Kind = "returned"
	KindRefundOwed        Kind = "refund_owed"
	KindRefundPaid        Kind = "refund_paid"
	KindRefundFailed      Kind = "refund_failed"
	KindTransferIn        Kind = "transfer_in"
	KindTransferOut       Kind = "transfer_out"
	KindWalletDebit       Kind = "wallet_debit"
	KindWalletCredit      Kind = "wallet_credit"
	KindUnmatchedReceived Kind = "unmatched_received"
	KindUnmatchedAssigned Kind = "unmatched_assigned"
	KindReversal          Kind = "reversal"
	KindAdjustment        Kind = "adjustment"
	KindOpeningBalances   Kind = "opening_balances"
	KindRevaluation       Kind = "revaluation"
	KindFeeDeferral       Kind = "fee_deferral"
	KindYearEnd           Kind = "year_end"
	KindAllowance         Kind = "receivables_allowance"
	KindSweep             Kind = "sweep"
	KindTreasuryTransfer  Kind = "treasury_transfer"
	KindFXSettlement      Kind = "fx_settlement"

	KindCollectionReturned   Kind = "collection_returned"
	KindReceivableCollected  Kind = "receivable_collected"
	KindReceivableWrittenOff Kind = "receivable_written_off"

	KindPlatformFees    Kind = "platform_fees"
	KindRailFee         Kind = "rail_fee"
	KindReceiptReversed Kind = "receipt_reversed"
)

var kinds = []Kind{
	KindDeposit, KindJITReceived, KindConverted, KindFee, KindDelivered, KindReturned,
	KindRefundOwed, KindRefundPaid, KindRefundFailed, KindTransferIn, KindTransferOut, KindWalletDebit, KindWalletCredit,
	KindUnmatchedReceived, KindUnmatchedAssigned, KindReversal, KindAdjustment, KindOpeningBalances, KindRevaluation,
	KindFeeDeferral, KindYearEnd, KindAllowance,
	KindSweep, KindTreasuryTransfer, KindFXSettlement,
	KindCollectionReturned, KindReceivableCollected, KindReceivableWrittenOff,
	KindPlatformFees, KindRailFee, KindReceiptReversed,
}

// Kinds returns every kind.
func Kinds() []Kind { return slices.Clone(kinds) }

// Known reports whether k is one of the kinds.
func (k Kind) Known() bool { return slices.Contains(kinds, k) }

// foreignMemos are the kinds whose memo may have words of others: of a payer, who wrote the reference of the money, or of a partner, who
// says what a fee is for and why money was taken back. The others have words of the service, of those who keep the books, and its own
// references.
var foreignMemos = []Kind{
	KindDeposit, KindRefundPaid, KindRefundFailed, KindUnmatchedReceived, KindUnmatchedAssigned, KindRailFee, KindReceiptReversed,
}

// HasForeignMemo reports whether the memo of a posting of this kind may have words of others, which may be personal data.
func (k Kind) HasForeignMemo() bool { return slices.Contains(foreignMemos, k) }

// ErrConflict is the error for a posting whose id is already written with other content.
var ErrConflict = errors.New("another posting has this id")

// Equal reports whether both postings have the same content; effective times are compared
// to the microsecond.
func (p Posting) Equal(other Posting) bool {
	return p.ID == other.ID &&
		p.Platform == other.Platform &&
		p.Kind == other.Kind &&
		p.Transaction == other.Transaction &&
		p.Effective.UnixMicro() == other.Effective.UnixMicro() &&
		p.Memo == other.Memo &&
		p.Reverses == other.Reverses &&
		slices.Equal(p.Entries, other.Entries)
}

// Accounts returns the accounts of the posting, each once, in the order of its entries.
func (p Posting) Accounts() []Account {
	accounts := make([]Account, 0, 2*len(p.Entries))
	for _, e := range p.Entries {
		for _, path := range [...]string{e.Debit, e.Credit} {
			if a := (Account{p.Platform, path, e.Currency}); !slices.Contains(accounts, a) {
				accounts = append(accounts, a)
			}
		}
	}
	return accounts
}

// DerivedID returns the id of the nth posting of a kind for a subject, which is a
// transaction or a receipt. Repeated work derives the same id, so the posting is written
// once. The id is a UUID of version 8: the 48 bits of time of a version 7 subject, so that
// it sorts beside its subject, and a hash of the rest.
func DerivedID(subject uuid.UUID, kind Kind, nth int) uuid.UUID {
	hash := sha256.New()
	hash.Write([]byte("causeway posting\x00"))
	hash.Write(subject[:])
	hash.Write(binary.BigEndian.AppendUint64(nil, uint64(nth)))
	hash.Write([]byte(kind))

	var id uuid.UUID
	copy(id[:6], subject[:6])
	copy(id[6:], hash.Sum(nil))
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}
