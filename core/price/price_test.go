package price_test

import (
	"errors"
	"math"
	"testing"

	"causeway/core/money"
	"causeway/core/price"
)

func TestPrice_WorkedExamples(t *testing.T) {
	t.Parallel()
	// Prices that can be checked by hand, one for each case of rounding.
	for _, c := range []struct {
		name   string
		price  func(int64, money.Rate, price.Fee) (price.Price, error)
		amount int64
		market string
		fee    price.Fee
		want   price.Price
	}{
		{
			name:  "100.50 USD with a fee of 0.50 buy 0.00100000 BTC at 10 satoshi a cent",
			price: price.Sending, amount: 10050, market: "10", fee: price.Fee{Fixed: 50},
			want: price.Price{Sending: 10050, Fees: 50, FixedFee: 50, Receiving: 100000, Rate: rate("10")},
		},
		{
			name:  "0.00100000 BTC cost 100.50 USD, the reverse of the first",
			price: price.Receiving, amount: 100000, market: "10", fee: price.Fee{Fixed: 50},
			want: price.Price{Sending: 10050, Fees: 50, FixedFee: 50, Receiving: 100000, Rate: rate("10")},
		},
		{
			name:  "1000.00 USD with a fee of 5.00 buy 915.40 EUR",
			price: price.Sending, amount: 100000, market: "0.92", fee: price.Fee{Fixed: 500},
			want: price.Price{Sending: 100000, Fees: 500, FixedFee: 500, Receiving: 91540, Rate: rate("0.92")},
		},
		{
			// 0.3 % of 12345678 is 37037.034, so 37038; 12208640 left; 1220.864 cents,
			// of which 1220 take 12200000.
			name:  "12.345678 USDC buy 12.20 USD, and 0.008640 USDC buy nothing",
			price: price.Sending, amount: 12_345_678, market: "0.0001", fee: price.Fee{Fixed: 100_000, Percent: fraction("0.003")},
			want: price.Price{Sending: 12_345_678, Fees: 137_038, FixedFee: 100_000, VariableFee: 37_038,
				Receiving: 1220, Rate: rate("0.0001"), RoundingSending: 8640},
		},
		{
			// 12200000 + 100000 before percent; / 0.997 = 12337011.03, so 12337012.
			name:  "12.20 USD cost 12.337012 USDC, without a remainder",
			price: price.Receiving, amount: 1220, market: "0.0001", fee: price.Fee{Fixed: 100_000, Percent: fraction("0.003")},
			want: price.Price{Sending: 12_337_012, Fees: 137_012, FixedFee: 100_000, VariableFee: 37_012,
				Receiving: 1220, Rate: rate("0.0001")},
		},
		{
			name:  "997.00 received at one to one with 0.3 % cost 1000.00",
			price: price.Receiving, amount: 99_700, market: "1", fee: price.Fee{Percent: fraction("0.003")},
			want: price.Price{Sending: 100_000, Fees: 300, VariableFee: 300, Receiving: 99_700, Rate: rate("1")},
		},
		{
			name:  "100.00 USD with 1 % buy 14850 JPY at 1.5 a cent",
			price: price.Sending, amount: 10_000, market: "1.5", fee: price.Fee{Percent: fraction("0.01")},
			want: price.Price{Sending: 10_000, Fees: 100, VariableFee: 100, Receiving: 14_850, Rate: rate("1.5")},
		},
		{
			// 14851 / 1.5 = 9900.67, so 9901, which yields 14851.5: the market's rate fits.
			// 9901 / 0.99 = 10001.01, so 10002, of which 100.02 are the fee, so 101.
			name:  "14851 JPY cost 100.02 USD",
			price: price.Receiving, amount: 14_851, market: "1.5", fee: price.Fee{Percent: fraction("0.01")},
			want: price.Price{Sending: 10_002, Fees: 101, VariableFee: 101, Receiving: 14_851, Rate: rate("1.5")},
		},
		{
			// 1000000 / 254.005 = 3936.93, so 3937, which yields 1000017.7.
			// 254.001 × 3937 = 1000001.9 is still too much, 254.0006 × 3937 = 1000000.4 is not.
			name:  "1000000 VND cost 39.37 USD, which buy 17 VND too many",
			price: price.Receiving, amount: 1_000_000, market: "254.005",
			want: price.Price{Sending: 3937, Receiving: 1_000_000, Rate: rate("254.0006"), Market: rate("254.005"), RoundingReceiving: 17},
		},
		{
			// 100010 satoshi for 10001 cents; 9.9995 is below 100005 / 10001, 9.9996 yields 100005.9996.
			name:  "100005 satoshi cost 100.01 USD, which buy 5 satoshi too many",
			price: price.Receiving, amount: 100_005, market: "10",
			want: price.Price{Sending: 10_001, Receiving: 100_005, Rate: rate("9.9996"), Market: rate("10"), RoundingReceiving: 5},
		},
		{
			name:  "1 satoshi costs a cent, which buys 9 satoshi too many",
			price: price.Receiving, amount: 1, market: "10",
			want: price.Price{Sending: 1, Receiving: 1, Rate: rate("1"), Market: rate("10"), RoundingReceiving: 9},
		},
		{
			// 1000100 × 0.00394 = 3940.394, and 3940 cents take 1000000 dong.
			name:  "1000100 VND buy 39.40 USD, and 100 VND buy nothing",
			price: price.Sending, amount: 1_000_100, market: "0.00394",
			want: price.Price{Sending: 1_000_100, Receiving: 3940, Rate: rate("0.00394"), RoundingSending: 100},
		},
		{
			name:  "1000 JPY with a fee of 10 buy 9009 KRW, neither with decimals",
			price: price.Sending, amount: 1000, market: "9.1", fee: price.Fee{Fixed: 10},
			want: price.Price{Sending: 1000, Fees: 10, FixedFee: 10, Receiving: 9009, Rate: rate("9.1")},
		},
		{
			name:  "the largest amount is converted in full",
			price: price.Sending, amount: money.MaxMinor, market: "1",
			want: price.Price{Sending: money.MaxMinor, Receiving: money.MaxMinor, Rate: rate("1")},
		},
		{
			// 9·10^15 / 7 is not an integer: the next, 1285714285714286, yields 2 too many.
			// With 14 places the lowest rate that reaches is 7 itself; with 15 it is
			// 7 - 10^-15, which takes 1.29 off those 2.
			name:  "the largest amount can be received although the market yields more",
			price: price.Receiving, amount: money.MaxMinor, market: "7",
			want: price.Price{Sending: 1_285_714_285_714_286, Receiving: money.MaxMinor,
				Rate: rate("6.999999999999999"), Market: rate("7"), RoundingReceiving: 2},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.want.Market.IsZero() {
				c.want.Market = c.want.Rate
			}
			got, err := c.price(c.amount, rate(c.market), c.fee)
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got  %+v\nat %s\nwant %+v\nat %s", got, got.Rate, c.want, c.want.Rate)
			}
		})
	}
}

func TestPrice_RejectsUnpriceableAmounts(t *testing.T) {
	t.Parallel()
	// An amount without a price is refused with the error of its reason. An error that another
	// amount would avoid is also ErrOutOfRange.
	sending, receiving := price.Sending, price.Receiving
	for _, c := range []struct {
		name   string
		price  func(int64, money.Rate, price.Fee) (price.Price, error)
		amount int64
		market string
		fee    price.Fee
		want   error
	}{
		{"nothing", sending, 0, "1", price.Fee{}, price.ErrTooSmall},
		{"less than nothing", sending, -1, "1", price.Fee{}, price.ErrTooSmall},
		{"far less than nothing", sending, math.MinInt64, "1", price.Fee{}, price.ErrTooSmall},
		{"nothing wanted", receiving, 0, "1", price.Fee{}, price.ErrTooSmall},
		{"less than nothing wanted", receiving, -1, "1", price.Fee{}, price.ErrTooSmall},
		{"more than the largest", sending, money.MaxMinor + 1, "1", price.Fee{}, price.ErrTooLarge},
		{"more than the largest wanted", receiving, money.MaxMinor + 1, "1", price.Fee{}, price.ErrTooLarge},
		{"far more than the largest wanted", receiving, math.MaxInt64, "1", price.Fee{}, price.ErrTooLarge},
		{"all of it is the fixed fee", sending, 50, "1", price.Fee{Fixed: 50}, price.ErrNothingLeft},
		{"less than the fixed fee", sending, 49, "1", price.Fee{Fixed: 50}, price.ErrNothingLeft},
		{"all of it is the fee in percent", sending, 1, "1", price.Fee{Percent: fraction("0.001")}, price.ErrNothingLeft},
		{"both fees together", sending, 51, "1", price.Fee{Fixed: 50, Percent: fraction("0.001")}, price.ErrNothingLeft},
		{"a fee of everything", sending, 1000, "1", price.Fee{Percent: fraction("1")}, price.ErrNothingLeft},
		{"a fee of everything wanted", receiving, 1000, "1", price.Fee{Percent: fraction("1")}, price.ErrNothingLeft},
		{"a fee larger than any amount", sending, money.MaxMinor, "1", price.Fee{Fixed: math.MaxInt64}, price.ErrNothingLeft},
		{"too little to buy one unit", sending, 9999, "0.0001", price.Fee{}, price.ErrBuysNothing},
		{"buys too much", sending, money.MaxMinor, "1.1", price.Fee{}, price.ErrBuysTooMuch},
		{"buys more than can be counted", sending, money.MaxMinor, "1e33", price.Fee{}, price.ErrBuysTooMuch},
		{"the smallest payment buys too much", receiving, 1, "1e17", price.Fee{}, price.ErrBuysTooMuch},
		{"the smallest payment buys more than can be counted", receiving, 1, "1e33", price.Fee{}, price.ErrBuysTooMuch},
		{"costs too much", receiving, money.MaxMinor, "0.5", price.Fee{}, price.ErrCostsTooMuch},
		{"costs more than can be counted", receiving, 1, "1e-62", price.Fee{}, price.ErrCostsTooMuch},
		{"costs too much with the fixed fee", receiving, money.MaxMinor, "1", price.Fee{Fixed: 1}, price.ErrCostsTooMuch},
		{"costs more than can be counted with the fixed fee", receiving, money.MaxMinor, "1", price.Fee{Fixed: math.MaxInt64},
			price.ErrCostsTooMuch},
		{"costs too much with the fee in percent", receiving, money.MaxMinor, "1", price.Fee{Percent: fraction("1e-16")}, price.ErrCostsTooMuch},
		{"costs more than can be counted with the fee in percent", receiving, money.MaxMinor, "1", price.Fee{Percent: fraction("0.9999999999")},
			price.ErrCostsTooMuch},
		{"a fixed fee below zero", sending, 100, "1", price.Fee{Fixed: -1}, price.ErrInvalidFee},
		{"a fixed fee below zero, other side", receiving, 100, "1", price.Fee{Fixed: -1}, price.ErrInvalidFee},
		{"a fee of more than everything", sending, 100, "1", price.Fee{Percent: rate("1.01")}, price.ErrInvalidFee},
		{"a fee with too many places", receiving, 100, "1", price.Fee{Percent: rate("1e-35")}, price.ErrInvalidFee},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.price(c.amount, rate(c.market), c.fee)
			if !errors.Is(err, c.want) || got != (price.Price{}) {
				t.Fatalf("%+v, %v; want %v", got, err, c.want)
			}
			if outOfRange := !errors.Is(c.want, price.ErrInvalidFee); errors.Is(err, price.ErrOutOfRange) != outOfRange {
				t.Errorf("%v is ErrOutOfRange: %v, want %v", err, !outOfRange, outOfRange)
			}
		})
	}
}

func TestPrice_ZeroMarketRateIsInvalid(t *testing.T) {
	t.Parallel()
	// A market rate of zero is an error of the rate, not of the amount.
	for name, priced := range map[string]func(int64, money.Rate, price.Fee) (price.Price, error){
		"Sending": price.Sending, "Receiving": price.Receiving,
	} {
		if got, err := priced(100, money.Rate{}, price.Fee{}); !errors.Is(err, money.ErrInvalidRate) || errors.Is(err, price.ErrOutOfRange) {
			t.Errorf("%s: %+v, %v; want only money.ErrInvalidRate", name, got, err)
		}
	}
}

func TestFee_AmountFor(t *testing.T) {
	t.Parallel()
	// A fee is the fixed part plus the percentage rounded up, but never more than the total.
	for _, c := range []struct {
		fee   price.Fee
		total int64
		want  int64
	}{
		{price.Fee{}, 100, 0},
		{price.Fee{Fixed: 50}, 10050, 50},
		{price.Fee{Percent: fraction("0.003")}, 100_000, 300},
		{price.Fee{Percent: fraction("0.003")}, 100_001, 301},
		{price.Fee{Percent: fraction("0.003")}, 1, 1},
		{price.Fee{Fixed: 50, Percent: fraction("0.01")}, 1000, 60},
		{price.Fee{Fixed: 50, Percent: fraction("0.5")}, 60, 60},
		{price.Fee{Fixed: 50}, 49, 49},
		{price.Fee{Fixed: math.MaxInt64, Percent: fraction("1")}, 7, 7},
		{price.Fee{Percent: fraction("1")}, money.MaxMinor, money.MaxMinor},
	} {
		if got, err := c.fee.AmountFor(c.total); err != nil || got != c.want {
			t.Errorf("fee of %d + %s on %d = %d, %v; want %d", c.fee.Fixed, c.fee.Percent, c.total, got, err, c.want)
		}
	}
	for total, want := range map[int64]error{0: price.ErrTooSmall, -5: price.ErrTooSmall, money.MaxMinor + 1: price.ErrTooLarge} {
		if got, err := (price.Fee{}).AmountFor(total); !errors.Is(err, want) {
			t.Errorf("fee on %d = %d, %v; want %v", total, got, err, want)
		}
	}
	if got, err := (price.Fee{Fixed: -1}).AmountFor(10); !errors.Is(err, price.ErrInvalidFee) {
		t.Errorf("a fee below zero = %d, %v; want ErrInvalidFee", got, err)
	}
}

func rate(text string) money.Rate { return money.MustRate(text) }

func fraction(text string) money.Rate { return money.MustFraction(text) }
