package postgres_test

import (
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/money"
	"causeway/core/price"
)

func TestMarketRates_RoundTripAndRetention(t *testing.T) {
	t.Parallel()
	// The last rates up to a moment are read as they were kept, those kept again for the same time
	// change nothing, and old ones are deleted in batches.
	c := newEnv(t)
	ctx := t.Context()
	if kept, err := c.RatesAt(ctx, noon); err != nil || !kept.At.IsZero() || len(kept.InUSD) > 0 {
		t.Errorf("without rates: %+v, %v", kept, err)
	}
	if first, err := c.FirstRatesAt(ctx); err != nil || !first.IsZero() {
		t.Errorf("without rates the first are of %s, %v", first, err)
	}
	set := func(at time.Time, euro string) price.KeptRates {
		return price.KeptRates{At: at, InUSD: map[money.Currency]price.KeptRate{
			"USD": {Rate: money.MustRate("1"), At: at, Source: "FIXED"},
			"EUR": {Rate: money.MustRate(euro), At: at.Add(-20 * time.Hour), Source: "ECB"},
		}}
	}
	one, two := set(noon, "1.0812"), set(noon.Add(time.Hour), "1.0934")
	for _, rates := range []price.KeptRates{one, two, set(noon, "9")} {
		if err := c.KeepRates(ctx, rates); err != nil {
			t.Fatal(err)
		}
	}

	for moment, want := range map[time.Time]price.KeptRates{noon: one, noon.Add(time.Hour - time.Microsecond): one, noon.Add(time.Hour): two,
		noon.AddDate(1, 0, 0): two} {
		if got, err := c.RatesAt(ctx, moment); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("at %s: %+v, %v; want %+v", moment, got, err, want)
		}
	}
	if kept, err := c.RatesAt(ctx, noon.Add(-time.Microsecond)); err != nil || !kept.At.IsZero() {
		t.Errorf("before the first: %+v, %v", kept, err)
	}
	if first, err := c.FirstRatesAt(ctx); err != nil || !first.Equal(noon) {
		t.Errorf("the first are of %s, %v", first, err)
	}

	if _, err := c.Pool().Exec(
		ctx, `INSERT INTO market_rates SELECT '2001-01-01Z'::timestamptz + n * interval '1 hour', 'EUR', '1', '2000-01-01Z', 'ECB' FROM generate_series(1, 2500) n`); err != nil {
		t.Fatal(err)
	}
	deleted := 0
	if err := c.DeleteOld(ctx, postgres.RetentionCutoffs{MarketRates: noon.Add(time.Minute)},
		func(_ string, n int) { deleted += n }); err != nil {
		t.Fatal(err)
	}
	if first, err := c.FirstRatesAt(ctx); err != nil || !first.Equal(two.At) || deleted != 2502 {
		t.Errorf("%d deleted; the first are of %s, %v", deleted, first, err)
	}
}
