package wallet_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/wallet"
)

func FuzzParseClientKey(f *testing.F) {
	point, err := newClient(f).key.PublicKey.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	compressed := append([]byte{2 | point[64]&1}, point[1:33]...)
	for _, seed := range []string{hex.EncodeToString(point), strings.ToUpper(hex.EncodeToString(point)), "", "04",
		"04" + strings.Repeat("0", 128), "02" + strings.Repeat("f", 64), hex.EncodeToString(compressed)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// What is accepted is the point itself; all else is a fault of the field.
		key, err := wallet.ParseClientKey(text)
		if err != nil {
			if !fault.Is(err, fault.InvalidInput) {
				t.Fatal(err)
			}
		} else if session := key.SessionKey(); hex.EncodeToString(key.Bytes()) != strings.ToLower(text) &&
			hex.EncodeToString(session[:]) != strings.ToLower(text) {
			t.Fatalf("%q is %x", text, key.Bytes())
		}
	})
}

func FuzzParseSealedOTP(f *testing.F) {
	point, err := newClient(f).key.PublicKey.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	key := hex.EncodeToString(point)
	for _, seed := range []string{`{"encappedPublic":"` + key + `","ciphertext":"ab"}`, `{"otp_code":"483920","public_key":"` + key + `"}`,
		`{"otp_code":"","public_key":"` + key + `"}`, `{"otp_code":1,"public_key":[]}`, `{"encappedPublic":"04","ciphertext":""}`,
		`{"encappedPublic":"` + key + `","ciphertext":"ab","ciphertext":"cd"}`, `null`, `[]`, "", strings.Repeat(`{"":`, 600)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// Whatever a client sends or has encrypted is a bundle or an attempt with all of its parts, or a fault of the field.
		sealed, err := wallet.ParseSealedOTP(text)
		if err == nil && (len(sealed.Encapsulated) != 65 || len(sealed.Ciphertext) == 0 || len(text) > wallet.MaxSealedOTP) ||
			err != nil && !fault.Is(err, fault.InvalidInput) {
			t.Fatalf("%q is %+v, %v", text, sealed, err)
		}
		attempt, err := wallet.ParseOTPAttempt([]byte(text))
		if err == nil && (attempt.Code == "" || attempt.Key == wallet.ClientKey{}) || err != nil && !fault.Is(err, fault.InvalidInput) {
			t.Fatalf("%q is %+v, %v", text, attempt, err)
		}
	})
}

func FuzzParseClientData(f *testing.F) {
	challenge := []byte("0123456789abcdef")
	for _, seed := range []string{
		`{"type":"webauthn.create","challenge":"MDEyMzQ1Njc4OWFiY2RlZg","origin":"https://example.com","crossOrigin":false}`,
		`{"type":7,"challenge":[],"origin":{},"crossOrigin":"true","topOrigin":null}`,
		`{"challenge":"MDEyMzQ1Njc4OWFiY2RlZg","challenge":""}`, `[]`, `null`, ``, strings.Repeat(`{"":`, 600), "\xff\xfe",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		// Whatever the text, only that of the ceremony with the challenge is accepted.
		data, err := wallet.ParseClientData(base64.RawURLEncoding.EncodeToString(text))
		if err != nil {
			return
		}
		if data.Check(wallet.CreatePasskey, challenge) == nil && (data.Type != wallet.CreatePasskey || !bytes.Equal(data.Challenge, challenge)) {
			t.Fatalf("%q is accepted: %+v", text, data)
		}
		if data.CheckOrigin([]string{"https://example.com"}) == nil && (data.Origin != "https://example.com" || data.CrossOrigin) {
			t.Fatalf("%q is accepted: %+v", text, data)
		}
	})
}

func FuzzParseIDToken(f *testing.F) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, seed := range []string{
		fmt.Sprintf(`{"iss":"accounts.google.com","sub":"7","aud":["a","b"],"azp":"a","iat":%d,"exp":%d,"nonce":"0"}`, now.Unix(), now.Unix()+60),
		`{"iat":1e400,"exp":-1,"aud":7,"sub":null}`, `{"iat":1763812800.999,"exp":"9"}`, `{"iat":99999999999999999999}`, `{}`, `{}{}`, `[]`,
		strings.Repeat(`[`, 9000), "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, claims []byte) {
		// Whatever the claims, a person is named only by a fresh token for one of the apps.
		token, err := wallet.ParseIDToken("e30." + base64.RawURLEncoding.EncodeToString(claims) + ".")
		if err != nil {
			return
		}
		identity, err := token.Identify([]string{"a"}, now)
		if err != nil {
			if !isInvalid(err, wallet.ReasonIdentity) {
				t.Fatal(err)
			}
			return
		}
		if identity.Audience != "a" || identity.Subject == "" || now.Sub(token.IssuedAt) >= wallet.MaxIDTokenAge || !now.Before(token.ExpiresAt) {
			t.Fatalf("%q names %+v", claims, identity)
		}
	})
}

func FuzzParseRequestID(f *testing.F) {
	for _, seed := range []string{"Request:0193a5b0-1111-7abc-8def-0123456789ab", "0193a5b0-1111-7abc-8def-0123456789ab", "", ":", "Request:",
		"Session:0193a5b0-1111-7abc-8def-0123456789ab",
		"{0193a5b0-1111-7abc-8def-0123456789ab}", "urn:uuid:0193a5b0-1111-7abc-8def-0123456789ab", "00000000-0000-0000-0000-000000000000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// Both forms are the same id; all else is a fault.
		id, err := wallet.ParseRequestID(text)
		if err != nil {
			if !isInvalid(err, wallet.ReasonRequestID) {
				t.Fatal(err)
			}
			return
		}
		if written := id.String(); !strings.EqualFold(written, text) && !strings.EqualFold(written, "Request:"+text) {
			t.Fatalf("%q is %s", text, written)
		}
	})
}
