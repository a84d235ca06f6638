package corridor_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestOverride_ReplacesOnlySetValues(t *testing.T) {
	// Only the fields that are set in an override change. Applying it twice has the same result.
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

		after := before.WithOverride(override)

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
		if after != want || after.WithOverride(override) != after {
			t.Fatalf("%+v with %+v is %+v; want %+v", before, override, after, want)
		}
	})
}

func TestOverride_Merge(t *testing.T) {
	// A merged override has the fields of the second and, where those are not set, of the first.
	// Applying it is the same as applying both in order.
	t.Parallel()
	first := corridor.Override{Fixed: new(int64(1)), MinSending: new(int64(200))}
	second := corridor.Override{Fixed: new(int64(0)), Lock: new(2 * time.Minute)}

	both := first.Merge(second)

	if *both.Fixed != 0 || *both.MinSending != 200 || *both.Lock != 2*time.Minute || both.Percent != nil || both.MaxSending != nil {
		t.Errorf("merged override %+v", both)
	}
	if got := both.Names(); !slices.Equal(got, []string{corridor.FieldFixed, corridor.FieldMin, corridor.FieldLock}) {
		t.Errorf("names of the fields %v", got)
	}
	built, err := corridor.Find("USD", "BTC", "")
	if err != nil {
		t.Fatal(err)
	}
	if built.Terms.WithOverride(both) != built.Terms.WithOverride(first).WithOverride(second) {
		t.Error("the merged override and both in order result in different terms")
	}
	if both.IsZero() || !(corridor.Override{}).IsZero() || (corridor.Override{}).Names() != nil {
		t.Error("IsZero or Names is wrong for an empty or a set override")
	}
}

func TestOverride_CheckRejectsOutOfRangeValues(t *testing.T) {
	// The limits of each field are valid, one unit beyond them is not, and every invalid field is named.
	t.Parallel()
	percent := func(text string) *money.Rate { return new(money.MustRate(text)) }
	free := new(money.Rate{})
	for _, tt := range []struct {
		name     string
		override corridor.Override
		bad      []string
	}{
		{"nothing", corridor.Override{}, nil},
		{"no fees", corridor.Override{Fixed: new(int64(0)), Percent: free}, nil},
		{"the largest of all", corridor.Override{Fixed: new(money.MaxMinor), Percent: percent("0.999999"), MinSending: new(money.MaxMinor),
			MaxSending: new(money.MaxMinor), Lock: new(corridor.MaxLock)}, nil},
		{"the least", corridor.Override{MinSending: new(int64(1)), MaxSending: new(int64(1)), Lock: new(corridor.MinLock)}, nil},
		{"the whole amount as a fee", corridor.Override{Percent: percent("1")}, []string{"fee-percent"}},
		{"below", corridor.Override{Fixed: new(int64(-1)), MinSending: new(int64(0)), MaxSending: new(int64(0)), Lock: new(59 * time.Second)},
			[]string{"fee-fixed", "min", "max", "lock"}},
		{"above", corridor.Override{Fixed: new(money.MaxMinor + 1), Percent: percent("1.1"), MinSending: new(money.MaxMinor + 1),
			MaxSending: new(money.MaxMinor + 1), Lock: new(15*time.Minute + time.Second)},
			[]string{"fee-fixed", "fee-percent", "min", "max", "lock"}},
		{"part of a second", corridor.Override{Lock: new(90*time.Second + time.Millisecond)}, []string{"lock"}},
	} {
		if got := fieldNames(tt.override.Check()); !slices.Equal(got, tt.bad) {
			t.Errorf("%s: invalid fields %v, want %v", tt.name, got, tt.bad)
		}
	}
}

func TestTerms_CheckRejectsUnusableTerms(t *testing.T) {
	// Terms must allow an amount, and their minimum must be more than its fees.
	t.Parallel()
	for _, tt := range []struct {
		name  string
		terms corridor.Terms
		good  bool
	}{
		{"ordinary", corridor.Terms{Fee: corridor.Fee{Fixed: 50, Percent: money.MustRate("0.005")}, MinSending: 100, MaxSending: 1000}, true},
		{"one amount only", corridor.Terms{MinSending: 100, MaxSending: 100}, true},
		{"nothing between the limits", corridor.Terms{MinSending: 101, MaxSending: 100}, false},
		{"the fixed fee leaves one", corridor.Terms{Fee: corridor.Fee{Fixed: 99}, MinSending: 100, MaxSending: 1000}, true},
		{"the fixed fee equals the minimum", corridor.Terms{Fee: corridor.Fee{Fixed: 100}, MinSending: 100, MaxSending: 1000}, false},
		{"both fees together equal the minimum", corridor.Terms{Fee: corridor.Fee{Fixed: 90, Percent: money.MustRate("0.1")}, MinSending: 100,
			MaxSending: 1000}, false},
	} {
		if got := fieldNames(tt.terms.Check("USD")); (len(got) == 0) != tt.good || len(got) > 0 && got[0] != corridor.FieldMin {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	// The terms of every built-in corridor are valid.
	for _, c := range corridor.All() {
		if bad := c.Terms.Check(c.From); len(bad) > 0 {
			t.Errorf("%s to %s: %v", c.From, c.To, bad)
		}
	}
}

func fieldNames(bad []fault.Field) []string {
	var names []string
	for _, f := range bad {
		names = append(names, f.Field)
	}
	return names
}
