package ledger

import "causeway/core/money"

// Conversion is one exchange, priced elsewhere. Sent.Minor is all that leaves From;
// Fees and RoundingSent are part of it, in minor units of its currency, and the rest
// is what is exchanged. Received reaches To; RoundingReceived are minor units of its
// currency that the exchange yielded beyond that and the service keeps.
type Conversion struct {
	From             string // funding/jit, or the account that pays
	To               string // transit/payouts, or the account that receives
	Sent             money.Amount
	Fees             int64
	RoundingSent     int64
	Received         money.Amount
	RoundingReceived int64
}

// Converted: one currency has been exchanged for another through the service's
// position in both.
//
//	from → income/fees          sending currency
//	from → income/rounding      sending currency
//	from → fx/position          sending currency
//	fx/position → to            receiving currency
//	fx/position → income/rounding   receiving currency
func Converted(h Header, c Conversion) Posting {
	sent := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: c.Sent.Currency} }
	exchanged := c.Sent.Minor - c.Fees - c.RoundingSent
	if exchanged <= 0 || c.Received.Minor <= 0 || c.Sent.Currency == c.Received.Currency {
		// Something for nothing, nothing for something, or no exchange at all: a
		// posting without entries, which Validate refuses.
		return h.posting(KindConverted)
	}
	return h.posting(KindConverted,
		entry(c.From, IncomeFees, sent(c.Fees)),
		entry(c.From, IncomeRounding, sent(c.RoundingSent)),
		entry(c.From, FXPosition, sent(exchanged)),
		entry(FXPosition, c.To, c.Received),
		entry(FXPosition, IncomeRounding, money.Amount{Minor: c.RoundingReceived, Currency: c.Received.Currency}),
	)
}
