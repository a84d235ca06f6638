package monthend

import (
	"fmt"
	"maps"
	"time"

	"causeway/core/exchange"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// ExchangeResult is the exchange result of a month as a run has posted it.
type ExchangeResult struct {
	exchange.Month
	// LastSeq is the number of the last posting that was read.
	LastSeq int64
	// Keep reports whether the unrealised result stays in force, instead of being reversed when the next month
	// begins.
	Keep bool
	// From is the beginning of the time that the result covers: that of the month, or of an earlier month that
	// was closed without a run.
	From time.Time
	// RatesKeptAt is the time of the closing rates, OpeningRatesKeptAt that of the rates at the beginning.
	RatesKeptAt, OpeningRatesKeptAt time.Time
	// Changes explain the change of the value of the position.
	Changes Changes
}

// Changes explain how the value of the position changed: the opening value, what postings of each origin and the
// market rates changed, and the closing value, which is their sum.
type Changes struct {
	Opening, Closing int64
	ByOrigin         map[exchange.Origin]int64
	Trades           map[exchange.Origin]int64
	RateChanges      int64
}

// Equal reports whether both have the same parts.
func (c Changes) Equal(other Changes) bool {
	for _, origin := range exchange.Origins() {
		if c.ByOrigin[origin] != other.ByOrigin[origin] || c.Trades[origin] != other.Trades[origin] {
			return false
		}
	}
	return c.Opening == other.Opening && c.Closing == other.Closing && c.RateChanges == other.RateChanges
}

// ChangesOf returns the parts of an explanation.
func ChangesOf(x *exchange.Explanation) Changes {
	return Changes{Opening: x.Opening, Closing: x.Closing, ByOrigin: x.ByOrigin, Trades: x.Trades, RateChanges: x.RateChanges}
}

// RatesKept reports whether the market rates that the result was computed from are still kept; first is the time of
// the first rates that are.
func (r ExchangeResult) RatesKept(first time.Time) bool {
	return !first.IsZero() && !first.After(r.OpeningRatesKeptAt)
}

// Check returns what of a stored result does not follow from the result before it, the quantities of the position at
// its end, and the closing rates that are stored with it; empty if nothing. It needs no kept rates, so it cannot
// tell how the result is divided into origins. previous is the zero value for the first result. Error:
// money.ErrOverflow.
func (r ExchangeResult) Check(previous ExchangeResult, quantities map[money.Currency]int64) (problem string, err error) {
	left := maps.Clone(quantities)
	carried := previous.Carried()
	for _, line := range r.Lines {
		value, err := exchange.ValueAt(line.Rate, line.Quantity)
		if err != nil {
			return "", err
		}
		unrealised, err := money.SubMinor(value, line.Cost)
		switch {
		case err != nil:
			return "", err
		case line.Quantity != left[line.Currency]:
			return fmt.Sprintf("the position is stored as %d %s, and by the entries it is %d", line.Quantity, line.Currency, left[line.Currency]),
				nil
		case line.Value != value || line.Unrealised != unrealised || line.Carried != carried[line.Currency]:
			return fmt.Sprintf("the value of the position is stored as %v, which does not follow from its quantity, cost and rate", line), nil
		}
		delete(left, line.Currency)
	}
	if r.Cash != left[r.Functional] {
		return fmt.Sprintf("the position is stored as %d %s, and by the entries it is %d", r.Cash, r.Functional, left[r.Functional]), nil
	}
	delete(left, r.Functional)
	for currency, quantity := range left {
		if quantity != 0 {
			return fmt.Sprintf("no position in %s is stored, and by the entries it is %d", currency, quantity), nil
		}
	}
	return r.checkSums(previous)
}

// checkSums returns which of the sums of a result is not that of its parts; empty if none.
func (r ExchangeResult) checkSums(previous ExchangeResult) (problem string, err error) {
	realised, err := r.RealisedResult()
	if err != nil {
		return "", err
	}
	before := int64(0)
	if previous.Functional != "" {
		if before, err = previous.Book().Result(); err != nil {
			return "", err
		}
	}
	after, err := r.Book().Result()
	if err != nil {
		return "", err
	}
	value, err := r.Value()
	if err != nil {
		return "", err
	}
	translated := money.TotalOf(previous.Translated)
	for _, t := range r.Translations {
		translated = translated.Add(money.TotalOf(t.Value))
	}
	changes := money.TotalOf(r.Changes.Opening).Add(money.TotalOf(r.Changes.RateChanges))
	for _, change := range r.Changes.ByOrigin {
		changes = changes.Add(money.TotalOf(change))
	}
	switch {
	case !money.TotalOf(before).Add(money.TotalOf(r.Opening)).Add(money.TotalOf(realised.Net())).Equal(money.TotalOf(after)):
		return fmt.Sprintf("the realised result is stored as %v, and the cost of the position has changed the result from %d to %d", r.Realised,
			before, after), nil
	case previous.Functional != "" && !translated.Equal(money.TotalOf(r.Translated)):
		return fmt.Sprintf("income, expense and own funds are stored as %v, which is not the change of what was translated, from %d to %d",
			r.Translations, previous.Translated, r.Translated), nil
	case r.Changes.Closing != value || !changes.Equal(money.TotalOf(value)):
		return fmt.Sprintf("the changes of the position are stored as %+v, and it is worth %d", r.Changes, value), nil
	}
	return "", nil
}

// Carried returns the unrealised results that are posted when the next month begins.
func (r ExchangeResult) Carried() map[money.Currency]int64 {
	if !r.Keep {
		return nil
	}
	return r.Unrealised()
}

// Postings returns the postings of the exchange result of a month, without ids; those of a result of zero have no
// entries. Error: money.ErrOverflow.
func (r ExchangeResult) Postings(run Run) ([]ledger.Posting, error) {
	realised, err := r.RealisedResult()
	if err != nil {
		return nil, err
	}
	unrealised, err := r.UnrealisedResult()
	if err != nil {
		return nil, err
	}
	header := func(effective time.Time, memo string) ledger.Header {
		return ledger.Header{Platform: run.Platform, Effective: effective, Memo: fmt.Sprintf("%s of %s", memo, run.Month)}
	}
	end := Last(run.Month)
	postings := []ledger.Posting{
		ledger.PositionOpened(header(run.Month.Start(), "earlier result of the position"),
			money.Amount{Minor: r.Opening, Currency: r.Functional}),
		ledger.RealisedResult(header(end, "realised exchange result"), realised),
		ledger.UnrealisedResult(header(end, "unrealised exchange result"), unrealised),
	}
	if !r.Keep {
		reversed, err := r.ReversedResult()
		if err != nil {
			return nil, err
		}
		postings = append(postings, ledger.UnrealisedReversed(header(run.Month.End(), "reversal of the unrealised exchange result"), reversed))
	}
	return postings, nil
}

// Start returns the beginning of the time that a run covers, after the run of an earlier month.
func Start(m period.Month, previous Run) time.Time {
	if previous.Exists() {
		return previous.Month.End()
	}
	return m.Start()
}
