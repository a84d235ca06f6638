// Package sandbox checks the proofs of customers of sandbox platforms. A proof is a published test value or, of signatures,
// passkeys and ID tokens, a real one; any other is refused with the reason that production gives. It makes requests only to the provider
// of a real ID token.
package sandbox

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/sandbox"
	"causeway/core/wallet"
	"causeway/ports"
)

// Proofs implements ports.WalletProofs with the test values of core/sandbox.
type Proofs struct {
	issuers []string
	genuine ports.WalletProofs
}

var _ ports.WalletProofs = Proofs{}

// New returns the proofs of the sandbox. The issuers are those of ID tokens that production accepts, and genuine checks passkeys as
// production does.
func New(issuers []string, genuine ports.WalletProofs) Proofs {
	return Proofs{slices.Clone(issuers), genuine}
}

// NewCode returns the test value, whatever the length.
func (Proofs) NewCode(int, bool) (string, error) { return sandbox.WalletCode, nil }

// AcceptsTestCode reports whether the code is the test value.
func (Proofs) AcceptsTestCode(code string) bool { return code == sandbox.WalletCode }

// AcceptsTestSignature reports whether the signature is the test value.
func (Proofs) AcceptsTestSignature(signature string) bool {
	return signature == sandbox.WalletSignature
}

// NewSCACode returns the test value.
func (Proofs) NewSCACode(int) (string, error) { return sandbox.SCACode, nil }

// AcceptsSCATestCode reports whether the code is the test value.
func (Proofs) AcceptsSCATestCode(code string) bool { return code == sandbox.SCACode }

// RelyingParty returns what the platform has set, or else the machine of a developer.
func (Proofs) RelyingParty(p platform.Platform) (wallet.RelyingParty, error) {
	w := withRelyingParty(p).WalletSettings()
	return wallet.RelyingParty{ID: w.PasskeyRPID, Name: w.AppName, Origins: w.PasskeyOrigins}, nil
}

func withRelyingParty(p platform.Platform) platform.Platform {
	if w := p.WalletSettings(); w.PasskeyRPID == "" || len(w.PasskeyOrigins) == 0 {
		w.PasskeyRPID, w.PasskeyOrigins = "localhost", []string{"http://localhost:3000"}
		p.Wallets = &w
	}
	return p
}

// RegisterPasskey checks that the client data are for the challenge. An attestation that production would not accept is enough, so that a
// test needs no authenticator; the passkey has no public key then.
func (p Proofs) RegisterPasskey(ctx context.Context, of platform.Platform, challenge []byte,
	a wallet.Attestation) (wallet.PasskeyKey, error) {
	if key, err := p.genuine.RegisterPasskey(ctx, withRelyingParty(of), challenge, a); err == nil {
		return key, nil
	}
	id, err := base64.RawURLEncoding.DecodeString(a.CredentialID)
	if err != nil || len(id) == 0 {
		return wallet.PasskeyKey{}, fault.Invalid(fault.Field{Field: "attestation.credentialId", Message: "must be base64url without padding"})
	}
	if err := checkClientData(a.ClientDataJSON, challenge); err != nil {
		return wallet.PasskeyKey{}, fault.Invalid(fault.Field{Field: "attestation.clientDataJson", Message: err.Error()})
	}
	return wallet.PasskeyKey{CredentialID: id, Transports: a.Transports, UserVerified: true}, nil
}

func checkClientData(encoded string, challenge []byte) error {
	data, err := wallet.ParseClientData(encoded)
	if err != nil {
		return err
	}
	return data.Check(wallet.CreatePasskey, challenge)
}

// CheckPasskey accepts the test value as the signature of every passkey and challenge, and what production accepts of a passkey with
// a public key.
func (p Proofs) CheckPasskey(ctx context.Context, of platform.Platform, key wallet.PasskeyKey, challenge []byte,
	a wallet.Assertion) (wallet.PasskeyKey, error) {
	if a.Signature == sandbox.WalletPasskeySignature {
		key.UserVerified = true
		return key, nil
	}
	if len(key.PublicKey) > 0 {
		return p.genuine.CheckPasskey(ctx, withRelyingParty(of), key, challenge, a)
	}
	return wallet.PasskeyKey{}, wallet.InvalidPasskey("In the sandbox assertion.signature must be %s, unless the passkey was made by an "+
		"authenticator.", sandbox.WalletPasskeySignature)
}

// RegisterIdentity accepts every ID token in the form of a JWT whose issuer production accepts. It checks
// neither the signature nor the audience nor the time.
func (p Proofs) RegisterIdentity(_ context.Context, _ platform.Platform, token string, _ time.Time) (wallet.Identity, error) {
	claims, err := wallet.ParseIDToken(token)
	if err == nil && !slices.Contains(p.issuers, claims.Issuer) {
		err = fmt.Errorf("must have an issuer (iss) of %s", strings.Join(p.issuers, ", "))
	}
	if err != nil {
		return wallet.Identity{}, fault.Invalid(fault.Field{Field: "oidcToken", Message: err.Error()})
	}
	identity := wallet.Identity{Issuer: claims.Issuer, Audience: claims.Client(), Subject: claims.Subject, Email: claims.Email}
	if identity.Audience == "" && len(claims.Audiences) > 0 {
		identity.Audience = claims.Audiences[0]
	}
	return identity, nil
}

// CheckIdentity accepts the test value for every person. A token of a provider is checked as in production, if the platform has set its
// client ids.
func (p Proofs) CheckIdentity(ctx context.Context, owner platform.Platform, known wallet.Identity, token string, client wallet.ClientKey,
	now time.Time) error {
	if token == sandbox.WalletIDToken {
		return nil
	}
	claims, err := wallet.ParseIDToken(token)
	if err == nil && slices.Contains(p.issuers, claims.Issuer) && len(owner.WalletSettings().OAuthClientIDs) > 0 {
		return p.genuine.CheckIdentity(ctx, owner, known, token, client, now)
	}
	return wallet.InvalidIdentity("In the sandbox oidcToken must be %s, or the ID token of a known provider for one of the oauthClientIds of "+
		"the platform.", sandbox.WalletIDToken)
}

// TokensAreSingleUse reports false.
func (Proofs) TokensAreSingleUse() bool { return false }

// CheckSignature returns the session whose key signed the payload, as production does, so that a client is tested as it is. It
// accepts the test value too, as the signature of the first session given; none need be.
func (Proofs) CheckSignature(payload, signature string, sessions []wallet.Session) (wallet.Session, error) {
	if signature == sandbox.WalletSignature {
		if len(sessions) == 0 {
			return wallet.Session{}, nil
		}
		return sessions[0], nil
	}
	session, err := wallet.Signer(payload, signature, sessions)
	if f, ok := fault.As(err); ok {
		hinted := *f
		hinted.Message += " In the sandbox " + sandbox.WalletSignature + " is valid too."
		return session, &hinted
	}
	return session, err
}
