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

// newSMSProvider returns a provider of text messages and its URL.
func newSMSProvider(t *testing.T) (provider *partnertest.SMSProvider, url string) {
	t.Helper()
	secrets, err := signedmessage.Parse(nameSecret)
	if err != nil {
		t.Fatal(err)
	}
	provider = &partnertest.SMSProvider{Secrets: secrets, Now: time.Now}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	return provider, server.URL
}

func TestSMS_Conformance(t *testing.T) {
	t.Parallel()
	// The command passes a provider that follows the contract, the one in Python too, and names the rules that one breaks that sends
	// everything.
	provider, url := newSMSProvider(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(nameSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	python, pythonSecret := startPartner(t, "sms.py")
	for url, secret := range map[string]string{url: secret, python: pythonSecret} {
		out := mustRunCommand(t, nil, "rails", "conform-sms", "--url", url, "--secret-file", secret, "--within", "1m")
		if !strings.Contains(out, "The provider follows all 13 rules.") {
			t.Errorf("printed %s", out)
		}
	}
	provider.SetFault(partnertest.SMSAllAccepted)
	out, errOut, status := runCommand(t, nil, "rails", "conform-sms", "--url", url, "--secret-file", secret, "--skip", "in-time")
	if status != 1 || !strings.Contains(out, "FAIL  refuse ") || !strings.Contains(errOut, "breaks 4 of 12 rules") {
		t.Errorf("exits %d: %s%s", status, out, errOut)
	}
}
