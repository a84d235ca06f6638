package portstest

import (
	"testing"

	"causeway/ports"
)

// SaveConnection stores a version of a connection as one that was tested, unless it says that it was not.
func SaveConnection(t testing.TB, store ports.RailConnectionStore, v ports.RailConnectionVersion) {
	t.Helper()
	seen, err := store.RailConnections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	test := &ports.RailTest{Connection: v.Name, Version: v.Version, Passed: true, Checked: []string{"it works"}, At: v.SetAt}
	if v.Untested {
		test = nil
	}
	if err := store.SaveRailConnection(t.Context(), v, test, seen); err != nil {
		t.Fatal(err)
	}
}
