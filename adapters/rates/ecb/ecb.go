// Package ecb provides the euro foreign exchange reference rates, which the European Central Bank
// publishes on working days at about 16:00 in Frankfurt.
//
// It reads the bank's XML (eurofxref-daily.xml) from a file or URL, keeps the last valid file, and
// refuses rates that are too old. It has no rates for crypto. The bank publishes the rates for
// information; those who trade at them bear the difference to the market.
package ecb

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ports"
)

// Source names these rates.
const Source = "ECB"

// PublishedURL is where the bank publishes its rates.
const PublishedURL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"

// DefaultMaxAge covers a weekend. Over Easter and Christmas the bank publishes nothing for up to
// six days.
const DefaultMaxAge = 4 * 24 * time.Hour

// significantDigits is the precision of a cross rate.
const significantDigits = 12

// Options configures the source of the rates.
type Options struct {
	// Source is a file path or an http or https URL.
	Source string
	// Timeout is the maximum duration of reading a URL. Zero means 15 seconds.
	Timeout time.Duration
	// MaxAge is the maximum age of rates. Zero means DefaultMaxAge.
	MaxAge time.Duration
	// CacheFile stores the last valid rates for the next process. Empty means none.
	CacheFile string
	Log       logrus.FieldLogger
}

// Rates provides the reference rates as last read.
type Rates struct {
	maxAge    time.Duration
	source    source
	cacheFile string
	log       logrus.FieldLogger
	table     atomic.Pointer[table] // nil until the first valid file

	loading sync.Mutex // one load at a time
}

// table holds the rates of one file and a cache of cross rates.
type table struct {
	daily DailyRates
	pairs sync.Map // pair to money.Rate
}

type pair struct{ from, to money.Currency }

// New validates the options. It reads nothing; see Load.
func New(o Options) (*Rates, error) {
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	source, err := newSource(o.Source, o.Timeout)
	if err != nil {
		return nil, err
	}
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.Log == nil {
		o.Log = logrus.StandardLogger()
	}
	return &Rates{maxAge: o.MaxAge, source: source, cacheFile: o.CacheFile, log: o.Log}, nil
}

// Supports reports whether the rates as last read include a currency. Before the first load it
// returns true for every fiat currency, so that a missing file does not move them to another
// source.
func (r *Rates) Supports(c money.Currency) bool {
	t := r.table.Load()
	if t == nil {
		return c.Known() && !c.IsCrypto()
	}
	_, ok := t.daily.Rates[c]
	return ok
}

// Age returns the age of the rates as last read, and false before the first load.
func (r *Rates) Age(now time.Time) (time.Duration, bool) {
	t := r.table.Load()
	if t == nil {
		return 0, false
	}
	return now.Sub(t.daily.At()), true
}

// Rate returns the price of from in to, crossed over the euro. It returns INVALID_CURRENCY for a
// currency that the bank does not publish, and QUOTE_REQUEST_FAILED if there are no rates or they
// are too old.
func (r *Rates) Rate(_ context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	t := r.table.Load()
	if t == nil {
		return ports.MarketRate{}, &fault.Error{Code: fault.QuoteRequestFailed, Reason: "No exchange rates", RetryAfter: minRetryDelay,
			Message: "The reference rates of the European Central Bank have not been loaded yet. Try again in a minute."}
	}
	for _, c := range []money.Currency{from, to} {
		if _, ok := t.daily.Rates[c]; !ok {
			return ports.MarketRate{}, fault.New(fault.InvalidCurrency, "The European Central Bank publishes no rate for %.8s.", c)
		}
	}
	rateTime := t.daily.At()
	if err := r.checkAge(rateTime, now); err != nil {
		return ports.MarketRate{}, err
	}
	if cached, ok := t.pairs.Load(pair{from, to}); ok {
		return ports.MarketRate{Rate: cached.(money.Rate), At: rateTime, Source: Source}, nil
	}
	rate, err := t.daily.crossRate(from, to)
	if err != nil {
		return ports.MarketRate{}, fmt.Errorf("reference rate of %s in %s: %w", from, to, err)
	}
	t.pairs.Store(pair{from, to}, rate)
	return ports.MarketRate{Rate: rate, At: rateTime, Source: Source}, nil
}

// checkAge returns an error if the rates are too old or dated in the future.
func (r *Rates) checkAge(rateTime, now time.Time) error {
	age := now.Sub(rateTime)
	details := map[string]any{"rateAt": rateTime.Format(time.RFC3339), "ageSeconds": int64(age / time.Second),
		"maxAgeSeconds": int64(r.maxAge / time.Second)}
	switch {
	case age < 0:
		return &fault.Error{Code: fault.QuoteRequestFailed, Reason: "Exchange rates dated in the future", Details: details,
			RetryAfter: loadInterval,
			Message:    fmt.Sprintf("The reference rates are dated %s, which is in the future. Try again later.", rateTime.Format(time.DateOnly))}
	case age > r.maxAge:
		return &fault.Error{Code: fault.QuoteRequestFailed, Reason: fmt.Sprintf("Exchange rates are %s old, at most %s are allowed",
			formatAge(age), formatAge(r.maxAge)),
			Details: details, RetryAfter: loadInterval,
			Message: fmt.Sprintf("The newest reference rates are dated %s and are too old. Try again later.", rateTime.Format(time.DateOnly))}
	}
	return nil
}

// formatAge formats a duration in days and hours.
func formatAge(d time.Duration) string {
	hours := int64(d / time.Hour)
	switch days := hours / 24; {
	case hours < 1:
		return d.Round(time.Second).String()
	case days < 1:
		return fmt.Sprintf("%d h", hours)
	case hours%24 == 0:
		return fmt.Sprintf("%d d", days)
	default:
		return fmt.Sprintf("%d d %d h", days, hours%24)
	}
}
