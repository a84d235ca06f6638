package money_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bojanz/currency"

	"causeway/core/money"
)

func TestCurrency_DecimalsMatchISO4217(t *testing.T) {
	t.Parallel()
	// Every fiat currency has the decimals that an independent copy of ISO 4217 says. The
	// lev left the standard when Bulgaria joined the euro; older data still has it.
	withdrawn := map[money.Currency]int{"BGN": 2}

	compared := 0
	for _, c := range money.Currencies() {
		if c.IsCrypto() {
			continue
		}
		want, known := currency.GetDigits(string(c))
		if digits, gone := withdrawn[c]; gone {
			if known {
				t.Errorf("%s is in the standard: compare it", c)
			}
			if c.Decimals() != digits {
				t.Errorf("%s has %d decimals, want %d", c, c.Decimals(), digits)
			}
			continue
		}
		if !known {
			t.Errorf("%s is not in ISO 4217", c)
		} else if c.Decimals() != int(want) {
			t.Errorf("%s has %d decimals, ISO 4217 says %d", c, c.Decimals(), want)
		}
		compared++
	}
	if compared < 60 {
		t.Errorf("only %d currencies compared", compared)
	}
}

func TestCurrency_Properties(t *testing.T) {
	t.Parallel()
	// Currencies with other than two decimals, and cryptocurrencies.
	for _, c := range []struct {
		code     string
		decimals int
		symbol   string
		crypto   bool
	}{
		{"USD", 2, "$", false}, {"EUR", 2, "€", false}, {"IDR", 2, "Rp", false},
		{"JPY", 0, "¥", false}, {"KRW", 0, "₩", false}, {"VND", 0, "₫", false}, {"ISK", 0, "ISK", false},
		{"RWF", 0, "RF", false}, {"UGX", 0, "USh", false}, {"XAF", 0, "FCFA", false}, {"XOF", 0, "CFA", false},
		{"PYG", 0, "₲", false}, {"CLP", 0, "CL$", false},
		{"KWD", 3, "KWD", false}, {"BHD", 3, "BHD", false}, {"JOD", 3, "JOD", false}, {"TND", 3, "TND", false},
		{"BTC", 8, "₿", true}, {"USDC", 6, "USDC", true}, {"USDT", 6, "USDT", true}, {"USDB", 6, "USDB", true},
		{"ETH", 9, "Ξ", true}, {"POL", 9, "POL", true},
	} {
		got, err := money.ParseCurrency(c.code)
		if err != nil {
			t.Errorf("ParseCurrency(%q): %v", c.code, err)
			continue
		}
		if got.Decimals() != c.decimals || got.Symbol() != c.symbol || got.IsCrypto() != c.crypto || !got.Known() {
			t.Errorf("%s: %d decimals, %q, crypto %v, known %v; want %d, %q, %v, true",
				got, got.Decimals(), got.Symbol(), got.IsCrypto(), got.Known(), c.decimals, c.symbol, c.crypto)
		}
	}
}

func TestParseCurrency_RejectsUnknown(t *testing.T) {
	t.Parallel()
	// Only codes of the table, in capital letters, are currencies.
	for _, text := range []string{"", "usd", "Usd", " USD", "USD ", "US", "XXX", "USDX", "SLV", "\xff", "€"} {
		if got, err := money.ParseCurrency(text); !errors.Is(err, money.ErrUnknownCurrency) || got != "" {
			t.Errorf("ParseCurrency(%q) = %q, %v; want ErrUnknownCurrency", text, got, err)
		}
	}
	if unknown := money.Currency("XXX"); unknown.Known() || unknown.Decimals() != 0 || unknown.Name() != "" || unknown.Symbol() != "" ||
		unknown.IsCrypto() {
		t.Error("an unknown currency has a name, a symbol or decimals")
	}
}

func TestPayable_NotTheCurrenciesOfFees(t *testing.T) {
	t.Parallel()
	// Every known currency is payable, except those in which chains charge their fees.
	for _, c := range money.Currencies() {
		fees := c == money.ETH || c == money.POL
		if c.Payable() == fees {
			t.Errorf("%s: payable %v", c, c.Payable())
		}
		if got, err := money.ParsePayable(string(c)); errors.Is(err, money.ErrUnknownCurrency) != fees || !fees && got != c || fees && got != "" {
			t.Errorf("ParsePayable(%q) = %q, %v", c, got, err)
		}
	}
	if _, err := money.ParsePayable("XXX"); !errors.Is(err, money.ErrUnknownCurrency) || money.Currency("XXX").Payable() {
		t.Errorf("an unknown currency: %v", err)
	}
}

func TestCurrencies_SortedAndComplete(t *testing.T) {
	t.Parallel()
	// The list is sorted, every currency in it has a unique name and symbol, and a caller
	// that changes the list does not change the table.
	list := money.Currencies()
	if !slices.IsSorted(list) {
		t.Error("the list is not sorted")
	}
	names, symbols := map[string]money.Currency{}, map[string]money.Currency{}
	for _, c := range list {
		if c.Name() == "" || c.Symbol() == "" {
			t.Errorf("%s has name %q and symbol %q", c, c.Name(), c.Symbol())
		}
		if other, taken := names[c.Name()]; taken {
			t.Errorf("%s and %s have the same name", c, other)
		}
		if other, taken := symbols[c.Symbol()]; taken {
			t.Errorf("%s and %s have the same symbol", c, other)
		}
		names[c.Name()], symbols[c.Symbol()] = c, c
	}

	list[0] = "ZZZ"
	if money.Currencies()[0] == "ZZZ" {
		t.Error("changing the list changed the table")
	}
}

func TestCurrencies_CoverEveryCorridor(t *testing.T) {
	t.Parallel()
	// The currencies of all countries and account types that are supported.
	for _, code := range []string{
		"EUR", "BGN", "CZK", "DKK", "HUF", "ISK", "NOK", "PLN", "RON", "SEK", "CHF", // SEPA
		"XOF", "XAF", "IDR", "KES", "MWK", "MYR", "NGN", "PHP", "RWF", "ZAR", "TZS", "THB", "UGX", "AED", "VND", "ZMW",
		"BRL", "INR", "MXN", "SGD", "GBP", "USD", // instant rails
		"CAD", "CNY", "HKD", "KRW", // announced
		"BDT", "BWP", "COP", "EGP", "GHS", "GTQ", "HTG", "JMD", "PKR", // account types
		"ARS", "JPY", "AUD", "NZD", "TRY", "ILS",
		"BTC", "USDC", "USDT", "USDB",
	} {
		if _, err := money.ParseCurrency(code); err != nil {
			t.Error(err)
		}
	}
}
