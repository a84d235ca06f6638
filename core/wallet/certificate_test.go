package wallet_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	secpecdsa "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/core/wallet"
)

// evidence is a payload that a session signed, and the certificate of the session.
type evidence struct {
	certificate        wallet.Certificate
	payload, signature string
	at                 time.Time
}

// newEvidence returns evidence with new keys.
func newEvidence(t *testing.T) evidence {
	t.Helper()
	walletKey, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	sessionKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	session := exampleSession()
	session.PublicKey = wallet.SessionKey(elliptic.MarshalCompressed(elliptic.P256(), sessionKey.X, sessionKey.Y))
	e := evidence{payload: `{"type":"PAYMENT"}`, at: session.CreatedAt, certificate: certify(walletKey, session.Statement())}
	digest := sha256.Sum256([]byte(e.payload))
	der, err := ecdsa.SignASN1(rand.Reader, sessionKey, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	e.signature = base64.StdEncoding.EncodeToString(der)
	return e
}

func certify(key *secp256k1.PrivateKey, statement string) wallet.Certificate {
	hash := sha256.Sum256([]byte(statement))
	return wallet.Certificate{Statement: statement, Key: wallet.Key(key.PubKey().SerializeCompressed()),
		Signature: secpecdsa.Sign(key, hash[:]).Serialize()}
}

func TestCertificate_VerifyPayloadChecksTheWholeChain(t *testing.T) {
	t.Parallel()
	// The key of the wallet proves that a session signed a payload while it was active. With any link
	// changed it proves nothing.
	for name, tt := range map[string]struct {
		change func(e, other *evidence)
		want   error
	}{
		"nothing changed":           {func(_, _ *evidence) {}, nil},
		"at the last moment":        {func(e, _ *evidence) { e.at = e.at.Add(wallet.SessionLifetime - 1) }, nil},
		"before the session":        {func(e, _ *evidence) { e.at = e.at.Add(-1) }, wallet.ErrSessionNotActive},
		"after the session":         {func(e, _ *evidence) { e.at = e.at.Add(wallet.SessionLifetime) }, wallet.ErrSessionNotActive},
		"payload":                   {func(e, _ *evidence) { e.payload += " " }, wallet.ErrNotSignedBySession},
		"signature of another":      {func(e, o *evidence) { e.signature = o.signature }, wallet.ErrNotSignedBySession},
		"sandbox signature":         {func(e, _ *evidence) { e.signature = "sandbox-valid-signature" }, wallet.ErrNotSignedBySession},
		"no signature":              {func(e, _ *evidence) { e.signature = "" }, wallet.ErrNotSignedBySession},
		"wallet of another":         {func(e, o *evidence) { e.certificate.Key = o.certificate.Key }, wallet.ErrNotSignedByWallet},
		"certificate of another":    {func(e, o *evidence) { e.certificate = o.certificate }, wallet.ErrNotSignedBySession},
		"wallet signature of other": {func(e, o *evidence) { e.certificate.Signature = o.certificate.Signature }, wallet.ErrNotSignedByWallet},
		"no wallet signature":       {func(e, _ *evidence) { e.certificate.Signature = nil }, wallet.ErrNotSignedByWallet},
		"no key":                    {func(e, _ *evidence) { e.certificate.Key = wallet.Key{} }, wallet.ErrNotSignedByWallet},
		"text behind the signature": {func(e, _ *evidence) { e.certificate.Signature = append(e.certificate.Signature, 0) },
			wallet.ErrNotSignedByWallet},
		"statement":                  {func(e, _ *evidence) { e.certificate.Statement += " " }, wallet.ErrNotSignedByWallet},
		"statement of other session": {func(e, o *evidence) { e.certificate.Statement = o.certificate.Statement }, wallet.ErrNotSignedByWallet},
		"signed, but no statement": {func(e, _ *evidence) {
			key, _ := secp256k1.GeneratePrivateKey()
			e.certificate = certify(key, strings.Replace(e.certificate.Statement, "SESSION", "TRANSFER", 1))
		}, wallet.ErrNoStatement},
	} {
		e, other := newEvidence(t), newEvidence(t)
		tt.change(&e, &other)

		session, err := e.certificate.VerifyPayload(e.payload, e.signature, e.at)

		if !errors.Is(err, tt.want) || (err == nil) != (session.ID == exampleSession().ID) {
			t.Errorf("%s: %+v, %v; want %v", name, session, err, tt.want)
		}
	}
}
