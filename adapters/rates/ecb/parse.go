package ecb

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"causeway/core/formats/xmlguard"
	"causeway/core/money"
)

// DailyRates holds the rates of one day: units of each currency for one euro, including the euro.
type DailyRates struct {
	Day   time.Time // midnight UTC
	Rates map[money.Currency]money.Rate
}

// fixingTime is when the rates of a day are set: 14:15 in Frankfurt, in winter time.
const fixingTime = 13*time.Hour + 15*time.Minute

// At returns the time of the rates.
func (d DailyRates) At() time.Time { return d.Day.Add(fixingTime) }

// ErrInvalidFile is returned for a text that is not a valid file of the bank.
var ErrInvalidFile = errors.New("not a file of reference rates")

// Limits of one file. Ninety days of rates are far below.
const (
	maxBytes = 1 << 20
	maxCubes = 10_000
)

var one = money.MustRate("1")

// currencyCode is the format of a code, which need not be a supported currency.
var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// Parse parses a file of the bank and returns its newest day. It skips unsupported currencies and
// returns ErrInvalidFile for anything malformed.
func Parse(in io.Reader) (DailyRates, error) {
	reader := xmlguard.New(in)
	p := fileParser{}
	for depth := 0; ; {
		token, err := reader.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return DailyRates{}, fmt.Errorf("%w: %w", ErrInvalidFile, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			if depth == 1 && token.Name.Local != "Envelope" {
				return DailyRates{}, fmt.Errorf("%w: root element is <%.40s>, want <Envelope>", ErrInvalidFile, token.Name.Local)
			}
			if token.Name.Local == "Cube" {
				if err := p.cube(token.Attr); err != nil {
					return DailyRates{}, fmt.Errorf("%w: %w", ErrInvalidFile, err)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
	return p.newest()
}

// fileParser holds the state of parsing a file.
type fileParser struct {
	cubes   int
	latest  DailyRates // the newest day so far
	current *DailyRates
}

// cube handles one Cube element: a day, a rate, or the list of days.
func (p *fileParser) cube(attributes []xml.Attr) error {
	if p.cubes++; p.cubes > maxCubes {
		return fmt.Errorf("more than %d elements", maxCubes)
	}
	var day, currency, rate string
	for _, a := range attributes {
		switch a.Name.Local {
		case "time":
			day = a.Value
		case "currency":
			currency = a.Value
		case "rate":
			rate = a.Value
		}
	}
	switch {
	case day != "":
		return p.day(day)
	case currency != "" || rate != "":
		return p.rate(currency, rate)
	}
	return nil
}

func (p *fileParser) day(text string) error {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return fmt.Errorf("%.40q is not a day", text)
	}
	if p.latest.Day.Equal(day) {
		return fmt.Errorf("duplicate day %s", text)
	}
	p.current = &DailyRates{Day: day, Rates: map[money.Currency]money.Rate{money.EUR: one}}
	if day.After(p.latest.Day) {
		p.latest = *p.current // the rates that follow are added to its map
	}
	return nil
}

func (p *fileParser) rate(currency, text string) error {
	if p.current == nil {
		return errors.New("a rate outside of any day")
	}
	if !currencyCode.MatchString(currency) {
		return fmt.Errorf("%.40q is not a currency", currency)
	}
	rate, err := money.ParseRate(text)
	if err != nil {
		return fmt.Errorf("%s: %w", currency, err)
	}
	code := money.Currency(currency)
	if !code.Known() {
		return nil
	}
	if _, exists := p.current.Rates[code]; exists {
		return fmt.Errorf("duplicate rate for %s on %s", currency, p.current.Day.Format(time.DateOnly))
	}
	// Real rates are within these limits, and cross rates of such rates do not overflow.
	if rate.Cmp(minRate) < 0 || rate.Cmp(maxRate) > 0 {
		return fmt.Errorf("%s: implausible rate %s", currency, rate)
	}
	p.current.Rates[code] = rate
	return nil
}

var minRate, maxRate = money.MustRate("0.000001"), money.MustRate("1000000000")

func (p *fileParser) newest() (DailyRates, error) {
	if p.latest.Rates == nil {
		return DailyRates{}, fmt.Errorf("%w: it contains no day", ErrInvalidFile)
	}
	if _, ok := p.latest.Rates[money.USD]; !ok {
		return DailyRates{}, fmt.Errorf("%w: it has no rate for USD", ErrInvalidFile)
	}
	return p.latest, nil
}

// crossRate returns the price of from in to, in minor units, crossed over the euro.
func (d DailyRates) crossRate(from, to money.Currency) (money.Rate, error) {
	major, err := d.Rates[to].Div(d.Rates[from])
	if err != nil {
		return money.Rate{}, err
	}
	return money.RateFromMajor(major.TruncateSignificant(significantDigits), from, to)
}
