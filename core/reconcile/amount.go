package reconcile

import (
	"fmt"
	"strings"

	"causeway/core/money"
)

// marksReplacer writes the signs, spaces and thousands marks of typographers as those of keyboards.
var marksReplacer = strings.NewReplacer("\u2212", "-", "\u2013", "-", "\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2019", "'")

// ParseAmount parses an amount as people read it: with a sign before or after it, in parentheses or
// with DR if negative, and with the code or sign of the currency. If the layout does not say how
// decimals are marked, the amount itself must: 1.234,56 and 12,5 do, 1,234 does not. decimal is the
// mark that it shows; 0 for none.
func (l Layout) ParseAmount(text string, currency money.Currency) (minor int64, decimal byte, err error) {
	invalid := fmt.Errorf("%.40q is not an amount in %s", text, currency)
	number, negative, ok := splitSign(strings.TrimSpace(marksReplacer.Replace(text)), currency)
	if !ok || len(text) > 60 {
		return 0, 0, invalid
	}
	decimal, group := l.Decimal, l.Group
	if decimal == 0 {
		if decimal, group, err = findMarks(number, currency); err != nil {
			return 0, 0, err
		}
	}
	mark := decimal
	if mark == 0 {
		mark = '.'
	}
	whole, fraction, _ := strings.Cut(number, string(mark))
	if whole == "" && fraction != "" {
		whole = "0"
	}
	// Banks write zeros after the minor unit.
	for len(fraction) > currency.Decimals() && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	if fraction != "" || strings.HasSuffix(number, string(mark)) {
		whole += string(mark) + fraction
	}
	if minor, err = ParseAmount(whole, currency, mark, group); err != nil {
		return 0, 0, fmt.Errorf("%.40q: %w", text, err)
	}
	if negative {
		minor = -minor
	}
	return minor, decimal, nil
}

// splitSign returns the number in an amount, which begins and ends with a digit or a mark.
func splitSign(text string, currency money.Currency) (number string, negative, ok bool) {
	signs := 0
	if inner, found := strings.CutPrefix(text, "("); found {
		if inner, found = strings.CutSuffix(inner, ")"); !found {
			return "", false, false
		}
		text, negative, signs = strings.TrimSpace(inner), true, 1
	}
	names := []string{string(currency)}
	if symbol := currency.Symbol(); symbol != "" {
		names = append(names, symbol)
		if strings.Contains(symbol, "$") {
			names = append(names, "US$", "$")
		}
	}
	named := false
	for cut := true; cut; {
		cut = false
		for _, sign := range []string{"-", "+", "DR", "CR", "Dr", "Cr"} {
			rest, found := strings.CutSuffix(text, sign)
			if !found && len(sign) == 1 {
				rest, found = strings.CutPrefix(text, sign)
			}
			if found {
				text, cut, signs = strings.TrimSpace(rest), true, signs+1
				negative = negative || sign == "-" || sign[0] == 'D'
			}
		}
		for _, name := range names {
			rest, found := strings.CutPrefix(text, name)
			if !found {
				rest, found = strings.CutSuffix(text, name)
			}
			if found && !named {
				text, cut, named = strings.TrimSpace(rest), true, true
			}
		}
	}
	return text, negative, signs <= 1 && text != "" && strings.Trim(text, "0123456789., '") == ""
}

// findMarks returns the decimal and the thousands mark of a number that shows them; 0 for those
// that it does not have.
func findMarks(number string, currency money.Currency) (decimal, group byte, err error) {
	for _, mark := range []byte{' ', '\''} {
		if strings.IndexByte(number, mark) >= 0 {
			group = mark
		}
	}
	last := strings.LastIndexAny(number, ".,")
	if last < 0 {
		return 0, group, nil
	}
	mark, other := number[last], '.'+','-number[last]
	digits := len(number) - last - 1
	switch {
	case strings.IndexByte(number, other) >= 0:
		return mark, other, nil
	case strings.Count(number, string(mark)) > 1:
		return other, mark, nil
	case digits != 3 || last == 0 || last > 3 || number[:last] == "0":
		return mark, group, nil
	case mark == '.' && currency.Decimals() >= digits: // as without a decimal mark in the layout
		return mark, group, nil
	}
	return 0, 0, fmt.Errorf("%.40q may have the decimal mark or the thousands mark %q; set decimal and group in map", number, mark)
}
