package corridor

import (
	"time"

	"causeway/core/money"
)

// Terms are the conditions of a corridor: what it costs, how much may be sent at
// once, and how long a quoted rate is held. Amounts are minor sending units.
type Terms struct {
	Fee        Fee
	MinSending int64
	MaxSending int64
	Lock       time.Duration
	// MinFromPlatform and OwnMax tell that the limit is the platform's own setting for the
	// sending currency, because it is narrower than the corridor's.
	MinFromPlatform, MaxFromPlatform bool
}

// Fee is a fixed part in minor sending units and a fraction of the sending amount
// (0.005 is half a percent).
type Fee struct {
	Fixed   int64
	Percent money.Rate
}

// currencyClass groups currencies that cost the same to exchange.
type currencyClass int

const (
	fiat currencyClass = iota
	stablecoin
	bitcoin
)

func classOf(currency money.Currency) currencyClass {
	switch {
	case currency == money.BTC:
		return bitcoin
	case currency.IsCrypto():
		return stablecoin
	default:
		return fiat
	}
}

type classPair struct{ from, to currencyClass }

// baseFee is what a payment costs: a fixed part in cents' worth (hundredths of
// what one dollar is worth) and a fraction of what is sent.
type baseFee struct {
	cents   int64
	percent money.Rate
}

// baseFees are the built-in fees.
var baseFees = map[classPair]baseFee{
	{fiat, fiat}:             {50, mustFraction("0.003")},
	{fiat, stablecoin}:       {50, mustFraction("0.003")},
	{fiat, bitcoin}:          {50, mustFraction("0.005")},
	{stablecoin, fiat}:       {50, mustFraction("0.003")},
	{stablecoin, stablecoin}: {10, mustFraction("0.001")},
	{stablecoin, bitcoin}:    {10, mustFraction("0.004")},
	{bitcoin, fiat}:          {50, mustFraction("0.005")},
	{bitcoin, stablecoin}:    {10, mustFraction("0.004")},
}

// dollarStablecoinFee is the fee between the US dollar and tokens of it, where the price hardly moves.
var dollarStablecoinFee = baseFee{25, mustFraction("0.001")}

// Bounds of one payment in dollars' worth: what banks carry, and what chains do.
const (
	minDollars      = 1
	maxBankDollars  = 10_000_000
	maxChainDollars = 1_000_000
	centsPerDollar  = 100
)

// Lock times: how long a quoted rate is held.
const (
	lockChainToChain = 1 * time.Minute
	lockInstant      = 5 * time.Minute
	lockBankTransfer = 15 * time.Minute
)

// defaultTerms returns the built-in terms of a pair. The lock follows from how the
// quote is paid in: from chain to chain, at once, or by a bank transfer that takes
// its time.
func defaultTerms(from, to money.Currency, funding []Rail) Terms {
	fee := baseFees[classPair{classOf(from), classOf(to)}]
	if (from == money.USD && classOf(to) == stablecoin) || (to == money.USD && classOf(from) == stablecoin) {
		fee = dollarStablecoinFee
	}
	terms := Terms{
		Fee:        Fee{Fixed: fee.cents * minorPerDollar[from] / centsPerDollar, Percent: fee.percent},
		MinSending: minDollars * minorPerDollar[from],
		MaxSending: maxBankDollars * minorPerDollar[from],
		Lock:       lockBankTransfer,
	}
	if from.IsCrypto() || to.IsCrypto() {
		terms.MaxSending = maxChainDollars * minorPerDollar[from]
	}
	switch {
	case from.IsCrypto() && to.IsCrypto():
		terms.Lock = lockChainToChain
	case len(funding) > 0 && funding[0].IsInstant():
		terms.Lock = lockInstant
	}
	return terms
}

// mustFraction reads a constant of the tables above, once, when the program starts.
func mustFraction(text string) money.Rate {
	rate, err := money.ParseFraction(text)
	if err != nil {
		panic(err)
	}
	return rate
}

// minorPerDollar is a round number of minor units near the worth of one US dollar.
// It only sizes limits and fixed fees, so that they make sense in each currency;
// it is no exchange rate.
var minorPerDollar = map[money.Currency]int64{
	"AED": 4_00, "BRL": 5_00, "DKK": 7_00, "EUR": 1_00, "GBP": 80, "IDR": 16_000_00, "INR": 80_00,
	"KES": 130_00, "MWK": 1_750_00, "MXN": 20_00, "MYR": 4_50, "NGN": 1_500_00, "PHP": 60_00, "RWF": 1_400,
	"SGD": 1_30, "THB": 35_00, "TZS": 2_500_00, "UGX": 3_700, "USD": 1_00, "VND": 25_000, "XAF": 600, "XOF": 600,
	"ZAR": 18_00, "ZMW": 25_00,
	money.BTC: 1_000, money.USDB: 1_000_000, money.USDC: 1_000_000, money.USDT: 1_000_000,
}
