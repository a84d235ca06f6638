// Package providertest is a provider of single sign-on for tests: OpenID Connect with discovery, keys, the authorization code and PKCE.
// It signs in whom the test says, without asking.
package providertest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// The client of the provider.
const (
	ClientID     = "causeway"
	ClientSecret = "secret-of-the-client"
)

// Provider is the provider. Its fields are changed with Set.
type Provider struct {
	*httptest.Server
	t      *testing.T
	signer jose.Signer
	keys   jose.JSONWebKeySet

	mu sync.Mutex
	// claims are those of the ID token besides the standard ones, which they replace.
	claims map[string]any
	// isDown: every request fails.
	isDown bool
	now    func() time.Time
	codes  map[string]url.Values // what each code was asked for with; used ones are deleted
	last   url.Values
}

// New starts a provider, which ends with the test. now is the time of its tokens.
func New(t *testing.T, now func() time.Time) *Provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := jose.JSONWebKey{Key: key, KeyID: "1", Algorithm: string(jose.RS256), Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: private}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{t: t, signer: signer, keys: jose.JSONWebKeySet{Keys: []jose.JSONWebKey{private.Public()}}, now: now,
		codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { p.answer(w, http.StatusOK, p.keys) })
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		isDown := p.isDown
		p.mu.Unlock()
		if isDown {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// Set says who signs in from now on, with claims of the ID token, which may replace the standard ones.
func (p *Provider) Set(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims = claims
}

// SetDown says whether every request fails.
func (p *Provider) SetDown(isDown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isDown = isDown
}

// LastAsked returns the parameters with which a browser was last sent here.
func (p *Provider) LastAsked() url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *Provider) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		p.t.Error(err)
	}
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	p.answer(w, http.StatusOK, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL +
		"/token", "jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
}

// authorize sends the browser back with a code.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Get("response_type") != "code" || query.Get("client_id") != ClientID || query.Get("code_challenge_method") != "S256" ||
		query.Get("state") == "" || query.Get("nonce") == "" {
		http.Error(w, "the request is not complete: "+query.Encode(), http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code], p.last = query, query
	p.mu.Unlock()
	http.Redirect(w, r, query.Get("redirect_uri")+"?"+url.Values{"state": {query.Get("state")}, "code": {code}}.Encode(), http.StatusFound)
}

// token exchanges a code once, for who has its verifier and is the client.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case id != ClientID || secret != ClientSecret:
		p.answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	case !known || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
		asked.Get("redirect_uri") != r.PostFormValue("redirect_uri"):
		p.answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	now := p.now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "nonce": asked.Get("nonce"),
		"auth_time": now.Unix()}
	maps.Copy(claims, p.claims)
	for name, value := range claims {
		if value == nil {
			delete(claims, name)
		}
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	signed, err := p.signer.Sign(payload)
	if err != nil {
		p.t.Error(err)
		return
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		p.t.Error(err)
	}
	p.answer(w, http.StatusOK, map[string]any{"access_token": "unused", "token_type": "Bearer", "expires_in": 60, "id_token": token})
}
