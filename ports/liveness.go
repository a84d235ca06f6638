package ports

import (
	"context"

	"causeway/core/account"
	"causeway/core/platform"
)

// Liveness checks that the owner of a wallet is present and is the customer: an identity provider does.
type Liveness interface {
	// StartLiveness starts a check for the challenge of an account of a customer, who can answer until the challenge expires. It is
	// idempotent by the id of the challenge.
	StartLiveness(ctx context.Context, a account.External, c account.Challenge) (account.LivenessSession, error)
	// LivenessVerdict returns the present verdict about a challenge. An error means that the call is to be repeated.
	LivenessVerdict(ctx context.Context, a account.External, c account.Challenge) (account.LivenessVerdict, error)
}

// LivenessByEnvironment holds the Liveness of each environment; an environment may have none.
type LivenessByEnvironment map[platform.Environment]Liveness
