package e2e

import (
	"encoding/hex"
	"net/http"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/sandbox"
	"causeway/ports/portstest"
)

func TestWallets_NeitherLogNorDatabaseShowsKeys(t *testing.T) {
	t.Parallel()
	// A customer opens sessions and exports a wallet while the service logs all it can, and the service
	// fails with a wallet whose row was damaged. Neither its log nor a copy of its database contains the
	// words, entropy, seed or keys of the wallet, or the key of a session, in any encoding.
	h := newTestEnv(t, "--log-level", "debug")
	client := portstest.NewWalletClient(t)
	clientKey := object{"clientPublicKey": hex.EncodeToString(client.Public.Bytes())}
	private := map[string][]byte{}
	newWallet := func() (wallet, credential string) {
		t.Helper()
		customer := h.post("/customers", customerBody(object{"email": "ana@example.com"})).wantStatus(201).text("id")
		wallet = h.get("/customers/internal-accounts?currency=USDB&customerId=" + customer).wantStatus(200).text("data.0.id")
		return wallet, h.get("/auth/credentials?accountId=" + wallet).wantStatus(200).text("data.0.id")
	}
	verify := func(credential string) apiResponse {
		t.Helper()
		return h.post("/auth/credentials/"+credential+"/verify", object{"type": "EMAIL_OTP", "otp": sandbox.WalletCode,
			"clientPublicKey": clientKey["clientPublicKey"]})
	}
	sessionKey := func(name string, response apiResponse) {
		t.Helper()
		key, err := client.OpenSessionKey(response.text("encryptedSessionSigningKey"))
		if err != nil {
			t.Fatal(err)
		}
		private[name] = key
	}
	sign := func(path string) apiResponse {
		t.Helper()
		request := h.post(path, clientKey).wantStatus(http.StatusAccepted)
		return h.withHeader("Service-Wallet-Signature", sandbox.WalletSignature).withHeader("Request-Id", request.text("requestId")).post(path,
			clientKey)
	}

	wallet, credential := newWallet()
	session := verify(credential).wantStatus(200)
	sessionKey("key of the first session", session)
	sessionKey("key of the refreshed session", sign("/auth/sessions/"+session.text("id")+"/refresh").wantStatus(201))
	words, err := client.OpenExport(sign("/internal-accounts/" + wallet + "/export").wantStatus(200).text("encryptedWalletCredentials"))
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := portstest.WalletSecrets(words)
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range secrets {
		private[name] = secret
	}
	damaged, credentialOfDamaged := newWallet()
	verify(credentialOfDamaged).wantStatus(200)
	accountID := damaged[len("InternalAccount:"):]
	pgtest.ExecAsSuperuser(t, h.databaseURL, `UPDATE wallet_keys SET entropy = (SELECT entropy FROM wallet_keys WHERE id <> '`+accountID+
		`') WHERE id = '`+accountID+`'`)
	verify(credentialOfDamaged).wantStatus(500)
	h.server.awaitLine(accountID)

	stored := pgtest.Dump(t, h.databaseURL)
	h.server.terminate()
	logged := []byte(h.server.Output())

	for name, secret := range private {
		if portstest.ShowsSecret(stored, secret) {
			t.Errorf("the database shows the %s", name)
		}
		if portstest.ShowsSecret(logged, secret) {
			t.Errorf("the log shows the %s", name)
		}
	}
	if len(private) != 15 {
		t.Errorf("%d private values were looked for", len(private))
	}
}
