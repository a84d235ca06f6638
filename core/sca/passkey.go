package sca

import (
	"encoding/base64"

	"causeway/core/wallet"
)

// Asked is a challenge with what the customer needs to answer it.
type Asked struct {
	// Challenge has no id for TOTP, which needs none.
	Challenge
	// Available are the factors that the customer could use.
	Available []Factor
	// Passkey is set for PASSKEY.
	Passkey *PasskeyRequest
}

// PasskeyRequest is what a page needs to make or use a passkey.
type PasskeyRequest struct {
	// Options are PublicKeyCredentialCreationOptions or PublicKeyCredentialRequestOptions in the JSON form of WebAuthn level 3.
	Options map[string]any
	wallet.RelyingParty
}

// passkeyTimeout is how long a browser waits for the customer, in milliseconds.
const passkeyTimeout = 300_000

// AskToSign asks for the signature of a passkey whose authenticator verifies the customer.
func (c Challenge) AskToSign(rp wallet.RelyingParty, key wallet.PasskeyKey) *PasskeyRequest {
	allowed := map[string]any{"type": "public-key", "id": encode(key.CredentialID)}
	if len(key.Transports) > 0 {
		allowed["transports"] = key.Transports
	}
	return &PasskeyRequest{map[string]any{"challenge": encode(c.PasskeyChallenge), "rpId": rp.ID, "userVerification": "required",
		"timeout": passkeyTimeout, "allowCredentials": []any{allowed}}, rp}
}

// AskToCreate asks for a passkey whose authenticator verifies the customer, who has an account name and a name. The algorithms are those
// that ports.WalletProofs accepts.
func (c Challenge) AskToCreate(rp wallet.RelyingParty, account, name string) *PasskeyRequest {
	id := c.Customer.UUID()
	algorithm := func(cose int) map[string]any { return map[string]any{"type": "public-key", "alg": cose} }
	return &PasskeyRequest{map[string]any{
		"challenge": encode(c.PasskeyChallenge), "rp": map[string]any{"id": rp.ID, "name": rp.Name}, "timeout": passkeyTimeout,
		"user":             map[string]any{"id": encode(id[:]), "name": account, "displayName": name},
		"pubKeyCredParams": []any{algorithm(-7), algorithm(-8), algorithm(-257)}, // ES256, EdDSA, RS256
		"attestation":      "none", "authenticatorSelection": map[string]any{"residentKey": "preferred", "userVerification": "required"},
	}, rp}
}

func encode(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }
