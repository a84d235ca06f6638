package reconcile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
)

// Format is how a statement is written.
type Format string

// The formats that are read.
const (
	CAMT053 Format = "camt053"
	CSV     Format = "csv"
	BAI2    Format = "bai2"
)

// Formats lists the formats.
func Formats() []string { return []string{string(CAMT053), string(CSV), string(BAI2)} }

// Header is what a statement says beside its lines.
type Header struct {
	// Statements are the partner's own names for the statements in the file.
	Statements []string
	// PartnerAccount is the account as the partner names it, such as an IBAN.
	PartnerAccount string
	// From and To are the days that it covers; NoDay where it does not say.
	From, To Day
	// Opening and Closing are the partner's balances, in minor units; nil where it does
	// not say.
	Opening, Closing *int64
	// Created is when the partner made it; zero where it does not say.
	Created time.Time
	// Ignored counts what is no booked movement of money: announced only, or of nothing.
	Ignored int
}

// Statement is a file that was read.
type Statement struct {
	Header
	Lines []Line
}

// Finalize sees to it that the statement can be relied on, gives its lines their identity
// and says what days it covers. Faults: INVALID_INPUT of the field file.
func (s *Statement) Finalize(now time.Time) error {
	if len(s.Lines) == 0 && (s.From == NoDay || s.To == NoDay) {
		return InvalidFile("holds no line and does not say what days it covers")
	}
	var sum int64
	first, last, latest := Day(math.MaxInt32), NoDay, LatestDay(now)
	for i := range s.Lines {
		l := &s.Lines[i]
		l.Ordinal = i + 1
		if l.Value == NoDay {
			l.Value = l.Booked
		}
		if l.Booked > latest || l.Value > latest {
			return InvalidFile("movement %d is of %s, a day that has not come yet", l.Ordinal, max(l.Booked, l.Value))
		}
		var err error
		if sum, err = money.AddMinor(sum, l.Amount); err != nil {
			return InvalidFile("adds up to more than can be counted")
		}
		first, last = min(first, l.Booked), max(last, l.Booked)
	}
	if s.From == NoDay {
		s.From = first
	}
	if s.To == NoDay {
		s.To = max(last, s.From)
	}
	if s.From <= s.To {
		s.From, s.To = min(s.From, first), max(s.To, last)
	}
	switch {
	case s.To > latest || s.From > latest:
		return InvalidFile("covers %s to %s, which has not come yet", s.From, s.To)
	case DayOf(s.Created) > latest:
		return InvalidFile("was made at %s, which has not come yet", s.Created.Format(time.RFC3339))
	case s.To < s.From:
		return InvalidFile("covers %s to %s: it ends before it begins", s.From, s.To)
	case s.To-s.From > maxDays:
		return InvalidFile("covers %s to %s: more than %d days; import it in parts", s.From, s.To, maxDays)
	}
	if s.Opening != nil && s.Closing != nil {
		if should, err := money.AddMinor(*s.Opening, sum); err != nil || should != *s.Closing {
			return InvalidFile("is not whole: its lines add up to %d, its balances to %s", sum, formatDifference(*s.Opening, *s.Closing))
		}
	}
	Identify(s.Lines)
	return nil
}

// maxDays is how many days one statement may cover: what it is compared with has to fit
// into memory.
const maxDays = 400

func formatDifference(opening, closing int64) string {
	d, err := money.SubMinor(closing, opening)
	if err != nil {
		return "more than can be counted"
	}
	return fmt.Sprint(d)
}

// InvalidFile says what is wrong with the file of a statement.
func InvalidFile(format string, args ...any) error {
	return fault.Invalid(fault.Field{Field: "file", Message: fmt.Sprintf(format, args...)})
}

// ParseAmount reads an amount as it is written in a statement, into minor units: an
// optional sign, digits, and at most as many decimals as the currency has. Groups of
// three digits may be parted by the mark given, if one is. The error says what is wrong.
func ParseAmount(text string, currency money.Currency, decimal, group byte) (int64, error) {
	if text == "" || len(text) > 40 {
		return 0, fmt.Errorf("%.40q is no amount", text)
	}
	rest, negative := text, false
	if rest[0] == '-' || rest[0] == '+' {
		negative, rest = rest[0] == '-', rest[1:]
	}
	whole, fraction, pointed := strings.Cut(rest, string(decimal))
	if group != 0 && strings.IndexByte(whole, group) >= 0 {
		parts := strings.Split(whole, string(group))
		for i, part := range parts {
			if len(part) != 3 && (i > 0 || len(part) > 3 || part == "") {
				return 0, fmt.Errorf("%q does not part its digits in threes", text)
			}
		}
		whole = strings.Join(parts, "")
	}
	if whole == "" || pointed && fraction == "" {
		return 0, fmt.Errorf("%q is no amount with the decimal mark %q", text, decimal)
	}
	if strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, fmt.Errorf("%q is no amount with the decimal mark %q", text, decimal)
	}
	places := currency.Decimals()
	if len(fraction) > places {
		return 0, fmt.Errorf("%q has %d decimals, and %s has %d", text, len(fraction), currency, places)
	}
	var minor int64
	for _, c := range []byte(whole + fraction + strings.Repeat("0", places-len(fraction))) {
		if minor = minor*10 + int64(c-'0'); minor > money.MaxMinor {
			return 0, fmt.Errorf("%q is more than an amount can be", text)
		}
	}
	if negative {
		minor = -minor
	}
	return minor, nil
}

// ParseFormat reads the name of a format.
func ParseFormat(text string) (Format, bool) {
	return Format(text), slices.Contains(Formats(), text)
}
