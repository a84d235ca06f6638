package ecb

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"causeway/core/money"
)

// DailyRates is what the bank published on one day: units of each currency for one euro,
// the euro itself among them.
type DailyRates struct {
	Day   time.Time // midnight UTC
	Rates map[money.Currency]money.Rate
}

// fixingTime is when the rates of a day are agreed: 14:15 in Frankfurt, here by
// winter time.
const fixingTime = 13*time.Hour + 15*time.Minute

// At is the moment the rates stand for.
func (s DailyRates) At() time.Time { return s.Day.Add(fixingTime) }

// ErrInvalidFile says that a text is not the bank's file.
var ErrInvalidFile = errors.New("not a file of reference rates")

// Bounds of what is read as one file: ninety days of rates stay far below.
const (
	maxBytes = 1 << 20
	maxCubes = 10_000
)

var one = money.MustRate("1")

// currencyCode is the form of a code; not all codes are currencies of ours.
var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// Parse reads a file of the bank. Where it holds several days, the newest counts.
// Currencies we do not know are passed over; anything malformed is ErrSheet.
func Parse(in io.Reader) (DailyRates, error) {
	decoder := xml.NewDecoder(in)
	decoder.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("charset %q", charset)
	}
	p := fileParser{}
	for depth := 0; ; {
		token, err := decoder.Token()
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
				return DailyRates{}, fmt.Errorf("%w: it begins with <%.40s>, not with <Envelope>", ErrInvalidFile, token.Name.Local)
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

// fileParser is a file half read.
type fileParser struct {
	cubes   int
	latest  DailyRates // the newest day so far
	current *DailyRates
}

// cube takes one element: a day, a rate, or what holds the days.
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
		return fmt.Errorf("the day %s stands there twice", text)
	}
	p.current = &DailyRates{Day: day, Rates: map[money.Currency]money.Rate{money.EUR: one}}
	if day.After(p.latest.Day) {
		p.latest = *p.current // its map is filled by the rates that follow
	}
	return nil
}

func (p *fileParser) rate(currency, text string) error {
	if p.current == nil {
		return errors.New("a rate stands outside of any day")
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
	if _, twice := p.current.Rates[code]; twice {
		return fmt.Errorf("%s stands there twice on %s", currency, p.current.Day.Format(time.DateOnly))
	}
	// Beyond these no currency is quoted against the euro, and no cross rate overflows.
	if rate.Cmp(minRate) < 0 || rate.Cmp(maxRate) > 0 {
		return fmt.Errorf("%s: a rate of %s is not believable", currency, rate)
	}
	p.current.Rates[code] = rate
	return nil
}

var minRate, maxRate = money.MustRate("0.000001"), money.MustRate("1000000000")

func (p *fileParser) newest() (DailyRates, error) {
	if p.latest.Rates == nil {
		return DailyRates{}, fmt.Errorf("%w: there is no day in it", ErrInvalidFile)
	}
	if _, ok := p.latest.Rates[money.USD]; !ok {
		return DailyRates{}, fmt.Errorf("%w: it has no rate for USD", ErrInvalidFile)
	}
	return p.latest, nil
}

// crossRate is the price of from in to, in minor units, over the euro.
func (s DailyRates) crossRate(from, to money.Currency) (money.Rate, error) {
	major, err := s.Rates[to].Div(s.Rates[from])
	if err != nil {
		return money.Rate{}, err
	}
	return money.RateFromMajor(major.TruncateSignificant(significantDigits), from, to)
}
