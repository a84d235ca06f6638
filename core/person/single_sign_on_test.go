package person_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/person"
)

var identity = person.Identity{Issuer: "https://login.example.com", Subject: "u1"}

func TestRoleMapping(t *testing.T) {
	t.Parallel()
	// A value of the claim gives the roles that it is mapped to. Entries that name no value or no role are refused.
	mapping, err := person.ParseRoleMapping([]string{"pay-finance=FINANCE", "cn=ops,ou=x=operator",
		" eu = SUPPORT@PlatformConfig:01a224d6-6a87-7000-b90f-0aa36c498060", "pay-finance=VIEWER"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values []string
		want   string
	}{
		{nil, ""}, {[]string{"other", "PAY-FINANCE", "pay"}, ""}, {[]string{"pay-finance"}, "FINANCE, VIEWER"},
		{[]string{"cn=ops,ou=x", "eu", "eu"}, "OPERATOR, SUPPORT@PlatformConfig:01a224d6-6a87-7000-b90f-0aa36c498060"},
	} {
		if got := person.GrantTexts(mapping.Grants(c.values)); got != c.want {
			t.Errorf("%q: %s, want %s", c.values, got, c.want)
		}
	}
	for _, bad := range []string{"", "FINANCE", "=FINANCE", " =FINANCE", "a=ROOT", "a=", "a=FINANCE@x"} {
		if _, err := person.ParseRoleMapping([]string{bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestPerson_Admit(t *testing.T) {
	t.Parallel()
	// For every person and all claims: nobody is admitted who is disabled, somebody else at the provider, or without a role that the
	// claim gives, and who is admitted has exactly the roles of the claim, where it gives roles.
	mapping := person.RoleMapping{{"f", person.Grant{Role: person.Finance}}, {"v", person.Grant{Role: person.Viewer}}}
	rapid.Check(t, func(t *rapid.T) {
		p := person.Person{ID: personOf(1), Grants: []person.Grant{{Role: person.Administrator}},
			Status: rapid.SampledFrom([]person.Status{person.Invited, person.Active, person.Disabled}).Draw(t, "status")}
		known := rapid.SampledFrom([]person.Identity{{}, identity, {Issuer: identity.Issuer, Subject: "u2"}}).Draw(t, "known")
		values := rapid.SliceOfN(rapid.SampledFrom([]string{"f", "v", "x"}), 0, 3).Draw(t, "values")
		by := rapid.SampledFrom([]person.RoleMapping{nil, mapping}).Draw(t, "mapping")
		admitted, err := p.Admit(known, person.Claims{Identity: identity, Roles: values}, by, at)
		grants := p.Grants
		if by != nil {
			grants = by.Grants(values)
		}
		want := p.Status != person.Disabled && (known == person.Identity{} || known == identity) && len(grants) > 0
		if (err == nil) != want {
			t.Fatalf("%v, want %t", err, want)
		}
		if err == nil && (admitted.Status != person.Active || person.GrantTexts(admitted.Grants) != person.GrantTexts(grants)) {
			t.Fatalf("admitted %+v, want %v", admitted, grants)
		}
		if err != nil && !fault.Is(err, fault.Unauthorized) {
			t.Fatal(err)
		}
	})
}

func TestClaims_ByAddressOnlyIfVerified(t *testing.T) {
	t.Parallel()
	// A person is found by an address that the provider has verified, and by no other one. Claims without a subject name nobody.
	for _, c := range []struct {
		email    string
		verified bool
		want     string
	}{{"Ana@Example.com", true, "ana@example.com"}, {"ana@example.com", false, ""}, {"", true, ""}, {"x", true, ""}} {
		if got, err := (person.Claims{Email: c.email, IsEmailVerified: c.verified}).FindBy(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if err := (person.Claims{Identity: person.Identity{Issuer: "i"}}).Check(); err == nil {
		t.Error("without a subject")
	}
}

func TestClaims_CheckConfirmation(t *testing.T) {
	t.Parallel()
	// Who confirms has signed in at the provider since it was asked to, in its whole seconds, and is the same one.
	asked := at.Add(700 * time.Millisecond)
	for name, c := range map[string]struct {
		known person.Identity
		at    time.Time
		want  bool
	}{
		"since": {identity, at.Add(time.Second), true}, "in the same second": {identity, at, true},
		"before": {identity, at.Add(-time.Second), false}, "no time": {identity, time.Time{}, false},
		"another": {person.Identity{Issuer: identity.Issuer, Subject: "u2"}, at.Add(time.Second), false},
		"nobody":  {person.Identity{}, at.Add(time.Second), false},
	} {
		if err := (person.Claims{Identity: identity, AuthenticatedAt: c.at}).CheckConfirmation(c.known, asked); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
