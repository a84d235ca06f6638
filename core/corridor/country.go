package corridor

import (
	"fmt"
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// Country is one country that money can be sent to, with the currencies and rails
// that reach it.
type Country struct {
	// Code is ISO 3166-1 alpha-2.
	Code       string
	Currencies []money.Currency
	// Rails are as published. In mobile money countries "bank transfer" ends at a
	// phone number, and what carries it is MOBILE_MONEY.
	Rails []Rail
	// Live is false for a country that is announced only.
	Live bool
}

var (
	sepa     = []Rail{SEPA, SEPAInstant}
	transfer = []Rail{BankTransfer}
	euro     = []money.Currency{"EUR"}
)

// countries is the table of corridors. All SEPA countries are reached in euro,
// and Denmark in kroner too; other national currencies there are not.
var countries = []Country{
	{"AE", of("AED"), transfer, true},
	{"AT", euro, sepa, true},
	{"BE", euro, sepa, true},
	{"BG", euro, sepa, true},
	{"BJ", of("XOF"), transfer, true},
	{"BR", of("BRL"), []Rail{PIX}, true},
	{"CA", of("CAD"), nil, false},
	{"CH", euro, sepa, true},
	{"CI", of("XOF"), transfer, true},
	{"CM", of("XAF"), transfer, true},
	{"CN", of("CNY"), nil, false},
	{"CY", euro, sepa, true},
	{"CZ", euro, sepa, true},
	{"DE", euro, sepa, true},
	{"DK", of("DKK", "EUR"), sepa, true},
	{"EE", euro, sepa, true},
	{"ES", euro, sepa, true},
	{"FI", euro, sepa, true},
	{"FR", euro, sepa, true},
	{"GB", of("GBP"), []Rail{FasterPayments, BankTransfer}, true},
	{"GR", euro, sepa, true},
	{"HK", of("HKD"), nil, false},
	{"HR", euro, sepa, true},
	{"HU", euro, sepa, true},
	{"ID", of("IDR"), transfer, true},
	{"IE", euro, sepa, true},
	{"IN", of("INR"), []Rail{UPI}, true},
	{"IS", euro, sepa, true},
	{"IT", euro, sepa, true},
	{"KE", of("KES"), transfer, true},
	{"KR", of("KRW"), nil, false},
	{"LI", euro, sepa, true},
	{"LT", euro, sepa, true},
	{"LU", euro, sepa, true},
	{"LV", euro, sepa, true},
	{"MT", euro, sepa, true},
	{"MW", of("MWK"), transfer, true},
	{"MX", of("MXN"), []Rail{SPEI}, true},
	{"MY", of("MYR"), transfer, true},
	{"NG", of("NGN"), transfer, true},
	{"NL", euro, sepa, true},
	{"NO", euro, sepa, true},
	{"PH", of("PHP"), transfer, true},
	{"PL", euro, sepa, true},
	{"PT", euro, sepa, true},
	{"RO", euro, sepa, true},
	{"RW", of("RWF"), transfer, true},
	{"SE", euro, sepa, true},
	{"SG", of("SGD"), []Rail{PayNow, FAST, BankTransfer}, true},
	{"SI", euro, sepa, true},
	{"SK", euro, sepa, true},
	{"SN", of("XOF"), transfer, true},
	{"TH", of("THB"), transfer, true},
	{"TZ", of("TZS"), transfer, true},
	{"UG", of("UGX"), transfer, true},
	{"US", of("USD"), []Rail{ACH, Wire, RTP, FedNow}, true},
	{"VN", of("VND"), transfer, true},
	{"ZA", of("ZAR"), transfer, true},
	{"ZM", of("ZMW"), transfer, true},
}

// byPhone are the currencies whose beneficiaries are reached by phone number.
var byPhone = of("KES", "MWK", "RWF", "TZS", "UGX", "XAF", "XOF", "ZMW")

func of(codes ...money.Currency) []money.Currency { return codes }

// Countries lists every country, live and announced, by code.
func Countries() []Country { return slices.Clone(countries) }

// At finds the country with the code.
func At(code string) (Country, bool) {
	i := slices.IndexFunc(countries, func(c Country) bool { return c.Code == code })
	if i < 0 {
		return Country{}, false
	}
	return countries[i], true
}

// Home is the country where a fiat currency is at home: the first live one, or the
// announced one, that takes it; false for the euro, which has many, for crypto and
// for a currency no corridor takes.
func Home(currency money.Currency) (Country, bool) {
	if currency == money.EUR {
		return Country{}, false
	}
	i := slices.IndexFunc(countries, func(c Country) bool { return slices.Contains(c.Currencies, currency) })
	if i < 0 {
		return Country{}, false
	}
	return countries[i], true
}

// CurrencyOf is the currency people use in a country; false when no corridor
// reaches the country.
func CurrencyOf(code string) (money.Currency, bool) {
	country, ok := At(code)
	if !ok {
		return "", false
	}
	return country.Currencies[0], true
}

// purposeful are the countries whose rules want to know why money is sent there.
var purposeful = []string{"IN", "NG"}

// NeedsPurpose tells whether a payment to the country must say what it is for.
func NeedsPurpose(country string) bool { return slices.Contains(purposeful, country) }

// RailsTo lists the rails that pay out the currency in the country. An empty
// country means any that takes the currency, and is how crypto is asked for. The
// fault says whether the corridor does not exist or is announced and not yet live.
func RailsTo(currency money.Currency, code string) ([]Rail, error) {
	if currency.Crypto() {
		return Chains(currency), nil
	}
	for _, country := range countries {
		if (code == "" || country.Code == code) && slices.Contains(country.Currencies, currency) {
			if !country.Live {
				return nil, notYetLive(country.Code)
			}
			if slices.Contains(byPhone, currency) {
				return []Rail{MobileMoney}, nil
			}
			return slices.Clone(country.Rails), nil
		}
	}
	if country, known := At(code); known && !country.Live {
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

// Live tells whether money can be paid out in the currency in the country.
func Live(currency money.Currency, code string) bool {
	_, err := RailsTo(currency, code)
	return err == nil
}

// ChooseRail picks the rail for a payment of minor units of the currency to the
// country, the quickest that carries the amount. The caller never names one.
func ChooseRail(currency money.Currency, country string, minor int64) (Rail, error) {
	among, err := RailsTo(currency, country)
	if err != nil {
		return "", err
	}
	return Choose(among, currency, minor)
}
