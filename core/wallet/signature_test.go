package wallet_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/wallet"
)

const payload = `{"type":"REQUEST","version":1,"operation":"EXPORT_WALLET"}`

// client is a client of a customer that holds the key of a session.
type client struct{ key *ecdsa.PrivateKey }

func newClient(t interface{ Fatal(...any) }) client {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return client{key}
}

func (c client) public() wallet.SessionKey {
	point, _ := c.key.PublicKey.Bytes() // 04 and the coordinates
	return wallet.SessionKey(append([]byte{2 | point[64]&1}, point[1:33]...))
}

func (c client) session() wallet.Session { return wallet.Session{PublicKey: c.public()} }

func (c client) sign(t interface{ Fatal(...any) }, payload string) []byte {
	digest := sha256.Sum256([]byte(payload))
	der, err := ecdsa.SignASN1(rand.Reader, c.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func base64DER(der []byte) string { return base64.StdEncoding.EncodeToString(der) }

func stamp(key wallet.SessionKey, scheme string, der []byte) string {
	object, _ := json.Marshal(map[string]string{"publicKey": hex.EncodeToString(key[:]), "scheme": scheme,
		"signature": hex.EncodeToString(der)})
	return base64.RawURLEncoding.EncodeToString(object)
}

// otherHalf returns the signature with s in the other half of the group, which is as valid.
func otherHalf(t interface{ Fatal(...any) }, der []byte) []byte {
	var values struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &values); err != nil {
		t.Fatal(err)
	}
	values.S.Sub(elliptic.P256().Params().N, values.S)
	other, err := asn1.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	return other
}

func TestSigner_BothFormsNameTheSession(t *testing.T) {
	t.Parallel()
	// Whatever was signed, with s in either half, both forms find the session that signed it among others.
	rapid.Check(t, func(t *rapid.T) {
		signer, text := newClient(t), rapid.String().Draw(t, "payload")
		sessions := []wallet.Session{newClient(t).session(), signer.session(), newClient(t).session()}
		der := signer.sign(t, text)

		for _, der := range [][]byte{der, otherHalf(t, der)} {
			for _, signature := range []string{base64DER(der), stamp(signer.public(), wallet.StampScheme, der)} {
				got, err := wallet.Signer(text, signature, sessions)
				if err != nil || got.PublicKey != signer.public() {
					t.Fatalf("signature %s of %q: session %x, %v", signature, text, got.PublicKey, err)
				}
			}
		}
	})
}

func TestSigner_AnyChangeIsRefused(t *testing.T) {
	t.Parallel()
	// One other byte in the payload, the signature or the key, and nobody signed.
	rapid.Check(t, func(t *rapid.T) {
		signer := newClient(t)
		der := signer.sign(t, payload)
		mask := byte(rapid.IntRange(1, 255).Draw(t, "mask"))
		flip := func(name string, bytes []byte) []byte {
			changed := append([]byte(nil), bytes...)
			changed[rapid.IntRange(0, len(bytes)-1).Draw(t, name)] ^= mask
			return changed
		}

		for name, call := range map[string]func() (wallet.Session, error){
			"payload": func() (wallet.Session, error) {
				return wallet.Signer(string(flip("payload", []byte(payload))), base64DER(der), []wallet.Session{signer.session()})
			},
			"signature": func() (wallet.Session, error) {
				return wallet.Signer(payload, base64DER(flip("signature", der)), []wallet.Session{signer.session()})
			},
			"key of the session": func() (wallet.Session, error) {
				key := signer.public()
				return wallet.Signer(payload, base64DER(der), []wallet.Session{{PublicKey: wallet.SessionKey(flip("key", key[:]))}})
			},
			"key in the stamp": func() (wallet.Session, error) {
				key := signer.public()
				return wallet.Signer(payload, stamp(wallet.SessionKey(flip("stamp", key[:])), wallet.StampScheme, der),
					[]wallet.Session{signer.session()})
			},
		} {
			if _, err := call(); !isInvalid(err, wallet.ReasonSignature) {
				t.Fatalf("with another %s: %v", name, err)
			}
		}
	})
}

func TestSigner_OtherEncodingsAreRefused(t *testing.T) {
	t.Parallel()
	// A signature has one text in each form: no lax DER, no other base64, no other JSON.
	signer := newClient(t)
	der := signer.sign(t, payload)
	for der[4]&0x80 != 0 || der[3] != 32 || der[2] != 2 { // until r has 32 bytes, which the cases below change
		der = signer.sign(t, payload)
	}
	body := der[2:]
	sequence := func(body []byte) []byte { return append([]byte{0x30, byte(len(body))}, body...) }
	valid := base64DER(der)
	object := func(members map[string]any) string {
		text, _ := json.Marshal(members)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	key := signer.public()
	keyHex, derHex := hex.EncodeToString(key[:]), hex.EncodeToString(der)

	for name, signature := range map[string]string{
		"empty":                    "",
		"a test value":             "sandbox-valid-signature",
		"long length":              base64DER(append([]byte{0x30, 0x81, byte(len(body))}, body...)),
		"indefinite length":        base64DER(append(append([]byte{0x30, 0x80}, body...), 0, 0)),
		"r with a leading zero":    base64DER(sequence(append([]byte{2, 33, 0}, body[2:]...))),
		"negative r":               base64DER(sequence(append([]byte{2, 32, body[2] | 0x80}, body[3:]...))),
		"bytes after the sequence": base64DER(append(append([]byte(nil), der...), 0)),
		"bytes in the sequence":    base64DER(sequence(append(append([]byte(nil), body...), 5, 0))),
		"r and s as 64 bytes":      base64DER(append([]byte{0x30}, make([]byte, 63)...)),
		"zeros":                    base64DER([]byte{0x30, 6, 2, 1, 0, 2, 1, 0}),
		"long":                     base64DER(append([]byte{0x30}, make([]byte, 100)...)),
		"very long":                "M" + strings.Repeat("A", 1<<20),
		"too much padding":         valid + "====",
		"line break":               valid[:8] + "\n" + valid[8:],
		"space":                    " " + valid,
		"hexadecimal":              derHex,
		"stamp with padding":       object(map[string]any{"publicKey": keyHex, "scheme": wallet.StampScheme, "signature": derHex}) + "=",
		"stamp of another scheme":  stamp(key, "SIGNATURE_SCHEME_TK_API_SECP256K1", der),
		"stamp without a scheme":   object(map[string]any{"publicKey": keyHex, "signature": derHex}),
		"stamp with more":          object(map[string]any{"publicKey": keyHex, "scheme": wallet.StampScheme, "signature": derHex, "x": ""}),
		"stamp of a number":        object(map[string]any{"publicKey": keyHex, "scheme": wallet.StampScheme, "signature": 1}),
		"stamp without signature":  object(map[string]any{"publicKey": keyHex, "scheme": wallet.StampScheme, "signature": ""}),
		"stamp of a short key":     object(map[string]any{"publicKey": keyHex[:64], "scheme": wallet.StampScheme, "signature": derHex}),
		"stamp in capital names":   object(map[string]any{"PUBLICKEY": keyHex, "SCHEME": wallet.StampScheme, "SIGNATURE": derHex}),
		"null":                     base64.RawURLEncoding.EncodeToString([]byte("null")),
		"deep":                     base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("[", 700))),
	} {
		if _, err := wallet.Signer(payload, signature, []wallet.Session{signer.session()}); !isInvalid(err, wallet.ReasonSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := wallet.Signer(payload, valid, []wallet.Session{signer.session()}); err != nil {
		t.Errorf("the signature itself: %v", err)
	}
	if _, err := wallet.Signer(payload, valid, nil); !isInvalid(err, wallet.ReasonSignature) {
		t.Errorf("without a session: %v", err)
	}
	if _, err := wallet.Signer(payload, valid, []wallet.Session{{PublicKey: wallet.SessionKey{9}}, {}}); !isInvalid(err,
		wallet.ReasonSignature) {
		t.Errorf("with sessions whose keys are no points: %v", err)
	}
}

// isInvalid reports whether err is UNAUTHORIZED with a reason and a message.
func isInvalid(err error, reason string) bool {
	f, ok := fault.As(err)
	return ok && f.Code == fault.Unauthorized && f.Reason == reason && f.Message != ""
}

func FuzzSigner(f *testing.F) {
	signer := newClient(f)
	der := signer.sign(f, payload)
	for _, seed := range []string{base64DER(der), stamp(signer.public(), wallet.StampScheme, der), "", "MEQCIA==", "eyJ9", "e30"} {
		f.Add(seed)
	}
	session := signer.session()
	f.Fuzz(func(t *testing.T, signature string) {
		// What is accepted is the signature of the payload, in one of the forms; all else is a fault.
		got, err := wallet.Signer(payload, signature, []wallet.Session{session})
		if err != nil {
			if !isInvalid(err, wallet.ReasonSignature) {
				t.Fatalf("%v", err)
			}
			return
		}
		parsed, err := wallet.ParseSignature(signature)
		if err != nil || got.PublicKey != session.PublicKey || !parsed.VerifiedBy(session.PublicKey, payload) {
			t.Fatalf("accepted, but %+v, %v", parsed, err)
		}
	})
}
