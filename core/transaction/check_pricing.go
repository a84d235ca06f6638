package transaction

import (
	"errors"
	"fmt"

	"causeway/core/price"
)

// check returns an error unless the amounts of a quote are those of its rates and fees.
func (p Pricing) check() error {
	priced := price.Price{Sending: p.Sent.Minor, Fees: p.Fees, FixedFee: p.FixedFee, VariableFee: p.VariableFee, Receiving: p.Received.Minor,
		Rate: p.Rate, Market: p.Market, RoundingSending: p.RoundingSent, RoundingReceiving: p.RoundingReceived}
	if err := priced.Check(p.FeeRate); err != nil {
		return fmt.Errorf("its quote: %w", err)
	}
	if p.Sent.Currency == p.Received.Currency && (p.Rate != parRate || p.RoundingSent != 0 || p.RoundingReceived != 0) {
		return errors.New("its quote: it converts nothing, and its rate is not 1")
	}
	return nil
}
