// Package monthend computes the results of month-end runs from the ledger: the exchange result of the position and
// the payments in transit. Runs post what it computes, and the check of the ledger computes it again.
package monthend

import (
	"context"
	"time"

	"causeway/core/books"
	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Reader computes results. It never posts.
type Reader struct {
	Results   MonthEndResults
	Views     ports.MonthEndViews
	KeptRates KeptRates
	// Receivables and Balances are what allowances are computed from.
	Receivables Receivables
	Balances    Balances
}

// ExchangeResult computes the result of a run from its opening book, the postings of its month with numbers up to
// its LastSeq, and the kept rates. Faults and errors: those of exchange.Rates.Value; CONFLICT if no rates are kept.
func (r *Reader) ExchangeResult(ctx context.Context, run, previous monthend.Run, functional money.Currency,
	unrealised books.UnrealisedResult) (result monthend.ExchangeResult, err error) {
	err = r.Views.MonthEndView(ctx, run.Platform, run.LastSeq, func(ctx context.Context, view ports.MonthEndView) error {
		result.LastSeq = view.LastPosting().Seq
		opened, err := r.openBook(ctx, view, run, previous, functional)
		if err != nil {
			return err
		}
		explanation, err := exchange.Explain(functional, opened.Book.Positions(), opened.rates.current)
		if err != nil {
			return err
		}
		result.Keep, result.From, result.OpeningRatesKeptAt = unrealised == books.Keep, opened.from, opened.rates.current.KeptAt()
		err = opened.eachTrade(ctx, view, run.Month.End(), func(_ ports.PositionPosting, t exchange.Trade, rates *exchange.Rates) error {
			if _, err := opened.Trade(t, rates); err != nil {
				return err
			}
			return explanation.Trade(t, rates)
		})
		if err != nil {
			return err
		}
		closing, err := opened.rates.At(ctx, monthend.Last(run.Month))
		if err != nil {
			return err
		}
		if err := explanation.Rates(closing); err != nil {
			return err
		}
		result.RatesKeptAt, result.Changes = closing.KeptAt(), monthend.ChangesOf(explanation)
		result.Month, err = opened.Close(closing)
		return err
	})
	return result, err
}

// RatesKept reports whether the market rates of a result are still kept.
func (r *Reader) RatesKept(ctx context.Context, result monthend.ExchangeResult) (bool, error) {
	first, err := r.KeptRates.FirstRatesAt(ctx)
	return err == nil && result.RatesKept(first), err
}

// Quantities returns the position in each currency at the end of the month of a run, from its opening positions and
// the postings with numbers up to its LastSeq. before is the result of the previous run, if there is one.
func (r *Reader) Quantities(ctx context.Context, run, previous monthend.Run, functional money.Currency,
	before monthend.ExchangeResult) (quantities map[money.Currency]int64, err error) {
	from := monthend.Start(run.Month, previous)
	err = r.Views.MonthEndView(ctx, run.Platform, run.LastSeq, func(ctx context.Context, view ports.MonthEndView) (err error) {
		add := func(p ports.PositionPosting) (err error) {
			legs := p.Legs
			for _, own := range p.Own {
				legs = append(legs, own.Leg)
			}
			for _, leg := range legs {
				if quantities[leg.Currency], err = money.AddMinor(quantities[leg.Currency], leg.Quantity); err != nil {
					return err
				}
			}
			return nil
		}
		if previous.Exists() {
			quantities = before.Book().Positions()
			if err := view.LatePositionPostings(ctx, functional, before.LastSeq, from, add); err != nil {
				return err
			}
		} else {
			positions, err := view.Positions(ctx, functional, from.Add(-time.Microsecond))
			if err != nil {
				return err
			}
			if quantities, err = positions.Total(); err != nil {
				return err
			}
		}
		return view.PositionPostings(ctx, functional, period.Interval{From: from, To: run.Month.End()}, add)
	})
	return quantities, err
}

// EachMeasured computes a result again and calls each for every posting on the position, by effective time. Faults
// and errors: those of ExchangeResult; CONFLICT if its market rates are not kept any more.
func (r *Reader) EachMeasured(ctx context.Context, run monthend.Run, result monthend.ExchangeResult,
	each func(ports.PositionPosting, exchange.Measured) error) error {
	kept, err := r.RatesKept(ctx, result)
	if err != nil {
		return err
	}
	if !kept {
		refused := fault.New(fault.Conflict, "The market rates of %s are no longer kept, so the result of each posting cannot be computed "+
			"again. The result of the month is stored.", run.Month)
		refused.Reason = "No market rate"
		return refused
	}
	previous := monthend.Run{Platform: run.Platform, Kind: run.Kind, Month: run.Previous.Month, Number: run.Previous.Number}
	return r.Views.MonthEndView(ctx, run.Platform, run.LastSeq, func(ctx context.Context, view ports.MonthEndView) error {
		opened, err := r.openBook(ctx, view, run, previous, result.Functional)
		if err != nil {
			return err
		}
		return opened.eachTrade(ctx, view, run.Month.End(), func(p ports.PositionPosting, t exchange.Trade, rates *exchange.Rates) error {
			measured, err := opened.Trade(t, rates)
			if err != nil {
				return err
			}
			return each(p, measured)
		})
	})
}

// openedBook is the book with which a month begins, and the rates of that time.
type openedBook struct {
	exchange.Calculation
	rates *Rates
	from  time.Time
	// read is the number of the last posting that the previous run has read; zero if there is none.
	read int64
}

// eachTrade calls visit for each posting that the book lacks until a time, with the rates of its time. What was
// posted into the month of the previous run after it, which was then closed as it was, counts when the book begins.
func (o openedBook) eachTrade(ctx context.Context, view ports.MonthEndView, until time.Time,
	visit func(ports.PositionPosting, exchange.Trade, *exchange.Rates) error) error {
	if o.read > 0 {
		err := view.LatePositionPostings(ctx, o.Book.Functional, o.read, o.from, func(p ports.PositionPosting) error {
			return visitTrade(p, o.rates.current, visit)
		})
		if err != nil {
			return err
		}
	}
	return EachTrade(ctx, view, o.Book.Functional, period.Interval{From: o.from, To: until}, o.rates, visit)
}

// openBook returns the closing book of the previous run or, if there is none, the position at the beginning of
// the month at the rates of that time.
func (r *Reader) openBook(ctx context.Context, view ports.MonthEndView, run, previous monthend.Run,
	functional money.Currency) (o openedBook, err error) {
	o.from = monthend.Start(run.Month, previous)
	before := o.from.Add(-time.Microsecond)
	if o.rates, err = r.RatesFrom(ctx, functional, before); err != nil {
		return o, err
	}
	if previous.Exists() {
		result, err := r.Results.ExchangeResult(ctx, previous)
		if err != nil {
			return o, err
		}
		o.Book, o.Carried, o.read = result.Book(), result.Carried(), result.LastSeq
		return o, nil
	}
	positions, err := view.Positions(ctx, functional, before)
	if err != nil {
		return o, err
	}
	if o.Book, err = exchange.Open(functional, positions, o.rates.current); err != nil {
		return o, err
	}
	o.Opening, err = o.Book.Result()
	return o, err
}

// Changed reports whether a posting that a run of this platform, month and kind reads was recorded after the posting with
// a number. functional is the functional currency.
func Changed(ctx context.Context, tx Tx, run monthend.Run, functional money.Currency, seq int64) (bool, error) {
	switch run.Kind {
	case ledger.KindRevaluation:
		return tx.PositionPostedSince(ctx, run.Platform, functional, seq, run.Month.End())
	case ledger.KindAllowance:
		return tx.PostedSince(ctx, run.Platform, ledger.CustomerReceivables, seq, run.Month.End())
	default:
		return tx.PostedSince(ctx, run.Platform, ledger.TransitPayouts, seq, run.Month.End())
	}
}

// EachTrade calls visit for each posting on the position that is effective in an interval, with the rates of its
// time.
func EachTrade(ctx context.Context, view ports.MonthEndView, functional money.Currency, i period.Interval, rates *Rates,
	visit func(ports.PositionPosting, exchange.Trade, *exchange.Rates) error) error {
	return view.PositionPostings(ctx, functional, i, func(p ports.PositionPosting) error {
		current, err := rates.At(ctx, p.Effective)
		if err != nil {
			return err
		}
		return visitTrade(p, current, visit)
	})
}

func visitTrade(p ports.PositionPosting, rates *exchange.Rates, visit func(ports.PositionPosting, exchange.Trade,
	*exchange.Rates) error) error {
	t, err := exchange.NewTrade(exchange.OriginOf(p.Kind, p.Reversed), p.Legs, p.Own)
	if err != nil || t.IsZero() {
		return err
	}
	return visit(p, t, rates)
}

// InTransit computes the payments in transit at the end of the month of a run: those at the end of the month of
// the previous run, and what the postings with numbers up to its LastSeq have changed since, also those that were
// posted after the previous run into its month, or an earlier one. It returns the number of the last posting that it
// read. The payments are in memory.
func (r *Reader) InTransit(ctx context.Context, run, previous monthend.Run) (lines []monthend.InTransit, lastSeq int64, err error) {
	transit := monthend.Transit{}
	since := period.Interval{To: run.Month.End()}
	if previous.Exists() {
		if previous, err = r.Results.MonthEndRunOf(ctx, run.Platform, run.Kind, previous.Ref()); err != nil {
			return nil, 0, err
		}
		since.From = previous.Month.End()
		err := r.Results.PaymentsInTransit(ctx, previous, func(l monthend.InTransit) error {
			return transit.Add(monthend.TransitKey{Transaction: l.Transaction, Currency: l.Currency}, l.Amount)
		})
		if err != nil {
			return nil, 0, err
		}
	}
	err = r.Views.MonthEndView(ctx, run.Platform, run.LastSeq, func(ctx context.Context, view ports.MonthEndView) error {
		lastSeq = view.LastPosting().Seq
		if previous.Exists() {
			if err := view.LateTransitChanges(ctx, previous.LastSeq, since.From, transit.Add); err != nil {
				return err
			}
		}
		if err := view.TransitChanges(ctx, since, transit.Add); err != nil {
			return err
		}
		fees, err := view.Fees(ctx, transit.Transactions(), run.Month.End())
		lines = transit.WithFees(fees)
		return err
	})
	return lines, lastSeq, err
}
