package manual_test

import (
	"testing"

	"causeway/adapters/identity/manual"
	"causeway/ports/portstest"
)

func TestIdentity_Conformance(t *testing.T) {
	t.Parallel()
	// Every application waits for a review, and it needs no call to know that.
	portstest.Identity(t, manual.Identity{})
}
