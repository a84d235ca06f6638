package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/books"
	"causeway/core/person"
)

func TestBooksSettings_Versions(t *testing.T) {
	t.Parallel()
	// Each version says who has changed what, when and why; the first one is compared with the defaults. Only who keeps the books is led
	// to their change.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	s.finance.versions = pageSize + 3
	got := s.get(base + "/books-settings")
	if !strings.Contains(got.body, "EUR") || !strings.Contains(got.body, "Ana &lt;Lima&gt;") || !strings.Contains(got.body, "Why 53") ||
		strings.Contains(got.body, "change-books-settings") || strings.Contains(got.body, "Why 3<") ||
		!strings.Contains(got.body, base+"/books-settings?before=4") {
		t.Errorf("%s", got.body)
	}
	if got := s.get(base + "/books-settings?before=4"); !strings.Contains(got.body, "Why 3<") || strings.Contains(got.body, "Why 4<") ||
		!strings.Contains(got.body, "yearEndMonth: 12 → 2") {
		t.Errorf("%s", got.body)
	}
	if got := newSite(t).as(person.Grant{Role: person.Finance}).get(base + "/books-settings"); !strings.Contains(got.body,
		"they are the defaults") || !strings.Contains(got.body, base+"/change-books-settings") {
		t.Errorf("%s", got.body)
	}
}

func TestBooksSettings_Change(t *testing.T) {
	t.Parallel()
	// All settings of the form are set at once, after a code, as those of the version that was shown. What is wrong is said by its name.
	// Where the books need a second person, the page says so before, and leads to the proposal.
	form := url.Values{"functionalCurrency": {" USD "}, "unrealisedResult": {"KEEP"}, "feeRecognition": {"CONVERSION"}, "yearEndMonth": {"6"},
		"receivablesAllowance": {""}, "fourEyes-CLOSE": {"yes"}, "note": {" Group "}, "version": {"7"}, "code": {"1"}}
	page := base + "/change-books-settings"
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	const set = "set the books of version 7 by"
	isSet := func(call string) bool { return strings.HasPrefix(call, set) }
	if got := s.post(page, form); got.StatusCode != http.StatusUnauthorized || slices.ContainsFunc(s.calls.log, isSet) {
		t.Errorf("without a code: %d, calls %q", got.StatusCode, s.calls.log)
	}
	form.Set("code", "123456")
	got := s.post(page, form)
	i := slices.IndexFunc(s.calls.log, isSet)
	if got.Header.Get("Location") != base+"/books-settings" || i < 0 || !strings.Contains(s.calls.log[i], "Ada Lovelace") ||
		!strings.HasSuffix(s.calls.log[i], `"Group" [fourEyes: none → CLOSE functionalCurrency: none → USD unrealisedResult: REVERSE → KEEP yearEndMonth: 12 → 6]`) {
		t.Errorf("%d, calls %q", got.StatusCode, s.calls.log)
	}
	form.Set("yearEndMonth", "13")
	if got := s.post(page, form); got.StatusCode < 400 || !strings.Contains(got.body, "yearEndMonth must be 1 to 12") ||
		!strings.Contains(got.body, `value="13"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	form.Set("yearEndMonth", "6")
	s.finance.fourEyes = []books.Action{books.ActionClose}
	if got := s.get(page); !strings.Contains(got.body, "waits for an approval") {
		t.Errorf("%s", got.body)
	}
	if got := s.post(page, form); !strings.HasPrefix(got.Header.Get("Location"), base+"/proposals/") {
		t.Errorf("%d to %s", got.StatusCode, got.Header.Get("Location"))
	}
}
