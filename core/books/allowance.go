package books

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// AllowanceRates are the parts of receivables that are expected to be lost, in hundredths of a percent, by the bands of their ages from
// the youngest (IFRS 9, 5.5.15: a provision matrix).
type AllowanceRates [4]int

const allowanceForm = "must be four percentages by age, of up to 30, 60, 90 days and over, such as 1,5,25,100; or empty"

var errAllowance = errors.New(allowanceForm)

// IsZero reports whether no allowance is made.
func (r AllowanceRates) IsZero() bool { return r == AllowanceRates{} }

func (r AllowanceRates) isValid() bool {
	for _, rate := range r {
		if rate < 0 || rate > 100_00 {
			return false
		}
	}
	return true
}

// String returns percentages: "1,5,25,100", or "0.5,5,25,100". It is empty if no allowance is made.
func (r AllowanceRates) String() string {
	if r.IsZero() {
		return ""
	}
	texts := make([]string, len(r))
	for i, rate := range r {
		texts[i] = strconv.Itoa(rate / 100)
		if rest := rate % 100; rest != 0 {
			texts[i] += strings.TrimRight(fmt.Sprintf(".%02d", rest), "0")
		}
	}
	return strings.Join(texts, ",")
}

// ParseAllowanceRates parses what String returns. Percentages have at most two decimals.
func ParseAllowanceRates(text string) (r AllowanceRates, err error) {
	if strings.TrimSpace(text) == "" {
		return r, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != len(r) {
		return AllowanceRates{}, errAllowance
	}
	for i, part := range parts {
		whole, decimals, _ := strings.Cut(strings.TrimSpace(part), ".")
		rate, err := strconv.ParseUint(whole+(decimals + "00")[:max(2, len(decimals))], 10, 16)
		if err != nil || whole == "" || len(decimals) > 2 {
			return AllowanceRates{}, errAllowance
		}
		r[i] = int(rate)
	}
	if !r.isValid() {
		return AllowanceRates{}, errAllowance
	}
	return r, nil
}
