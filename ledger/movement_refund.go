package ledger

import "causeway/core/money"

// A payment that fails goes back in two steps, or three: what was converted is
// reversed (Reverse), so that the money is where it was received; then it is owed to
// the payer, and then it is paid.

// RefundOwed: money held for a payment will go back to its payer. It is held in
// funding/jit, or in the account that paid.
//
//	held in → transit/refunds
func RefundOwed(h Header, heldIn string, amount money.Amount) Posting {
	return h.posting(KindRefundOwed, entry(heldIn, TransitRefunds, amount))
}

// RefundPaid: the payer has the money back: at a partner (fiat, to the instrument it
// came from), or on an account of theirs (prefunded payments and crypto).
//
//	transit/refunds → to
func RefundPaid(h Header, to string, amount money.Amount) Posting {
	return h.posting(KindRefundPaid, entry(TransitRefunds, to, amount))
}

// RefundFailed: money owed back cannot be sent back; people must find its owner.
//
//	transit/refunds → funding/unmatched
func RefundFailed(h Header, amount money.Amount) Posting {
	return h.posting(KindRefundFailed, entry(TransitRefunds, FundingUnmatched, amount))
}
