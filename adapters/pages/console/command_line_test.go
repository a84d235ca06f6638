package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/person"
)

func TestCommandLine_ApprovedWithSecondFactor(t *testing.T) {
	t.Parallel()
	// Who enters a code sees where the command line is, and nothing is approved yet. It is with a code of the second factor, as the
	// person of the session; it can be refused without. What is wrong is said.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	post := func(form url.Values) response {
		s.calls.log = nil
		got := s.post(commandLinePath, form)
		s.checkStructure(form.Encode(), got)
		return got
	}
	code := url.Values{"code": {"bcdf-ghjk"}}
	if got := post(code); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "ana@&lt;laptop&gt;") ||
		!slices.Equal(s.calls.log, []string{"asked"}) {
		t.Errorf("the request: %d, %q\n%s", got.StatusCode, s.calls.log, got.body)
	}
	with := func(more url.Values) url.Values {
		more.Set("code", code.Get("code"))
		return more
	}
	if got := post(with(url.Values{"decision": {"approve"}, "confirmation": {"000000"}})); got.StatusCode != http.StatusUnauthorized ||
		!strings.Contains(got.body, "The code is wrong") || slices.ContainsFunc(s.calls.log, func(call string) bool {
		return strings.HasPrefix(call, "approve")
	}) {
		t.Errorf("a wrong code: %d, %q", got.StatusCode, s.calls.log)
	}
	email := s.people.sessions[s.secret].Person.Email
	if got := post(with(url.Values{"decision": {"approve"}, "confirmation": {"123456"}})); got.StatusCode != http.StatusOK ||
		!slices.Equal(s.calls.log, []string{"asked", "confirm " + email, "approve " + askingCode + " as " + email}) {
		t.Errorf("approved: %d, %q", got.StatusCode, s.calls.log)
	}
	if got := post(with(url.Values{"decision": {"refuse"}})); got.StatusCode != http.StatusOK ||
		!slices.Equal(s.calls.log, []string{"asked", "refuse " + askingCode}) {
		t.Errorf("refused: %d, %q", got.StatusCode, s.calls.log)
	}
	for _, wrong := range []string{"", "BCDFGHJL", "123456"} {
		if got := post(url.Values{"code": {wrong}, "decision": {"approve"}, "confirmation": {"123456"}}); got.StatusCode != http.StatusConflict ||
			!strings.Contains(got.body, "causeway login") {
			t.Errorf("%q: %d", wrong, got.StatusCode)
		}
	}
}
