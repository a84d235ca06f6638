package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestClient_URLIsChecked(t *testing.T) {
	t.Parallel()
	// The URL is that of a service, and names a connection that sends tokens unencrypted.
	for url, unencrypted := range map[string]bool{
		"https://pay.example.com/2025-10-13": false, "http://localhost:8080/2025-10-13/": false, "http://127.0.0.1/x": false,
		"http://[::1]:8080/x": false, "http://10.0.0.1/x": true, "http://causeway:8080/x": true,
	} {
		client, err := NewClient(url)
		if err != nil || client.SendsTokensUnencrypted() != unencrypted || strings.HasSuffix(client.BaseURL(), "/") {
			t.Errorf("%s: %v, %+v", url, err, client)
		}
	}
	for _, url := range []string{"", "localhost:8080", "ftp://x/y", "https://user:secret@x/y", "https://x/y?z=1", "https://x/y#z", "://"} {
		if _, err := NewClient(url); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestClient_TokenGoesNowhereElse(t *testing.T) {
	t.Parallel()
	// A redirect is not followed, a response without end is not read, and an error does not name the URL.
	var other int
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other++ }))
	defer elsewhere.Close()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			for range maxResponse/1000 + 10 {
				_, _ = w.Write([]byte(strings.Repeat("x", 1000)))
			}
			return
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer service.Close()
	client, err := NewClient(service.URL)
	if err != nil {
		t.Fatal(err)
	}

	got, err := client.do(t.Context(), Token{agentToken}, request{method: "GET", path: "/x"})
	if err != nil || got.status != http.StatusTemporaryRedirect || other != 0 {
		t.Errorf("%v, status %d, %d requests elsewhere", err, got.status, other)
	}
	if _, err := client.do(t.Context(), Token{agentToken}, request{method: "GET", path: "/long"}); err == nil ||
		!strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long response: %v", err)
	}
	service.Close()
	if _, err := client.do(t.Context(), Token{agentToken}, request{method: "POST", path: "/agents/device-codes/SECRET/redeem"}); err == nil ||
		strings.Contains(err.Error(), "SECRET") {
		t.Errorf("without the service: %v", err)
	}
}
