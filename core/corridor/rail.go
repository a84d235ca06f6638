package corridor

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ledger"
)

// Rail is a payment system of banks or mobile operators, or a chain.
type Rail string

// The rails of banks and mobile operators.
const (
	ACH            Rail = "ACH"
	ACHColombia    Rail = "ACH_COLOMBIA"
	BankTransfer   Rail = "BANK_TRANSFER"
	BreB           Rail = "BRE_B"
	CIPS           Rail = "CIPS"
	FAST           Rail = "FAST"
	FasterPayments Rail = "FASTER_PAYMENTS"
	FedNow         Rail = "FEDNOW"
	InstaPay       Rail = "INSTAPAY"
	MobileMoney    Rail = "MOBILE_MONEY"
	NEFT           Rail = "NEFT"
	PayNow         Rail = "PAYNOW"
	PESONet        Rail = "PESONET"
	PIX            Rail = "PIX"
	RTGS           Rail = "RTGS"
	RTP            Rail = "RTP"
	SEPA           Rail = "SEPA"
	SEPAInstant    Rail = "SEPA_INSTANT"
	SPEI           Rail = "SPEI"
	SWIFT          Rail = "SWIFT"
	UnionPay       Rail = "UNIONPAY"
	UPI            Rail = "UPI"
	Wire           Rail = "WIRE"
)

// The chains.
const (
	Layer2    Rail = "LAYER2" // the wallet type's name for Spark
	Lightning Rail = "LIGHTNING"
	Altchain  Rail = "ALTCHAIN" // the wallet type's name for Solana
	Base      Rail = "BASE"
	Polygon   Rail = "POLYGON"
	Ethereum  Rail = "ETHEREUM"
	Plasma    Rail = "PLASMA"
	Tron      Rail = "TRON"
	Bitcoin   Rail = "BITCOIN"
)

// Rails returns every bank rail and every chain.
func Rails() []Rail {
	return []Rail{
		ACH, ACHColombia, BankTransfer, BreB, CIPS, FAST, FasterPayments, FedNow, InstaPay, MobileMoney, NEFT, PayNow, PESONet, PIX, RTGS,
		RTP, SEPA, SEPAInstant, SPEI, SWIFT, UnionPay, UPI, Wire,
		Layer2, Lightning, Altchain, Base, Polygon, Ethereum, Plasma, Tron, Bitcoin,
	}
}

// instantRails are the bank rails that deliver in seconds at any time.
var instantRails = []Rail{RTP, FedNow, SEPAInstant, FasterPayments, PIX, SPEI, UPI, PayNow, FAST, BreB, InstaPay}

// latinRails are the bank rails whose messages have Latin letters only: the rules of the SEPA schemes, of Nacha, of Swift's
// character set X and of the systems that took it over.
var latinRails = []Rail{ACH, FasterPayments, FedNow, RTP, SEPA, SEPAInstant, SWIFT, Wire}

// IsLatin reports whether the messages of the rail have Latin letters only.
func (r Rail) IsLatin() bool { return slices.Contains(latinRails, r) }

// IsInstant reports whether the rail delivers within seconds or, for a chain, minutes.
func (r Rail) IsInstant() bool { return r.IsChain() || slices.Contains(instantRails, r) }

// IsChain reports whether the rail is a chain and not a payment system of banks.
func (r Rail) IsChain() bool {
	return slices.ContainsFunc(chains, func(c chain) bool { return c.rail == r })
}

// PublicName returns the name of the rail in requests and responses: of a chain, that of its network.
func (r Rail) PublicName() string {
	for _, c := range chains {
		if c.rail == r {
			return c.network
		}
	}
	return string(r)
}

// OnChainNetwork returns the name of the chain that has the transfers of the rail; empty for banks, and for Lightning, whose payments
// are on no chain.
func (r Rail) OnChainNetwork() string {
	switch {
	case r == Layer2:
		return string(Layer2)
	case r == Lightning || !r.IsChain():
		return ""
	}
	return r.PublicName()
}

// RailNamed returns the rail with a public name; a name that is none is taken for that of the rail
// itself.
func RailNamed(name string) Rail {
	for _, c := range chains {
		if c.network == name {
			return c.rail
		}
	}
	return Rail(name)
}

// PublicNames returns the public names of rails.
func PublicNames(rails []Rail) []string {
	names := make([]string, len(rails))
	for i, rail := range rails {
		names[i] = rail.PublicName()
	}
	return names
}

// Known reports whether the rail is one of Rails.
func (r Rail) Known() bool { return slices.Contains(Rails(), r) }

// railLimit is the largest amount of one payment on a rail and the smallest, in minor units; zero for none.
type railLimit struct {
	rail     Rail
	currency money.Currency
	maxMinor int64
	minMinor int64
}

// railLimits are the limits that the operators of the rails set. A rail that is not listed
// has no limit below money.MaxMinor.
var railLimits = []railLimit{
	{RTP, "USD", 10_000_000_00, 0},           // The Clearing House, since 9 February 2025
	{FedNow, "USD", 10_000_000_00, 0},        // Federal Reserve Financial Services, since November 2025
	{ACH, "USD", 99_999_999_99, 0},           // Nacha: ten digits in the amount field of an entry
	{Wire, "USD", 9_999_999_999_99, 0},       // Fedwire Funds Service: below ten billion
	{SEPAInstant, "EUR", 100_000_00, 0},      // scheme limit until October 2025; many banks keep it
	{SEPA, "EUR", 999_999_999_99, 0},         // EPC rulebook for credit transfers
	{SEPAInstant, "DKK", 750_000_00, 0},      // the same limit, at the krone's peg to the euro
	{FasterPayments, "GBP", 1_000_000_00, 0}, // Pay.UK, since February 2022
	{RTGS, "INR", 0, 200_000_00},             // Reserve Bank of India: two lakh at least
	{InstaPay, "PHP", 50_000_00, 0},          // Bangko Sentral ng Pilipinas
	{UPI, "INR", 100_000_00, 0},              // NPCI: person to person, one lakh
	{PayNow, "SGD", 200_000_00, 0},           // Association of Banks in Singapore
	{FAST, "SGD", 200_000_00, 0},             // Association of Banks in Singapore
	{MobileMoney, "KES", 250_000_00, 0},      // Safaricom M-PESA, since August 2023
}

// MaxAmount returns the largest amount of one payment of the currency on the rail, in minor
// units, or false if the rail has no limit.
func (r Rail) MaxAmount(currency money.Currency) (int64, bool) {
	limit := r.limit(currency)
	return limit.maxMinor, limit.maxMinor > 0
}

func (r Rail) limit(currency money.Currency) railLimit {
	i := slices.IndexFunc(railLimits, func(c railLimit) bool { return c.rail == r && c.currency == currency })
	if i < 0 {
		return railLimit{}
	}
	return railLimits[i]
}

// preference is the order in which rails are chosen: the fastest first, then those without a
// limit, then the slow ones.
var preference = []Rail{
	RTP, FedNow, SEPAInstant, FasterPayments, PIX, SPEI, UPI, FAST, PayNow, BreB, InstaPay, MobileMoney,
	RTGS, SEPA, Wire, NEFT, BankTransfer, ACH, ACHColombia, PESONet, UnionPay, CIPS, SWIFT,
	Layer2, Lightning, Altchain, Tron, Base, Polygon, Ethereum, Plasma, Bitcoin,
}

// Choose returns the fastest of the given rails whose limits allow the amount, in minor
// units, or AMOUNT_OUT_OF_RANGE if none does.
func Choose(rails []Rail, currency money.Currency, minor int64) (Rail, error) {
	var highest, lowest int64
	for _, rail := range preference {
		if !slices.Contains(rails, rail) {
			continue
		}
		limit := rail.limit(currency)
		switch {
		case limit.maxMinor > 0 && minor > limit.maxMinor:
			highest = max(highest, limit.maxMinor)
		case minor < limit.minMinor:
			lowest = limit.minMinor
		default:
			return rail, nil
		}
	}
	refused := &fault.Error{Code: fault.AmountOutOfRange, Details: map[string]any{"currency": string(currency)}}
	switch {
	case highest > 0:
		refused.Details["maxAmount"] = highest
		refused.Message = fmt.Sprintf("No rail to this destination carries more than %s in one payment; send a smaller amount.",
			money.Amount{Minor: highest, Currency: currency})
	case lowest > 0:
		refused.Details["minAmount"] = lowest
		refused.Message = fmt.Sprintf("The rail to this destination carries no less than %s in one payment; send more, or over another rail.",
			money.Amount{Minor: lowest, Currency: currency})
	default:
		return "", fmt.Errorf("no rail among %v", rails) // a bug: every account has rails
	}
	return "", refused
}

type chain struct {
	rail Rail
	// network is the name of the chain in requests and responses.
	network string
	// currencies are the supported currencies on the chain, the main one first.
	currencies []money.Currency
}

// chains lists the supported chains. If a currency is on several, the first is its default.
var chains = []chain{
	{Layer2, "SPARK", []money.Currency{money.BTC, money.USDB}},
	{Lightning, "LIGHTNING", []money.Currency{money.BTC}},
	{Altchain, "SOLANA", []money.Currency{money.USDC}},
	{Tron, "TRON", []money.Currency{money.USDT}},
	{Base, "BASE", []money.Currency{money.USDC, money.USDT}},
	{Polygon, "POLYGON", []money.Currency{money.USDC, money.USDT}},
	{Ethereum, "ETHEREUM", []money.Currency{money.USDC, money.USDT}},
	{Plasma, "PLASMA", []money.Currency{money.USDT}},
	{Bitcoin, "BITCOIN", []money.Currency{money.BTC}},
}

// Chains returns the chains of a currency, the default first; none for fiat.
func Chains(currency money.Currency) []Rail {
	var found []Rail
	for _, c := range chains {
		if slices.Contains(c.currencies, currency) {
			found = append(found, c.rail)
		}
	}
	return found
}

// ChainCurrencies returns the supported currencies on the chain; none for a bank rail.
func (r Rail) ChainCurrencies() []money.Currency {
	for _, c := range chains {
		if c.rail == r {
			return slices.Clone(c.currencies)
		}
	}
	return nil
}

// ChainFor returns the named chain of a currency or, if name is empty, its default. It
// returns INVALID_INPUT with the given field if the currency is not on the chain.
func ChainFor(currency money.Currency, name, field string) (Rail, error) {
	available := Chains(currency)
	if name == "" && len(available) > 0 {
		return available[0], nil
	}
	if rail := RailNamed(name); slices.Contains(available, rail) {
		return rail, nil
	}
	message := "must be omitted: " + string(currency) + " is not on any chain"
	if len(available) > 0 {
		message = "must be a network of " + string(currency) + ": " + strings.Join(PublicNames(available), ", ")
	}
	return "", fault.Invalid(fault.Field{
		Field: field, Message: message, Constraint: map[string]any{"enum": PublicNames(available)},
	})
}

// AtPath returns the rail or chain whose ledger account has the path; false for other accounts, and
// for an unknown chain, because LedgerPath takes an unknown name for that of a rail of banks.
func AtPath(path string) (Rail, bool) {
	_, name, _ := strings.Cut(path, "/")
	rail := Rail(name)
	return rail, rail.LedgerPath() == path
}

// LedgerPath returns the path of the ledger account of the rail's partner, or of the chain.
func (r Rail) LedgerPath() string { return ledger.Partner(string(r), r.IsChain()) }
