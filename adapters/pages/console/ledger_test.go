package console

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/app/accounting"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

func month(year int, m time.Month) time.Time { return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC) }

func TestTrialBalance_Months(t *testing.T) {
	t.Parallel()
	// The trial balance is that of a month, or of the present one so far, in the form that was chosen; the links to other months
	// keep the form. A month that has not begun, or is none, is refused.
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	present := period.Interval{From: month(2026, 3)}
	for query, want := range map[string]accounting.TrialBalanceQuery{
		"":               {Interval: present, Grouped: true, By: ports.ByRecorded},
		"?month=2026-03": {Interval: present, Grouped: true, By: ports.ByRecorded},
		"?month=2025-12&detail=account": {Interval: period.Interval{From: month(2025, 12), To: month(2026, 1)}, By: ports.ByRecorded,
			OrGrouped: true},
		"?month=2026-02&by=effective": {Interval: period.Interval{From: month(2026, 2), To: month(2026, 3)}, Grouped: true,
			By: ports.ByEffective},
		"?from=&to=2026-02&by=effective&detail=account&group=customers/&currency=USD": {Interval: period.Interval{To: month(2026, 3)},
			By: ports.ByEffective, OrGrouped: true, Group: "customers/", Currency: "USD"},
	} {
		if got := s.get(base + "/trial-balance" + query); got.StatusCode != http.StatusOK || s.accounting.query != want {
			t.Errorf("%s: %d, %+v, want %+v", query, got.StatusCode, s.accounting.query, want)
		}
	}
	got := s.get(base + "/trial-balance?month=2026-02&by=effective&detail=account")
	for _, want := range []string{"?by=effective&amp;detail=account&amp;month=2026-01",
		"?by=effective&amp;detail=account&amp;month=2026-03",
		"/entries?path=income%2Ffees&amp;currency=USD&amp;by=effective&amp;month=2026-02"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no link to %s in %s", want, got.body)
		}
	}
	// The lines of too many accounts are those of the chart, which lead to their accounts, unless these are the ones that are too many.
	s.accounting.balance.Grouped = true
	s.accounting.balance.Lines = append(s.accounting.balance.Lines, accounting.TrialBalanceLine{Path: "rails/<RAIL>", Currency: "USD"})
	got = s.get(base + "/trial-balance?month=2026-02&detail=account")
	for _, want := range []string{"There are too many accounts", ">rails/&lt;RAIL&gt;</a></td>", "/entries?path=income%2Ffees&amp;"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	got = s.get(base + "/trial-balance?month=2026-02&detail=account&group=rails/%3CRAIL%3E")
	if !strings.Contains(got.body, "<td>rails/&lt;RAIL&gt;</td>") {
		t.Errorf("too many of one line: %s", got.body)
	}
	for _, bad := range []string{"2026-04", "2026-13", "03/2026", "2026-3", "x"} {
		if got := s.get(base + "/trial-balance?month=" + bad); got.StatusCode != http.StatusUnprocessableEntity ||
			!strings.Contains(got.body, "as in 2026-03") {
			t.Errorf("%s: %d", bad, got.StatusCode)
		}
	}
}

func TestEntries_AccountAndPaging(t *testing.T) {
	t.Parallel()
	// The entries are those of the account and the platform, the next page begins after the last entry, and a place that is none is
	// the first page.
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	account := ledger.Account{Platform: ownPlatform, Path: "income/fees", Currency: "USD"}
	for after, want := range map[string]ports.EntryPosition{"": {}, "&after=42.1": {Seq: 42, N: 1}, "&after=x": {}, "&after=42": {},
		"&after=.1": {}} {
		got := s.get(base + "/entries?path=income/fees&currency=USD" + after)
		if !reflect.DeepEqual(s.accounting.filter, ports.AccountEntryFilter{Account: account, Limit: pageSize, After: want}) {
			t.Errorf("%s: %+v", after, s.accounting.filter)
		}
		if !strings.Contains(got.body, base+"/entries?after=42.1&amp;currency=USD&amp;path=income%2Ffees") {
			t.Errorf("no next page in %s", got.body)
		}
	}
}

func TestWebhooks_Paging(t *testing.T) {
	t.Parallel()
	// The list of webhooks has the status that was chosen, and its next page too.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	for i := range byte(pageSize) {
		d := newDelivery()
		d.ID = numbered(d.ID, 100+i)
		s.webhooks.all = append(s.webhooks.all, d)
	}
	got := s.get(base + "/webhooks?status=FAILED")
	next := base + "/webhooks?after=" + s.webhooks.all[pageSize].ID.UUID().String() + "&status=FAILED"
	if !strings.Contains(got.body, strings.ReplaceAll(next, "&", "&amp;")) {
		t.Errorf("no link to %s in %s", next, got.body)
	}
	if got := s.get(next); strings.Count(got.body, "<tr><td") != 1 || s.webhooks.filter.Status != "FAILED" {
		t.Errorf("the next page has the filter %+v: %s", s.webhooks.filter, got.body)
	}
}

func TestPosting_NamesBothPersons(t *testing.T) {
	t.Parallel()
	// A posting of two persons names both and leads to their proposal; that of one names nobody else.
	s := asFinance(t)
	a := s.accounting.posting.Authorisation
	a.By = platform.Author{Actor: "Ana"}
	if got := s.get(base + "/postings/" + postingID.String()); strings.Contains(got.body, "approved by") {
		t.Errorf("of one person: %s", got.body)
	}
	a.Approval = platform.Approval{Proposal: proposalID, By: platform.Author{Actor: "Bob"}}
	if got := s.get(base + "/postings/" + postingID.String()); !strings.Contains(got.body, `operator Ana, approved by operator Bob (<a href="`+
		base+"/proposals/"+proposalID.UUID().String()+`">`) {
		t.Errorf("of two: %s", got.body)
	}
}
