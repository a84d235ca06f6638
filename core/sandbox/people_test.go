package sandbox_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/sandbox"
)

func TestFindPerson(t *testing.T) {
	t.Parallel()
	// Exactly five people have an address at the simulated provider, each with a currency and
	// a scenario.
	for name, want := range map[string]sandbox.Person{
		"$success.usd":         {Currency: "USD", Scenario: sandbox.Succeeds},
		"$success.eur":         {Currency: "EUR", Scenario: sandbox.Succeeds},
		"$success.mxn":         {Currency: "MXN", Scenario: sandbox.Succeeds},
		"$pending.long.usd":    {Currency: "USD", Scenario: sandbox.PendingLong},
		"$fail.compliance.usd": {Currency: "USD", Scenario: sandbox.ComplianceFails},
	} {
		if got, ok := sandbox.FindPerson(name+"@sandbox.uma.test", "sandbox.uma.test"); !ok || got != want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
		if _, ok := sandbox.FindPerson(name+"@bank.example", "sandbox.uma.test"); ok {
			t.Errorf("%s exists at another domain", name)
		}
	}
	if _, ok := sandbox.FindPerson("$ana@sandbox.uma.test", "sandbox.uma.test"); ok {
		t.Error("an unknown address exists")
	}
	if got := sandbox.PeopleCurrencies(); !reflect.DeepEqual(got, []money.Currency{"EUR", "MXN", "USD"}) {
		t.Errorf("currencies %v", got)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	// Every fact that a platform can require is disclosed, and no other.
	facts := sandbox.Facts("$ana.silva@bank.example", platform.CounterpartyFieldNames)
	if len(facts) != len(platform.CounterpartyFieldNames) || facts["FULL_NAME"] != "Ana Silva" ||
		facts["ACCOUNT_IDENTIFIER"] != "$ana.silva@bank.example" {
		t.Errorf("facts %v", facts)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9\-_.+]{1,63}`).Draw(t, "name")
		got := sandbox.Facts("$"+name+"@bank.example", []string{"FULL_NAME", "SHOE_SIZE"})
		if len(got) != 1 || got["FULL_NAME"] == "" {
			t.Fatalf("%q: %v", name, got)
		}
	})
}
