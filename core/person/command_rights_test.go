package person_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

func TestPerson_CheckCommand(t *testing.T) {
	t.Parallel()
	// Whatever roles a person has, it may run a command exactly if one of them has its right: on all platforms, or on the one that the
	// command names and is limited to. The fault names the roles that are missing.
	var here, there ident.Platform
	here.SetUUID([16]byte{15: 1})
	there.SetUUID([16]byte{15: 2})
	rapid.Check(t, func(t *rapid.T) {
		grant := rapid.Custom(func(t *rapid.T) person.Grant {
			return person.Grant{Role: rapid.SampledFrom(person.Roles).Draw(t, "role"),
				Platform: rapid.SampledFrom([]ident.Platform{{}, here, there}).Draw(t, "for")}
		})
		p := person.Person{Status: person.Active, Grants: rapid.SliceOfN(grant, 1, 3).Draw(t, "grants")}
		c := rapid.SampledFrom(person.CommandRights).Draw(t, "command")
		on := rapid.SampledFrom([]ident.Platform{{}, here}).Draw(t, "on")
		want := slices.ContainsFunc(p.Grants, func(g person.Grant) bool {
			isLimited := c.OnPlatform && !on.IsZero() && g.Platform == on
			return g.Role.Has(c.Right) && (g.Platform.IsZero() || isLimited)
		})
		err := p.CheckCommand(c.Command, on)
		if (err == nil) != want {
			t.Fatalf("%v runs %s on %v: %v, want %t", p.Grants, c.Command, on, err, want)
		}
		if err != nil && (!fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "ADMINISTRATOR")) {
			t.Fatal(err)
		}
	})
	all := person.Person{Status: person.Active, Grants: []person.Grant{{Role: person.Administrator}}}
	if err := all.CheckCommand("x", here); err == nil {
		t.Error("a command that is not listed is allowed")
	}
}
