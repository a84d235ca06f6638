package corridor_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestOverrideReplacesOnlyWhatItNames(t *testing.T) {
	// Whatever an override names is replaced and nothing else; applying it twice is applying it once.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		built, err := corridor.Find("USD", "BTC", "")
		if err != nil {
			t.Fatal(err)
		}
		before := built.Terms
		percent, err := money.ParseFraction(rapid.SampledFrom([]string{"0", "0.01", "0.25"}).Draw(t, "percent"))
		if err != nil {
			t.Fatal(err)
		}
		maybe := func(name string) *int64 {
			if rapid.Bool().Draw(t, name+"?") {
				return new(rapid.Int64Range(0, 1_000_000).Draw(t, name))
			}
			return nil
		}
		override := corridor.Override{Fixed: maybe("fixed"), MinSending: maybe("min"), MaxSending: maybe("max")}
		if rapid.Bool().Draw(t, "percent?") {
			override.Percent = &percent
		}
		if rapid.Bool().Draw(t, "lock?") {
			override.Lock = new(7 * time.Minute)
		}

		after := before.With(override)

		want := before
		if override.Fixed != nil {
			want.Fee.Fixed = *override.Fixed
		}
		if override.Percent != nil {
			want.Fee.Percent = percent
		}
		if override.MinSending != nil {
			want.MinSending = *override.MinSending
		}
		if override.MaxSending != nil {
			want.MaxSending = *override.MaxSending
		}
		if override.Lock != nil {
			want.Lock = 7 * time.Minute
		}
		if after != want || after.With(override) != after {
			t.Fatalf("%+v with %+v is %+v; want %+v", before, override, after, want)
		}
	})
}

func TestAdmit(t *testing.T) {
	// The limits themselves are admitted, one minor unit beyond is refused with both of them.
	t.Parallel()
	terms := corridor.Terms{MinSending: 100, MaxSending: 10_000}
	for minor, admitted := range map[int64]bool{-1: false, 0: false, 99: false, 100: true, 10_000: true, 10_001: false} {
		err := terms.Admit(money.Amount{Minor: minor, Currency: "USD"})
		if admitted != (err == nil) {
			t.Errorf("%d: %v", minor, err)
		}
		if refusal, ok := fault.Of(err); err != nil && (!ok || refusal.Code != fault.AmountOutOfRange ||
			refusal.Details["minAmount"] != int64(100) || refusal.Details["maxAmount"] != int64(10_000)) {
			t.Errorf("%d: %#v", minor, err)
		}
	}
}
