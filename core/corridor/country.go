package corridor

import (
	"fmt"
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// Country is a country that money can be sent to, with the currencies and rails that reach
// it.
type Country struct {
	// Code is ISO 3166-1 alpha-2.
	Code       string
	Currencies []money.Currency
	// Rails are the published rails. In mobile money countries, BANK_TRANSFER means
	// payments to phone numbers, whose rail is MOBILE_MONEY.
	Rails []Rail
	// Live is false for a country that is announced but not yet supported.
	Live bool
}

var (
	sepa     = []Rail{SEPA, SEPAInstant}
	transfer = []Rail{BankTransfer}
	// transferOrMobile: an account names which of the two reaches it.
	transferOrMobile = []Rail{BankTransfer, MobileMoney}
	euro             = []money.Currency{"EUR"}
)

// countries is the table of corridors. SEPA countries are reached in euro only, except
// Denmark, which is also reached in kroner.
var countries = []Country{
	{"AE", currencyList("AED"), transfer, true},
	{"AT", euro, sepa, true},
	{"BE", euro, sepa, true},
	{"BG", euro, sepa, true},
	{"BJ", currencyList("XOF"), transfer, true},
	{"BR", currencyList("BRL"), []Rail{PIX}, true},
	{"CA", currencyList("CAD"), nil, false},
	{"CH", euro, sepa, true},
	{"CI", currencyList("XOF"), transfer, true},
	{"CM", currencyList("XAF"), transfer, true},
	{"CN", currencyList("CNY"), nil, false},
	{"CO", currencyList("COP"), transferOrMobile, true},
	{"CY", euro, sepa, true},
	{"CZ", euro, sepa, true},
	{"DE", euro, sepa, true},
	{"DK", currencyList("DKK", "EUR"), sepa, true},
	{"EE", euro, sepa, true},
	{"EG", currencyList("EGP"), transferOrMobile, true},
	{"ES", euro, sepa, true},
	{"FI", euro, sepa, true},
	{"FR", euro, sepa, true},
	{"GB", currencyList("GBP"), []Rail{FasterPayments, BankTransfer}, true},
	{"GR", euro, sepa, true},
	{"HK", currencyList("HKD"), nil, false},
	{"HR", euro, sepa, true},
	{"HU", euro, sepa, true},
	{"ID", currencyList("IDR"), transfer, true},
	{"IE", euro, sepa, true},
	{"IN", currencyList("INR"), []Rail{UPI, NEFT, RTGS}, true},
	{"IS", euro, sepa, true},
	{"IT", euro, sepa, true},
	{"KE", currencyList("KES"), transfer, true},
	{"KR", currencyList("KRW"), nil, false},
	{"LI", euro, sepa, true},
	{"LT", euro, sepa, true},
	{"LU", euro, sepa, true},
	{"LV", euro, sepa, true},
	{"MT", euro, sepa, true},
	{"MW", currencyList("MWK"), transfer, true},
	{"MX", currencyList("MXN"), []Rail{SPEI}, true},
	{"MY", currencyList("MYR"), transfer, true},
	{"NG", currencyList("NGN"), transfer, true},
	{"NL", euro, sepa, true},
	{"NO", euro, sepa, true},
	{"PH", currencyList("PHP"), transfer, true},
	{"PL", euro, sepa, true},
	{"PT", euro, sepa, true},
	{"RO", euro, sepa, true},
	{"RW", currencyList("RWF"), transfer, true},
	{"SE", euro, sepa, true},
	{"SG", currencyList("SGD"), []Rail{PayNow, FAST, BankTransfer}, true},
	{"SI", euro, sepa, true},
	{"SK", euro, sepa, true},
	{"SN", currencyList("XOF"), transfer, true},
	{"TH", currencyList("THB"), transfer, true},
	{"TZ", currencyList("TZS"), transfer, true},
	{"UG", currencyList("UGX"), transfer, true},
	{"US", currencyList("USD"), []Rail{ACH, Wire, RTP, FedNow}, true},
	{"VN", currencyList("VND"), transfer, true},
	{"ZA", currencyList("ZAR"), transfer, true},
	{"ZM", currencyList("ZMW"), transfer, true},
}

// bankSystems are the payment systems of countries whose accounts list BANK_TRANSFER alone. A payment may name one of them;
// otherwise the partner chooses.
var bankSystems = map[string][]Rail{
	"CN": {CIPS, UnionPay},
	"CO": {ACHColombia, BreB},
	"PH": {InstaPay, PESONet},
}

// BankSystems returns the payment systems that carry bank transfers to accounts in the country, if a payment may name them.
func BankSystems(country string) []Rail { return bankSystems[country] }

// mobileMoneyCurrencies are the currencies that are paid out to phone numbers.
var mobileMoneyCurrencies = currencyList("KES", "MWK", "RWF", "TZS", "UGX", "XAF", "XOF", "ZMW")

func currencyList(codes ...money.Currency) []money.Currency { return codes }

// Countries returns every country, live and announced, by code.
func Countries() []Country { return slices.Clone(countries) }

// CountryByCode returns the country with the code.
func CountryByCode(code string) (Country, bool) {
	i := slices.IndexFunc(countries, func(c Country) bool { return c.Code == code })
	if i < 0 {
		return Country{}, false
	}
	return countries[i], true
}

// LocalCurrency returns the main currency of a country, or false if no corridor reaches it.
func LocalCurrency(code string) (money.Currency, bool) {
	country, ok := CountryByCode(code)
	if !ok {
		return "", false
	}
	return country.Currencies[0], true
}

// purposeCountries are the countries that require the purpose of a payment.
var purposeCountries = []string{"IN", "NG"}

// NeedsPurpose reports whether a payment to the country must state its purpose.
func NeedsPurpose(country string) bool { return slices.Contains(purposeCountries, country) }

// RailsTo returns the rails that pay out the currency in the country. An empty country means
// any country of the currency, and is used for cryptocurrencies. It returns INVALID_CURRENCY if
// there is no corridor or it is announced but not yet live.
func RailsTo(currency money.Currency, code string) ([]Rail, error) {
	if chains := Chains(currency); len(chains) > 0 {
		return chains, nil
	}
	for _, country := range countries {
		if (code == "" || country.Code == code) && slices.Contains(country.Currencies, currency) {
			if !country.Live {
				return nil, notYetLive(country.Code)
			}
			if slices.Contains(mobileMoneyCurrencies, currency) {
				return []Rail{MobileMoney}, nil
			}
			return slices.Clone(country.Rails), nil
		}
	}
	if country, known := CountryByCode(code); known && !country.Live {
		return nil, notYetLive(code)
	}
	if code == "" {
		return nil, fault.New(fault.InvalidCurrency, "There is no corridor for %s yet.", string(currency))
	}
	return nil, fault.New(fault.InvalidCurrency, "There is no corridor that pays %s out in %s.", string(currency), code)
}

func notYetLive(code string) error {
	return &fault.Error{
		Code:    fault.InvalidCurrency,
		Message: fmt.Sprintf("The corridor to %s is announced, not yet live.", code),
		Reason:  "Corridor not yet live",
		Details: map[string]any{"country": code},
	}
}

// Live reports whether money can be paid out in the currency in the country.
func Live(currency money.Currency, code string) bool {
	_, err := RailsTo(currency, code)
	return err == nil
}
