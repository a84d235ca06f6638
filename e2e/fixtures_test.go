package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSandboxApply_DocumentedFixtures(t *testing.T) {
	t.Parallel()
	// The fixtures of the documentation make a payment. Applied again they do nothing twice, also for another customer beside.
	// A platform of production is refused before anything is done.
	text, err := os.ReadFile("../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	file := filepath.Join(t.TempDir(), "fixtures.yaml")
	if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newTestEnv(t)
	count := func() int64 {
		return h.queryInt("SELECT (SELECT count(*) FROM customers) + (SELECT count(*) FROM transactions) + (SELECT count(*) FROM receipts)")
	}

	first := mustRunCommand(t, h.tokenEnv(), "sandbox", "apply", file)
	if !strings.Contains(first, "completed  GET /transactions/Transaction:") || count() != 3 {
		t.Errorf("%d rows after\n%s", count(), first)
	}
	again := mustRunCommand(t, h.tokenEnv(), "sandbox", "apply", file)
	if strings.Count(again, "(applied before)") != 4 || count() != 3 {
		t.Errorf("again: %d rows after\n%s", count(), again)
	}

	production := h.createPlatform("Production", "PRODUCTION")
	if _, errOut, status := runCommand(t, production.tokenEnv(), "sandbox", "apply", file); status != 1 || !strings.Contains(errOut, "403") {
		t.Errorf("production: %d, %s", status, errOut)
	}
	if _, errOut, status := runCommand(t, production.tokenEnv(), "trigger", "CUSTOMER.KYC_APPROVED"); status != 1 ||
		!strings.Contains(errOut, "403") {
		t.Errorf("a trigger in production: %d, %s", status, errOut)
	}
	if count() != 3 {
		t.Errorf("%d rows in the end", count())
	}
}
