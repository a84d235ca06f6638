package real_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"causeway/adapters/walletproofs/real"
	"causeway/core/fault"
	"causeway/core/wallet"
)

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func TestIssuer_NewKeysAreReadAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	// A token with an unknown key makes the keys be read again, but many such tokens make no more requests.
	p := newProvider(t)
	at := now
	register := func() error {
		_, err := p.proofs.RegisterIdentity(t.Context(), appOwner, p.token(map[string]any{"iat": at.Unix()}), at)
		return err
	}
	if err := register(); err != nil {
		t.Fatal(err)
	}

	p.rotate("second", newKey())
	for range 50 {
		checkUnauthorized(t, "before a minute", register(), wallet.ReasonIdentity, "kid")
	}
	if requests := p.requests.Load(); requests != 2 {
		t.Errorf("%d requests before a minute", requests)
	}

	at = now.Add(time.Minute)
	if err := register(); err != nil || p.requests.Load() != 4 {
		t.Errorf("after a minute: %v, %d requests", err, p.requests.Load())
	}
}

func TestIssuer_OldKeysAreReadAgain(t *testing.T) {
	t.Parallel()
	// A key that the issuer has withdrawn is not used after an hour; if the issuer cannot be reached, known
	// keys are used for a day.
	p := newProvider(t)
	token := func(at time.Time) string { return p.token(map[string]any{"iat": at.Unix(), "exp": at.Unix() + 60}) }
	register := func(at time.Time) error {
		_, err := p.proofs.RegisterIdentity(t.Context(), appOwner, token(at), at)
		return err
	}
	if err := register(now); err != nil {
		t.Fatal(err)
	}

	p.breakWith(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	for _, after := range []time.Duration{time.Minute, 59 * time.Minute, 2 * time.Hour, 23 * time.Hour} {
		if err := register(now.Add(after)); err != nil {
			t.Errorf("after %s, with a broken issuer: %v", after, err)
		}
	}
	checkUnavailable(t, "after a day, with a broken issuer", register(now.Add(24*time.Hour)))

	// The issuer works again, and has another key.
	p.broken.Store(nil)
	withdrawn := newKey()
	p.rotate("second", withdrawn)
	at := now.Add(25 * time.Hour)
	if err := register(at); err != nil {
		t.Errorf("with the new key: %v", err)
	}
	p.rotate("third", newKey())
	second := sign("second", withdrawn, "ES256",
		p.claims(map[string]any{"iat": at.Add(time.Hour).Unix(), "exp": at.Add(2 * time.Hour).Unix()}))
	_, err := p.proofs.RegisterIdentity(t.Context(), appOwner, second, at.Add(time.Hour))
	checkUnauthorized(t, "a withdrawn key", err, wallet.ReasonIdentity, "kid")
}

func TestIssuer_FailureIsTemporary(t *testing.T) {
	t.Parallel()
	// Whatever an issuer answers instead of its keys, the token was neither accepted nor refused: the client
	// is asked to try again, and soon after the issuer works, so does the token.
	elsewhere := newProvider(t)
	for name, broken := range map[string]func(p *provider) http.HandlerFunc{
		"slow": func(*provider) http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		},
		"slow body": func(*provider) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte("{"))
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		},
		"silent": func(*provider) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		},
		"failing": func(*provider) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		},
		"huge": func(*provider) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					if _, err := w.Write(make([]byte, 64<<10)); err != nil {
						return
					}
				}
			}
		},
		"redirecting": func(*provider) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
			}
		},
		"garbage": func(*provider) http.HandlerFunc { return answer("<html>") },
		"null":    func(*provider) http.HandlerFunc { return answer("null") },
		"other issuer": func(p *provider) http.HandlerFunc {
			return answer(`{"issuer":"https://evil.test","jwks_uri":"` + p.URL + `/keys"}`)
		},
		"keys over http": func(p *provider) http.HandlerFunc {
			return answer(`{"issuer":"` + p.URL + `","jwks_uri":"http://127.0.0.1/keys"}`)
		},
		"keys in a file": func(p *provider) http.HandlerFunc {
			return answer(`{"issuer":"` + p.URL + `","jwks_uri":"file:///etc/passwd"}`)
		},
		"no keys": func(p *provider) http.HandlerFunc { return p.serveKeys(`{"keys":[]}`) },
		"garbage keys": func(p *provider) http.HandlerFunc {
			return p.serveKeys(`{"keys":[{"kty":"EC"},7,null,{"kid":"first","kty":"oct","k":"AA"}]}`)
		},
		"keys in an object": func(p *provider) http.HandlerFunc { return p.serveKeys(`{"keys":{"first":{}}}`) },
		"weak key": func(p *provider) http.HandlerFunc {
			weak := must(rsa.GenerateKey(rand.Reader, 1024)).PublicKey
			return p.serveKeys(string(must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &weak, KeyID: "first"}}}))))
		},
		"key for encryption": func(p *provider) http.HandlerFunc {
			return p.serveKeys(
				string(must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: newKey().Public(), KeyID: "first", Use: "enc"}}}))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.breakWith(broken(p))
			if strings.HasPrefix(name, "slow") {
				p.proofs = p.newProofs(50 * time.Millisecond)
			}
			_, err := p.register(p.token(nil))
			checkUnavailable(t, name, err)
			requests := p.requests.Load()
			_, err = p.register(p.token(nil))
			checkUnavailable(t, name, err)
			if p.requests.Load() != requests {
				t.Errorf("%d requests, and %d after a second token", requests, p.requests.Load())
			}

			p.broken.Store(nil)
			if strings.HasPrefix(name, "slow") {
				return // its deadline is too short for a slow machine
			}
			if _, err := p.proofs.RegisterIdentity(t.Context(), appOwner, p.token(nil), now.Add(10*time.Second)); err != nil {
				t.Errorf("after the issuer works: %v", err)
			}
		})
	}
}

func (p *provider) breakWith(handler http.HandlerFunc) { p.broken.Store(&handler) }

func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func (p *provider) serveKeys(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_, _ = w.Write([]byte(text))
			return
		}
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.URL, p.URL+"/keys")
	}
}

func checkUnavailable(t *testing.T, name string, err error) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != fault.ServiceUnavailable || f.RetryAfter <= 0 || fault.IsFinal(err) {
		t.Errorf("%s: %v, want SERVICE_UNAVAILABLE", name, err)
	}
}

func TestIssuer_ConcurrentTokensShareOneReading(t *testing.T) {
	t.Parallel()
	// Many customers sign in at once after a start: the keys are read once.
	p := newProvider(t)
	token := p.token(nil)
	var running sync.WaitGroup
	for range 50 {
		running.Go(func() {
			if _, err := p.register(token); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if requests := p.requests.Load(); requests != 2 {
		t.Errorf("%d requests", requests)
	}
}

func TestCheckIssuer_OnlyHTTPSOrLoopback(t *testing.T) {
	t.Parallel()
	// The setting is checked at the start.
	for text, valid := range map[string]bool{
		"https://accounts.google.com": true, "https://login.example.com/tenant/v2.0": true, "http://localhost:8089": true,
		"http://127.0.0.1:1/x": true, "http://[::1]:1": true,
		"": false, "accounts.google.com": false, "http://accounts.google.com": false, "https://user@example.com": false,
		"https://example.com?x": false, "https://example.com?": false,
		"https://example.com#x": false, "https://example.com#": false, "file:///etc/passwd": false, "https://": false,
		"http://localhost.evil.test": false,
	} {
		if err := real.CheckIssuer(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
