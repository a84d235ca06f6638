package people_test

import (
	"testing"

	"causeway/core/fault"
)

func TestPeople_SetTimeZone(t *testing.T) {
	t.Parallel()
	// A zone of the IANA database is kept with the person and is in force from the next request on; what is none changes nothing, and a
	// change of roles leaves it.
	e := newEnv(t)
	in := e.signIn()
	zone := func() string {
		t.Helper()
		found, err := e.Session(t.Context(), in.Secret)
		if err != nil {
			t.Fatal(err)
		}
		return found.Person.Zone()
	}
	if zone() != "UTC" {
		t.Errorf("at first: %s", zone())
	}
	if err := e.SetTimeZone(t.Context(), in, " Europe/Berlin "); err != nil || zone() != "Europe/Berlin" {
		t.Errorf("%v, %s", err, zone())
	}
	for _, name := range []string{"", "Local", "Middle/Earth", "../../etc/passwd", "CEST"} {
		if err := e.SetTimeZone(t.Context(), in, name); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := e.SetGrants(t.Context(), in.Person.Email, in.Person.Grants, admin); err != nil || zone() != "Europe/Berlin" {
		t.Errorf("%v, %s", err, zone())
	}
	if err := e.SetTimeZone(t.Context(), in, "UTC"); err != nil || zone() != "UTC" {
		t.Errorf("%v, %s", err, zone())
	}
}
