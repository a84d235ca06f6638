package corridor

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/money"
)

// OverrideInput is an override as an operator writes it; an empty text does not change a
// value. Amounts are in minor units of the sending currency.
type OverrideInput struct {
	Fixed   string // "50"
	Percent string // "0.3%"
	Min     string // "100"
	Max     string // "1000000"
	Lock    string // "5m"
}

// Parse returns the override and its errors, by the names of the fields.
func (in OverrideInput) Parse() (Override, []fault.Field) {
	var o Override
	var bad []fault.Field
	read := func(field, text, message string, parse func(string) error) {
		if text != "" && parse(text) != nil {
			bad = append(bad, fault.Field{Field: field, Message: message})
		}
	}
	read(FieldFixed, in.Fixed, wholeNumberMessage, parseInto(&o.Fixed))
	read(FieldPercent, in.Percent, "must be a percentage with its sign, such as 0.3%", func(text string) error {
		fraction, err := parsePercent(text)
		o.Percent = &fraction
		return err
	})
	read(FieldMin, in.Min, wholeNumberMessage, parseInto(&o.MinSending))
	read(FieldMax, in.Max, wholeNumberMessage, parseInto(&o.MaxSending))
	read(FieldLock, in.Lock, "must be a time such as 5m or 90s", func(text string) error {
		lock, err := time.ParseDuration(text)
		o.Lock = &lock
		return err
	})
	for _, f := range o.Check() {
		if !hasField(bad, f.Field) {
			bad = append(bad, f)
		}
	}
	return o, bad
}

const wholeNumberMessage = "must be a whole number of the smallest unit of the sending currency, such as 50"

func parseInto(into **int64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		*into = &n
		return err
	}
}

func hasField(bad []fault.Field, field string) bool {
	for _, f := range bad {
		if f.Field == field {
			return true
		}
	}
	return false
}

var hundredth, hundred = mustFraction("0.01"), money.MustRate("100")

func parsePercent(text string) (money.Rate, error) {
	digits, signed := strings.CutSuffix(text, "%")
	if !signed {
		return money.Rate{}, errors.New("no percent sign")
	}
	digits = strings.TrimSpace(digits)
	if nothing, err := money.ParseFraction(digits); err == nil && nothing.IsZero() {
		return nothing, nil
	}
	percent, err := money.ParseRate(digits)
	if err != nil {
		return money.Rate{}, err
	}
	return percent.Mul(hundredth)
}

// FormatPercent returns a fraction as a percentage: "0.3%" for 0.003.
func FormatPercent(fraction money.Rate) string {
	percent, err := fraction.Mul(hundred)
	if err != nil {
		return fraction.String() + " of the amount" // impossible: it is at most 1
	}
	return percent.String() + "%"
}

// Format returns the override as an operator writes it.
func (o Override) Format() OverrideInput {
	var in OverrideInput
	if o.Fixed != nil {
		in.Fixed = strconv.FormatInt(*o.Fixed, 10)
	}
	if o.Percent != nil {
		in.Percent = FormatPercent(*o.Percent)
	}
	if o.MinSending != nil {
		in.Min = strconv.FormatInt(*o.MinSending, 10)
	}
	if o.MaxSending != nil {
		in.Max = strconv.FormatInt(*o.MaxSending, 10)
	}
	if o.Lock != nil {
		in.Lock = FormatLock(*o.Lock)
	}
	return in
}

// Format returns all values of the terms as an operator writes them.
func (t Terms) Format() OverrideInput {
	return Override{&t.Fee.Fixed, &t.Fee.Percent, &t.MinSending, &t.MaxSending, &t.Lock}.Format()
}

// FormatLock returns a lock time in minutes or, if it is not a whole number of them, in
// seconds: "5m", "90s".
func FormatLock(d time.Duration) string {
	if d%time.Minute == 0 {
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}

// Values returns the terms of payments that send a currency by their names, with amounts that people read.
func (in OverrideInput) Values(sent money.Currency) diff.Values {
	amount := func(minor string) string {
		n, err := strconv.ParseInt(minor, 10, 64)
		if err != nil {
			return minor
		}
		return money.Amount{Minor: n, Currency: sent}.String()
	}
	return diff.Values{"Fixed fee": amount(in.Fixed), "Fee in percent": in.Percent, "Smallest payment": amount(in.Min),
		"Largest payment": amount(in.Max), "Rate is locked for": in.Lock}
}
