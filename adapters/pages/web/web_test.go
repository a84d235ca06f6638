package web

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestNew_PublicURL(t *testing.T) {
	t.Parallel()
	// A site needs the URL at which browsers see it.
	for _, bad := range []string{"", "pay.example.com", "://", "https://", "https://pay.example.com:port"} {
		if _, err := New(Options{PublicURL: bad, Cookie: "c"}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestSite_IsOwn(t *testing.T) {
	t.Parallel()
	// A form counts as the site's own if the browser says that it is, also behind a proxy that passes another host. Requests that
	// change nothing may come from anywhere.
	s, err := New(Options{PublicURL: "https://pay.example.com", Cookie: "c"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, origin, site, host string
		want                       bool
	}{
		"own page":                       {"POST", "https://pay.example.com", "same-origin", "pay.example.com", true},
		"through a proxy":                {"POST", "https://pay.example.com", "", "10.0.0.7:8080", true},
		"a link of another site":         {"GET", "https://evil.test", "cross-site", "pay.example.com", true},
		"a form of another site":         {"POST", "https://evil.test", "cross-site", "pay.example.com", false},
		"a form of a sibling":            {"POST", "https://www.example.com", "same-site", "pay.example.com", false},
		"another site, old browser":      {"POST", "https://evil.test", "", "pay.example.com", false},
		"a page that hides its origin":   {"POST", "null", "", "pay.example.com", false},
		"a program, which has no cookie": {"POST", "", "", "pay.example.com", true},
	} {
		r := httptest.NewRequest(c.method, "https://"+c.host+"/x", nil)
		r.Header.Set("Origin", c.origin)
		r.Header.Set("Sec-Fetch-Site", c.site)
		for header := range r.Header {
			if r.Header.Get(header) == "" {
				r.Header.Del(header)
			}
		}
		if got := s.IsOwn(r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSite_Session(t *testing.T) {
	t.Parallel()
	// A browser gives back the secret that it was given, until the session is ended. The cookie of another site, or one without the
	// prefix where https is used, is none.
	s, err := New(Options{PublicURL: "https://pay.example.com", Cookie: "c"})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.SetSession(w, "secret", time.Now().Add(time.Hour))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if got := s.Session(r); got != "" {
		t.Errorf("without a cookie the secret is %q", got)
	}
	r.AddCookie(&http.Cookie{Name: "c", Value: "planted"})
	if got := s.Session(r); got != "" {
		t.Errorf("a cookie without the prefix counts: %q", got)
	}
	r.AddCookie(w.Result().Cookies()[0])
	if got := s.Session(r); got != "secret" {
		t.Errorf("the secret is %q", got)
	}
	w = httptest.NewRecorder()
	s.EndSession(w)
	if c := w.Result().Cookies()[0]; c.Value != "" || !c.Expires.Before(time.Now()) {
		t.Errorf("the ended session is %v", c)
	}
}

func TestFormToken_OfOneSession(t *testing.T) {
	t.Parallel()
	// A form has the token of its session, in its body. The token does not have the secret, and is no other session's.
	token := FormToken("secret")
	if strings.Contains(token, "secret") || token == FormToken("secret2") || FormToken("") == token {
		t.Errorf("the token is %s", token)
	}
	for name, c := range map[string]struct {
		body, query string
		want        bool
	}{
		"right": {"csrf=" + token, "", true}, "none": {"", "", false}, "another session's": {"csrf=" + FormToken("other"), "", false},
		"in the URL": {"", "?csrf=" + token, false}, "twice, the first wrong": {"csrf=x&csrf=" + token, "", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/"+c.query, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if err := r.ParseForm(); err != nil {
			t.Fatal(err)
		}
		if got := HasFormToken(r, "secret"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWrite_WholePagesOnly(t *testing.T) {
	t.Parallel()
	// A page whose template fails is not begun, so that an error can be shown in its place.
	templates := template.Must(template.New("good").Parse(`<p>{{.Name}}</p>`))
	template.Must(templates.New("bad").Parse(`<p>begun {{.Missing}}</p>`))
	data := struct{ Name string }{"<Ada>"}
	w := httptest.NewRecorder()
	if err := Write(w, http.StatusOK, templates, "bad", data); err == nil || w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("%v: %q, headers %v", err, w.Body, w.Header())
	}
	if err := Write(w, http.StatusTeapot, templates, "good", data); err != nil || w.Code != http.StatusTeapot ||
		w.Body.String() != "<p>&lt;Ada&gt;</p>" ||
		w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%v: %d %q", err, w.Code, w.Body)
	}
}

func TestStaticFile_ServesOneFile(t *testing.T) {
	t.Parallel()
	// The file is served whatever the path, with its type, and asked for again after an upgrade. One that is not embedded is a fault of
	// the program, which shows at its start.
	files := fstest.MapFS{"static/a.css": {Data: []byte("p {}")}}
	w := httptest.NewRecorder()
	StaticFile(files, "a.css", "text/css").ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+url.PathEscape("../x"), nil))
	if w.Code != http.StatusOK || w.Body.String() != "p {}" || w.Header().Get("Content-Type") != "text/css" ||
		w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
	defer func() {
		if recover() == nil {
			t.Error("a file that does not exist is served")
		}
	}()
	StaticFile(files, "b.css", "text/css")
}
