package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/person"
)

func TestChart_Shown(t *testing.T) {
	t.Parallel()
	// What was added stands first, with its code of the general ledger. Only who keeps the books is led to changes; the file has all lines.
	change := base + "/chart-of-accounts/" + rentPath + "/change"
	for role, mayChange := range map[person.Role]bool{person.Viewer: false, person.Finance: true} {
		got := newSite(t).as(person.Grant{Role: role}).get(base + "/chart-of-accounts")
		if !strings.Contains(got.body, "Rent &lt;Lisbon&gt;") || !strings.Contains(got.body, "6310") ||
			!strings.Contains(got.body, "rails/{rail}") ||
			strings.Contains(got.body, change) != mayChange || strings.Contains(got.body, base+"/add-account") != mayChange {
			t.Errorf("%s: %s", role, got.body)
		}
	}
	got := newSite(t).as(person.Grant{Role: person.Viewer}).get(base + "/chart-of-accounts?file=csv")
	if want := "Account,Class,Name,Description,Retired,General ledger\nrails/{rail},asset,,,,\n" + rentPath +
		",expense,Rent <Lisbon>,Both floors,no,6310\n"; got.body != want {
		t.Errorf("%q", got.body)
	}
}

func TestChart_Changes(t *testing.T) {
	t.Parallel()
	// An account is added or changed after a code, by the person, or proposed where the books need a second one. What is wrong is said
	// beside what was entered.
	s := newSite(t).as(person.Grant{Role: person.Finance})
	added := url.Values{"path": {" income/subsidy "}, "name": {"Subsidy"}, "description": {""}, "note": {"New"}, "code": {"1"}}
	called := func(prefix string) bool {
		return slices.ContainsFunc(s.calls.log, func(call string) bool {
			return strings.HasPrefix(call, prefix) && strings.Contains(call, "Ada Lovelace")
		})
	}
	const add, change = `add income/subsidy "Subsidy" "" by `, `change ` + rentPath + ` to "Rent" "" true by `
	if got := s.post(base+"/add-account", added); got.StatusCode != http.StatusUnauthorized || called(add) {
		t.Errorf("without a code: %d, calls %q", got.StatusCode, s.calls.log)
	}
	added.Set("code", "123456")
	if got := s.post(base+"/add-account", added); got.Header.Get("Location") != base+"/chart-of-accounts" || !called(add) {
		t.Errorf("%d, calls %q", got.StatusCode, s.calls.log)
	}
	page := base + "/chart-of-accounts/" + rentPath + "/change"
	if got := s.get(page); !strings.Contains(got.body, `value="Rent &lt;Lisbon&gt;"`) || !strings.Contains(got.body, `value="Both floors"`) {
		t.Errorf("%s", got.body)
	}
	changed := url.Values{"name": {"Rent"}, "description": {""}, "retired": {"yes"}, "note": {"Moved"}, "code": {"123456"}}
	if got := s.post(page, changed); got.Header.Get("Location") != base+"/chart-of-accounts" || !called(change) {
		t.Errorf("%d, calls %q", got.StatusCode, s.calls.log)
	}
	if got := s.get(base + "/chart-of-accounts/expense/other/change"); got.StatusCode != http.StatusNotFound {
		t.Errorf("an account that is not there: %d", got.StatusCode)
	}
	s.finance.refusal = fault.Invalid(fault.Field{Field: "path", Message: "is an account of the built-in chart"})
	if got := s.post(base+"/add-account", added); got.StatusCode != http.StatusBadRequest ||
		!strings.Contains(got.body, "path is an account of the built-in chart.") || !strings.Contains(got.body, `value="Subsidy"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	s.finance.refusal, s.finance.fourEyes = nil, []books.Action{books.ActionChart}
	if got := s.get(base + "/add-account"); !strings.Contains(got.body, "waits for an approval") {
		t.Errorf("%s", got.body)
	}
	if got := s.post(page, changed); !strings.HasPrefix(got.Header.Get("Location"), base+"/proposals/") {
		t.Errorf("%d to %s", got.StatusCode, got.Header.Get("Location"))
	}
}
