package mcp

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"causeway/core/money"
)

// Summaries contain nothing that other people could have written. What comes from the service is therefore put into
// words only if it has the form of an id, a code, a time or an amount.

var (
	idPattern   = regexp.MustCompile(`^[A-Za-z]{1,30}:[0-9a-fA-F-]{36}$`)
	codePattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,60}$`)
)

// safeID returns an id for a summary; it is unknown unless it has the form of one.
func safeID(id string) string {
	if !idPattern.MatchString(id) {
		return "(unknown)"
	}
	return id
}

// safeCode returns a status or an error code for a summary; it is UNKNOWN unless it has the form of one.
func safeCode(code string) string {
	if !codePattern.MatchString(code) {
		return "UNKNOWN"
	}
	return code
}

// safeTime returns a time for a summary.
func safeTime(text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "(unknown)"
	}
	return at.UTC().Format(time.RFC3339)
}

// inWords returns an amount in major units, such as "$10.50" or "10.50 EUR". The amount of a currency that the program
// does not know stays in its smallest unit.
func inWords(minor int64, code string) string {
	currency, err := money.ParseCurrency(code)
	if err != nil {
		return fmt.Sprintf("%d in the smallest unit of the currency", minor)
	}
	text := money.Amount{Minor: minor, Currency: currency}.String()
	if currency == money.USD && minor >= 0 {
		return "$" + strings.TrimSuffix(text, " USD")
	}
	return text
}

// currencyAmount is an amount of the service with its currency.
type currencyAmount struct {
	Amount   int64 `json:"amount"`
	Currency struct {
		Code string `json:"code"`
	} `json:"currency"`
}

func (a currencyAmount) String() string { return inWords(a.Amount, a.Currency.Code) }
