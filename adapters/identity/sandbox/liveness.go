package sandbox

import (
	"context"

	"causeway/core/account"
	"causeway/core/sandbox"
	"causeway/ports"
)

var _ ports.Liveness = Identity{}

// StartLiveness returns a link with nothing behind it: the verdict does not wait for anybody.
func (Identity) StartLiveness(_ context.Context, _ account.External, c account.Challenge) (account.LivenessSession, error) {
	return account.LivenessSession{Link: sandbox.LivenessLink + c.ID.String()}, nil
}

// LivenessVerdict returns the verdict that the test value selects.
func (Identity) LivenessVerdict(_ context.Context, a account.External, _ account.Challenge) (account.LivenessVerdict, error) {
	return sandbox.LivenessOutcome(a.Identifier()), nil
}
