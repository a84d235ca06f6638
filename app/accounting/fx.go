package accounting

import (
	"context"
	"time"

	"causeway/app/internal/report"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/ledger"
	"causeway/ports"
)

// FXPosition is the foreign exchange position in each currency at a time, valued at the market
// rates of that time.
type FXPosition struct {
	// AsOf is the time of the positions, RatesKeptAt that at which the rates were the current ones. It
	// is zero if no rates were kept for that time; FirstRatesAt then says since when they are kept.
	AsOf, RatesKeptAt time.Time
	FirstRatesAt      time.Time
	By                ports.TimeKind
	ValuationCurrency money.Currency
	Lines             []FXLine
	// Value is the total of all lines; only valid if AllValued.
	Value     money.Total
	AllValued bool
}

// FXLine is the position in one currency: positive if the service has bought more of it than
// it has sold.
type FXLine struct {
	Currency money.Currency
	Position money.Total
	// Rate is the market rate in minor units, made at RateAt by RateSource; all zero if there is none.
	Rate       money.Rate
	RateAt     time.Time
	RateSource string
	// Value is the position at that rate, rounded towards zero; only valid if Valued.
	Value  money.Total
	Valued bool
}

// FXPosition returns the positions at the end of a cutoff's millisecond, or now if its moment
// is zero. A past time has the rates that were kept then, and no values if none were. Faults:
// INVALID_INPUT for a time in the future; INVALID_CURRENCY.
func (s *Service) FXPosition(ctx context.Context, p ident.Platform, at ports.Cutoff, in money.Currency) (FXPosition, error) {
	if err := s.checkNotFuture("at", at.Moment); err != nil {
		return FXPosition{}, err
	}
	if !in.Known() {
		return FXPosition{}, fault.New(fault.InvalidCurrency, "%.8q is not a supported currency.", string(in))
	}
	now := s.Clock.Now()
	position := FXPosition{AsOf: at.Moment, By: at.By, ValuationCurrency: in, AllValued: true}
	rates, err := s.ratesOf(ctx, &position, now)
	if err != nil {
		return FXPosition{}, err
	}
	at.Moment = endOfMillisecond(at.Moment)
	err = s.Ledger.Turnovers(ctx, p, ledger.Trading, []ports.Cutoff{at}, func(a ports.AccountTurnovers) error {
		if a.Account.Path != ledger.FXPosition {
			return nil
		}
		line := FXLine{Currency: a.Account.Currency, Position: a.Turnovers[0].Balance(a.Class)}
		position.Lines = append(position.Lines, line)
		return nil
	})
	if err != nil {
		return FXPosition{}, report.TooSlow(err, "Use by=recorded, or omit at for the current position.")
	}
	for i := range position.Lines {
		position.Lines[i].value(in, rates)
		position.AllValued = position.AllValued && position.Lines[i].Valued
		position.Value = position.Value.Add(position.Lines[i].Value)
	}
	return position, nil
}

// ratesOf returns the rates of the time of a position, which is now if it is zero, and sets its times.
func (s *Service) ratesOf(ctx context.Context, position *FXPosition, now time.Time) (price.KeptRates, error) {
	if position.AsOf.IsZero() {
		position.AsOf = now
		rates, err := s.ratesNow(ctx, now, maxCurrentAge)
		position.RatesKeptAt = rates.At
		return rates, err
	}
	moment := endOfMillisecond(position.AsOf)
	rates, err := s.KeptRates.RatesAt(ctx, moment)
	if err != nil {
		return price.KeptRates{}, err
	}
	if rates.CoverTime(moment) {
		position.RatesKeptAt = rates.At
		return rates, nil
	}
	position.FirstRatesAt, err = s.KeptRates.FirstRatesAt(ctx)
	return price.KeptRates{}, err
}

// value fills in the rate and value of a line. A line stays without a value if no rate of its currency
// was kept, or if the value exceeds an amount.
func (l *FXLine) value(in money.Currency, rates price.KeptRates) {
	if rates.At.IsZero() {
		return
	}
	kept, ok := rates.Rate(l.Currency, in)
	if !ok {
		return
	}
	l.Rate, l.RateAt, l.RateSource = kept.Rate, kept.At, kept.Source
	if l.Currency == in {
		l.Value, l.Valued = l.Position, true
		return
	}
	size := l.Position
	if size.Sign() < 0 {
		size = size.Neg()
	}
	minor, fits := size.Minor()
	if !fits {
		return
	}
	value, err := kept.Rate.Floor(minor)
	if err != nil {
		return // exceeds an amount
	}
	l.Value, l.Valued = money.TotalOf(value), true
	if l.Position.Sign() < 0 {
		l.Value = l.Value.Neg()
	}
}
