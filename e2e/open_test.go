package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen_PrintsAndOpensThePage(t *testing.T) {
	t.Parallel()
	// The URL of the console's page is printed and given to the browser, that of a quote's payment too. Without a display it is only
	// printed. A quote that does not exist is an error.
	h := newSharedEnv(t)
	quote := h.createQuote("")
	site := strings.TrimSuffix(h.BaseURL, "/2025-10-13")
	page := site + "/console/platforms/" + uuidOf(h.platformID)
	payment := page + "/search?q=" + url.QueryEscape(quote.text("transactionId")) + "\n"
	programs, given := t.TempDir(), filepath.Join(t.TempDir(), "given")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$1\" > %s\n", given)
	if err := os.WriteFile(filepath.Join(programs, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	withDisplay := append(h.tokenEnv(), "DISPLAY=:7", "PATH="+programs+":/usr/bin:/bin")

	if out := mustRunCommand(t, withDisplay, "open", quote.text("transactionId")); out != payment {
		t.Errorf("printed %s, want %s", out, payment)
	}
	if text, err := os.ReadFile(given); err != nil || string(text) != payment {
		t.Errorf("the browser got %s, %v", text, err)
	}
	if out := mustRunCommand(t, append(h.tokenEnv(), "DISPLAY=", "WAYLAND_DISPLAY="), "open", quote.text("id")); out != payment {
		t.Errorf("printed %s, want %s", out, payment)
	}
	if out := mustRunCommand(t, h.tokenEnv(), "open", "--no-browser"); out != page+"\n" {
		t.Errorf("printed %s, want %s", out, page)
	}
	_, errOut, status := runCommand(t, h.tokenEnv(), "open", "Quote:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11")
	if status != 1 || !strings.Contains(errOut, "QUOTE_NOT_FOUND") {
		t.Errorf("no such quote: %d, %s", status, errOut)
	}
}

func TestOpen_SignsADeveloperIn(t *testing.T) {
	t.Parallel()
	// With the data folder of causeway dev the link signs the browser in and leads to the page; a browser that is signed in is led there
	// at once. A link leads nowhere else.
	folder := newStartedFolder(t)
	server := startDev(t, folder, "--no-demo")
	p := readCredentials(t, folder, server)
	customer := p.createCustomer()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	visit := func(method, address string) (path, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(address)
		request.Header.Set("Origin", u.Scheme+"://"+u.Host)
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.Request.URL.Path, string(text)
	}
	link := func() string {
		return strings.TrimSpace(mustRunCommand(t, nil, "open", customer, "--no-browser", "--data", folder))
	}
	want := "/console/platforms/" + uuidOf(p.platformID) + "/customers/" + uuidOf(customer)

	first := link()
	if path, body := visit(http.MethodGet, first); !strings.HasPrefix(path, "/console/link/") || !strings.Contains(body, "Go on") {
		t.Errorf("the link shows %s\n%s", path, body)
	}
	if path, _ := visit(http.MethodPost, first); path != want {
		t.Errorf("the link leads to %s, want %s", path, want)
	}
	if path, _ := visit(http.MethodGet, link()); path != want {
		t.Errorf("signed in, the link leads to %s, want %s", path, want)
	}
	address, _, _ := strings.Cut(link(), "?")
	if path, _ := visit(http.MethodPost, address+"?next=https%3A%2F%2Fexample.com%2F"); path != want[:strings.Index(want, "/customers")] {
		t.Errorf("a link to another site leads to %s", path)
	}
}
