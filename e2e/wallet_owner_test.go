package e2e

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"causeway/core/sandbox"
	"causeway/ports/portstest"
)

// walletOwner is the client of a customer of a sandbox platform with an embedded wallet.
type walletOwner struct {
	*tenant
	customer, wallet string
	// credential is the default one, for codes.
	credential string
}

func (p *tenant) newWalletOwner(change ...object) *walletOwner {
	p.t.Helper()
	o := &walletOwner{tenant: p}
	o.customer = p.createCustomer(append([]object{{"email": "ana@example.com"}}, change...)...)
	o.wallet = p.get("/customers/internal-accounts?type=EMBEDDED_WALLET&customerId=" + o.customer).wantStatus(200).text("data.0.id")
	o.credential = p.get("/auth/credentials?accountId=" + o.wallet).wantStatus(200).wantValues(map[string]any{
		"data.0.type": "EMAIL_OTP", "data.0.accountId": o.wallet, "data.0.nickname": p.get("/customers/" + o.customer).text("email"),
		"data.1": ""}).text("data.0.id")
	return o
}

// newClient returns a key pair that the client makes for one secret, and clientPublicKey.
func (o *walletOwner) newClient() (portstest.WalletClient, string) {
	o.t.Helper()
	client := portstest.NewWalletClient(o.t)
	return client, hex.EncodeToString(client.Public.Bytes())
}

// verify sends a proof and returns the session.
func (o *walletOwner) verify(credential string, proof object) apiResponse {
	o.t.Helper()
	return o.post("/auth/credentials/"+credential+"/verify", proof)
}

// codeProof is a proof by a code.
func (o *walletOwner) codeProof(code string) object {
	o.t.Helper()
	_, public := o.newClient()
	return object{"type": "EMAIL_OTP", "otp": code, "clientPublicKey": public}
}

// openSession verifies the default credential with the test value.
func (o *walletOwner) openSession() (id string) {
	o.t.Helper()
	return o.verify(o.credential, o.codeProof(sandbox.WalletCode)).wantStatus(200).text("id")
}

// with returns the owner's client, which sends the headers of the second leg.
func (o *walletOwner) with(requestID, signature string) *client {
	return o.withHeader("Request-Id", requestID).withHeader("Service-Wallet-Signature", signature)
}

// signed sends both legs of a request.
func (o *walletOwner) signed(method, path string, body any) apiResponse {
	o.t.Helper()
	first := o.call(method, path, body).wantStatus(http.StatusAccepted)
	return o.with(first.text("requestId"), sandbox.WalletSignature).call(method, path, body)
}

// addPasskey adds a passkey by a signed request, and returns its id.
func (o *walletOwner) addPasskey(nickname string) string {
	o.t.Helper()
	return o.signed("POST", "/auth/credentials", passkeyBody(o.wallet, nickname, "challenge of "+nickname+" "+o.wallet)).wantStatus(
		201).text("id")
}

// wantReason checks a refusal.
func (a apiResponse) wantReason(reason string) {
	a.t.Helper()
	a.wantError(401, "UNAUTHORIZED").wantValues(map[string]any{"reason": reason, "details.reason": reason})
}

// credentialTypes returns the types of the active credentials.
func (o *walletOwner) credentialTypes() string {
	o.t.Helper()
	return o.listed("/auth/credentials", "type")
}

// listed returns a field of the items of a list of the wallet.
func (o *walletOwner) listed(path, field string) string {
	o.t.Helper()
	page := o.get(path + "?accountId=" + o.wallet).wantStatus(200)
	var values []string
	for i := range page.list("data") {
		values = append(values, page.text(fmt.Sprintf("data.%d.%s", i, field)))
	}
	return strings.Join(values, " ")
}
