// Package ecb takes exchange rates from the reference rates that the European
// Central Bank publishes on each working day at about 16:00 in Frankfurt.
//
// It reads the bank's XML (eurofxref-daily.xml) from a file or an address, keeps
// the last good one, and refuses to price on one that is too old. It knows
// currencies of banks against the euro and each other, and nothing of crypto; it
// never makes a rate up. The bank publishes the rates for information: whoever
// trades on them carries the difference to the market.
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

// PublishedURL is where the bank publishes its rates.
const PublishedURL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"

// DefaultMaxAge bridges an ordinary weekend. Over Easter and Christmas the bank
// pauses for up to six days.
const DefaultMaxAge = 4 * 24 * time.Hour

// significantDigits is how many digits a rate between two currencies is quoted with.
const significantDigits = 12

// Options say where the rates come from.
type Options struct {
	// Source is the path of a file, or an http or https address.
	Source string
	// MaxAge is how old rates may be that are priced on; zero: DefaultMaxAge.
	MaxAge time.Duration
	// CacheFile is a file in which the last good rates outlive the process; empty: none.
	CacheFile string
	Log       logrus.FieldLogger
}

// Rates are the reference rates as last read.
type Rates struct {
	maxAge    time.Duration
	source    source
	cacheFile string
	log       logrus.FieldLogger
	table     atomic.Pointer[table] // nil until something good was read

	loading sync.Mutex // one load at a time
}

// table is one file, with the pairs that were asked for.
type table struct {
	daily DailyRates
	pairs sync.Map // pair to money.Rate
}

type pair struct{ from, to money.Currency }

// New checks the options; nothing is read before Load.
func New(o Options) (*Rates, error) {
	from, err := newSource(o.Source)
	if err != nil {
		return nil, err
	}
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.Log == nil {
		o.Log = logrus.StandardLogger()
	}
	return &Rates{maxAge: o.MaxAge, source: from, cacheFile: o.CacheFile, log: o.Log}, nil
}

// Supports tells whether the currency is among the rates as last read. Before anything
// was read it claims every currency of banks, so that none of them is priced
// elsewhere because of a file that is missing.
func (r *Rates) Supports(c money.Currency) bool {
	t := r.table.Load()
	if t == nil {
		return c.Known() && !c.IsCrypto()
	}
	_, ok := t.daily.Rates[c]
	return ok
}

// Rate is the price of from in to, crossed over the euro. Faults: INVALID_CURRENCY
// for a currency the bank does not publish, QUOTE_REQUEST_FAILED while there are no
// rates or they are too old.
func (r *Rates) Rate(_ context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	t := r.table.Load()
	if t == nil {
		return ports.MarketRate{}, &fault.Error{Code: fault.QuoteRequestFailed, Reason: "No exchange rates", RetryAfter: minRetryDelay,
			Message: "The reference rates of the European Central Bank have not been read yet, so nothing is priced on them. Try again in a minute."}
	}
	for _, c := range []money.Currency{from, to} {
		if _, ok := t.daily.Rates[c]; !ok {
			return ports.MarketRate{}, fault.New(fault.InvalidCurrency, "The European Central Bank publishes no rate for %.8s.", c)
		}
	}
	at := t.daily.At()
	if err := r.checkAge(at, now); err != nil {
		return ports.MarketRate{}, err
	}
	if known, ok := t.pairs.Load(pair{from, to}); ok {
		return ports.MarketRate{Rate: known.(money.Rate), At: at}, nil
	}
	rate, err := t.daily.crossRate(from, to)
	if err != nil {
		return ports.MarketRate{}, fmt.Errorf("reference rate of %s in %s: %w", from, to, err)
	}
	t.pairs.Store(pair{from, to}, rate)
	return ports.MarketRate{Rate: rate, At: at}, nil
}

// checkAge refuses rates that are too old to price on, and those of another time.
func (r *Rates) checkAge(at, now time.Time) error {
	age := now.Sub(at)
	details := map[string]any{"rateAt": at.Format(time.RFC3339), "ageSeconds": int64(age / time.Second), "maxAgeSeconds": int64(r.maxAge / time.Second)}
	switch {
	case age < 0:
		return &fault.Error{Code: fault.QuoteRequestFailed, Reason: "Exchange rates dated in the future", Details: details, RetryAfter: loadInterval,
			Message: fmt.Sprintf("The reference rates are dated %s, which has not come yet, so nothing is priced on them. Try again later.", at.Format(time.DateOnly))}
	case age > r.maxAge:
		return &fault.Error{Code: fault.QuoteRequestFailed, Reason: fmt.Sprintf("Exchange rates are %s old, at most %s are allowed", formatAge(age), formatAge(r.maxAge)),
			Details: details, RetryAfter: loadInterval,
			Message: fmt.Sprintf("The newest reference rates are of %s. Nothing is priced on rates that old; try again later.", at.Format(time.DateOnly))}
	}
	return nil
}

// formatAge is a time in days and hours.
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
