package api_test

import (
	"os"
	"strings"
	"testing"

	"causeway/core/sandbox"
)

func TestWalletGuide_ShowsSandboxValues(t *testing.T) {
	t.Parallel()
	// The guide names the test values that the sandbox accepts. It repeats them, because only the sandbox
	// adapters may import them.
	guide, err := os.ReadFile("wallet_guide.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{sandbox.WalletCode, sandbox.WalletPasskeySignature, sandbox.WalletIDToken, sandbox.WalletSignature} {
		if !strings.Contains(string(guide), ": |"+value+"| (") {
			t.Errorf("missing: %s", value)
		}
	}
}
