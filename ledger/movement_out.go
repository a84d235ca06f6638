package ledger

import "causeway/core/money"

// Delivered: a payout has reached its beneficiary through a partner.
//
//	transit/payouts → partner
func Delivered(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindDelivered, entry(TransitPayouts, partner, amount))
}

// Returned: a delivered payout has come back. That it had been delivered stays
// true, so this is no reversal of Delivered: it is money that arrives, on its own
// day, and it is again on its way out until the conversion is reversed.
//
//	partner → transit/payouts
func Returned(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindReturned, entry(partner, TransitPayouts, amount))
}

// OutgoingFunds is money that leaves an account. Fees are in the same currency and come
// on top of Amount.
type OutgoingFunds struct {
	From   string // a customer's or platform's account, or a wallet
	Amount money.Amount
	Fees   int64 // minor units
}

func (d OutgoingFunds) feeEntry() Entry {
	return entry(d.From, IncomeFees, money.Amount{Minor: d.Fees, Currency: d.Amount.Currency})
}

// TransferOut: an account pays out in its own currency. Delivered follows when the
// partner says so; a payout that fails is undone by reversing this posting.
//
//	account → transit/payouts
//	account → income/fees
func TransferOut(h Header, d OutgoingFunds) Posting {
	return h.posting(KindTransferOut, entry(d.From, TransitPayouts, d.Amount), d.feeEntry())
}

// Withdrawal: money has left an account through a partner in one step.
//
//	account → partner
//	account → income/fees
func Withdrawal(h Header, partner string, d OutgoingFunds) Posting {
	return h.posting(KindWithdrawal, entry(d.From, partner, d.Amount), d.feeEntry())
}
