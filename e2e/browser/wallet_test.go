package browser

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/go-jose/go-jose/v4"
)

// walletDomain is the domain of the platform's app. The browser finds it on this computer: see startBrowser.
const walletDomain = "wallet.test"

// walletPage is a page of the platform's app, with the scripts for credentials of docs/wallets.md.
type walletPage struct {
	*tab
	authenticator webauthn.AuthenticatorID
}

// walletScripts returns the scripts for credentials of docs/wallets.md.
func walletScripts(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/wallets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Credentials\n")
	section, _, _ = strings.Cut(section, "\n## ")
	scripts := ""
	for _, match := range regexp.MustCompile("(?s)\n```js\n(.*?)```").FindAllStringSubmatch(section, -1) {
		scripts += match[1]
	}
	return scripts
}

// startApp serves the pages of the platform's app, and returns the port.
func startApp(t *testing.T) string {
	t.Helper()
	page := `<!doctype html><html lang="en"><title>Wallet</title><link rel="icon" href="data:,"><main><h1>Wallet</h1></main><script>` +
		walletScripts(t) + `</script></html>`
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(out, page)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the browser does not know the certificate at first
	server.StartTLS()
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address.Port()
}

// openApp opens a page of the app in a browser with an authenticator.
func openApp(t *testing.T, origin string) walletPage {
	t.Helper()
	p := walletPage{tab: newTab(t, phone)}
	// the app has a certificate of its own
	command(p.tab, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
	command(p.tab, webauthn.Enable, webauthn.EnableParams{})
	p.authenticator = command(p.tab, webauthn.AddVirtualAuthenticator,
		webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}}).AuthenticatorID
	p.open(origin)
	return p
}

// command sends a command to the browser.
func command[P, R any](b *tab, c cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, c, params)
	if err != nil {
		b.t.Fatalf("%s: %v", c.Method, err)
	}
	return result
}

// script runs a function of the page and returns its result.
func (p walletPage) script(function string, argument any) json.RawMessage {
	p.t.Helper()
	result, err := p.tryScript(function, argument)
	if err != nil {
		p.t.Fatalf("%s: %v; the browser said %q", function, err, p.complaints())
	}
	return result
}

// tryScript is script for a function that may fail.
func (p walletPage) tryScript(function string, argument any) (json.RawMessage, error) {
	p.t.Helper()
	text, err := json.Marshal(argument)
	if err != nil {
		p.t.Fatal(err)
	}
	result, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf("%s(%s).then(JSON.stringify)", function, text),
		chromedp.EvalAwaitPromise))
	return json.RawMessage(result), err
}

func TestWallet_PasskeyOpensSession(t *testing.T) {
	t.Parallel()
	// A customer of a production platform creates a passkey in the platform's app, and signs in with it, by
	// the scripts of the documentation. What was used once, was made on another page or by a copy of the
	// authenticator is refused.
	s := startService(t)
	p := s.newPlatform("Acme Pay", "PRODUCTION")
	port := startApp(t)
	origin, other := "https://app."+walletDomain+":"+port, "https://blog."+walletDomain+":"+port
	p.call("PATCH", "/config", map[string]any{"embeddedWalletConfig": map[string]any{"passkeyRpId": walletDomain,
		"passkeyOrigins": []string{origin}}})
	wallet := p.newWallet()
	page := openApp(t, origin)

	challenge := newChallenge()
	create := map[string]any{"type": "PASSKEY", "accountId": wallet, "nickname": "Ada's phone", "challenge": challenge,
		"attestation": page.script("createPasskey", map[string]string{"rpId": walletDomain, "appName": "Acme", "challenge": challenge,
			"accountId": wallet, "email": "ada@example.com"})}
	created := p.call("POST", "/auth/credentials", create)
	credential := created.text("id")
	begin := func() (challenge answer, use map[string]string) {
		key := strings.ToUpper(newClientKey(t))
		challenge = p.call("POST", "/auth/credentials/"+credential+"/challenge", map[string]string{"clientPublicKey": key})
		return challenge, map[string]string{"rpId": walletDomain, "credentialId": challenge.text("credentialId"),
			"challenge": challenge.text("challenge"), "clientPublicKey": key}
	}
	verify := func(challenge answer, assertion json.RawMessage) answer {
		return p.sendWith(http.Header{"Request-Id": {challenge.text("requestId")}}, "POST", "/auth/credentials/"+credential+"/verify",
			map[string]any{"type": "PASSKEY", "assertion": assertion})
	}

	first, use := begin()
	assertion := page.script("usePasskey", use)
	opened := verify(first, assertion)
	if opened.status != http.StatusOK || opened.text("encryptedSessionSigningKey") == "" || opened.text("accountId") != wallet ||
		opened.text("nickname") != "Ada's phone" {
		t.Fatalf("verify: %d %s", opened.status, opened.body)
	}
	if listed := p.call("GET", "/auth/sessions?accountId="+wallet, nil); listed.text("data.0.id") != opened.text("id") {
		t.Errorf("sessions: %s", listed.body)
	}
	verified := false
	if err := s.openDatabase().QueryRowContext(t.Context(), "SELECT user_verified AND sign_count > 1 FROM wallet_credentials").Scan(
		&verified); err != nil || !verified {
		t.Errorf("the use of the passkey was not recorded: %v", err)
	}

	verify(first, assertion).wantRefused("Request-Id already used", "")
	second, use := begin()
	verify(second, assertion).wantRefused("Invalid passkey signature", "challenge")

	// The same request can still be answered, but not with an authenticator that counts from an earlier time.
	counter := page.counter()
	page.setCounter(counter - 1)
	verify(second, page.script("usePasskey", use)).wantRefused("Invalid passkey signature", "counter")
	page.setCounter(counter)

	// A page does not answer a challenge that somebody has requested for another key.
	foreign := maps.Clone(use)
	foreign["clientPublicKey"] = newClientKey(t)
	if _, refused := page.tryScript("usePasskey", foreign); refused == nil || !strings.Contains(refused.Error(), "another key") {
		t.Errorf("a challenge for another key: %v", refused)
	}

	// Another page of the domain can use the passkey, but is not one of passkeyOrigins.
	page.open(other)
	verify(second, page.script("usePasskey", use)).wantRefused("Invalid passkey signature", other)
	page.open(origin)
	if last := verify(second, page.script("usePasskey", use)); last.status != http.StatusOK {
		t.Errorf("verify at last: %d %s", last.status, last.body)
	}

	create["accountId"] = p.newWallet()
	if again := p.send("POST", "/auth/credentials", create); again.status != http.StatusBadRequest ||
		!strings.Contains(string(again.body), "challenge") {
		t.Errorf("a second credential for the challenge: %d %s", again.status, again.body)
	}
	page.wantNoComplaints()
}

// counter returns the counter of the passkey in the authenticator.
func (p walletPage) counter() float64 {
	p.t.Helper()
	return p.passkey().SignCount
}

// setCounter sets it, as in a copy of the authenticator.
func (p walletPage) setCounter(count float64) {
	p.t.Helper()
	passkey := p.passkey()
	command(p.tab, webauthn.RemoveCredential, webauthn.RemoveCredentialParams{AuthenticatorID: p.authenticator,
		CredentialID: passkey.CredentialID})
	// The type of the library sends settings that this authenticator does not have.
	addCredential := cdp.Command[map[string]any, cdp.Empty]{Method: webauthn.CommandAddCredential}
	command(p.tab, addCredential, map[string]any{"authenticatorId": p.authenticator, "credential": map[string]any{
		"credentialId": passkey.CredentialID, "isResidentCredential": passkey.IsResidentCredential, "rpId": passkey.RpID,
		"privateKey": passkey.PrivateKey, "userHandle": passkey.UserHandle, "signCount": count,
	}})
}

func (p walletPage) passkey() *webauthn.Credential {
	p.t.Helper()
	passkeys := command(p.tab, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: p.authenticator}).Credentials
	if len(passkeys) != 1 {
		p.t.Fatalf("%d passkeys in the authenticator", len(passkeys))
	}
	return passkeys[0]
}

func TestWallet_IDTokenOpensSession(t *testing.T) {
	t.Parallel()
	// A customer of a production platform signs in at a provider of ID tokens, with the nonce of the
	// documentation, and not with a token that was used or is for another client.
	provider := startProvider(t)
	s := startServiceAt(t, "127.0.0.1:0", "--oidc-issuers", provider.URL)
	p := s.newPlatform("Acme Pay", "PRODUCTION")
	p.call("PATCH", "/config", map[string]any{"embeddedWalletConfig": map[string]any{"oauthClientIds": []string{"acme-app"}}})
	page := openApp(t, "https://app."+walletDomain+":"+startApp(t))
	wallet := p.newWallet()

	created := p.call("POST", "/auth/credentials", map[string]string{"type": "OAUTH", "accountId": wallet, "oidcToken": provider.token(nil)})
	if created.text("nickname") != "ada@example.com" {
		t.Errorf("credential %s", created.body)
	}
	verify := func(token, clientKey string) answer {
		return p.send("POST", "/auth/credentials/"+created.text("id")+"/verify", map[string]string{"type": "OAUTH", "oidcToken": token,
			"clientPublicKey": clientKey})
	}

	clientKey := newClientKey(t)
	nonce := ""
	if err := json.Unmarshal(page.script("nonceFor", clientKey), &nonce); err != nil {
		t.Fatal(err)
	}
	token := provider.token(map[string]any{"nonce": nonce})
	verify(token, newClientKey(t)).wantRefused("Invalid OIDC token", "nonce")
	if opened := verify(token, clientKey); opened.status != http.StatusOK || opened.text("encryptedSessionSigningKey") == "" {
		t.Fatalf("verify: %d %s", opened.status, opened.body)
	}
	verify(token, clientKey).wantRefused("Invalid OIDC token", "used before")
	verify(provider.token(map[string]any{"nonce": nonce, "sub": "somebody else"}), clientKey).wantRefused("Invalid OIDC token",
		"another person")
}

// idProvider is a provider of ID tokens.
type idProvider struct {
	*httptest.Server
	t   *testing.T
	key jose.JSONWebKey
}

func startProvider(t *testing.T) *idProvider {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &idProvider{t: t, key: jose.JSONWebKey{Key: private, KeyID: "1", Use: "sig"}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var document any = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{p.key.Public()}}
		if r.URL.Path == "/.well-known/openid-configuration" {
			document = map[string]string{"issuer": p.URL, "jwks_uri": p.URL + "/keys"}
		}
		_ = json.NewEncoder(out).Encode(document)
	}))
	t.Cleanup(p.Close)
	return p
}

// token returns an ID token, with changes.
func (p *idProvider) token(changes map[string]any) string {
	p.t.Helper()
	claims := map[string]any{"iss": p.URL, "sub": "ada", "aud": "acme-app", "email": "ada@example.com", "iat": time.Now().Unix(),
		"exp": time.Now().Add(time.Hour).Unix(), "jti": rand.Text()}
	for name, value := range changes {
		claims[name] = value
	}
	text, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: p.key}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		p.t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

// newWallet returns the wallet of a new customer without an e-mail address, so without a credential.
func (p *platform) newWallet() string {
	p.t.Helper()
	customer := p.newIndividual()
	_, id, _ := strings.Cut(customer, ":")
	p.exec("UPDATE customers SET status = 'APPROVED' WHERE id = $1", id) // as a verification does
	return p.call("GET", "/customers/internal-accounts?currency=USDB&customerId="+customer, nil).text("data.0.id")
}

// wantRefused checks that a proof was refused for a reason, with a message that names the cause.
func (a answer) wantRefused(reason, cause string) {
	a.t.Helper()
	if a.status != http.StatusUnauthorized || a.text("reason") != reason || !strings.Contains(a.text("message"), cause) {
		a.t.Errorf("%s: %d %s, want the reason %q because of %q", a.call, a.status, a.body, reason, cause)
	}
}

// newClientKey returns the public key of a new key pair of a client.
func newClientKey(t *testing.T) string {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(key.PublicKey().Bytes())
}

// newChallenge returns 32 random bytes in base64url.
func newChallenge() string {
	bytes := make([]byte, 32)
	_, _ = rand.Read(bytes) // never fails
	return base64.RawURLEncoding.EncodeToString(bytes)
}
