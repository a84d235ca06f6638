package account

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckTronAddress(t *testing.T) {
	// Addresses that are in use pass; nothing that differs in form, kind or check does.
	t.Parallel()
	for _, good := range []string{"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL", "TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8"} {
		if problem := checkTronAddress(good); problem != "" {
			t.Errorf("%s: %s", good, problem)
		}
	}
	for _, bad := range []string{"", "T", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", strings.Repeat("T", 34)} {
		if checkTronAddress(bad) == "" {
			t.Errorf("%s passed", bad)
		}
	}
}

func TestCheckTronAddress_RejectsAnyChangedLetter(t *testing.T) {
	// What is sent to a mistyped address is lost, so one wrong letter must be found.
	t.Parallel()
	const good, letters = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	rapid.Check(t, func(t *rapid.T) {
		at, letter := rapid.IntRange(0, len(good)-1).Draw(t, "at"), rapid.SampledFrom([]byte(letters)).Draw(t, "letter")
		if wrong := good[:at] + string(letter) + good[at+1:]; wrong != good && checkTronAddress(wrong) == "" {
			t.Fatalf("%s and %s are both right", good, wrong)
		}
	})
}

func FuzzCheckTronAddress(f *testing.F) {
	for _, seed := range []string{"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "", "T", "T\x00", strings.Repeat("z", 1000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		// Whatever is taken has 34 letters and is 25 bytes of the network.
		if checkTronAddress(address) != "" {
			return
		}
		if bytes := decodeBase58(address); len(address) != 34 || len(bytes) != 25 || bytes[0] != 0x41 {
			t.Errorf("%q passed", address)
		}
	})
}
