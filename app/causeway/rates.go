package main

import (
	"context"
	"slices"
	"time"

	"causeway/adapters/rates"
	"causeway/adapters/rates/ecb"
	"causeway/adapters/rates/market"
	"causeway/core/money"
	"causeway/ports"
)

// rateFlags configure the source of exchange rates.
type rateFlags struct {
	Rates             string        `name:"rates" env:"CAUSEWAY_RATES" default:"sandbox" enum:"sandbox,ecb" help:"Source of exchange rates: sandbox is a simulated market; ecb is the European Central Bank's daily reference rates, with the simulated market for currencies the bank does not publish."`
	RatesECB          string        `name:"rates-ecb" env:"CAUSEWAY_RATES_ECB" default:"https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml" help:"With --rates ecb: path or http or https URL of the ECB's XML file, read every hour."`
	RatesTimeout      time.Duration `name:"rates-timeout" env:"CAUSEWAY_RATES_TIMEOUT" default:"15s" help:"With --rates ecb: maximum duration of reading a URL."`
	RatesMaxAge       time.Duration `name:"rates-max-age" env:"CAUSEWAY_RATES_MAX_AGE" default:"96h" help:"With --rates ecb: maximum age of the rates that quotes use. 96h covers a weekend; over Easter and Christmas the bank publishes nothing for up to six days."`
	RatesDollarTokens []string      `name:"rates-dollars" env:"CAUSEWAY_RATES_DOLLARS" help:"With --rates ecb: stablecoins counted as one US dollar, such as USDC,USDT. The others use the simulated market." placeholder:"CODE"`
	RatesCacheFile    string        `name:"rates-cache" env:"CAUSEWAY_RATES_CACHE" help:"With --rates ecb: file for the last rates read, used after a restart. Default for dev: a file in the data folder." placeholder:"PATH" type:"path"`
}

// Bounds of --rates-max-age.
const (
	defaultMaxRateAge = 96 * time.Hour

	minRateAge = time.Hour
	maxRateAge = 30 * 24 * time.Hour
)

// checkRates reports invalid values with the name of their setting.
func (s rateFlags) checkRates(refuse func(setting, must string, got any)) {
	if s.Rates != "ecb" {
		for setting, c := range map[string]struct {
			value any
			isSet bool
		}{
			"--rates-ecb (CAUSEWAY_RATES_ECB)":         {s.RatesECB, s.RatesECB != "" && s.RatesECB != ecb.PublishedURL},
			"--rates-max-age (CAUSEWAY_RATES_MAX_AGE)": {s.RatesMaxAge, s.RatesMaxAge != defaultMaxRateAge},
			"--rates-dollars (CAUSEWAY_RATES_DOLLARS)": {s.RatesDollarTokens, len(s.RatesDollarTokens) > 0},
			"--rates-cache (CAUSEWAY_RATES_CACHE)":     {s.RatesCacheFile, s.RatesCacheFile != ""},
		} {
			if c.isSet {
				refuse(setting, "left out unless --rates (CAUSEWAY_RATES) is ecb", c.value)
			}
		}
	}
	if s.RatesMaxAge < minRateAge || s.RatesMaxAge > maxRateAge {
		refuse("--rates-max-age (CAUSEWAY_RATES_MAX_AGE)", "from 1h to 720h", s.RatesMaxAge)
	}
	if s.RatesTimeout < time.Second || s.RatesTimeout > 5*time.Minute {
		refuse("--rates-timeout (CAUSEWAY_RATES_TIMEOUT)", "from 1s to 5m", s.RatesTimeout)
	}
	for _, token := range s.RatesDollarTokens {
		if !slices.Contains(dollarTokens, money.Currency(token)) {
			refuse("--rates-dollars (CAUSEWAY_RATES_DOLLARS)", "a list of USDC, USDT or USDB", token)
		}
	}
	if s.Rates == "ecb" {
		if _, err := ecb.New(ecb.Options{Source: s.RatesECB}); err != nil {
			refuse("--rates-ecb (CAUSEWAY_RATES_ECB)", "the path of a file, or a URL such as "+ecb.PublishedURL, s.RatesECB)
		}
	}
}

// dollarTokens are the stablecoins pegged to the US dollar.
var dollarTokens = []money.Currency{money.USDC, money.USDT, money.USDB}

// openRates returns the simulated market, or the reference rates combined with it. The service
// starts without reference rates; quotes that need them are then refused.
func (a *app) openRates(ctx context.Context) (ports.Rates, error) {
	simulated := market.New("causeway")
	if a.Rates != "ecb" {
		return simulated, nil
	}
	ecbRates, err := ecb.New(ecb.Options{Source: a.RatesECB, Timeout: a.RatesTimeout, MaxAge: a.RatesMaxAge, CacheFile: a.RatesCacheFile,
		Log: a.log})
	if err != nil {
		return nil, err
	}
	loadCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := ecbRates.Load(loadCtx); err != nil {
		a.log.WithError(err).Warn("cannot read reference rates; will retry")
	}
	a.ecbRates = ecbRates
	dollars := make([]money.Currency, len(a.RatesDollarTokens))
	for i, token := range a.RatesDollarTokens {
		dollars[i] = money.Currency(token)
	}
	return rates.Join(ecbRates, simulated, dollars...), nil
}
