package wallet

import (
	"time"

	"causeway/core/ident"
)

// CredentialType is how a customer proves who they are.
type CredentialType string

// The types of credential.
const (
	// EmailOTP: a one-time code that is sent by e-mail.
	EmailOTP CredentialType = "EMAIL_OTP"
	// SMSOTP: a one-time code that is sent in a text message.
	SMSOTP CredentialType = "SMS_OTP"
	// Passkey: a key on a device of the customer (WebAuthn level 3).
	Passkey CredentialType = "PASSKEY"
	// OAuth: an ID token of a provider (OpenID Connect Core 1.0).
	OAuth CredentialType = "OAUTH"
)

// CredentialTypes lists every type.
var CredentialTypes = []CredentialType{EmailOTP, SMSOTP, Passkey, OAuth}

// HasCodes reports whether one-time codes are sent.
func (t CredentialType) HasCodes() bool { return t == EmailOTP || t == SMSOTP }

// Credential is a credential of an embedded wallet.
type Credential struct {
	ID       ident.AuthMethod
	Platform ident.Platform
	Account  ident.InternalAccount
	Type     CredentialType
	// Nickname is where codes are sent, the e-mail address in the ID token, or the name that the customer
	// chose for a passkey.
	Nickname string
	// SentTo is where codes are sent, an e-mail address or a phone number; empty for a type without codes.
	SentTo string
	// Passkey is set if the type is Passkey.
	Passkey *PasskeyKey
	// Identity is set if the type is OAuth.
	Identity *Identity
	// VerifiedAt is when the customer first verified the credential; zero until then.
	VerifiedAt time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	// RevokedAt is zero for an active credential.
	RevokedAt time.Time
}

// PasskeyKey is the public part of a passkey, as WebAuthn level 3 names its parts.
type PasskeyKey struct {
	// CredentialID is chosen by the authenticator.
	CredentialID []byte
	// PublicKey is a COSE key (RFC 9052). It is empty on sandbox platforms.
	PublicKey []byte
	// SignCount is the authenticator's counter at the last use. One that does not increase shows a copy of
	// the authenticator, unless both are zero.
	SignCount      uint32
	Transports     []string
	BackupEligible bool
	BackedUp       bool
	// UserVerified reports whether the authenticator checked its user at the last use, by a PIN or a
	// fingerprint; else somebody was only present.
	UserVerified bool
}

// RelyingParty is for whom passkeys are, as WebAuthn names it: the pages of Origins, which are those of the domain ID.
type RelyingParty struct {
	ID      string
	Name    string
	Origins []string
}

// Identity is the person whom a provider names in its ID tokens.
type Identity struct {
	Issuer   string // "https://accounts.google.com"
	Audience string // the client id of the platform's app
	Subject  string // the provider's id of the person
	Email    string // may be empty
}

// Assertion is what an authenticator returns to prove that it holds a passkey, as the client sent it: each
// field is base64url without padding. Who checks it decodes it: in the sandbox a signature is a test value.
type Assertion struct {
	CredentialID      string
	ClientDataJSON    string
	AuthenticatorData string
	Signature         string
	UserHandle        string // may be empty
}

// Attestation is what an authenticator returns for a new passkey, as the client sent it: each field but
// Transports is base64url without padding.
type Attestation struct {
	CredentialID      string
	ClientDataJSON    string
	AttestationObject string
	// Transports are any of usb, nfc, ble, internal and hybrid.
	Transports []string
}
