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

// Format is a file format of statements.
type Format string

// The supported formats.
const (
	CAMT053 Format = "camt053"
	CSV     Format = "csv"
	BAI2    Format = "bai2"
	MT940   Format = "mt940"
)

// Formats lists the formats.
func Formats() []string { return []string{string(CAMT053), string(CSV), string(BAI2), string(MT940)} }

// Header is a statement without its lines.
type Header struct {
	// Statements are the partner's ids of the statements in the file.
	Statements []string
	// PartnerAccount is the partner's number of the account, such as an IBAN.
	PartnerAccount string
	Currency       money.Currency
	// From and To are the first and the last day that it covers; NoDay if unknown.
	From, To Day
	// Opening and Closing are the partner's balances in minor units; nil if unknown.
	Opening, Closing *int64
	// Created is when the partner created it; zero if unknown.
	Created time.Time
	// Ignored counts what is not a booked movement: pending ones, and those of zero.
	Ignored int
	// Mismatches are the balances that its lines do not lead to, and the missing statements, each
	// in a sentence. A statement with some is imported only if a person accepts them.
	Mismatches []string
}

// Statement is the content of a statement file.
type Statement struct {
	Header
	Lines []Line
}

// Finalize validates the statement, and completes it with the days that it covers and the
// identities of its lines. Fault: INVALID_INPUT for the field file.
func (s *Statement) Finalize(now time.Time) error {
	if len(s.Lines) == 0 && (s.From == NoDay || s.To == NoDay) {
		return InvalidFile("has no lines and does not say which days it covers")
	}
	var sum int64
	first, last, latest := Day(math.MaxInt32), NoDay, LatestDay(now)
	for i := range s.Lines {
		l := &s.Lines[i]
		l.Ordinal = i + 1
		if l.Value == NoDay {
			l.Value = l.Booked
		}
		if l.Booked > latest {
			return InvalidFile("movement %d is booked on %s, which is in the future", l.Ordinal, l.Booked)
		}
		// What is paid in may be available days later: that is its value date, and the balances have it already.
		if l.Value > max(latest, l.Booked+Lookback) {
			return InvalidFile("movement %d has the value date %s, more than %d days after it is booked on %s", l.Ordinal, l.Value, Lookback,
				l.Booked)
		}
		var err error
		if sum, err = money.AddMinor(sum, l.Amount); err != nil {
			return InvalidFile("adds up to more than the maximum amount")
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
		return InvalidFile("covers %s to %s, which is in the future", s.From, s.To)
	case DayOf(s.Created) > latest:
		return InvalidFile("was created at %s, which is in the future", s.Created.Format(time.RFC3339))
	case s.To < s.From:
		return InvalidFile("covers %s to %s: the end is before the start", s.From, s.To)
	case s.To-s.From > maxDays:
		return InvalidFile("covers %s to %s: more than %d days; split it into several files", s.From, s.To, maxDays)
	}
	if s.Opening != nil && s.Closing != nil && len(s.Mismatches) == 0 {
		if expected, err := money.AddMinor(*s.Opening, sum); err != nil || expected != *s.Closing {
			return InvalidFile("is not complete: its lines add up to %d, its balances differ by %s", sum, formatDifference(*s.Opening, *s.Closing))
		}
	}
	Identify(s.Lines)
	return nil
}

// maxDays is the maximum number of days in a statement: everything it is compared with is held
// in memory.
const maxDays = 400

func formatDifference(opening, closing int64) string {
	d, err := money.SubMinor(closing, opening)
	if err != nil {
		return "more than the maximum amount"
	}
	return fmt.Sprint(d)
}

// InvalidFile returns INVALID_INPUT for the field file.
func InvalidFile(format string, args ...any) error {
	return fault.Invalid(fault.Field{Field: "file", Message: fmt.Sprintf(format, args...)})
}

// RefuseMismatch returns INVALID_INPUT for a statement with mismatches.
func (h Header) RefuseMismatch() error {
	if len(h.Mismatches) == 0 {
		return nil
	}
	return fault.Invalid(fault.Field{Field: "file", Message: strings.TrimSuffix(strings.TrimPrefix(h.Mismatches[0], "The file "), ".") +
		"; if it is right, say why with override"})
}

// Mismatchf returns a mismatch of a statement as a sentence. The format is that of InvalidFile.
func Mismatchf(format string, args ...any) string {
	return "The file " + fmt.Sprintf(format, args...) + "."
}

// ParseAmount parses an amount of a statement into minor units: an optional sign, digits, and
// at most as many decimals as the currency has. If group is not 0, it may separate groups of
// three digits.
func ParseAmount(text string, currency money.Currency, decimal, group byte) (int64, error) {
	if text == "" || len(text) > 40 {
		return 0, fmt.Errorf("%.40q is not an amount", text)
	}
	rest, negative := text, false
	if rest[0] == '-' || rest[0] == '+' {
		negative, rest = rest[0] == '-', rest[1:]
	}
	whole, fraction, hasFraction := strings.Cut(rest, string(decimal))
	if group != 0 && strings.IndexByte(whole, group) >= 0 {
		parts := strings.Split(whole, string(group))
		for i, part := range parts {
			if len(part) != 3 && (i > 0 || len(part) > 3 || part == "") {
				return 0, fmt.Errorf("%q has digit groups that are not three digits long", text)
			}
		}
		whole = strings.Join(parts, "")
	}
	if whole == "" || hasFraction && fraction == "" {
		return 0, fmt.Errorf("%q is not an amount with the decimal mark %q", text, decimal)
	}
	if strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not an amount with the decimal mark %q", text, decimal)
	}
	places := currency.Decimals()
	if len(fraction) > places {
		return 0, fmt.Errorf("%q has %d decimals, and %s has %d", text, len(fraction), currency, places)
	}
	var minor int64
	for _, c := range []byte(whole + fraction + strings.Repeat("0", places-len(fraction))) {
		if minor = minor*10 + int64(c-'0'); minor > money.MaxMinor {
			return 0, fmt.Errorf("%q exceeds the maximum amount", text)
		}
	}
	if negative {
		minor = -minor
	}
	return minor, nil
}

// ParseFormat parses the name of a format.
func ParseFormat(text string) (Format, bool) {
	return Format(text), slices.Contains(Formats(), text)
}
