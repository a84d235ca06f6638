package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// allPaths lists all paths of the interface with their methods.
var allPaths = []struct{ path, methods string }{
	{"/config", "GET PATCH"},
	{"/exchange-rates", "GET"},
	{"/discoveries", "GET"},
	{"/customers", "POST GET"},
	{"/customers/{customerId}", "GET PATCH DELETE"},
	{"/customers/{customerId}/kyc-link", "POST"},
	{"/customers/internal-accounts", "GET"},
	{"/platform/internal-accounts", "GET"},
	{"/customers/external-accounts", "GET POST"},
	{"/customers/external-accounts/{externalAccountId}", "GET DELETE"},
	{"/platform/external-accounts", "GET POST"},
	{"/platform/external-accounts/{externalAccountId}", "GET DELETE"},
	{"/beneficial-owners", "POST GET"},
	{"/beneficial-owners/{beneficialOwnerId}", "GET PATCH"},
	{"/documents", "POST GET"},
	{"/documents/{documentId}", "GET PUT DELETE"},
	{"/verifications", "POST GET"},
	{"/verifications/{verificationId}", "GET"},
	{"/transfer-in", "POST"},
	{"/transfer-out", "POST"},
	{"/receiver/uma/{receiverUmaAddress}", "GET"},
	{"/receiver/external-account/{accountId}", "GET"},
	{"/quotes/{quoteId}", "GET"},
	{"/quotes", "POST"},
	{"/quotes/{quoteId}/execute", "POST"},
	{"/transactions", "GET"},
	{"/transactions/{transactionId}", "GET"},
	{"/transactions/{transactionId}/approve", "POST"},
	{"/transactions/{transactionId}/reject", "POST"},
	{"/crypto/estimate-withdrawal-fee", "POST"},
	{"/sandbox/webhooks/test", "POST"},
	{"/customers/bulk/csv", "POST"},
	{"/customers/bulk/jobs/{jobId}", "GET"},
	{"/invitations", "POST"},
	{"/invitations/{invitationCode}", "GET"},
	{"/invitations/{invitationCode}/claim", "POST"},
	{"/invitations/{invitationCode}/cancel", "POST"},
	{"/sandbox/send", "POST"},
	{"/sandbox/uma/receive", "POST"},
	{"/sandbox/internal-accounts/{accountId}/fund", "POST"},
	{"/uma-providers", "GET"},
	{"/tokens", "POST GET"},
	{"/tokens/{tokenId}", "GET DELETE"},
	{"/internal-accounts/{id}", "PATCH"},
	{"/internal-accounts/{id}/export", "POST"},
	{"/auth/credentials", "POST GET"},
	{"/auth/credentials/{id}", "DELETE"},
	{"/auth/credentials/{id}/verify", "POST"},
	{"/auth/credentials/{id}/challenge", "POST"},
	{"/auth/sessions", "GET"},
	{"/auth/sessions/{id}", "DELETE"},
	{"/auth/sessions/{id}/refresh", "POST"},
	{"/agents", "POST GET"},
	{"/agents/approvals", "GET"},
	{"/agents/me", "GET"},
	{"/agents/{agentId}", "GET PATCH DELETE"},
	{"/agents/{agentId}/policy", "PATCH"},
	{"/agents/{agentId}/device-codes", "POST"},
	{"/agents/{agentId}/actions/{actionId}/approve", "POST"},
	{"/agents/{agentId}/actions/{actionId}/reject", "POST"},
	{"/agents/device-codes/{code}/status", "GET"},
	{"/agents/device-codes/{code}/redeem", "POST"},
	{"/agents/me/transactions", "GET"},
	{"/agents/me/transactions/{transactionId}", "GET"},
	{"/agents/me/quotes", "POST"},
	{"/agents/me/quotes/{quoteId}", "GET"},
	{"/agents/me/quotes/{quoteId}/execute", "POST"},
	{"/agents/me/actions", "GET"},
	{"/agents/me/actions/{actionId}", "GET"},
	{"/agents/me/transfer-in", "POST"},
	{"/agents/me/transfer-out", "POST"},
	{"/agents/me/internal-accounts", "GET"},
	{"/agents/me/external-accounts", "GET POST"},
	{"/agents/me/external-accounts/{externalAccountId}", "GET DELETE"},
}

// newFullRouter returns a router with all paths of the interface.
func newFullRouter() *router {
	r := newRouter()
	for _, p := range allPaths {
		for _, method := range strings.Fields(p.methods) {
			r.add(method, BasePath+p.path, &route{method: method, pattern: BasePath + p.path})
		}
	}
	r.build()
	return r
}

// fillParameters returns a path with a value for each parameter, escaped.
func fillParameters(path string, value func(name string) string) string {
	filled := segments(path)
	for i, segment := range filled {
		if name, ok := parseParameter(segment); ok {
			filled[i] = url.PathEscape(value(name))
		}
	}
	return "/" + strings.Join(filled, "/")
}

func TestRouter_FindsEveryPath(t *testing.T) {
	t.Parallel()
	// Every path matches its own pattern, with unusual parameter values decoded.
	r := newFullRouter()
	operations := 0
	for _, p := range allPaths {
		operations += len(strings.Fields(p.methods))
		for _, value := range []string{"Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", "$success.usd@example.com", "a/b c%?#",
			"mé", "..", "execute"} {
			path := fillParameters(BasePath+p.path, func(name string) string { return value + name })

			var m match
			params := r.find(path, &m)

			if m.item == nil || m.item.pattern != BasePath+p.path {
				t.Errorf("%s leads to %+v", path, m.item)
				continue
			}
			if !unescape(params) || len(params) != len(m.item.names) {
				t.Errorf("%s: parameters %v for %v", path, params, m.item.names)
			}
			for i, name := range m.item.names {
				if params[i].Value != value+name {
					t.Errorf("%s: %s = %q, want %q", path, name, params[i].Value, value+name)
				}
			}
		}
	}
	if operations != 96 {
		t.Errorf("the table has %d operations, want 96", operations)
	}
}

func TestRouter_LiteralTakesPrecedenceOverParameter(t *testing.T) {
	t.Parallel()
	// If a path matches a literal and a parameter, the literal wins, also for the allowed
	// methods.
	r := newFullRouter()
	for _, c := range []struct{ path, pattern, allow string }{
		{"/agents/me", "/agents/me", "GET, HEAD, OPTIONS"},
		{"/agents/approvals", "/agents/approvals", "GET, HEAD, OPTIONS"},
		{"/agents/mee", "/agents/{agentId}", "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"/customers/external-accounts", "/customers/external-accounts", "GET, HEAD, OPTIONS, POST"},
		{"/customers/Customer:1", "/customers/{customerId}", "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"/customers/bulk/csv", "/customers/bulk/csv", "OPTIONS, POST"},
		{"/customers/external-accounts/kyc-link", "/customers/external-accounts/{externalAccountId}", "DELETE, GET, HEAD, OPTIONS"},
		{"/agents/me/policy", "/agents/{agentId}/policy", "OPTIONS, PATCH"},
		{"/agents/device-codes/X/redeem", "/agents/device-codes/{code}/redeem", "OPTIONS, POST"},
		{"/agents/me/quotes", "/agents/me/quotes", "OPTIONS, POST"},
	} {
		var m match
		r.find(BasePath+c.path, &m)

		if m.item == nil || m.item.pattern != BasePath+c.pattern || m.item.allow != c.allow {
			t.Errorf("%s leads to %+v, want %s with %s", c.path, m.item, c.pattern, c.allow)
		}
	}
}

func TestRouter_UnknownPath(t *testing.T) {
	t.Parallel()
	// Other paths match nothing.
	r := newFullRouter()
	for _, path := range []string{"/", "", BasePath, BasePath + "/", BasePath + "/customers/", BasePath + "//customers",
		BasePath + "/Customers",
		BasePath + "/quotes//execute", BasePath + "/quotes/x/execute/y", BasePath + "/quotes/x/", "/quotes",
		BasePath + "/agents/me/actions/x/approve/z"} {
		var m match
		r.find(path, &m)

		if m.item != nil {
			t.Errorf("%q leads to %s", path, m.item.pattern)
		}
	}

	// An invalid parameter is refused.
	for _, path := range []string{BasePath + "/quotes/%00", BasePath + "/quotes/%ff", BasePath + "/quotes/a%00b/execute"} {
		var m match
		if params := r.find(path, &m); m.item == nil || unescape(params) {
			t.Errorf("%q leads to %+v with %v", path, m.item, params)
		}
	}
}

func TestRouter_MatchesLinearSearch(t *testing.T) {
	t.Parallel()
	// For any patterns and any path, the router finds the same pattern as a search through
	// all patterns, most literal first.
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.SampledFrom([]string{"a", "b", "me", "{x}"})
		pattern := rapid.Custom(func(t *rapid.T) string {
			return "/" + strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "segments"), "/")
		})
		patterns := rapid.SliceOfNDistinct(pattern, 1, 12, rapid.ID[string]).Draw(t, "patterns")
		path := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "me", "other"}), 1, 5).Draw(t, "path"), "/")

		r := newRouter()
		for _, p := range patterns {
			r.add(http.MethodGet, p, &route{pattern: p})
		}
		r.build()
		var m match
		r.find(path, &m)

		slices.SortFunc(patterns, func(a, b string) int { return compareSpecificity(segments(a), segments(b)) })
		want := slices.IndexFunc(patterns, func(p string) bool { return overlaps(segments(p), segments(path)) })
		switch {
		case want < 0 && m.item != nil:
			t.Fatalf("%s leads to %s, want nothing (%v)", path, m.item.pattern, patterns)
		case want >= 0 && (m.item == nil || m.item.pattern != patterns[want]):
			t.Fatalf("%s leads to %+v, want %s (%v)", path, m.item, patterns[want], patterns)
		}
	})
}

func TestRouter_DuplicatePathPanics(t *testing.T) {
	t.Parallel()
	// Registering the same path twice panics, also with another parameter name.
	for name, mistake := range map[string]func(r *router){
		"twice": func(r *router) {
			r.add("GET", "/a/{x}", &route{})
			r.add("GET", "/a/{x}", &route{})
		},
		"renamed": func(r *router) {
			r.add("GET", "/a/{x}", &route{})
			r.add("POST", "/a/{y}", &route{})
			r.build()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			mistake(newRouter())
		}()
	}
}

func BenchmarkRouterFind(b *testing.B) {
	r := newFullRouter()
	path := BasePath + "/agents/Agent:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b/actions/AgentAction:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b/approve"
	b.ReportAllocs()
	var m match
	for b.Loop() {
		m.item = nil
		if r.find(path, &m); m.item == nil {
			b.Fatal("not found")
		}
	}
}

func TestServe_TrailingSlashIsUnderstood(t *testing.T) {
	t.Parallel()
	// A path with one slash after its end is the path without. More slashes, or an empty parameter, are no path.
	f := newFixture(t)
	for path, want := range map[string]int{"/parcels/": 200, "/parcels/?limit=1": 200, "/parcels//": 404, "//": 404, "/nowhere/": 404} {
		if got := f.do("GET", path, ""); got.status != want {
			t.Errorf("%s: %d %s, want %d", path, got.status, got.body, want)
		}
	}
}
