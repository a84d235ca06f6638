package price

import (
	"errors"
	"fmt"

	"causeway/core/money"
)

// Fee is the fee of a conversion, deducted from the sending amount.
type Fee struct {
	// Fixed is in minor units of the sending currency; zero or more.
	Fixed int64
	// Percent is a fraction of the full sending amount, from 0 to 1, with at most 34
	// decimals: 0.003 is 0.3 percent.
	Percent money.Rate
}

// ErrInvalidFee is the error for a fee below zero, above the full amount, or with too many
// decimals.
var ErrInvalidFee = errors.New("not a usable fee")

func (f Fee) check() error {
	if f.Fixed < 0 {
		return fmt.Errorf("%w: %d is below zero", ErrInvalidFee, f.Fixed)
	}
	if _, err := f.Percent.Complement(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidFee, err)
	}
	return nil
}

// PlusPlatform returns the fee of the service and that of a platform as one. The percentages are added before the fee of a total is
// rounded up; so what the platform has of it, all less the part Of the service, is never below zero. Error: ErrInvalidFee, also if
// both are together more than the full amount.
func (f Fee) PlusPlatform(fixed, basisPoints int64) (Fee, error) {
	sum, err := money.AddMinor(f.Fixed, fixed)
	if err != nil {
		return Fee{}, fmt.Errorf("%w: %w", ErrInvalidFee, err)
	}
	percent, err := money.BasisPoints(basisPoints)
	if err == nil {
		percent, err = f.Percent.Plus(percent)
	}
	if err != nil {
		return Fee{}, fmt.Errorf("%w: %w", ErrInvalidFee, err)
	}
	all := Fee{Fixed: sum, Percent: percent}
	return all, all.check()
}

// Of returns the two parts of the fee on a total.
func (f Fee) Of(total int64) (fixed, variable int64, err error) { return f.split(total) }

// split returns the two parts of the fee on a total. If they exceed the total, the fixed part
// comes first and the variable part is the rest.
func (f Fee) split(total int64) (fixed, variable int64, err error) {
	fixed = min(f.Fixed, total)
	variable, err = f.Percent.Ceil(total)
	if err != nil {
		return 0, 0, err
	}
	return fixed, min(variable, total-fixed), nil
}

// grossUp returns the smallest total that leaves net after the fee.
//
// A total t leaves t - Fixed - ceil(t × Percent) = floor(t × (1 - Percent)) - Fixed, which
// grows by at most one with each unit of t. So the smallest t that leaves net or more leaves
// net exactly, and it is ceil((net + Fixed) / (1 - Percent)).
func (f Fee) grossUp(net int64) (int64, error) {
	remainder, err := f.Percent.Complement()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrInvalidFee, err)
	}
	if remainder.IsZero() {
		return 0, ErrNothingLeft
	}
	beforePercent, err := money.AddMinor(net, f.Fixed)
	if err != nil {
		return 0, fmt.Errorf("%w (%w)", ErrCostsTooMuch, err)
	}
	total, err := remainder.CeilDiv(beforePercent)
	if err != nil {
		return 0, fmt.Errorf("%w (%w)", ErrCostsTooMuch, err)
	}
	if total > money.MaxMinor {
		return 0, ErrCostsTooMuch
	}
	return total, nil
}
