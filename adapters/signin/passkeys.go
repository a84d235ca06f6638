package signin

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"causeway/core/fault"
	"causeway/core/person"
	"causeway/core/wallet"
)

// Passkeys implements people.Passkeys for the pages of one origin.
type Passkeys struct{ relyingParty *webauthn.WebAuthn }

// NewPasskeys returns the passkeys of a public URL; false if browsers have none there, because its host is an address and not a name, or
// it is neither https nor localhost.
func NewPasskeys(publicURL string) (*Passkeys, bool) {
	u, err := url.Parse(publicURL)
	if err != nil || protocol.ValidateRPID(u.Hostname()) != nil || u.Scheme != "https" && u.Hostname() != "localhost" {
		return nil, false
	}
	relyingParty, err := webauthn.New(&webauthn.Config{RPID: u.Hostname(), RPDisplayName: "Causeway",
		RPOrigins: []string{u.Scheme + "://" + u.Host}, AttestationPreference: protocol.PreferNoAttestation,
		// The person signs in without an address, and the authenticator is both factors.
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired}})
	return &Passkeys{relyingParty}, err == nil
}

// user is a person as the library knows it.
type user struct {
	person.Person
	keys []person.Passkey
}

func (u user) WebAuthnID() []byte          { id := u.ID.UUID(); return id[:] }
func (u user) WebAuthnName() string        { return u.Email }
func (u user) WebAuthnDisplayName() string { return u.Name }
func (u user) WebAuthnCredentials() []webauthn.Credential {
	credentials := make([]webauthn.Credential, len(u.keys))
	for i, k := range u.keys {
		credentials[i] = webauthn.Credential{ID: k.ID, PublicKey: k.PublicKey, Flags: webauthn.CredentialFlags{BackupEligible: k.BackupEligible},
			Authenticator: webauthn.Authenticator{SignCount: k.SignCount}}
	}
	return credentials
}

// descriptors name passkeys for a browser.
func (u user) descriptors() []protocol.CredentialDescriptor {
	return webauthn.Credentials(u.WebAuthnCredentials()).CredentialDescriptors()
}

// AskToCreate implements people.Passkeys.
func (p *Passkeys) AskToCreate(of person.Person, challenge string, existing []person.Passkey) ([]byte, error) {
	decoded, err := base64.RawURLEncoding.DecodeString(challenge)
	if err != nil {
		return nil, err
	}
	asked, _, err := p.relyingParty.BeginRegistration(user{Person: of},
		webauthn.WithExclusions(user{keys: existing}.descriptors()),
		func(o *protocol.PublicKeyCredentialCreationOptions) error { o.Challenge = decoded; return nil })
	if err != nil {
		return nil, err
	}
	return json.Marshal(asked.Response)
}

// AskToSign implements people.Passkeys.
func (p *Passkeys) AskToSign(challenge string, with []person.Passkey) ([]byte, error) {
	decoded, err := base64.RawURLEncoding.DecodeString(challenge)
	if err != nil {
		return nil, err
	}
	asked, _, err := p.relyingParty.BeginDiscoverableLogin(webauthn.WithAllowedCredentials(user{keys: with}.descriptors()),
		func(o *protocol.PublicKeyCredentialRequestOptions) error { o.Challenge = decoded; return nil })
	if err != nil {
		return nil, err
	}
	return json.Marshal(asked.Response)
}

// Read implements people.Passkeys.
func (*Passkeys) Read(answer []byte) (challenge string, id []byte, err error) {
	var parsed struct {
		RawID    string `json:"rawId"`
		Response struct {
			ClientData string `json:"clientDataJSON"`
		} `json:"response"`
	}
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return "", nil, person.ErrPasskey
	}
	data, err := wallet.ParseClientData(parsed.Response.ClientData)
	if err != nil {
		return "", nil, person.ErrPasskey
	}
	id, err = base64.RawURLEncoding.DecodeString(parsed.RawID)
	if err != nil || len(id) == 0 || len(id) > maxCredentialID {
		return "", nil, person.ErrPasskey
	}
	return base64.RawURLEncoding.EncodeToString(data.Challenge), id, nil
}

const (
	maxCredentialID = 1023 // bytes, as WebAuthn says
	maxPublicKey    = 1024 // bytes: a COSE key of RSA with 4096 bits has some 530
)

// session is what the library checks an answer against: its own challenge, which the caller has given and takes once.
func (p *Passkeys) session(challenge string, of []byte) webauthn.SessionData {
	return webauthn.SessionData{Challenge: challenge, RelyingPartyID: p.relyingParty.Config.RPID, UserID: of,
		UserVerification: protocol.VerificationRequired, CredParams: webauthn.CredentialParametersDefault()}
}

// Created implements people.Passkeys. An attestation must be genuine by the rules of its format; none is required.
func (p *Passkeys) Created(of person.Person, answer []byte) (k person.Passkey, err error) {
	challenge, _, err := p.Read(answer)
	if err != nil {
		return k, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return k, notAccepted(err)
	}
	u := user{Person: of}
	made, err := p.relyingParty.CreateCredential(u, p.session(challenge, u.WebAuthnID()), parsed)
	if err != nil {
		return k, notAccepted(err)
	}
	if len(made.PublicKey) > maxPublicKey || len(made.ID) > maxCredentialID {
		return k, notAccepted(errors.New("its key is too long"))
	}
	return person.Passkey{ID: made.ID, PublicKey: made.PublicKey, SignCount: made.Authenticator.SignCount,
		BackupEligible: made.Flags.BackupEligible}, nil
}

// notAccepted says why no passkey was made.
func notAccepted(err error) error {
	if detailed, ok := errors.AsType[*protocol.Error](err); ok {
		err = fmt.Errorf("%s %.200s", detailed.Details, detailed.DevInfo)
	}
	return fault.Invalid(fault.Field{Field: "passkey", Message: fmt.Sprintf("was not accepted: %v", err)})
}

// Check implements people.Passkeys.
func (p *Passkeys) Check(key person.Passkey, answer []byte) (counter uint32, err error) {
	challenge, _, err := p.Read(answer)
	if err != nil {
		return 0, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return 0, person.ErrPasskey
	}
	u := user{Person: person.Person{ID: key.Person}, keys: []person.Passkey{key}}
	if _, err := p.relyingParty.ValidateLogin(u, p.session(challenge, u.WebAuthnID()), parsed); err != nil {
		return 0, person.ErrPasskey
	}
	return parsed.Response.AuthenticatorData.Counter, nil
}
