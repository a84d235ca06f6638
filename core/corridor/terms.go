package corridor

import (
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
)

// Terms are the terms of a corridor: its fee, the limits of one payment, and how long a quoted
// rate is locked. Amounts are in minor units of the sending currency.
type Terms struct {
	Fee Fee
	// PlatformFee is what the platform charges beside Fee.
	PlatformFee platform.Fee
	MinSending  int64
	MaxSending  int64
	Lock        time.Duration
	// MinFromPlatform and MaxFromPlatform are true if the limit is the platform's setting,
	// because it is narrower than the corridor's.
	MinFromPlatform, MaxFromPlatform bool
}

// Fees returns the fee of the service, and that together with the platform's. Fault: AMOUNT_OUT_OF_RANGE if both are more than
// what is sent, whatever that is.
func (t Terms) Fees() (service, all price.Fee, err error) {
	service = price.Fee{Fixed: t.Fee.Fixed, Percent: t.Fee.Percent}
	if all, err = service.PlusPlatform(t.PlatformFee.Fixed.Minor, t.PlatformFee.BasisPoints); err != nil {
		return service, all, fault.New(fault.AmountOutOfRange, "No amount can be sent: the fees of the service and of the platform are "+
			"together more than 100 %%, or than can be sent at once. Charge a lower fee.")
	}
	return service, all, nil
}

// Fee is a fixed part in minor units of the sending currency and a fraction of the sending
// amount (0.005 is half a percent).
type Fee struct {
	Fixed   int64
	Percent money.Rate
}

// currencyClass groups currencies with the same fees.
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

// baseFee is a fee whose fixed part is in US cents, to be converted to the sending currency.
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

// dollarStablecoinFee is the fee between the US dollar and dollar stablecoins.
var dollarStablecoinFee = baseFee{25, mustFraction("0.001")}

// The limits of one payment in US dollars, to be converted to the sending currency.
const (
	minDollars      = 1
	maxBankDollars  = 10_000_000
	maxChainDollars = 1_000_000
	centsPerDollar  = 100
)

// How long a quoted rate is locked.
const (
	lockChainToChain = 1 * time.Minute
	lockInstant      = 5 * time.Minute
	lockBankTransfer = 15 * time.Minute
)

// defaultTerms returns the built-in terms of a pair. The lock time depends on how the quote is
// paid: from chain to chain, by an instant rail, or by bank transfer.
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

// mustFraction parses a constant of the tables above when the program starts.
func mustFraction(text string) money.Rate {
	rate, err := money.ParseFraction(text)
	if err != nil {
		panic(err)
	}
	return rate
}

// minorPerDollar is a round number of minor units that is worth about one US dollar. It scales
// limits and fixed fees; it is not an exchange rate.
var minorPerDollar = map[money.Currency]int64{
	"AED": 4_00, "BRL": 5_00, "COP": 4_000_00, "DKK": 7_00, "EGP": 50_00, "EUR": 1_00, "GBP": 80, "IDR": 16_000_00, "INR": 80_00,
	"KES": 130_00, "MWK": 1_750_00, "MXN": 20_00, "MYR": 4_50, "NGN": 1_500_00, "PHP": 60_00, "RWF": 1_400,
	"SGD": 1_30, "THB": 35_00, "TZS": 2_500_00, "UGX": 3_700, "USD": 1_00, "VND": 25_000, "XAF": 600, "XOF": 600,
	"ZAR": 18_00, "ZMW": 25_00,
	money.BTC: 1_000, money.USDB: 1_000_000, money.USDC: 1_000_000, money.USDT: 1_000_000,
}
