package lndtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Gate decides what a call meets: it fails before the node has it, or its answer is lost.
type Gate func(call string) (fails, lost bool)

// Open lets every call through.
func Open(string) (fails, lost bool) { return false, false }

// gated returns a handler behind a gate.
func gated(pattern string, g Gate, call http.HandlerFunc) http.HandlerFunc {
	_, path, _ := strings.Cut(pattern, " ")
	return func(w http.ResponseWriter, r *http.Request) {
		fails, lost := g(path)
		if fails {
			panic(http.ErrAbortHandler)
		}
		if lost {
			gone, cancel := context.WithCancel(r.Context())
			cancel()
			call(httptest.NewRecorder(), r.WithContext(gone))
			panic(http.ErrAbortHandler)
		}
		call(w, r)
	}
}
