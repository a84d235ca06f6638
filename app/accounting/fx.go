package accounting

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// FXPosition is what the service holds for trade in each currency at a moment, and what
// that would be worth at the present market.
type FXPosition struct {
	// AsOf is the moment of the positions, Now that of the valuation.
	AsOf, ValuedAt time.Time
	By             ports.TimeKind
	// ValuationCurrency is the currency of the valuation.
	ValuationCurrency money.Currency
	Lines             []FXLine
	// Value is the sum of all lines; without a meaning unless Complete.
	Value     money.Total
	AllValued bool
}

// FXLine is the position in one currency: above zero the service has taken more of it
// than it has given.
type FXLine struct {
	Currency money.Currency
	Position money.Total
	// Rate and RateAt are the market's, in minor units; zero when it has none now.
	Rate   money.Rate
	RateAt time.Time
	// Value is the position at that rate, rounded towards zero; only where Valued.
	Value  money.Total
	Valued bool
}

// FXPosition reads the positions as they were at the end of a moment (zero: now).
// Faults: INVALID_INPUT for a moment in the future, INVALID_CURRENCY.
func (f *Service) FXPosition(ctx context.Context, p ident.Platform, at ports.Cutoff, in money.Currency) (FXPosition, error) {
	if err := f.checkNotFuture("at", at.Moment); err != nil {
		return FXPosition{}, err
	}
	if !in.Known() {
		return FXPosition{}, fault.New(fault.InvalidCurrency, "There is no currency %.8q to report in.", string(in))
	}
	made := FXPosition{AsOf: at.Moment, ValuedAt: f.Clock.Now(), By: at.By, ValuationCurrency: in, AllValued: true}
	if at.Moment.IsZero() {
		made.AsOf = made.ValuedAt
	}
	at.Moment = endOfMillisecond(at.Moment)
	err := f.Ledger.Turnovers(ctx, p, ledger.Trading, []ports.Cutoff{at}, func(a ports.AccountTurnovers) error {
		line := FXLine{Currency: a.Account.Currency, Position: a.Turnovers[0].Balance(a.Class)}
		made.Lines = append(made.Lines, line)
		return nil
	})
	if err != nil {
		return FXPosition{}, err
	}
	for i := range made.Lines {
		if err := f.valueLine(ctx, &made.Lines[i], in, made.ValuedAt); err != nil {
			return FXPosition{}, err
		}
		made.AllValued = made.AllValued && made.Lines[i].Valued
		made.Value = made.Value.Add(made.Lines[i].Value)
	}
	return made, nil
}

// valueLine fills in what a position is worth. A currency that the market does not price
// now has no worth, and neither has a position beyond any amount.
func (f *Service) valueLine(ctx context.Context, line *FXLine, in money.Currency, now time.Time) error {
	if line.Currency == in {
		line.Rate, line.RateAt, line.Value, line.Valued = money.MustRate("1"), now, line.Position, true
		return nil
	}
	market, err := f.Market.Rate(ctx, line.Currency, in, now)
	if _, refused := fault.As(err); refused {
		return nil
	}
	if err != nil {
		return err
	}
	line.Rate, line.RateAt = market.Rate, market.At
	size := line.Position
	if size.Sign() < 0 {
		size = size.Neg()
	}
	minor, fits := size.Minor()
	if !fits {
		return nil
	}
	worth, err := market.Rate.Floor(minor)
	if err != nil {
		return nil //nolint:nilerr // too large to be said
	}
	line.Value, line.Valued = money.TotalOf(worth), true
	if line.Position.Sign() < 0 {
		line.Value = line.Value.Neg()
	}
	return nil
}
