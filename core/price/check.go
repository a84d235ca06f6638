package price

import (
	"errors"
	"fmt"

	"causeway/core/money"
)

// Check returns an error unless the identities of a Price hold, and its variable fee is that of a percentage.
func (p Price) Check(percent money.Rate) error {
	if p.Fees != p.FixedFee+p.VariableFee {
		return fmt.Errorf("the fees are %d, and their parts %d and %d", p.Fees, p.FixedFee, p.VariableFee)
	}
	_, variable, err := (Fee{Fixed: p.FixedFee, Percent: percent}).split(p.Sending)
	if err != nil || variable != p.VariableFee {
		return fmt.Errorf("the variable fee is %d, and its percentage gives %d", p.VariableFee, variable)
	}
	if received, err := p.Rate.Floor(p.Sending - p.Fees); err != nil || received != p.Receiving {
		return fmt.Errorf("%d is received, and the rate gives %d", p.Receiving, received)
	}
	if converted, err := p.Market.Floor(p.ConvertedSending()); err != nil || converted != p.ConvertedReceiving() {
		return fmt.Errorf("%d is converted, and the market rate gives %d", p.ConvertedReceiving(), converted)
	}
	if p.ConvertedSending() < 1 || p.RoundingSending < 0 || p.RoundingReceiving < 0 || p.FixedFee < 0 {
		return errors.New("an amount is below zero")
	}
	return nil
}
