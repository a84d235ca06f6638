package wallet

import (
	"crypto/sha256"
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

// BoundChallenge returns the bytes of a challenge: random ones, and the SHA-256 of them and of the hexadecimal
// digits of the client's key, in lower case. So the authenticator signs for which key the session is, and a
// client can refuse a challenge in which somebody on the way has put another one.
func BoundChallenge(random [32]byte, client ClientKey) []byte {
	sum := sha256.Sum256(append(random[:], client.text()...))
	return append(random[:], sum[:]...)
}

// Check returns why a challenge cannot be answered for a credential: UNAUTHORIZED with the reason "Invalid
// Request-Id", "Request-Id already used" or "Request-Id expired".
func (c PasskeyChallenge) Check(credential ident.AuthMethod, now time.Time) error {
	if c.Credential != credential {
		return InvalidRequestID()
	}
	return checkRequestID(c.UsedAt, c.ExpiresAt, now)
}
