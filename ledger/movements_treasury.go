package ledger

import "causeway/core/money"

// The company moves its money between accounts at partners, and settles what it has converted.

// Sweep records that fees earned were moved out of an account with customers' money.
//
//	own/<NAME> → account with customers' money
func Sweep(h Header, from, to string, amount money.Amount) Posting {
	return h.posting(KindSweep, entry(to, from, amount))
}

// TreasuryTransfer records that money was moved from one account at a partner to another. A transfer
// that takes days has two postings: into a transit account when it is sent, and out of it when it
// arrives. A partner is also paid what it is owed, and pays what it owes, this way.
//
//	to → from
func TreasuryTransfer(h Header, from, to string, amount money.Amount) Posting {
	return h.posting(KindTreasuryTransfer, entry(to, from, amount))
}

// FXSettlement is one exchange with a liquidity provider: Sold leaves the account PaidFrom and Bought
// reaches the account ReceivedAt. What is not paid yet is owed to the provider, or by it.
type FXSettlement struct {
	Sold, Bought         money.Amount
	PaidFrom, ReceivedAt string
}

// FXSettled records an exchange with a liquidity provider, which reduces the service's position.
//
//	fx/position → paid from          sold currency
//	received at → fx/position        bought currency
func FXSettled(h Header, s FXSettlement) Posting {
	if s.Sold.Minor <= 0 || s.Bought.Minor <= 0 || s.Sold.Currency == s.Bought.Currency {
		return h.posting(KindFXSettlement) // no exchange: Validate refuses a posting without entries
	}
	return h.posting(KindFXSettlement, entry(FXPosition, s.PaidFrom, s.Sold), entry(s.ReceivedAt, FXPosition, s.Bought))
}
