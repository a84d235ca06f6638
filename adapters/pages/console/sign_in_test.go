package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"causeway/core/fault"
	"causeway/core/person"
)

func isSelectedAttribute(a html.Attribute) bool { return a.Key == "selected" }

// isSearchFor reports whether an input is the field of the search, with a text.
func isSearchFor(text string) func(*html.Node) bool {
	return func(n *html.Node) bool { return attribute(n, "name") == "q" && attribute(n, "value") == text }
}

var signInForm = url.Values{"email": {"ada@acme.example"}, "password": {"right"}, "code": {"123456"}}

func TestSignIn_CookieAndFixation(t *testing.T) {
	t.Parallel()
	// The cookie cannot be read by scripts, sent to other hosts or set by them. A value that the browser had before is not used. It
	// lasts as long as the session, and signing out deletes it.
	for origin, name := range map[string]string{public: "__Host-console", "http://localhost:8080": "console"} {
		s := newSiteAt(t, origin)
		s.cookies[name] = &http.Cookie{Name: name, Value: "chosen-by-someone"}
		if got := s.post(signInPath, signInForm); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != root ||
			len(got.Cookies()) != 1 {
			t.Fatalf("%d to %s, cookies %v", got.StatusCode, got.Header.Get("Location"), got.Cookies())
		}
		c := s.cookies[name]
		if c == nil || c.Value != "signed-in" || c.Secure != (origin == public) || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode ||
			c.Path != "/" ||
			c.Domain != "" || !c.Expires.Equal(now.Add(time.Hour).Truncate(time.Second)) {
			t.Errorf("%s: the cookies are %v", origin, s.cookies)
		}
		s.secret = "signed-in"
		if got := s.post(root+"/sign-out", nil); got.Header.Get("Location") != signInPath || s.cookies[name].Value != "" ||
			!s.cookies[name].Expires.Before(now) {
			t.Errorf("signed out: %d, cookies %v", got.StatusCode, s.cookies)
		}
		if _, exists := s.people.sessions["signed-in"]; exists {
			t.Error("the session goes on")
		}
	}
}

func TestSignIn_FollowsOwnPathsOnly(t *testing.T) {
	t.Parallel()
	// After signing in, the page that was asked for is shown. Another host, or a path that is none of the console, is not followed.
	own := base + "/payments?status=FAILED&reference=a%2Fb"
	for next, want := range map[string]string{
		"": root, root: root, root + "?all": root + "?all", own: own, base + "/search?q=https%3A%2F%2Fevil.test%2F..": base +
			"/search?q=https%3A%2F%2Fevil.test%2F..",
		"https://evil.test/console": root, "//evil.test/console": root, "///evil.test": root, "/\\evil.test": root, "\\\\evil.test": root,
		"/consolex": root, "/console@evil.test": root, "/console.evil.test": root, "https:/console": root, "javascript:alert(1)": root,
		"/2025-10-13/docs": root, "/console/../2025-10-13/docs": root, "/console/..": root, "/console/%2e%2e/2025-10-13": root,
		"/console/%2E./x":        root,
		"/console/..//evil.test": root, "/console/\\..\\x": root, "/console/%5c..%5cx": root, "/console//x": root, "/console\x00": root,
		"/console/%zz": root,
		"console":      root, " /console": root, "/console\r\nX: y": root, "user@/console": root,
	} {
		s := newSite(t)
		form := url.Values{"next": {next}}
		for name, value := range signInForm {
			form[name] = value
		}
		got := s.post(signInPath, form)
		if strings.Contains(next, "\x00") && got.StatusCode == http.StatusBadRequest {
			continue
		}
		if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != want {
			t.Errorf("%q: %d to %q, want %q", next, got.StatusCode, got.Header.Get("Location"), want)
		}
		signedIn := newSite(t).as(person.Grant{Role: person.Viewer})
		if got := signedIn.get(signInPath + "?next=" + url.QueryEscape(next)); got.Header.Get("Location") != want {
			t.Errorf("%q, signed in: %d to %q, want %q", next, got.StatusCode, got.Header.Get("Location"), want)
		}
	}
	s := newSite(t)
	asked := s.get(own).Header.Get("Location")
	got := s.get(asked)
	if !slices.ContainsFunc(got.elements("input"), func(n *html.Node) bool {
		return attribute(n, "name") == "next" && attribute(n,
			"value") == own
	}) {
		t.Errorf("%s does not lead back to %s: %s", asked, own, got.body)
	}
}

func TestSignIn_RefusedAttempts(t *testing.T) {
	t.Parallel()
	// An attempt that fails says so, keeps the address and where to go, and never the password or the code. Who has to wait is told
	// for how long.
	for name, want := range map[string]struct {
		err    error
		status int
		text   string
	}{
		"wrong": {nil, http.StatusUnauthorized, "or the code is wrong"},
		"too many": {&fault.Error{Code: fault.RateLimited, Message: "Try again in 15s.", RetryAfter: 14500 * time.Millisecond},
			http.StatusTooManyRequests, "Try again in 15s."},
	} {
		s := newSite(t)
		s.calls.err = want.err
		got := s.post(signInPath, url.Values{"email": {"ada@acme.example"}, "password": {"a-wrong-password"}, "code": {"654321"},
			"next": {base}})
		s.checkStructure(name, got)
		if got.StatusCode != want.status || !strings.Contains(got.body, want.text) || len(got.Cookies()) > 0 {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		if strings.Contains(got.body, "a-wrong-password") || strings.Contains(got.body, "654321") || !strings.Contains(got.body,
			`value="ada@acme.example"`) ||
			!strings.Contains(got.body, `value="`+base+`"`) {
			t.Errorf("%s: the form is not as it should be: %s", name, got.body)
		}
		if wait := got.Header.Get("Retry-After"); (wait == "15") != (want.status == http.StatusTooManyRequests) {
			t.Errorf("%s: Retry-After is %q", name, wait)
		}
	}
}

func TestLink_OnlyGoingOnOpensIt(t *testing.T) {
	t.Parallel()
	// Looking at a link does not open it. Going on does, once, and nobody else can; the token is in no later address.
	s := newSite(t)
	for range 3 {
		if got := s.get(LinkPath + "token"); got.StatusCode != http.StatusOK || len(got.Cookies()) > 0 || len(s.calls.log) > 0 {
			t.Fatalf("looking: %d", got.StatusCode)
		}
	}
	if got := s.post(LinkPath+"token", nil); got.Header.Get("Location") != root || s.cookies["__Host-console"].Value != "linked" {
		t.Errorf("going on: %d, cookies %v", got.StatusCode, s.cookies)
	}
	s.cookies = map[string]*http.Cookie{}
	for _, got := range []response{s.get(LinkPath + "token"), s.post(LinkPath+"token", nil), s.get(LinkPath + "x")} {
		if got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "Ask an administrator") || len(got.Cookies()) > 0 {
			t.Errorf("a used link: %d %s", got.StatusCode, got.body)
		}
	}
}

func TestSetup_ChoosesOnce(t *testing.T) {
	t.Parallel()
	// What a person chooses is passed on, its recovery codes are shown once, in groups, and it goes on in a new session. What is wrong
	// is said at each field, and the key stays, so that the application need not scan it again; the password does not.
	s := newSite(t).as(person.Grant{Role: person.Viewer}).inSetup()
	if got := s.get(root + "/setup"); !strings.Contains(got.body, s.people.NewTOTPSecret()) || len(got.elements("img")) != 1 ||
		!strings.HasPrefix(attribute(got.elements("img")[0], "src"), "data:image/png;base64,") {
		t.Errorf("no key: %s", got.body)
	}
	const key = "KRUGS4ZANFZSAYJANNSXSIDGN5ZCA5DF"
	form := url.Values{"password": {"several words are easy"}, "secret": {key}, "code": {"123456"}}
	s.calls.err = fault.Invalid(fault.Field{Field: "password", Message: "is too short"}, fault.Field{Field: "code", Message: "is too old"})
	got := s.post(setupPath, form)
	s.checkStructure("refused", got)
	for _, want := range []string{"The password is too short.", "The code is too old.", key} {
		if got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, want) || strings.Contains(got.body,
			"several words are easy\"") {
			t.Errorf("%d: no %q in %s", got.StatusCode, want, got.body)
		}
	}
	for _, bad := range []string{strings.Repeat("A", 5000), "", `"><b>`, "ä"} {
		form.Set("secret", bad)
		if got := s.post(setupPath, form); got.StatusCode != http.StatusUnprocessableEntity || len(got.elements("img")) != 1 ||
			len(got.elements("b")) > 0 {
			t.Errorf("a key of %d bytes: %d", len(bad), got.StatusCode)
		}
	}
	s.calls.err = nil
	form.Set("secret", key)
	got = s.post(setupPath, form)
	if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "<li>ABCD-EFGH-JKLM-NPQR</li>") ||
		s.cookies["__Host-console"].Value != "set-up" ||
		s.people.setup.Password != "several words are easy" || s.people.setup.TOTPSecret != key || s.people.setup.Code != "123456" {
		t.Errorf("%d, %+v: %s", got.StatusCode, s.people.setup, got.body)
	}
}
