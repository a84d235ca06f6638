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
	// OwnMin and OwnMax tell that the limit is the platform's own setting for the
	// sending currency, because it is narrower than the corridor's.
	OwnMin, OwnMax bool
}

// Fee is a fixed part in minor sending units and a fraction of the sending amount
// (0.005 is half a percent).
type Fee struct {
	Fixed   int64
	Percent money.Rate
}

// class groups currencies that cost the same to exchange.
type class int

const (
	fiat class = iota
	dollarToken
	bitcoin
)

func classOf(currency money.Currency) class {
	switch {
	case currency == money.BTC:
		return bitcoin
	case currency.Crypto():
		return dollarToken
	default:
		return fiat
	}
}

type classes struct{ from, to class }

// tariff is what a payment costs: a fixed part in cents' worth (hundredths of
// what one dollar is worth) and a fraction of what is sent.
type tariff struct {
	cents   int64
	percent money.Rate
}

// tariffs are the built-in fees.
var tariffs = map[classes]tariff{
	{fiat, fiat}:               {50, fraction("0.003")},
	{fiat, dollarToken}:        {50, fraction("0.003")},
	{fiat, bitcoin}:            {50, fraction("0.005")},
	{dollarToken, fiat}:        {50, fraction("0.003")},
	{dollarToken, dollarToken}: {10, fraction("0.001")},
	{dollarToken, bitcoin}:     {10, fraction("0.004")},
	{bitcoin, fiat}:            {50, fraction("0.005")},
	{bitcoin, dollarToken}:     {10, fraction("0.004")},
}

// dollars is the fee between the US dollar and tokens of it, where the price hardly moves.
var dollars = tariff{25, fraction("0.001")}

// Bounds of one payment in dollars' worth: what banks carry, and what chains do.
const (
	leastDollars     = 1
	mostBankDollars  = 10_000_000
	mostChainDollars = 1_000_000
	centsInOneDollar = 100
)

// Lock times: how long a quoted rate is held.
const (
	lockChainToChain = 1 * time.Minute
	lockInstant      = 5 * time.Minute
	lockBankTransfer = 15 * time.Minute
)

// defaultTerms are the built-in terms of a pair. The lock follows from how the
// quote is paid in: from chain to chain, at once, or by a bank transfer that takes
// its time.
func defaultTerms(from, to money.Currency, funding []Rail) Terms {
	fee := tariffs[classes{classOf(from), classOf(to)}]
	if (from == money.USD && classOf(to) == dollarToken) || (to == money.USD && classOf(from) == dollarToken) {
		fee = dollars
	}
	terms := Terms{
		Fee:        Fee{Fixed: fee.cents * dollarsWorth[from] / centsInOneDollar, Percent: fee.percent},
		MinSending: leastDollars * dollarsWorth[from],
		MaxSending: mostBankDollars * dollarsWorth[from],
		Lock:       lockBankTransfer,
	}
	if from.Crypto() || to.Crypto() {
		terms.MaxSending = mostChainDollars * dollarsWorth[from]
	}
	switch {
	case from.Crypto() && to.Crypto():
		terms.Lock = lockChainToChain
	case len(funding) > 0 && funding[0].Instant():
		terms.Lock = lockInstant
	}
	return terms
}

// fraction reads a constant of the tables above, once, when the program starts.
func fraction(text string) money.Rate {
	rate, err := money.ParseFraction(text)
	if err != nil {
		panic(err)
	}
	return rate
}

// dollarsWorth is a round number of minor units near the worth of one US dollar.
// It only sizes limits and fixed fees, so that they make sense in each currency;
// it is no exchange rate.
var dollarsWorth = map[money.Currency]int64{
	"AED": 4_00, "BRL": 5_00, "DKK": 7_00, "EUR": 1_00, "GBP": 80, "IDR": 16_000_00, "INR": 80_00,
	"KES": 130_00, "MWK": 1_750_00, "MXN": 20_00, "MYR": 4_50, "NGN": 1_500_00, "PHP": 60_00, "RWF": 1_400,
	"SGD": 1_30, "THB": 35_00, "TZS": 2_500_00, "UGX": 3_700, "USD": 1_00, "VND": 25_000, "XAF": 600, "XOF": 600,
	"ZAR": 18_00, "ZMW": 25_00,
	money.BTC: 1_000, money.USDB: 1_000_000, money.USDC: 1_000_000, money.USDT: 1_000_000,
}
