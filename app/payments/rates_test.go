package payments_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rates/market"
	"causeway/app/internal/apptest"
	"causeway/app/internal/prices"
	"causeway/app/payments"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

// fakeTermsStore is a store that has only terms and limits.
type fakeTermsStore struct {
	payments.Store
	overrides []ports.CorridorOverride
	settings  []platform.Platform
	reads     int
	onRead    func() // called during a read
}

func (s *fakeTermsStore) LimitRules(context.Context) ([]limit.Rule, error) { return nil, nil }

func (s *fakeTermsStore) CorridorOverrides(context.Context) ([]ports.CorridorOverride, error) {
	s.reads++
	lines := s.overrides
	if s.onRead != nil {
		s.onRead()
	}
	return lines, nil
}

func (s *fakeTermsStore) PriceSettings(context.Context) ([]platform.Platform, error) {
	return s.settings, nil
}

func (s *fakeTermsStore) Platform(context.Context, ident.Platform) (platform.Platform, error) {
	return platform.Platform{Currencies: platform.DefaultCurrencies()}, nil
}

func TestRates_FollowTermsAndLimits(t *testing.T) {
	t.Parallel()
	// Changes of the operator or the platform are read after ten seconds, and at once after a
	// notification. The narrower limit applies.
	here, there := twoPlatforms()
	store, clock := &fakeTermsStore{}, portstest.NewFakeClock(apptest.Noon)
	store.settings = []platform.Platform{{ID: here}, {ID: there}}
	quotes, terms := newPricedService(store, market.New("test"), clock)
	wantTerms(t, quotes, here, 50, 100, 100_000_000)

	store.overrides = []ports.CorridorOverride{
		{From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(40)), MaxSending: new(int64(9_000))}},
		{Platform: here, From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(0))}},
	}
	store.settings = []platform.Platform{
		{ID: here, Currencies: []platform.Currency{{Code: "USD", MinAmount: 300, MaxAmount: 1_000_000},
			{Code: "EUR", MinAmount: 1, MaxAmount: 1}}},
		{ID: there, Currencies: []platform.Currency{{Code: "USD", MaxAmount: 5_000}}},
	}
	clock.Advance(9 * time.Second)
	wantTerms(t, quotes, here, 50, 100, 100_000_000)
	clock.Advance(time.Second)
	wantTerms(t, quotes, here, 0, 300, 9_000)
	wantTerms(t, quotes, there, 40, 100, 5_000)
	if store.reads != 2 {
		t.Errorf("the tables were read %d times, want twice", store.reads)
	}

	store.settings[1].Currencies[0].MaxAmount = 4_000
	wantTerms(t, quotes, there, 40, 100, 5_000)
	terms.Invalidate()
	wantTerms(t, quotes, there, 40, 100, 4_000)
}

func TestPrices_InvalidatedDuringRead(t *testing.T) {
	t.Parallel()
	// If the tables change during a read, with a notification, the result of the read is not cached.
	here, _ := twoPlatforms()
	store := &fakeTermsStore{}
	quotes, terms := newPricedService(store, market.New("test"), portstest.NewFakeClock(apptest.Noon))
	store.onRead = func() {
		store.onRead = nil
		store.overrides = []ports.CorridorOverride{{From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(7))}}}
		terms.Invalidate()
	}

	wantTerms(t, quotes, here, 7, 100, 100_000_000)
}

func TestRates_UnpricedCurrency(t *testing.T) {
	t.Parallel()
	// A currency without a usable rate is left out of the list. An explicit request for it returns
	// the reason.
	here, _ := twoPlatforms()
	quotes, _ := newPricedService(&fakeTermsStore{}, unpricedCurrency{"EUR", market.New("test")}, portstest.NewFakeClock(apptest.Noon))

	list, err := quotes.Rates(t.Context(), here, payments.RatesRequest{Sending: 10_000})

	if err != nil || len(list) == 0 {
		t.Fatalf("%d rates, %v", len(list), err)
	}
	for _, r := range list {
		if r.From == "EUR" || r.To == "EUR" {
			t.Errorf("%s to %s is priced", r.From, r.To)
		}
	}
	for _, wanted := range []payments.RatesRequest{{From: "USD", To: []money.Currency{"BTC", "EUR"}}, {From: "EUR"},
		{To: []money.Currency{"EUR"}}} {
		if list, err := quotes.Rates(t.Context(), here, wanted); !fault.Is(err, fault.QuoteRequestFailed) {
			t.Errorf("%+v: %d rates, %v", wanted, len(list), err)
		}
	}
}

func TestRates_RequestedPairs(t *testing.T) {
	t.Parallel()
	// A requested currency must have a corridor. One that is requested twice is listed once, and the
	// rail is one that carries the receiving amount.
	here, _ := twoPlatforms()
	quotes, _ := newPricedService(&fakeTermsStore{}, market.New("test"), portstest.NewFakeClock(apptest.Noon))
	for name, tt := range map[string]struct {
		wanted payments.RatesRequest
		pairs  int // 0 if rejected
	}{
		"all from the platform's currencies": {payments.RatesRequest{}, 4 * (len(corridor.Currencies()) - 1)},
		"from one":                           {payments.RatesRequest{From: "GBP"}, len(corridor.Currencies()) - 1},
		"to one":                             {payments.RatesRequest{To: []money.Currency{"USD"}}, 3},
		"the same twice":                     {payments.RatesRequest{From: "USD", To: []money.Currency{"BTC", "BTC"}}, 1},
		"an unknown one":                     {payments.RatesRequest{To: []money.Currency{"USD", "XYZ"}}, 0},
		"one that is not live":               {payments.RatesRequest{From: "USD", To: []money.Currency{"BTC", "CAD"}}, 0},
		"no corridor":                        {payments.RatesRequest{From: "JPY"}, 0},
		"to itself":                          {payments.RatesRequest{From: "USD", To: []money.Currency{"USD"}}, 0},
	} {
		list, err := quotes.Rates(t.Context(), here, tt.wanted)
		if len(list) != tt.pairs || (tt.pairs == 0) != fault.Is(err, fault.InvalidCurrency) {
			t.Errorf("%s: %d rates, %v; want %d", name, len(list), err, tt.pairs)
		}
	}
	for sending, rail := range map[int64]corridor.Rail{10_000: corridor.SEPAInstant, 500_000_00: corridor.SEPA} {
		list, err := quotes.Rates(t.Context(), here, payments.RatesRequest{From: "USD", To: []money.Currency{"EUR"}, Sending: sending})
		if err != nil || len(list) != 1 || list[0].Rail != rail {
			t.Errorf("%d cents to euro: %+v, %v; want %s", sending, list, err, rail)
		}
	}
}

// unpricedCurrency is a market without a usable rate for a currency.
type unpricedCurrency struct {
	currency money.Currency
	ports.Rates
}

func (w unpricedCurrency) Rate(ctx context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	if from == w.currency || to == w.currency {
		return ports.MarketRate{}, fault.New(fault.QuoteRequestFailed, "The rate is too old.")
	}
	return w.Rates.Rate(ctx, from, to, now)
}

// pricedStore is the store of payments and of prices.
type pricedStore interface {
	payments.Store
	prices.Store
}

// newPricedService returns a service that can price, but has no database, with its prices.
func newPricedService(store pricedStore, rates ports.Rates, clock ports.Clock) (*payments.Service, *prices.Prices) {
	p := prices.New(store, rates, clock)
	return payments.New(payments.Config{Store: store, Prices: p, Clock: clock}), p
}

func twoPlatforms() (here, there ident.Platform) {
	here.SetUUID(uuid.UUID{15: 1})
	there.SetUUID(uuid.UUID{15: 2})
	return here, there
}

func wantTerms(t *testing.T, quotes *payments.Service, p ident.Platform, fixed, least, most int64) {
	t.Helper()
	list, err := quotes.Rates(t.Context(), p, payments.RatesRequest{From: "USD", To: []money.Currency{"BTC"}, Sending: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if got := list[0]; got.FixedFee != fixed || got.Minimum != least || got.Maximum != most {
		t.Errorf("fee %d, %d to %d; want %d, %d to %d", got.FixedFee, got.Minimum, got.Maximum, fixed, least, most)
	}
}
