package sandbox_test

import (
	"reflect"
	"slices"
	"testing"

	"causeway/adapters/counterparties/sandbox"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

func TestCounterparties_FindsSandboxPeople(t *testing.T) {
	t.Parallel()
	// Test addresses are found with their currency and the requested facts, any address can be a
	// sender, and other domains have no test addresses.
	c := sandbox.New("people.test")

	found, ok, err := c.Counterparty(t.Context(), ports.UMAPayer{}, "$success.mxn@people.test", []string{"FULL_NAME", "SHOE_SIZE"})
	if err != nil || !ok || !slices.Equal(found.Currencies, []money.Currency{"MXN"}) ||
		!reflect.DeepEqual(found.Facts, map[string]string{"FULL_NAME": "Success Mxn"}) || len(found.WantedFields) == 0 {
		t.Errorf("%+v, %v, %v", found, ok, err)
	}
	if _, ok, err := c.Counterparty(t.Context(), ports.UMAPayer{}, "$success.mxn@"+sandbox.DefaultDomain, nil); ok || err != nil {
		t.Errorf("found elsewhere: %v, %v", ok, err)
	}
	sender, err := c.Sender(t.Context(), "$bo@bank.example", []string{"ACCOUNT_IDENTIFIER"})
	if err != nil || !reflect.DeepEqual(sender.Facts, map[string]string{"ACCOUNT_IDENTIFIER": "$bo@bank.example"}) {
		t.Errorf("%+v, %v", sender, err)
	}
}

func TestProviders_RegionsFollowCurrencies(t *testing.T) {
	t.Parallel()
	// There is one provider, at the configured domain, in the countries of its currencies.
	providers, err := sandbox.New("people.test").Providers(t.Context(), ident.Platform{})
	if err != nil || len(providers) != 1 || providers[0].Domain != "people.test" || !providers[0].Allowed {
		t.Fatalf("%+v, %v", providers, err)
	}
	for country, want := range map[string]bool{"US": true, "DE": true, "MX": true, "NG": false, "CA": false} {
		if slices.Contains(providers[0].Regions, country) != want {
			t.Errorf("%s: %v", country, providers[0].Regions)
		}
	}
}
