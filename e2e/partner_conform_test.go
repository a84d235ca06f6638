package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

// startPartner runs a sidecar in Python until the test ends, and returns its URL and the file of its secret.
func startPartner(t *testing.T, script string, args ...string) (url, secret string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("partner", script))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Fatal("python3 is not installed; install it with make needs-python")
	}
	folder := t.TempDir()
	secret = filepath.Join(folder, "secret")
	if err := os.WriteFile(secret, []byte(partnerSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	sidecar, err := kit.Start(kit.Command{Program: "python3", Dir: folder,
		Args: append([]string{"-B", path, "--listen", "127.0.0.1:0", "--state", filepath.Join(folder, "sidecar.db"), "--secret-file", secret},
			args...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sidecar.Kill() })
	line, err := sidecar.AwaitLine(waitContext(t), func(line string) bool { return strings.HasPrefix(line, "listening on") })
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimPrefix(line, "listening on "), secret
}

func TestPartnerConform_SidecarFollowsAllRules(t *testing.T) {
	t.Parallel()
	// The sidecar in Python lists its events and sends them, and follows the contract.
	listen, err := kit.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	url, secret := startPartner(t, "sidecar.py", "--callback", "http://"+listen+"/rails/partner/test/events")
	out := mustRunCommand(t, nil, "rails", "conform", "--url", url, "--secret-file", secret, "--listen", listen, "--timeout", "2m")
	if !strings.Contains(out, "The sidecar follows all 33 rules.") || !strings.Contains(out, "pass  send-again ") {
		t.Errorf("printed %s", out)
	}
}

func TestPartnerConform_NamesEachFault(t *testing.T) {
	t.Parallel()
	// Each fault of a sidecar fails the rule that it breaks, with its reason in words, and the command exits with 1.
	for fault, want := range map[string]struct{ rule, text string }{
		"NoSignatures":        {"unsigned", "GET /balances without a signature was answered as a success, not with 401"},
		"OnlyBodies":          {"changed", "GET /balances that was changed after it was signed was answered as a success"},
		"NoBalances":          {"balances", "the answer has the status 404"},
		"HTML":                {"health", "the answer has a Content-Type other than application/json"},
		"Redirects":           {"settle-payout", "the answer has the status 307, and redirects are not followed"},
		"PaysAgain":           {"once", "a payment of 1000 changed the balance from -1000 to"},
		"TakesAnyAmount":      {"conflict", "the same payment with another amount was answered as a success, not with 409"},
		"KnowsIDsOnly":        {"kind", "POST /refunds with the id of a PAYOUT: the answer has the status 409"},
		"Floats":              {"amount", "the answer has another amount than the request"},
		"NoCodes":             {"reject", "code is required with the status REJECTED"},
		"FailsWhenBusy":       {"busy", "was not answered with 503 or 429 and Retry-After in seconds"},
		"AnswersFirst":        {"lost-answer", "a payment whose answer was lost: GET /payouts/{id}: the answer has the status 404"},
		"NoReferences":        {"receipt", "no event RECEIPT with the reference TEST-"},
		"RejectsWithoutEvent": {"payment-event", "no event PAYMENT about a payment that is rejected later, with the status REJECTED, is listed"},
		"SameEventID":         {"event-id", "has more than one event"},
		"LosesEvents":         {"limit", "before, or has other content"},
		"SettlesWithoutTime":  {"settle-refund", "settledAt is required with the status SETTLED"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			url, secret := startPartner(t, "faults.py", "--fault", fault)
			out, errOut, status := runCommand(t, nil, "rails", "conform", "--url", url, "--secret-file", secret, "--timeout", "5s")
			_, after, failed := strings.Cut(out, "FAIL  "+want.rule+" ")
			_, after, _ = strings.Cut(after, "\n")
			reason, _, _ := strings.Cut(after, "\n")
			if status != 1 || !failed || !strings.Contains(reason, want.text) || !strings.Contains(errOut, "rules") {
				t.Errorf("status %d, %s for the reason %q, want %q; printed\n%s%s", status, want.rule, reason, want.text, out, errOut)
			}
		})
	}
}
