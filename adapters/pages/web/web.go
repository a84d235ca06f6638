// Package web has what all pages for people share: the headers that keep other sites away, the cookie of a session, the token
// of forms, uploads, and static files.
package web

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"time"
)

// Site is a group of pages with one kind of session.
type Site struct {
	// IsSecure: the pages are served with https, and cookies are sent over encrypted connections only.
	IsSecure bool
	origins  *http.CrossOriginProtection
	cookie   string
	// policy is that of pages, and scriptPolicy that of those that run a script.
	policy, scriptPolicy string
	vary                 string
}

// Options are those of a site. All fields but NoScript, Images and Vary are required.
type Options struct {
	// PublicURL is where the pages are, such as https://pay.example.com.
	PublicURL string
	// Cookie is the name of the cookie of a session.
	Cookie string
	// NoScript: only pages that AllowScript names run a script.
	NoScript bool
	// Images: pages show images, which are part of the page or of the site.
	Images bool
	// Vary lists the headers besides Cookie on which pages depend.
	Vary string
}

// New returns a site.
func New(o Options) (*Site, error) {
	public, err := url.Parse(o.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("the public URL of the pages: %w", err)
	}
	s := &Site{IsSecure: public.Scheme == "https", origins: http.NewCrossOriginProtection(), cookie: o.Cookie, vary: "Cookie"}
	// A proxy may pass another Host than the one that the browser sees.
	if err := s.origins.AddTrustedOrigin(public.Scheme + "://" + public.Host); err != nil {
		return nil, fmt.Errorf("the public URL of the pages: %w", err)
	}
	if s.IsSecure {
		// With the prefix, browsers accept the cookie only over https, from this host, and for all of it.
		s.cookie = "__Host-" + o.Cookie
	}
	policy := "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	if o.Images {
		policy += "; img-src 'self' data:"
	}
	s.policy = "default-src 'none'; style-src 'self'; " + policy
	s.scriptPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " + policy
	if !o.NoScript {
		s.policy = s.scriptPolicy
	}
	if o.Vary != "" {
		s.vary = o.Vary + ", " + s.vary
	}
	return s, nil
}

// SetHeaders sets what keeps a page out of caches and frames, and foreign content out of the page.
func (s *Site) SetHeaders(h http.Header) {
	h.Set("Content-Security-Policy", s.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	// Other sites learn no address, as with no-referrer, with which browsers would send forms without their origin.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Vary", s.vary)
	if s.IsSecure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// AllowScript lets a page of a site with NoScript run scripts of the site.
func (s *Site) AllowScript(h http.Header) { h.Set("Content-Security-Policy", s.scriptPolicy) }

// IsOwn reports whether a request was not made by a page of another site.
func (s *Site) IsOwn(r *http.Request) bool { return s.origins.Check(r) == nil }

// SetSession gives the browser the secret of a session. A secret that it had before is not used, so nobody can choose it for
// someone else.
func (s *Site) SetSession(w http.ResponseWriter, secret string, until time.Time) {
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: secret, Path: "/", Expires: until, Secure: s.IsSecure, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
}

// EndSession makes the browser forget the secret of a session.
func (s *Site) EndSession(w http.ResponseWriter) { s.SetSession(w, "", time.Unix(1, 0)) }

// Session returns the secret of the browser's session, or the empty text.
func (s *Site) Session(r *http.Request) string {
	cookie, err := r.Cookie(s.cookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// FormToken returns the token that forms in a session have. Without the secret it cannot be guessed, and it does not tell the
// secret.
func FormToken(secret string) string {
	sum := sha256.Sum256([]byte("csrf " + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// HasFormToken reports whether a form that was parsed has the token of a session.
func HasFormToken(r *http.Request, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(r.PostFormValue("csrf")), []byte(FormToken(secret))) == 1
}

// Write writes a page with a template. Nothing is written if the template fails.
func Write(w http.ResponseWriter, status int, templates *template.Template, name string, data any) error {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the reader may have left
	return nil
}

// StaticFile serves a file, which is embedded and so never changes while the program runs.
func StaticFile(files fs.FS, name, contentType string) http.Handler {
	body, err := fs.ReadFile(files, "static/"+name)
	if err != nil {
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}
