package console

import (
	"encoding/csv"
	"errors"
	"net/http"
	"strings"
	"testing"

	"causeway/app/accounting"
	"causeway/core/customer"
	"causeway/core/money"
)

func (s *site) file(path string) (name string, lines [][]string) {
	s.t.Helper()
	got := s.get(path)
	lines, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	if err != nil || got.StatusCode != http.StatusOK || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/csv") {
		s.t.Errorf("%s: %d, %v, %s", path, got.StatusCode, err, got.body)
	}
	return got.Header.Get("Content-Disposition"), lines
}

func TestLists_AreFilesToo(t *testing.T) {
	t.Parallel()
	// Each list leads to itself as a file with its filter, whose columns are those of the page: whole ids, and amounts that are no texts.
	for path, want := range map[string]struct{ link, name, text string }{
		"/breaks?status=&after=x": {"/breaks?file=csv&amp;status=", "breaks.csv", ",-7.00,USD,"},
		"/customers":              {"/customers?file=csv", "customers.csv", customerID.String()},
		"/receivables":            {"/receivables?file=csv", "receivables.csv", receivableID.String()},
		"/unmatched":              {"/unmatched?file=csv", "unmatched-funds.csv", receiptID.String()},
		"/safeguarding":           {"/safeguarding?file=csv", "safeguarding-reports.csv", "USD shortfall"},
		"/safeguarding/" + string(reportDay): {"/safeguarding/" + string(reportDay) + "?file=csv", "safeguarding-" + string(reportDay) + ".csv",
			"rails/ACH"},
		"/fx-position": {"/fx-position?file=csv", "fx-position.csv", "USD,"},
		"/entries?currency=USD&path=income/fees": {"/entries?currency=USD&amp;file=csv&amp;path=income%2Ffees", "entries-income-fees-USD.csv",
			",1.05," + paymentID.String()},
		"/trial-balance?month=2026-02": {"/trial-balance?file=csv&amp;month=2026-02", "trial-balance-2026-02.csv",
			"USD,income/fees,income,0.00,1.05,1.05,0.00,4000,Fees"},
	} {
		s := asFinance(t)
		s.accounting.entries.More = false
		if got := s.get(base + path); !strings.Contains(got.body, `<a href="`+base+want.link+`">Download as CSV</a>`) {
			t.Errorf("%s: no link to %s in %s", path, want.link, got.body)
		}
		name, lines := s.file(base + strings.ReplaceAll(want.link, "&amp;", "&"))
		var text strings.Builder
		for _, line := range lines {
			text.WriteString(strings.Join(line, ",") + "\n")
		}
		if !strings.Contains(name, `"`+want.name+`"`) || !strings.Contains(text.String(), want.text) {
			t.Errorf("%s: %s, no %q in %s", path, name, want.text, text.String())
		}
	}
	// A page that is no list is shown, and a filter with a problem is said.
	s := asFinance(t)
	if got := s.get(base + "/months?file=csv"); !strings.Contains(got.body, "<h1>") {
		t.Errorf("%s", got.body)
	}
	if got := s.get(base + "/fx-position?file=csv&currency=XXX"); got.StatusCode != http.StatusUnprocessableEntity ||
		!strings.Contains(got.body, "XXX is not a currency") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestLists_FilesHaveEveryPage(t *testing.T) {
	t.Parallel()
	// A file has all pages, up to its bound, and a text that a spreadsheet would take for a formula has an apostrophe.
	s := asFinance(t)
	s.customers.all = nil
	for i := range maxDownload + filePage + 1 {
		c := customer.Customer{Platform: ownPlatform, PlatformCustomerID: "=1+1", CreatedAt: now}
		c.ID.SetUUID([16]byte{1, byte(i >> 16), byte(i >> 8), byte(i)})
		s.customers.all = append(s.customers.all, c)
		if i == filePage {
			_, lines := s.file(base + "/customers?file=csv&after=" + c.ID.UUID().String())
			if len(lines) != filePage+2 || lines[filePage+1][1] != c.ID.String() || lines[1][2] != "'=1+1" {
				t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
			}
		}
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Error("a list that is too long ends like a whole one")
		}
	}()
	s.get(base + "/customers?file=csv")
}

func TestTrialBalance_FiguresLeadToTheirEntries(t *testing.T) {
	t.Parallel()
	// Each figure leads to exactly its entries: all until the month before, those of the month that debit or credit the account, and all
	// until its end. Those of a line with several accounts lead to these, in its currency.
	s := asFinance(t)
	s.accounting.balance.Lines = append(s.accounting.balance.Lines, accounting.TrialBalanceLine{Path: "rails/<RAIL>", Currency: "USD",
		TrialBalanceColumns: accounting.TrialBalanceColumns{Closing: money.TotalOf(-2)}})
	got := s.get(base + "/trial-balance?month=2026-02&by=effective")
	entries := `<td class="amount"><a href="` + base + "/entries?path=income%2Ffees&amp;currency=USD&amp;by=effective&amp;"
	for _, want := range []string{entries + `from=&amp;to=2026-01">0.00</a>`, entries + `month=2026-02&amp;part=debits">1.05</a>`,
		entries + `month=2026-02&amp;part=credits">1.05</a>`, entries + `from=&amp;to=2026-02">0.00</a>`,
		`<td class="amount"><a href="` + base + "/trial-balance?by=effective&amp;currency=USD&amp;detail=account&amp;" +
			`group=rails%2F%3CRAIL%3E&amp;month=2026-02">-0.02</a>`} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	// The accounts of a group keep it in the links to other months, and are filtered by it.
	got = s.get(base + "/trial-balance?month=2026-02&detail=account&group=rails/%3CRAIL%3E&currency=usd")
	if s.accounting.query.Group != "rails/<RAIL>" || s.accounting.query.Currency != "USD" || !strings.Contains(got.body,
		"currency=USD&amp;detail=account&amp;group=rails%2F%3CRAIL%3E&amp;month=2026-01") {
		t.Errorf("%+v: %s", s.accounting.query, got.body)
	}
	// Own accounts of the overview are those of their line of the chart.
	s.customers.accounts = nil
	if got := s.get(base); !strings.Contains(got.body, "currency=USD&amp;detail=account&amp;group=platform%2F%3CInternalAccount%3E") {
		t.Errorf("%s", got.body)
	}
}
