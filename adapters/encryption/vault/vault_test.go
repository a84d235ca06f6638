package vault

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"causeway/adapters/encryption/vault/vaulttest"
	"causeway/ports"
	"causeway/ports/portstest"
)

func fixedToken() (string, error) { return vaulttest.Token, nil }

// newSealer returns a sealer on a server, with a key. It waits for a server on a slow machine.
func newSealer(t *testing.T, server *httptest.Server, key string) *Sealer {
	t.Helper()
	s, err := New(Scheme+server.URL+"/"+key, fixedToken)
	if err != nil {
		t.Fatal(err)
	}
	s.timeout, s.tryTimeout = 3*time.Minute, time.Minute
	return s
}

func TestSealer_Conforms(t *testing.T) {
	t.Parallel()
	// A key in Vault passes the suite of the port, also below a namespace, and whether a value was opened
	// by the process before or not.
	server := httptest.NewServer(vaulttest.New(t))
	defer server.Close()
	portstest.Sealer(t, newSealer(t, server, "transit/causeway"), newSealer(t, server, "transit/other"))
	portstest.Sealer(t, newSealer(t, server, "team/transit/causeway"), newSealer(t, server, "transit/causeway"))
	portstest.Sealer(t, forgetful{t, server}, newSealer(t, server, "transit/other"))
}

// forgetful uses a new Sealer for each call.
type forgetful struct {
	t      *testing.T
	server *httptest.Server
}

func (f forgetful) Seal(plain, context []byte) ([]byte, error) {
	return newSealer(f.t, f.server, "transit/causeway").Seal(plain, context)
}

func (f forgetful) Open(sealed, context []byte) ([]byte, error) {
	return newSealer(f.t, f.server, "transit/causeway").Open(sealed, context)
}

func TestSealer_OpensOldVersionsOfTheKey(t *testing.T) {
	t.Parallel()
	// After the key was rotated in Vault, old values open, and new ones are sealed with the new version.
	vault := vaulttest.New(t)
	server := httptest.NewServer(vault)
	defer server.Close()
	old, err := newSealer(t, server, "transit/causeway").Seal([]byte("private"), nil)
	if err != nil {
		t.Fatal(err)
	}

	vault.Rotate("transit/causeway")

	fresh, err := newSealer(t, server, "transit/causeway").Seal([]byte("private"), nil)
	if err != nil || string(old[:5]) != "\x03\x00\x00\x00\x01" || string(fresh[:5]) != "\x03\x00\x00\x00\x02" {
		t.Fatalf("sealed %x and then %x, %v", old, fresh, err)
	}
	for _, sealed := range [][]byte{old, fresh} {
		if plain, err := newSealer(t, server, "transit/causeway").Open(sealed, nil); err != nil || string(plain) != "private" {
			t.Errorf("opened %q, %v", plain, err)
		}
	}
}

func TestSealer_OpenedValuesNeedNoVault(t *testing.T) {
	t.Parallel()
	// A value that the process has opened opens again while Vault cannot be reached; the caller may
	// overwrite what it got.
	vault := vaulttest.New(t)
	server := httptest.NewServer(vault)
	sealer := newSealer(t, server, "transit/causeway")
	sealed, err := sealer.Seal([]byte("private"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		plain, err := sealer.Open(sealed, nil)
		if err != nil {
			t.Fatal(err)
		}
		clear(plain)
	}
	if vault.Requests() != 2 {
		t.Errorf("%d requests, want one to seal and one to open", vault.Requests())
	}
	server.Close()

	if plain, err := sealer.Open(sealed, nil); err != nil || string(plain) != "private" {
		t.Errorf("opened %q, %v", plain, err)
	}
	if plain, err := sealer.Open(sealed, []byte("another row")); err == nil {
		t.Errorf("opened %q with another context", plain)
	}
}

// roundTripper is a transport without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSealer_RepeatsWhatMaySucceedLater(t *testing.T) {
	t.Parallel()
	// A request is repeated twice while Vault is sealed, restarts or is busy. What cannot succeed is not
	// repeated, and the error says what to do.
	for _, tt := range []struct {
		failures []int
		requests int
		says     string // empty: no error
	}{
		{[]int{503}, 2, ""},
		{[]int{500, 429}, 3, ""},
		{[]int{503, 503, 503}, 3, "status 503: asked to fail"},
		{[]int{403}, 1, "CAUSEWAY_VAULT_TOKEN must be valid, and its policy must allow update on transit/encrypt/causeway"},
		{[]int{404}, 1, "with the key transit/causeway: status 404"},
		{[]int{307}, 1, "redirects are not followed"},
		{[]int{400}, 1, "status 400"},
	} {
		synctest.Test(t, func(t *testing.T) {
			vault := vaulttest.New(t)
			vault.FailNext(tt.failures...)
			sealer := newSealer(t, &httptest.Server{URL: "https://vault.example.com:8200"}, "transit/causeway")
			sealer.transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				w := httptest.NewRecorder()
				vault.ServeHTTP(w, r)
				return w.Result(), nil
			})

			_, err := sealer.Seal([]byte("private"), nil)

			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) || vault.Requests() != tt.requests {
				t.Errorf("%v: %d requests, %v; want %d, %q", tt.failures, vault.Requests(), err, tt.requests, tt.says)
			}
			if err != nil && errors.Is(err, ports.ErrCannotDecrypt) {
				t.Errorf("%v: a failure to seal is said to be one to decrypt", tt.failures)
			}
		})
	}
}

func TestSealer_SilentVaultDelaysACallBriefly(t *testing.T) {
	t.Parallel()
	// A server that does not respond ends the call within its deadline.
	synctest.Test(t, func(t *testing.T) {
		sealer, err := New(Scheme+"https://vault.example.com:8200/transit/causeway", fixedToken)
		if err != nil {
			t.Fatal(err)
		}
		requests := 0
		sealer.transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			requests++
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		began := time.Now()

		_, err = sealer.Seal([]byte("private"), nil)

		if waited := time.Since(began); err == nil || waited > timeout || requests != maxTries {
			t.Errorf("%d requests, waited %s, %v", requests, waited, err)
		}
	})
}

func TestSealer_RefusesOtherResponses(t *testing.T) {
	t.Parallel()
	// A response of something else than the transit engine is an error, which does not show it.
	for name, body := range map[string]string{
		"no JSON":         "<html>secret</html>",
		"no data":         `{"secret": true}`,
		"other form":      `{"data": {"ciphertext": "secret"}}`,
		"no version":      `{"data": {"ciphertext": "vault:v:c2VjcmV0"}}`,
		"version zero":    `{"data": {"ciphertext": "vault:v01:c2VjcmV0"}}`,
		"too large":       strings.Repeat(" ", maxBody) + `{"data": {"ciphertext": "vault:v1:c2VjcmV0"}}`,
		"no base64":       `{"data": {"ciphertext": "vault:v1:$secret"}}`,
		"plain no base64": `{"data": {"plaintext": "$secret"}}`,
		"plain too short": `{"data": {"plaintext": "c2VjcmV0"}}`,
	} {
		sealer := newSealer(t, &httptest.Server{URL: "http://127.0.0.1:8200"}, "transit/causeway")
		sealer.transport = roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
		})

		sealed, errSeal := sealer.Seal([]byte("private"), nil)
		plain, errOpen := sealer.Open([]byte("\x03\x00\x00\x00\x01ciphertext"), nil)

		if errSeal == nil || errOpen == nil || strings.Contains(errSeal.Error()+errOpen.Error(), "secret") {
			t.Errorf("%s: sealed %x, %v; opened %q, %v", name, sealed, errSeal, plain, errOpen)
		}
	}
}

func TestSealer_ReadsTheTokenForEachRequest(t *testing.T) {
	t.Parallel()
	// A token that is renewed is used at once; one that cannot be read is an error.
	server := httptest.NewServer(vaulttest.New(t))
	defer server.Close()
	current, failure := "expired", error(nil)
	sealer, err := New(Scheme+server.URL+"/transit/causeway", func() (string, error) { return current, failure })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sealer.Seal([]byte("private"), nil); err == nil || strings.Contains(err.Error(), current) {
		t.Errorf("with an expired token: %v", err)
	}
	current = vaulttest.Token
	if _, err := sealer.Seal([]byte("private"), nil); err != nil {
		t.Error(err)
	}
	failure = errors.New("no such file")
	if _, err := sealer.Seal([]byte("private"), nil); !errors.Is(err, failure) {
		t.Errorf("without a token: %v", err)
	}
}

func TestNew_RefusesWrongSettings(t *testing.T) {
	t.Parallel()
	// The address must be protected, and name a mount and a key.
	for _, setting := range []string{
		"", "vault:", "https://vault.example.com/transit/causeway", "vault:vault.example.com/transit/causeway",
		"vault:http://vault.example.com/transit/causeway",
		"vault:https://vault.example.com", "vault:https://vault.example.com/causeway", "vault:https://vault.example.com/transit/../causeway",
		"vault:https://vault.example.com//transit//causeway",
		"vault:https://user:pass@vault.example.com/transit/causeway", "vault:https://vault.example.com/transit/causeway?x=1",
		"vault:https://vault.example.com/transit/causeway#x", "vault:ftp://127.0.0.1/transit/causeway",
	} {
		if s, err := New(setting, fixedToken); err == nil {
			t.Errorf("%q is accepted: %s %s %s", setting, s.base, s.mount, s.key)
		}
	}
	s, err := New("vault:https://vault.example.com:8200/team/transit/causeway/", fixedToken)
	if err != nil || s.mount != "team/transit" || s.key != "causeway" || s.base.String() != "https://vault.example.com:8200" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, address := range []string{"http://localhost:8200", "http://127.0.0.1:8200", "http://[::1]:8200"} {
		if _, err := New(Scheme+address+"/transit/causeway", fixedToken); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
