package ledger

import "causeway/core/money"

// JITReceived: a payer's money for a just-in-time quote has arrived at a partner (a
// Rail or Chain path).
//
//	partner → funding/jit
func JITReceived(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindJITReceived, entry(partner, FundingJIT, amount))
}

// UnmatchedReceived: money has arrived at a partner and nobody knows whose it is.
//
//	partner → funding/unmatched
func UnmatchedReceived(h Header, partner string, amount money.Amount) Posting {
	return h.posting(KindUnmatchedReceived, entry(partner, FundingUnmatched, amount))
}

// UnmatchedAssigned: the owner of unmatched money is found. It goes to funding/jit
// when it pays a quote, to transit/refunds when it goes back, or to an account.
//
//	funding/unmatched → to
func UnmatchedAssigned(h Header, to string, amount money.Amount) Posting {
	return h.posting(KindUnmatchedAssigned, entry(FundingUnmatched, to, amount))
}

// IncomingFunds is money that arrived at a partner and belongs to an account at once.
type IncomingFunds struct {
	Partner string // a Rail or Chain path
	To      string // a customer's or platform's account, or a wallet
	Amount  money.Amount
}

// Deposit: the owner of an account, or somebody for them, has paid money in.
//
//	partner → account
func Deposit(h Header, a IncomingFunds) Posting {
	return h.posting(KindDeposit, entry(a.Partner, a.To, a.Amount))
}

// TransferIn: money that we pulled from an external account has arrived.
//
//	partner → account
func TransferIn(h Header, a IncomingFunds) Posting {
	return h.posting(KindTransferIn, entry(a.Partner, a.To, a.Amount))
}
