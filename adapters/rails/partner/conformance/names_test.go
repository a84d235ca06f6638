package conformance_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/partner/conformance"
	"causeway/adapters/rails/partner/partnertest"
	"causeway/core/rail"
	"causeway/core/signedmessage"
)

// runNames tests a provider of name checks with a fault.
func runNames(t *testing.T, fault partnertest.NameFault) (broken []string, all int) {
	t.Helper()
	return runProvider(t, &partnertest.NameProvider{Secrets: parsedSecret(t), Now: time.Now, Fault: fault}, fault == partnertest.NamesSlow,
		func(ctx context.Context, o conformance.ProviderOptions) (*conformance.ProviderSuite, error) {
			return conformance.NewNames(ctx, o, conformance.DefaultAccount())
		})
}

func parsedSecret(t *testing.T) signedmessage.Secrets {
	t.Helper()
	secrets, err := signedmessage.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	return secrets
}

// runProvider tests a provider, and returns the rules that it breaks, with how many there are.
func runProvider(t *testing.T, provider http.Handler, slow bool, newSuite func(context.Context, conformance.ProviderOptions) (
	*conformance.ProviderSuite, error)) (broken []string, all int) {
	t.Helper()
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	within := 30 * time.Second // a loaded machine is slow
	if slow {
		within = time.Second
	}
	suite, err := newSuite(t.Context(), conformance.ProviderOptions{
		Connection: rail.Connection{Settings: map[string]string{"url": server.URL, "secret": "file:/secret"}}, Secrets: theSecret{},
		Clock: systemClock{}, Within: within})
	if err != nil {
		t.Fatal(err)
	}
	failed := suite.Run(t.Context(), func(r conformance.Result) {
		all++
		if r.Err != nil {
			broken = append(broken, r.Rule)
		}
	})
	if failed != len(broken) {
		t.Errorf("%d failed, and %v", failed, broken)
	}
	return broken, all
}

func TestNameSuite_FindsEachFault(t *testing.T) {
	t.Parallel()
	// A provider that follows the contract passes, and each fault breaks the rules that name it.
	if broken, all := runNames(t, ""); len(broken) > 0 || all != 15 {
		t.Errorf("without a fault %v of %d rules are broken", broken, all)
	}
	want := map[partnertest.NameFault]string{
		partnertest.NamesUnsigned: "unsigned changed old", partnertest.NamesOld: "old",
		partnertest.NamesAllMatch:  "partial no-match no-account not-supported business unavailable",
		partnertest.NamesDisclosed: "no-match business in-time", partnertest.NamesNotNamed: "partial again in-time",
		partnertest.NamesOtherID: "match partial no-match no-account not-supported business again in-time",
		partnertest.NamesUnknown: "match partial no-match no-account not-supported business again in-time",
		partnertest.NamesGuessed: "unavailable", partnertest.NamesOfNobody: "no-name", partnertest.NamesSlow: "in-time",
	}
	for _, fault := range partnertest.NameFaults() {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			broken, _ := runNames(t, fault)
			if len(broken) == 0 || want[fault] != "" && strings.Join(broken, " ") != want[fault] {
				t.Errorf("breaks %v, want %s", broken, want[fault])
			}
		})
	}
	unknown := conformance.ProviderOptions{Skip: []string{"nothing"}}
	if _, err := conformance.NewNames(t.Context(), unknown, conformance.DefaultAccount()); err == nil {
		t.Error("an unknown rule is skipped")
	}
}
