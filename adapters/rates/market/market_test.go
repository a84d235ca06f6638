package market_test

import (
	"testing"
	"time"

	"causeway/adapters/rates/market"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestMarket_SameSeedSamePrice(t *testing.T) {
	t.Parallel()
	// Two markets with the same seed always agree; one with another seed differs.
	first, second, other := market.New("seed"), market.New("seed"), market.New("other")
	differs := false
	for i := range 50 {
		now := noon.Add(time.Duration(i) * 7 * time.Minute)
		a, errA := first.Rate(t.Context(), "USD", "BTC", now)
		b, errB := second.Rate(t.Context(), "USD", "BTC", now)
		c, errC := other.Rate(t.Context(), "USD", "BTC", now)
		if errA != nil || errB != nil || errC != nil {
			t.Fatal(errA, errB, errC)
		}
		if a.Rate.Cmp(b.Rate) != 0 || !a.At.Equal(b.At) {
			t.Fatalf("at %s the prices are %s and %s", now, a.Rate, b.Rate)
		}
		differs = differs || a.Rate.Cmp(c.Rate) != 0
	}
	if !differs {
		t.Fatal("the seed has no effect")
	}
}

func TestMarket_PricesStayWithinOnePercent(t *testing.T) {
	t.Parallel()
	// Over a day a dollar buys from 990 to 1011 satoshi (100,000 USD per bitcoin, within one
	// percent), the price changes, and no rate is older than five minutes.
	m, low, high := market.New("seed"), money.MustRate("9.9"), money.MustRate("10.11")
	seen := map[string]bool{}
	for at := noon; at.Before(noon.Add(24 * time.Hour)); at = at.Add(time.Minute) {
		got, err := m.Rate(t.Context(), "USD", "BTC", at)
		if err != nil {
			t.Fatal(err)
		}
		if got.Rate.Cmp(low) < 0 || got.Rate.Cmp(high) > 0 {
			t.Fatalf("at %s a cent buys %s satoshi", at, got.Rate)
		}
		if age := at.Sub(got.At); age < 0 || age >= market.Lifetime {
			t.Fatalf("the rate is %s old", age)
		}
		seen[got.Rate.String()] = true
	}
	if len(seen) < 100 {
		t.Fatalf("only %d different prices in a day", len(seen))
	}
}

func TestMarket_PricesEveryCurrency(t *testing.T) {
	t.Parallel()
	// Every supported currency has a price in US dollars.
	m := market.New("seed")
	for _, c := range money.Currencies() {
		if _, err := m.Rate(t.Context(), c, "USD", noon); err != nil {
			t.Errorf("%s to USD: %v", c, err)
		}
		if _, err := m.Rate(t.Context(), "USD", c, noon); err != nil {
			t.Errorf("USD to %s: %v", c, err)
		}
	}
}

func TestMarket_RejectsUnknownCurrency(t *testing.T) {
	t.Parallel()
	// A currency without a price is an INVALID_CURRENCY error.
	_, err := market.New("seed").Rate(t.Context(), "XXX", "USD", noon)
	if !fault.Is(err, fault.InvalidCurrency) {
		t.Fatalf("got %v, want INVALID_CURRENCY", err)
	}
}

func TestRatesPort(t *testing.T) {
	t.Parallel()
	portstest.Rates(t, market.New("seed"), [][2]money.Currency{{"USD", "BTC"}, {"USDC", "USD"}, {"EUR", "VND"}}, noon)
}
