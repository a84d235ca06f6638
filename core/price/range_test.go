package price_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/price"
)

func TestReceivingRange(t *testing.T) {
	t.Parallel()
	// The range for one dollar to a thousand dollars in satoshi, with a fee of fifty cents
	// and half a percent.
	fee := price.Fee{Fixed: 50, Percent: money.MustFraction("0.005")}
	minimum, maximum, err := price.ReceivingRange(100, 1_000_00, money.MustRate("10"), fee)
	if err != nil || minimum != 490 || maximum != 994_500 {
		t.Errorf("%d to %d, %v", minimum, maximum, err)
	}
	// If the fees take everything, nothing can be received.
	if _, _, err := price.ReceivingRange(1, 50, money.MustRate("10"), fee); !errors.Is(err, price.ErrOutOfRange) {
		t.Errorf("fees alone: %v", err)
	}
}

func TestReceivingRange_EndsCostSendingLimits(t *testing.T) {
	t.Parallel()
	// Both ends of the range, as wanted amounts, cost from the smallest to the largest
	// sending amount.
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.Int64Range(1, 1_000_000).Draw(t, "least")
		most := rapid.Int64Range(least, 1_000_000_000).Draw(t, "most")
		market := money.MustRate(rapid.SampledFrom([]string{"1", "0.00001", "0.92", "17.31", "1536.2", "0.333333333"}).Draw(t, "market"))
		fee := price.Fee{Fixed: rapid.Int64Range(0, 100).Draw(t, "fixed"),
			Percent: money.MustFraction(rapid.SampledFrom([]string{"0", "0.003", "0.05"}).Draw(t, "percent"))}

		minimum, maximum, err := price.ReceivingRange(least, most, market, fee)

		if errors.Is(err, price.ErrOutOfRange) {
			return
		}
		if err != nil || minimum < 1 || minimum > maximum {
			t.Fatalf("%d to %d, %v", minimum, maximum, err)
		}
		first, err := price.Receiving(minimum, market, fee)
		if err != nil || first.Sending < least || first.Sending > most {
			t.Fatalf("to receive %d costs %d, %v; from %d to %d may be sent", minimum, first.Sending, err, least, most)
		}
		last, err := price.Receiving(maximum, market, fee)
		if err != nil || last.Sending > most {
			t.Fatalf("to receive %d costs %d, %v; %d may be sent", maximum, last.Sending, err, most)
		}
	})
}
