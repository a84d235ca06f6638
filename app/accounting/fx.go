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

// FXPosition is the foreign exchange position in each currency at a time, valued at current
// market rates.
type FXPosition struct {
	// AsOf is the time of the positions, ValuedAt that of the valuation.
	AsOf, ValuedAt    time.Time
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
	// Rate is the market rate in minor units, made at RateAt; both zero if there is none.
	Rate   money.Rate
	RateAt time.Time
	// Value is the position at that rate, rounded towards zero; only valid if Valued.
	Value  money.Total
	Valued bool
}

// FXPosition returns the positions at the end of a cutoff's millisecond, or now if its moment
// is zero. Faults: INVALID_INPUT for a time in the future; INVALID_CURRENCY.
func (s *Service) FXPosition(ctx context.Context, p ident.Platform, at ports.Cutoff, in money.Currency) (FXPosition, error) {
	if err := s.checkNotFuture("at", at.Moment); err != nil {
		return FXPosition{}, err
	}
	if !in.Known() {
		return FXPosition{}, fault.New(fault.InvalidCurrency, "%.8q is not a supported currency.", string(in))
	}
	position := FXPosition{AsOf: at.Moment, ValuedAt: s.Clock.Now(), By: at.By, ValuationCurrency: in, AllValued: true}
	if at.Moment.IsZero() {
		position.AsOf = position.ValuedAt
	}
	at.Moment = endOfMillisecond(at.Moment)
	err := s.Ledger.Turnovers(ctx, p, ledger.Trading, []ports.Cutoff{at}, func(a ports.AccountTurnovers) error {
		line := FXLine{Currency: a.Account.Currency, Position: a.Turnovers[0].Balance(a.Class)}
		position.Lines = append(position.Lines, line)
		return nil
	})
	if err != nil {
		return FXPosition{}, tooSlow(err, "Use by=recorded, or omit at for the current position.")
	}
	for i := range position.Lines {
		if err := s.valueLine(ctx, &position.Lines[i], in, position.ValuedAt); err != nil {
			return FXPosition{}, err
		}
		position.AllValued = position.AllValued && position.Lines[i].Valued
		position.Value = position.Value.Add(position.Lines[i].Value)
	}
	return position, nil
}

// valueLine fills in the value of a line. A line stays without a value if the market has no
// rate for its currency, or if the value exceeds an amount.
func (s *Service) valueLine(ctx context.Context, line *FXLine, in money.Currency, now time.Time) error {
	if line.Currency == in {
		line.Rate, line.RateAt, line.Value, line.Valued = money.MustRate("1"), now, line.Position, true
		return nil
	}
	market, err := s.Market.Rate(ctx, line.Currency, in, now)
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
	value, err := market.Rate.Floor(minor)
	if err != nil {
		return nil //nolint:nilerr // exceeds an amount
	}
	line.Value, line.Valued = money.TotalOf(value), true
	if line.Position.Sign() < 0 {
		line.Value = line.Value.Neg()
	}
	return nil
}
