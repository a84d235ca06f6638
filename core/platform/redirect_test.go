package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestPlatform_CheckRedirectURI(t *testing.T) {
	// The origin of the address must be in the list, as a browser reads it.
	t.Parallel()
	for _, c := range []struct {
		uri     string
		origins string
		valid   bool
	}{
		{"", "", true}, {"", "https://example.com", true},
		{"https://example.com/done", "https://example.com", true}, {"https://example.com", "https://example.com", true},
		{"https://example.com/done?x=1#y", "https://other.test https://example.com", true},
		{"http://localhost:3000/done", "http://localhost:3000", true}, {"http://127.0.0.1/", "http://127.0.0.1", true},
		{"http://[::1]:3000", "http://[::1]:3000", true},
		// One origin can be written in several ways.
		{"HTTPS://EXAMPLE.com/Done", "https://example.com", true}, {"https://example.com/done", "https://Example.com", true},
		{"https://example.com:443/", "https://example.com", true},
		{"https://example.com:/", "https://example.com", true}, {"https://example.com:0443/", "https://example.com", true},
		{"https://example.com/", "https://example.com:443", true},
		{"http://localhost:80/", "http://localhost", true}, {"http://[0:0:0:0:0:0:0:1]:3000", "http://[::1]:3000", true},
		{"https://[2001:DB8::1]/", "https://[2001:db8:0::1]", true},
		{"https://xn--exmple-cua.com/", "https://xn--exmple-cua.com", true},
		// Without a list nothing is allowed.
		{"https://example.com/done", "", false}, {"http://localhost:3000/done", "", false},
		// Another scheme, host or port is another origin.
		{"http://localhost", "https://localhost", false}, {"https://localhost", "http://localhost", false},
		{"https://example.com:8443/", "https://example.com", false},
		{"https://example.com/", "https://example.com:8443", false}, {"https://example.com:80/", "https://example.com", false},
		{"https://example.com:65979/", "https://example.com", false},
		{"https://www.example.com/", "https://example.com", false}, {"https://example.com.evil.test", "https://example.com", false},
		{"https://example.com.", "https://example.com", false},
		{"https://evil.test/https://example.com", "https://example.com", false}, {"https://evil.test?https://example.com",
			"https://example.com", false},
		{"https://evil.test#https://example.com", "https://example.com", false}, {"https://ex\u0430mple.com/", "https://example.com", false},
		{"https://ex\uff41mple.com/", "https://example.com", false},
		{"https://example.com%2eevil.test/", "https://example.com", false}, {"https://example.com\u3002evil.test/", "https://example.com", false},
		// What browsers and servers may read differently.
		{"https://example.com@evil.test/", "https://example.com", false}, {"https://user@example.com", "https://example.com", false},
		{"https://@example.com", "https://example.com", false},
		{`https://evil.test\@example.com/`, "https://example.com", false}, {`https://example.com\@evil.test/`, "https://example.com", false},
		{`https://example.com\.evil.test`, "https://example.com", false},
		{`https:\\example.com`, "https://example.com", false}, {`https:/\evil.test`, "https://example.com", false},
		{"https:///example.com", "https://example.com", false},
		{"https:/example.com", "https://example.com", false}, {"https:example.com", "https://example.com", false},
		{"//example.com", "https://example.com", false},
		{"/done", "https://example.com", false}, {"https://", "https://example.com", false},
		{" https://example.com", "https://example.com", false},
		{"ht\ntps://example.com", "https://example.com", false}, {"https://exam\tple.com", "https://example.com", false},
		{"https://example.com/\n", "https://example.com", false},
		{"https://example.com/" + strings.Repeat("a", 2048), "https://example.com", false}, {"javascript:alert(1)//https://example.com",
			"https://example.com", false},
		{"data:text/html,https://example.com", "https://example.com", false}, {"http://[::1%25eth0]/", "http://[::1]", false},
		// An origin that was stored and must not be does not help.
		{"http://example.com", "http://example.com", false}, {"http://10.0.0.1", "http://10.0.0.1", false},
		{"http://localhost.example.com", "http://localhost.example.com", false},
		{"ftp://example.com", "ftp://example.com", false}, {"https://example.com.", "https://example.com.", false},
		{"javascript:alert(1)", "javascript:alert(1)", false},
	} {
		if err := (platform.Platform{KYCRedirectOrigins: strings.Fields(c.origins)}).CheckRedirectURI(c.uri); (err == nil) != c.valid ||
			err != nil && !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q of %q: %v", c.uri, c.origins, err)
		}
	}
}

func TestPlatform_CheckRedirectURISaysHowToAllowIt(t *testing.T) {
	// The fault names the field, the origin, the setting and the operation that changes it.
	t.Parallel()
	f, _ := fault.As(platform.Platform{Environment: platform.Production}.CheckRedirectURI("https://Example.com/done"))
	if f == nil || len(f.Fields) != 1 || f.Fields[0].Field != "redirectUri" {
		t.Fatal(f)
	}
	for _, want := range []string{"https://example.com ", "kycRedirectOrigins", "PATCH /config"} {
		if !strings.Contains(f.Fields[0].Message, want) {
			t.Errorf("%q has no %q", f.Fields[0].Message, want)
		}
	}
}

func TestPlatform_CheckRedirectURIOfSandbox(t *testing.T) {
	// A sandbox platform without a list may return customers to any URL that a list could allow, and with one only to that.
	t.Parallel()
	p := platform.Platform{Environment: platform.Sandbox}
	for uri, valid := range map[string]bool{"": true, "https://example.com/done": true, "http://localhost:3000": true,
		"http://example.com": false, "javascript:alert(1)": false, "/done": false} {
		if err := p.CheckRedirectURI(uri); (err == nil) != valid {
			t.Errorf("%q: %v", uri, err)
		}
	}
	p.KYCRedirectOrigins = []string{"https://example.org"}
	if err := p.CheckRedirectURI("https://example.com/done"); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("another origin than the listed one: %v", err)
	}
}

func TestApply_RedirectOrigins(t *testing.T) {
	// Origins have a scheme, a host and a port only; the list replaces the previous one, also by none.
	t.Parallel()
	p := platform.Platform{KYCRedirectOrigins: []string{"https://old.example.com"}}
	apply := func(origins ...string) (platform.Platform, error) {
		next, _, err := p.Apply(platform.Change{KYCRedirectOrigins: &origins}, time.Time{})
		return next, err
	}
	for _, valid := range [][]string{{}, {"https://example.com", "http://localhost:3000"}, {"https://Example.com:443", "http://[::1]:80"}} {
		if next, err := apply(valid...); err != nil || !slices.Equal(next.KYCRedirectOrigins, valid) {
			t.Errorf("%q: %q, %v", valid, next.KYCRedirectOrigins, err)
		}
	}
	if next, _, err := p.Apply(platform.Change{}, time.Time{}); err != nil || !slices.Equal(next.KYCRedirectOrigins, p.KYCRedirectOrigins) {
		t.Errorf("another change: %q, %v", next.KYCRedirectOrigins, err)
	}
	for _, invalid := range []string{"", "example.com", "http://example.com", "https://example.com/", "https://example.com/done",
		"https://a@example.com", "https://example.com?x", "https://example.com?", "https://example.com#", "https://example.com.",
		"https://*.example.com", "https://exämple.com", "https://example.com:65536", "https://evil.test\\@example.com", "*", "null"} {
		if _, err := apply("https://example.com", invalid); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", invalid, err)
		}
	}
	if _, err := apply(slices.Repeat([]string{"https://example.com"}, 21)...); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("21 origins: %v", err)
	}
}
