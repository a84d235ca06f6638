package wallet

import (
	"time"

	"causeway/core/ident"
)

// PasskeyChallengeLifetime is how long a challenge can be answered.
const PasskeyChallengeLifetime = 5 * time.Minute

// PasskeyChallenge is what an authenticator signs to verify a passkey, once.
type PasskeyChallenge struct {
	// ID is the Request-Id of the answer.
	ID         ident.SignedRequest
	Platform   ident.Platform
	Credential ident.AuthMethod
	Challenge  []byte
	// Client is the key to which the key of the session will be sealed.
	Client    ClientKey
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero until used
}

// Check returns why a challenge cannot be answered for a credential: UNAUTHORIZED with the reason "Invalid
// Request-Id", "Request-Id already used" or "Request-Id expired".
func (c PasskeyChallenge) Check(credential ident.AuthMethod, now time.Time) error {
	if c.Credential != credential {
		return InvalidRequestID()
	}
	return checkRequestID(c.UsedAt, c.ExpiresAt, now)
}
