package customer_test

import (
	"strings"
	"testing"

	"causeway/core/customer"
)

func TestParse(t *testing.T) {
	t.Parallel()
	// An address has a $, a name and a host, in letters of any case, and nothing else.
	for text, want := range map[string]string{
		"$ana@bank.example":                       "$ana@bank.example",
		"$Ana.B+1-x_y@Bank.Example":               "$ana.b+1-x_y@bank.example",
		"$success.usd@sandbox.uma.test":           "$success.usd@sandbox.uma.test",
		"$ana@localhost:8080":                     "$ana@localhost:8080",
		"$ana@bank.example:443":                   "$ana@bank.example",
		"$ana@bank.example:00443":                 "$ana@bank.example",
		"$ana@bank.example:08443":                 "$ana@bank.example:8443",
		"$ana@XN--Bnk-7cd.example":                "$ana@xn--bnk-7cd.example",
		"$ana@ban\u212a.example":                  "",
		"$ana@b\u0430nk.example":                  "",
		"$ana@bank.example.":                      "",
		"$ana@bank.example:0":                     "",
		"$ana@bank.example:65536":                 "",
		"$" + strings.Repeat("a", 63) + "@b.com":  "$" + strings.Repeat("a", 63) + "@b.com",
		"ana@bank.example":                        "",
		"$@bank.example":                          "",
		"$ana":                                    "",
		"$ana@":                                   "",
		"$ana@-bank.example":                      "",
		"$ana@bank..example":                      "",
		"$a na@bank.example":                      "",
		"$ana@bank.example/x":                     "",
		"$" + strings.Repeat("a", 64) + "@b.com":  "",
		"$ana@" + strings.Repeat("a.", 200) + "b": "",
		"": "",
	} {
		got, ok := customer.ParseUMAAddress(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	// What is taken for an address is taken for the same again, and falls in two.
	for _, seed := range []string{"$ana@bank.example", "$A@b", "$@", "@", "$a@b:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, ok := customer.ParseUMAAddress(text)
		if !ok {
			return
		}
		again, ok := customer.ParseUMAAddress(address)
		name, host := customer.SplitUMAAddress(address)
		if !ok || again != address || name+"@"+host != address || len(name) < 2 || host == "" {
			t.Errorf("%q: %q, %q, %q", text, again, name, host)
		}
	})
}
