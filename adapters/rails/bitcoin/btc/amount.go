package btc

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxSatoshis is more than all bitcoin that can exist.
const MaxSatoshis = 21_000_000 * 100_000_000

const decimals = 8

// ParseAmount returns the satoshis of a number of bitcoin as JSON has it, such as 0.00012 or 1.2e-4. It is exact, or an
// error.
func ParseAmount(text string) (int64, error) {
	bad := fmt.Errorf("%.40q is not an amount of bitcoin", text)
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(text), "e")
	shift := decimals
	if hasExponent {
		e, err := strconv.Atoi(exponent)
		if err != nil || e < -20 || e > 20 {
			return 0, bad
		}
		shift += e
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	all := whole + fraction
	if len(all) == 0 || len(all) > 40 || strings.Trim(all, "0123456789") != "" {
		return 0, bad
	}
	// The point moves by shift places; what is behind it then has to be zero.
	point := len(whole) + shift
	if point < 0 {
		all, point = strings.Repeat("0", -point)+all, 0
	}
	if point > len(all) {
		all += strings.Repeat("0", point-len(all))
	}
	if strings.Trim(all[point:], "0") != "" {
		return 0, bad
	}
	satoshis := int64(0)
	if kept := strings.TrimLeft(all[:point], "0"); kept != "" {
		var err error
		if satoshis, err = strconv.ParseInt(kept, 10, 64); err != nil || satoshis > MaxSatoshis {
			return 0, bad
		}
	}
	if negative {
		satoshis = -satoshis
	}
	return satoshis, nil
}

// FormatAmount returns satoshis as a number of bitcoin with eight decimals.
func FormatAmount(satoshis int64) string {
	sign := ""
	if satoshis < 0 {
		sign, satoshis = "-", -satoshis
	}
	return fmt.Sprintf("%s%d.%08d", sign, satoshis/100_000_000, satoshis%100_000_000)
}

// FeeRate is a fee in satoshis for 1000 virtual bytes.
type FeeRate int64

// ParseFeeRate returns a rate that is given in satoshis per virtual byte, with up to three decimals.
func ParseFeeRate(text string) (FeeRate, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	if len(whole) == 0 || len(whole) > 6 || len(fraction) > 3 || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, fmt.Errorf("%.40q is not a fee rate: write satoshis per virtual byte, such as 12.5", text)
	}
	rate, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 3-len(fraction)), 10, 64)
	return FeeRate(rate), err
}

// String returns the rate in satoshis per virtual byte, as the wallet takes it.
func (r FeeRate) String() string { return fmt.Sprintf("%d.%03d", r/1000, r%1000) }

// Fee returns the fee for a number of virtual bytes, rounded up.
func (r FeeRate) Fee(virtualBytes int64) int64 { return (int64(r)*virtualBytes + 999) / 1000 }

// RateOf returns the rate of a fee, rounded down.
func RateOf(fee, virtualBytes int64) FeeRate { return FeeRate(fee * 1000 / virtualBytes) }
