package api

import (
	"encoding/base64"
	"regexp"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/wallets"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
)

// authCredentialCreateRequest is a new credential of any type.
type authCredentialCreateRequest struct{}

// Union returns a branch for every type of credential.
func (authCredentialCreateRequest) Union() httpapi.UnionSpec {
	account := httpapi.Field{Name: "accountId", Required: true, Pattern: idPattern("InternalAccount"),
		PatternDescription: "an id of the form InternalAccount:<uuid>",
		Description:        "Id of the embedded wallet, an internal account.", Example: "InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"}
	return httpapi.UnionSpec{
		Name: "AuthCredentialCreateRequest", Description: "A new credential.", Discriminator: "type",
		Branches: []httpapi.Branch{
			{Name: "EmailOtpCredentialCreateRequest", Values: []string{string(wallet.EmailOTP)}, Fields: []httpapi.Field{account},
				Description: "One-time codes that are sent to the customer's e-mail address."},
			{Name: "SmsOtpCredentialCreateRequest", Values: []string{string(wallet.SMSOTP)}, Fields: []httpapi.Field{account},
				Description: "One-time codes that are sent to the customer's phone number."},
			{Name: "OauthCredentialCreateRequest", Values: []string{string(wallet.OAuth)}, Description: "The account of the customer at a provider.",
				Fields: []httpapi.Field{
					account,
					{Name: "oidcToken", Required: true, MinLength: 1, MaxLength: 16 << 10, Description: "ID token (OpenID Connect) of Google or Apple, " +
						"issued less than 60 seconds ago for one of `oauthClientIds`.",
						Example: "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20ifQ.c2ln"},
				}},
			{Name: "PasskeyCredentialCreateRequest", Values: []string{string(wallet.Passkey)}, Description: "A passkey (WebAuthn) on a device of " +
				"the customer.", Fields: []httpapi.Field{
				account,
				{Name: "nickname", Required: true, MinLength: 1, MaxLength: maxNickname, Description: "Name of the passkey for the customer: " +
					"letters, digits, spaces and . _ - ' ( ).", Example: "Ana's phone"},
				{Name: "challenge", Required: true, MinLength: 1, MaxLength: 1024, Pattern: base64URLPattern, PatternDescription: base64URLDescription,
					Description: "The challenge that your server passed to navigator.credentials.create(), in base64url. It must have been made for " +
						"this passkey, and is accepted once.", Example: "3q2-7wMnCqxTgWbcZk0mWQ"},
				{Name: "attestation", Required: true, Description: "What navigator.credentials.create() returned.", Fields: []httpapi.Field{
					{Name: "credentialId", Required: true, MinLength: 1, MaxLength: 1400, Pattern: base64URLPattern,
						PatternDescription: base64URLDescription, Description: "`rawId`, in base64url.", Example: "b3BhcXVl"},
					{Name: "clientDataJson", Required: true, MinLength: 1, MaxLength: 4096, Pattern: base64URLPattern,
						PatternDescription: base64URLDescription, Description: "`response.clientDataJSON`, in base64url.",
						Example: "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0"},
					{Name: "attestationObject", Required: true, MinLength: 1, MaxLength: 64 << 10, Description: "`response.attestationObject`, in " +
						"base64url.", Example: "o2NmbXRkbm9uZQ"},
					{Name: "transports", Description: "`response.getTransports()`.", Schema: &huma.Schema{
						Type: huma.TypeArray, MaxItems: new(len(transports)), Items: enumSchema(transports),
						Examples: []any{[]string{"internal", "hybrid"}}}},
				}},
			}},
		},
	}
}

// authCredentialVerifyRequest is a proof of any type.
type authCredentialVerifyRequest struct{}

// Union returns a branch for every type of credential.
func (authCredentialVerifyRequest) Union() httpapi.UnionSpec {
	client := httpapi.Field{Name: "clientPublicKey", Required: true,
		Pattern: wallet.ClientKeyPattern, PatternDescription: wallet.ClientKeyRule,
		Description: "Public key of a new key pair of the client, to which the key of the session is sealed.", Example: exampleClientKey}
	// The parts of an assertion have no pattern: in the sandbox a signature is a test value.
	part := func(name, description string, required bool) httpapi.Field {
		return httpapi.Field{Name: name, Required: required, MaxLength: 8 << 10, Description: description + ", in base64url.",
			Example: "b3BhcXVl"}
	}
	optionalClient := client
	optionalClient.Required = false
	code := []httpapi.Field{
		{Name: "otp", MaxLength: 64, Description: "The latest code. Send it with `clientPublicKey`, or send `encryptedOtpBundle` alone.",
			Example: "483920"}, optionalClient,
		{Name: "encryptedOtpBundle", MaxLength: wallet.MaxSealedOTP, Description: "The latest code and a public key of the client, " +
			"as the JSON object `{\"otp_code\", \"public_key\"}`, encrypted to `otpEncryptionTargetBundle`: the text of a JSON object with " +
			"`encappedPublic` and `ciphertext`.", Example: `{"encappedPublic":"04","ciphertext":"ab"}`},
	}
	return httpapi.UnionSpec{
		Name: "AuthCredentialVerifyRequest", Description: "A proof that the customer has the credential.", Discriminator: "type",
		Branches: []httpapi.Branch{
			{Name: "EmailOtpCredentialVerifyRequest", Values: []string{string(wallet.EmailOTP)}, Fields: code,
				Description: "The code that was sent by e-mail."},
			{Name: "SmsOtpCredentialVerifyRequest", Values: []string{string(wallet.SMSOTP)}, Fields: code,
				Description: "The code that was sent by text message."},
			{Name: "OauthCredentialVerifyRequest", Values: []string{string(wallet.OAuth)}, Description: "A new ID token.", Fields: []httpapi.Field{
				{Name: "oidcToken", Required: true, MaxLength: 16 << 10, Description: "ID token of the same person, issued less than 60 " +
					"seconds ago, whose `nonce` is hex(SHA-256(`clientPublicKey` in lower case)).",
					Example: "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20ifQ.c2ln"}, client,
			}},
			{Name: "PasskeyCredentialVerifyRequest", Values: []string{string(wallet.Passkey)}, Description: "A signature of the authenticator " +
				"over the challenge. The key of the session is sealed to the `clientPublicKey` of the challenge.", Fields: []httpapi.Field{
				{Name: "assertion", Required: true, Description: "What navigator.credentials.get() returned.", Fields: []httpapi.Field{
					part("credentialId", "`rawId`", true),
					part("clientDataJson", "`response.clientDataJSON`", true),
					part("authenticatorData", "`response.authenticatorData`", true),
					part("signature", "`response.signature`", true),
					part("userHandle", "`response.userHandle`, if there is one", false),
				}},
			}},
		},
	}
}

const (
	base64URLPattern     = "^[A-Za-z0-9_-]+$"
	base64URLDescription = "base64url without padding"
	maxNickname          = 100 // characters
	exampleClientKey     = "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)

// CredentialPath has the id of a credential.
type CredentialPath struct {
	ID httpapi.ID[ident.AuthMethod] `path:"id" doc:"Id of the credential."`
}

type walletFilter struct {
	AccountID httpapi.ID[ident.InternalAccount] `query:"accountId" required:"true" doc:"Id of the embedded wallet, an internal account."`
}

type createCredentialInput struct {
	Body httpapi.Union[authCredentialCreateRequest]
}

// Resolve reports a nickname of the right length with characters that it must not have. The schema has no
// pattern for letters of all languages that every generator of clients understands.
func (in *createCredentialInput) Resolve(huma.Context) []error {
	var sent map[string]any
	if err := in.Body.Decode(&sent); err != nil || sent["type"] != string(wallet.Passkey) {
		return nil // reported by the validator
	}
	nickname := text(sent, "nickname")
	if length := utf8.RuneCountInString(nickname); length < 1 || length > maxNickname {
		return nil // also reported by the validator
	}
	return httpapi.FieldErrors(wallet.CheckNickname(nickname))
}

type verifyInput struct {
	CredentialPath
	Body httpapi.Union[authCredentialVerifyRequest]
}

// Resolve reports a key that has the right form and is not on the curve, and the fields of codes, which have two forms.
func (in *verifyInput) Resolve(huma.Context) []error {
	var sent map[string]any
	if err := in.Body.Decode(&sent); err != nil || sent["type"] == string(wallet.Passkey) {
		return nil // reported by the validator
	}
	var bad []fault.Field
	key, bundle := text(sent, "clientPublicKey"), text(sent, "encryptedOtpBundle")
	if wallet.CredentialType(text(sent, "type")).HasCodes() {
		for _, name := range []string{"otp", "clientPublicKey"} {
			if _, given := sent[name]; given && bundle != "" {
				bad = append(bad, fault.Field{Field: name, Message: "must be left out, because encryptedOtpBundle has it"})
			} else if !given && bundle == "" {
				bad = append(bad, fault.Field{Field: name, Message: "is required, unless encryptedOtpBundle is sent"})
			}
		}
	}
	var err error
	if bundle != "" {
		_, err = wallet.ParseSealedOTP(bundle)
	} else if clientKeyForm.MatchString(key) { // else reported by the validator
		_, err = wallet.ParseClientKey(key)
	}
	if f, ok := fault.As(err); ok {
		bad = append(bad, f.Fields...)
	}
	if len(bad) == 0 {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(bad...))
}

func newCredential(body httpapi.Union[authCredentialCreateRequest]) wallets.NewCredential {
	account, _ := ident.ParseInternalAccount(body.Text("accountId")) // matches the pattern
	created := wallets.NewCredential{Account: account, Type: wallet.CredentialType(body.Text("type")), Token: body.Text("oidcToken")}
	attestation, _ := body.Values()["attestation"].(map[string]any)
	if attestation == nil {
		return created
	}
	created.Nickname = body.Text("nickname")
	created.Challenge, _ = base64.RawURLEncoding.DecodeString(body.Text("challenge"))
	created.Attestation = wallet.Attestation{CredentialID: text(attestation, "credentialId"),
		ClientDataJSON: text(attestation, "clientDataJson"), AttestationObject: text(attestation, "attestationObject")}
	sent, _ := attestation["transports"].([]any)
	for _, name := range sent {
		created.Attestation.Transports = append(created.Attestation.Transports, name.(string))
	}
	return created
}

// verification returns the proof. Fault: INVALID_INPUT for what Resolve has reported.
func (in *verifyInput) verification() (wallets.Verification, error) {
	body := in.Body
	v := wallets.Verification{Type: wallet.CredentialType(body.Text("type"))}
	if v.Type == wallet.Passkey {
		assertion, _ := body.Values()["assertion"].(map[string]any)
		v.Assertion = wallet.Assertion{
			CredentialID: text(assertion, "credentialId"), ClientDataJSON: text(assertion, "clientDataJson"),
			AuthenticatorData: text(assertion, "authenticatorData"),
			Signature:         text(assertion, "signature"), UserHandle: text(assertion, "userHandle"),
		}
		return v, nil
	}
	if bundle := body.Text("encryptedOtpBundle"); bundle != "" {
		sealed, err := wallet.ParseSealedOTP(bundle)
		v.SealedOTP = &sealed
		return v, err
	}
	v.Code, v.Token = body.Text("otp"), body.Text("oidcToken")
	var err error
	v.ClientKey, err = wallet.ParseClientKey(body.Text("clientPublicKey"))
	return v, err
}

// transports are those of passkeys.
var transports = []string{"usb", "nfc", "ble", "internal", "hybrid"}

var clientKeyForm = regexp.MustCompile(wallet.ClientKeyPattern)

func text(object map[string]any, name string) string {
	value, _ := object[name].(string)
	return value
}
