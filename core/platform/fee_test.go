package platform_test

import (
	"reflect"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
)

func feeConfig(source money.Currency, fixed, basisPoints int64) platform.FeeConfig {
	return platform.FeeConfig{Type: platform.CrossCurrencyTransaction, Source: source,
		Fee: platform.Fee{Fixed: money.Amount{Minor: fixed, Currency: source}, BasisPoints: basisPoints}}
}

func TestPlatform_ChangesFees(t *testing.T) {
	t.Parallel()
	// A change replaces the fee of a currency, ends one that it sets to zero, and leaves the others.
	p := platform.Platform{Fees: []platform.FeeConfig{feeConfig("EUR", 10, 0), feeConfig("USD", 50, 25)}}
	changed, _, err := p.Apply(platform.Change{Fees: &[]platform.FeeConfig{feeConfig("USD", 0, 0), feeConfig("BTC", 0, 30),
		feeConfig("EUR", 20, 5)}}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []platform.FeeConfig{feeConfig("BTC", 0, 30), feeConfig("EUR", 20, 5)}; !reflect.DeepEqual(changed.Fees, want) {
		t.Errorf("%+v, want %+v", changed.Fees, want)
	}
	for _, c := range []struct {
		from, to money.Currency
		want     platform.Fee
	}{
		{"EUR", "BTC", feeConfig("EUR", 20, 5).Fee}, {"EUR", "EUR", platform.Fee{}}, {"USD", "EUR", platform.Fee{}},
	} {
		if got := platform.FeeOf(changed.Fees, c.from, c.to); got != c.want {
			t.Errorf("%s to %s: %+v, want %+v", c.from, c.to, got, c.want)
		}
	}
}

func TestPlatform_RefusesFees(t *testing.T) {
	t.Parallel()
	// Every field that is wrong is named.
	wrong := feeConfig("USD", -1, 10_001)
	wrong.Type, wrong.Fee.Fixed.Currency = "TRANSFER", "EUR"
	_, _, err := platform.Platform{}.Apply(platform.Change{Fees: &[]platform.FeeConfig{wrong, feeConfig("XYZ", 1, 1), feeConfig("BTC", 1, 1),
		feeConfig("BTC", 2, 2)}}, time.Time{})
	f, _ := fault.As(err)
	if f == nil {
		t.Fatal(err)
	}
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Field)
	}
	want := []string{"feeConfigs[0].feeType", "feeConfigs[0].fixedFee.amount", "feeConfigs[0].fixedFee.currency",
		"feeConfigs[0].variableFeeBps", "feeConfigs[1].sourceCurrency", "feeConfigs[3].sourceCurrency"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
