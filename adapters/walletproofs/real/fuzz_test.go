package real_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/descope/virtualwebauthn"

	"causeway/adapters/walletproofs/real"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
)

// attestationSeeds returns the attestation objects of the specification, and CBOR that asks for much more
// memory, or much deeper nesting, than it has bytes.
func attestationSeeds(tb testing.TB) map[string][]byte {
	text := string(must(os.ReadFile("testdata/webauthn.json")))
	var vectors []struct {
		Name         string
		Registration struct{ AttestationObject string }
	}
	unmarshal(tb, text, &vectors)
	seeds := map[string][]byte{}
	for _, v := range vectors {
		seeds[v.Name] = []byte(decode(v.Registration.AttestationObject))
	}
	// The data of an authenticator up to its public key.
	hash := sha256.Sum256([]byte("example.org"))
	data := append(append(hash[:], 0x45), make([]byte, 4+16+2)...)
	object := func(format, statement, key string) []byte {
		authenticatorData := append(bytes.Clone(data), unhex(key)...)
		out := unhex("a363666d74" + hex.EncodeToString(append([]byte{0x60 | byte(len(format))}, format...)) + "6761747453746d74" + statement +
			"68617574684461746159")
		return append(append(out, byte(len(authenticatorData)>>8), byte(len(authenticatorData))), authenticatorData...)
	}
	for name, item := range map[string]string{
		"nested arrays":         strings.Repeat("81", 9000) + "00",
		"nested maps":           strings.Repeat("a100", 4500) + "00",
		"nested tags":           strings.Repeat("c1", 9000) + "00",
		"array of 2^32":         "9affffffff",
		"array of 2^64":         "9bffffffffffffffff",
		"map of 2^32":           "baffffffff",
		"bytes of 2^40":         "5b0000010000000000",
		"text of 2^63":          "7b7fffffffffffffff",
		"indefinite":            "9f" + strings.Repeat("9f", 4000),
		"many items":            "99" + "2328" + strings.Repeat("00", 9000),
		"many keys":             "b9" + "0bb8" + manyKeys(3000),
		"the same key":          "b9" + "0bb8" + strings.Repeat("0000", 3000),
		"bignum":                "c2591f40" + strings.Repeat("ff", 8000),
		"x5c of 9000":           "a163783563" + "992328" + strings.Repeat("40", 9000),
		"RSA key of 64000 bits": "a401030339010020591f40" + strings.Repeat("ff", 8000) + "214401000001",
		"RSA key of exponent 0": "a401030339010020590100" + strings.Repeat("ff", 256) + "2140",
		"nothing":               "",
	} {
		seeds["object: "+name] = unhex(item)
		seeds["statement: "+name] = object("packed", item, "a0")
		seeds["key: "+name] = object("none", "a0", item)
	}
	return seeds
}

func unhex(text string) []byte { return must(hex.DecodeString(text)) }

// manyKeys returns the items of a map with different keys of two bytes.
func manyKeys(count int) string {
	var items strings.Builder
	for i := range count {
		items.WriteString("19" + hex.EncodeToString([]byte{byte(i>>8 + 1), byte(i)}) + "00")
	}
	return items.String()
}

// register registers an attestation object for the relying party of the specification's test vectors, with
// other client data.
func register(object []byte) error {
	p := platform.Platform{Wallets: &platform.Wallets{PasskeyRPID: "example.org", PasskeyOrigins: []string{"https://example.org"}}}
	attestation := wallet.Attestation{CredentialID: encode("id"), AttestationObject: base64.RawURLEncoding.EncodeToString(object),
		ClientDataJSON: encode(`{"type":"webauthn.create","challenge":"` + encode(string(challenge)) + `","origin":"https://example.org"}`)}
	_, err := proofs.RegisterPasskey(context.Background(), p, challenge, attestation)
	return err
}

func TestRegisterPasskey_HostileObjectsTakeLittleMemory(t *testing.T) {
	// Not parallel: it counts what is allocated. An object never takes much more memory than it has bytes,
	// whatever it claims.
	for name, object := range attestationSeeds(t) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := register(object)
		runtime.ReadMemStats(&after)
		if !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
			t.Errorf("%s: %d bytes allocated for an object of %d bytes", name, allocated, len(object))
		}
	}
}

func FuzzRegisterPasskey(f *testing.F) {
	for _, seed := range attestationSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		// An object fits or is a fault of the field.
		if err := register(object); err != nil && !fault.Is(err, fault.InvalidInput) {
			t.Fatal(err)
		}
	})
}

func FuzzCheckPasskey(f *testing.F) {
	d := newDevice(virtualwebauthn.KeyTypeEC2)
	key := d.register(f)
	d.passkey.Counter++
	valid := d.get(f, challenge)
	f.Add([]byte(decode(valid.AuthenticatorData)), []byte(decode(valid.ClientDataJSON)), []byte(decode(valid.Signature)))
	// With attested data and with extensions.
	f.Add(append(append([]byte(decode(valid.AuthenticatorData))[:32], 0xC5), make([]byte, 60)...), []byte(decode(valid.ClientDataJSON)),
		[]byte{0x30})
	f.Add(append(append([]byte(decode(valid.AuthenticatorData))[:32], 0x85, 0, 0, 0, 9), unhex("a16b686d61632d73656372657440")...),
		[]byte(decode(valid.ClientDataJSON)), []byte{})
	f.Fuzz(func(t *testing.T, authenticatorData, clientData, signature []byte) {
		// Only what the passkey signed is accepted.
		_, err := proofs.CheckPasskey(context.Background(), owner, key, challenge, wallet.Assertion{CredentialID: valid.CredentialID,
			AuthenticatorData: encode(string(authenticatorData)), ClientDataJSON: encode(string(clientData)), Signature: encode(string(signature))})
		signed := encode(string(authenticatorData)) == valid.AuthenticatorData && encode(string(clientData)) == valid.ClientDataJSON
		if f, ok := fault.As(err); err == nil && !signed || err != nil && (!ok || f.Reason != wallet.ReasonPasskey) {
			t.Fatalf("%x, %q, %x: %v", authenticatorData, clientData, signature, err)
		}
	})
}

// offline is a transport without a network.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) { return nil, http.ErrServerClosed }

func FuzzRegisterIdentity(f *testing.F) {
	proofs := real.New(real.Options{Issuers: []string{"https://accounts.google.com"}, Transport: offline{}})
	p := &provider{Server: &httptest.Server{URL: "https://accounts.google.com"}}
	claims, private := p.claims(nil), newKey()
	for _, seed := range []string{sign("first", private, "ES256", claims), sign("", private, "ES256", claims), "e30.e30.", "..", "",
		encode(`{"alg":"none"}`) + "." + encode(`{"iss":"https://accounts.google.com"}`) + ".",
		encode(`{"alg":"ES256","kid":"1","jwk":{"kty":"RSA","n":"AQ","e":"AQ"},"x5c":["AA"],"crit":["b64"],"b64":false}`) + "." +
			encode(`{"iss":"accounts.google.com"}`) + ".AA",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		// Without the keys of the issuer no token is accepted: it is no token, not signed, or cannot be checked.
		_, err := proofs.RegisterIdentity(context.Background(), appOwner, token, now)
		if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput && f.Code != fault.ServiceUnavailable &&
			f.Reason != wallet.ReasonIdentity {
			t.Fatalf("%q: %v", token, err)
		}
	})
}
