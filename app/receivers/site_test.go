package receivers

import "testing"

func TestSiteOf(t *testing.T) {
	t.Parallel()
	// What one owner has registered is one site; owners below a public suffix have sites of their own.
	for domain, want := range map[string]string{
		"pay.test": "pay.test", "a.b.pay.test:8443": "pay.test", "uma.example.co.uk": "example.co.uk", "other.co.uk": "other.co.uk",
		"a.github.io": "a.github.io", "b.a.github.io": "a.github.io", "co.uk": "co.uk", "localhost:80": "localhost", "192.0.2.7": "192.0.2.7",
	} {
		if got := siteOf(domain); got != want {
			t.Errorf("%s: %s, want %s", domain, got, want)
		}
	}
}
