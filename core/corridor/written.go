package corridor

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
)

// Written is an override as an operator writes it; an empty text leaves its value
// as it is. Amounts are minor sending units.
type Written struct {
	Fixed   string // "50"
	Percent string // "0.3%"
	Min     string // "100"
	Max     string // "1000000"
	Lock    string // "5m"
}

// Read is the override, and everything wrong with it, by the names of its values.
func (w Written) Read() (Override, []fault.Field) {
	var o Override
	var bad []fault.Field
	read := func(field, text, must string, into func(string) error) {
		if text != "" && into(text) != nil {
			bad = append(bad, fault.Field{Field: field, Message: must})
		}
	}
	read(FieldFixed, w.Fixed, wholeNumber, number(&o.Fixed))
	read(FieldPercent, w.Percent, "must be a percentage with its sign, such as 0.3%", func(text string) error {
		fraction, err := parsePercent(text)
		o.Percent = &fraction
		return err
	})
	read(FieldMin, w.Min, wholeNumber, number(&o.MinSending))
	read(FieldMax, w.Max, wholeNumber, number(&o.MaxSending))
	read(FieldLock, w.Lock, "must be a time such as 5m or 90s", func(text string) error {
		lock, err := time.ParseDuration(text)
		o.Lock = &lock
		return err
	})
	for _, f := range o.Check() {
		if !named(bad, f.Field) {
			bad = append(bad, f)
		}
	}
	return o, bad
}

const wholeNumber = "must be a whole number of the smallest unit of the sending currency, such as 50"

func number(into **int64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		*into = &n
		return err
	}
}

func named(bad []fault.Field, field string) bool {
	for _, f := range bad {
		if f.Field == field {
			return true
		}
	}
	return false
}

var hundredth, hundred = fraction("0.01"), money.MustRate("100")

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

// Percent writes a fraction as a percentage: 0.003 is "0.3%".
func Percent(fraction money.Rate) string {
	percent, err := fraction.Mul(hundred)
	if err != nil {
		return fraction.String() + " of the amount" // never: it is at most 1
	}
	return percent.String() + "%"
}

// Write is the override as an operator writes it.
func (o Override) Write() Written {
	var w Written
	if o.Fixed != nil {
		w.Fixed = strconv.FormatInt(*o.Fixed, 10)
	}
	if o.Percent != nil {
		w.Percent = Percent(*o.Percent)
	}
	if o.MinSending != nil {
		w.Min = strconv.FormatInt(*o.MinSending, 10)
	}
	if o.MaxSending != nil {
		w.Max = strconv.FormatInt(*o.MaxSending, 10)
	}
	if o.Lock != nil {
		w.Lock = WriteLock(*o.Lock)
	}
	return w
}

// Write is all values of the terms as an operator writes them.
func (t Terms) Write() Written {
	return Override{&t.Fee.Fixed, &t.Fee.Percent, &t.MinSending, &t.MaxSending, &t.Lock}.Write()
}

// WriteLock writes a lock time in minutes where it has no odd seconds: "5m", "90s".
func WriteLock(d time.Duration) string {
	if d%time.Minute == 0 {
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}
