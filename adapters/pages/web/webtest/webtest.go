// Package webtest is a browser without script, for the tests of pages.
package webtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"causeway/adapters/pages/web"
)

// Send sends a request with the cookies, and keeps those of the response. It returns the response with the page in it.
func Send(t testing.TB, h http.Handler, cookies map[string]*http.Cookie, r *http.Request) (
	got *http.Response, body string, root *html.Node) {
	t.Helper()
	for _, c := range cookies {
		r.AddCookie(c)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	got, body = recorder.Result(), recorder.Body.String()
	for _, c := range got.Cookies() {
		cookies[c.Name] = c
	}
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return got, body, root
}

// Sender is a browser that sends the body of a request slowly: after what is sent fast, one piece after each pause. It is also the writer
// of the response, whose deadlines hold for it.
type Sender struct {
	*httptest.ResponseRecorder
	Body        io.Reader
	Fast, Piece int // bytes
	Pause       time.Duration

	deadline time.Time
}

// Read implements io.Reader. Tests with long pauses run in a bubble of testing/synctest.
func (s *Sender) Read(p []byte) (int, error) {
	if s.Fast > 0 {
		n, err := s.Body.Read(p[:min(len(p), s.Fast)])
		s.Fast -= n
		return n, err
	}
	if arrives := time.Now().Add(s.Pause); !s.deadline.IsZero() && s.deadline.Before(arrives) {
		time.Sleep(time.Until(s.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(s.Pause)
	return s.Body.Read(p[:min(len(p), s.Piece)])
}

// Close implements io.Closer.
func (s *Sender) Close() error { return nil }

// SetReadDeadline is that of http.ResponseController.
func (s *Sender) SetReadDeadline(deadline time.Time) error {
	s.deadline = deadline
	return nil
}

// SetWriteDeadline is that of http.ResponseController.
func (s *Sender) SetWriteDeadline(time.Time) error { return nil }

// Form is a form as a browser sends it, with the token of a session.
func Form(origin, path, session string, values url.Values, edits ...func(*http.Request)) *http.Request {
	form := url.Values{"csrf": {web.FormToken(session)}}
	for name, v := range values {
		form[name] = v
	}
	r := httptest.NewRequest(http.MethodPost, origin+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// Elements returns all elements of a page with a name.
func Elements(root *html.Node, name string) (found []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			found = append(found, n)
		}
	}
	return found
}

// Attribute returns an attribute of an element; empty if it has none of the name.
func Attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// CheckStructure checks what every page must have: one heading, ids that are there once, fields with labels and descriptions, and
// nothing that the policy of the pages forbids. It returns the ids.
func CheckStructure(root *html.Node, bad func(format string, args ...any)) map[string]bool {
	if n := len(Elements(root, "h1")); n != 1 {
		bad("%d h1", n)
	}
	ids, labels := map[string]bool{}, map[string]bool{}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if id := Attribute(n, "id"); id != "" {
			if ids[id] {
				bad("the id %s is there twice", id)
			}
			ids[id] = true
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				bad("attribute %s", a.Key)
			}
		}
		if n.Data == "label" {
			labels[Attribute(n, "for")] = true
		}
	}
	for _, kind := range []string{"input", "select", "textarea"} {
		for _, n := range Elements(root, kind) {
			if Attribute(n, "type") != "hidden" && !labels[Attribute(n, "id")] {
				bad("%s has no label", Attribute(n, "name"))
			}
			for id := range strings.FieldsSeq(Attribute(n, "aria-describedby")) {
				if !ids[id] {
					bad("%s is described by %s, which does not exist", Attribute(n, "name"), id)
				}
			}
		}
	}
	return ids
}
