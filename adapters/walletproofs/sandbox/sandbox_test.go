package sandbox_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"causeway/adapters/walletproofs/real"
	"causeway/adapters/walletproofs/sandbox"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

var proofs = sandbox.New([]string{"https://accounts.google.com", "https://appleid.apple.com"}, real.New(real.Options{}))

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func TestProofs_Conformance(t *testing.T) {
	t.Parallel()
	portstest.WalletProofs(t, platform.Platform{}, proofs)
}

func TestProofs_TestValuesStandForProofs(t *testing.T) {
	t.Parallel()
	// Each test value is accepted for whatever it should prove, and any other value has the reason of its
	// proof.
	check := func(name string, err error, reason string) {
		t.Helper()
		f, ok := fault.As(err)
		if reason == "" && err != nil || reason != "" && (!ok || f.Code != fault.Unauthorized || f.Reason != reason) {
			t.Errorf("%s: %v, want reason %q", name, err, reason)
		}
	}
	code, err := proofs.NewCode(8, true)
	check("new code", err, "")
	if code != "000000" || !proofs.AcceptsTestCode("000000") || proofs.AcceptsTestCode("000001") || proofs.AcceptsTestCode("") {
		t.Errorf("code %q", code)
	}

	key := wallet.PasskeyKey{CredentialID: []byte("passkey"), Transports: []string{"usb"}}
	got, err := proofs.CheckPasskey(t.Context(), platform.Platform{}, key, nil, wallet.Assertion{Signature: "sandbox-valid-passkey-signature",
		ClientDataJSON: "?"})
	check("passkey", err, "")
	if string(got.CredentialID) != "passkey" || len(got.Transports) != 1 {
		t.Errorf("passkey %+v", got)
	}
	for _, wrong := range []string{"", "sandbox-valid-passkey-signaturf", "sandbox-valid-signature"} {
		_, err := proofs.CheckPasskey(t.Context(), platform.Platform{}, key, nil, wallet.Assertion{Signature: wrong})
		check("passkey "+wrong, err, "Invalid passkey signature")
	}

	checkToken := func(token string) error {
		return proofs.CheckIdentity(t.Context(), platform.Platform{}, wallet.Identity{}, token, wallet.ClientKey{}, time.Time{})
	}
	check("ID token", checkToken("sandbox-valid-oidc-token"), "")
	check("other ID token", checkToken("e30.e30.AA"), "Invalid OIDC token")

	first, second := wallet.Session{Nickname: "first"}, wallet.Session{Nickname: "second"}
	session, err := proofs.CheckSignature("payload", "sandbox-valid-signature", []wallet.Session{first, second})
	check("signature", err, "")
	if session.Nickname != "first" {
		t.Errorf("session %+v", session)
	}
	_, err = proofs.CheckSignature("payload", "sandbox-valid-signature", nil)
	check("signature without a session", err, "")
	_, err = proofs.CheckSignature("payload", "sandbox-valid-signaturf", []wallet.Session{first})
	check("other signature", err, "Invalid Service-Wallet-Signature")
}

// realTokens records the ID tokens that are checked as in production.
type realTokens struct {
	ports.WalletProofs
	checked []string
}

func (r *realTokens) CheckIdentity(_ context.Context, _ platform.Platform, _ wallet.Identity, token string, _ wallet.ClientKey,
	_ time.Time) error {
	r.checked = append(r.checked, token)
	return wallet.InvalidIdentity("as in production")
}

func TestProofs_RealIDTokens(t *testing.T) {
	t.Parallel()
	// The token of a known provider is checked as in production, if the platform has client ids. Others, and the test value, are not.
	production := &realTokens{}
	both := sandbox.New([]string{"https://accounts.google.com"}, production)
	owner := platform.Platform{Wallets: &platform.Wallets{OAuthClientIDs: []string{"app"}}}
	token := func(issuer string) string {
		return encode(`{"alg": "RS256"}`) + "." + encode(`{"iss": "`+issuer+`", "aud": "app", "sub": "1"}`) + ".AA"
	}
	known, unknown := token("https://accounts.google.com"), token("https://other.example")
	check := func(of platform.Platform, token string) error {
		return both.CheckIdentity(t.Context(), of, wallet.Identity{}, token, wallet.ClientKey{}, time.Time{})
	}

	for name, err := range map[string]error{"known": check(owner, known), "unknown": check(owner, unknown),
		"without client ids": check(platform.Platform{}, known)} {
		f, ok := fault.As(err)
		if !ok || f.Reason != wallet.ReasonIdentity || strings.Contains(f.Message, "as in production") != (name == "known") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := check(owner, "sandbox-valid-oidc-token"); err != nil || len(production.checked) != 1 || production.checked[0] != known {
		t.Errorf("%v; checked as in production: %v", err, production.checked)
	}
}

func TestProofs_RegistersTheClientOfProduction(t *testing.T) {
	t.Parallel()
	// With one audience it is the client, also if azp names the phone app; of several, azp is.
	both := sandbox.New([]string{"https://accounts.google.com"}, &realTokens{})
	for audiences, want := range map[string]string{`"web"`: "web", `["web", "other"]`: "android"} {
		token := encode(`{"alg": "RS256"}`) + "." +
			encode(`{"iss": "https://accounts.google.com", "aud": `+audiences+`, "azp": "android", "sub": "1"}`) + ".AA"
		if got, err := both.RegisterIdentity(t.Context(), platform.Platform{}, token, time.Time{}); err != nil || got.Audience != want {
			t.Errorf("%s: %+v, %v", audiences, got, err)
		}
	}
}

func TestProofs_RealSignatures(t *testing.T) {
	t.Parallel()
	// A signature by the key of a session is that of the session. Over another payload, or by the key of none, it is refused,
	// and the refusal names the test value.
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte("payload"))
	der, err := ecdsa.SignASN1(rand.Reader, private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	other, signer := wallet.Session{Nickname: "other"}, wallet.Session{Nickname: "signer"}
	copy(signer.PublicKey[:], elliptic.MarshalCompressed(elliptic.P256(), private.X, private.Y))
	signature := base64.StdEncoding.EncodeToString(der)
	if got, err := proofs.CheckSignature("payload", signature, []wallet.Session{other, signer}); err != nil || got.Nickname != "signer" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		payload  string
		sessions []wallet.Session
	}{
		"another payload":    {"payloae", []wallet.Session{other, signer}},
		"by another session": {"payload", []wallet.Session{other}},
		"without a session":  {"payload", nil},
	} {
		_, err := proofs.CheckSignature(c.payload, signature, c.sessions)
		if f, ok := fault.As(err); !ok || f.Code != fault.Unauthorized || f.Reason != wallet.ReasonSignature ||
			!strings.HasSuffix(f.Message, "active session. In the sandbox sandbox-valid-signature is valid too.") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProofs_RegisterPasskey(t *testing.T) {
	t.Parallel()
	// The client data must be for the challenge; the attestation object may be anything.
	const challenge = "0123456789abcdef"
	clientData := func(ceremony, challenge string) string {
		return encode(fmt.Sprintf(`{"type":%q,"challenge":%q,"origin":"https://example.com"}`, ceremony, encode(challenge)))
	}
	for _, c := range []struct {
		name, id, clientData, field string
	}{
		{"valid", "KEbWNCc7", clientData("webauthn.create", challenge), ""},
		{"another challenge", "KEbWNCc7", clientData("webauthn.create", "0123456789abcdeg"), "attestation.clientDataJson"},
		{"an assertion", "KEbWNCc7", clientData("webauthn.get", challenge), "attestation.clientDataJson"},
		{"not base64url", "KEbWNCc7", "{}", "attestation.clientDataJson"},
		{"not JSON", "KEbWNCc7", encode("{"), "attestation.clientDataJson"},
		{"no credential id", "", clientData("webauthn.create", challenge), "attestation.credentialId"},
	} {
		key, err := proofs.RegisterPasskey(t.Context(), platform.Platform{}, []byte(challenge), wallet.Attestation{
			CredentialID: c.id, ClientDataJSON: c.clientData, AttestationObject: "any", Transports: []string{"internal"}})
		if c.field == "" {
			if err != nil || encode(string(key.CredentialID)) != c.id || len(key.Transports) != 1 {
				t.Errorf("%s: %+v, %v", c.name, key, err)
			}
			continue
		}
		if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || len(f.Fields) != 1 || f.Fields[0].Field != c.field {
			t.Errorf("%s: %v, want a fault of %s", c.name, err, c.field)
		}
	}
}

func TestProofs_RegisterIdentity(t *testing.T) {
	t.Parallel()
	// A token in the form of a JWT of a known issuer is enough, however old, with any signature.
	token := func(header, claims string) string { return encode(header) + "." + encode(claims) + ".c2ln" }
	for _, c := range []struct {
		name, token string
		want        wallet.Identity
	}{
		{"Google", token(`{"alg":"RS256"}`, `{"iss":"https://accounts.google.com","sub":"7","aud":"app","email":"a@example.com","iat":1}`),
			wallet.Identity{Issuer: "https://accounts.google.com", Audience: "app", Subject: "7", Email: "a@example.com"}},
		{"Google without a scheme", token(`{"alg":"RS256"}`, `{"iss":"accounts.google.com","sub":"7","aud":["app","other"]}`),
			wallet.Identity{Issuer: "https://accounts.google.com", Audience: "app", Subject: "7"}},
		{"Apple", token(`{"alg":"none"}`, `{"iss":"https://appleid.apple.com","aud":["other","app"],"azp":"app"}`),
			wallet.Identity{Issuer: "https://appleid.apple.com", Audience: "app"}},
		{"unknown issuer", token(`{"alg":"RS256"}`, `{"iss":"https://example.com","sub":"7"}`), wallet.Identity{}},
		{"no issuer", token(`{"alg":"RS256"}`, `{"sub":"7"}`), wallet.Identity{}},
		{"the test value", "sandbox-valid-oidc-token", wallet.Identity{}},
		{"two parts", encode("{}") + "." + encode(`{"iss":"https://accounts.google.com"}`), wallet.Identity{}},
		{"header is no object", token(`[]`, `{"iss":"https://accounts.google.com"}`), wallet.Identity{}},
		{"claims are no JSON", token(`{}`, `{"iss":"https://accounts.google.com"}}`), wallet.Identity{}},
		{"signature is no base64url", encode("{}") + "." + encode(`{"iss":"https://accounts.google.com"}`) + ".+", wallet.Identity{}},
	} {
		got, err := proofs.RegisterIdentity(t.Context(), platform.Platform{}, c.token, time.Now())
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if valid := c.want != (wallet.Identity{}); valid != (err == nil) || !valid && !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestProofs_RealPasskeys(t *testing.T) {
	t.Parallel()
	// A passkey of an authenticator signs as in production, for the relying party of the platform or, if it has set none, for localhost.
	// The test value is valid for it too; what another passkey signs is not.
	for _, owner := range []platform.Platform{{}, {Wallets: &platform.Wallets{PasskeyRPID: "example.com",
		PasskeyOrigins: []string{"https://app.example.com"}}}} {
		rp, err := proofs.RelyingParty(owner)
		if err != nil {
			t.Fatal(err)
		}
		challenge := []byte("a challenge of 32 random bytes..")
		page := virtualwebauthn.RelyingParty{ID: rp.ID, Origin: rp.Origins[0]}
		device, passkey := virtualwebauthn.NewAuthenticator(), virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeRSA)
		var made, signed struct {
			ID       string
			Response struct{ ClientDataJSON, AttestationObject, AuthenticatorData, Signature string }
		}
		options := virtualwebauthn.AttestationOptions{Challenge: challenge}
		if err := json.Unmarshal([]byte(virtualwebauthn.CreateAttestationResponse(page, device, passkey, options)), &made); err != nil {
			t.Fatal(err)
		}
		key, err := proofs.RegisterPasskey(t.Context(), owner, challenge, wallet.Attestation{CredentialID: made.ID,
			ClientDataJSON: made.Response.ClientDataJSON, AttestationObject: made.Response.AttestationObject})
		if err != nil || len(key.PublicKey) == 0 || !key.UserVerified {
			t.Fatalf("%+v, %v", key, err)
		}
		text := virtualwebauthn.CreateAssertionResponse(page, device, passkey, virtualwebauthn.AssertionOptions{Challenge: challenge})
		if err := json.Unmarshal([]byte(text), &signed); err != nil {
			t.Fatal(err)
		}
		assertion := wallet.Assertion{CredentialID: signed.ID, ClientDataJSON: signed.Response.ClientDataJSON,
			AuthenticatorData: signed.Response.AuthenticatorData, Signature: signed.Response.Signature}
		if _, err := proofs.CheckPasskey(t.Context(), owner, key, challenge, assertion); err != nil {
			t.Errorf("%s: %v", rp.ID, err)
		}
		if _, err := proofs.CheckPasskey(t.Context(), owner, key, []byte("another challenge"), assertion); !fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s, another challenge: %v", rp.ID, err)
		}
		assertion.Signature = "sandbox-valid-passkey-signature"
		if _, err := proofs.CheckPasskey(t.Context(), owner, key, challenge, assertion); err != nil {
			t.Errorf("%s, test value: %v", rp.ID, err)
		}
	}
}
