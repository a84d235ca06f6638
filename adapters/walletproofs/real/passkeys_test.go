package real_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"causeway/adapters/walletproofs/real"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
)

const (
	relyingParty = "example.com"
	origin       = "https://app.example.com"
)

var (
	challenge = []byte("a challenge of 32 random bytes..")
	owner     = platform.Platform{Wallets: &platform.Wallets{PasskeyRPID: relyingParty,
		PasskeyOrigins: []string{"https://other.example.com", origin}}}
)

// device is an authenticator with one passkey, and the page that uses it.
type device struct {
	page          virtualwebauthn.RelyingParty
	authenticator virtualwebauthn.Authenticator
	passkey       virtualwebauthn.Credential
}

func newDevice(keyType virtualwebauthn.KeyType) *device {
	d := &device{page: virtualwebauthn.RelyingParty{ID: relyingParty, Origin: origin}, authenticator: virtualwebauthn.NewAuthenticator(),
		passkey: newPasskey(keyType)}
	d.passkey.Counter = 1
	return d
}

// newPasskey returns a passkey whose key is well formed: the library leaves out leading zeros of coordinates,
// which WebAuthn forbids.
func newPasskey(keyType virtualwebauthn.KeyType) virtualwebauthn.Credential {
	for {
		passkey := virtualwebauthn.NewCredential(keyType)
		if _, err := webauthncose.ParsePublicKey(passkey.Key.AttestationData()); err == nil {
			return passkey
		}
	}
}

// create returns what the browser returns for a new passkey.
func (d *device) create(t testing.TB, challenge []byte) wallet.Attestation {
	t.Helper()
	var result struct {
		ID       string
		Response struct{ AttestationObject, ClientDataJSON string }
	}
	unmarshal(t, virtualwebauthn.CreateAttestationResponse(d.page, d.authenticator, d.passkey,
		virtualwebauthn.AttestationOptions{Challenge: challenge}), &result)
	return wallet.Attestation{CredentialID: result.ID, ClientDataJSON: result.Response.ClientDataJSON,
		AttestationObject: result.Response.AttestationObject,
		Transports:        []string{"internal", "hybrid"}}
}

// get returns what the browser returns for a challenge.
func (d *device) get(t testing.TB, challenge []byte) wallet.Assertion {
	t.Helper()
	var result struct {
		ID       string
		Response struct{ AuthenticatorData, ClientDataJSON, Signature, UserHandle string }
	}
	unmarshal(t, virtualwebauthn.CreateAssertionResponse(d.page, d.authenticator, d.passkey,
		virtualwebauthn.AssertionOptions{Challenge: challenge}), &result)
	return wallet.Assertion{CredentialID: result.ID, ClientDataJSON: result.Response.ClientDataJSON,
		AuthenticatorData: result.Response.AuthenticatorData,
		Signature:         result.Response.Signature, UserHandle: result.Response.UserHandle}
}

// register returns the passkey of the device.
func (d *device) register(t testing.TB) wallet.PasskeyKey {
	t.Helper()
	key, err := proofs.RegisterPasskey(context.Background(), owner, challenge, d.create(t, challenge))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var proofs = real.New(real.Options{})

func unmarshal(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func TestPasskeys_RegisteredPasskeySignsIn(t *testing.T) {
	t.Parallel()
	// A passkey of each kind of key is registered, and then proves itself as often as its counter increases.
	for _, keyType := range []virtualwebauthn.KeyType{virtualwebauthn.KeyTypeEC2, virtualwebauthn.KeyTypeRSA} {
		d := newDevice(keyType)
		key := d.register(t)
		if string(key.CredentialID) != string(d.passkey.ID) || key.SignCount != 1 || !key.UserVerified || key.BackedUp ||
			len(key.Transports) != 2 {
			t.Errorf("%s: %+v", keyType, key)
		}

		for count := uint32(2); count < 4; count++ {
			d.passkey.Counter = count
			d.authenticator.Options.UserNotVerified = count == 3
			used, err := proofs.CheckPasskey(t.Context(), owner, key, challenge, d.get(t, challenge))
			if err != nil || used.SignCount != count || used.UserVerified != (count == 2) || string(used.PublicKey) != string(key.PublicKey) {
				t.Fatalf("%s, use %d: %+v, %v", keyType, count, used, err)
			}
			key = used
		}
	}
}

func TestPasskeys_CounterThatDoesNotIncreaseIsRefused(t *testing.T) {
	t.Parallel()
	// A copy of an authenticator cannot know the counter of the other one. An authenticator without a counter
	// always says 0.
	for _, c := range []struct {
		known, next uint32
		valid       bool
	}{{5, 6, true}, {5, 900, true}, {5, 5, false}, {5, 4, false}, {5, 0, false}, {0, 0, true}, {0, 1, true}, {1<<32 - 1, 0, false}} {
		d := newDevice(virtualwebauthn.KeyTypeEC2)
		d.passkey.Counter = c.known
		key := d.register(t)
		d.passkey.Counter = c.next

		_, err := proofs.CheckPasskey(t.Context(), owner, key, challenge, d.get(t, challenge))
		if (err == nil) != c.valid {
			t.Errorf("counter %d after %d: %v", c.next, c.known, err)
		}
		if !c.valid {
			checkUnauthorized(t, "counter", err, wallet.ReasonPasskey, "counter")
		}
	}
}

func TestRegisterPasskey_RefusesWhatWasNotMadeForIt(t *testing.T) {
	t.Parallel()
	// Each case changes one thing about the device, the page or what the browser returned.
	for _, c := range []struct {
		name   string
		device func(*device)
		result func(*wallet.Attestation)
		field  string
		says   string
	}{
		{"another challenge", nil, func(a *wallet.Attestation) {
			*a = newDevice(virtualwebauthn.KeyTypeEC2).create(t, []byte("a challenge of 32 other bytes..."))
		}, "attestation.clientDataJson", "challenge"},
		{"another origin", func(d *device) { d.page.Origin = "https://example.com.evil.test" }, nil, "attestation.clientDataJson",
			"https://example.com.evil.test"},
		{"an origin as a prefix", func(d *device) { d.page.Origin = origin + ".evil.test" }, nil, "attestation.clientDataJson", "origin"},
		{"http", func(d *device) { d.page.Origin = "http://app.example.com" }, nil, "attestation.clientDataJson", "origin"},
		{"another relying party", func(d *device) { d.page.ID = "evil.test" }, nil, "attestation.attestationObject", "example.com"},
		{"nobody present", func(d *device) { d.authenticator.Options.UserNotPresent = true }, nil, "attestation.attestationObject", "present"},
		{"backed up but not eligible", func(d *device) { d.authenticator.Options.BackupState = true }, nil, "attestation.attestationObject",
			"backed up"},
		{"another credential", nil, func(a *wallet.Attestation) { a.CredentialID = encode("another") }, "attestation.attestationObject",
			"credentialId"},
		{"other client data", nil, func(a *wallet.Attestation) {
			a.ClientDataJSON = encode(strings.TrimSuffix(decode(a.ClientDataJSON), "}") + ` }`)
		}, "attestation.attestationObject", "genuine"},
		{"an assertion", nil, func(a *wallet.Attestation) {
			a.ClientDataJSON = encode(strings.Replace(decode(a.ClientDataJSON), "webauthn.create", "webauthn.get", 1))
		}, "attestation.clientDataJson", "webauthn.create"},
		{"in a frame", nil, func(a *wallet.Attestation) {
			a.ClientDataJSON = encode(strings.TrimSuffix(decode(a.ClientDataJSON), "}") + `,"crossOrigin":true}`)
		}, "attestation.clientDataJson", "frame"},
		{"cut", nil, func(a *wallet.Attestation) {
			a.AttestationObject = a.AttestationObject[:len(a.AttestationObject)/4*4-40]
		}, "attestation.attestationObject", "CBOR"},
		{"empty", nil, func(a *wallet.Attestation) { a.AttestationObject = "" }, "attestation.attestationObject", "base64url"},
		{"not base64url", nil, func(a *wallet.Attestation) { a.AttestationObject += "+" }, "attestation.attestationObject", "base64url"},
		{"too long", nil, func(a *wallet.Attestation) { a.AttestationObject = strings.Repeat("A", 1<<20) }, "attestation.attestationObject",
			"at most"},
		{"no credential id", nil, func(a *wallet.Attestation) { a.CredentialID = "" }, "attestation.credentialId", "base64url"},
		{"long client data", nil, func(a *wallet.Attestation) { a.ClientDataJSON = strings.Repeat("A", 1<<20) }, "attestation.clientDataJson",
			"at most"},
	} {
		d := newDevice(virtualwebauthn.KeyTypeEC2)
		if c.device != nil {
			c.device(d)
		}
		a := d.create(t, challenge)
		if c.result != nil {
			c.result(&a)
		}
		_, err := proofs.RegisterPasskey(t.Context(), owner, challenge, a)
		checkInvalid(t, c.name, err, c.field, c.says)
	}
	_, err := proofs.RegisterPasskey(t.Context(), owner, []byte("short"), newDevice(virtualwebauthn.KeyTypeEC2).create(t, []byte("short")))
	checkInvalid(t, "short challenge", err, "challenge", "16")
}

func TestCheckPasskey_RefusesWhatThePasskeyDidNotSign(t *testing.T) {
	t.Parallel()
	// Each case changes one thing; all have the reason of the interface.
	flip := func(text *string, at int) {
		bytes := []byte(decode(*text))
		bytes[(at+len(bytes))%len(bytes)] ^= 1
		*text = encode(string(bytes))
	}
	for _, c := range []struct {
		name   string
		device func(*device)
		result func(*wallet.Assertion)
		says   string
	}{
		{"another origin", func(d *device) { d.page.Origin = "https://evil.test" }, nil, "origin"},
		{"another relying party", func(d *device) { d.page.ID = "evil.test" }, nil, "example.com"},
		{"nobody present", func(d *device) { d.authenticator.Options.UserNotPresent = true }, nil, "present"},
		{"another key", func(d *device) { d.passkey.Key = newPasskey(virtualwebauthn.KeyTypeEC2).Key }, nil, "signature"},
		{"another passkey", func(d *device) { d.passkey.ID = []byte("another") }, nil, "credentialId"},
		{"backed up since", func(d *device) { d.authenticator.Options.BackupState = true }, nil, "backed up"},
		{"eligible since", func(d *device) { d.authenticator.Options.BackupEligible = true }, nil, "eligibility"},
		{"other signature", nil, func(a *wallet.Assertion) { flip(&a.Signature, -1) }, "signature"},
		{"other counter", nil, func(a *wallet.Assertion) { flip(&a.AuthenticatorData, -1) }, "signature"},
		{"other flags", nil, func(a *wallet.Assertion) {
			bytes := []byte(decode(a.AuthenticatorData))
			bytes[32] ^= 4
			a.AuthenticatorData = encode(string(bytes))
		}, "signature"},
		{"other client data", nil, func(a *wallet.Assertion) {
			a.ClientDataJSON = encode(strings.Replace(decode(a.ClientDataJSON), "{", "{ ", 1))
		}, "signature"},
		{"a registration", nil, func(a *wallet.Assertion) {
			a.ClientDataJSON = encode(strings.Replace(decode(a.ClientDataJSON), "webauthn.get", "webauthn.create", 1))
		}, "webauthn.get"},
		{"in a frame", nil, func(a *wallet.Assertion) {
			a.ClientDataJSON = encode(strings.TrimSuffix(decode(a.ClientDataJSON), "}") + `,"topOrigin":"https://example.com"}`)
		}, "frame"},
		{"cut data", nil, func(a *wallet.Assertion) { a.AuthenticatorData = a.AuthenticatorData[:40] }, "authenticatorData"},
		{"more data", nil, func(a *wallet.Assertion) { a.AuthenticatorData = encode(decode(a.AuthenticatorData) + "x") }, "authenticatorData"},
		{"no signature", nil, func(a *wallet.Assertion) { a.Signature = "" }, "signature"},
		{"the test value", nil, func(a *wallet.Assertion) { a.Signature = "sandbox-valid-passkey-signature" }, "signature"},
		{"long signature", nil, func(a *wallet.Assertion) { a.Signature = strings.Repeat("A", 1<<20) }, "at most"},
		{"long data", nil, func(a *wallet.Assertion) { a.AuthenticatorData = strings.Repeat("A", 1<<20) }, "at most"},
		{"nothing", nil, func(a *wallet.Assertion) { *a = wallet.Assertion{} }, "credentialId"},
	} {
		d := newDevice(virtualwebauthn.KeyTypeEC2)
		key := d.register(t)
		d.passkey.Counter++
		if c.device != nil {
			c.device(d)
		}
		a := d.get(t, challenge)
		if c.result != nil {
			c.result(&a)
		}
		_, err := proofs.CheckPasskey(t.Context(), owner, key, challenge, a)
		checkUnauthorized(t, c.name, err, wallet.ReasonPasskey, c.says)
	}

	d := newDevice(virtualwebauthn.KeyTypeEC2)
	key := d.register(t)
	d.passkey.Counter++
	_, err := proofs.CheckPasskey(t.Context(), owner, key, []byte("a challenge of 32 other bytes..."), d.get(t, challenge))
	checkUnauthorized(t, "another challenge", err, wallet.ReasonPasskey, "challenge")
	_, err = proofs.CheckPasskey(t.Context(), owner, key, nil, d.get(t, nil))
	checkUnauthorized(t, "no challenge", err, wallet.ReasonPasskey, "challenge")
	_, err = proofs.CheckPasskey(t.Context(), owner, wallet.PasskeyKey{CredentialID: key.CredentialID, SignCount: 1}, challenge,
		d.get(t, challenge))
	checkUnauthorized(t, "a passkey of the sandbox", err, wallet.ReasonPasskey, "")
}

func TestPasskeys_MissingSettingIsNamed(t *testing.T) {
	t.Parallel()
	// A platform that has not said where its passkeys are used cannot have any.
	d := newDevice(virtualwebauthn.KeyTypeEC2)
	for setting, wallets := range map[string]*platform.Wallets{
		"embeddedWalletConfig.passkeyRpId":    nil,
		"embeddedWalletConfig.passkeyOrigins": {PasskeyRPID: relyingParty},
	} {
		p := platform.Platform{Wallets: wallets}
		_, registerErr := proofs.RegisterPasskey(t.Context(), p, challenge, d.create(t, challenge))
		_, checkErr := proofs.CheckPasskey(t.Context(), p, wallet.PasskeyKey{}, challenge, d.get(t, challenge))
		for _, err := range []error{registerErr, checkErr} {
			if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), setting) {
				t.Errorf("without %s: %v", setting, err)
			}
		}
	}
}

func TestPasskeys_TestVectorsOfTheSpecification(t *testing.T) {
	t.Parallel()
	// The test vectors of WebAuthn level 3, section 16: each format of attestation is checked, and then an
	// assertion of the same passkey. Refused are frames of other origins, ES384, and the formats whose
	// certificates must lead to a maker: those of the vectors are made up.
	text, err := os.ReadFile("testdata/webauthn.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, CredentialID string
		Registration       struct{ Challenge, ClientDataJSON, AttestationObject string }
		Authentication     struct{ Challenge, ClientDataJSON, AuthenticatorData, Signature string }
	}
	unmarshal(t, string(text), &vectors)
	refused := map[string]string{"none, cross origin": "frame", "none, top origin": "frame", "packed ES384": "algorithm",
		"tpm ES256": "TPM manufacturer", "android-key ES256": "chain", "apple ES256": "chain"}
	p := platform.Platform{Wallets: &platform.Wallets{PasskeyRPID: "example.org", PasskeyOrigins: []string{"https://example.org"}}}
	for _, v := range vectors {
		attestation := wallet.Attestation{CredentialID: v.CredentialID, ClientDataJSON: v.Registration.ClientDataJSON,
			AttestationObject: v.Registration.AttestationObject}
		key, err := proofs.RegisterPasskey(t.Context(), p, []byte(decode(v.Registration.Challenge)), attestation)
		if says, ok := refused[v.Name]; ok {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", v.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		_, err = proofs.CheckPasskey(t.Context(), p, key, []byte(decode(v.Authentication.Challenge)),
			wallet.Assertion{CredentialID: v.CredentialID,
				ClientDataJSON: v.Authentication.ClientDataJSON, AuthenticatorData: v.Authentication.AuthenticatorData,
				Signature: v.Authentication.Signature})
		if err != nil {
			t.Errorf("%s, assertion: %v", v.Name, err)
		}
	}
	if len(vectors) != 13 {
		t.Errorf("%d test vectors", len(vectors))
	}
}

func checkInvalid(t *testing.T, name string, err error, field, says string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != fault.InvalidInput || len(f.Fields) != 1 || f.Fields[0].Field != field ||
		!strings.Contains(f.Fields[0].Message, says) {
		t.Errorf("%s: %v, want a fault of %s that says %q", name, err, field, says)
	}
}

func checkUnauthorized(t *testing.T, name string, err error, reason, says string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != fault.Unauthorized || f.Reason != reason || !strings.Contains(f.Message, says) {
		t.Errorf("%s: %v, want %q that says %q", name, err, reason, says)
	}
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func decode(text string) string {
	value, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return string(value)
}
