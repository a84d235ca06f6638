package wallets_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/app/wallets"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
)

// signer is a client that keeps the key of its session.
type signer struct{ private *ecdsa.PrivateKey }

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key}
}

func (s signer) public() wallet.SessionKey {
	return wallet.SessionKey(elliptic.MarshalCompressed(elliptic.P256(), s.private.X, s.private.Y))
}

// sealed returns a code with the client's key, as the custody of these tests reads it.
func (s signer) sealed(kind wallet.CredentialType, code string) wallets.Verification {
	key := s.public()
	return wallets.Verification{Type: kind, SealedOTP: &wallet.SealedOTP{
		Ciphertext: fmt.Appendf(nil, `{"otp_code":%q,"public_key":%q}`, code, hex.EncodeToString(key[:]))}}
}

// leg returns the second leg of a call.
func (s signer) leg(t *testing.T, call wallet.Call, r *wallet.SignedRequest) wallet.Call {
	t.Helper()
	digest := sha256.Sum256([]byte(r.Payload))
	der, err := ecdsa.SignASN1(rand.Reader, s.private, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	call.Signature, call.RequestID = base64.StdEncoding.EncodeToString(der), r.ID.String()
	return call
}

func (e *env) challenge(id ident.AuthMethod) string {
	e.t.Helper()
	challenged, err := e.wallets.Challenge(e.t.Context(), e.live, nil, id, nil)
	if err != nil || challenged.OTPTarget != "target of "+e.liveWallet.ID.String() {
		e.t.Fatalf("%+v, %v", challenged, err)
	}
	return e.proofs.code
}

func TestService_SealedCodeOpensSessionOfTheClientsKey(t *testing.T) {
	t.Parallel()
	// The first leg of a right code returns what the client has to sign, and opens nothing. The second opens a session whose key is
	// the client's, once: neither leg does anything again.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	client := newSigner(t)
	v := client.sealed(wallet.EmailOTP, env.challenge(id))
	call := newCall("/auth/credentials/1/verify")
	verify := func(c wallet.Call) (wallets.OpenedSession, *wallet.SignedRequest, error) {
		return env.wallets.Verify(t.Context(), env.live, c, nil, id, v)
	}

	_, first, err := verify(call)
	if err != nil || first == nil || first.Operation != wallet.VerifyCredential || first.Credential != wallet.EmailOTP {
		t.Fatalf("first leg: %+v, %v", first, err)
	}
	_, other, err := verify(call) // a replay, before the code is used
	if err != nil || other == nil || len(env.sessions(env.liveWallet)) != 0 {
		t.Fatalf("first leg again: %+v, %v, %v", other, err, env.sessions(env.liveWallet))
	}
	_, _, err = verify(newSigner(t).leg(t, call, first))
	wantReason(t, "signed by another key", err, "Invalid Service-Wallet-Signature")
	changed := client.leg(t, call, first)
	changed.BodyHash = sha256.Sum256([]byte("another bundle"))
	_, _, err = verify(changed)
	wantReason(t, "another bundle", err, "Request does not match Request-Id")

	opened, again, err := verify(client.leg(t, call, first))
	if err != nil || again != nil || opened.EncryptedKey != "" || opened.PublicKey != client.public() {
		t.Fatalf("second leg: %+v, %+v, %v", opened, again, err)
	}
	if c := env.credentials(env.liveWallet)[0]; c.VerifiedAt.IsZero() {
		t.Error("the credential is not verified")
	}

	_, _, err = verify(client.leg(t, call, first))
	wantReason(t, "second leg again", err, "Request-Id already used")
	_, _, err = verify(client.leg(t, call, other))
	wantReason(t, "the other request", err, "Invalid OTP code")
	_, _, err = verify(call)
	wantReason(t, "first leg after", err, "Invalid OTP code")
	if sessions := env.sessions(env.liveWallet); len(sessions) != 1 {
		t.Errorf("%d sessions", len(sessions))
	}

	// It signs requests as any other session does.
	export := newCall("/internal-accounts/1/export")
	_, toSign, err := env.wallets.Export(t.Context(), env.live, export, nil, env.liveWallet.ID, clientKey(t))
	if err != nil {
		t.Fatal(err)
	}
	right := client.leg(t, export, toSign)
	if _, _, err := env.wallets.Export(t.Context(), env.live, right, nil, env.liveWallet.ID, clientKey(t)); err != nil {
		t.Error(err)
	}
}

func TestService_SealedWrongCodesAreCounted(t *testing.T) {
	t.Parallel()
	// A wrong code in a bundle counts as any other one does, with the same refusal, and delays the next in whatever form. The right code
	// that no first leg has had is not looked at in a second.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	client := newSigner(t)
	code := env.challenge(id)
	call := newCall("/auth/credentials/1/verify")
	try := func(c wallet.Call, v wallets.Verification) error {
		_, _, err := env.wallets.Verify(t.Context(), env.live, c, nil, id, v)
		return err
	}
	plain := wallets.Verification{Type: wallet.EmailOTP, Code: "wrong", ClientKey: clientKey(t)}
	want := try(wallet.Call{}, plain)
	for range 3 {
		if err := try(call, client.sealed(wallet.EmailOTP, "wrong")); err.Error() != want.Error() {
			t.Errorf("%v, want %v", err, want)
		}
	}
	unknown := wallet.SignedRequest{ID: ident.NewSignedRequest(env.IDs.New, env.Clock.Now())}
	wantReason(t, "a guess with a signature", try(client.leg(t, call, &unknown), client.sealed(wallet.EmailOTP, code)), "Invalid Request-Id")
	if stored := env.QueryStrings(`SELECT failures || ' ' || tries FROM wallet_codes`); !slices.Equal(stored, []string{"4 4"}) {
		t.Errorf("failures and tries %q", stored)
	}
	wantReason(t, "the fifth", try(call, client.sealed(wallet.EmailOTP, "wrong")), "Invalid OTP code")
	for name, v := range map[string]wallets.Verification{"sealed": client.sealed(wallet.EmailOTP, code),
		"plain": {Type: wallet.EmailOTP, Code: code, ClientKey: clientKey(t)}} {
		if f, ok := fault.As(try(call, v)); !ok || f.Code != fault.RateLimited || f.RetryAfter != time.Minute {
			t.Errorf("%s, after the fifth: %v", name, f)
		}
	}
}

func TestService_SealedCodeThatWasReplacedOpensNothing(t *testing.T) {
	t.Parallel()
	// A code that was replaced, expired or delayed between the legs opens no session: the second leg counts it, and its request is not
	// used.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	client := newSigner(t)
	call := newCall("/auth/credentials/1/verify")
	v := client.sealed(wallet.EmailOTP, env.challenge(id))
	_, first, err := env.wallets.Verify(t.Context(), env.live, call, nil, id, v)
	if err != nil {
		t.Fatal(err)
	}
	env.challenge(id)
	_, _, err = env.wallets.Verify(t.Context(), env.live, client.leg(t, call, first), nil, id, v)
	wantReason(t, "replaced", err, "Invalid OTP code")
	if stored := env.QueryStrings(`SELECT failures || ' ' || (SELECT count(*) FROM wallet_signed_requests WHERE used_at IS NOT NULL)
		FROM wallet_codes`); !slices.Equal(stored, []string{"1 0"}) || len(env.sessions(env.liveWallet)) != 0 {
		t.Errorf("failures and used requests %q", stored)
	}

	v = client.sealed(wallet.EmailOTP, env.proofs.code)
	if _, first, err = env.wallets.Verify(t.Context(), env.live, call, nil, id, v); err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(wallet.RequestLifetime)
	_, _, err = env.wallets.Verify(t.Context(), env.live, client.leg(t, call, first), nil, id, v)
	wantReason(t, "expired", err, "Request-Id expired")
}

func TestService_SealedCodeOpensOneSessionAmongConcurrent(t *testing.T) {
	t.Parallel()
	// Of many second legs at once one opens a session, whether they have the same request or others with the same bundle.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	client := newSigner(t)
	call := newCall("/auth/credentials/1/verify")
	v := client.sealed(wallet.EmailOTP, env.challenge(id))
	legs := make(chan wallet.Call, 20)
	for range 4 {
		_, first, err := env.wallets.Verify(t.Context(), env.live, call, nil, id, v)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			legs <- client.leg(t, call, first)
		}
	}
	opened := concurrently(20, func() error {
		_, _, err := env.wallets.Verify(t.Context(), env.live, <-legs, nil, id, v)
		return err
	})
	for _, err := range opened.failed {
		if !fault.Is(err, fault.Unauthorized) {
			t.Error(err)
		}
	}
	if sessions := env.sessions(env.liveWallet); opened.succeeded != 1 || len(sessions) != 1 {
		t.Errorf("%d requests opened %d sessions", opened.succeeded, len(sessions))
	}
}

func TestService_CodesByTextMessage(t *testing.T) {
	t.Parallel()
	// A session of the wallet adds one credential for the customer's phone. A code is sent to it at once and with each challenge, and
	// opens a session in both forms. It is none of the e-mail address.
	env := newEnv(t)
	request := wallets.NewCredential{Account: env.liveWallet.ID, Type: wallet.SMSOTP}
	call := newCall("/auth/credentials")
	create := func(c wallet.Call) (wallets.Challenged, *wallet.SignedRequest, error) {
		return env.wallets.CreateCredential(t.Context(), env.live, c, nil, request)
	}
	session := env.liveSession()
	if _, _, err := create(call); !fault.Is(err, fault.InvalidInput) {
		t.Fatalf("without a phone number: %v", err)
	}
	env.liveOwner.PhoneNumber = "+447700900123"
	env.setEmail(env.liveOwner, "bo@example.com")
	_, toSign, err := create(call)
	if err != nil {
		t.Fatal(err)
	}
	created, _, err := create(env.signedBy(session, call, toSign))
	if err != nil || created.Nickname != "+447700900123" || created.OTPTarget == "" {
		t.Fatalf("%+v, %v", created, err)
	}
	if _, _, err := create(call); !fault.Is(err, fault.SMSOTPCredentialAlreadyExists) {
		t.Errorf("a second one: %v", err)
	}
	if queued := env.QueryStrings(`SELECT content FROM mails WHERE kind = 'SMS_CODE'`); len(queued) != 1 {
		t.Errorf("text messages %q", queued)
	}

	plain := wallets.Verification{Type: wallet.SMSOTP, Code: env.challenge(created.ID), ClientKey: clientKey(t)}
	other := plain
	other.Type = wallet.EmailOTP
	_, _, err = env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, wallet.DefaultCredentialID(env.liveWallet.ID), other)
	wantReason(t, "the code of the phone for the address", err, "Invalid OTP code")
	opened, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, created.ID, plain)
	if err != nil || opened.Type != wallet.SMSOTP {
		t.Fatalf("%+v, %v", opened, err)
	}
	client := newSigner(t)
	v := client.sealed(wallet.SMSOTP, env.challenge(created.ID))
	_, first, err := env.wallets.Verify(t.Context(), env.live, call, nil, created.ID, v)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := env.wallets.Verify(t.Context(), env.live, client.leg(t, call, first), nil, created.ID, v); err != nil {
		t.Error(err)
	}
}
