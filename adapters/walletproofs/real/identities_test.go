package real_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"causeway/adapters/walletproofs/real"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
)

var (
	now        = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	appOwner   = platform.Platform{Wallets: &platform.Wallets{OAuthClientIDs: []string{"android app", "web app"}}}
	testRSAKey = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// provider is an OpenID Connect provider on a TLS server of this process.
type provider struct {
	*httptest.Server
	proofs  *real.Proofs
	keyID   string
	private any
	// published are the keys that it serves.
	published atomic.Pointer[jose.JSONWebKeySet]
	requests  atomic.Int32
	// broken answers instead of the provider if it is set.
	broken atomic.Pointer[http.HandlerFunc]
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewTLSServer(p)
	t.Cleanup(p.Server.Close)
	p.proofs = p.newProofs(time.Minute)
	p.rotate("first", must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)))
	return p
}

func (p *provider) newProofs(timeout time.Duration) *real.Proofs {
	return real.New(real.Options{Issuers: []string{p.URL}, Transport: p.Client().Transport, Timeout: timeout})
}

// rotate replaces the keys of the provider.
func (p *provider) rotate(id string, private interface{}) {
	p.keyID, p.private = id, private
	p.published.Store(&jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: (&jose.JSONWebKey{Key: private}).Public().Key,
		KeyID: id, Use: "sig"}}})
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.Add(1)
	if broken := p.broken.Load(); broken != nil {
		(*broken)(w, r)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": p.URL, "jwks_uri": p.URL + "/keys"})
	case "/keys":
		_ = json.NewEncoder(w).Encode(p.published.Load())
	default:
		http.NotFound(w, r)
	}
}

// claims returns the claims of a valid token, with changes; nil removes one.
func (p *provider) claims(changes map[string]any) map[string]any {
	claims := map[string]any{"iss": p.URL, "sub": "person 7", "aud": "web app", "iat": now.Add(-10 * time.Second).Unix(),
		"exp":   now.Add(time.Hour).Unix(),
		"email": "ana@example.com", "nonce": wallet.IDTokenNonce(clientKey)}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	return claims
}

func (p *provider) token(changes map[string]any) string {
	return sign(p.keyID, p.private, algorithmOf(p.private), p.claims(changes))
}

func algorithmOf(private any) jose.SignatureAlgorithm {
	if _, ok := private.(*rsa.PrivateKey); ok {
		return jose.RS256
	}
	return jose.ES256
}

func sign(keyID string, private any, algorithm jose.SignatureAlgorithm, claims map[string]any) string {
	options := (&jose.SignerOptions{}).WithType("JWT")
	if keyID != "" {
		options = options.WithHeader("kid", keyID)
	}
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: private}, options))
	return must(must(signer.Sign(must(json.Marshal(claims)))).CompactSerialize())
}

// clientKey is a key of a client; any point will do.
var clientKey = func() wallet.ClientKey {
	public := must(must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).PublicKey.Bytes())
	return must(wallet.ParseClientKey(strings.ToUpper(hex.EncodeToString(public))))
}()

func (p *provider) register(token string) (wallet.Identity, error) {
	return p.proofs.RegisterIdentity(context.Background(), appOwner, token, now)
}

func (p *provider) identity() wallet.Identity {
	return wallet.Identity{Issuer: p.URL, Audience: "web app", Subject: "person 7", Email: "ana@example.com"}
}

func TestIdentities_RegisteredPersonSignsIn(t *testing.T) {
	t.Parallel()
	// With each algorithm a token names the person, and a later one for the client's key proves it.
	for name, private := range map[string]any{"ES256": must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)), "RS256": testRSAKey()} {
		p := newProvider(t)
		p.rotate(name, private)
		identity, err := p.register(p.token(map[string]any{"nonce": nil}))
		if err != nil || identity != p.identity() {
			t.Fatalf("%s: %+v, %v", name, identity, err)
		}
		// The address may change, or be missing.
		if err := p.proofs.CheckIdentity(t.Context(), appOwner, identity, p.token(map[string]any{"email": nil}), clientKey, now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.requests.Load() != 2 {
			t.Errorf("%s: %d requests to the provider", name, p.requests.Load())
		}
	}
}

func TestIdentities_AudienceIsOneOfThePlatform(t *testing.T) {
	t.Parallel()
	// The token must be for one of the platform's apps. Of several audiences the authorised party counts.
	p := newProvider(t)
	for _, c := range []struct {
		audience any
		party    any
		want     string
	}{
		{"web app", nil, "web app"},
		{"web app", "phone", "web app"},
		{[]string{"android app"}, nil, "android app"},
		{[]string{"other", "web app"}, "web app", "web app"},
		{[]string{"other", "web app"}, nil, ""},
		{[]string{"other", "web app"}, "other", ""},
		{[]string{"other"}, "web app", ""},
		{"other", nil, ""},
		{"", nil, ""},
		{nil, nil, ""},
		{7, nil, ""},
		{[]any{7, "web app"}, nil, "web app"},
	} {
		identity, err := p.register(p.token(map[string]any{"aud": c.audience, "azp": c.party}))
		if identity.Audience != c.want || (err == nil) != (c.want != "") {
			t.Errorf("aud %v, azp %v: %q, %v", c.audience, c.party, identity.Audience, err)
		}
		if c.want == "" {
			checkUnauthorized(t, fmt.Sprint(c.audience), err, wallet.ReasonIdentity, "aud")
		}
	}
}

func TestIdentities_TokenMustBeFresh(t *testing.T) {
	t.Parallel()
	// A token counts for less than a minute after it was issued, and not before.
	p := newProvider(t)
	for _, c := range []struct {
		issued, expires any
		says            string
	}{
		{now.Unix(), now.Unix() + 1, ""},
		{now.Unix() - 59, now.Unix() + 3600, ""},
		{now.Unix() - 60, now.Unix() + 3600, "iat"},
		{now.Unix() + 5, now.Unix() + 3600, ""},
		{now.Unix() + 6, now.Unix() + 3600, "future"},
		{now.Unix() - 10, now.Unix(), "expired"},
		{now.Unix() - 10, nil, "expired"},
		{nil, now.Unix() + 3600, "iat"},
		{"1795348800", now.Unix() + 3600, "iat"},
		{json.Number(fmt.Sprintf("%d.75", now.Unix()-1)), now.Unix() + 3600, ""},
		{json.Number("1e400"), now.Unix() + 3600, "iat"},
		{-1, now.Unix() + 3600, "iat"},
		{now.Unix(), json.Number("99999999999999999999"), "expired"},
	} {
		_, err := p.register(p.token(map[string]any{"iat": c.issued, "exp": c.expires}))
		if c.says == "" && err != nil {
			t.Errorf("iat %v, exp %v: %v", c.issued, c.expires, err)
		} else if c.says != "" {
			checkUnauthorized(t, fmt.Sprintf("iat %v, exp %v", c.issued, c.expires), err, wallet.ReasonIdentity, c.says)
		}
	}
}

func TestCheckIdentity_RefusesOtherPersonsAndClients(t *testing.T) {
	t.Parallel()
	// Each case differs from the credential or the client's key in one claim.
	p := newProvider(t)
	other := newProvider(t)
	check := func(known wallet.Identity, token string) error {
		return p.proofs.CheckIdentity(t.Context(), appOwner, known, token, clientKey, now)
	}
	for name, changes := range map[string]map[string]any{
		"another person":  {"sub": "person 8"},
		"nobody":          {"sub": nil},
		"another app":     {"aud": "android app"},
		"no nonce":        {"nonce": nil},
		"another nonce":   {"nonce": hex.EncodeToString(make([]byte, 32))},
		"nonce in A to F": {"nonce": strings.ToUpper(wallet.IDTokenNonce(clientKey))},
		"the key itself":  {"nonce": hex.EncodeToString(clientKey.Bytes())},
		"unknown issuer":  {"iss": "https://evil.test"},
		"no issuer":       {"iss": nil},
		"old":             {"iat": now.Unix() - 61},
	} {
		checkUnauthorized(t, name, check(p.identity(), p.token(changes)), wallet.ReasonIdentity, "")
	}
	known := p.identity()
	known.Issuer = other.URL
	checkUnauthorized(t, "credential of another issuer", check(known, p.token(nil)), wallet.ReasonIdentity, "another person")
	checkUnauthorized(t, "token of another issuer", check(p.identity(), other.token(nil)), wallet.ReasonIdentity, "issuer")
	checkUnauthorized(t, "the test value", check(p.identity(), "sandbox-valid-oidc-token"), wallet.ReasonIdentity, "")
	checkUnauthorized(t, "empty", check(p.identity(), ""), wallet.ReasonIdentity, "")
	if err := check(p.identity(), p.token(nil)); err != nil {
		t.Errorf("the right token: %v", err)
	}
}

func TestIdentities_SignatureMustBeOfTheIssuer(t *testing.T) {
	t.Parallel()
	// Only the keys that the issuer publishes count, with the algorithm of the key.
	p := newProvider(t)
	private := p.private.(*ecdsa.PrivateKey)
	stranger := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	valid := p.token(nil)
	parts := strings.Split(valid, ".")
	unsigned := encode(`{"alg":"none","kid":"first"}`) + "." + parts[1] + "."
	embedded := must(must(jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: stranger}, &jose.SignerOptions{EmbedJWK: true})).Sign(
		must(json.Marshal(p.claims(nil)))))

	for name, token := range map[string]string{
		"a stranger's key":   sign("first", stranger, jose.ES256, p.claims(nil)),
		"a key in the token": must(embedded.CompactSerialize()),
		"an unknown key":     sign("second", stranger, jose.ES256, p.claims(nil)),
		"no key id":          sign("", private, jose.ES256, p.claims(nil)),
		"no signature":       unsigned,
		"an empty signature": parts[0] + "." + parts[1] + ".",
		"a shared secret":    sign("first", must(private.PublicKey.Bytes()), jose.HS256, p.claims(nil)),
		"another algorithm":  sign("first", testRSAKey(), jose.RS256, p.claims(nil)),
		"PS256":              sign("first", testRSAKey(), jose.PS256, p.claims(nil)),
		"other claims":       parts[0] + "." + encode(string(must(json.Marshal(p.claims(map[string]any{"sub": "person 8"}))))) + "." + parts[2],
		"the signature cut":  valid[:len(valid)-4],
		"a critical header":  signCritical(private, p.claims(nil)),
		"two tokens":         valid + "." + valid,
		"very long":          valid + strings.Repeat("A", 1<<20),
	} {
		err := p.proofs.CheckIdentity(t.Context(), appOwner, p.identity(), token, clientKey, now)
		checkUnauthorized(t, name, err, wallet.ReasonIdentity, "")
	}
	if requests := p.requests.Load(); requests != 2 {
		t.Errorf("%d requests to the provider", requests)
	}
}

// signCritical signs with a header that a verifier must understand, and does not.
func signCritical(private *ecdsa.PrivateKey, claims map[string]any) string {
	headers := map[jose.HeaderKey]any{"kid": "first", "crit": []string{"exp"}}
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: private}, &jose.SignerOptions{ExtraHeaders: headers}))
	return must(must(signer.Sign(must(json.Marshal(claims)))).CompactSerialize())
}

func TestRegisterIdentity_FormOfTheTokenIsAField(t *testing.T) {
	t.Parallel()
	// What is no token of a known provider is an invalid field, and makes no request.
	p := newProvider(t)
	for name, token := range map[string]string{
		"empty":             "",
		"the test value":    "sandbox-valid-oidc-token",
		"two parts":         "e30.e30",
		"spaces":            " " + p.token(nil),
		"JSON":              `{"payload":"e30","protected":"e30","signature":""}`,
		"unknown issuer":    p.token(map[string]any{"iss": "https://evil.test"}),
		"issuer with slash": p.token(map[string]any{"iss": p.URL + "/"}),
		"issuer by name":    p.token(map[string]any{"iss": strings.TrimPrefix(p.URL, "https://")}),
		"no issuer":         p.token(map[string]any{"iss": nil}),
		"a list of issuers": p.token(map[string]any{"iss": []string{p.URL}}),
		"very long":         strings.Repeat("A", 1<<20),
	} {
		_, err := p.register(token)
		checkInvalid(t, name, err, "oidcToken", "")
	}
	if p.requests.Load() != 0 {
		t.Errorf("%d requests to the provider", p.requests.Load())
	}
}

func TestIdentities_MissingSettingIsNamed(t *testing.T) {
	t.Parallel()
	// A platform without client ids cannot say which tokens are for it.
	p := newProvider(t)
	_, err := p.proofs.RegisterIdentity(t.Context(), platform.Platform{}, p.token(nil), now)
	if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), "embeddedWalletConfig.oauthClientIds") {
		t.Errorf("register: %v", err)
	}
}
