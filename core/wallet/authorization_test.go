package wallet_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/wallet"
)

// newAuthorization returns the evidence of a payment with new keys, in both forms of a signature, and the
// key of the wallet.
func newAuthorization(t *testing.T) (der, stamp wallet.Authorization, key wallet.Key) {
	t.Helper()
	e := newEvidence(t)
	session, err := e.certificate.Session()
	if err != nil {
		t.Fatal(err)
	}
	session.Certificate = e.certificate
	der = wallet.NewAuthorization(ident.Platform{}, ident.Transaction{}, session.Account, e.payload, e.signature, session, session.CreatedAt)
	stamp = der
	signature, err := base64.StdEncoding.DecodeString(e.signature)
	if err != nil {
		t.Fatal(err)
	}
	stamp.Signature = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"publicKey":"%x","scheme":"%s","signature":"%s"}`,
		der.SessionKey, wallet.StampScheme, hex.EncodeToString(signature)))
	return der, stamp, e.certificate.Key
}

func TestAuthorization_VerifyNeedsTheWholeChain(t *testing.T) {
	t.Parallel()
	// Evidence in both forms proves the payment with the key of the wallet, and with any part changed it does
	// not.
	der, stamp, key := newAuthorization(t)
	if der.Form() != wallet.FormDER || stamp.Form() != wallet.FormStamp ||
		(wallet.Authorization{Signature: "sandbox-valid-signature"}).Form() != wallet.FormTestValue {
		t.Errorf("forms %s and %s", der.Form(), stamp.Form())
	}
	for _, a := range []wallet.Authorization{der, stamp} {
		if err := a.Verify(key); err != nil {
			t.Fatalf("%s: %v", a.Form(), err)
		}
		rapid.Check(t, func(t *rapid.T) {
			changed := a
			changed.Certificate.Signature = append([]byte{}, a.Certificate.Signature...)
			signed := key
			flip := func(name string, text []byte) []byte {
				i := rapid.IntRange(0, len(text)-1).Draw(t, name)
				text[i] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
				return text
			}
			switch rapid.IntRange(0, 8).Draw(t, "part") {
			case 0:
				changed.Payload = string(flip("payload", []byte(a.Payload)))
			case 1:
				// Another stamp can hold the same signature: its digits are hexadecimal in either case.
				changed.Signature = string(flip("signature", []byte(der.Signature)))
			case 2:
				changed.Certificate.Statement = string(flip("statement", []byte(a.Certificate.Statement)))
			case 3:
				flip("certificate", changed.Certificate.Signature)
			case 4:
				flip("session key", changed.SessionKey[:])
			case 5:
				flip("key", signed[:])
			case 6:
				changed.SignedAt = a.SignedAt.Add(wallet.SessionLifetime)
			case 7:
				changed.Session = ident.Session{}
			default:
				changed.Account = ident.InternalAccount{}
			}
			if changed.Verify(signed) == nil {
				t.Fatalf("verified: %+v", changed)
			}
		})
	}
}

func TestNewAuthorization_IsNotBeforeItsSession(t *testing.T) {
	t.Parallel()
	// If the clock of the process that opened the session was ahead, the evidence is still valid, also from a
	// timeline, which shows milliseconds.
	der, _, _ := newAuthorization(t)
	session, err := der.Certificate.Session()
	if err != nil {
		t.Fatal(err)
	}
	session.CreatedAt = session.CreatedAt.Add(123_456 * time.Microsecond)
	for _, now := range []time.Time{session.CreatedAt.Add(-time.Second), session.CreatedAt.Add(time.Second)} {
		a := wallet.NewAuthorization(ident.Platform{}, ident.Transaction{}, session.Account, der.Payload, der.Signature, session, now)
		if a.SignedAt.Truncate(time.Millisecond).Before(session.CreatedAt) || a.SignedAt.Before(now) {
			t.Errorf("at %s it is of %s", now, a.SignedAt)
		}
	}
}

func TestTransfer_StatementIsCanonical(t *testing.T) {
	t.Parallel()
	// The statement for the chain has one text, which names the payload by its hash.
	statement := wallet.Transfer{Amount: money.Amount{Minor: 25_000_000, Currency: money.USDB}, Network: "LAYER2",
		Payload: "what the owner signed"}.Statement()

	want := fmt.Sprintf(
		`{"type":"TRANSFER","version":1,"transactionId":"%s","accountId":"%s","network":"LAYER2","currency":"USDB","amount":25000000,"payloadSha256":"%x"}`,
		ident.Transaction{}, ident.InternalAccount{}, sha256.Sum256([]byte("what the owner signed")))
	if statement != want {
		t.Errorf("got  %s\nwant %s", statement, want)
	}
}
