package ledger

import "causeway/core/money"

// What partners and chains report by themselves. A partner is the path of a rail or a chain.

// RailFee records that a partner or chain has charged for moving money; a negative amount is one that it gave back.
//
//	expense/rails → partner, or the reverse
func RailFee(h Header, partner string, amount money.Amount) Posting {
	if amount.Minor < 0 {
		amount.Minor = -amount.Minor
		return h.posting(KindRailFee, entry(partner, ExpenseRails, amount))
	}
	return h.posting(KindRailFee, entry(ExpenseRails, partner, amount))
}

// ReceiptReversed records that the partner took back money that it had received and that no customer has: it is
// unmatched, or it was sent back to its payer, and then it is lost.
//
// A queued payment that was to send it back ends with it: then it is still in transit to its payer.
//
//	funding/unmatched, transit/refunds or expense/chargebacks → partner
//
// A loss ends if what was sent back to the payer comes back after all:
//
//	transit/refunds → expense/chargebacks
func ReceiptReversed(h Header, from, partner string, amount money.Amount) Posting {
	return h.posting(KindReceiptReversed, entry(from, partner, amount))
}
