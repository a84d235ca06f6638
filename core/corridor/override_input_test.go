package corridor_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/money"
)

func TestOverrideInput_Parse(t *testing.T) {
	// Input is parsed exactly, percentages as fractions. Each field with an error is named once.
	t.Parallel()
	for _, tt := range []struct {
		written corridor.OverrideInput
		want    corridor.OverrideInput // as it is formatted
		bad     []string
	}{
		{corridor.OverrideInput{}, corridor.OverrideInput{}, nil},
		{corridor.OverrideInput{Fixed: "50", Percent: "0.3%", Min: "100", Max: "1000", Lock: "5m"},
			corridor.OverrideInput{Fixed: "50", Percent: "0.3%", Min: "100", Max: "1000", Lock: "5m"}, nil},
		{corridor.OverrideInput{Fixed: "0", Percent: "0%", Lock: "90s"}, corridor.OverrideInput{Fixed: "0", Percent: "0%", Lock: "90s"}, nil},
		{corridor.OverrideInput{Percent: "12.50 %", Lock: "1m30s"}, corridor.OverrideInput{Percent: "12.5%", Lock: "90s"}, nil},
		{written: corridor.OverrideInput{Fixed: "half", Percent: "0.3", Min: "1.5", Max: "1e9", Lock: "soon"},
			bad: []string{"fee-fixed", "fee-percent", "min", "max", "lock"}},
		{written: corridor.OverrideInput{Percent: "100%"}, bad: []string{"fee-percent"}},
		{written: corridor.OverrideInput{Percent: "-1%"}, bad: []string{"fee-percent"}},
		{written: corridor.OverrideInput{Percent: "%"}, bad: []string{"fee-percent"}},
		{written: corridor.OverrideInput{Fixed: "99999999999999999999", Lock: "1h"}, bad: []string{"fee-fixed", "lock"}},
	} {
		got, bad := tt.written.Parse()
		names := fieldNames(bad)
		slices.Sort(names)
		slices.Sort(tt.bad)
		if !slices.Equal(names, tt.bad) {
			t.Errorf("%+v: invalid fields %v, want %v", tt.written, bad, tt.bad)
		}
		if len(bad) == 0 && got.Format() != tt.want {
			t.Errorf("%+v is parsed as %+v", tt.written, got.Format())
		}
	}
}

func TestOverrideInput_RoundTrip(t *testing.T) {
	// Any valid override is formatted as text that is parsed as the same override.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fixed, least := rapid.Int64Range(0, money.MaxMinor).Draw(t, "fixed"), rapid.Int64Range(1, money.MaxMinor).Draw(t, "min")
		lock := time.Duration(rapid.IntRange(60, 900).Draw(t, "seconds")) * time.Second
		override := corridor.Override{Fixed: &fixed, MinSending: &least, Lock: &lock}
		if n := rapid.Int64Range(0, 999_999).Draw(t, "millionths"); n > 0 {
			percent, err := money.MustRate("0.000001").Mul(money.MustRate(strconv.FormatInt(n, 10)))
			if err != nil {
				t.Fatal(err)
			}
			override.Percent = &percent
		}

		back, bad := override.Format().Parse()

		if len(bad) > 0 || back.Format() != override.Format() || *back.Fixed != fixed || *back.Lock != lock ||
			override.Percent != nil && *back.Percent != *override.Percent {
			t.Fatalf("%+v is parsed as %+v, %v", override.Format(), back.Format(), bad)
		}
	})
}
