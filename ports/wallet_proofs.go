package ports

import (
	"context"
	"time"

	"causeway/core/platform"
	"causeway/core/wallet"
)

// WalletProofs checks what the client of a customer presents. Production platforms and sandbox
// platforms have different ones: in the sandbox a proof is a published test value.
type WalletProofs interface {
	// NewCode returns a one-time code of some digits or, if alphanumeric, digits and capital letters.
	NewCode(length int, alphanumeric bool) (string, error)
	// AcceptsTestCode reports whether a code is a test value, which is valid although it was not sent. It is
	// false for every code in production.
	AcceptsTestCode(code string) bool
	// AcceptsTestSignature reports whether a signature of a message by a wallet outside is a test value that stands for a valid one.
	AcceptsTestSignature(signature string) bool
	// NewSCACode returns a one-time code of some digits for strong customer authentication.
	NewSCACode(length int) (string, error)
	// AcceptsSCATestCode reports whether a code is right at any time for TOTP. It is false for every code in production.
	AcceptsSCATestCode(code string) bool
	// RelyingParty returns for whom passkeys of a platform's customers are; or INVALID_INPUT for a platform that has to set it first.
	RelyingParty(p platform.Platform) (wallet.RelyingParty, error)
	// RegisterPasskey checks the attestation of a new passkey for a challenge of the platform, or returns
	// INVALID_INPUT. That the challenge is used once is for the caller to check.
	RegisterPasskey(ctx context.Context, p platform.Platform, challenge []byte, a wallet.Attestation) (wallet.PasskeyKey, error)
	// CheckPasskey checks an assertion for a challenge, and returns the passkey with its new counter; or
	// UNAUTHORIZED with the reason "Invalid passkey signature", also if the counter shows a copy.
	CheckPasskey(ctx context.Context, p platform.Platform, key wallet.PasskeyKey, challenge []byte,
		a wallet.Assertion) (wallet.PasskeyKey, error)
	// RegisterIdentity checks an ID token and returns whom it names; or INVALID_INPUT for a token of no
	// known provider, and UNAUTHORIZED with the reason "Invalid OIDC token" for one that is not genuine,
	// not for the platform, or not fresh.
	RegisterIdentity(ctx context.Context, p platform.Platform, token string, now time.Time) (wallet.Identity, error)
	// CheckIdentity checks that an ID token is genuine and fresh, names the person, and was made for the
	// client's key; or returns UNAUTHORIZED with the reason "Invalid OIDC token".
	CheckIdentity(ctx context.Context, p platform.Platform, known wallet.Identity, token string, client wallet.ClientKey, now time.Time) error
	// TokensAreSingleUse reports whether an ID token proves something once. The test values of the sandbox
	// prove it again and again.
	TokensAreSingleUse() bool
	// CheckSignature returns the session, one of those given, whose key signed the payload; or
	// UNAUTHORIZED with the reason "Invalid Service-Wallet-Signature". In the sandbox the session is
	// zero if none is given.
	CheckSignature(payload, signature string, sessions []wallet.Session) (wallet.Session, error)
}

// WalletProofsByEnvironment holds the proofs of each environment.
type WalletProofsByEnvironment map[platform.Environment]WalletProofs
