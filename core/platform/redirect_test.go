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
	// The address is https, or http on the same computer, and of an allowed origin if there are any.
	t.Parallel()
	for _, c := range []struct {
		uri     string
		origins string
		valid   bool
	}{
		{"", "", true}, {"https://example.com/done?x=1#y", "", true}, {"http://localhost:3000/done", "", true}, {"http://127.0.0.1/", "", true}, {"http://[::1]:80", "", true},
		{"http://example.com", "", false}, {"http://localhost.example.com", "", false}, {"http://10.0.0.1", "", false}, {"javascript:alert(1)", "", false},
		{"//example.com", "", false}, {"/done", "", false}, {"https:example.com", "", false}, {"https://", "", false}, {"https://user@example.com", "", false},
		{"https://example.com/\n", "", false}, {"https://example.com/" + strings.Repeat("a", 2048), "", false}, {"ftp://example.com", "", false},
		{"https://example.com/done", "https://example.com", true}, {"https://example.com:8443/", "https://example.com", false}, {"https://example.com.evil.test", "https://example.com", false},
		{"https://other.test", "https://example.com https://other.test", true}, {"", "https://example.com", true}, {"http://localhost", "https://example.com", false},
	} {
		if err := (platform.Platform{KYCRedirectOrigins: strings.Fields(c.origins)}).CheckRedirectURI(c.uri); (err == nil) != c.valid || err != nil && !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q of %q: %v", c.uri, c.origins, err)
		}
	}
}

func TestApply_RedirectOrigins(t *testing.T) {
	// Origins have a scheme and a host only; the list replaces the previous one, and an empty one allows
	// every address again.
	t.Parallel()
	p := platform.Platform{KYCRedirectOrigins: []string{"https://old.example.com"}}
	apply := func(origins ...string) (platform.Platform, error) {
		next, _, err := p.Apply(platform.Change{KYCRedirectOrigins: &origins}, time.Time{})
		return next, err
	}
	for _, valid := range [][]string{{}, {"https://example.com", "http://localhost:3000"}} {
		if next, err := apply(valid...); err != nil || !slices.Equal(next.KYCRedirectOrigins, valid) {
			t.Errorf("%q: %q, %v", valid, next.KYCRedirectOrigins, err)
		}
	}
	if next, _, err := p.Apply(platform.Change{}, time.Time{}); err != nil || !slices.Equal(next.KYCRedirectOrigins, p.KYCRedirectOrigins) {
		t.Errorf("another change: %q, %v", next.KYCRedirectOrigins, err)
	}
	for _, invalid := range []string{"", "example.com", "http://example.com", "https://example.com/", "https://example.com/done", "https://a@example.com", "https://example.com?x"} {
		if _, err := apply("https://example.com", invalid); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", invalid, err)
		}
	}
	if _, err := apply(slices.Repeat([]string{"https://example.com"}, 21)...); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("21 origins: %v", err)
	}
}
