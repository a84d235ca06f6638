package e2e

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/partner/partnertest"
	"causeway/core/signedmessage"
)

// nameSecret is the one with which questions about names are signed.
const nameSecret = "whsec_HxwdHhsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA="

// newNameProvider returns a provider of name checks and its URL.
func newNameProvider(t *testing.T) (provider *partnertest.NameProvider, url string) {
	t.Helper()
	secrets, err := signedmessage.Parse(nameSecret)
	if err != nil {
		t.Fatal(err)
	}
	provider = &partnertest.NameProvider{Secrets: secrets, Now: time.Now}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	return provider, server.URL
}

// accountOf registers an account of a person with a name; each has another number.
func (h *testEnv) accountOf(number, name string) apiResponse {
	return h.post("/platform/external-accounts", object{"currency": "USD", "accountInfo": object{"accountType": "US_ACCOUNT",
		"accountNumber": number, "routingNumber": "021000021", "beneficiary": object{"beneficiaryType": "INDIVIDUAL", "fullName": name,
			"birthDate": "1990-01-02", "nationality": "US"}}})
}

func TestNameChecks_OfProductionPlatforms(t *testing.T) {
	t.Parallel()
	// The provider is asked when an account is registered, and its answer is the status of the account, also later. An account that does not
	// exist is refused. If the provider fails, the account is registered and says why it was not checked; where the check is required, it
	// is not. Sandboxes never ask.
	provider, url := newNameProvider(t)
	h := newDatabaseEnv(t)
	flags := []string{"--name-check-url", url, "--name-check-secret", nameSecret, "--name-check-timeout", "20s"}
	h.server = startServer(t, h.databaseURL, flags...)
	h.tenant = h.createPlatform("Live", "PRODUCTION", "--regulated")
	for number, c := range map[string]struct{ name, status, owner string }{
		"100000011": {"Ana Silva", "MATCHED", "Ana Silva"}, "100000012": {"Test Partial", "PARTIAL_MATCH", "Test Partially"},
		"100000013": {"Test Other", "NOT_MATCHED", ""}, "100000014": {"Test Unsupported", "UNSUPPORTED", ""},
	} {
		created := h.accountOf(number, c.name).wantStatus(201)
		for _, a := range []apiResponse{created, h.get("/platform/external-accounts/" + created.text("id")).wantStatus(200)} {
			a.wantValues(map[string]any{"status": "ACTIVE", "beneficiaryVerificationStatus": c.status, "beneficiaryVerifiedData.fullName": c.owner})
		}
		if reason, _ := created.value("beneficiaryVerificationReason").(string); reason != "" {
			t.Errorf("%s: %s", c.name, reason)
		}
	}
	h.accountOf("100000015", "Test Missing").wantError(400, "INVALID_BANK_ACCOUNT")
	if asked := provider.Asked(); len(asked) != 5 || asked[0].Account.Holder.BirthDate != "" {
		t.Errorf("asked %+v", asked)
	}

	provider.SetFault(partnertest.NamesDown)
	unchecked := h.accountOf("100000016", "Ana Silva").wantStatus(201)
	if unchecked.text("beneficiaryVerificationStatus") != "UNSUPPORTED" || !strings.Contains(unchecked.text("beneficiaryVerificationReason"),
		"not checked") {
		t.Errorf("without an answer: %s", unchecked.body)
	}
	h.server.kill()
	h.server = startServer(t, h.databaseURL, append(flags, "--name-check-required")...)
	h.tenant.BaseURL = h.server.baseURL
	h.accountOf("100000017", "Ana Silva").wantError(503, "SERVICE_UNAVAILABLE")
	provider.SetFault("")
	h.accountOf("100000017", "Ana Silva").wantStatus(201).wantValues(map[string]any{"beneficiaryVerificationStatus": "MATCHED"})

	asked := len(provider.Asked())
	h.tenant = h.createPlatform("Sandbox", "SANDBOX", "--regulated")
	h.accountOf("123456102", "Ana Silva").wantStatus(201).wantValues(map[string]any{"beneficiaryVerificationStatus": "NOT_MATCHED"})
	if len(provider.Asked()) != asked {
		t.Error("a sandbox asks the provider")
	}
}

func TestNameChecks_Conformance(t *testing.T) {
	t.Parallel()
	// The command passes a provider that follows the contract, the one in Python too, and names the rules that one breaks that calls every
	// name right. Settings that are not complete are refused.
	provider, url := newNameProvider(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(nameSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	out := mustRunCommand(t, nil, "rails", "conform-names", "--url", url, "--secret-file", secret, "--within", "1m")
	if !strings.Contains(out, "The provider follows all 15 rules.") {
		t.Errorf("printed %s", out)
	}
	python, pythonSecret := startPartner(t, "names.py")
	out = mustRunCommand(t, nil, "rails", "conform-names", "--url", python, "--secret-file", pythonSecret, "--within", "1m")
	if !strings.Contains(out, "The provider follows all 15 rules.") {
		t.Errorf("in Python: %s", out)
	}
	provider.SetFault(partnertest.NamesAllMatch)
	out, errOut, status := runCommand(t, nil, "rails", "conform-names", "--url", url, "--secret-file", secret, "--skip", "in-time")
	if status != 1 || !strings.Contains(out, "FAIL  no-match ") || !strings.Contains(out, "skip  in-time") ||
		!strings.Contains(errOut, "breaks 6 of 14 rules") {
		t.Errorf("exits %d: %s%s", status, out, errOut)
	}
	if _, errOut, status := runCommand(t, nil, "serve", "--database-url", "postgres://localhost/none",
		"--master-key", masterKey, "--name-check-url", "http://names.example.com", "--name-check-secret", "x",
		"--name-check-timeout", "1h"); status == 0 || !strings.Contains(errOut, "--name-check-url") ||
		!strings.Contains(errOut, "--name-check-secret") || !strings.Contains(errOut, "--name-check-timeout") {
		t.Errorf("bad settings: %s", errOut)
	}
}
