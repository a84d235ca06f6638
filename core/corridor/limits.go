package corridor

import (
	"fmt"

	"causeway/core/fault"
	"causeway/core/money"
)

// Limits are a platform's minimum and maximum of one payment in a sending currency, in minor
// units.
type Limits struct{ Min, Max int64 }

// WithLimits returns the terms with a platform's limits for the sending currency applied. They
// can only narrow the limits of the corridor.
func (t Terms) WithLimits(own Limits) Terms {
	if own.Min > t.MinSending {
		t.MinSending, t.MinFromPlatform = own.Min, true
	}
	if own.Max < t.MaxSending {
		t.MaxSending, t.MaxFromPlatform = own.Max, true
	}
	return t
}

// CheckAmount returns AMOUNT_OUT_OF_RANGE if the amount is outside the limits, with both
// limits and, as its reason, which one was exceeded and who set it.
func (t Terms) CheckAmount(sending money.Amount) error {
	limit := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: sending.Currency} }
	message := fmt.Sprintf("The amount to send is %s; it must be between %s and %s.", sending, limit(t.MinSending), limit(t.MaxSending))
	var reason string
	var own bool
	switch {
	case t.MinSending > t.MaxSending:
		own = t.MinFromPlatform || t.MaxFromPlatform
		reason = "No amount can be sent"
		message = fmt.Sprintf("Nothing can be sent: the minimum of %s is above the maximum of %s.", limit(t.MinSending), limit(t.MaxSending))
	case sending.Minor < t.MinSending:
		own, reason = t.MinFromPlatform, "Below the minimum of "+limitOwner(t.MinFromPlatform)
	case sending.Minor > t.MaxSending:
		own, reason = t.MaxFromPlatform, "Above the maximum of "+limitOwner(t.MaxFromPlatform)
	default:
		return nil
	}
	if own {
		message += fmt.Sprintf(" The limit is your own setting for %s, supportedCurrencies of PATCH /config.", sending.Currency)
	}
	return &fault.Error{
		Code: fault.AmountOutOfRange, Message: message, Reason: reason,
		Details: map[string]any{
			"currency": string(sending.Currency), "amount": sending.Minor,
			"minAmount": t.MinSending, "maxAmount": t.MaxSending,
		},
	}
}

func limitOwner(own bool) string {
	if own {
		return "the platform"
	}
	return "the corridor"
}
