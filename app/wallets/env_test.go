package wallets_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/adapters/walletproofs/sandbox"
	"causeway/app/internal/apptest"
	"causeway/app/internal/mails"
	"causeway/app/wallets"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// env is the environment of a test with the use cases on it: a wallet of ana on the sandbox platform, and
// a production platform.
type env struct {
	*apptest.Env
	t       *testing.T
	wallets *wallets.Service
	custody *custody
	proofs  *proofs
	wallet  account.Internal

	live       platform.Principal
	liveOwner  customer.Customer
	liveWallet account.Internal
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t, apptest.Connections(30)), t: t, custody: &custody{keys: map[wallet.SessionKey]*ecdsa.PrivateKey{}},
		proofs: &proofs{}}
	e.setEmail(e.Customer, "ana@example.com")
	e.wallet = e.NewInternalAccount(e.Customer.ID, "USDB", 0)
	live := e.NewPlatform(func(p *platform.Platform) { p.Environment = platform.Production })
	e.live = e.NewPrincipal(live)
	e.liveOwner = e.NewCustomer("bo", func(c *customer.Customer) { c.Platform, c.Email = live.ID, "bo@example.com" })
	e.liveWallet = e.NewInternalAccountOn(live.ID, e.liveOwner.ID, "USDB", 0)
	e.wallets = e.newService(e.Store)
	return e
}

func (e *env) newService(store wallets.Store) *wallets.Service {
	queue := mails.New(mails.Config{IDs: e.IDs, Mailers: ports.MailersByEnvironment{platform.Production: noMailer{}},
		SMS: ports.SMSSendersByEnvironment{platform.Production: noSMS{}}, MaxSMSPerHour: 1000,
		From: "wallets@example.com", MaxPerHour: 1000})
	return wallets.New(wallets.Config{Store: store, Mails: queue, Ledger: e.Store.LedgerReader(), Custody: e.custody,
		Clock: e.Clock, IDs: e.IDs,
		Proofs: ports.WalletProofsByEnvironment{platform.Sandbox: sandbox.New([]string{"https://accounts.google.com"}, e.proofs),
			platform.Production: e.proofs}})
}

// noMailer stands for a mailer: mails stay in the queue.
type noMailer struct{ ports.Mailer }

type noSMS struct{ ports.SMSSender }

// setEmail changes the address of a customer.
func (e *env) setEmail(c customer.Customer, email string) {
	e.t.Helper()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		c.Email = email
		return tx.UpdateCustomer(ctx, c)
	})
}

// custody keeps keys in memory, and the private keys of sessions so that tests can sign.
type custody struct {
	ports.Custody
	mu   sync.Mutex
	keys map[wallet.SessionKey]*ecdsa.PrivateKey
}

func (c *custody) NewSessionKey(context.Context, wallet.ClientKey) (ports.SealedSessionKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return ports.SealedSessionKey{}, err
	}
	public := wallet.SessionKey(elliptic.MarshalCompressed(elliptic.P256(), key.X, key.Y))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys[public] = key
	return ports.SealedSessionKey{Public: public, Encrypted: "sealed"}, nil
}

func (c *custody) Sign(_ context.Context, w ports.WalletID, statement string) (wallet.Certificate, error) {
	return wallet.Certificate{Statement: statement, Key: wallet.Key{2, w.Account.UUID()[15]}, Signature: []byte("signature")}, nil
}

func (c *custody) OTPTarget(_ context.Context, w ports.WalletID) (string, error) {
	return "target of " + w.Account.String(), nil
}

// OpenOTP opens what is not encrypted.
func (c *custody) OpenOTP(_ context.Context, _ ports.WalletID, sealed wallet.SealedOTP) (wallet.OTPAttempt, error) {
	return wallet.ParseOTPAttempt(sealed.Ciphertext)
}

func (c *custody) Export(_ context.Context, w ports.WalletID, _ wallet.ClientKey) (string, error) {
	return "words of " + w.Account.String(), nil
}

// sign signs a payload with the key of a session.
func (c *custody) sign(t *testing.T, s wallet.Session, payload string) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	digest := sha256.Sum256([]byte(payload))
	signature, err := ecdsa.SignASN1(rand.Reader, c.keys[s.PublicKey], digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(signature)
}

// proofs are those of production with passkeys and ID tokens that are plain texts: an assertion is signed
// with "signed <challenge>", and an ID token is "<issuer> <subject>" and, after a dot, a signature.
type proofs struct {
	ports.WalletProofs
	mu   sync.Mutex
	code string // the last one
	n    int
}

func (p *proofs) NewCode(length int, _ bool) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	p.code = fmt.Sprintf("%0*d", length, 123450+p.n)
	return p.code, nil
}

func (p *proofs) AcceptsTestCode(string) bool { return false }

func (p *proofs) AcceptsTestSignature(string) bool { return false }

func (p *proofs) RegisterPasskey(_ context.Context, _ platform.Platform, challenge []byte,
	a wallet.Attestation) (wallet.PasskeyKey, error) {
	if a.ClientDataJSON != string(challenge) {
		return wallet.PasskeyKey{}, fault.Invalid(fault.Field{Field: "attestation.clientDataJson", Message: "has another challenge"})
	}
	return wallet.PasskeyKey{CredentialID: []byte(a.CredentialID), PublicKey: []byte("cose"), SignCount: 1, Transports: a.Transports}, nil
}

func (p *proofs) CheckPasskey(_ context.Context, _ platform.Platform, key wallet.PasskeyKey, challenge []byte,
	a wallet.Assertion) (wallet.PasskeyKey, error) {
	if a.Signature != "signed "+hex.EncodeToString(challenge) {
		return key, wallet.InvalidPasskey("The assertion is wrong.")
	}
	key.SignCount++
	return key, nil
}

func (p *proofs) TokensAreSingleUse() bool { return true }

func (p *proofs) RegisterIdentity(_ context.Context, _ platform.Platform, token string, _ time.Time) (wallet.Identity, error) {
	identity := wallet.Identity{Audience: "app"}
	if n, err := fmt.Sscan(token, &identity.Issuer, &identity.Subject); n != 2 || err != nil {
		return identity, wallet.InvalidIdentity("The token is wrong.")
	}
	return identity, nil
}

func (p *proofs) CheckIdentity(_ context.Context, _ platform.Platform, known wallet.Identity, token string, _ wallet.ClientKey,
	_ time.Time) error {
	var found wallet.Identity
	if n, err := fmt.Sscan(token, &found.Issuer, &found.Subject); n < 2 || err != nil || found.Issuer != known.Issuer ||
		found.Subject != known.Subject {
		return wallet.InvalidIdentity("The token is wrong.")
	}
	return nil
}

func (p *proofs) CheckSignature(payload, signature string, sessions []wallet.Session) (wallet.Session, error) {
	return wallet.Signer(payload, signature, sessions)
}

// clientKey is a key of a client.
func clientKey(t *testing.T) wallet.ClientKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey.ECDH()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := wallet.ParseClientKey(hex.EncodeToString(public.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// newCall is the first leg of a request.
func newCall(path string) wallet.Call {
	return wallet.Call{Method: "POST", Path: path, BodyHash: sha256.Sum256([]byte("{}"))}
}

// signed is the second leg of a call in the sandbox.
func signed(c wallet.Call, r *wallet.SignedRequest) wallet.Call {
	c.Signature, c.RequestID = "sandbox-valid-signature", r.ID.String()
	return c
}

// signedBy is the second leg of a call in production.
func (e *env) signedBy(s wallet.Session, c wallet.Call, r *wallet.SignedRequest) wallet.Call {
	e.t.Helper()
	c.Signature, c.RequestID = e.custody.sign(e.t, s, r.Payload), r.ID.UUID().String()
	return c
}

// credentials returns the active credentials of a wallet.
func (e *env) credentials(w account.Internal) []wallet.Credential {
	e.t.Helper()
	found, err := e.wallets.ListCredentials(e.t.Context(), w.Platform, w.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

func (e *env) sessions(w account.Internal) []wallet.Session {
	e.t.Helper()
	found, err := e.wallets.ListSessions(e.t.Context(), w.Platform, w.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

// liveSession opens a session of the default credential of the production wallet with a code.
func (e *env) liveSession() wallet.Session {
	e.t.Helper()
	id := wallet.DefaultCredentialID(e.liveWallet.ID)
	if _, err := e.wallets.Challenge(e.t.Context(), e.live, nil, id, nil); err != nil {
		e.t.Fatal(err)
	}
	opened, _, err := e.wallets.Verify(e.t.Context(), e.live, wallet.Call{}, nil, id,
		wallets.Verification{Type: wallet.EmailOTP, Code: e.proofs.code,
			ClientKey: clientKey(e.t)})
	if err != nil {
		e.t.Fatal(err)
	}
	return opened.Session
}

// addIdentity adds an OAUTH credential to the production wallet.
func (e *env) addIdentity(by wallet.Session, token string) wallet.Credential {
	e.t.Helper()
	request := wallets.NewCredential{Account: e.liveWallet.ID, Type: wallet.OAuth, Token: token}
	call := newCall("/auth/credentials?" + token)
	_, toSign, err := e.wallets.CreateCredential(e.t.Context(), e.live, call, nil, request)
	if err != nil || toSign == nil {
		e.t.Fatalf("%+v, %v", toSign, err)
	}
	created, _, err := e.wallets.CreateCredential(e.t.Context(), e.live, e.signedBy(by, call, toSign), nil, request)
	if err != nil {
		e.t.Fatal(err)
	}
	return created.Credential
}

// wantReason checks that an error is UNAUTHORIZED with a reason.
func wantReason(t *testing.T, name string, err error, reason string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Unauthorized || f.Reason != reason {
		t.Errorf("%s: %v, want the reason %q", name, err, reason)
	}
}

// clientData is the client data of a passkey for a challenge, as a browser makes it.
func clientData(kind string, challenge []byte) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":"https://app.example.com"}`, kind,
		base64.RawURLEncoding.EncodeToString(challenge)))
}
