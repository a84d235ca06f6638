package e2e

import (
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"causeway/adapters/signin/provider/providertest"
)

func TestSingleSignOn_RolesOfTheProvider(t *testing.T) {
	t.Parallel()
	// People of a provider sign in to the console with the roles that its claim gives, confirm there what needs it, and lose their sessions
	// with their roles. While the provider is down, who is signed in works on.
	at := providertest.New(t, time.Now)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	root := "http://localhost:" + port // a name, so that there are passkeys
	h := newTestEnv(t, "--listen", address, "--public-url", root, "--sso-issuer", at.URL, "--sso-client-id", providertest.ClientID,
		"--sso-client-secret", providertest.ClientSecret, "--sso-roles-claim", "groups", "--sso-roles", "pay-ops=OPERATOR,pay-finance=FINANCE")
	newBrowser := func() *person {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return &person{t: t, root: root, http: &http.Client{Jar: jar, Timeout: waitTimeout}}
	}
	claims := func(groups ...string) map[string]any {
		return map[string]any{"sub": "u1", "email": "Ana@people.test", "email_verified": true, "name": "Ana Silva", "groups": groups}
	}
	const signIn = "/console/sign-in/provider?next=" + "%2Fconsole%2Fconnections"

	at.Set(claims("pay-ops"))
	ana := newBrowser()
	if page := ana.page(http.MethodGet, signIn, nil); !strings.Contains(page, "<h1>Connections</h1>") || !strings.Contains(page, "Ana Silva") {
		t.Fatalf("after signing in:\n%s", page)
	}
	stop := "/console/rail-payments/0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e22/release"
	at.SetDown(true)
	if page := ana.page(http.MethodGet, "/console/account", nil); !strings.Contains(page, "single sign-on") {
		t.Errorf("while the provider is down:\n%s", page)
	}
	at.SetDown(false)
	form := url.Values{"csrf": {ana.find(tokenPattern, ana.page(http.MethodGet, "/console/account", nil))}, "name": {"laptop"}}
	if page := ana.page(http.MethodPost, "/console/account/passkeys/ask", form); !strings.Contains(page, "Confirm that it is you") {
		t.Errorf("a passkey without a confirmation: %s", page)
	}
	if page := ana.page(http.MethodGet, "/console/confirm/provider?for=%2Fconsole%2Faccount", nil); !strings.Contains(page,
		"You have confirmed that it is you") || at.LastAsked().Get("prompt") != "login" {
		t.Errorf("after the confirmation:\n%s", page)
	}
	if page := ana.page(http.MethodPost, "/console/account/passkeys/ask", form); strings.Contains(page, "Confirm that it is you") {
		t.Errorf("after the confirmation: %s", page)
	}

	at.Set(claims("pay-finance"))
	if page := newBrowser().page(http.MethodGet, signIn, nil); !strings.Contains(page, "Not allowed") {
		t.Errorf("with another role:\n%s", page)
	}
	if page := ana.page(http.MethodGet, stop, nil); !strings.Contains(page, "Not allowed") {
		t.Errorf("the session of before, with another role:\n%s", page)
	}
	at.Set(claims())
	if page := newBrowser().page(http.MethodGet, signIn, nil); !strings.Contains(page, "gives you no role") {
		t.Errorf("without a role:\n%s", page)
	}
	if page := ana.page(http.MethodGet, "/console/account", nil); !strings.Contains(page, "<h1>Sign in</h1>") {
		t.Errorf("the session of before:\n%s", page)
	}
	at.Set(claims("pay-ops"))
	mustRunCommand(t, []string{"DATABASE_URL=" + h.databaseURL}, "people", "disable", "ana@people.test")
	if page := newBrowser().page(http.MethodGet, signIn, nil); !strings.Contains(page, "You are disabled here") {
		t.Errorf("disabled:\n%s", page)
	}
	if n := h.queryInt("SELECT count(*) FROM people"); n != 1 {
		t.Errorf("there are %d people", n)
	}
}
