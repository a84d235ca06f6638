package api_test

import (
	"context"
	"crypto/sha256"
	"reflect"
	"slices"
	"strings"
	"testing"

	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/wallets"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

const (
	walletID     = "InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	credentialID = "AuthMethod:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c"
	sessionID    = "Session:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6d"
	requestID    = "Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6e"
	clientKey    = "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
)

// fakeWallets returns fixed results and keeps what it was called with. A call without a signature gets a
// request to sign.
type fakeWallets struct {
	calls []any // arguments but the context and the platform, of each call
	call  wallet.Call
}

func (f *fakeWallets) leg(call wallet.Call, arguments ...any) *wallet.SignedRequest {
	f.call, f.calls = call, append(f.calls, arguments)
	if call.Signature != "" {
		return nil
	}
	return &wallet.SignedRequest{ID: must(ident.SignedRequest{}.Parse(requestID)), Payload: "payload", Credential: wallet.Passkey,
		ExpiresAt: noon}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var (
	fakeCredential = wallet.Credential{
		ID: must(ident.ParseAuthMethod(credentialID)), Account: must(ident.ParseInternalAccount(walletID)), Type: wallet.Passkey,
		Nickname: "Ana's phone",
		Passkey:  &wallet.PasskeyKey{CredentialID: []byte{0xfb, 0xff}}, CreatedAt: noon, UpdatedAt: noon,
	}
	fakeSession = wallet.Session{
		ID: must(ident.ParseSession(sessionID)), Account: fakeCredential.Account, Credential: fakeCredential.ID, Type: wallet.Passkey,
		Nickname:  "Ana's phone",
		PasskeyID: []byte{0xfb, 0xff}, CreatedAt: noon, UpdatedAt: noon, ExpiresAt: noon.Add(wallet.SessionLifetime),
	}
	fakeOpened = wallets.OpenedSession{Session: fakeSession, EncryptedKey: "sealed"}
)

func (f *fakeWallets) CreateCredential(_ context.Context, _ platform.Principal, call wallet.Call, _ *ports.IdempotentRequest,
	r wallets.NewCredential) (wallets.Challenged, *wallet.SignedRequest, error) {
	return wallets.Challenged{Credential: fakeCredential}, f.leg(call, r), nil
}

func (f *fakeWallets) ListCredentials(_ context.Context, _ ident.Platform, a ident.InternalAccount) ([]wallet.Credential, error) {
	f.calls = append(f.calls, []any{a})
	return []wallet.Credential{fakeCredential}, nil
}

func (f *fakeWallets) RevokeCredential(_ context.Context, _ platform.Principal, call wallet.Call,
	id ident.AuthMethod) (*wallet.SignedRequest, error) {
	return f.leg(call, id), nil
}

func (f *fakeWallets) Challenge(_ context.Context, _ platform.Principal, _ *ports.IdempotentRequest, id ident.AuthMethod,
	client *wallet.ClientKey) (wallets.Challenged, error) {
	f.calls = append(f.calls, []any{id, client})
	if client == nil {
		email := fakeCredential
		email.Type, email.Passkey = wallet.EmailOTP, nil
		return wallets.Challenged{Credential: email, OTPTarget: "target"}, nil
	}
	return wallets.Challenged{Credential: fakeCredential, Challenge: &wallet.PasskeyChallenge{ID: must(ident.SignedRequest{}.Parse(requestID)),
		Challenge: []byte{0xfb, 0xff}, ExpiresAt: noon}}, nil
}

func (f *fakeWallets) Verify(_ context.Context, _ platform.Principal, call wallet.Call, _ *ports.IdempotentRequest, id ident.AuthMethod,
	v wallets.Verification) (wallets.OpenedSession, *wallet.SignedRequest, error) {
	if leg := f.leg(call, id, v); v.SealedOTP != nil {
		return fakeOpened, leg, nil
	}
	return fakeOpened, nil, nil
}

func (f *fakeWallets) ListSessions(_ context.Context, _ ident.Platform, a ident.InternalAccount) ([]wallet.Session, error) {
	f.calls = append(f.calls, []any{a})
	return nil, nil
}

func (f *fakeWallets) RevokeSession(_ context.Context, _ platform.Principal, call wallet.Call,
	id ident.Session) (*wallet.SignedRequest, error) {
	return f.leg(call, id), nil
}

func (f *fakeWallets) RefreshSession(_ context.Context, _ platform.Principal, call wallet.Call, _ *ports.IdempotentRequest,
	id ident.Session, client wallet.ClientKey) (wallets.OpenedSession, *wallet.SignedRequest, error) {
	return fakeOpened, f.leg(call, id, client), nil
}

func (f *fakeWallets) UpdateAccount(_ context.Context, _ platform.Principal, call wallet.Call, id ident.InternalAccount,
	change account.InternalChange) (account.WithBalance, *wallet.SignedRequest, error) {
	return account.WithBalance{Internal: account.Internal{ID: id, Type: account.EmbeddedWallet, Currency: "USDB", PrivateEnabled: true,
		CreatedAt: noon, UpdatedAt: noon}}, f.leg(call, id, change), nil
}

func (f *fakeWallets) Export(_ context.Context, _ platform.Principal, call wallet.Call, _ *ports.IdempotentRequest,
	id ident.InternalAccount, client wallet.ClientKey) (wallets.Exported, *wallet.SignedRequest, error) {
	return wallets.Exported{Account: id, Encrypted: `{"version":"v1.0.0"}`}, f.leg(call, id, client), nil
}

func newWalletClient(t *testing.T) (*client, *fakeWallets) {
	fake := &fakeWallets{}
	server := newTestServer(t, pgtest.New(t), func(d *api.Deps, _ *postgres.DB) { d.Wallets = fake })
	return server.createPlatform(t, platform.Sandbox), fake
}

// signed returns the client, which sends the headers of the second leg.
func (c *client) signed(signature, requestID string) *client {
	copied := *c
	copied.headers = map[string]string{"Service-Wallet-Signature": signature, "Request-Id": requestID}
	return &copied
}

const (
	credentialJSON = `{"id": "` + credentialID + `", "accountId": "` + walletID +
		`", "type": "PASSKEY", "credentialId": "-_8", "nickname": "Ana's phone", "createdAt": "2026-03-14T12:00:00.000Z", "updatedAt": "2026-03-14T12:00:00.000Z"}`
	sessionJSON = `{"id": "` + sessionID + `", "accountId": "` + walletID +
		`", "type": "PASSKEY", "credentialId": "-_8", "nickname": "Ana's phone", "encryptedSessionSigningKey": "sealed",
		"createdAt": "2026-03-14T12:00:00.000Z", "updatedAt": "2026-03-14T12:00:00.000Z", "expiresAt": "2026-03-14T12:15:00.000Z"}`
	requestJSON = `{"payloadToSign": "payload", "requestId": "` + requestID + `", "expiresAt": "2026-03-14T12:00:00.000Z", "type": "PASSKEY"}`
)

func TestWallets_SignedOperations(t *testing.T) {
	t.Parallel()
	// Each operation that has to be signed returns the text to sign to the first request, and its own response
	// to the second. Both reach the use case with the request as it was sent.
	c, fake := newWalletClient(t)
	for _, o := range []struct {
		method, path, body string
		status             int
		want               string
		arguments          []any
	}{
		{"POST", "/auth/credentials", `{"type": "EMAIL_OTP", "accountId": "` + walletID + `"}`, 201, credentialJSON,
			[]any{wallets.NewCredential{Account: fakeCredential.Account, Type: wallet.EmailOTP}}},
		{"POST", "/auth/credentials", `{"type": "OAUTH", "accountId": "` + walletID + `", "oidcToken": "a.b.c"}`, 201, credentialJSON,
			[]any{wallets.NewCredential{Account: fakeCredential.Account, Type: wallet.OAuth, Token: "a.b.c"}}},
		{"POST", "/auth/credentials", `{"type": "PASSKEY", "accountId": "` + walletID + `", "nickname": "Ana's phone", "challenge": "-_8",
			"attestation": {"credentialId": "aWQ", "clientDataJson": "e30", "attestationObject": "o2M", "transports": ["usb", "hybrid"]}}`,
			201, credentialJSON,
			[]any{wallets.NewCredential{Account: fakeCredential.Account, Type: wallet.Passkey, Nickname: "Ana's phone",
				Challenge: []byte{0xfb, 0xff},
				Attestation: wallet.Attestation{CredentialID: "aWQ", ClientDataJSON: "e30", AttestationObject: "o2M",
					Transports: []string{"usb", "hybrid"}}}}},
		{"DELETE", "/auth/credentials/" + credentialID, "", 204, "", []any{fakeCredential.ID}},
		{"DELETE", "/auth/sessions/" + sessionID, "", 204, "", []any{fakeSession.ID}},
		{"POST", "/auth/sessions/" + sessionID + "/refresh", `{"clientPublicKey": "` + clientKey + `"}`, 201, sessionJSON,
			[]any{fakeSession.ID, must(wallet.ParseClientKey(clientKey))}},
		{"POST", "/internal-accounts/" + walletID + "/export", `{"clientPublicKey": "` + clientKey + `"}`, 200,
			`{"id": "` + walletID + `", "encryptedWalletCredentials": "{\"version\":\"v1.0.0\"}"}`,
			[]any{fakeCredential.Account, must(wallet.ParseClientKey(clientKey))}},
		{"PATCH", "/internal-accounts/" + walletID, `{"privateEnabled": true}`, 200,
			`{"id": "` + walletID + `", "type": "EMBEDDED_WALLET", "status": "", "balance": "*", "totalBalance": "*", "fundingPaymentInstructions": [],
			"privateEnabled": true, "createdAt": "*", "updatedAt": "*"}`,
			[]any{fakeCredential.Account, account.InternalChange{PrivateEnabled: new(true)}}},
	} {
		c.must(202, o.method, o.path, o.body).assertBody(t, requestJSON)
		second := c.signed("signature", requestID).must(o.status, o.method, o.path, o.body)
		if o.want != "" {
			second.assertBody(t, o.want)
		}
		for _, arguments := range fake.calls[len(fake.calls)-2:] {
			if !reflect.DeepEqual(arguments, o.arguments) {
				t.Errorf("%s %s: called with %+v, want %+v", o.method, o.path, arguments, o.arguments)
			}
		}
		if want := (wallet.Call{Method: o.method, Path: httpapi.BasePath + o.path, BodyHash: sha256.Sum256([]byte(o.body)),
			Signature: "signature", RequestID: requestID}); fake.call != want {
			t.Errorf("%s %s: signed %+v", o.method, o.path, fake.call)
		}
	}
}

func TestWallets_ChallengeAndVerify(t *testing.T) {
	t.Parallel()
	// The body of a challenge is optional. Each type of proof reaches the use case as it was sent: the parts of
	// an assertion are not decoded.
	c, fake := newWalletClient(t)
	path := "/auth/credentials/" + credentialID
	key := must(wallet.ParseClientKey(clientKey))

	c.must(200, "POST", path+"/challenge", "").assertBody(t,
		`{"id": "*", "accountId": "*", "type": "EMAIL_OTP", "nickname": "*", "createdAt": "*", "updatedAt": "*", "otpEncryptionTargetBundle": "target"}`)
	c.must(200, "POST", path+"/challenge", "{}")
	c.must(200, "POST", path+"/challenge", `{"clientPublicKey": "`+clientKey+`"}`).assertBody(t,
		strings.TrimSuffix(credentialJSON, "}")+`, "challenge": "-_8", "requestId": "`+requestID+`", "expiresAt": "2026-03-14T12:00:00.000Z"}`)
	if last := fake.calls[2].([]any); *last[1].(*wallet.ClientKey) != key {
		t.Errorf("challenged with %+v", last)
	}

	// A code that the client has encrypted has two legs.
	bundle := `{"type": "SMS_OTP", "encryptedOtpBundle": "{\"encappedPublic\":\"` + clientKey + `\",\"ciphertext\":\"ab\"}"}`
	c.must(202, "POST", path+"/verify", bundle)
	c.signed("signature", requestID).must(200, "POST", path+"/verify", bundle)
	sealed := wallet.SealedOTP{Encapsulated: key.Bytes(), Ciphertext: []byte{0xab}}
	if got := fake.calls[len(fake.calls)-1].([]any)[1].(wallets.Verification); !reflect.DeepEqual(*got.SealedOTP, sealed) || got.Code != "" {
		t.Errorf("verified %+v", got)
	}

	for body, want := range map[string]wallets.Verification{
		`{"type": "EMAIL_OTP", "otp": "000000", "clientPublicKey": "` + clientKey + `"}`: {Type: wallet.EmailOTP, Code: "000000", ClientKey: key,
			RequestID: requestID},
		`{"type": "OAUTH", "oidcToken": "t", "clientPublicKey": "` + clientKey + `"}`: {Type: wallet.OAuth, Token: "t", ClientKey: key,
			RequestID: requestID},
		`{"type": "PASSKEY", "assertion": {"credentialId": "a", "clientDataJson": "b", "authenticatorData": "c", "signature": "not base64!", "userHandle": "d"}}`: {
			Type: wallet.Passkey, RequestID: requestID, Assertion: wallet.Assertion{CredentialID: "a", ClientDataJSON: "b", AuthenticatorData: "c",
				Signature: "not base64!", UserHandle: "d"}},
	} {
		c.signed("signature", requestID).must(200, "POST", path+"/verify", body).assertBody(t, sessionJSON)
		if got := fake.calls[len(fake.calls)-1]; !reflect.DeepEqual(got, []any{fakeCredential.ID, want}) {
			t.Errorf("%s: verified %+v", body, got)
		}
	}
}

func TestWallets_VerifyKeepsRequestsWithOneKeyApart(t *testing.T) {
	t.Parallel()
	// The response to an assertion is repeated for the same Request-Id only: the key of a session for another
	// challenge is sealed to another key of the client.
	c, fake := newWalletClient(t)
	body := `{"type": "PASSKEY", "assertion": {"credentialId": "a", "clientDataJson": "b", "authenticatorData": "c", "signature": "sandbox-valid-passkey-signature"}}`
	path := "/auth/credentials/" + credentialID + "/verify"
	c = c.withKey("one")
	c.signed("", requestID).must(200, "POST", path, body)

	again := c.signed("", requestID).must(200, "POST", path, body)
	c.signed("", "Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5aff").must(422, "POST", path, body)

	if len(fake.calls) != 1 {
		t.Errorf("%d calls, then %s", len(fake.calls), again.rawBody)
	}
}

func TestWallets_Lists(t *testing.T) {
	t.Parallel()
	// Lists need a valid account id. Without items they are empty, not null.
	c, fake := newWalletClient(t)

	c.must(200, "GET", "/auth/credentials?accountId="+walletID, "").assertBody(t, `{"data": [`+credentialJSON+`]}`)
	c.must(200, "GET", "/auth/sessions?accountId="+walletID, "").assertBody(t, `{"data": []}`)

	for _, path := range []string{"/auth/credentials", "/auth/sessions"} {
		for _, query := range []string{"", "?accountId=", "?accountId=1", "?accountId=Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"} {
			if got := c.must(400, "GET", path+query, ""); !slices.Equal(got.invalidFields(), []string{"accountId"}) {
				t.Errorf("%s%s: %s", path, query, got.rawBody)
			}
		}
	}
	if len(fake.calls) != 2 {
		t.Errorf("%d calls, want 2", len(fake.calls))
	}
}

func TestWallets_ListAllInvalidFields(t *testing.T) {
	t.Parallel()
	// All invalid fields of a request are listed at once, and the use case is not called.
	c, fake := newWalletClient(t)
	offCurve := "04" + strings.Repeat("11", 64)
	path := "/auth/credentials/" + credentialID
	for _, r := range []struct {
		method, path, body string
		want               []string
	}{
		{"POST", "/auth/credentials", `{}`, []string{"type"}},
		{"POST", "/auth/credentials", `[]`, nil},
		{"POST", "/auth/credentials", `{"type": "TOTP"}`, []string{"type"}},
		{"POST", "/auth/credentials", `{"type": "SMS_OTP"}`, []string{"accountId"}},
		{"POST", "/auth/credentials", `{"type": "EMAIL_OTP", "accountId": "Customer:1"}`, []string{"accountId"}},
		{"POST", "/auth/credentials", `{"type": "OAUTH"}`, []string{"accountId", "oidcToken"}},
		{
			"POST", "/auth/credentials", `{"type": "PASSKEY", "accountId": 1, "nickname": "", "challenge": "a+b", "attestation": {"credentialId": "=", "clientDataJson": "a b", "attestationObject": 7, "transports": ["wifi"]}}`,
			[]string{"accountId", "attestation.attestationObject", "attestation.clientDataJson", "attestation.credentialId",
				"attestation.transports[0]", "challenge", "nickname"}},
		{"POST", "/auth/credentials", `{"type": "PASSKEY", "accountId": "` + walletID +
			`", "nickname": "x", "challenge": "YQ", "attestation": {}}`,
			[]string{"attestation.attestationObject", "attestation.clientDataJson", "attestation.credentialId"}},
		{
			"POST", "/auth/credentials", `{"type": "PASSKEY", "accountId": "1", "nickname": "<Ana>", "challenge": "YQ", "attestation": {"credentialId": "YQ", "clientDataJson": "YQ", "attestationObject": "YQ", "transports": ["usb", "usb", "usb", "usb", "usb", "usb"]}}`,
			[]string{"accountId", "attestation.transports", "nickname"}},
		{"POST", path + "/challenge", `{"clientPublicKey": "02"}`, []string{"clientPublicKey"}},
		{"POST", path + "/challenge", `{"clientPublicKey": "` + offCurve + `"}`, []string{"clientPublicKey"}},
		{"POST", path + "/verify", `{"type": "EMAIL_OTP", "otp": 0, "clientPublicKey": "04"}`, []string{"clientPublicKey", "otp"}},
		{"POST", path + "/verify", `{"type": "EMAIL_OTP", "otp": "000000", "clientPublicKey": "` + offCurve + `"}`, []string{"clientPublicKey"}},
		{"POST", path + "/verify", `{"type": "EMAIL_OTP", "clientPublicKey": "` + offCurve + `"}`, []string{"clientPublicKey", "otp"}},
		{"POST", path + "/verify", `{"type": "SMS_OTP"}`, []string{"clientPublicKey", "otp"}},
		{"POST", path + "/verify", `{"type": "SMS_OTP", "encryptedOtpBundle": "{}"}`, []string{"encryptedOtpBundle"}},
		{"POST", path + "/verify", `{"type": "EMAIL_OTP", "otp": "1", "clientPublicKey": "` + clientKey + `", "encryptedOtpBundle": "x"}`,
			[]string{"clientPublicKey", "encryptedOtpBundle", "otp"}},
		{"POST", path + "/verify", `{"type": "OAUTH"}`, []string{"clientPublicKey", "oidcToken"}},
		{"POST", path + "/verify", `{"type": "PASSKEY", "assertion": {"signature": 1}}`,
			[]string{"assertion.authenticatorData", "assertion.clientDataJson", "assertion.credentialId", "assertion.signature"}},
		{"POST", "/auth/sessions/" + sessionID + "/refresh", `{}`, []string{"clientPublicKey"}},
		{"POST", "/auth/sessions/" + sessionID + "/refresh", `{"clientPublicKey": "` + offCurve + `"}`, []string{"clientPublicKey"}},
		{"POST", "/internal-accounts/" + walletID + "/export", `{"clientPublicKey": null}`, []string{"clientPublicKey"}},
		{"PATCH", "/internal-accounts/" + walletID, `{"privateEnabled": "yes"}`, []string{"privateEnabled"}},
		{"DELETE", "/auth/sessions/" + credentialID, "", []string{"id"}},
		{"DELETE", "/auth/credentials/1", "", []string{"id"}},
	} {
		got := c.signed("signature", requestID).send(r.method, r.path, r.body)
		found := got.invalidFields()
		slices.Sort(found)
		if got.status != 400 || got.stringAt("code") != "INVALID_INPUT" || !slices.Equal(found, r.want) {
			t.Errorf("%s %s %s: %d %q, want %q: %s", r.method, r.path, r.body, got.status, found, r.want, got.rawBody)
		}
	}
	if len(fake.calls) > 0 {
		t.Errorf("called with %+v", fake.calls)
	}
}
