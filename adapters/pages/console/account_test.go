package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/person"
)

func TestConsole_TrailingSlash(t *testing.T) {
	t.Parallel()
	// The address of the console with a slash at its end leads to it.
	if got := newSite(t).get(root + "/"); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != root {
		t.Errorf("%d to %s", got.StatusCode, got.Header.Get("Location"))
	}
	if got := newSite(t).get(root + "/x"); got.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %d", got.StatusCode)
	}
}

func TestAccount_Passkeys(t *testing.T) {
	t.Parallel()
	// A person sees its passkeys, adds one that the script has made, and removes one after a confirmation. What is refused says why.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	if got := s.get(accountPath); !strings.Contains(got.body, "work &lt;laptop&gt;") || !strings.Contains(got.body, "never") {
		t.Errorf("%s", got.body)
	}
	if got := s.post(passkeysPath, url.Values{"name": {"phone"}, "answer": {"right"}}); got.Header.Get("Location") != accountPath ||
		!slices.Contains(s.calls.log, "add phone of ada@acme.example") {
		t.Errorf("added: %d, calls %q", got.StatusCode, s.calls.log)
	}
	if got := s.post(passkeysPath, url.Values{"name": {"phone"}, "answer": {"x"}}); got.StatusCode != http.StatusUnprocessableEntity &&
		got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "passkey was not accepted.") || !strings.Contains(got.body,
		`value="phone"`) {
		t.Errorf("not added: %d %s", got.StatusCode, got.body)
	}
	remove := pathOf(passkeysPath+"/{passkey}/remove", ownPlatform)
	s.calls.log = nil
	if got := s.post(remove, url.Values{"code": {"000000"}}); got.StatusCode != http.StatusUnauthorized || len(s.calls.log) > 0 {
		t.Errorf("removed without a code: %d, calls %q", got.StatusCode, s.calls.log)
	}
	if got := s.post(remove, url.Values{"passkey": {"right"}}); got.Header.Get("Location") != accountPath || s.people.action != remove ||
		!slices.Contains(s.calls.log, "remove [250 251 252] of ada@acme.example") {
		t.Errorf("removed: %d, confirmed %q, calls %q", got.StatusCode, s.people.action, s.calls.log)
	}
	if got := s.get(passkeysPath + "/eHl6/remove"); got.StatusCode != http.StatusNotFound {
		t.Errorf("of somebody else: %d", got.StatusCode)
	}
}

func TestAccount_WithoutPasskeys(t *testing.T) {
	t.Parallel()
	// Where browsers have no passkeys, no page offers any or runs a script.
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	s.people.withoutPasskeys, s.people.withoutProvider = true, true
	for _, path := range []string{accountPath, root + "/connections/bank-eur/pause", commandLinePath} {
		if got := s.get(path); len(got.elements("script")) > 0 || strings.Contains(got.body, "data-passkey=") ||
			strings.Contains(got.body, "single sign-on") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	without := newSite(t)
	without.people.withoutPasskeys, without.people.withoutProvider = true, true
	if got := without.get(signInPath); len(got.elements("script")) > 0 || strings.Contains(got.body, "single sign-on") {
		t.Errorf("%s", got.body)
	}
}

func TestPasskeys_AskedByTheScript(t *testing.T) {
	t.Parallel()
	// The script gets what the browser is asked for, or why not, as JSON, and only with the token of the session.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	for path, want := range map[string]string{root + "/confirm/ask": `{"challenge":"Y29uZmlybQ"}`,
		passkeysPath + "/ask": `{"challenge":"Y3JlYXRl"}`} {
		got := s.post(path, url.Values{"for": {base}, "code": {"123456"}})
		if got.StatusCode != http.StatusOK || got.body != want || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
		if got := s.post(path, url.Values{"csrf": {"x"}}); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s with a forged form: %d", path, got.StatusCode)
		}
	}
	if !slices.Contains(s.calls.log, "ask ada@acme.example to confirm "+base) {
		t.Errorf("calls %q", s.calls.log)
	}
	s.calls.err = person.ErrNoPasskeys
	if got := s.post(root+"/confirm/ask", nil); got.StatusCode != http.StatusConflict || !strings.HasPrefix(got.body, `{"message":"This`) {
		t.Errorf("refused: %d %s", got.StatusCode, got.body)
	}
}

func TestSignIn_Passkey(t *testing.T) {
	t.Parallel()
	// A passkey that is right begins a session, and leads to the page that was asked for. Another one leads back, with the other ways.
	s := newSite(t)
	if got := s.post(signInPath+"/passkey", url.Values{"passkey": {"right"}, "next": {base}}); got.Header.Get("Location") != base ||
		s.cookies["__Host-console"].Value != "signed-in" {
		t.Errorf("%d, cookies %v", got.StatusCode, s.cookies)
	}
	s = newSite(t)
	if got := s.post(signInPath+"/passkey", url.Values{"passkey": {"x"}, "next": {base}}); got.StatusCode != http.StatusUnauthorized ||
		len(got.Cookies()) > 0 || !strings.Contains(got.body, "was not accepted") || !strings.Contains(got.body, `value="`+base+`"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestSignIn_SingleSignOn(t *testing.T) {
	t.Parallel()
	// The browser is sent to the provider with a secret of its own, and comes back to the page that it wanted. What is refused, also by
	// the provider, leads back to the page for signing in. An address of another site is not gone to.
	s := newSite(t)
	got := s.get(signInPath + "/provider?next=" + url.QueryEscape(base))
	c := s.cookies["__Host-console-browser"]
	if got.Header.Get("Location") != "https://provider.test/?state=s" || c == nil || !c.HttpOnly || !c.Secure ||
		c.SameSite != http.SameSiteLaxMode || !slices.Contains(s.calls.log, "begin with secret-of-the-browser for "+base) {
		t.Fatalf("%d, cookies %v, calls %q", got.StatusCode, s.cookies, s.calls.log)
	}
	if got := s.get(signInPath + "/provider?next=https://evil.test"); got.StatusCode != http.StatusSeeOther ||
		!slices.Contains(s.calls.log, "begin with secret-of-the-browser for "+root) {
		t.Errorf("calls %q", s.calls.log)
	}
	for _, query := range []string{"?error=access_denied&state=s", "?state=other&code=1", ""} {
		if got := s.get(ReturnPath + query); got.StatusCode < 400 || got.StatusCode >= 500 || len(got.elements("h1")) != 1 ||
			s.cookies["__Host-console"] != nil {
			t.Errorf("%s: %d %s", query, got.StatusCode, got.body)
		}
	}
	if got := s.get(ReturnPath + "?state=s&code=1"); got.Header.Get("Location") != base || s.cookies["__Host-console"].Value != "signed-in" {
		t.Errorf("%d, cookies %v, calls %q", got.StatusCode, s.cookies, s.calls.log)
	}
	s.calls.err = fault.New(fault.ServiceUnavailable, "The provider does not answer.")
	if got := newSite(t).get(signInPath); got.StatusCode != http.StatusOK {
		t.Errorf("%d", got.StatusCode)
	}
	if got := s.get(ReturnPath + "?state=s&code=1"); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("while the provider is down: %d", got.StatusCode)
	}
}

func TestConfirm_AtTheProvider(t *testing.T) {
	t.Parallel()
	// Who has signed in at the provider is sent there to confirm a form, comes back to its page, and needs no code there. Others are
	// offered no provider.
	page := root + "/connections/bank-eur/pause"
	s := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	if got := s.get(page); strings.Contains(got.body, "/console/confirm/provider") {
		t.Errorf("a session of a password: %s", got.body)
	}
	in := s.people.sessions[s.secret]
	in.SingleSignOn = true
	s.people.sessions[s.secret] = in
	if got := s.get(page); !strings.Contains(got.body, `href="/console/confirm/provider?for=`) {
		t.Fatalf("%s", got.body)
	}
	if got := s.get(root + "/confirm/provider?for=" + url.QueryEscape(page)); got.Header.Get("Location") != "https://provider.test/?state=c" ||
		!slices.Contains(s.calls.log, "confirm with secret-of-the-browser for "+page) {
		t.Errorf("%d, calls %q", got.StatusCode, s.calls.log)
	}
	s.people.action, s.people.confirmed = page, true
	if got := s.get(ReturnPath + "?state=c&code=1"); got.Header.Get("Location") != page || s.cookies["__Host-console"].Value != s.secret {
		t.Errorf("came back: %d to %s", got.StatusCode, got.Header.Get("Location"))
	}
	if got := s.get(page); strings.Contains(got.body, `name="code"`) || !strings.Contains(got.body, "You have confirmed") {
		t.Errorf("confirmed: %s", got.body)
	}
	if got := s.post(page, url.Values{"note": {"test"}}); got.StatusCode != http.StatusSeeOther || s.people.action != page {
		t.Errorf("done: %d %s", got.StatusCode, got.body)
	}
}

func TestAccount_ActsAfterACode(t *testing.T) {
	t.Parallel()
	// What a person changes of its own account is done after a code, with what it has entered, and not without one. No page has a password
	// that was entered.
	for path, test := range map[string]struct {
		form url.Values
		want string
	}{
		"/password": {url.Values{"current": {"old-secret"}, "password": {"new-secret"}},
			"change the password of ada@acme.example from old-secret to new-secret"},
		"/authenticator": {url.Values{"secret": {"KRSXG5CTMVRXEZLU"}, "new-code": {"654321"}},
			"replace the key of ada@acme.example by KRSXG5CTMVRXEZLU with 654321"},
		"/recovery-codes":      {url.Values{}, "renew the codes of ada@acme.example"},
		"/sessions/others/end": {url.Values{}, "end the others of ada@acme.example"},
		"/sessions/07" + strings.Repeat("0", 62) + "/end": {url.Values{}, "end 07 of ada@acme.example"},
	} {
		s := newSite(t).as(person.Grant{Role: person.Viewer})
		if got := s.get(accountPath); !strings.Contains(got.body, `href="`+accountPath+path+`"`) {
			t.Errorf("%s: no link: %s", path, got.body)
		}
		test.form.Set("code", "000001")
		if got := s.post(accountPath+path, test.form); got.StatusCode != http.StatusUnauthorized || len(s.calls.log) > 0 ||
			strings.Contains(got.body, "new-secret") || strings.Contains(got.body, "old-secret") {
			t.Errorf("%s without a code: %d, calls %q\n%s", path, got.StatusCode, s.calls.log, got.body)
		}
		test.form.Set("code", "123456")
		got := s.post(accountPath+path, test.form)
		if !slices.Equal(s.calls.log, []string{"confirm ada@acme.example", test.want}) || s.people.action != accountPath+path {
			t.Errorf("%s: calls %q", path, s.calls.log)
		}
		if path == "/recovery-codes" {
			if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "ABCD-EFGH-JKLM-NPQR\nSTUV-WXYZ-2345-6789") {
				t.Errorf("%d %s", got.StatusCode, got.body)
			}
		} else if got.Header.Get("Location") != accountPath {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
}

func TestAccount_ActsThatAreRefused(t *testing.T) {
	t.Parallel()
	// What is wrong is said beside what was entered: the key stays the same, and passwords are entered again. Who has no password is
	// offered none of it, and a session of another person, or the own one, is not there.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	got := s.post(accountPath+"/password", url.Values{"current": {"wrong"}, "password": {"new-secret"}, "code": {"123456"}})
	if !strings.Contains(got.body, "current is not your password.") || strings.Contains(got.body, "new-secret") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	got = s.post(accountPath+"/authenticator", url.Values{"secret": {"KRSXG5CTMVRXEZLU"}, "new-code": {"000000"}, "code": {"123456"}})
	if !strings.Contains(got.body, "must be the code that") || !strings.Contains(got.body, `value="KRSXG5CTMVRXEZLU"`) {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	for _, session := range []string{"x", strings.Repeat("00", 32), strings.Repeat("08", 32)} {
		if got := s.get(sessionsPath + "/" + session + "/end"); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", session, got.StatusCode)
		}
	}
	s.people.withoutPassword = true
	if got := s.get(accountPath); strings.Contains(got.body, accountPath+"/password") {
		t.Errorf("%s", got.body)
	}
	if got := s.get(accountPath + "/recovery-codes"); got.StatusCode != http.StatusConflict {
		t.Errorf("%d", got.StatusCode)
	}
}

func TestSignIn_NamesTheDevice(t *testing.T) {
	t.Parallel()
	// What a browser says of itself is kept with the session that it begins.
	s := newSite(t)
	if s.post(signInPath, signInForm, func(r *http.Request) { r.Header.Set("User-Agent", "Firefox") }); s.people.device != "Firefox" {
		t.Errorf("the device is %q", s.people.device)
	}
}
