package rates_test

import (
	"context"
	"testing"
	"time"

	"causeway/adapters/rates"
	"causeway/adapters/rates/ecb"
	"causeway/adapters/rates/market"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports"
	"causeway/ports/portstest"
)

// friday is one hour after the recorded rates were published.
var friday = time.Date(2026, 3, 13, 16, 2, 0, 0, time.UTC)

func TestRatesPort(t *testing.T) {
	t.Parallel()
	for name, dollars := range map[string][]money.Currency{"tokens by the market": nil, "tokens are dollars": {"USDC", "USDT"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			joined := rates.Join(newReference(t), market.New("seed"), dollars...)
			portstest.Rates(t, joined, [][2]money.Currency{
				{"EUR", "USD"}, {"USD", "BTC"}, {"EUR", "BTC"}, {"INR", "USDC"}, {"NGN", "KES"}, {"GBP", "NGN"}, {"USDC", "USDT"},
				{"BTC", "USDC"}, {"USD", "USDC"},
			}, friday)
		})
	}
}

func TestJoined_PrefersReference(t *testing.T) {
	t.Parallel()
	// Pairs of the reference have its exact rate, pairs outside it the market's rate, and mixed
	// pairs a rate crossed over USD.
	bank, simulated := newReference(t), market.New("seed")
	joined := rates.Join(bank, simulated)

	checkRate(t, mustRate(t, joined, "GBP", "INR"), mustRate(t, bank, "GBP", "INR"))
	checkRate(t, mustRate(t, joined, "NGN", "KES"), mustRate(t, simulated, "NGN", "KES"))
	checkRate(t, mustRate(t, joined, "BTC", "NGN"), mustRate(t, simulated, "BTC", "NGN"))

	euro, bitcoin, crossed := mustRate(t, bank, "EUR", "USD"), mustRate(t, simulated, "USD", "BTC"), mustRate(t, joined, "EUR", "BTC")
	product, err := euro.Rate.Mul(bitcoin.Rate)
	if err != nil {
		t.Fatal(err)
	}
	checkRate(t, crossed, ports.MarketRate{Rate: product.TruncateSignificant(12), At: euro.At, Source: "ECB+SIMULATED"})
}

func TestJoined_DollarTokensAreOptIn(t *testing.T) {
	t.Parallel()
	// A token pegged to the dollar has the rate 1, whatever its market rate. Its time changes every
	// five minutes.
	bank, simulated := newReference(t), depeggedMarket{market.New("seed")}

	asMarket := mustRate(t, rates.Join(bank, simulated), "USDC", "USD")
	checkRate(t, asMarket, mustRate(t, simulated, "USDC", "USD"))
	joined := rates.Join(bank, simulated, "USDC")
	got := mustRate(t, joined, "USDC", "USD")
	checkRate(t, got, ports.MarketRate{Rate: money.MustRate("0.0001"), At: friday.Truncate(5 * time.Minute), Source: rates.FixedSource})
	if got.Rate == asMarket.Rate {
		t.Error("the setting makes no difference")
	}

	want, err := mustRate(t, bank, "USD", "EUR").Rate.Mul(money.MustRate("0.0001"))
	if err != nil {
		t.Fatal(err)
	}
	if got := mustRate(t, joined, "USDC", "EUR").Rate; got != want.TruncateSignificant(12) {
		t.Errorf("USDC in EUR: %s, want %s", got, want)
	}
}

func TestJoined_StaleReferenceIsNotReplacedByMarket(t *testing.T) {
	t.Parallel()
	// If the reference is too old, rates that need it are refused and the others are not.
	joined := rates.Join(newReference(t), market.New("seed"))
	late := friday.Add(30 * 24 * time.Hour)
	for pair, allowed := range map[[2]money.Currency]bool{
		{"EUR", "USD"}: false, {"EUR", "BTC"}: false, {"NGN", "EUR"}: false, {"USDC", "INR"}: false,
		{"USD", "BTC"}: true, {"NGN", "BTC"}: true, {"BTC", "USDC"}: true,
	} {
		_, err := joined.Rate(t.Context(), pair[0], pair[1], late)
		if allowed != (err == nil) || !allowed && !fault.Is(err, fault.QuoteRequestFailed) {
			t.Errorf("%s in %s: %v", pair[0], pair[1], err)
		}
	}
}

// depeggedMarket is a market on which a token is worth slightly less than a dollar.
type depeggedMarket struct{ *market.Market }

func (e depeggedMarket) Rate(ctx context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	if from == "USDC" && to == "USD" {
		return ports.MarketRate{Rate: money.MustRate("0.000099"), At: now.Truncate(time.Hour), Source: market.Source}, nil
	}
	return e.Market.Rate(ctx, from, to, now)
}

func newReference(t *testing.T) *ecb.Rates {
	t.Helper()
	bank, err := ecb.New(ecb.Options{Source: "ecb/testdata/eurofxref-daily.xml"})
	if err != nil {
		t.Fatal(err)
	}
	if err := bank.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return bank
}

func mustRate(t *testing.T, from ports.Rates, sold, bought money.Currency) ports.MarketRate {
	t.Helper()
	got, err := from.Rate(t.Context(), sold, bought, friday)
	if err != nil {
		t.Fatalf("%s in %s: %v", sold, bought, err)
	}
	return got
}

func checkRate(t *testing.T, got, want ports.MarketRate) {
	t.Helper()
	if got.Rate != want.Rate || !got.At.Equal(want.At) {
		t.Errorf("%s of %s, want %s of %s", got.Rate, got.At, want.Rate, want.At)
	}
}
