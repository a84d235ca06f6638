package quoting_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rates/market"
	"causeway/app/quoting"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

// shelf is a store of terms and limits alone.
type shelf struct {
	ports.Store
	lines  []ports.CorridorOverride
	limits []ports.PlatformLimits
	reads  int
	during func() // called in the middle of a read
}

func (s *shelf) CorridorOverrides(context.Context) ([]ports.CorridorOverride, error) {
	s.reads++
	lines := s.lines
	if s.during != nil {
		s.during()
	}
	return lines, nil
}

func (s *shelf) PlatformLimits(context.Context) ([]ports.PlatformLimits, error) { return s.limits, nil }

func (s *shelf) Platform(context.Context, ident.Platform) (platform.Platform, error) {
	return platform.Platform{Currencies: platform.DefaultCurrencies()}, nil
}

func TestTermsAndLimitsAreFollowed(t *testing.T) {
	t.Parallel()
	// What the operator or the platform changes is read again after ten seconds, and at
	// once where somebody says that it has changed; the narrower limit counts.
	here, there := homes()
	store, clock := &shelf{}, portstest.NewHands(noon)
	quotes := quoting.New(quoting.Config{Store: store, Market: market.New("test"), Clock: clock})
	wantTerms(t, quotes, here, 50, 100, 100_000_000)

	store.lines = []ports.CorridorOverride{
		{From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(40)), MaxSending: new(int64(9_000))}},
		{Platform: here, From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(0))}},
	}
	store.limits = []ports.PlatformLimits{
		{Platform: here, Currency: "USD", Limits: corridor.Limits{Min: 300, Max: 1_000_000}},
		{Platform: here, Currency: "EUR", Limits: corridor.Limits{Min: 1, Max: 1}},
		{Platform: there, Currency: "USD", Limits: corridor.Limits{Max: 5_000}},
	}
	clock.Move(9 * time.Second)
	wantTerms(t, quotes, here, 50, 100, 100_000_000)
	clock.Move(time.Second)
	wantTerms(t, quotes, here, 0, 300, 9_000)
	wantTerms(t, quotes, there, 40, 100, 5_000)
	if store.reads != 2 {
		t.Errorf("the tables were read %d times, want twice", store.reads)
	}

	store.limits[2].Max = 4_000
	wantTerms(t, quotes, there, 40, 100, 5_000)
	quotes.Forget()
	wantTerms(t, quotes, there, 40, 100, 4_000)
}

func TestAChangeInTheMiddleOfAReadIsNotMissed(t *testing.T) {
	t.Parallel()
	// The tables change while they are being read, and whoever changed them says so:
	// what was read before is not kept.
	here, _ := homes()
	store := &shelf{}
	quotes := quoting.New(quoting.Config{Store: store, Market: market.New("test"), Clock: portstest.NewHands(noon)})
	store.during = func() {
		store.during = nil
		store.lines = []ports.CorridorOverride{{From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(7))}}}
		quotes.Forget()
	}

	wantTerms(t, quotes, here, 7, 100, 100_000_000)
}

func TestRatesThatCannotBePriced(t *testing.T) {
	t.Parallel()
	// Where one currency has no usable rate, the list goes on without it; whoever asks for
	// it by name is told why.
	here, _ := homes()
	quotes := quoting.New(quoting.Config{Store: &shelf{}, Market: without{"EUR", market.New("test")}, Clock: portstest.NewHands(noon)})

	list, err := quotes.Rates(t.Context(), here, quoting.RatesWanted{Sending: 10_000})

	if err != nil || len(list) == 0 {
		t.Fatalf("%d rates, %v", len(list), err)
	}
	for _, r := range list {
		if r.From == "EUR" || r.To == "EUR" {
			t.Errorf("%s to %s is priced", r.From, r.To)
		}
	}
	for _, wanted := range []quoting.RatesWanted{{From: "USD", To: []money.Currency{"BTC", "EUR"}}, {From: "EUR"}, {To: []money.Currency{"EUR"}}} {
		if list, err := quotes.Rates(t.Context(), here, wanted); !fault.Is(err, fault.QuoteRequestFailed) {
			t.Errorf("%+v: %d rates, %v", wanted, len(list), err)
		}
	}
}

func TestRatesWanted(t *testing.T) {
	t.Parallel()
	// A currency that is named must have a corridor; one that is named twice is answered
	// once; the rail is one that carries what arrives.
	here, _ := homes()
	quotes := quoting.New(quoting.Config{Store: &shelf{}, Market: market.New("test"), Clock: portstest.NewHands(noon)})
	for name, tt := range map[string]struct {
		wanted quoting.RatesWanted
		pairs  int // 0: refused
	}{
		"all from what the platform uses": {quoting.RatesWanted{}, 4 * (len(corridor.Currencies()) - 1)},
		"from one":                        {quoting.RatesWanted{From: "GBP"}, len(corridor.Currencies()) - 1},
		"to one":                          {quoting.RatesWanted{To: []money.Currency{"USD"}}, 3},
		"twice the same":                  {quoting.RatesWanted{From: "USD", To: []money.Currency{"BTC", "BTC"}}, 1},
		"an unknown one":                  {quoting.RatesWanted{To: []money.Currency{"USD", "XYZ"}}, 0},
		"one that is not live":            {quoting.RatesWanted{From: "USD", To: []money.Currency{"BTC", "CAD"}}, 0},
		"from nowhere":                    {quoting.RatesWanted{From: "JPY"}, 0},
		"to itself":                       {quoting.RatesWanted{From: "USD", To: []money.Currency{"USD"}}, 0},
	} {
		list, err := quotes.Rates(t.Context(), here, tt.wanted)
		if len(list) != tt.pairs || (tt.pairs == 0) != fault.Is(err, fault.InvalidCurrency) {
			t.Errorf("%s: %d rates, %v; want %d", name, len(list), err, tt.pairs)
		}
	}
	for sending, rail := range map[int64]corridor.Rail{10_000: corridor.SEPAInstant, 500_000_00: corridor.SEPA} {
		list, err := quotes.Rates(t.Context(), here, quoting.RatesWanted{From: "USD", To: []money.Currency{"EUR"}, Sending: sending})
		if err != nil || len(list) != 1 || list[0].Rail != rail {
			t.Errorf("%d cents to euro: %+v, %v; want %s", sending, list, err, rail)
		}
	}
}

// without is a market on which a currency has no usable rate.
type without struct {
	currency money.Currency
	ports.Rates
}

func (w without) Rate(ctx context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	if from == w.currency || to == w.currency {
		return ports.MarketRate{}, fault.New(fault.QuoteRequestFailed, "The rate is too old.")
	}
	return w.Rates.Rate(ctx, from, to, now)
}

func homes() (here, there ident.Platform) {
	ident.Set(&here, uuid.UUID{15: 1})
	ident.Set(&there, uuid.UUID{15: 2})
	return here, there
}

func wantTerms(t *testing.T, quotes *quoting.Quoting, p ident.Platform, fixed, least, most int64) {
	t.Helper()
	list, err := quotes.Rates(t.Context(), p, quoting.RatesWanted{From: "USD", To: []money.Currency{"BTC"}, Sending: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if got := list[0]; got.FixedFee != fixed || got.Minimum != least || got.Maximum != most {
		t.Errorf("fee %d, %d to %d; want %d, %d to %d", got.FixedFee, got.Minimum, got.Maximum, fixed, least, most)
	}
}
