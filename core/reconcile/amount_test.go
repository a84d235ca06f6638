package reconcile_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/reconcile"
)

func TestLayout_ParseAmount(t *testing.T) {
	t.Parallel()
	// An amount is read as people write it; one that could be read in two ways is refused.
	marked := reconcile.Layout{Decimal: ',', Group: '.'}
	for _, c := range []struct {
		layout   reconcile.Layout
		text     string
		currency money.Currency
		want     int64
		wrong    string
	}{
		{reconcile.Layout{}, "1234", "USD", 123400, ""},
		{reconcile.Layout{}, "1234.5", "USD", 123450, ""},
		{reconcile.Layout{}, "1.234,56", "USD", 123456, ""},
		{reconcile.Layout{}, "1,234.56", "USD", 123456, ""},
		{reconcile.Layout{}, "1,234,567", "USD", 123456700, ""},
		{reconcile.Layout{}, "1.234.567", "USD", 123456700, ""},
		{reconcile.Layout{}, "12,5", "USD", 1250, ""},
		{reconcile.Layout{}, "12.5000", "USD", 1250, ""},
		{reconcile.Layout{}, "1'234.50", "CHF", 123450, ""},
		{reconcile.Layout{}, "1\u2019234,567.00", "USD", 0, "three digits long"},
		{reconcile.Layout{}, "1 234 567,89", "EUR", 123456789, ""},
		{reconcile.Layout{}, "1\u202f234,50\u00a0€", "EUR", 123450, ""},
		{reconcile.Layout{}, ".50", "USD", 50, ""},
		{reconcile.Layout{}, "0.125", "BTC", 12500000, ""},
		{reconcile.Layout{}, "1.500", "BTC", 150000000, ""},
		{reconcile.Layout{}, "1,500", "BTC", 0, "set decimal and group in map"},
		{reconcile.Layout{}, "1,234", "USD", 0, `"1,234" may have the decimal mark or the thousands mark ','; set decimal and group in map`},
		{reconcile.Layout{}, "1.234", "EUR", 0, "set decimal and group in map"},
		{reconcile.Layout{}, "1234.567", "USD", 0, "has 3 decimals"},
		{reconcile.Layout{}, "1,234", "JPY", 0, "set decimal and group in map"},
		{reconcile.Layout{}, "1.2.3", "USD", 0, "three digits long"},
		{reconcile.Layout{}, "1,00,000.00", "INR", 0, "three digits long"},
		{marked, "1.234", "EUR", 123400, ""},
		{marked, "1.234,5000", "EUR", 123450, ""},
		{marked, "1,234", "EUR", 0, "has 3 decimals"},
		{marked, "1,234.50", "EUR", 0, "is not an amount"},
		{reconcile.Layout{}, "(1.00)", "USD", -100, ""},
		{reconcile.Layout{}, "($1,234.50)", "USD", -123450, ""},
		{reconcile.Layout{}, "$(1.00)", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "(1.00", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "(-1.00)", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "1.00-", "USD", -100, ""},
		{reconcile.Layout{}, "\u22121.00", "USD", -100, ""},
		{reconcile.Layout{}, "- 1.00", "USD", -100, ""},
		{reconcile.Layout{}, "+1.00", "USD", 100, ""},
		{reconcile.Layout{}, "-1.00-", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "1.00 DR", "USD", -100, ""},
		{reconcile.Layout{}, "1.00 Cr", "USD", 100, ""},
		{reconcile.Layout{}, "-$1.00", "USD", -100, ""},
		{reconcile.Layout{}, "$-1.00", "USD", -100, ""},
		{reconcile.Layout{}, "US$1.00", "USD", 100, ""},
		{reconcile.Layout{}, "USD 1.00", "USD", 100, ""},
		{reconcile.Layout{}, "1,00 EUR", "EUR", 100, ""},
		{reconcile.Layout{}, "£1.00", "GBP", 100, ""},
		{reconcile.Layout{}, "€1.00", "USD", 0, `"€1.00" is not an amount in USD`},
		{reconcile.Layout{}, "1.00 EUR", "USD", 0, "is not an amount in USD"},
		{reconcile.Layout{}, "$$1.00", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "-", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, ".", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "5.", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, "1e3", "USD", 0, "is not an amount"},
		{reconcile.Layout{}, strings.Repeat("9", 30), "USD", 0, "exceeds the maximum amount"},
		{reconcile.Layout{}, strings.Repeat(" ", 61) + "1", "USD", 0, "is not an amount"},
	} {
		got, _, err := c.layout.ParseAmount(c.text, c.currency)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || got != c.want {
			t.Errorf("%q in %s: %d, %v; want %d, %q", c.text, c.currency, got, err, c.want, c.wrong)
		}
	}
}

func TestLayout_ParseAmountRoundTrip(t *testing.T) {
	t.Parallel()
	// Every amount with two decimals is read to the same minor units in both styles and with every
	// kind of sign, without a setting.
	rapid.Check(t, func(t *rapid.T) {
		minor := rapid.Int64Range(-money.MaxMinor, money.MaxMinor).Draw(t, "minor")
		text, _, _ := strings.Cut(money.Amount{Minor: max(minor, -minor), Currency: "USD"}.String(), " ")
		whole, fraction, _ := strings.Cut(text, ".")
		style := rapid.SampledFrom([]string{".", ",", ".,", ",.", ". ", ", ", ".'"}).Draw(t, "decimal and group")
		if len(style) == 2 {
			for i := len(whole) - 3; i > 0; i -= 3 {
				whole = whole[:i] + style[1:] + whole[i:]
			}
		}
		text = whole + style[:1] + fraction
		if minor < 0 {
			text = rapid.SampledFrom([]string{"-%", "%-", "(%)", "% DR", "-$%", "$ %-", "(USD %)"}).Draw(t, "sign")
			text = strings.Replace(text, "%", whole+style[:1]+fraction, 1)
		}
		if got, mark, err := (reconcile.Layout{}).ParseAmount(text, "USD"); err != nil || got != minor || mark != style[0] {
			t.Fatalf("%q is read as %d with %q, %v; want %d", text, got, mark, err, minor)
		}
	})
}
