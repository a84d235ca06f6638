package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"causeway/adapters/pages/web"
	"causeway/adapters/pages/web/webtest"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
)

func TestLink_OnlyStartOpensIt(t *testing.T) {
	t.Parallel()
	// Looking at a link does not open it. Starting does, once; another browser is refused afterwards,
	// and the one that started goes on, also with a second click.
	s := newSite(t, public)
	link := LinkPath + s.service.token
	for range 3 {
		if got := s.get(link); got.StatusCode != http.StatusOK || s.service.opened || len(got.Cookies()) > 0 {
			t.Fatalf("looking at the link: %d, opened %v", got.StatusCode, s.service.opened)
		}
	}
	s.start()
	if got := s.get(link); got.Header.Get("Location") != home {
		t.Errorf("the same browser, later: %d", got.StatusCode)
	}
	if got := s.post(link, nil); got.Header.Get("Location") != home {
		t.Errorf("a second click: %d", got.StatusCode)
	}
	s.cookies = map[string]*http.Cookie{}
	if got := s.get(link); got.StatusCode != http.StatusGone {
		t.Errorf("another browser looks: %d", got.StatusCode)
	}
	if got := s.post(link, nil); got.StatusCode != http.StatusGone || len(got.Cookies()) > 0 {
		t.Errorf("another browser starts: %d", got.StatusCode)
	}
}

func TestSession_CookieAndFixation(t *testing.T) {
	t.Parallel()
	// The cookie cannot be read by scripts, sent to other hosts or set by them. A value that the browser
	// had before is not used.
	s := newSite(t, public)
	s.cookies["__Host-verification"] = &http.Cookie{Name: "__Host-verification", Value: "chosen-by-someone"}
	s.start()
	c := s.cookies["__Host-verification"]
	if c.Value != s.service.secret || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
		c.Expires.IsZero() {
		t.Errorf("the cookie is %v", c)
	}
	local := newSite(t, "http://localhost:8080")
	local.start()
	if c := local.cookies["verification"]; c == nil || c.Secure || !c.HttpOnly {
		t.Errorf("without https: %v", local.cookies)
	}
}

func TestForms_OnlyFromThePagesThemselves(t *testing.T) {
	t.Parallel()
	// A form from another site, or without the token of the session, changes nothing; nor does one open
	// a link.
	cross := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Origin", "https://evil.test")
	}
	sibling := func(r *http.Request) {
		r.Header.Del("Sec-Fetch-Site")
		r.Header.Set("Origin", "https://other.example.com")
	}
	opaque := func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") }
	for name, edit := range map[string]func(*http.Request){"another site": cross, "an origin of the same site": sibling,
		"a page without an origin": opaque} {
		s := newSite(t, public)
		if got := s.post(LinkPath+s.service.token, nil, edit); got.StatusCode != http.StatusForbidden || s.service.opened {
			t.Errorf("%s opens a link: %d", name, got.StatusCode)
		}
		s.start()
		for _, path := range []string{"/submit", "/details", "/documents/own", "/documents/own/remove"} {
			if got := s.post(home+path, nil, edit); got.StatusCode != http.StatusForbidden {
				t.Errorf("%s: %s: %d", name, path, got.StatusCode)
			}
		}
		if len(s.service.calls) > 0 {
			t.Errorf("%s: %q", name, s.service.calls)
		}
	}
	// Browsers that do not say Sec-Fetch-Site send the origin, also through a proxy with another Host.
	old := newSite(t, public)
	if got := old.post(LinkPath+old.service.token, nil,
		func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Host = "10.0.0.7:8080" }); got.StatusCode != http.StatusSeeOther {
		t.Errorf("an old browser: %d", got.StatusCode)
	}
	s := newSite(t, public)
	s.start()
	for _, token := range []string{"", "x", web.FormToken("another"), s.service.secret} {
		if got := s.post(home+"/submit", url.Values{"csrf": {token}}); got.StatusCode != http.StatusForbidden {
			t.Errorf("token %q: %d", token, got.StatusCode)
		}
	}
	upload := s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader("x"))
	upload.URL.RawQuery = "csrf=" + web.FormToken(s.service.secret)
	s.service.secret += "-other"
	s.cookies["__Host-verification"].Value = s.service.secret
	if got := s.send(upload); got.StatusCode != http.StatusForbidden {
		t.Errorf("an upload with the token of another session: %d", got.StatusCode)
	}
	if len(s.service.calls) > 0 {
		t.Errorf("calls %q", s.service.calls)
	}
}

func TestPages_Headers(t *testing.T) {
	t.Parallel()
	// No page is kept in a cache, shown in a frame, loads anything foreign, or tells its address to
	// other sites; errors are no exception.
	for name, show := range states {
		got := show(newSite(t, public))
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
			"Strict-Transport-Security": "max-age=31536000",
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri " +
				"'none'; frame-ancestors 'none'",
		} {
			if got.Header.Get(header) != want {
				t.Errorf("%s: %s is %q", name, header, got.Header.Get(header))
			}
		}
	}
	if got := newSite(t, "http://localhost:8080").get(home); got.Header.Get("Strict-Transport-Security") != "" {
		t.Error("HSTS without https")
	}
}

func TestPages_EscapeWhatWasEntered(t *testing.T) {
	t.Parallel()
	// Names of persons, platforms and files are text, whatever they contain.
	const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	s := newSite(t, public)
	s.setBusiness()
	a := &s.service.applicant
	a.PlatformName, a.Customer.Business.LegalName, a.Owners[0].Person.FirstName = evil, evil, evil
	s.addDocument(document.Holder{Customer: a.Customer.ID}, "UTILITY_BILL", "", evil)
	if got := s.get(LinkPath + s.service.token); len(got.elements("script")) != 1 || len(got.elements("img")) > 0 {
		t.Errorf("link: %s", got.body)
	}
	s.start()
	for _, path := range []string{"", "/details", "/owners/" + s.ownerID(), "/documents/own"} {
		got := s.get(home + path)
		got.checkStructure(t, path)
		if len(got.elements("script")) != 1 || len(got.elements("img")) > 0 || strings.Contains(got.body, "<script>") {
			t.Errorf("%s: %s", path, got.body)
		}
	}
}

func TestPages_NothingPersonalInLogsAndURLs(t *testing.T) {
	t.Parallel()
	// Neither the token, the session nor what was entered is logged, also when a use case fails, and no
	// address of a page has it.
	s := newSite(t, public)
	s.start()
	s.service.err = http.ErrAbortHandler // any error that is not expected
	got := s.post(home+"/details", url.Values{"fullName": {"Ada Lovelace"}, "birthDate": {"1815-12-10"}})
	if got.StatusCode != http.StatusInternalServerError || !strings.Contains(s.log.String(), "failed") {
		t.Fatalf("%d: %s", got.StatusCode, s.log)
	}
	for _, secret := range []string{s.service.token, s.service.secret, "Ada", "1815"} {
		if strings.Contains(s.log.String(), secret) || strings.Contains(got.body, secret) {
			t.Errorf("%q is in the log or on the page", secret)
		}
	}
	s.service.err = nil
	if got := s.post(home+"/details", url.Values{"fullName": {"Ada Lovelace"}}); strings.Contains(got.Header.Get("Location"), "Ada") {
		t.Errorf("the next page is %s", got.Header.Get("Location"))
	}
}

func TestPages_OwnersOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	// The id of an owner of another customer, or anything else in its place, is an unknown page.
	s := newSite(t, public)
	s.setBusiness()
	s.start()
	for _, id := range []string{"00000000-0000-0000-0000-000000000063", "x", "..%2fown", "00000000-0000-0000-0000-000000000000"} {
		for _, path := range []string{"/owners/", "/documents/"} {
			if got := s.get(home + path + id); got.StatusCode != http.StatusNotFound && !(id == "00000000-0000-0000-0000-000000000000" &&
				path == "/documents/") {
				t.Errorf("GET %s%s: %d", path, id, got.StatusCode)
			}
		}
		if got := s.post(home+"/owners/"+id, nil); got.StatusCode != http.StatusNotFound {
			t.Errorf("POST %s: %d", id, got.StatusCode)
		}
	}
	individual := newSite(t, public)
	individual.start()
	if got := individual.post(home+"/owners/new", nil); got.StatusCode != http.StatusNotFound {
		t.Errorf("an owner of an individual: %d", got.StatusCode)
	}
	if len(s.service.calls)+len(individual.service.calls) > 0 {
		t.Errorf("calls %q", s.service.calls)
	}
}

func TestPages_NoFormsAfterSubmission(t *testing.T) {
	t.Parallel()
	// Once everything is submitted, the forms lead to the overview.
	s := newSite(t, public)
	s.setBusiness()
	owner := s.ownerID()
	s.decided(customer.Pending, "IN_PROGRESS")
	for _, path := range []string{"/details", "/owners/new", "/owners/" + owner, "/documents/own"} {
		if got := s.get(home + path); got.Header.Get("Location") != home {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

func TestUpload_Limits(t *testing.T) {
	t.Parallel()
	// A file beyond the limit is refused while it is read, a file anywhere else at once, and so are
	// more uploads at the same time than there is memory for. A file that is empty is none.
	s := newSite(t, public)
	s.start()
	large := s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader(strings.Repeat("x", maxFile+maxForm)))
	if got := s.send(large); got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("large: %d", got.StatusCode)
	}
	if got := s.send(s.uploadRequest(home+"/details", nil, "a.pdf", strings.NewReader("x"))); got.StatusCode != http.StatusBadRequest {
		t.Errorf("elsewhere: %d", got.StatusCode)
	}
	s.send(s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader("")))
	if len(s.service.calls) != 1 || s.service.document.File != nil {
		t.Errorf("empty: %+v", s.service.document)
	}
	truncated := httptest.NewRequest(http.MethodPost, public+home+"/documents/own", strings.NewReader("--x\r\nContent-Disp"))
	truncated.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	if got := s.send(truncated); got.StatusCode != http.StatusBadRequest {
		t.Errorf("truncated: %d", got.StatusCode)
	}
}

func TestUpload_SlowSenderIsGivenUp(t *testing.T) {
	t.Parallel()
	// A browser that sends nothing more, or a byte now and then, is given up before it has kept its slot for a minute. One on a slow network
	// is not.
	for name, c := range map[string]struct {
		piece  int
		pause  time.Duration
		status int
	}{
		"nothing":             {1, time.Hour, http.StatusBadRequest},
		"a byte now and then": {1, 20 * time.Second, http.StatusBadRequest},
		"a slow network":      {4 << 10, 400 * time.Millisecond, http.StatusSeeOther},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, public)
				s.start()
				r := s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader(strings.Repeat("x", 1<<20)))
				for _, c := range s.cookies {
					r.AddCookie(c)
				}
				sender := &webtest.Sender{ResponseRecorder: httptest.NewRecorder(), Body: r.Body, Piece: c.piece, Pause: c.pause}
				r.Body = sender
				begun := time.Now()
				s.handler.ServeHTTP(sender, r)
				if took := time.Since(begun); sender.Code != c.status || c.status != http.StatusSeeOther && took > time.Minute {
					t.Errorf("%d after %s", sender.Code, took)
				}
			})
		})
	}
}

func TestUpload_OneCustomerOrPlatformLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	// A customer whose uploads do not end can begin no further ones, and others still can, until there are too many of their platform. Those
	// of another platform still can, until there are too many of all. An upload that ended makes room.
	s := newSite(t, public)
	s.start()
	var running sync.WaitGroup
	hold := func() (end func()) {
		t.Helper()
		body, send := io.Pipe()
		r := s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader("x"))
		r.Body = body
		for _, c := range s.cookies {
			r.AddCookie(c)
		}
		running.Go(func() {
			s.handler.ServeHTTP(httptest.NewRecorder(), r)
			_ = body.Close() // if it was refused, the form is not read
		})
		if _, err := send.Write([]byte("--")); err != nil { // returns when the form is read
			t.Fatal(err)
		}
		return func() { _ = send.CloseWithError(io.ErrUnexpectedEOF) }
	}
	upload := func(want int, when string) {
		t.Helper()
		got := s.send(s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader("x")))
		if got.StatusCode != want {
			t.Errorf("%s: %d, want %d", when, got.StatusCode, want)
		}
	}
	var ends []func()
	for _, c := range []struct {
		platform, customer byte
		status             int
		when               string
		holds              int
	}{
		{1, 101, http.StatusSeeOther, "of a customer", 3}, {1, 101, http.StatusServiceUnavailable, "too many of one customer", 0},
		{1, 102, http.StatusSeeOther, "of another customer", 3}, {1, 103, http.StatusServiceUnavailable, "too many of one platform", 0},
		{2, 104, http.StatusSeeOther, "of another platform", 2}, {3, 105, http.StatusServiceUnavailable, "too many of all", 0},
	} {
		of := &s.service.applicant.Customer
		of.Platform, of.ID = numbered(ident.Platform{}, c.platform), numbered(ident.Customer{}, c.customer)
		upload(c.status, c.when)
		for range c.holds {
			ends = append(ends, hold())
		}
	}

	for _, end := range ends {
		end()
	}
	running.Wait()
	upload(http.StatusSeeOther, "after the others")
}
