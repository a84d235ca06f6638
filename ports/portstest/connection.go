package portstest

import (
	"context"
	"testing"

	"causeway/ports"
)

// ConnectionStore stores connections, in units of work that are a ConnectionTx.
type ConnectionStore interface {
	ports.UnitsOfWork
	RailConnections(ctx context.Context) ([]ports.RailConnectionVersion, error)
}

// ConnectionTx stores a connection.
type ConnectionTx interface {
	SaveRailConnection(ctx context.Context, v ports.RailConnectionVersion, test *ports.RailTest, seen []ports.RailConnectionVersion) error
}

// SaveConnection stores a version of a connection as one that was tested, unless it says that it was not.
func SaveConnection(t testing.TB, store ConnectionStore, v ports.RailConnectionVersion) {
	t.Helper()
	seen, err := store.RailConnections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	test := &ports.RailTest{Connection: v.Name, Version: v.Version, Passed: true, Checked: []string{"it works"}, At: v.SetAt}
	if v.Untested {
		test = nil
	}
	save := func(ctx context.Context, tx ConnectionTx) error { return tx.SaveRailConnection(ctx, v, test, seen) }
	if err := ports.Do(t.Context(), store, save); err != nil {
		t.Fatal(err)
	}
}
