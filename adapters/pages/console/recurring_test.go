package console

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/person"
)

func TestRecurring_SetAndEnded(t *testing.T) {
	t.Parallel()
	// Who keeps the books adds, changes and ends a recurring adjustment with a code, until nothing more is posted. What is wrong is shown with
	// what was entered; a proposal leads to its page.
	s := asFinance(t)
	author := "Ada Lovelace (Token:" + newPerson().ID.UUID().String() + ")"
	form := url.Values{"name": {"licences"}, "entries": {"expense/licences liability/accrued 12.50 USD\r\n"}, "first": {"2026-10"},
		"last": {""}, "reverses": {"yes"}, "note": {"Licences"}, "code": {"123456"}}
	if got := s.post(base+"/set-recurring", form); got.StatusCode != 303 {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	want := "set licences by " + author + `: expense/licences liability/accrued 12.50 USD "Licences" from 2026-10 to  reversed true`
	if !slices.Contains(s.calls.log, want) {
		t.Errorf("%q lack %s", s.calls.log, want)
	}
	for name, bad := range map[string]string{"entries": "expense/licences 12.50 USD", "first": "October", "last": "2026"} {
		wrong := url.Values{}
		for field, values := range form {
			wrong[field] = values
		}
		wrong.Set(name, bad)
		got := s.post(base+"/set-recurring", wrong)
		if got.StatusCode != 400 || !strings.Contains(got.body, bad) || !strings.Contains(got.body, "Licences") {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
	}
	shown := s.get(base + "/set-recurring?name=" + recurringName).body
	for _, text := range []string{"expense/office-rent liability/accrued 1200.00 USD", "checked", `value="The rent"`} {
		if !strings.Contains(shown, text) {
			t.Errorf("the form to change lacks %s", text)
		}
	}
	s.books.proposes = true
	if got := s.post(base+"/recurring/"+recurringName+"/end", url.Values{"last": {"2026-12"}, "code": {"123456"}}); !strings.HasPrefix(
		got.Header.Get("Location"), base+"/proposals/") {
		t.Errorf("%d %s", got.StatusCode, got.Header.Get("Location"))
	}
	if want := "end office-rent after 2026-12 by " + author; !slices.Contains(s.calls.log, want) {
		t.Errorf("%q lack %s", s.calls.log, want)
	}
	shownOne, end := base+"/recurring/"+recurringName, `/recurring/`+recurringName+`/end"`
	if got := s.get(shownOne).body; !strings.Contains(got, end) {
		t.Error("it cannot be ended")
	}
	s.books.monthly[0].IsOver = true
	if got := s.get(shownOne).body; strings.Contains(got, end) {
		t.Error("it can be ended after its last month")
	}
	s.books.refusal = fault.New(fault.Conflict, "2026-09 is closed.")
	if got := s.post(base+"/set-recurring", form); got.StatusCode != 409 || !strings.Contains(got.body, "2026-09 is closed.") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestRecurring_Shown(t *testing.T) {
	t.Parallel()
	// The journals list what is posted every month, which leads to its postings; the page of a month has them too.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	for path, texts := range map[string][]string{
		"/journals":                     {"office-rent", "The rent", base + "/postings/" + postingID.String()},
		"/recurring/office-rent":        {"1200.00", "expense/office-rent", "approved by operator Root", "reversal"},
		"/months/" + testMonth.String(): {"Post the recurring adjustments", "office-rent", base + "/postings/" + postingID.String()},
	} {
		got := s.get(base + path)
		for _, text := range texts {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s lacks %s", path, text)
			}
		}
	}
	if got := s.get(base + "/recurring/other"); got.StatusCode != 404 {
		t.Errorf("one that does not exist: %d", got.StatusCode)
	}
}

func TestAdjustment_Made(t *testing.T) {
	t.Parallel()
	// Who keeps the books posts an adjustment with a code, and comes to its posting or to the proposal. What cannot be read is said with
	// what was entered. The page of a posting leads to its correction.
	s := asFinance(t)
	author := "Ada Lovelace (Token:" + newPerson().ID.UUID().String() + ")"
	corrects := "Posting:" + postingID.String()
	form := url.Values{"entries": {"expense/licences liability/accrued 12.50 USD"}, "day": {"2026-02-28"}, "corrects": {corrects},
		"owned": {"yes"}, "note": {"Licences"}, "code": {"123456"}}
	want := "adjust by " + author + `: expense/licences liability/accrued 12.50 USD "Licences" on 2026-02-28 corrects ` + corrects + " owned true"
	got := s.post(base+"/make-adjustment", form)
	if got.Header.Get("Location") != base+"/postings/"+postingID.String() || !slices.Contains(s.calls.log, want) {
		t.Errorf("%d to %s, %q lack %s", got.StatusCode, got.Header.Get("Location"), s.calls.log, want)
	}
	s.books.proposes = true
	if got := s.post(base+"/make-adjustment", form); got.Header.Get("Location") != base+"/proposals/"+proposalID.UUID().String() {
		t.Errorf("proposed: %d to %s", got.StatusCode, got.Header.Get("Location"))
	}
	got = s.post(base+"/make-adjustment", url.Values{"entries": {"a b"}, "day": {"x"}, "corrects": {"y"}, "code": {"123456"}})
	for _, want := range []string{"entries[0] must be", "day must be", "corrects must be", ">a b</textarea>"} {
		if got.StatusCode != 400 || !strings.Contains(got.body, want) {
			t.Errorf("%d, no %q in %s", got.StatusCode, want, got.body)
		}
	}
	link := "/make-adjustment?corrects=" + corrects
	if body := s.get(base + "/postings/" + postingID.String()).body; !strings.Contains(body, link) {
		t.Errorf("no correction on %s", body)
	}
	if body := s.get(base + link).body; !strings.Contains(body, `value="`+corrects+`"`) {
		t.Errorf("no posting to correct in %s", body)
	}
}
