package ledger

import "causeway/core/money"

// Postings at the end of a month are posted by a run for the month, not by a payment. Those of the exchange
// result are in the functional currency, against fx/valuation: with what they leave there, the position is worth
// zero at the closing rates. Amounts are never below zero.

// GainsAndLosses are exchange results of one currency.
type GainsAndLosses struct {
	Currency      money.Currency
	Gains, Losses int64
}

// Net returns the gains less the losses.
func (g GainsAndLosses) Net() int64 { return g.Gains - g.Losses }

func (g GainsAndLosses) entries(gains, losses string) []Entry {
	return []Entry{
		entry(FXValuation, gains, money.Amount{Minor: g.Gains, Currency: g.Currency}),
		entry(losses, FXValuation, money.Amount{Minor: g.Losses, Currency: g.Currency}),
	}
}

// RealisedResult records the realised exchange result of a month.
//
//	fx/valuation → income/exchange-gains
//	expense/exchange-losses → fx/valuation
func RealisedResult(h Header, g GainsAndLosses) Posting {
	return h.posting(KindRevaluation, g.entries(IncomeExchangeGains, ExpenseExchangeLosses)...)
}

// UnrealisedResult records the change of the position's value at the closing rates of a month.
//
//	fx/valuation → income/unrealised-exchange-gains
//	expense/unrealised-exchange-losses → fx/valuation
func UnrealisedResult(h Header, g GainsAndLosses) Posting {
	return h.posting(KindRevaluation, g.entries(IncomeUnrealisedExchangeGains, ExpenseUnrealisedExchangeLosses)...)
}

// UnrealisedReversed takes an unrealised result back when the next month begins. It is no reversal, so that the
// posting itself can still be reversed when its month is revalued again.
//
//	income/unrealised-exchange-gains → fx/valuation
//	fx/valuation → expense/unrealised-exchange-losses
func UnrealisedReversed(h Header, g GainsAndLosses) Posting {
	return h.posting(KindRevaluation, reversedEntries(g.entries(IncomeUnrealisedExchangeGains, ExpenseUnrealisedExchangeLosses))...)
}

// PositionOpened records what the position has earned before the first month that is revalued, and in earlier books;
// result may be below zero.
//
//	fx/valuation → equity/retained-earnings, or the reverse for a loss
func PositionOpened(h Header, result money.Amount) Posting {
	if result.Minor < 0 {
		return h.posting(KindRevaluation, entry(EquityRetainedEarnings, FXValuation,
			money.Amount{Minor: -result.Minor, Currency: result.Currency}))
	}
	return h.posting(KindRevaluation, entry(FXValuation, EquityRetainedEarnings, result))
}

// FeesDeferred moves the fees of payments that are not delivered out of the income of a month.
//
//	income/fees → liability/deferred-fees
func FeesDeferred(h Header, fees []money.Amount) Posting {
	entries := make([]Entry, len(fees))
	for i, fee := range fees {
		entries[i] = entry(IncomeFees, LiabilityDeferredFees, fee)
	}
	return h.posting(KindFeeDeferral, entries...)
}

// AllowanceChanged records that more, or less, of what customers owe is expected to be lost than before (IFRS 9).
//
//	expense/write-offs → allowance/receivables, or the reverse for less
func AllowanceChanged(h Header, changes []money.Amount) Posting {
	var entries []Entry
	for _, c := range changes {
		if c.Minor < 0 {
			entries = append(entries, entry(AllowanceReceivables, ExpenseWriteOffs, money.Amount{Minor: -c.Minor, Currency: c.Currency}))
		} else {
			entries = append(entries, entry(ExpenseWriteOffs, AllowanceReceivables, c))
		}
	}
	return h.posting(KindAllowance, entries...)
}

// FeesRecognised moves deferred fees back when the next month begins.
//
//	liability/deferred-fees → income/fees
func FeesRecognised(h Header, fees []money.Amount) Posting {
	deferred := FeesDeferred(h, fees)
	deferred.Entries = reversedEntries(deferred.Entries)
	return deferred
}
