package real_test

import (
	"testing"

	"causeway/core/platform"
	"causeway/ports/portstest"
)

func TestProofs_Conformance(t *testing.T) {
	t.Parallel()
	portstest.WalletProofs(t, platform.Platform{Wallets: &platform.Wallets{PasskeyRPID: relyingParty, PasskeyOrigins: []string{origin},
		OAuthClientIDs: []string{"app"}}}, proofs)
}

func TestNewCode_EveryCharacterIsAsLikely(t *testing.T) {
	t.Parallel()
	// Of 32,000 characters each occurs about as often as every other: within seven standard deviations, so that
	// the test fails by chance less than once in 10^10 runs.
	for _, c := range []struct {
		letters    bool
		characters string
	}{{false, "0123456789"}, {true, "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"}} {
		counts := map[rune]int{}
		for range 4000 {
			code, err := proofs.NewCode(8, c.letters)
			if err != nil || len(code) != 8 {
				t.Fatalf("code %q, %v", code, err)
			}
			for _, character := range code {
				counts[character]++
			}
		}
		mean := 32_000 / len(c.characters)
		for _, character := range c.characters {
			if difference := counts[character] - mean; difference*difference > 49*mean {
				t.Errorf("%q occurs %d times, not about %d", character, counts[character], mean)
			}
			delete(counts, character)
		}
		if len(counts) != 0 {
			t.Errorf("other characters: %v", counts)
		}
	}
	if proofs.AcceptsTestCode("000000") {
		t.Error("the test value is accepted")
	}
}
