package partnertest

import (
	"io"
	"net/http"

	"causeway/adapters/rails/partner"
)

// failure is how a provider fails to answer; nil if it answers.
type failure func(w http.ResponseWriter, r *http.Request)

func answersDown(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "down", http.StatusInternalServerError)
}

func redirects(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/moved", http.StatusPermanentRedirect)
}

func answersPage(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }

// serveProvider serves a provider with one kind of request, which answer gets if it is signed.
func (s *Sidecar) serveProvider(w http.ResponseWriter, r *http.Request, path string, fails failure, answer func(body []byte)) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	switch {
	case err != nil:
		http.Error(w, "incomplete", http.StatusBadRequest)
	case !s.isSigned(r, body):
		http.Error(w, "not signed", http.StatusUnauthorized)
	case r.URL.Path == "/health":
		s.answer(w, http.StatusOK, partner.Health{Name: "Test provider"})
	case r.URL.Path != path || r.Method != http.MethodPost:
		http.NotFound(w, r)
	case fails != nil:
		fails(w, r)
	default:
		answer(body)
	}
}
