package transaction

import (
	"errors"
	"fmt"

	"causeway/core/price"
)

// check returns an error unless the amounts of a quote are those of its rates and fees.
func (p Pricing) check() error {
	if p.Fees != p.FixedFee+p.VariableFee+p.PlatformFees {
		return fmt.Errorf("its quote: the fees are %d, and their parts %d, %d and %d of the platform", p.Fees, p.FixedFee, p.VariableFee,
			p.PlatformFees)
	}
	service := price.Fee{Fixed: p.FixedFee, Percent: p.FeeRate}
	all, err := service.PlusPlatform(p.PlatformFixedFee, p.PlatformFeeBps)
	if err != nil {
		return fmt.Errorf("its quote: %w", err)
	}
	priced := price.Price{Sending: p.Sent.Minor, Fees: p.Fees, FixedFee: all.Fixed, VariableFee: p.Fees - all.Fixed,
		Receiving: p.Received.Minor, Rate: p.Rate, Market: p.Market, RoundingSending: p.RoundingSent, RoundingReceiving: p.RoundingReceived}
	if err := priced.Check(all.Percent); err != nil {
		return fmt.Errorf("its quote: %w", err)
	}
	fixed, variable, err := service.Of(p.Sent.Minor)
	if err != nil || fixed != p.FixedFee || variable != p.VariableFee {
		return fmt.Errorf("its quote: the variable fee of the service is %d, and its percentage gives %d", p.VariableFee, variable)
	}
	if p.Sent.Currency == p.Received.Currency && (p.Rate != parRate || p.RoundingSent != 0 || p.RoundingReceived != 0) {
		return errors.New("its quote: it converts nothing, and its rate is not 1")
	}
	return nil
}
