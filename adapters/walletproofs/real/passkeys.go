package real

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
)

// The longest values that are decoded, in characters of base64url. An attestation with its certificates has
// some 8,000, a COSE key of RSA with 4096 bits some 530 bytes. A larger one could be made to take long.
const (
	maxAttestationObject = 16 << 10
	maxAuthenticatorData = 8 << 10
	maxPasskeySignature  = 2 << 10
	maxCredentialID      = 1364 // 1023 bytes, as WebAuthn says
	maxPublicKey         = 1024 // bytes
	minChallenge         = 16   // bytes, as WebAuthn says
)

// passkeyAlgorithms are the signatures that passkeys may make. Every authenticator supports one of them.
var passkeyAlgorithms = []protocol.CredentialParameter{
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgEdDSA},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgRS256},
}

// RelyingParty returns what the platform has set.
func (*Proofs) RelyingParty(p platform.Platform) (wallet.RelyingParty, error) {
	w := p.WalletSettings()
	return wallet.RelyingParty{ID: w.PasskeyRPID, Name: w.AppName, Origins: w.PasskeyOrigins}, checkPasskeySettings(w)
}

// RegisterPasskey checks the registration of a passkey (WebAuthn level 3, section 7.1). An attestation must
// be genuine by the rules of its format; none is required, and no maker of authenticators is preferred.
func (*Proofs) RegisterPasskey(_ context.Context, p platform.Platform, challenge []byte, a wallet.Attestation) (wallet.PasskeyKey, error) {
	w := p.WalletSettings()
	if err := checkPasskeySettings(w); err != nil {
		return wallet.PasskeyKey{}, err
	}
	if len(challenge) < minChallenge {
		return wallet.PasskeyKey{}, invalidField("challenge", fmt.Errorf("must have at least %d random bytes", minChallenge))
	}
	if err := checkClientData(a.ClientDataJSON, wallet.CreatePasskey, challenge, w); err != nil {
		return wallet.PasskeyKey{}, invalidField("attestation.clientDataJson", err)
	}
	id, err := decode(a.CredentialID, maxCredentialID)
	if err != nil {
		return wallet.PasskeyKey{}, invalidField("attestation.credentialId", err)
	}
	data, err := checkAttestation(a, w.PasskeyRPID)
	if err == nil && !bytes.Equal(id, data.AttData.CredentialID) {
		err = errors.New("must be that of attestation.credentialId")
	}
	if err != nil {
		return wallet.PasskeyKey{}, invalidField("attestation.attestationObject", err)
	}
	return wallet.PasskeyKey{CredentialID: id, PublicKey: data.AttData.CredentialPublicKey, SignCount: data.Counter, Transports: a.Transports,
		BackupEligible: data.Flags.HasBackupEligible(), BackedUp: data.Flags.HasBackupState(), UserVerified: data.Flags.HasUserVerified()}, nil
}

// checkAttestation returns the data of the authenticator from a genuine attestation object.
func checkAttestation(a wallet.Attestation, relyingParty string) (protocol.AuthenticatorData, error) {
	object, err := decode(a.AttestationObject, maxAttestationObject)
	if err != nil {
		return protocol.AuthenticatorData{}, err
	}
	clientData, err := decode(a.ClientDataJSON, maxAuthenticatorData)
	if err != nil {
		return protocol.AuthenticatorData{}, err
	}
	response := protocol.AuthenticatorAttestationResponse{AuthenticatorResponse: protocol.AuthenticatorResponse{ClientDataJSON: clientData},
		AttestationObject: object}
	parsed, err := response.Parse()
	if err != nil {
		return protocol.AuthenticatorData{}, fmt.Errorf("must be the CBOR object that the browser returned (%s)", explain(err))
	}
	data := parsed.AttestationObject.AuthData
	if len(data.AttData.CredentialPublicKey) > maxPublicKey {
		return protocol.AuthenticatorData{}, fmt.Errorf("must have a public key of at most %d bytes", maxPublicKey)
	}
	hash := sha256.Sum256(clientData)
	const verified, present = false, true
	if err := parsed.AttestationObject.Verify(relyingParty, hash[:], verified, present, nil, passkeyAlgorithms, protocol.AttestationPolicy{},
		protocol.SignaturePolicy{}); err != nil {
		return protocol.AuthenticatorData{}, fmt.Errorf("must be a genuine attestation of a present user for %s (%s)", relyingParty, explain(err))
	}
	// A key that cannot be parsed could never sign.
	if _, err := webauthncose.ParsePublicKey(data.AttData.CredentialPublicKey); err != nil {
		return protocol.AuthenticatorData{}, fmt.Errorf("must have a valid public key (%s)", explain(err))
	}
	return data, checkBackup(data.Flags)
}

// CheckPasskey checks an assertion (WebAuthn level 3, section 7.2). Its counter must increase, unless the
// authenticator has none.
func (*Proofs) CheckPasskey(_ context.Context, p platform.Platform, key wallet.PasskeyKey, challenge []byte,
	a wallet.Assertion) (wallet.PasskeyKey, error) {
	w := p.WalletSettings()
	if err := checkPasskeySettings(w); err != nil {
		return wallet.PasskeyKey{}, err
	}
	data, err := checkAssertion(key, challenge, a, w)
	if err != nil {
		return wallet.PasskeyKey{}, wallet.InvalidPasskey("The assertion of the passkey is not valid: %v.", err)
	}
	key.SignCount, key.BackedUp, key.UserVerified = data.Counter, data.Flags.HasBackupState(), data.Flags.HasUserVerified()
	return key, nil
}

func checkAssertion(key wallet.PasskeyKey, challenge []byte, a wallet.Assertion,
	w platform.Wallets) (data protocol.AuthenticatorData, err error) {
	if id, err := decode(a.CredentialID, maxCredentialID); err != nil || !bytes.Equal(id, key.CredentialID) {
		return data, errors.New("credentialId must be that of the credential")
	}
	if err := checkClientData(a.ClientDataJSON, wallet.GetPasskey, challenge, w); err != nil {
		return data, fmt.Errorf("clientDataJson %w", err)
	}
	clientData, err := decode(a.ClientDataJSON, maxAuthenticatorData)
	if err != nil {
		return data, fmt.Errorf("clientDataJson %w", err)
	}
	authenticatorData, err := decode(a.AuthenticatorData, maxAuthenticatorData)
	if err != nil {
		return data, fmt.Errorf("authenticatorData %w", err)
	}
	signature, err := decode(a.Signature, maxPasskeySignature)
	if err != nil {
		return data, fmt.Errorf("signature %w", err)
	}
	if err := data.Unmarshal(authenticatorData); err != nil {
		return data, fmt.Errorf("authenticatorData must be what the browser returned (%s)", explain(err))
	}
	relyingParty := sha256.Sum256([]byte(w.PasskeyRPID))
	const verified, present = false, true
	if err := data.Verify(relyingParty[:], nil, verified, present); err != nil {
		return data, fmt.Errorf("authenticatorData must be for %s and a present user (%s)", w.PasskeyRPID, explain(err))
	}
	public, err := webauthncose.ParsePublicKey(key.PublicKey)
	if err != nil {
		return data, err
	}
	hash := sha256.Sum256(clientData)
	if valid, err := webauthncose.VerifySignature(public, append(authenticatorData, hash[:]...), signature); err != nil || !valid {
		return data, errors.New("signature must be that of the passkey over authenticatorData and the hash of clientDataJson")
	}
	return data, checkUse(key, data)
}

// checkUse checks what an authenticator says about itself against its last use.
func checkUse(key wallet.PasskeyKey, data protocol.AuthenticatorData) error {
	switch {
	case data.Flags.HasBackupEligible() != key.BackupEligible:
		return errors.New("the passkey was registered with another backup eligibility")
	case data.Counter <= key.SignCount && (data.Counter != 0 || key.SignCount != 0):
		return errors.New("the counter of the authenticator did not increase, as if it had been copied")
	}
	return checkBackup(data.Flags)
}

func checkBackup(flags protocol.AuthenticatorFlags) error {
	if flags.HasBackupState() && !flags.HasBackupEligible() {
		return errors.New("the passkey is backed up although it may not be")
	}
	return nil
}

func checkPasskeySettings(w platform.Wallets) error {
	switch {
	case w.PasskeyRPID == "":
		return notConfigured("passkeyRpId", "passkeys")
	case len(w.PasskeyOrigins) == 0:
		return notConfigured("passkeyOrigins", "passkeys")
	}
	return nil
}

func checkClientData(encoded string, ceremony wallet.Ceremony, challenge []byte, w platform.Wallets) error {
	data, err := wallet.ParseClientData(encoded)
	if err != nil {
		return err
	}
	if err := data.Check(ceremony, challenge); err != nil {
		return err
	}
	return data.CheckOrigin(w.PasskeyOrigins)
}

// decode decodes base64url without padding.
func decode(text string, maxLength int) ([]byte, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("must have at most %d characters", maxLength)
	}
	value, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(value) == 0 {
		return nil, errors.New("must be base64url without padding")
	}
	return value, nil
}

// explain returns what the library says about an error.
func explain(err error) string {
	var detailed *protocol.Error
	if !errors.As(err, &detailed) || detailed.DevInfo == "" {
		return err.Error()
	}
	return fmt.Sprintf("%s: %.200s", detailed.Details, detailed.DevInfo)
}

func invalidField(name string, err error) error {
	return fault.Invalid(fault.Field{Field: name, Message: err.Error()})
}
