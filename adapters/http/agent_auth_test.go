package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// fakeAgents knows the access tokens of agents.
type fakeAgents map[string]platform.Principal

func (g fakeAgents) Authenticate(_ context.Context, accessToken string) (platform.Principal, error) {
	p, ok := g[accessToken]
	if !ok {
		return platform.Principal{}, &fault.Error{Code: fault.Unauthorized, Message: "No agent has this access token.",
			Reason: "Invalid credentials"}
	}
	return p, nil
}

func agentNamed(name string) platform.Principal {
	id := must(ident.ParseAgent("Agent:" + uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String()))
	return platform.Principal{Platform: platformID, Environment: platform.Sandbox, Agent: id}
}

// newAgentFixture returns a fixture with operations for agents, and a public one with a limit. The
// agents "robot" and "twin" have their names as access tokens.
func newAgentFixture(t *testing.T, configure ...func(*Config)) *fixture {
	t.Helper()
	f := newUnbuiltFixture(t, append([]func(*Config){func(c *Config) {
		c.AgentAuthenticator = fakeAgents{"robot": agentNamed("robot"), "twin": agentNamed("twin")}
	}}, configure...)...)
	type courier struct {
		Agent ID[ident.Agent] `json:"agent" doc:"Who calls."`
		Calls int             `json:"calls" doc:"Calls so far."`
	}
	calls := 0
	handle := func(_ context.Context, call Call, _ *struct{}) (courier, error) {
		calls++
		return courier{NewID(call.Principal.Agent), calls}, nil
	}
	same := func(c courier) courier { return c }
	Get(f.API, Operation{ID: "listRoutes", Path: "/couriers/me/routes", Summary: "List", Tag: "Parcels", Agent: true,
		AgentPermissions: []platform.Permission{"DRIVE", "PLAN"}}, handle, same)
	Post(f.API, Operation{ID: "startRoute", Path: "/couriers/me/routes", Summary: "Start", Tag: "Parcels", Agent: true,
		AgentPermissions: []platform.Permission{"DRIVE"}, AgentAttempt: true}, handle, same)
	Get(f.API, Operation{ID: "getCourier", Path: "/couriers/me", Summary: "Get the courier", Tag: "Parcels", Agent: true}, handle, same)
	Post(f.API, Operation{ID: "callCourier", Path: "/couriers/me/calls", Summary: "Call", Tag: "Parcels", Agent: true}, handle, same)
	Post(f.API, Operation{ID: "redeemVoucher", Path: "/vouchers/{code}/redeem", Summary: "Redeem", Tag: "Parcels", Public: true,
		PublicLimit: &PublicLimit{PerAddress: Rate{PerSecond: 0.1, Burst: 5}, PerPath: Rate{PerSecond: 0.1, Burst: 2}}},
		func(_ context.Context, call Call, in *struct {
			Code string `path:"code" doc:"Which one."`
		}) (courier, error) {
			if call.IdempotentRequest != nil {
				t.Error("a public operation has an idempotency key")
			}
			calls++
			return courier{Calls: calls}, nil
		}, same)
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f
}

func asAgent(accessToken string) requestOption {
	return withHeader("Authorization", "Bearer "+accessToken)
}

func TestAuthenticate_AgentsAndTokensHaveTheirOwnOperations(t *testing.T) {
	t.Parallel()
	// The access token of an agent authenticates operations for agents only, and a token all others
	// only. The reason says which check failed, and the challenge which scheme is required.
	f := newAgentFixture(t)
	basic := func(*http.Request) {}
	for name, c := range map[string]struct {
		path           string
		as             requestOption
		status         int
		reason, scheme string
	}{
		"agent":              {"/couriers/me", asAgent("robot"), 200, "", ""},
		"odd case":           {"/couriers/me", withHeader("Authorization", "bEARER  robot"), 200, "", ""},
		"unknown":            {"/couriers/me", asAgent("stranger"), 401, "Invalid credentials", "Bearer"},
		"token for an agent": {"/couriers/me", basic, 401, "Unsupported scheme", "Bearer"},
		"agent for a token":  {"/parcels", asAgent("robot"), 401, "Unsupported scheme", "Basic"},
		"none":               {"/couriers/me", func(r *http.Request) { r.Header.Del("Authorization") }, 401, "Missing credentials", "Bearer"},
		"two": {"/couriers/me", func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer robot", "Bearer robot"} },
			401, "Malformed credentials", "Bearer"},
		"empty":                {"/couriers/me", asAgent(""), 401, "Malformed credentials", "Bearer"},
		"a zero":               {"/couriers/me", asAgent("ro\x00bot"), 401, "Malformed credentials", "Bearer"},
		"endless":              {"/couriers/me", asAgent(strings.Repeat("x", 2000)), 401, "Malformed credentials", "Bearer"},
		"basic with the token": {"/couriers/me", func(r *http.Request) { r.SetBasicAuth("", "robot") }, 401, "Unsupported scheme", "Bearer"},
	} {
		got := f.do("GET", c.path, "", c.as)

		if got.status != c.status || got.error.Reason != c.reason {
			t.Errorf("%s: %d %s, want %d with reason %q", name, got.status, got.body, c.status, c.reason)
		}
		if scheme, _, _ := strings.Cut(got.header.Get("WWW-Authenticate"), " "); scheme != c.scheme {
			t.Errorf("%s: WWW-Authenticate = %q, want %s", name, got.header.Get("WWW-Authenticate"), c.scheme)
		}
	}
	if got := f.do("GET", "/couriers/me", "", asAgent("robot")); !strings.Contains(got.body, agentNamed("robot").Agent.String()) {
		t.Errorf("the handler got another agent: %s", got.body)
	}
}

func TestAuthorize_AgentNeedsOneOfThePermissions(t *testing.T) {
	t.Parallel()
	// An agent needs one of the permissions of an operation; a refusal says which, in the form of all refusals by
	// a policy. An attempt that is recorded is left to the use case.
	driver, clerk := agentNamed("driver"), agentNamed("clerk")
	driver.Permissions, clerk.Permissions = []platform.Permission{"PLAN", "SING"}, []platform.Permission{"SING"}
	f := newAgentFixture(t, func(c *Config) { c.AgentAuthenticator = fakeAgents{"driver": driver, "clerk": clerk} })

	if got := f.do("GET", "/couriers/me/routes", "", asAgent("driver")); got.status != 200 {
		t.Errorf("with one of the permissions: %d %s", got.status, got.body)
	}
	got := f.do("GET", "/couriers/me/routes", "", asAgent("clerk"))
	reasons := fmt.Sprint(got.error.Details["reasons"])
	if got.status != 403 || got.error.Code != "FORBIDDEN" || got.error.Reason != "PERMISSION_MISSING" ||
		!strings.Contains(got.error.Message, "DRIVE or PLAN") ||
		!strings.Contains(reasons, "code:PERMISSION_MISSING") || !strings.Contains(reasons, "DRIVE or PLAN") {
		t.Errorf("without: %d %s", got.status, got.body)
	}
	for _, request := range []struct{ method, path string }{{"GET", "/couriers/me"}, {"POST", "/couriers/me/routes"}} {
		if got := f.do(request.method, request.path, "", asAgent("clerk")); got.status != 200 {
			t.Errorf("%s %s: %d %s", request.method, request.path, got.status, got.body)
		}
	}
}

func TestAuthenticate_FailedAccessTokensAreRateLimited(t *testing.T) {
	t.Parallel()
	// After a hundred wrong access tokens, an address gets 429. A valid one still works.
	f := newAgentFixture(t)
	last := reply{}
	for i := range failedLoginsPerAddress.Burst + 5 {
		last = f.do("GET", "/couriers/me", "", asAgent(fmt.Sprint("guess", i)))
	}

	if last.status != 429 || last.header.Get("Retry-After") == "" || !strings.Contains(last.error.Message, "access token") {
		t.Errorf("after many guesses: %d %s", last.status, last.body)
	}
	if got := f.do("GET", "/couriers/me", "", asAgent("robot")); got.status != 200 {
		t.Errorf("a valid access token: %d %s", got.status, got.body)
	}
}

func TestAuthorize_EachAgentHasItsOwnRateLimit(t *testing.T) {
	t.Parallel()
	// An agent that makes too many requests slows down neither another agent nor the tokens.
	f := newAgentFixture(t, func(c *Config) { c.Rate = Rate{PerSecond: 0.01, Burst: 2} })
	for _, want := range []int{200, 200, 429} {
		if got := f.do("GET", "/couriers/me", "", asAgent("robot")); got.status != want {
			t.Errorf("robot: %d, want %d", got.status, want)
		}
	}

	if got := f.do("GET", "/couriers/me", "", asAgent("twin")); got.status != 200 {
		t.Errorf("twin: %d", got.status)
	}
	if got := f.do("GET", "/parcels", ""); got.status != 200 {
		t.Errorf("token: %d", got.status)
	}
}

func TestIdempotency_EachAgentHasItsOwnKeys(t *testing.T) {
	t.Parallel()
	// A repeated request of an agent gets the first response. The same key of another agent, or of a
	// token of the platform, is another key.
	f := newAgentFixture(t)
	first := f.do("POST", "/couriers/me/calls", "", asAgent("robot"), withKey("k"))
	again := f.do("POST", "/couriers/me/calls", "", asAgent("robot"), withKey("k"))
	other := f.do("POST", "/couriers/me/calls", "", asAgent("twin"), withKey("k"))
	token := f.do("POST", "/parcels", validParcel, withKey("k"))
	imitation := f.do("POST", "/parcels", validParcel, withKey(agentNamed("robot").Agent.String()+"k"))

	if again.body != first.body || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated: %s, want %s", again.body, first.body)
	}
	if other.body == first.body || other.status != 200 || other.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("another agent: %d %s", other.status, other.body)
	}
	if token.status != 201 || imitation.status != 201 {
		t.Errorf("token: %d %s, %d %s", token.status, token.body, imitation.status, imitation.body)
	}
}

func TestPublicLimit_LimitsAddressAndPath(t *testing.T) {
	t.Parallel()
	// A public operation serves only some requests for one path, however it is spelt, and only some of
	// one address. Others wait for no one.
	f := newAgentFixture(t)
	from := func(address, code string) reply {
		return f.do("POST", "/vouchers/"+code+"/redeem", "", withKey("k"), func(r *http.Request) {
			r.Header.Del("Authorization")
			r.RemoteAddr = address + ":4711"
		})
	}
	for i, c := range []struct {
		address, code string
		status        int
	}{
		{"192.0.2.1", "ABCD-EF", 200}, {"192.0.2.2", "abcdef", 200}, {"192.0.2.3", "AbCdEf", 429}, {"192.0.2.3", "other", 200},
		{"192.0.2.9", "a1", 200}, {"192.0.2.9", "a2", 200}, {"192.0.2.9", "a3", 200}, {"192.0.2.9", "a4", 200}, {"192.0.2.9", "a5", 200},
		{"192.0.2.9", "a6", 429}, {"192.0.2.8", "a6", 200},
	} {
		got := from(c.address, c.code)
		if got.status != c.status || c.status == 429 && (got.error.Code != "RATE_LIMITED" || got.header.Get("Retry-After") == "") {
			t.Errorf("request %d, %s from %s: %d %s, want %d", i, c.code, c.address, got.status, got.body, c.status)
		}
	}
	// No response was stored under the key: it may have a secret.
	if len(f.store.responses) != 0 {
		t.Errorf("stored %d responses of a public operation", len(f.store.responses))
	}
}

func TestOpenAPI_DescribesOperationsForAgents(t *testing.T) {
	t.Parallel()
	// An operation for agents requires the bearer scheme and no permission; a public one has neither a
	// scheme nor an idempotency key.
	f := newAgentFixture(t)
	var document map[string]any
	if err := json.Unmarshal([]byte(f.do("GET", "/openapi.json", "").body), &document); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"components.securitySchemes.AgentAuth.scheme":                  `"bearer"`,
		"paths./couriers/me.get.security":                              `[{"AgentAuth":[]}]`,
		"paths./couriers/me.get.x-permission":                          `null`,
		"paths./couriers/me.get.responses.403":                         `null`,
		"paths./couriers/me.get.x-agent-permissions":                   `null`,
		"paths./couriers/me/routes.get.x-agent-permissions":            `["DRIVE","PLAN"]`,
		"paths./couriers/me/routes.get.responses.403.description":      `"FORBIDDEN"`,
		"paths./couriers/me/routes.post.x-agent-permissions":           `["DRIVE"]`,
		"paths./couriers/me/routes.post.responses.403.description":     `"FORBIDDEN"`,
		"paths./parcels.get.security":                                  `[{"BasicAuth":[]}]`,
		"paths./vouchers/{code}/redeem.post.security":                  `[]`,
		"paths./vouchers/{code}/redeem.post.responses.422":             `null`,
		"paths./couriers/me/calls.post.responses.422.description":      `"IDEMPOTENCY_KEY_REUSED"`,
		"paths./vouchers/{code}/redeem.post.responses.429.description": `"RATE_LIMITED"`,
	} {
		if got := jsonText(lookup(document, strings.Split(path, ".")...)); got != want {
			t.Errorf("%s = %s, want %s", path, got, want)
		}
	}
	if parameters := jsonText(lookup(document, "paths", "/vouchers/{code}/redeem", "post", "parameters")); strings.Contains(parameters,
		idempotencyKey) {
		t.Errorf("a public operation has parameters %s", parameters)
	}
	page := f.do("GET", "/docs", "").body
	if !strings.Contains(page, "Authorization: Bearer $ACCESS_TOKEN") || !strings.Contains(page, "<span>for agents</span><span>requires "+
		"DRIVE or PLAN</span>") {
		t.Error("the reference page does not say that an operation is for agents, and what it requires")
	}
}
