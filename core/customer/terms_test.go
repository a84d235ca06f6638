package customer_test

import (
	"slices"
	"testing"
	"time"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/platform"
)

func consent() *customer.Consent {
	return &customer.Consent{Version: "2026-03", Method: "CHECKBOX", IPAddress: "203.0.113.7", AcceptedAt: now.Add(-time.Minute)}
}

func TestConsent_Fields(t *testing.T) {
	t.Parallel()
	// A consent is taken at the creation and with a change, whole: each field that is missing or wrong is named.
	person, err := create(individualRequest())
	if err != nil {
		t.Fatal(err)
	}
	for field, damage := range map[string]func(*customer.Consent){
		"":                 func(*customer.Consent) {},
		"termsVersion":     func(c *customer.Consent) { c.Version = "" },
		"acceptanceMethod": func(c *customer.Consent) { c.Method = "SHOUTING" },
		"ipAddress":        func(c *customer.Consent) { c.IPAddress = "localhost" },
		"acceptedAt":       func(c *customer.Consent) { c.AcceptedAt = now.Add(time.Hour) },
	} {
		given := consent()
		damage(given)
		request := individualRequest()
		request.Consent = given
		created, err := create(request)
		changed, changeErr := person.Update(customer.Change{Type: "INDIVIDUAL", Consent: &given}, sandboxPlatform, now)
		if field == "" {
			if err != nil || changeErr != nil || *created.Consent != *given || *changed.Consent != *given || changed.CheckConsent() != nil {
				t.Errorf("created %+v, %v; changed %+v, %v", created.Consent, err, changed.Consent, changeErr)
			}
			continue
		}
		for _, err := range []error{err, changeErr} {
			if failed, is := fault.As(err); !is || !slices.ContainsFunc(failed.Fields,
				func(f fault.Field) bool { return f.Field == "endUserTermsConsent."+field }) {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
	none := (*customer.Consent)(nil)
	if _, err := person.Update(customer.Change{Type: "INDIVIDUAL", Consent: &none}, sandboxPlatform, now); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a consent was removed: %v", err)
	}
}

func TestConsent_Versions(t *testing.T) {
	t.Parallel()
	// A consent is to a version that exists, also an older one; without one the customer is refused.
	versions := []customer.EndUserTerms{{Version: "2025-01"}, {Version: "2026-03"}}
	if err := consent().CheckKnown(versions); err != nil {
		t.Error(err)
	}
	if err := consent().CheckKnown(versions[:1]); !fault.Is(err, fault.EndUserTermsVersionNotFound) {
		t.Errorf("%v, want END_USER_TERMS_VERSION_NOT_FOUND", err)
	}
	if err := (customer.Customer{}).CheckConsent(); !fault.Is(err, fault.EndUserTermsNotAccepted) {
		t.Errorf("%v, want END_USER_TERMS_NOT_ACCEPTED", err)
	}
}

func TestNewEndUserTerms_Fields(t *testing.T) {
	t.Parallel()
	// Every invalid field is named.
	by := platform.Author{Actor: "ana"}
	if terms, err := customer.NewEndUserTerms("2026-03", "https://example.com/terms", by, now); err != nil || terms.Actor != "ana" {
		t.Errorf("%+v, %v", terms, err)
	}
	_, err := customer.NewEndUserTerms("", "http://example.com", platform.Author{}, now)
	if failed, is := fault.As(err); !is || len(failed.Fields) != 3 {
		t.Errorf("%v, want three fields", err)
	}
}
