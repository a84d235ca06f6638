package money_test

import (
	"testing"

	"causeway/core/money"
)

func BenchmarkFloor(b *testing.B) {
	for name, rate := range benchRates() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rate.Floor(1_234_567); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCeilDiv(b *testing.B) {
	for name, rate := range benchRates() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rate.CeilDiv(1_234_567); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseRate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := money.ParseRate("9.87654321"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRateString(b *testing.B) {
	for name, rate := range benchRates() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = rate.String()
			}
		})
	}
}

func BenchmarkMul(b *testing.B) {
	x, y := money.MustRate("9.87654321"), money.MustRate("0.9975")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Mul(y); err != nil {
			b.Fatal(err)
		}
	}
}

// benchRates returns a rate as markets quote it, and one that uses every digit.
func benchRates() map[string]money.Rate {
	return map[string]money.Rate{
		"market": money.MustRate("9.87654321"),
		"long":   money.MustRate("3.333333333333333333333333333333333"),
	}
}
