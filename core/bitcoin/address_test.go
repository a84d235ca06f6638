package bitcoin_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"causeway/core/bitcoin"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	// Addresses of each kind are read as what they say, and a wrong one as what is wrong with it.
	const key = "751e76e8199196d454941c45d1b3a323f1433bd6"
	for text, want := range map[string]bitcoin.Address{
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": {Prefix: "bc"},
		"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4": {Prefix: "bc"},
		"tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx": {Prefix: "tb"},
		"1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH":         {},
		"mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r":         {Version: 0x6f},
	} {
		got, err := bitcoin.ParseAddress(text)
		if err != nil || got.Prefix != want.Prefix || got.Version != want.Version || hex.EncodeToString(got.Program) != key {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]error{
		"": bitcoin.ErrForm, "bc1": bitcoin.ErrForm, "bc1\x00qw508d6": bitcoin.ErrForm, "bc1sw50qgdz25k": bitcoin.ErrChecksum,
		"bc1Qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": bitcoin.ErrMixedCase,
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5": bitcoin.ErrChecksum,
		"1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMJ":         bitcoin.ErrChecksum,
		"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t":         bitcoin.ErrForm,
		"bc1" + strings.Repeat("q", 1000):            bitcoin.ErrForm,
		// The public key itself, which other libraries take for an address.
		"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798": bitcoin.ErrForm,
	} {
		if got, err := bitcoin.ParseAddress(text); !errors.Is(err, want) {
			t.Errorf("%.80q: %+v, %v, want %v", text, got, err, want)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	f.Add("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4")
	f.Add("1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH")
	f.Fuzz(func(t *testing.T, text string) {
		// An address of a key in SegWit is written as it was read.
		a, err := bitcoin.ParseAddress(text)
		if err != nil || a.Prefix == "" || a.Version > 0 {
			return
		}
		if again, err := bitcoin.WitnessAddress(a.Prefix, a.Program); err != nil || again != strings.ToLower(text) {
			t.Errorf("%q: %q, %v", text, again, err)
		}
	})
}
