package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWelcome_LinksConsoleIfServed(t *testing.T) {
	t.Parallel()
	// Who opens the address of the service finds the reference, and the console where it is served.
	for _, isServed := range []bool{true, false} {
		f := newUnbuiltFixture(t)
		if isServed {
			f.Mount(http.MethodGet, "/console", http.NotFoundHandler())
		}
		if err := f.Build(); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), BasePath+"/docs") || strings.Contains(w.Body.String(),
			`href="/console"`) != isServed {
			t.Errorf("served %v: %d %s", isServed, w.Code, w.Body)
		}
	}
}
