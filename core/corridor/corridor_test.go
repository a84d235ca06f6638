package corridor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
)

// published is the table of supported corridors in the API documentation.
var published = []struct {
	rails     []corridor.Rail
	countries string
}{
	{[]corridor.Rail{corridor.SEPA, corridor.SEPAInstant},
		"AT BE BG HR CY CZ DK EE FI FR DE GR HU IS IE IT LV LI LT LU MT NL NO PL PT RO SK SI ES SE CH"},
	{[]corridor.Rail{corridor.BankTransfer}, "BJ CM ID CI KE MW MY NG PH RW SN ZA TZ TH UG AE VN ZM"},
	{[]corridor.Rail{corridor.PIX}, "BR"},
	{[]corridor.Rail{corridor.UPI, corridor.NEFT, corridor.RTGS}, "IN"},
	{[]corridor.Rail{corridor.BankTransfer, corridor.MobileMoney}, "CO EG"},
	{[]corridor.Rail{corridor.SPEI}, "MX"},
	{[]corridor.Rail{corridor.PayNow, corridor.FAST, corridor.BankTransfer}, "SG"},
	{[]corridor.Rail{corridor.FasterPayments, corridor.BankTransfer}, "GB"},
	{[]corridor.Rail{corridor.ACH, corridor.Wire, corridor.RTP, corridor.FedNow}, "US"},
}

const announced = "CA CN HK KR"

func TestCountries_MatchPublishedTable(t *testing.T) {
	// The live countries and their rails are exactly those of the published table.
	t.Parallel()
	want := map[string][]corridor.Rail{}
	for _, row := range published {
		for _, code := range strings.Fields(row.countries) {
			want[code] = row.rails
		}
	}
	for _, code := range strings.Fields(announced) {
		want[code] = nil
	}

	got := corridor.Countries()

	if len(got) != len(want) {
		t.Errorf("%d countries; want %d", len(got), len(want))
	}
	for _, country := range got {
		rails, ok := want[country.Code]
		if !ok || !slices.Equal(rails, country.Rails) {
			t.Errorf("%s has the rails %v; want %v", country.Code, country.Rails, rails)
		}
		if country.Live != (rails != nil) {
			t.Errorf("%s: Live = %v", country.Code, country.Live)
		}
		for _, currency := range country.Currencies {
			if !currency.Known() {
				t.Errorf("%s has the unknown currency %q", country.Code, currency)
			}
		}
	}
	if !slices.IsSortedFunc(got, func(a, b corridor.Country) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("countries are not in the order of their codes")
	}
}

func TestChooseRail_ReachesEveryLiveCountry(t *testing.T) {
	// The rail of a small payment to each country, in each of its currencies, is one published for
	// the country. Payments to phone numbers use mobile money.
	t.Parallel()
	byPhone := strings.Fields("BJ CI CM KE MW RW SN TZ UG ZM")
	for _, row := range published {
		for _, code := range strings.Fields(row.countries) {
			country, _ := corridor.CountryByCode(code)
			for _, currency := range country.Currencies {
				from := money.USD
				if currency == money.USD {
					from = money.EUR
				}
				way, err := corridor.Find(from, currency, code)
				if err != nil {
					t.Errorf("%s to %s in %s: %v", from, currency, code, err)
					continue
				}
				rail, err := chooseRail(currency, code, 100)
				wanted := slices.Contains(row.rails, rail)
				if slices.Contains(byPhone, code) {
					wanted = rail == corridor.MobileMoney
				}
				if err != nil || !wanted || way.Rail != rail {
					t.Errorf("%s in %s uses the rail %s (of %s), %v", currency, code, rail, way.Rail, err)
				}
			}
		}
	}
}

func TestFind_RejectsAnnouncedCountriesAsNotLive(t *testing.T) {
	// The error for a corridor that is not yet live says that it is announced, by currency and by
	// country.
	t.Parallel()
	for _, code := range strings.Fields(announced) {
		country, _ := corridor.CountryByCode(code)
		_, byCountry := corridor.Find("USD", country.Currencies[0], code)
		_, byCurrency := corridor.Find("USD", country.Currencies[0], "")
		_, asSource := corridor.Find(country.Currencies[0], "USD", "US")
		for _, err := range []error{byCountry, byCurrency, asSource} {
			if !fault.Is(err, fault.InvalidCurrency) || !strings.Contains(err.Error(), "announced, not yet live") {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}

func TestFind(t *testing.T) {
	// A corridor has the expected rails, fees, limits and lock time.
	t.Parallel()
	tests := []struct {
		name        string
		from, to    money.Currency
		country     string
		funding     []corridor.Rail
		rail        corridor.Rail
		fixed       int64
		percent     string
		least, most int64
		lock        time.Duration
	}{
		{"dollars to bitcoin", "USD", "BTC", "", []corridor.Rail{corridor.RTP, corridor.FedNow}, corridor.Layer2, 50, "0.005", 1_00,
			1_000_000_00, 5 * time.Minute},
		{"bitcoin to dollars", "BTC", "USD", "US", []corridor.Rail{corridor.Layer2, corridor.Lightning, corridor.Bitcoin}, corridor.RTP, 500,
			"0.005", 1_000, 1_000_000_000, 5 * time.Minute},
		{"dollar token to dollar", "USDC", "USD", "US", []corridor.Rail{corridor.Altchain, corridor.Base, corridor.Polygon, corridor.Ethereum},
			corridor.RTP, 250_000, "0.001", 1_000_000, 1_000_000_000_000, 5 * time.Minute},
		{"bank to bank", "USD", "INR", "IN", []corridor.Rail{corridor.RTP, corridor.FedNow}, corridor.UPI, 50, "0.003", 1_00,
			10_000_000_00, 5 * time.Minute},
		{"from a slow bank", "ZAR", "USD", "US", []corridor.Rail{corridor.BankTransfer}, corridor.RTP, 9_00, "0.003", 18_00,
			180_000_000_00, 15 * time.Minute},
		{"from chain to chain", "USDC", "BTC", "", []corridor.Rail{corridor.Altchain, corridor.Base, corridor.Polygon, corridor.Ethereum},
			corridor.Layer2, 100_000, "0.004", 1_000_000, 1_000_000_000_000, time.Minute},
		{"no minor units", "VND", "USDT", "", []corridor.Rail{corridor.BankTransfer}, corridor.Tron, 12_500, "0.003", 25_000,
			25_000_000_000, 15 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := corridor.Find(tt.from, tt.to, tt.country)

			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Funding, tt.funding) || got.Rail != tt.rail {
				t.Errorf("funding rails %v, payout rail %s; want %v and %s", got.Funding, got.Rail, tt.funding, tt.rail)
			}
			terms := got.Terms
			if terms.Fee.Fixed != tt.fixed || terms.Fee.Percent.String() != tt.percent ||
				terms.MinSending != tt.least || terms.MaxSending != tt.most || terms.Lock != tt.lock {
				t.Errorf("terms %+v (percent %s)", terms, terms.Fee.Percent)
			}
		})
	}
}

func TestFind_RejectsUnsupportedPairs(t *testing.T) {
	// Pairs without a corridor are refused with INVALID_CURRENCY.
	t.Parallel()
	tests := []struct {
		name, from, to, country string
	}{
		{"the same currency", "USD", "USD", "US"},
		{"an unknown source", "XYZ", "USD", "US"},
		{"lower case", "usd", "BTC", ""},
		{"an empty destination", "USD", "", ""},
		{"unsupported source", "JPY", "USD", "US"},
		{"unsupported destination", "USD", "JPY", ""},
		{"a currency of fees", "USD", "ETH", ""},
		{"from a currency of fees", "POL", "USD", "US"},
		{"the right currency in the wrong country", "USD", "EUR", "MX"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, err := corridor.Find(money.Currency(tt.from), money.Currency(tt.to), tt.country)

			if !fault.Is(err, fault.InvalidCurrency) {
				t.Errorf("Find(%q, %q, %q) = %v", tt.from, tt.to, tt.country, err)
			}
		})
	}
}

func TestAll_EveryCorridorHasUsableTerms(t *testing.T) {
	// Between any two live currencies there is a corridor whose minimum is more than its fee,
	// and whose rate is locked for 1 to 15 minutes.
	t.Parallel()
	live := corridor.Currencies()

	all := corridor.All()

	if want := len(live) * (len(live) - 1); len(all) != want {
		t.Errorf("%d corridors between %d currencies; want %d", len(all), len(live), want)
	}
	for _, c := range all {
		terms := c.Terms
		variable, err := terms.Fee.Percent.Ceil(terms.MinSending)
		if err != nil || terms.Fee.Fixed < 1 || terms.Fee.Fixed+variable >= terms.MinSending {
			t.Errorf("%s to %s: fee %d + %d of %d, %v", c.From, c.To, terms.Fee.Fixed, variable, terms.MinSending, err)
		}
		if terms.MaxSending <= terms.MinSending || terms.MaxSending > money.MaxMinor {
			t.Errorf("%s to %s: %d to %d", c.From, c.To, terms.MinSending, terms.MaxSending)
		}
		if terms.Lock < time.Minute || terms.Lock > 15*time.Minute {
			t.Errorf("%s to %s: the rate is locked for %v", c.From, c.To, terms.Lock)
		}
		if len(c.Funding) == 0 || !slices.Contains(c.Rails, c.Rail) {
			t.Errorf("%s to %s: funding rails %v, payout rail %s of %v", c.From, c.To, c.Funding, c.Rail, c.Rails)
		}
	}
}

func TestFundingRails_InstantRailFirst(t *testing.T) {
	// A just-in-time quote is funded by the country's instant rail.
	t.Parallel()
	want := map[money.Currency]corridor.Rail{
		"USD": corridor.RTP, "EUR": corridor.SEPAInstant, "DKK": corridor.SEPAInstant, "GBP": corridor.FasterPayments,
		"BRL": corridor.PIX, "MXN": corridor.SPEI, "INR": corridor.UPI, "SGD": corridor.FAST,
	}
	for currency, rail := range want {
		got, err := corridor.FundingRails(currency)
		if err != nil || len(got) == 0 || got[0] != rail {
			t.Errorf("%s: %v, %v; want %s first", currency, got, err, rail)
		}
	}
}

func TestChainFor(t *testing.T) {
	// ChainFor returns the named chain if the currency is on it, or the default chain if no name is
	// given.
	t.Parallel()
	tests := []struct {
		currency money.Currency
		name     string
		want     corridor.Rail // empty: refused
	}{
		{"BTC", "", corridor.Layer2},
		{"BTC", "LIGHTNING", corridor.Lightning},
		{"USDC", "POLYGON", corridor.Polygon},
		{"BTC", "BITCOIN", corridor.Bitcoin},
		{"USDT", "", corridor.Tron},
		{"USDT", "TRON", corridor.Tron},
		{"USDT", "BASE", corridor.Base},
		{"USDT", "ETHEREUM", corridor.Ethereum},
		{"USDT", "SOLANA", ""},
		{"ETH", "ETHEREUM", ""},
		{"ETH", "", ""},
		{"USDC", "base", ""},
		{"USD", "BASE", ""},
		{"USD", "", ""},
		{"USDC", "RTP", ""},
	}
	for _, tt := range tests {
		got, err := corridor.ChainFor(tt.currency, tt.name, "source.cryptoNetwork")
		if got != tt.want || (tt.want == "") != fault.Is(err, fault.InvalidInput) {
			t.Errorf("ChainFor(%s, %q) = %q, %v; want %q", tt.currency, tt.name, got, err, tt.want)
		}
	}
}

func TestLocalCurrency(t *testing.T) {
	// The local currency of a country is the first of its currencies.
	t.Parallel()
	if currency, ok := corridor.LocalCurrency("DK"); !ok || currency != "DKK" {
		t.Errorf("currency of DK: %s %v", currency, ok)
	}
	if _, ok := corridor.LocalCurrency("AQ"); ok {
		t.Error("Antarctica has a currency")
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	// Every live currency can be paid in and paid out, with the fees of its class and its rails. One
	// that cannot be paid out is refused.
	for _, currency := range corridor.Currencies() {
		found, err := corridor.Within(currency, "")
		if err != nil || found.From != currency || found.To != currency || len(found.Funding) == 0 || len(found.Rails) == 0 ||
			found.Terms.MinSending < 1 {
			t.Errorf("%s: %+v, %v", currency, found, err)
		}
	}
	dollars, err := corridor.Within("USD", "US")
	if err != nil || dollars.Terms.Fee.Fixed != 50 || dollars.Terms.Fee.Percent.String() != "0.003" || dollars.Rail != corridor.RTP {
		t.Errorf("USD: %+v, %v", dollars, err)
	}
	for _, currency := range []money.Currency{"CAD", "XXX", "ETH"} {
		if _, err := corridor.Within(currency, ""); !fault.Is(err, fault.InvalidCurrency) {
			t.Errorf("%s: %v", currency, err)
		}
	}
}
