package httpapi

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestAuthenticate_RejectsMissingOrMalformedCredentials(t *testing.T) {
	t.Parallel()
	// A request without valid credentials returns 401 with the reason and the
	// authentication scheme.
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, c := range map[string]struct{ header, reason string }{
		"none":           {"", "Missing credentials"},
		"wrong secret":   {basic(clientID + ":wrong"), "Invalid credentials"},
		"unknown client": {basic("nobody:" + secret), "Invalid credentials"},
		"bearer":         {"Bearer agt_123", "Unsupported scheme"},
		"no base64":      {"Basic ????", "Malformed credentials"},
		"no colon":       {basic(clientID), "Malformed credentials"},
		"no client":      {basic(":" + secret), "Malformed credentials"},
		"no secret":      {basic(clientID + ":"), "Malformed credentials"},
		"a zero":         {basic("a\x00:b"), "Malformed credentials"},
		"endless":        {basic(strings.Repeat("x", 2000) + ":y"), "Malformed credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)

			got := f.do("POST", "/parcels", validParcel, func(r *http.Request) {
				r.Header.Del("Authorization")
				if c.header != "" {
					r.Header.Set("Authorization", c.header)
				}
			})

			if got.status != 401 || got.error.Code != "UNAUTHORIZED" || got.error.Reason != c.reason || got.error.Details["reason"] != c.reason {
				t.Errorf("got %d %s, want 401 with reason %s", got.status, got.body, c.reason)
			}
			if got.header.Get("WWW-Authenticate") != `Basic realm="causeway", charset="UTF-8"` {
				t.Errorf("WWW-Authenticate = %q", got.header.Get("WWW-Authenticate"))
			}
		})
	}

	// Two Authorization headers are refused, and the case of the scheme is ignored.
	f := newFixture(t)
	twice := func(r *http.Request) { r.Header.Add("Authorization", r.Header.Get("Authorization")) }
	if got := f.do("GET", "/parcels", "", twice); got.status != 401 {
		t.Errorf("two headers: %d", got.status)
	}
	if got := f.do("GET", "/parcels", "", withHeader("Authorization", "bAsIc "+basic(clientID + ":" + secret)[6:])); got.status != 200 {
		t.Errorf("odd case: %d %s", got.status, got.body)
	}
}

func TestAuthorize_RequiresPermission(t *testing.T) {
	t.Parallel()
	// A token can do what its permissions allow; other operations name the missing
	// permission.
	f := newFixture(t)
	for _, c := range []struct {
		client, method, path string
		status               int
		says                 string
	}{
		{"viewer", "GET", "/parcels", 200, ""},
		{"viewer", "POST", "/parcels", 403, "TRANSACT"},
		{"viewer", "DELETE", "/parcels/" + parcelID.String(), 403, "MANAGE"},
		{"production", "POST", "/parcels", 201, ""},
		{"production", "POST", "/sandbox/parcels/" + parcelID.String() + "/lose", 403, "sandbox"},
		{clientID, "POST", "/sandbox/parcels/" + parcelID.String() + "/lose", 200, ""},
	} {
		body := ""
		if c.method == "POST" && c.path == "/parcels" {
			body = validParcel
		}

		got := f.do(c.method, c.path, body, asClient(c.client))

		if got.status != c.status || !strings.Contains(got.error.Message, c.says) {
			t.Errorf("%s %s %s: %d %s, want %d with %q", c.client, c.method, c.path, got.status, got.body, c.status, c.says)
		}
		if c.status == 403 && got.error.Code != "FORBIDDEN" {
			t.Errorf("%s %s: %s", c.method, c.path, got.error.Code)
		}
	}
}

func TestRegister_RequiresPermissionOrPublic(t *testing.T) {
	t.Parallel()
	// Registering an operation without exactly one of Permission and Public panics.
	handle := func(context.Context, Call, *struct{}) (int, error) { return 0, nil }
	render := func(int) NoBody { return NoBody{} }
	for name, op := range map[string]Operation{
		"neither":         {ID: "x", Path: "/x", Summary: "X", Tag: "Parcels"},
		"both":            {ID: "x", Path: "/x", Summary: "X", Tag: "Parcels", Public: true, Permission: platform.View},
		"public sandbox":  {ID: "x", Path: "/x", Summary: "X", Tag: "Parcels", Public: true, SandboxOnly: true},
		"nameless":        {Path: "/x", Summary: "X", Tag: "Parcels", Public: true},
		"undeclared code": {ID: "x", Path: "/x", Summary: "X", Tag: "Parcels", Public: true, Errors: []fault.Code{"OOPS"}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Get(newUnbuiltFixture(t).API, op, handle, render)
		}()
	}

	// An unknown tag fails Build.
	f := newUnbuiltFixture(t)
	Get(f.API, Operation{ID: "x", Path: "/x", Summary: "X", Tag: "Nowhere", Public: true}, handle, render)
	if err := f.Build(); err == nil {
		t.Error("an unknown tag went unnoticed")
	}
}

func TestAuthenticate_FailedLoginsAreRateLimited(t *testing.T) {
	t.Parallel()
	// After several wrong secrets for a client id from one address, further ones return 429
	// there. The right secret, other addresses and other client ids are not affected.
	f := newFixture(t)
	wrong := func(client string) requestOption { return func(r *http.Request) { r.SetBasicAuth(client, "wrong") } }
	from := func(address string) requestOption { return func(r *http.Request) { r.RemoteAddr = address } }
	for range failedLoginsPerClient.Burst {
		if got := f.do("GET", "/parcels", "", wrong(clientID), from("203.0.113.7:1000")); got.status != 401 {
			t.Fatalf("a first guess: %d", got.status)
		}
	}

	limited := f.do("GET", "/parcels", "", wrong(clientID), from("203.0.113.7:2000"))

	if limited.status != 429 || limited.error.Code != "RATE_LIMITED" || limited.header.Get("Retry-After") == "" {
		t.Errorf("guessing on: %d %s", limited.status, limited.body)
	}
	for name, c := range map[string]struct {
		credentials requestOption
		address     string
		status      int
	}{
		"right secret":                 {func(*http.Request) {}, "203.0.113.7:3000", 200},
		"right secret of another":      {asClient("viewer"), "203.0.113.7:1000", 200},
		"wrong secret of another":      {wrong("viewer"), "203.0.113.7:1000", 401},
		"right secret elsewhere":       {func(*http.Request) {}, "203.0.113.8:1000", 200},
		"wrong secret from an address": {wrong(clientID), "203.0.113.8:1000", 401},
	} {
		if got := f.do("GET", "/parcels", "", c.credentials, from(c.address)); got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
	}
}

func TestAuthenticate_FailuresBehindProxyShutOutNobody(t *testing.T) {
	t.Parallel()
	// However many requests of one address fail, with any client ids, valid credentials from that
	// address pass. Behind a trusted proxy the address of each client counts by itself.
	f := newFixture(t, func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	from := func(peer, client string) requestOption {
		return func(r *http.Request) {
			r.RemoteAddr = peer
			r.Header.Set("X-Forwarded-For", client)
		}
	}
	statuses := map[int]int{}
	for i := range 2 * failedLoginsPerAddress.Burst {
		wrong := func(r *http.Request) { r.SetBasicAuth(fmt.Sprint("client", i), "wrong") }
		statuses[f.do("GET", "/parcels", "", wrong, from("192.0.2.1:1", "")).status]++
		statuses[f.do("GET", "/parcels", "", wrong, from("10.0.0.1:1", "198.51.100.1")).status]++
	}

	if statuses[401] < 2*failedLoginsPerAddress.Burst || statuses[429] == 0 {
		t.Errorf("wrong credentials returned %v", statuses)
	}
	for _, c := range []struct{ peer, client string }{{"192.0.2.1:1", ""}, {"10.0.0.1:1", "198.51.100.1"}} {
		if got := f.do("GET", "/parcels", "", from(c.peer, c.client)); got.status != 200 {
			t.Errorf("valid credentials from %s for %q: %d %s", c.peer, c.client, got.status, got.body)
		}
	}
	wrong := func(r *http.Request) { r.SetBasicAuth("another", "wrong") }
	if got := f.do("GET", "/parcels", "", wrong, from("10.0.0.1:1", "198.51.100.2")); got.status != 401 {
		t.Errorf("another client behind the proxy: %d %s", got.status, got.body)
	}
}

func TestLoginLimiter_LimitsAddressAcrossClients(t *testing.T) {
	t.Parallel()
	// An address that tries many client ids is limited, and may try again later.
	g, now := newLoginLimiter(), time.Unix(1e9, 0)
	attacker, other := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("203.0.113.8")
	for i := range failedLoginsPerAddress.Burst {
		if wait := g.recordFailure(strings.Repeat("x", i+1), attacker, now); wait != 0 {
			t.Fatalf("client %d waits %s already", i, wait)
		}
	}

	if wait := g.recordFailure("another", attacker, now); wait <= 0 || wait > time.Second {
		t.Errorf("the attacker waits %s", wait)
	}
	if wait := g.recordFailure("another", other, now); wait != 0 {
		t.Errorf("another address waits %s", wait)
	}
	if wait := g.recordFailure("another", attacker, now.Add(time.Second)); wait != 0 {
		t.Errorf("a second later the attacker waits %s", wait)
	}
}

func TestRemoteAddr_TrustsConfiguredProxiesOnly(t *testing.T) {
	t.Parallel()
	// The peer address counts, unless it is a trusted proxy; then it is the last forwarded
	// address that is not trusted. An IPv6 /64 network is one client.
	f := newFixture(t, func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	for _, c := range []struct{ peer, forwarded, want string }{
		{"203.0.113.7:99", "", "203.0.113.7"},
		{"203.0.113.7:99", "198.51.100.1", "203.0.113.7"}, // any client can send the header
		{"10.0.0.1:99", "198.51.100.1", "198.51.100.1"},
		{"10.0.0.1:99", "192.0.2.66, 198.51.100.1, 10.0.0.2", "198.51.100.1"},
		{"10.0.0.1:99", "", "10.0.0.1"},
		{"10.0.0.1:99", "unknown", "10.0.0.1"},
		{"10.0.0.1:99", "198.51.100.1, unknown, 10.0.0.3", "10.0.0.3"},
		{"[2001:db8:1:2:3:4:5:6]:99", "", "2001:db8:1:2::"},
		{"[::ffff:203.0.113.7]:99", "", "203.0.113.7"},
		{"[fe80::1%eth0]:99", "", "fe80::"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := f.remoteAddr(r).String(); got != c.want {
			t.Errorf("%s for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add("Basic " + base64.StdEncoding.EncodeToString([]byte("id:secret:with:colons")))
	f.Add("basic  =")
	f.Add("Bearer x")
	f.Add("")
	// Any header yields credentials or an error, and the credentials equal those of the
	// standard library.
	f.Fuzz(func(t *testing.T, value string) {
		id, secret, err := credentials([]string{value})
		if err != nil {
			if !fault.Is(err, fault.Unauthorized) {
				t.Fatalf("%q: %v", value, err)
			}
			return
		}
		if id == "" || secret == "" || strings.Contains(id, ":") || !isValidText(id) || !isValidText(secret) {
			t.Fatalf("%q = %q, %q", value, id, secret)
		}
		r := &http.Request{Header: http.Header{"Authorization": {value}}}
		if user, password, ok := r.BasicAuth(); ok && (user != id || password != secret) {
			t.Fatalf("%q = %q, %q; the library reads %q, %q", value, id, secret, user, password)
		}
	})
}
