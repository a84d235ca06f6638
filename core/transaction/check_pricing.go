package transaction

import (
	"errors"
	"fmt"

	"causeway/core/price"
)

// check returns an error unless the amounts of a quote are those of its rates and fees.
func (p Pricing) check() error {
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
	if err != nil || fixed != p.FixedFee || variable != p.VariableFee || p.PlatformFees != p.Fees-fixed-variable {
		return fmt.Errorf("its quote: the fees of %d are %d and %d of the service and %d of the platform, whose percentages give others",
			p.Fees, p.FixedFee, p.VariableFee, p.PlatformFees)
	}
	if p.Sent.Currency == p.Received.Currency && (p.Rate != parRate || p.RoundingSent != 0 || p.RoundingReceived != 0) {
		return errors.New("its quote: it converts nothing, and its rate is not 1")
	}
	return nil
}
