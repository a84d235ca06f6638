package e2e

import (
	"encoding/base64"
	"strings"

	"causeway/core/sandbox"
)

// exampleClientKey is a public key of a client: the base point of P-256.
const exampleClientKey = "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"

// base64URL returns a text in base64url.
func base64URL(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// passkeyBody returns a request to add a passkey, as a page would send it. Each needs a challenge of its own.
func passkeyBody(wallet, nickname, challenge string) string {
	challenge = base64URL(challenge)
	return `{"type": "PASSKEY", "accountId": "` + wallet + `", "nickname": "` + nickname + `", "challenge": "` + challenge +
		`", "attestation": {
		"credentialId": "` + base64URL("passkey of "+nickname) + `",
		"clientDataJson": "` + base64URL(`{"type":"webauthn.create","challenge":"`+challenge+`","origin":"https://app.example.com"}`) + `",
		"attestationObject": "o2NmbXRkbm9uZQ", "transports": ["internal", "hybrid"]}}`
}

// googleToken returns a JWT in the form of an ID token of Google.
func googleToken(subject string) string {
	return base64URL(`{"alg":"RS256"}`) + "." +
		base64URL(`{"iss":"https://accounts.google.com","aud":"example.apps.googleusercontent.com","sub":"`+subject+
			`","email":"mia@example.com"}`) + "." + base64URL("signature")
}

// recordWallets uses the embedded wallet of a new customer.
func (s *exampleRecorder) recordWallets(string, externalAccounts) {
	used := s.get("/config").wantStatus(200).list("supportedCurrencies")
	usdb := object{"currencyCode": "USDB", "minAmount": 1, "maxAmount": 10000000000000, "requiredCounterpartyFields": []any{},
		"enabledTransactionTypes": []any{"OUTGOING"}}
	s.callUnrecorded("PATCH", "/config", object{"supportedCurrencies": append(used, usdb)}).wantStatus(200)
	mia := s.callUnrecorded("POST", "/customers",
		`{"customerType": "INDIVIDUAL", "fullName": "Mia Lind", "email": "mia@example.com", "umaAddress": "$mia@uma.example.com"}`).wantStatus(
		201).text("id")
	wallet := s.internalAccountID(mia, "USDB")

	// A session by a code.
	email := s.record("listAuthCredentials", "", "/auth/credentials?accountId="+wallet, "").wantStatus(200).text("data.0.id")
	const path = "/auth/credentials/"
	s.record("challengeAuthCredential", "A code", path+email+"/challenge", "").wantStatus(200)
	code := func(otp string) string {
		return `{"type": "EMAIL_OTP", "otp": "` + otp + `", "clientPublicKey": "` + exampleClientKey + `"}`
	}
	session := s.record("verifyAuthCredential", "A code", path+email+"/verify", code(sandbox.WalletCode)).wantStatus(200).text("id")
	s.record("verifyAuthCredential", "A wrong code", path+email+"/verify", code("123456")).wantStatus(401)

	// Further credentials, which the session signs.
	add := func(title, body string) string {
		first := s.record("createAuthCredential", title+": the request to sign", path[:len(path)-1], body)
		return s.recordSigned(first, "createAuthCredential", title+", signed", path[:len(path)-1], body).wantStatus(201).text("id")
	}
	passkey := add("A passkey", passkeyBody(wallet, "Mia's phone", "a challenge of the platform"))
	google := add("An account at Google", `{"type": "OAUTH", "accountId": "`+wallet+`", "oidcToken": "`+googleToken("110169484474386276334")+
		`"}`)
	s.record("createAuthCredential", "A second passkey", path[:len(path)-1], passkeyBody(wallet, "Mia's laptop", "another challenge of the "+
		"platform")).wantStatus(400)

	challenge := s.record("challengeAuthCredential", "A passkey", path+passkey+"/challenge", `{"clientPublicKey": "`+exampleClientKey+
		`"}`).wantStatus(200)
	shown := s.mask.replacements[challenge.text("challenge")] // the sandbox does not look at client data
	s.recordWith("", map[string]string{"Request-Id": challenge.text("requestId")}, "verifyAuthCredential", "A passkey", path+passkey+"/verify",
		`{"type": "PASSKEY", "assertion": {
		"credentialId": "`+base64URL("passkey of Mia's phone")+`",
		"clientDataJson": "`+base64URL(`{"type":"webauthn.get","challenge":"`+shown+`","origin":"https://app.example.com"}`)+`",
		"authenticatorData": "`+base64URL(strings.Repeat("a", 37))+`", "signature": "`+sandbox.WalletPasskeySignature+`"}}`).wantStatus(200)
	s.record("verifyAuthCredential", "An account at Google", path+google+"/verify",
		`{"type": "OAUTH", "oidcToken": "`+sandbox.WalletIDToken+`", "clientPublicKey": "`+exampleClientKey+`"}`).wantStatus(200)

	// What a session signs.
	both := func(id, path, body string, status int) apiResponse {
		first := s.record(id, "The request to sign", path, body)
		return s.recordSigned(first, id, "Signed", path, body).wantStatus(status)
	}
	key := `{"clientPublicKey": "` + exampleClientKey + `"}`
	s.record("listAuthSessions", "", "/auth/sessions?accountId="+wallet, "").wantStatus(200)
	both("refreshAuthSession", "/auth/sessions/"+session+"/refresh", key, 201)
	both("updateInternalAccount", "/internal-accounts/"+wallet, `{"privateEnabled": true}`, 200)
	both("exportInternalAccount", "/internal-accounts/"+wallet+"/export", key, 200)
	move := `{"customerType": "INDIVIDUAL", "email": "mia.lind@example.com"}`
	first := s.record("updateCustomerById", "The e-mail address of a wallet: the request to sign", "/customers/"+mia, move)
	s.recordSigned(first, "updateCustomerById", "The e-mail address of a wallet, signed", "/customers/"+mia, move).wantStatus(200)
	both("revokeAuthSession", "/auth/sessions/"+session, "", 204)
	both("revokeAuthCredential", path+google, "", 204)
}
