package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/person"
	"causeway/ledger"
)

// asFinance returns a site at which everything has happened, in a session of finance.
func asFinance(t *testing.T) *site {
	t.Helper()
	return newSite(t).fill().as(person.Grant{Role: person.Finance})
}

func TestMonths_StepsLeadToWhatTakesThem(t *testing.T) {
	t.Parallel()
	// A month shows its steps with who did them and what is in the way. A step that is not done leads to the page that takes it, for
	// those who may keep the books; for others it is text.
	path := base + "/months/" + testMonth.String()
	s := asFinance(t)
	got := s.get(path)
	for _, want := range []string{"Soft-close the month", "Ana Lima", "approved by operator Root", "The exchange result is out of date.",
		"outdated", `href="` + path + `/revalue"`, `href="` + path + `/defer-fees"`, `href="` + path + `/close"`, `href="` + path + `/reopen"`,
		"Open breaks: 1"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	if strings.Contains(got.body, path+"/soft-close") {
		t.Error("a step that is done leads to doing it")
	}
	viewer := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	if got := viewer.get(path); strings.Contains(got.body, path+"/") || !strings.Contains(got.body, "Soft-close the month") {
		t.Errorf("a viewer sees %s", got.body)
	}
}

func TestMonths_ChangedAfterACode(t *testing.T) {
	t.Parallel()
	// Each action says what it will do, and is done as the person, with what was entered, after a code of its second factor. One that
	// needs a second person leads to its proposal.
	path := base + "/months/" + testMonth.String()
	author := "Ada Lovelace (Token:" + newPerson().ID.UUID().String() + ")"
	for name, test := range map[string]struct {
		form url.Values
		want string
	}{
		"soft-close": {url.Values{"note": {"Complete"}, "first": {"yes"}}, `soft-close 2026-02 by ` + author +
			`: "Complete" first true without false false false false`},
		"close": {url.Values{"withoutYearEnd": {"yes"}},
			`close 2026-02 by ` + author + `: "" first false without false false false true`},
		"reopen":         {nil, `reopen 2026-02 by ` + author + `: "" first false without false false false false`},
		"revalue":        {nil, "revalue 2026-02 by " + author},
		"post-allowance": {nil, "post the allowance of 2026-02 by " + author},
		"defer-fees":     {nil, "defer fees of 2026-02 by " + author},
		"close-year":     {url.Values{"note": {"Audited"}}, "close year 2026 by " + author + ": Audited"},
	} {
		s := asFinance(t)
		if got := s.get(path + "/" + name); !strings.Contains(got.body, "waits for an approval") || !strings.Contains(got.body, `name="code"`) {
			t.Errorf("%s says %s", name, got.body)
		}
		form := url.Values{"code": {"123456"}}
		for key, v := range test.form {
			form[key] = v
		}
		if got := s.post(path+"/"+name, form); got.Header.Get("Location") != path || !slices.Contains(s.calls.log, test.want) {
			t.Errorf("%s: %d to %s, calls %q; want %q", name, got.StatusCode, got.Header.Get("Location"), s.calls.log, test.want)
		}
		s.calls.log = nil
		form.Set("code", "1")
		if got := s.post(path+"/"+name, form); got.StatusCode != http.StatusUnprocessableEntity && got.StatusCode != http.StatusUnauthorized &&
			got.StatusCode != http.StatusForbidden || slices.Contains(s.calls.log, test.want) {
			t.Errorf("%s without the code: %d, calls %q", name, got.StatusCode, s.calls.log)
		}
		s.books.proposes = true
		form.Set("code", "123456")
		if got := s.post(path+"/"+name, form); got.Header.Get("Location") != base+"/proposals/"+proposalID.UUID().String() {
			t.Errorf("%s that needs a second person: %d to %s", name, got.StatusCode, got.Header.Get("Location"))
		}
	}
}

func TestMonths_RefusalKeepsWhatWasEntered(t *testing.T) {
	t.Parallel()
	// A change that is refused is shown again with the reason, every field that is wrong, and what was entered.
	s := asFinance(t)
	s.books.refusal = fault.Invalid(fault.Field{Field: "note", Message: "is too long"})
	got := s.post(base+"/months/2026-02/close", url.Values{"code": {"123456"}, "note": {"kept & shown"}, "withoutYearEnd": {"yes"}})
	if got.StatusCode != fault.InvalidInput.Status() || !strings.Contains(got.body, "note is too long.") ||
		!strings.Contains(got.body, `value="kept &amp; shown"`) || !strings.Contains(got.body, `value="yes" checked`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	for _, month := range []string{"2026-13", "x", "1999-01"} {
		if got := s.get(base + "/months/" + month); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", month, got.StatusCode)
		}
	}
}

func TestBreaks_ShownBesideEachOtherAndResolved(t *testing.T) {
	t.Parallel()
	// A break shows the line of the partner beside the entry of the ledger; the words of the partner and of a payer only on request,
	// which is recorded. The correction of the first suggestion is chosen, and one that needs a second person leads to its proposal.
	path := base + "/breaks/" + breakID.UUID().String()
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	got := s.get(path)
	for _, want := range []string{"93.00 USD", "100.00 USD", "T••• r•••", "The partner may have kept a fee.", path + "/resolve"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	if got := s.post(path, nil); !strings.Contains(got.body, "Tikal rent") || len(s.people.recorded) != 1 {
		t.Errorf("revealed: %q %s", s.people.recorded, got.body)
	}
	found := &s.statements.breaks[0]
	found.Line = nil
	if got := s.get(path); strings.Contains(got.body, "Xibalba") || !strings.Contains(got.body, "s••• b••• p•••") ||
		!strings.Contains(got.body, "Show personal data") {
		t.Errorf("only the ledger has it: %s", got.body)
	}
	found.Entry.Kind, found.Entry.Memo = ledger.KindDelivered, "CWREF123"
	if got := s.get(path); !strings.Contains(got.body, "<dd>CWREF123</dd>") {
		t.Errorf("a memo of the service: %s", got.body)
	}
	if got := s.get(path + "/resolve"); !strings.Contains(got.body, `value="FEES" selected`) {
		t.Errorf("resolve: %s", got.body)
	}
	got = s.post(path+"/resolve", url.Values{"code": {"123456"}, "against": {"FEES"}, "note": {"A fee"}})
	if got.Header.Get("Location") != base+"/proposals/"+proposalID.UUID().String() || len(s.statements.resolved) != 1 ||
		s.statements.resolved[0].Note != "A fee" || s.statements.resolved[0].Offset != "FEES" || s.statements.resolved[0].Break != breakID {
		t.Errorf("resolved: %d, %+v", got.StatusCode, s.statements.resolved)
	}
	if got := s.post(path+"/resolve", url.Values{"code": {"123456"}, "note": {"Nothing"}}); got.Header.Get("Location") != path {
		t.Errorf("resolved with a note: %s", got.Header.Get("Location"))
	}
	resolved := base + "/breaks/" + s.statements.breaks[1].ID.UUID().String()
	if got := s.get(resolved); strings.Contains(got.body, resolved+"/resolve") || !strings.Contains(got.body, "A fee") ||
		!strings.Contains(got.body, "service Backend, "+someone.Token.String()) {
		t.Errorf("a resolved break: %s", got.body)
	}
}

func TestBreaks_OpenByDefault(t *testing.T) {
	t.Parallel()
	// The list has the open breaks until another status is chosen, and keeps its filter on the next page. An unknown status is no page.
	s := asFinance(t)
	for query, want := range map[string]string{"": "OPEN", "?status=": "", "?status=RESOLVED": "RESOLVED"} {
		if got := s.get(base + "/breaks" + query); got.StatusCode != http.StatusOK || s.statements.filter.Status != want {
			t.Errorf("%q: %d, filter %+v", query, got.StatusCode, s.statements.filter)
		}
	}
	for range pageSize {
		s.statements.breaks = append(s.statements.breaks, newBreak())
	}
	if got := s.get(base + "/breaks?account=rails%2FACH&currency=usd"); !strings.Contains(got.body,
		"/breaks?account=rails%2FACH&amp;after="+breakID.UUID().String()+"&amp;currency=usd") || s.statements.filter.Currency != "USD" {
		t.Errorf("filter %+v: %s", s.statements.filter, got.body)
	}
	for _, query := range []string{"?status=x", "?reason=x"} {
		if got := s.get(base + "/breaks" + query); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", query, got.StatusCode)
		}
	}
}

func TestMonths_BlockersSayWhatToDo(t *testing.T) {
	t.Parallel()
	// What is in the way is said in words of the page, without codes and commands of the API, and leads to what is done about it: what
	// comes first in the order of the steps.
	s := asFinance(t)
	path := base + "/months/" + testMonth.String()
	steps := s.books.steps
	missing := fault.New(fault.Conflict, "Post it (causeway ledger revalue 2026-02), or confirm with withoutRevaluation.")
	missing.Reason = "Month-end run missing"
	steps[2].Blocker, steps[3].Blocker, steps[3].FirstStep = missing, missing, steps[2].Name
	steps[5].Blocker, steps[5].FirstMonth = missing, testMonth.Previous()
	steps[4].Blocker = &fault.Error{Code: fault.Conflict, Reason: "Month is not over", Message: "2026-02 is not over"}
	got := s.get(path)
	for _, want := range []string{`<a href="` + path + `/revalue">It is not posted. Post it, or close the month without it.</a>`,
		`<a href="` + path + `/revalue">Post the exchange result first.</a>`,
		`<a href="` + base + `/months/2026-01">The month 2026-01 comes first.</a>`,
		"<td>The month is not over. It can be soft-closed from 2026-03-01 on.</td>"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s in %s", want, got.body)
		}
	}
	for _, not := range []string{"CONFLICT", "withoutRevaluation", "causeway ledger revalue"} {
		if strings.Contains(got.body, not) {
			t.Errorf("%s is in %s", not, got.body)
		}
	}
	viewer := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	viewer.books.steps[2].Blocker = missing
	if got := viewer.get(path); !strings.Contains(got.body, "<td>It is not posted.") {
		t.Errorf("a viewer: %s", got.body)
	}
}
