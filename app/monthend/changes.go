package monthend

import (
	"context"
	"maps"
	"math"
	"time"

	runs "causeway/app/internal/monthend"
	"causeway/app/internal/uow"
	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ports"
)

// PositionChanges explain how the value of the position changed between two times.
type PositionChanges struct {
	From, To time.Time
	Currency money.Currency
	// FromRatesKeptAt and ToRatesKeptAt are the times of the rates at both ends.
	FromRatesKeptAt, ToRatesKeptAt time.Time
	monthend.Changes
}

// Changes explains how the value of the position changed between the ends of the milliseconds of two times, in
// any currency, as if it were the functional one. Fault: INVALID_INPUT for times that are not in order, in the future, or without kept
// rates.
func (s *Service) Changes(ctx context.Context, p ident.Platform, from, to time.Time, in money.Currency) (c PositionChanges, err error) {
	if !in.Known() {
		return c, fault.New(fault.InvalidCurrency, "%.8q is not a supported currency.", string(in))
	}
	if err := s.checkTimes(ctx, from, to); err != nil {
		return c, err
	}
	from, to = endOfMillisecond(from), endOfMillisecond(to)
	c = PositionChanges{From: from, To: to, Currency: in}
	reader := s.reader()
	err = uow.Repeat(func() error {
		return s.Views.MonthEndView(ctx, p, math.MaxInt64, func(ctx context.Context, view ports.MonthEndView) error {
			opening, err := positionsAt(ctx, view, in, from)
			if err != nil {
				return err
			}
			rates, err := reader.RatesFrom(ctx, in, from)
			if err != nil {
				return err
			}
			c.FromRatesKeptAt = rates.Current().KeptAt()
			explanation, err := exchange.Explain(in, opening, rates.Current())
			if err != nil {
				return err
			}
			after := period.Interval{From: from.Add(time.Microsecond), To: to.Add(time.Microsecond)}
			err = runs.EachTrade(ctx, view, in, after, rates, func(_ ports.PositionPosting, t exchange.Trade, rates *exchange.Rates) error {
				return explanation.Trade(t, rates)
			})
			if err != nil {
				return err
			}
			closing, err := rates.At(ctx, to)
			if err != nil {
				return err
			}
			if err := explanation.Rates(closing); err != nil {
				return err
			}
			c.ToRatesKeptAt, c.Changes = closing.KeptAt(), monthend.ChangesOf(explanation)
			// A posting may have been added before a time whose positions were read.
			again, err := positionsAt(ctx, view, in, from)
			if err == nil && !maps.Equal(again, opening) {
				return uow.ErrChanged
			}
			return err
		})
	})
	return c, amountFault(err)
}

// positionsAt returns the position in each currency at a time.
func positionsAt(ctx context.Context, view ports.MonthEndView, in money.Currency, at time.Time) (map[money.Currency]int64, error) {
	positions, err := view.Positions(ctx, in, at)
	if err != nil {
		return nil, err
	}
	return positions.Total()
}

func (s *Service) checkTimes(ctx context.Context, from, to time.Time) error {
	var bad []fault.Field
	if to.After(s.Clock.Now()) {
		bad = append(bad, fault.Field{Field: "to", Message: "must not be in the future"})
	}
	if !from.Before(to) {
		bad = append(bad, fault.Field{Field: "to", Message: "must be after from"})
	}
	for _, at := range []struct {
		field string
		time  time.Time
	}{{"from", from}, {"to", to}} {
		rates, err := s.KeptRates.RatesAt(ctx, endOfMillisecond(at.time))
		if err != nil {
			return err
		}
		if !rates.CoverTime(endOfMillisecond(at.time)) {
			first, err := s.KeptRates.FirstRatesAt(ctx)
			if err != nil {
				return err
			}
			message := "must have market rates: none are kept yet"
			if !first.IsZero() {
				message = "must have market rates of the 24 hours before; the first ones were kept at " + first.Format(time.RFC3339)
			}
			bad = append(bad, fault.Field{Field: at.field, Message: message})
		}
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// endOfMillisecond returns the last stored time in the millisecond of t: clients write times in milliseconds.
func endOfMillisecond(t time.Time) time.Time {
	return t.UTC().Truncate(time.Millisecond).Add(time.Millisecond - time.Microsecond)
}
