package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

func TestSecurity_BrowserEnforcesIt(t *testing.T) {
	t.Parallel()
	// In a real browser, no other site shows a page in a frame or sends its forms, no script runs that is not
	// the service's own, and no script reads the session.
	s := startService(t)
	p := s.newPlatform("Acme Pay", "PRODUCTION")
	link := p.newLink(p.newIndividual(), nil)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // 127.0.0.1 is another site than localhost
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(
			w, `<!doctype html><title>Other</title><link rel="icon" href="data:,"><main><h1>Other</h1><iframe src="%s"></iframe><form method="post" action="%s"><button>Win</button></form></main>`, link, link)
	}))
	t.Cleanup(other.Close)

	b := newTab(t, phone)
	b.open(other.URL)
	eventually(t, "the refusal of the frame", func() bool {
		return slices.ContainsFunc(b.complaints(), func(c string) bool { return strings.Contains(c, "frame-ancestors") })
	})
	b.pressTo("form button", http.StatusForbidden)
	b.want(b.say("error.forged.title"))

	b = newTab(t, phone)
	b.start(link) // it was not used up
	if cookies := b.evaluate("document.cookie"); cookies != "" {
		t.Errorf("a script reads %q", cookies)
	}
	if ran := b.evaluate(
		`{ const s = document.createElement("script"); s.textContent = "window.ran = 'ran'"; document.body.append(s); String(window.ran) }`); ran != "undefined" {
		t.Error("an inline script ran")
	}
	if leaked := b.evaluate(`{ const i = new Image(); i.src = "` + other.URL +
		`/x.png"; document.body.append(i); document.body.style.color = "red"; String(i.complete && i.naturalWidth > 0) }`); leaked != "false" {
		t.Error("a picture of another site was loaded")
	}
	eventually(t, "the refusals of foreign content", func() bool {
		said := strings.Join(b.complaints(), "\n")
		return strings.Contains(said, "script-src") && strings.Contains(said, "x.png")
	})
}

func TestSecurity_HeadersBehindHTTPS(t *testing.T) {
	t.Parallel()
	// With a public URL of https, the cookies are for encrypted connections to this host only, and every
	// page, also those of errors, stays out of caches and frames.
	const public = "https://pay.example.com"
	address, err := kit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	s := startServiceAt(t, address, "--public-url", public)
	p := s.newPlatform("Acme Pay", "PRODUCTION")
	link := p.newLink(p.newIndividual(), nil)
	path, found := strings.CutPrefix(link, public)
	if !found {
		t.Fatalf("the link is %s", link)
	}
	send := func(method, path, cookie string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.root+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "pay.example.com"
		r.Header.Set("Origin", public)
		r.Header.Set("Cookie", cookie)
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		for header, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
			"X-Content-Type-Options":    "nosniff",
			"Strict-Transport-Security": "max-age=31536000", "Cross-Origin-Opener-Policy": "same-origin"} {
			if got := response.Header.Get(header); got != want {
				t.Errorf("%s %s: %s is %q, want %q", method, path, header, got, want)
			}
		}
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'",
			"script-src 'self'"} {
			if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, want) {
				t.Errorf("%s %s: the policy %q has no %s", method, path, policy, want)
			}
		}
		return response
	}
	send("GET", path, "")
	send("GET", path+"?lang=es", "")
	opened := send("POST", path, "")
	if len(opened.Cookies()) != 1 {
		t.Fatalf("%d cookies", len(opened.Cookies()))
	}
	c := opened.Cookies()[0]
	if c.Name != "__Host-verification" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie is %s", c)
	}
	session := c.Name + "=" + c.Value
	for path, want := range map[string]int{"/verification": 200, "/verification/details": 200, "/verification/documents/own": 200,
		"/verification/owners/new": 404} {
		if got := send("GET", path, session); got.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, got.StatusCode, want)
		}
	}
	for _, path := range []string{"/verification/details", "/verification/submit", "/verification/documents/own"} {
		if got := send("POST", path, session); got.StatusCode != http.StatusForbidden {
			t.Errorf("POST %s without the token of its form: %d", path, got.StatusCode)
		}
	}
	if got := send("GET", path, ""); got.StatusCode != http.StatusGone {
		t.Errorf("a used link: %d", got.StatusCode)
	}
}
