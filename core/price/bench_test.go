package price_test

import (
	"testing"

	"causeway/core/money"
	"causeway/core/price"
)

func BenchmarkSending(b *testing.B)   { benchmark(b, price.Sending) }
func BenchmarkReceiving(b *testing.B) { benchmark(b, price.Receiving) }

func benchmark(b *testing.B, priced func(int64, money.Rate, price.Fee) (price.Price, error)) {
	fee := price.Fee{Fixed: 50, Percent: money.MustFraction("0.003")}
	for _, c := range []struct {
		name   string
		amount int64
		market money.Rate
	}{
		{"dollars to satoshi", 1_234_567, money.MustRate("9.87654321")},
		{"satoshi to cents", 1_234_567, money.MustRate("0.101249")},
		{"a rate of 34 digits", 1_234_567, money.MustRate("3.333333333333333333333333333333333")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := priced(c.amount, c.market, fee); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
