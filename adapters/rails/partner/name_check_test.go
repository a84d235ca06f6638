package partner_test

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/ids"
	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/partnertest"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/signedmessage"
	"causeway/ports"
	"causeway/ports/portstest"
)

// newNameChecker returns a checker of names with its provider.
func newNameChecker(t *testing.T, edit func(*partner.NameCheckConfig)) (*partner.NameChecker, *partnertest.NameProvider) {
	t.Helper()
	secrets, err := signedmessage.Parse("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	clock := portstest.NewFakeClock(time.Now())
	provider := &partnertest.NameProvider{Secrets: secrets, Now: clock.Now}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	log := logrus.New()
	log.SetOutput(io.Discard)
	config := partner.NameCheckConfig{URL: server.URL, Secrets: secrets, Timeout: 20 * time.Second, Clock: clock, IDs: ids.New(),
		Log: logrus.NewEntry(log)}
	if edit != nil {
		edit(&config)
	}
	checker, err := partner.NewNameChecker(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(checker.Close)
	return checker, provider
}

// accountOf is an account of a person with a name.
func accountOf(name string) account.External {
	return account.External{Type: account.USAccount, Currency: "USD", Fields: map[string]string{"accountNumber": "123456789",
		"routingNumber": "021000021"}, Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: name, BirthDate: "1990-01-02",
		Email: "ana@example.com"}}
}

func TestNameChecker_Results(t *testing.T) {
	t.Parallel()
	// Each result is a status of the interface, with the name of the owner if that may be known; an account that does not exist is a fault.
	// The provider gets the account and the name, and nothing else about the person. A wallet is not asked about.
	counted := map[partner.NameCheckStatus]int{}
	checker, provider := newNameChecker(t, func(c *partner.NameCheckConfig) {
		c.Asked = func(result partner.NameCheckStatus, _ time.Duration) { counted[result]++ }
	})
	for name, want := range map[string]ports.Verification{
		"Ana Silva":        {Status: account.Matched, Name: "Ana Silva"},
		"Test Partial":     {Status: account.PartialMatch, Name: "Test Partially"},
		"Test Other":       {Status: account.NotMatched},
		"Test Unsupported": {Status: account.Unsupported},
	} {
		if got, err := checker.Verify(t.Context(), accountOf(name)); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	if _, err := checker.Verify(t.Context(), accountOf("Test Missing")); !fault.Is(err, fault.InvalidBankAccount) {
		t.Errorf("an account that does not exist: %v", err)
	}
	provider.SetFault(partnertest.NamesDown)
	if _, err := checker.Verify(t.Context(), accountOf("Ana Silva")); err != nil || counted[partner.NameCheckFailed] != 1 ||
		counted[partner.NameMatchesPartly] != 1 || len(counted) != 6 {
		t.Errorf("counted %v, %v", counted, err)
	}
	asked := len(provider.Asked())
	if got, err := checker.Verify(t.Context(), account.External{Type: account.Layer2Wallet}); err != nil || got != (ports.Verification{}) ||
		len(provider.Asked()) != asked {
		t.Errorf("a wallet: %+v, %v", got, err)
	}
	for _, q := range provider.Asked() {
		if h := *q.Account.Holder; h.BirthDate != "" || h.Email != "" || h.Type != "INDIVIDUAL" ||
			q.Account.Fields["accountNumber"] != "123456789" {
			t.Errorf("asked with %+v", q.Account)
		}
	}
}

func TestNameChecker_ProviderFails(t *testing.T) {
	t.Parallel()
	// Without an answer as documented, whatever is wrong with it, the account is registered and says why its name was not checked; if the
	// check is required it is a temporary fault. A caller that has gone is no failure of the provider.
	for required, wantFault := range map[bool]fault.Code{false: "", true: fault.ServiceUnavailable} {
		checker, provider := newNameChecker(t, func(c *partner.NameCheckConfig) { c.Required = required })
		for _, f := range []partnertest.NameFault{partnertest.NamesDown, partnertest.NamesRedirected, partnertest.NamesNotJSON,
			partnertest.NamesOtherID, partnertest.NamesUnknown, partnertest.NamesDisclosed, partnertest.NamesNotNamed} {
			provider.SetFault(f)
			name := map[partnertest.NameFault]string{partnertest.NamesDisclosed: "Test Other", partnertest.NamesNotNamed: "Test Partial"}[f]
			if name == "" {
				name = "Ana Silva"
			}
			got, err := checker.Verify(t.Context(), accountOf(name))
			if required != fault.Is(err, wantFault) || !required && (err != nil || got.Status != account.Unsupported ||
				!strings.Contains(got.Reason, "not checked") || got.Name != "") {
				t.Errorf("%s, required %t: %+v, %v", f, required, got, err)
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := checker.Verify(gone, accountOf("Ana Silva")); err == nil {
			t.Error("the caller has gone, and got an answer")
		}
	}
}

func TestNameChecker_Deadline(t *testing.T) {
	t.Parallel()
	// A provider that takes longer than the timeout has not answered.
	checker, provider := newNameChecker(t, func(c *partner.NameCheckConfig) { c.Timeout = time.Second })
	provider.SetFault(partnertest.NamesSlow)
	if got, err := checker.Verify(t.Context(), accountOf("Ana Silva")); err != nil || got.Reason == "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := partner.NewNameChecker(partner.NameCheckConfig{URL: "http://names.example.com", Timeout: time.Second}); err == nil {
		t.Error("http to another machine is accepted")
	}
}
