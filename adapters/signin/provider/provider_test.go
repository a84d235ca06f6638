package provider_test

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/signin/provider"
	"causeway/adapters/signin/provider/providertest"
	"causeway/app/people"
	"causeway/core/fault"
	"causeway/core/person"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

const returnURL = "https://pay.example.com/console/sign-in/return"

var flow = people.ProviderFlow{State: "state", Nonce: "nonce", Verifier: strings.Repeat("verifier", 6)}

type env struct {
	*provider.Provider
	at    *providertest.Provider
	clock *clock
	log   *strings.Builder
	t     *testing.T
}

func newEnv(t *testing.T) env {
	t.Helper()
	e := env{t: t, clock: &clock{time.Now()}, log: &strings.Builder{}}
	e.at = providertest.New(t, e.clock.Now)
	e.at.Set(map[string]any{"sub": "u1", "email": "ana@example.com", "email_verified": true, "name": "Ana Silva",
		"groups": []string{"finance", "all"}, "realm": map[string]any{"roles": []string{"nested"}}})
	log := logrus.New()
	log.SetOutput(e.log)
	e.Provider = provider.New(provider.Config{Issuer: e.at.URL, ClientID: providertest.ClientID, ClientSecret: providertest.ClientSecret,
		ReturnURL: returnURL, RolesClaim: "groups", Clock: e.clock, Log: log})
	return e
}

// code sends a browser to the provider, which comes back with a code.
func (e env) code(f people.ProviderFlow, anew bool) string {
	e.t.Helper()
	to, err := e.URL(e.t.Context(), f, anew)
	if err != nil {
		e.t.Fatal(err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(to)
	if err != nil {
		e.t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	back, err := url.Parse(response.Header.Get("Location"))
	if err != nil || response.StatusCode != http.StatusFound || !strings.HasPrefix(back.String(), returnURL+"?") ||
		back.Query().Get("state") != f.State {
		e.t.Fatalf("%d to %s: %s", response.StatusCode, back, body)
	}
	return back.Query().Get("code")
}

func TestProvider_SignsIn(t *testing.T) {
	t.Parallel()
	// What the provider says in its token is returned. Its keys and addresses are read once an hour.
	e := newEnv(t)
	c, err := e.Claims(t.Context(), flow, e.code(flow, false))
	if err != nil || c.Identity != (person.Identity{Issuer: e.at.URL, Subject: "u1"}) || c.Email != "ana@example.com" || !c.IsEmailVerified ||
		c.Name != "Ana Silva" || !slices.Equal(c.Roles, []string{"finance", "all"}) || c.AuthenticatedAt.Unix() != e.clock.now.Unix() {
		t.Errorf("%+v, %v", c, err)
	}
	if asked := e.at.LastAsked(); asked.Get("prompt") != "" || asked.Get("scope") != "openid email profile" ||
		asked.Get("code_challenge") == flow.Verifier {
		t.Errorf("asked for %v", asked)
	}
	e.code(flow, true)
	if asked := e.at.LastAsked(); asked.Get("prompt") != "login" || asked.Get("max_age") != "0" {
		t.Errorf("asked anew for %v", asked)
	}
}

func TestProvider_RefusesWhatProvesNothing(t *testing.T) {
	t.Parallel()
	// A token for somebody else, of another time, or of another sign-in signs nobody in; the operator finds why in the log.
	for name, c := range map[string]struct {
		claims map[string]any
		flow   people.ProviderFlow
	}{
		"wrong nonce":    {map[string]any{"nonce": "another"}, flow},
		"no nonce":       {map[string]any{"nonce": nil}, flow},
		"wrong audience": {map[string]any{"aud": "another"}, flow},
		"another party":  {map[string]any{"aud": []string{"another", providertest.ClientID}, "azp": "another"}, flow},
		"wrong issuer":   {map[string]any{"iss": "https://evil.test"}, flow},
		"old token":      {map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}, flow},
		"other verifier": {nil, people.ProviderFlow{State: "state", Nonce: "nonce", Verifier: strings.Repeat("x", 48)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			claims := map[string]any{"sub": "u1"}
			for claim, value := range c.claims {
				claims[claim] = value
			}
			e.at.Set(claims)
			if _, err := e.Claims(t.Context(), c.flow, e.code(flow, false)); !fault.Is(err, fault.Unauthorized) {
				t.Errorf("%v", err)
			}
			if !strings.Contains(e.log.String(), "single sign-on failed") {
				t.Errorf("log %s", e.log)
			}
		})
	}
}

func TestProvider_CodeCountsOnce(t *testing.T) {
	t.Parallel()
	// A code that is replayed, or was never given, signs nobody in.
	e := newEnv(t)
	code := e.code(flow, false)
	if _, err := e.Claims(t.Context(), flow, code); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{code, "invented", ""} {
		if _, err := e.Claims(t.Context(), flow, again); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%q: %v", again, err)
		}
	}
}

func TestProvider_Down(t *testing.T) {
	t.Parallel()
	// While the provider is down, nobody is sent there, and nobody signs in; both are said, and work again afterwards. What it has said
	// about itself is used on.
	e := newEnv(t)
	e.at.SetDown(true)
	if _, err := e.URL(t.Context(), flow, false); !fault.Is(err, fault.ServiceUnavailable) {
		t.Errorf("before it was ever up: %v", err)
	}
	e.at.SetDown(false)
	code := e.code(flow, false)
	e.at.SetDown(true)
	if _, err := e.Claims(t.Context(), flow, code); !fault.Is(err, fault.ServiceUnavailable) {
		t.Errorf("in between: %v", err)
	}
	e.clock.now = e.clock.now.Add(2 * time.Hour)
	if _, err := e.URL(t.Context(), flow, false); err != nil {
		t.Errorf("after it was up: %v", err)
	}
	e.at.SetDown(false)
	if _, err := e.Claims(t.Context(), flow, e.code(flow, false)); err != nil {
		t.Errorf("up again: %v", err)
	}
	e.at.Close()
	if _, err := e.Claims(t.Context(), flow, "x"); !fault.Is(err, fault.ServiceUnavailable) {
		t.Errorf("without a listener: %v", err)
	}
}

func TestProvider_ClaimOfRoles(t *testing.T) {
	t.Parallel()
	// The claim with roles is a text or a list, at its name or a path; missing, or of another type, it gives none.
	for name, c := range map[string]struct {
		claim string
		value map[string]any
		want  []string
	}{
		"list": {"groups", map[string]any{"groups": []string{"a", "b"}}, []string{"a", "b"}},
		"text": {"groups", map[string]any{"groups": "a"}, []string{"a"}},
		"path": {"realm.roles", map[string]any{"realm": map[string]any{"roles": []any{"a", 1}}}, []string{"a"}},
		"name": {"https://x.example/roles", map[string]any{"https://x.example/roles": []string{"a"}}, []string{"a"}},
		"none": {"groups", nil, nil}, "no claim": {"", map[string]any{"groups": "a"}, nil},
		"an object": {"realm", map[string]any{"realm": map[string]any{"roles": "a"}}, nil},
	} {
		e := newEnv(t)
		e.RolesClaim = c.claim
		claims := map[string]any{"sub": "u1", "email_verified": "true"}
		for claim, value := range c.value {
			claims[claim] = value
		}
		e.at.Set(claims)
		if got, err := e.Claims(t.Context(), flow, e.code(flow, false)); err != nil || !slices.Equal(got.Roles, c.want) || !got.IsEmailVerified {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestParseIssuer(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"https://login.example.com": true, "https://login.example.com/tenant/": true,
		"http://localhost:1": true,
		"http://127.0.0.1":   true, "http://login.example.com": false, "login.example.com": false, "https://u:p@x.example": false,
		"https://x.example?a": false, "": false} {
		if err := provider.ParseIssuer(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
