package console

import (
	"reflect"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

func TestFigureLink(t *testing.T) {
	t.Parallel()
	// A figure leads to the entries of its account, those of its months if it has any, or to the accounts of its group.
	february := financials.Entries{Period: financials.Period{From: testMonth, To: testMonth}}
	quarter := financials.Entries{Period: financials.Period{From: testMonth.Previous(), To: testMonth.Next()}, Part: financials.Earned}
	until := financials.Entries{Period: financials.Period{To: testMonth}}
	for want, got := range map[string]string{
		"/p/entries?path=rails%2FACH&currency=USD":                            figureLink("/p", "rails/ACH", "USD", financials.Entries{}, ""),
		"/p/entries?path=rails%2FACH&currency=USD&by=effective&month=2026-02": figureLink("/p", "rails/ACH", "USD", february, "effective"),
		"/p/entries?path=income%2Ffees&currency=USD&by=effective&from=2026-01&part=earned&to=2026-03": figureLink("/p", "income/fees", "USD",
			quarter, "effective"),
		"/p/entries?path=rails%2FACH&currency=USD&by=effective&from=&to=2026-02": figureLink("/p", "rails/ACH", "USD", until, "effective"),
		"/p/trial-balance?by=&currency=USD&detail=account&group=rails%2F%3CRAIL%3E&month=2026-02": figureLink("/p", "rails/<RAIL>", "USD",
			february, ""),
		"/p/trial-balance?by=&currency=USD&detail=account&group=customers%2F&month=": figureLink("/p", "customers/", "USD",
			financials.Entries{}, ""),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestFigures_LeadToEntries(t *testing.T) {
	t.Parallel()
	// The figures of each page of finance lead to the entries or accounts that they are the sum of.
	for path, want := range map[string]string{
		"/trial-balance?month=2026-02": "/entries?path=income%2Ffees&amp;currency=USD&amp;by=&amp;month=2026-02",
		"/fx-position":                 "/entries?path=fx%2Fposition&amp;currency=",
		"/receivables":                 "/receivables?state=OPEN",
		"/safeguarding":                "/entries?path=rails%2F",
		"":                             "/safeguarding\"",
	} {
		s := asFinance(t)
		if got := s.get(base + path); !strings.Contains(got.body, base+want) {
			t.Errorf("%s does not lead to %s:\n%s", path, want, got.body)
		}
	}
}

func TestEntries_OfAMonth(t *testing.T) {
	t.Parallel()
	// The entries of a figure of a month are those of that month, also on the next page, and lead to all; an account of the chart to which
	// nothing was posted has an empty page, and another path has none.
	s := asFinance(t)
	got := s.get(base + "/entries?path=income/fees&currency=USD&month=2026-02&by=effective")
	want := ports.AccountEntryFilter{Account: ledger.Account{Platform: ownPlatform, Path: "income/fees", Currency: "USD"}, Limit: pageSize,
		By: ports.ByEffective, Interval: period.Interval{From: month(2026, 2), To: month(2026, 3)}}
	if !reflect.DeepEqual(s.accounting.filter, want) {
		t.Errorf("%+v", s.accounting.filter)
	}
	for _, part := range []string{"Those of 2026-02, by the time of effect", "<dt>Sum of these entries</dt><dd>12.34 USD</dd>",
		"after=42.1&amp;by=effective&amp;currency=USD&amp;month=2026-02"} {
		if !strings.Contains(got.body, part) {
			t.Errorf("no %q in %s", part, got.body)
		}
	}
	// Those of several months, or of all until one, are of their part; other months and parts are refused.
	s.get(base + "/entries?path=income/fees&currency=USD&from=2026-01&to=2026-02&by=effective&part=earned")
	want.Interval.From, want.Part = month(2026, 1), financials.Earned
	if !reflect.DeepEqual(s.accounting.filter, want) {
		t.Errorf("%+v", s.accounting.filter)
	}
	s.get(base + "/entries?path=income/fees&currency=USD&from=&to=2026-03&by=effective")
	if want.Interval, want.Part = (period.Interval{}), ""; !reflect.DeepEqual(s.accounting.filter, want) {
		t.Errorf("until the present month: %+v", s.accounting.filter)
	}
	for query, status := range map[string]int{"from=2026-02&to=2026-01": 422, "from=2026-02": 422, "to=2026-04": 422, "from=x&to=2026-02": 422,
		"part=x": 404} {
		if got := s.get(base + "/entries?path=income/fees&currency=USD&" + query); got.StatusCode != status {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
	// Entries whose sum takes too long are shown without it.
	s.accounting.noSum = fault.New(fault.ServiceUnavailable, "This reads too much.")
	got = s.get(base + "/entries?path=income/fees&currency=USD&month=2026-02&part=cash-received")
	if got.StatusCode != 200 || !strings.Contains(got.body, "<dd>takes too long to add up</dd>") || !strings.Contains(got.body, "/postings/") {
		t.Errorf("a slow sum: %d %s", got.StatusCode, got.body)
	}
	s.accounting.entries, s.accounting.unknown = ports.AccountEntryPage{}, fault.New(fault.NotFound, "No account has this path.")
	if got := s.get(base + "/entries?path=rails/ACH&currency=USD"); got.StatusCode != 200 ||
		!strings.Contains(got.body, "has no such entries") {
		t.Errorf("nothing posted: %d", got.StatusCode)
	}
	if got := s.get(base + "/entries?path=rails/ach&currency=USD"); got.StatusCode != 404 {
		t.Errorf("no account: %d", got.StatusCode)
	}
}
