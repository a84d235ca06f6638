package ledger

import "causeway/core/money"

// FeeCharged: an account has paid a fee that belongs to no other movement.
//
//	account → income/fees
func FeeCharged(h Header, from string, amount money.Amount) Posting {
	return h.posting(KindFee, entry(from, IncomeFees, amount))
}

// FeePaid: a partner has taken its fee out of what lies there.
//
//	expense/rails → partner
func FeePaid(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindFee, entry(ExpenseRails, partner, amount))
}

// FeeReturned: a partner has given back a fee that it had taken.
//
//	partner → expense/rails
func FeeReturned(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindFee, entry(partner, ExpenseRails, amount))
}
