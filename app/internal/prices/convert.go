package prices

import (
	"context"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
)

// Convert converts an amount, which is not negative, at the market rate now, and rounds up. Errors:
// SERVICE_UNAVAILABLE if there is no rate; money.ErrOverflow.
func (p *Prices) Convert(ctx context.Context, a money.Amount, to money.Currency) (money.Amount, error) {
	if a.Currency == to {
		return a, nil
	}
	market, err := p.market.Rate(ctx, a.Currency, to, p.clock.Now())
	if _, isFault := fault.As(err); isFault {
		return money.Amount{}, &fault.Error{Code: fault.ServiceUnavailable, Reason: "No market rate", RetryAfter: time.Minute,
			Message: "There is no market rate of " + string(a.Currency) + " in " + string(to) + " at the moment. Send the request again later."}
	}
	if err != nil {
		return money.Amount{}, err
	}
	minor, err := market.Rate.Ceil(a.Minor)
	return money.Amount{Minor: minor, Currency: to}, err
}
