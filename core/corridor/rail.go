package corridor

import (
	"fmt"
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// Rail is a way money travels: a payment system of banks, or a chain.
type Rail string

// The rails of banks and mobile operators.
const (
	ACH            Rail = "ACH"
	BankTransfer   Rail = "BANK_TRANSFER"
	FAST           Rail = "FAST"
	FasterPayments Rail = "FASTER_PAYMENTS"
	FedNow         Rail = "FEDNOW"
	MobileMoney    Rail = "MOBILE_MONEY"
	PayNow         Rail = "PAYNOW"
	PIX            Rail = "PIX"
	RTP            Rail = "RTP"
	SEPA           Rail = "SEPA"
	SEPAInstant    Rail = "SEPA_INSTANT"
	SPEI           Rail = "SPEI"
	SWIFT          Rail = "SWIFT"
	UPI            Rail = "UPI"
	Wire           Rail = "WIRE"
)

// The chains.
const (
	Layer2    Rail = "LAYER2"
	Lightning Rail = "LIGHTNING"
	Altchain  Rail = "ALTCHAIN"
	Base      Rail = "BASE"
	Polygon   Rail = "POLYGON"
	Ethereum  Rail = "ETHEREUM"
	Tron      Rail = "TRON"
)

// Rails returns every bank rail and every chain.
func Rails() []Rail {
	return []Rail{
		ACH, BankTransfer, FAST, FasterPayments, FedNow, MobileMoney, PayNow, PIX, RTP, SEPA, SEPAInstant, SPEI, SWIFT, UPI, Wire,
		Layer2, Lightning, Altchain, Base, Polygon, Ethereum, Tron,
	}
}

// instantRails are the bank rails that deliver in seconds, around the clock.
var instantRails = []Rail{RTP, FedNow, SEPAInstant, FasterPayments, PIX, SPEI, UPI, PayNow, FAST}

// IsInstant reports whether the rail delivers within seconds or, for a chain, minutes.
func (r Rail) IsInstant() bool { return r.IsChain() || slices.Contains(instantRails, r) }

// IsChain reports whether the rail is a chain and not a payment system of banks.
func (r Rail) IsChain() bool {
	return slices.ContainsFunc(chains, func(c chain) bool { return c.rail == r })
}

// Known reports whether the rail is one of Rails.
func (r Rail) Known() bool { return slices.Contains(Rails(), r) }

// railLimit is the most one payment may carry on a rail, in minor units.
type railLimit struct {
	rail     Rail
	currency money.Currency
	maxMinor int64
}

// railLimits are the limits the operators of the rails set for one payment. A rail
// that is not listed has none that a payment of ours could meet.
var railLimits = []railLimit{
	{RTP, "USD", 10_000_000_00},           // The Clearing House, since 9 February 2025
	{FedNow, "USD", 10_000_000_00},        // Federal Reserve Financial Services, since November 2025
	{ACH, "USD", 99_999_999_99},           // Nacha: ten digits in the amount field of an entry
	{Wire, "USD", 9_999_999_999_99},       // Fedwire Funds Service: below ten billion
	{SEPAInstant, "EUR", 100_000_00},      // scheme limit until October 2025; many banks still stop there
	{SEPA, "EUR", 999_999_999_99},         // EPC rulebook for credit transfers
	{SEPAInstant, "DKK", 750_000_00},      // the same limit, at the krone's peg to the euro
	{FasterPayments, "GBP", 1_000_000_00}, // Pay.UK, since February 2022
	{UPI, "INR", 100_000_00},              // NPCI: person to person, one lakh
	{PayNow, "SGD", 200_000_00},           // Association of Banks in Singapore
	{FAST, "SGD", 200_000_00},             // Association of Banks in Singapore
	{MobileMoney, "KES", 250_000_00},      // Safaricom M-PESA, since August 2023
}

// MaxAmount returns the most one payment of the currency may carry on the rail, in minor
// units; false when the rail sets no limit.
func (r Rail) MaxAmount(currency money.Currency) (int64, bool) {
	i := slices.IndexFunc(railLimits, func(c railLimit) bool { return c.rail == r && c.currency == currency })
	if i < 0 {
		return 0, false
	}
	return railLimits[i].maxMinor, true
}

// preference is the order in which rails are tried: the quickest first, then
// those without a limit, the slow and cheap last.
var preference = []Rail{
	RTP, FedNow, SEPAInstant, FasterPayments, PIX, SPEI, UPI, FAST, PayNow, MobileMoney,
	SEPA, Wire, BankTransfer, ACH, SWIFT,
	Layer2, Lightning, Altchain, Base, Polygon, Ethereum, Tron,
}

// Choose picks, of the given rails, the quickest that carries the amount (minor
// units). AMOUNT_OUT_OF_RANGE when all of them stop below it.
func Choose(among []Rail, currency money.Currency, minor int64) (Rail, error) {
	var highest int64
	for _, rail := range preference {
		if !slices.Contains(among, rail) {
			continue
		}
		most, limited := rail.MaxAmount(currency)
		if !limited || minor <= most {
			return rail, nil
		}
		highest = max(highest, most)
	}
	if highest == 0 {
		return "", fmt.Errorf("no rail among %v", among) // our own mistake: accounts have rails
	}
	return "", &fault.Error{
		Code: fault.AmountOutOfRange,
		Message: fmt.Sprintf("No rail to this destination carries more than %s in one payment; send a smaller amount.",
			money.Amount{Minor: highest, Currency: currency}),
		Details: map[string]any{"currency": string(currency), "maxAmount": highest},
	}
}
