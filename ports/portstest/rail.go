package portstest

import (
	"context"
	"testing"
	"time"

	"causeway/ports/railtest"
)

// railTimeout bounds one check of a rail.
const railTimeout = 2 * time.Minute

// Rail runs the checks of railtest, each on a new fixture. Those that need what the adapter or its world cannot do are
// left out.
func Rail(t *testing.T, newFixture func(t *testing.T) railtest.Fixture) {
	t.Helper()
	for _, check := range railtest.Checks() {
		t.Run(check.Name, func(t *testing.T) {
			f := newFixture(t)
			t.Cleanup(func() {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			})
			if !check.Needs(f.Features()) {
				t.Skip("the adapter or its world cannot do this")
			}
			ctx, cancel := context.WithTimeout(t.Context(), railTimeout)
			defer cancel()
			if err := check.Run(ctx, f); err != nil {
				t.Error(err)
			}
		})
	}
}
