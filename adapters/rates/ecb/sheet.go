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

// Sheet is what the bank published on one day: units of each currency for one euro,
// the euro itself among them.
type Sheet struct {
	Day   time.Time // midnight UTC
	Rates map[money.Currency]money.Rate
}

// concertation is when the rates of a day are agreed: 14:15 in Frankfurt, here by
// winter time.
const concertation = 13*time.Hour + 15*time.Minute

// At is the moment the rates stand for.
func (s Sheet) At() time.Time { return s.Day.Add(concertation) }

// ErrSheet says that a text is not the bank's file.
var ErrSheet = errors.New("not a file of reference rates")

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
func Parse(in io.Reader) (Sheet, error) {
	decoder := xml.NewDecoder(in)
	decoder.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("charset %q", charset)
	}
	p := reading{}
	for depth := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Sheet{}, fmt.Errorf("%w: %w", ErrSheet, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			if depth == 1 && token.Name.Local != "Envelope" {
				return Sheet{}, fmt.Errorf("%w: it begins with <%.40s>, not with <Envelope>", ErrSheet, token.Name.Local)
			}
			if token.Name.Local == "Cube" {
				if err := p.cube(token.Attr); err != nil {
					return Sheet{}, fmt.Errorf("%w: %w", ErrSheet, err)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
	return p.newest()
}

// reading is a file half read.
type reading struct {
	cubes   int
	sheet   Sheet // the newest day so far
	current *Sheet
}

// cube takes one element: a day, a rate, or what holds the days.
func (p *reading) cube(attributes []xml.Attr) error {
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

func (p *reading) day(text string) error {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return fmt.Errorf("%.40q is not a day", text)
	}
	if p.sheet.Day.Equal(day) {
		return fmt.Errorf("the day %s stands there twice", text)
	}
	p.current = &Sheet{Day: day, Rates: map[money.Currency]money.Rate{money.EUR: one}}
	if day.After(p.sheet.Day) {
		p.sheet = *p.current // its map is filled by the rates that follow
	}
	return nil
}

func (p *reading) rate(currency, text string) error {
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
	if rate.Cmp(least) < 0 || rate.Cmp(most) > 0 {
		return fmt.Errorf("%s: a rate of %s is not believable", currency, rate)
	}
	p.current.Rates[code] = rate
	return nil
}

var least, most = money.MustRate("0.000001"), money.MustRate("1000000000")

func (p *reading) newest() (Sheet, error) {
	if p.sheet.Rates == nil {
		return Sheet{}, fmt.Errorf("%w: there is no day in it", ErrSheet)
	}
	if _, ok := p.sheet.Rates[money.USD]; !ok {
		return Sheet{}, fmt.Errorf("%w: it has no rate for USD", ErrSheet)
	}
	return p.sheet, nil
}

// cross is the price of from in to, in minor units, over the euro.
func (s Sheet) cross(from, to money.Currency) (money.Rate, error) {
	major, err := s.Rates[to].Div(s.Rates[from])
	if err != nil {
		return money.Rate{}, err
	}
	return money.RateFromMajor(major.TruncateSignificant(significant), from, to)
}
