package ledger

import "slices"

// Kind says what a posting records.
type Kind string

// The kinds. What each one moves stands at the function that builds it.
const (
	KindDeposit           Kind = "deposit"
	KindWithdrawal        Kind = "withdrawal"
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
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{
		KindDeposit, KindWithdrawal, KindJITReceived, KindConverted, KindFee, KindDelivered, KindReturned,
		KindRefundOwed, KindRefundPaid, KindRefundFailed, KindTransferIn, KindTransferOut,
		KindWalletDebit, KindWalletCredit, KindUnmatchedReceived, KindUnmatchedAssigned, KindReversal, KindAdjustment,
	}
}

// Known tells whether k is one of the kinds.
func (k Kind) Known() bool { return slices.Contains(allKinds, k) }

var allKinds = Kinds()
