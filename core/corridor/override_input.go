package corridor

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
)

// OverrideInput is an override as an operator writes it; an empty text leaves its value
// as it is. Amounts are minor sending units.
type OverrideInput struct {
	Fixed   string // "50"
	Percent string // "0.3%"
	Min     string // "100"
	Max     string // "1000000"
	Lock    string // "5m"
}

// Parse returns the override, and everything wrong with it, by the names of its values.
func (w OverrideInput) Parse() (Override, []fault.Field) {
	var o Override
	var bad []fault.Field
	read := func(field, text, must string, into func(string) error) {
		if text != "" && into(text) != nil {
			bad = append(bad, fault.Field{Field: field, Message: must})
		}
	}
	read(FieldFixed, w.Fixed, wholeNumberMessage, parseInto(&o.Fixed))
	read(FieldPercent, w.Percent, "must be a percentage with its sign, such as 0.3%", func(text string) error {
		fraction, err := parsePercent(text)
		o.Percent = &fraction
		return err
	})
	read(FieldMin, w.Min, wholeNumberMessage, parseInto(&o.MinSending))
	read(FieldMax, w.Max, wholeNumberMessage, parseInto(&o.MaxSending))
	read(FieldLock, w.Lock, "must be a time such as 5m or 90s", func(text string) error {
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

// FormatPercent writes a fraction as a percentage: 0.003 is "0.3%".
func FormatPercent(fraction money.Rate) string {
	percent, err := fraction.Mul(hundred)
	if err != nil {
		return fraction.String() + " of the amount" // never: it is at most 1
	}
	return percent.String() + "%"
}

// Format returns the override as an operator writes it.
func (o Override) Format() OverrideInput {
	var w OverrideInput
	if o.Fixed != nil {
		w.Fixed = strconv.FormatInt(*o.Fixed, 10)
	}
	if o.Percent != nil {
		w.Percent = FormatPercent(*o.Percent)
	}
	if o.MinSending != nil {
		w.Min = strconv.FormatInt(*o.MinSending, 10)
	}
	if o.MaxSending != nil {
		w.Max = strconv.FormatInt(*o.MaxSending, 10)
	}
	if o.Lock != nil {
		w.Lock = FormatLock(*o.Lock)
	}
	return w
}

// Format returns all values of the terms as an operator writes them.
func (t Terms) Format() OverrideInput {
	return Override{&t.Fee.Fixed, &t.Fee.Percent, &t.MinSending, &t.MaxSending, &t.Lock}.Format()
}

// FormatLock writes a lock time in minutes where it has no odd seconds: "5m", "90s".
func FormatLock(d time.Duration) string {
	if d%time.Minute == 0 {
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}
