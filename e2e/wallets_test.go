package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/core/sandbox"
)

func TestWallets_LifeInSandbox(t *testing.T) {
	t.Parallel()
	// A wallet begins with a credential for codes. Its owner opens a session, adds a passkey and an account at
	// Google, opens sessions with them, and revokes what is not needed any more.
	h := newSharedEnv(t)
	o := h.newWalletOwner()

	o.post("/auth/credentials/"+o.credential+"/challenge", nil).wantStatus(200).wantValues(map[string]any{"id": o.credential,
		"type": "EMAIL_OTP", "challenge": "", "requestId": ""})
	byCode := o.verify(o.credential, o.codeProof(sandbox.WalletCode)).wantStatus(200).wantValues(map[string]any{
		"accountId": o.wallet, "type": "EMAIL_OTP", "nickname": "ana@example.com"})
	if life := byCode.time("expiresAt").Sub(byCode.time("createdAt")); life.Minutes() != 15 {
		t.Errorf("a session lasts %s", life)
	}

	passkey := o.addPasskey("Ana's phone")
	client, public := o.newClient()
	challenge := o.post("/auth/credentials/"+passkey+"/challenge", object{"clientPublicKey": public}).wantStatus(200)
	opened := o.withHeader("Request-Id", challenge.text("requestId")).post("/auth/credentials/"+passkey+"/verify",
		passkeyProof(sandbox.WalletPasskeySignature)).wantStatus(200).
		wantValues(map[string]any{"type": "PASSKEY", "nickname": "Ana's phone", "credentialId": base64URL("passkey of Ana's phone")})
	if _, err := client.OpenSessionKey(opened.text("encryptedSessionSigningKey")); err != nil {
		t.Errorf("the key is not sealed to the key of the challenge: %v", err)
	}
	google := o.signed("POST", "/auth/credentials", object{"type": "OAUTH", "accountId": o.wallet, "oidcToken": googleToken("1")}).wantStatus(
		201).
		wantValues(map[string]any{"type": "OAUTH", "nickname": "mia@example.com"}).text("id")
	client, public = o.newClient()
	opened = o.verify(google, object{"type": "OAUTH", "oidcToken": sandbox.WalletIDToken, "clientPublicKey": public}).wantStatus(200)
	if _, err := client.OpenSessionKey(opened.text("encryptedSessionSigningKey")); err != nil {
		t.Error(err)
	}
	if types := o.credentialTypes(); types != "EMAIL_OTP PASSKEY OAUTH" {
		t.Errorf("credentials %s", types)
	}

	// The lists show no keys. A refreshed session is another one; a revoked one is gone.
	if sessions := o.listed("/auth/sessions", "type"); sessions != "EMAIL_OTP PASSKEY OAUTH" ||
		strings.TrimSpace(o.listed("/auth/sessions", "encryptedSessionSigningKey")) != "" {
		t.Errorf("sessions %s", sessions)
	}
	client, public = o.newClient()
	refreshed := o.signed("POST", "/auth/sessions/"+byCode.text("id")+"/refresh", object{"clientPublicKey": public}).wantStatus(201)
	if _, err := client.OpenSessionKey(refreshed.text("encryptedSessionSigningKey")); err != nil || refreshed.text("id") == byCode.text("id") {
		t.Errorf("refreshed %s: %v", refreshed.body, err)
	}
	o.signed("DELETE", "/auth/sessions/"+byCode.text("id"), nil).wantStatus(204)
	o.delete("/auth/sessions/"+byCode.text("id")).wantError(404, "SESSION_NOT_FOUND")
	h.exec("UPDATE wallet_sessions SET expires_at = now() - interval '1 second' WHERE id = $1", uuidOf(refreshed.text("id")))
	for _, ended := range []string{byCode.text("id"), refreshed.text("id")} {
		o.post("/auth/sessions/"+ended+"/refresh", object{"clientPublicKey": public}).wantError(404, "SESSION_NOT_FOUND")
	}
	o.signed("DELETE", "/auth/credentials/"+google, nil).wantStatus(204)
	if sessions := o.listed("/auth/sessions", "type"); sessions != "PASSKEY" {
		t.Errorf("sessions after the revocations: %s", sessions)
	}
	o.verify(google, object{"type": "OAUTH", "oidcToken": sandbox.WalletIDToken, "clientPublicKey": public}).wantError(404,
		"CREDENTIAL_NOT_FOUND")

	// One credential of a kind, and one at least.
	o.post("/auth/credentials", object{"type": "EMAIL_OTP", "accountId": o.wallet}).wantError(400, "EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS")
	o.post("/auth/credentials", passkeyBody(o.wallet, "Another", "another challenge")).wantError(400, "PASSKEY_CREDENTIAL_ALREADY_EXISTS")
	o.signed("DELETE", "/auth/credentials/"+o.credential, nil).wantStatus(204)
	o.delete("/auth/credentials/"+passkey).wantError(400, "INVALID_INPUT")
	if types := o.credentialTypes(); types != "PASSKEY" {
		t.Errorf("credentials at the end: %s", types)
	}
}

// passkeyProof is an assertion with a signature.
func passkeyProof(signature string) object {
	return object{"type": "PASSKEY", "assertion": object{"credentialId": "aWQ", "clientDataJson": "e30", "authenticatorData": "ZGF0YQ",
		"signature": signature}}
}

func TestWallets_WrongProofsAreRefusedWithTheirReasons(t *testing.T) {
	t.Parallel()
	// Any value but the test value is 401 with the reason of the table, and a challenge of a passkey is
	// accepted once, for its credential and until it expires.
	h := newSharedEnv(t)
	o := h.newWalletOwner()
	_, public := o.newClient()
	passkey := o.addPasskey("phone")
	google := o.signed("POST", "/auth/credentials", object{"type": "OAUTH", "accountId": o.wallet, "oidcToken": googleToken("1")}).wantStatus(
		201).text("id")
	answer := func(requestID, signature string) apiResponse {
		t.Helper()
		return o.withHeader("Request-Id", requestID).post("/auth/credentials/"+passkey+"/verify", passkeyProof(signature))
	}
	challenge := func() string {
		t.Helper()
		return o.post("/auth/credentials/"+passkey+"/challenge", object{"clientPublicKey": public}).wantStatus(200).text("requestId")
	}

	for _, code := range []string{"000001", "", "00000", "0000000", sandbox.WalletSignature} {
		o.verify(o.credential, o.codeProof(code)).wantReason("Invalid OTP code")
	}
	for _, token := range []string{"", googleToken("1"), sandbox.WalletCode} {
		o.verify(google, object{"type": "OAUTH", "oidcToken": token, "clientPublicKey": public}).wantReason("Invalid OIDC token")
	}
	open := challenge()
	answer(open, "wrong").wantReason("Invalid passkey signature")
	answer(strings.TrimPrefix(open, "Request:"), sandbox.WalletPasskeySignature).wantStatus(200)
	answer(open, sandbox.WalletPasskeySignature).wantReason("Request-Id already used")
	o.verify(passkey, passkeyProof(sandbox.WalletPasskeySignature)).wantReason("Missing Request-Id")
	for _, id := range []string{"Request:" + uuid.NewString(), uuid.NewString(), "Request:1", "Quote:" + uuid.NewString()} {
		answer(id, sandbox.WalletPasskeySignature).wantReason("Invalid Request-Id")
	}
	expired := challenge()
	h.exec("UPDATE wallet_passkey_challenges SET expires_at = now() - interval '1 second' WHERE id = $1", uuidOf(expired))
	answer(expired, sandbox.WalletPasskeySignature).wantReason("Request-Id expired")

	// What is no proof of the credential's type is invalid, and nothing else than a JWT of a known provider
	// adds an account.
	o.verify(google, o.codeProof(sandbox.WalletCode)).wantError(400, "INVALID_INPUT")
	o.post("/auth/credentials/"+google+"/challenge", nil).wantError(400, "INVALID_INPUT")
	o.post("/auth/credentials/"+passkey+"/challenge", nil).wantError(400, "INVALID_INPUT")
	for _, token := range []string{sandbox.WalletIDToken, "a.b.c", base64URL("{}") + "." + base64URL(`{"iss":"https://example.com"}`) +
		".c2ln"} {
		o.post("/auth/credentials", object{"type": "OAUTH", "accountId": o.wallet, "oidcToken": token}).wantError(400, "INVALID_INPUT")
	}
	other := h.newWalletOwner()
	o.post("/auth/credentials", strings.Replace(passkeyBody(other.wallet, "phone", "first"), base64URL("first"), base64URL("second"),
		1)).wantError(400, "INVALID_INPUT")
	if sessions := o.listed("/auth/sessions", "type"); sessions != "PASSKEY" {
		t.Errorf("sessions %s", sessions)
	}
}

func TestWallets_SignedRequestsAreRefusedWithTheirReasons(t *testing.T) {
	t.Parallel()
	// A second request changes nothing unless it is the first one, with its id and the signature, once and in
	// time. Each refusal has its reason.
	h := newSharedEnv(t)
	o := h.newWalletOwner()
	path := "/internal-accounts/" + o.wallet
	private := object{"privateEnabled": true}
	id := o.patch(path, private).wantStatus(202).text("requestId")

	o.withHeader("Request-Id", id).patch(path, private).wantReason("Missing Service-Wallet-Signature")
	o.withHeader("Service-Wallet-Signature", sandbox.WalletSignature).patch(path, private).wantReason("Missing Request-Id")
	for _, unknown := range []string{uuid.NewString(), "Request:" + uuid.NewString(), "Request:", "Session:" + uuid.NewString(),
		strings.Repeat("x", 500)} {
		o.with(unknown, sandbox.WalletSignature).patch(path, private).wantReason("Invalid Request-Id")
	}
	for _, signature := range []string{"x", strings.ToUpper(sandbox.WalletSignature), strings.Repeat("A", 5000)} {
		o.with(id, signature).patch(path, private).wantReason("Invalid Service-Wallet-Signature")
	}
	second := o.with(id, sandbox.WalletSignature)
	second.patch(path, object{"privateEnabled": false}).wantReason("Request does not match Request-Id")
	second.patch(path, `{"privateEnabled":  true}`).wantReason("Request does not match Request-Id")
	second.patch(path+"?x=1", private).wantError(400, "INVALID_INPUT")
	second.post(path+"/export", object{"clientPublicKey": exampleClientKey}).wantReason("Request does not match Request-Id")
	other := h.newWalletOwner()
	second.patch("/internal-accounts/"+other.wallet, private).wantReason("Request does not match Request-Id")
	h.createPlatform("Other", "SANDBOX").newWalletOwner().with(id, sandbox.WalletSignature).patch(path, private).wantError(404,
		"INTERNAL_ACCOUNT_NOT_FOUND")
	if text := o.patch(path, object{}).wantStatus(200).text("privateEnabled"); text != "false" {
		t.Errorf("privateEnabled is %s after refused requests", text)
	}

	second.patch(path, private).wantStatus(200).wantValues(map[string]any{"privateEnabled": true})
	second.patch(path, private).wantReason("Request-Id already used")
	expired := o.patch(path, private).wantStatus(202).text("requestId")
	h.exec("UPDATE wallet_signed_requests SET expires_at = now() - interval '1 second' WHERE id = $1", uuidOf(expired))
	o.with(expired, sandbox.WalletSignature).patch(path, private).wantReason("Request-Id expired")

	// The second request needs an idempotency key of its own.
	body := object{"clientPublicKey": exampleClientKey}
	keyed := func(c *client, key string) apiResponse {
		return c.withHeader("Idempotency-Key", key).post(path+"/export", body)
	}
	first := keyed(o.client, "first").wantStatus(202)
	if again := keyed(o.client, "first").wantStatus(202); string(again.body) != string(first.body) {
		t.Errorf("the repeated first request returned %s, and the first %s", again.body, first.body)
	}
	second = o.with(first.text("requestId"), sandbox.WalletSignature)
	keyed(second, "first").wantError(422, "IDEMPOTENCY_KEY_REUSED")
	exported := keyed(second, "second").wantStatus(200)
	if again := keyed(second, "second").wantStatus(200); string(again.body) != string(exported.body) {
		t.Error("the repeated export differs")
	}
	if n := h.queryInt("SELECT count(*) FROM wallet_exports WHERE platform_id = $1", uuidOf(h.platformID)); n != 1 {
		t.Errorf("%d exports are recorded", n)
	}
}

func TestWallets_ExportIsTheSameWalletEachTime(t *testing.T) {
	t.Parallel()
	// Each export is sealed to another key and has the same 24 words; another wallet has others.
	h := newSharedEnv(t)
	export := func(o *walletOwner) string {
		t.Helper()
		client, public := o.newClient()
		words, err := client.OpenExport(o.signed("POST", "/internal-accounts/"+o.wallet+"/export", object{"clientPublicKey": public}).wantStatus(
			200).text("encryptedWalletCredentials"))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(words)); n != 24 {
			t.Errorf("%d words", n)
		}
		return words
	}

	o := h.newWalletOwner()
	if first, second, other := export(o), export(o), export(h.newWalletOwner()); first != second || first == other {
		t.Error("the words are not those of the wallet")
	}
	dollars := h.get("/customers/internal-accounts?currency=USD&customerId=" + o.customer).text("data.0.id")
	h.post("/internal-accounts/"+dollars+"/export", object{"clientPublicKey": exampleClientKey}).wantError(400, "INVALID_INPUT")
	h.post("/auth/credentials", object{"type": "EMAIL_OTP", "accountId": dollars}).wantError(400, "INVALID_INPUT")
}

func TestWallets_SecondServerCarriesOutRequestOfKilledOne(t *testing.T) {
	t.Parallel()
	// The server that answered the first requests is killed. Another one carries out the signed requests,
	// each once, however often they are sent at the same time.
	h := newTestEnv(t)
	o := h.newWalletOwner()
	session := o.openSession()
	_, public := o.newClient()
	body := object{"clientPublicKey": public}
	path := "/auth/sessions/" + session + "/refresh"
	first := o.post(path, body).wantStatus(202)
	add := passkeyBody(o.wallet, "phone", "challenge")
	passkey := o.post("/auth/credentials", add).wantStatus(202)

	h.server.kill()
	servers := []*process{startServer(t, h.databaseURL), startServer(t, h.databaseURL)}
	signed := *o.tenant
	signed.client = o.with(first.text("requestId"), sandbox.WalletSignature)
	responses := signed.postConcurrently(20, servers, func(int) string { return path }, func(int) any { return body },
		func(i int) string { return fmt.Sprint("refresh ", i) })
	if n := countByStatus(responses); n["Created "] != 1 || n["Unauthorized UNAUTHORIZED"] != 19 {
		t.Errorf("refreshed: %v", n)
	}
	signed.client = o.with(passkey.text("requestId"), sandbox.WalletSignature)
	responses = signed.postConcurrently(20, servers, func(int) string { return "/auth/credentials" }, func(int) any { return add },
		func(int) string { return "once" })
	if n := countByStatus(responses); n["Created "] == 0 || n["Created "]+n["Conflict IDEMPOTENCY_KEY_IN_USE"] != 20 {
		t.Errorf("added: %v", n)
	}

	o.client = o.withServer(servers[0])
	if credentials, sessions := o.credentialTypes(), o.listed("/auth/sessions", "type"); credentials != "EMAIL_OTP PASSKEY" ||
		sessions != "EMAIL_OTP EMAIL_OTP" {
		t.Errorf("credentials %s, sessions %s", credentials, sessions)
	}
}

func TestWallets_OtherPlatformSeesNothing(t *testing.T) {
	t.Parallel()
	// To another platform the credentials, sessions, requests and wallet of a customer do not exist.
	h := newSharedEnv(t)
	o := h.newWalletOwner()
	session := o.openSession()
	passkey := o.addPasskey("phone")
	other := h.createPlatform("Other", "SANDBOX", "--regulated").newWalletOwner()
	key := object{"clientPublicKey": exampleClientKey}

	for _, path := range []string{"/auth/credentials", "/auth/sessions"} {
		if n := len(other.get(path + "?accountId=" + o.wallet).wantStatus(200).list("data")); n != 0 {
			t.Errorf("%s lists %d", path, n)
		}
	}
	for _, credential := range []string{o.credential, passkey} {
		other.post("/auth/credentials/"+credential+"/challenge", key).wantError(404, "CREDENTIAL_NOT_FOUND")
		other.verify(credential, other.codeProof(sandbox.WalletCode)).wantError(404, "CREDENTIAL_NOT_FOUND")
		other.delete("/auth/credentials/"+credential).wantError(404, "CREDENTIAL_NOT_FOUND")
	}
	other.post("/auth/credentials", object{"type": "EMAIL_OTP", "accountId": o.wallet}).wantError(404, "INTERNAL_ACCOUNT_NOT_FOUND")
	other.delete("/auth/sessions/"+session).wantError(404, "SESSION_NOT_FOUND")
	other.post("/auth/sessions/"+session+"/refresh", key).wantError(404, "SESSION_NOT_FOUND")
	other.post("/internal-accounts/"+o.wallet+"/export", key).wantError(404, "INTERNAL_ACCOUNT_NOT_FOUND")
	request := o.patch("/internal-accounts/"+o.wallet, object{"privateEnabled": true}).wantStatus(202).text("requestId")
	other.with(request, sandbox.WalletSignature).patch("/internal-accounts/"+other.wallet, object{"privateEnabled": true}).wantReason(
		"Invalid Request-Id")
	challenge := o.post("/auth/credentials/"+passkey+"/challenge", key).wantStatus(200).text("requestId")
	others := other.addPasskey("phone")
	other.withHeader("Request-Id", challenge).post("/auth/credentials/"+others+"/verify",
		passkeyProof(sandbox.WalletPasskeySignature)).wantReason("Invalid Request-Id")
}

func TestWallets_EmailChangeIsSigned(t *testing.T) {
	t.Parallel()
	// Once a wallet was verified, its owner signs another e-mail address of the customer. Before, and for a
	// change of anything else, nobody signs.
	h := newSharedEnv(t)
	o := h.newWalletOwner()
	path := "/customers/" + o.customer
	email := func(address string) object { return object{"customerType": "INDIVIDUAL", "email": address} }
	o.patch(path, email("ana.silva@example.com")).wantStatus(200)
	if nickname := o.listed("/auth/credentials", "nickname"); nickname != "ana.silva@example.com" {
		t.Errorf("codes are sent to %s", nickname)
	}
	o.openSession()

	o.withHeader("Request-Id", uuid.NewString()).patch(path, object{"customerType": "INDIVIDUAL", "fullName": "Ana Souza"}).wantStatus(200)
	o.patch(path, email("ana@example.org")).wantStatus(202).wantValues(map[string]any{"type": "EMAIL_OTP"})
	o.get(path).wantValues(map[string]any{"email": "ana.silva@example.com"})
	o.signed(http.MethodPatch, path, email("ana@example.org")).wantStatus(200).wantValues(map[string]any{"email": "ana@example.org",
		"fullName": "Ana Souza"})
	if nickname := o.listed("/auth/credentials", "nickname"); nickname != "ana@example.org" {
		t.Errorf("codes are sent to %s", nickname)
	}
	o.patch(path, object{"customerType": "INDIVIDUAL", "email": nil}).wantError(400, "INVALID_INPUT")

	// The address of another wallet, and credentials that changed between the requests.
	other := h.newWalletOwner(object{"email": "bo@example.com"})
	other.openSession()
	o.patch(path, email("Bo@example.com")).wantError(409, "EMAIL_OTP_EMAIL_ALREADY_EXISTS")
	first := o.patch(path, email("ana@example.net")).wantStatus(202)
	o.addPasskey("phone")
	second := o.with(first.text("requestId"), sandbox.WalletSignature)
	second.patch(path, email("ana@example.net")).wantError(409, "EMAIL_OTP_CREDENTIAL_SET_CHANGED")
	o.get(path).wantValues(map[string]any{"email": "ana@example.org"})
	o.signed(http.MethodPatch, path, email("ana@example.net")).wantStatus(200)
}
