package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"causeway/core/financials"
	"causeway/core/money"
	"causeway/core/period"
)

// figureLink leads from a figure to what it is the sum of: the entries of an account, or for a group of accounts the trial balance with
// each of them, those of some months if there are any. by is empty for the time of recording, and "effective" for that of effect.
func figureLink(base, path string, c money.Currency, of financials.Entries, by string) string {
	query := url.Values{}
	if isGroup(path) {
		query = monthsQuery(of.Period)
		query.Set("by", by)
		query.Set("detail", "account")
		query.Set("group", path)
		query.Set("currency", string(c))
		return base + "/trial-balance?" + query.Encode()
	}
	if !of.IsZero() {
		query = monthsQuery(of.Period)
		query.Set("by", by)
	}
	if of.Part != financials.AllEntries {
		query.Set("part", string(of.Part))
	}
	link := accountLink(base, path, c)
	if len(query) > 0 {
		link += "&" + query.Encode()
	}
	return link
}

// monthsQuery names months, as monthsIn reads them.
func monthsQuery(p financials.Period) url.Values {
	if p.From == p.To {
		return url.Values{"month": {p.To.String()}}
	}
	return url.Values{"from": {p.From.String()}, "to": {p.To.String()}}
}

// monthsIn returns the months that a page names: one, or several that begin with the first posting if no from is given; zero for none. The
// interval has no end if the last has not ended.
func monthsIn(query url.Values, now time.Time) (p financials.Period, i period.Interval, err error) {
	bad := &problem{http.StatusUnprocessableEntity, "This cannot be shown",
		"Each month must have begun, be written as in 2026-03, and not be before the first."}
	for name, months := range map[string][]*period.Month{"month": {&p.From, &p.To}, "from": {&p.From}, "to": {&p.To}} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		m, err := period.ParseMonth(text)
		if err != nil || m.Start().After(now) {
			return p, i, bad
		}
		for _, month := range months {
			*month = m
		}
	}
	if p.IsZero() {
		return p, i, nil
	}
	if p.To.Before(p.From) {
		return p, i, bad
	}
	i.From = p.From.Start()
	if end := p.To.End(); !end.After(now) {
		i.To = end
	}
	return p, i, nil
}

// monthsText returns months as a page shows them.
func monthsText(p financials.Period) string {
	if p.From.IsZero() && !p.To.IsZero() {
		return "the time until " + p.To.String()
	}
	return p.String()
}

// isGroup reports whether a path is that of several accounts.
func isGroup(path string) bool { return strings.Contains(path, "<") || strings.HasSuffix(path, "/") }

// linkFigures leads from the amounts in a column to the accounts of their rows, whose path is empty for none.
func linkFigures(t *table, rows [][]string, column int, base string, accountOf func(row []string) (string, money.Currency)) *table {
	for i, row := range rows {
		if path, currency := accountOf(row); path != "" {
			t.Rows[i][column].Link = figureLink(base, path, currency, financials.Entries{}, "")
		}
	}
	return t
}
