package rail_test

import (
	"testing"

	"causeway/core/rail"
)

func TestNodeURL(t *testing.T) {
	t.Parallel()
	// A node elsewhere needs TLS; what is no host and port is refused.
	parse := rail.NodeURL("https://127.0.0.1:8080")
	for value, want := range map[string]string{
		"https://node.example.com:8080/": "https://node.example.com:8080", "http://127.0.0.1:8332": "http://127.0.0.1:8332",
		"http://localhost:": "http://localhost", "http://[::1]:80": "http://[::1]:80", "https://[2001:db8::1]": "https://[2001:db8::1]",
		"http://node.example.com": "", "http://10.0.0.1:8332": "", "https://user@node.example.com": "", "https://node.example.com/path": "",
		"https://node.example.com?a=b": "", "ftp://127.0.0.1": "", "127.0.0.1:8332": "", "": "",
	} {
		if got, err := parse(value); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", value, got, err, want)
		}
	}
}
