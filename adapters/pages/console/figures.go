package console

import (
	"net/url"
	"strings"

	"causeway/core/money"
)

// figureLink leads from a figure to what it is the sum of: the entries of an account, those of a month if one is given, or for a group of
// accounts the trial balance with each of them. by is empty for the time of recording, and "effective" for that of effect.
func figureLink(base, path string, c money.Currency, month, by string) string {
	if isGroup(path) {
		return base + "/trial-balance?" + url.Values{"by": {by}, "detail": {"account"}, "month": {month}}.Encode()
	}
	if month == "" {
		return accountLink(base, path, c)
	}
	return accountLink(base, path, c) + "&" + url.Values{"by": {by}, "month": {month}}.Encode()
}

// isGroup reports whether a path is that of several accounts.
func isGroup(path string) bool { return strings.Contains(path, "<") || strings.HasSuffix(path, "/") }

// linkFigures leads from the amounts in a column to the accounts of their rows, whose path is empty for none.
func linkFigures(t *table, rows [][]string, column int, base string, accountOf func(row []string) (string, money.Currency)) *table {
	for i, row := range rows {
		if path, currency := accountOf(row); path != "" {
			t.Rows[i][column].Link = figureLink(base, path, currency, "", "")
		}
	}
	return t
}
