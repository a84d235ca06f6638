package account

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckBitcoinAddress(t *testing.T) {
	// Addresses of the standards pass, on every network; those with another form, version or checksum do not.
	t.Parallel()
	for _, good := range []string{
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
		"tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "bc1sw50qgdz25j",
		"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
	} {
		if problem := checkBitcoinAddress(good); problem != "" {
			t.Errorf("%s: %s", good, problem)
		}
	}
	for _, bad := range []string{
		"", "bc1", "bc1q", "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
		"bc1Qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",                     // checksum
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", // bech32 in place of bech32m
		"bc1qr508d6qejxtdg4y5r3zarvaryv98gj9p",                           // version 0 with 16 bytes
		"bc130xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqd2k2xl", // version 17
		"ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", strings.Repeat("1", 30),
	} {
		if checkBitcoinAddress(bad) == "" {
			t.Errorf("%s passed", bad)
		}
	}
}

func TestCheckBitcoinAddress_RejectsAnyChangedLetter(t *testing.T) {
	// A payment to a mistyped address is lost, so one wrong letter must be detected.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		good := rapid.SampledFrom([]string{"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"}).Draw(t, "address")
		at, letter := rapid.IntRange(0, len(good)-1).Draw(t, "at"), rapid.ByteRange('0', 'z').Draw(t, "letter")
		if wrong := good[:at] + string(letter) + good[at+1:]; wrong != good && checkBitcoinAddress(wrong) == "" {
			t.Fatalf("%s and %s are both valid", good, wrong)
		}
	})
}

func FuzzCheckBitcoinAddress(f *testing.F) {
	for _, seed := range []string{"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "", "bc1", "1",
		"bc1\x00", strings.Repeat("1", 1000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		// Every accepted address is of printable characters and a plausible length.
		if checkBitcoinAddress(address) == "" && (len(address) < 14 || len(address) > 90 || strings.ContainsAny(address, " \x00")) {
			t.Errorf("%q passed", address)
		}
	})
}
