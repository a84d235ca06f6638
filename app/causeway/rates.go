package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/adapters/rates"
	"causeway/adapters/rates/ecb"
	"causeway/adapters/rates/market"
	"causeway/core/money"
	"causeway/ports"
)

// rateSettings say where exchange rates come from.
type rateSettings struct {
	Rates             string        `name:"rates" env:"CAUSEWAY_RATES" default:"sandbox" enum:"sandbox,ecb" help:"Where exchange rates come from: sandbox is a simulated market; ecb the European Central Bank's daily reference rates, with a simulated market for what the bank does not publish."`
	RatesECB          string        `name:"rates-ecb" env:"CAUSEWAY_RATES_ECB" default:"https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml" help:"With --rates ecb: the bank's XML, as the path of a file or an http or https address. It is read every hour."`
	RatesMaxAge       time.Duration `name:"rates-max-age" env:"CAUSEWAY_RATES_MAX_AGE" default:"96h" help:"With --rates ecb: how old its rates may be that are priced on. 96h bridges a weekend; over Easter and Christmas the bank pauses for up to six days."`
	RatesDollarTokens []string      `name:"rates-dollars" env:"CAUSEWAY_RATES_DOLLARS" help:"With --rates ecb: tokens that count as one US dollar each, such as USDC,USDT. The others are priced by the market." placeholder:"CODE"`
	RatesCacheFile    string        `name:"rates-keep" env:"CAUSEWAY_RATES_KEEP" help:"With --rates ecb: file in which the last good rates outlive the process. dev keeps one in its data folder." placeholder:"PATH" type:"path"`
}

// Bounds of --rates-max-age.
const (
	minRateAge = time.Hour
	maxRateAge = 30 * 24 * time.Hour
)

// checkRates refuses wrong values by the name of their setting.
func (s rateSettings) checkRates(refuse func(setting, must string, got any)) {
	if s.RatesMaxAge < minRateAge || s.RatesMaxAge > maxRateAge {
		refuse("--rates-max-age (CAUSEWAY_RATES_MAX_AGE)", "from 1h to 720h", s.RatesMaxAge)
	}
	for _, token := range s.RatesDollarTokens {
		if !slices.Contains(dollarTokens, money.Currency(token)) {
			refuse("--rates-dollars (CAUSEWAY_RATES_DOLLARS)", fmt.Sprintf("some of %v", dollarTokens), token)
		}
	}
	if s.Rates == "ecb" {
		if _, err := ecb.New(ecb.Options{Source: s.RatesECB}); err != nil {
			refuse("--rates-ecb (CAUSEWAY_RATES_ECB)", "the path of a file, or an address such as "+ecb.PublishedURL, s.RatesECB)
		}
	}
}

// dollarTokens are made to be worth a dollar.
var dollarTokens = []money.Currency{money.USDC, money.USDT, money.USDB}

// openRates is the simulated one, or the reference rates with its help. Rates that
// cannot be read now are no reason not to start: what needs them is refused.
func (h *app) openRates(ctx context.Context) (ports.Rates, error) {
	simulated := market.New("causeway")
	if h.Rates != "ecb" {
		return simulated, nil
	}
	bank, err := ecb.New(ecb.Options{Source: h.RatesECB, MaxAge: h.RatesMaxAge, CacheFile: h.RatesCacheFile, Log: h.log})
	if err != nil {
		return nil, err
	}
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := bank.Load(short); err != nil {
		h.log.WithError(err).Warn("reference rates cannot be read now; they will be tried again")
	}
	h.ecbRates = bank
	dollars := make([]money.Currency, len(h.RatesDollarTokens))
	for i, token := range h.RatesDollarTokens {
		dollars[i] = money.Currency(token)
	}
	return rates.Join(bank, simulated, dollars...), nil
}
