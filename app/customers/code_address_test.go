package customers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// signatures are the proofs of an environment that has only signatures.
type signatures struct{ ports.WalletProofs }

func (signatures) CheckSignature(payload, signature string, sessions []wallet.Session) (wallet.Session, error) {
	return wallet.Signer(payload, signature, sessions)
}

// emailEnv has Ana, a customer of a production platform, with an embedded wallet.
type emailEnv struct {
	*env
	platform ident.Platform
	ana      customer.Customer
	wallet   ports.WalletID
}

func newEmailEnv(t *testing.T) *emailEnv {
	t.Helper()
	e := &emailEnv{env: newEnv(t)}
	e.platform = e.createPlatform(t, platform.Production, true).Platform
	e.ana, e.wallet = e.newOwner(t, "ana@example.com")
	return e
}

func (e *emailEnv) newOwner(t *testing.T, email string) (customer.Customer, ports.WalletID) {
	t.Helper()
	created, err := e.customers.Create(t.Context(), e.platform, nil, customer.Request{Type: "INDIVIDUAL", Email: email})
	if err != nil {
		t.Fatal(err)
	}
	var w ports.WalletID
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		accounts, err := tx.InternalAccountsOf(ctx, e.platform, created.ID)
		for _, a := range accounts {
			if a.Type == account.EmbeddedWallet {
				w = ports.WalletID{Platform: a.Platform, Account: a.ID}
			}
		}
		return err
	})
	return created, w
}

// addCredential stores a credential of a wallet; that for codes is the default one.
func (e *emailEnv) addCredential(w ports.WalletID, kind wallet.CredentialType, email string, verified bool) wallet.Credential {
	now := e.Clock.Now()
	c := wallet.Credential{ID: ident.NewAuthMethod(e.IDs.New, now), Platform: w.Platform, Account: w.Account, Type: kind, Nickname: "phone",
		CreatedAt: now, UpdatedAt: now}
	switch kind {
	case wallet.EmailOTP:
		c.ID, c.SentTo, c.Nickname = wallet.DefaultCredentialID(w.Account), email, email
	case wallet.SMSOTP:
		c.SentTo, c.Nickname = email, email
	case wallet.Passkey:
		c.Passkey = &wallet.PasskeyKey{CredentialID: []byte("passkey")}
	}
	if verified {
		c.VerifiedAt = now
	}
	e.save(wallet.Change{Credentials: []wallet.Credential{c}})
	return c
}

func (e *emailEnv) save(change wallet.Change) {
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveWallet(ctx, change) })
}

// openSession opens a session, and returns what signs with it.
func (e *emailEnv) openSession(t *testing.T, c wallet.Credential) func(payload string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := e.Clock.Now()
	e.save(wallet.Change{Sessions: []wallet.Session{{
		ID: ident.NewSession(e.IDs.New, now), Platform: c.Platform, Account: c.Account, Credential: c.ID, Type: c.Type,
		PublicKey:   wallet.SessionKey(elliptic.MarshalCompressed(elliptic.P256(), key.X, key.Y)),
		Certificate: wallet.Certificate{Statement: "opened", Signature: []byte("signature")}, CreatedAt: now, UpdatedAt: now,
		ExpiresAt: now.Add(wallet.SessionLifetime),
	}}})
	return func(payload string) string {
		digest := sha256.Sum256([]byte(payload))
		signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(signature)
	}
}

// update sends a request to change Ana; a call is its first leg unless it has a signature.
func (e *emailEnv) update(t *testing.T, call wallet.Call, change customer.Change) (customer.Customer, *wallet.SignedRequest, error) {
	t.Helper()
	change.Type = "INDIVIDUAL"
	body, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	call.Method, call.Path, call.BodyHash = "PATCH", "/customers/"+e.ana.ID.String(), sha256.Sum256(body)
	return e.customers.Update(t.Context(), e.platform, platform.Service, call, e.ana.ID, change)
}

// stored returns the present address of Ana, and that of her credential.
func (e *emailEnv) stored(t *testing.T) (ofCustomer, ofCredential string) {
	t.Helper()
	read, err := e.customers.Get(t.Context(), e.platform, e.ana.ID)
	if err != nil {
		t.Fatal(err)
	}
	w, err := e.Store.Wallet(t.Context(), e.wallet, e.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, _ := w.First(wallet.EmailOTP)
	return read.Email, c.SentTo
}

const newEmail = "ana.silva@example.com"

func toNewEmail() customer.Change { return customer.Change{Email: new(newEmail)} }

func TestUpdate_EmailOfVerifiedWalletNeedsSignature(t *testing.T) {
	t.Parallel()
	// The first request changes nothing. The second one, signed by a session of the wallet, changes the
	// address of the customer and of its credential in one commit, and ends the code that was sent before. It
	// is used up then.
	env := newEmailEnv(t)
	code := env.addCredential(env.wallet, wallet.EmailOTP, "ana@example.com", true)
	sign := env.openSession(t, code)
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWalletCode(ctx, wallet.Code{Platform: env.platform, Credential: code.ID, Hash: wallet.CodeHash{1},
			ExpiresAt: env.Clock.Now().Add(time.Minute), Failures: 4,
			Sending: wallet.CodeSending{BurstUntil: env.Clock.Now(), HourUntil: env.Clock.Now()}})
	})

	_, request, err := env.update(t, wallet.Call{}, toNewEmail())
	if err != nil || request == nil || request.Operation != wallet.UpdateCustomerEmail || request.Credential != wallet.EmailOTP {
		t.Fatalf("first request: %+v, %v", request, err)
	}
	if customerEmail, credentialEmail := env.stored(t); customerEmail != "ana@example.com" || credentialEmail != "ana@example.com" {
		t.Fatalf("changed to %s and %s by the first request", customerEmail, credentialEmail)
	}

	call := wallet.Call{RequestID: request.ID.String(), Signature: sign(request.Payload)}
	changed, again, err := env.update(t, call, toNewEmail())
	if err != nil || again != nil || changed.Email != newEmail {
		t.Fatalf("second request: %+v, %+v, %v", changed, again, err)
	}
	if customerEmail, credentialEmail := env.stored(t); customerEmail != newEmail || credentialEmail != newEmail {
		t.Errorf("stored %s and %s", customerEmail, credentialEmail)
	}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		last, err := tx.LockWalletCode(ctx, env.platform, code.ID)
		if last.Valid(env.Clock.Now()) {
			t.Error("the code that was sent to the old address is still valid")
		}
		if last.Failures != 4 {
			t.Errorf("%d wrong codes count after the change, want 4", last.Failures)
		}
		return err
	})

	// The same address again changes nothing, so nobody has to sign it; another one has to be signed anew.
	if same, request, err := env.update(t, wallet.Call{}, toNewEmail()); err != nil || request != nil || same.Email != newEmail {
		t.Errorf("the same address: %+v, %v", request, err)
	}
	_, _, err = env.update(t, call, customer.Change{Email: new("ana@example.com")})
	wantReason(t, "used request", err, wallet.ReasonRequestUsed)
}

// mails returns "kind recipient" of the mails in the queue, oldest first.
func (e *emailEnv) mails(t *testing.T) (queued []string) {
	t.Helper()
	for _, id := range e.QueryStrings(`SELECT id::text FROM mails ORDER BY id`) {
		m, _, waits, err := e.Store.WaitingMail(t.Context(), e.platform, uuid.MustParse(id))
		if err != nil || !waits {
			t.Fatalf("mail %s: waits %t, %v", id, waits, err)
		}
		queued = append(queued, string(m.Kind)+" "+m.To)
	}
	return queued
}

func TestUpdate_EmailChangeIsToldToOldAddress(t *testing.T) {
	t.Parallel()
	// Who had the old address learns of a change that was signed, and of nothing else: a change that needs no
	// signature, a first request and a refused one send no mail.
	env := newEmailEnv(t)
	if _, _, err := env.update(t, wallet.Call{}, customer.Change{Email: new("ana.souza@example.com")}); err != nil {
		t.Fatal(err)
	}
	sign := env.openSession(t, env.addCredential(env.wallet, wallet.EmailOTP, "ana.souza@example.com", true))
	_, request, err := env.update(t, wallet.Call{}, toNewEmail())
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = env.update(t, wallet.Call{RequestID: request.ID.String(), Signature: sign("another payload")}, toNewEmail())
	wantReason(t, "another payload", err, wallet.ReasonSignature)
	if queued := env.mails(t); len(queued) != 0 {
		t.Fatalf("mails before the change: %q", queued)
	}

	if _, _, err := env.update(t, wallet.Call{RequestID: request.ID.String(), Signature: sign(request.Payload)}, toNewEmail()); err != nil {
		t.Fatal(err)
	}

	if queued := env.mails(t); !slices.Equal(queued, []string{"ADDRESS_CHANGED ana.souza@example.com"}) {
		t.Errorf("mails %q", queued)
	}
}

func TestUpdate_PhoneOfVerifiedWalletNeedsSignature(t *testing.T) {
	t.Parallel()
	// The number to which the codes of a wallet are sent is protected as the address is: a request of its own changes it with the
	// credential, signed, and the customer gets a notice by e-mail.
	env := newEmailEnv(t)
	sign := env.openSession(t, env.addCredential(env.wallet, wallet.EmailOTP, "ana@example.com", true))
	first := customer.Change{Email: new("ana@example.com"), PhoneNumber: new("+447700900123")}
	if _, request, err := env.update(t, wallet.Call{}, first); err != nil || request != nil {
		t.Fatalf("without codes by text message: %+v, %v", request, err)
	}
	env.addCredential(env.wallet, wallet.SMSOTP, "+447700900123", false)
	_, _, err := env.update(t, wallet.Call{}, customer.Change{Email: new(newEmail), PhoneNumber: new("+447700900456")})
	apptest.WantFault(t, "both", err, fault.InvalidInput, "phoneNumber")

	change := customer.Change{Email: new("ana@example.com"), PhoneNumber: new("+447700900456")}
	_, request, err := env.update(t, wallet.Call{}, change)
	if err != nil || request == nil || request.Operation != wallet.UpdateCustomerPhone || request.Credential != wallet.SMSOTP {
		t.Fatalf("first request: %+v, %v", request, err)
	}
	changed, _, err := env.update(t, wallet.Call{RequestID: request.ID.String(), Signature: sign(request.Payload)}, change)
	if err != nil || changed.PhoneNumber != "+447700900456" {
		t.Fatalf("second request: %+v, %v", changed, err)
	}
	w, err := env.Store.Wallet(t.Context(), env.wallet, env.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := w.First(wallet.SMSOTP); c.SentTo != "+447700900456" || c.Nickname != c.SentTo {
		t.Errorf("stored %+v", c)
	}
	if queued := env.mails(t); !slices.Equal(queued, []string{"ADDRESS_CHANGED ana@example.com"}) {
		t.Errorf("mails %q", queued)
	}
}

func TestUpdate_PhoneChangeIsToldToOldNumber(t *testing.T) {
	t.Parallel()
	// Of a customer without an e-mail address, the old number gets the notice.
	env := newEmailEnv(t)
	env.ana, env.wallet = env.newOwner(t, "")
	if _, _, err := env.update(t, wallet.Call{}, customer.Change{PhoneNumber: new("+447700900123")}); err != nil {
		t.Fatal(err)
	}
	sign := env.openSession(t, env.addCredential(env.wallet, wallet.SMSOTP, "+447700900123", true))
	change := customer.Change{PhoneNumber: new("+447700900456")}
	_, request, err := env.update(t, wallet.Call{}, change)
	if err != nil || request == nil {
		t.Fatalf("%+v, %v", request, err)
	}
	if _, _, err := env.update(t, wallet.Call{RequestID: request.ID.String(), Signature: sign(request.Payload)}, change); err != nil {
		t.Fatal(err)
	}
	if queued := env.mails(t); !slices.Equal(queued, []string{"SMS_ADDRESS_CHANGED +447700900123"}) {
		t.Errorf("queued %q", queued)
	}
}

func TestUpdate_EmailRefusals(t *testing.T) {
	t.Parallel()
	// A second request that is not that of the first, or not signed by the wallet, changes nothing. What
	// needs no signature ignores both headers.
	env := newEmailEnv(t)
	code := env.addCredential(env.wallet, wallet.EmailOTP, "ana@example.com", true)
	sign := env.openSession(t, code)
	_, otherWallet := env.newOwner(t, "bo@example.com")
	foreign := env.openSession(t, env.addCredential(otherWallet, wallet.EmailOTP, "bo@example.com", true))
	_, request, err := env.update(t, wallet.Call{}, toNewEmail())
	if err != nil {
		t.Fatal(err)
	}
	id, signature := request.ID.String(), sign(request.Payload)
	for _, c := range []struct {
		reason string
		call   wallet.Call
		email  string
	}{
		{wallet.ReasonNoSignature, wallet.Call{RequestID: id}, newEmail},
		{wallet.ReasonNoRequestID, wallet.Call{Signature: signature}, newEmail},
		{wallet.ReasonRequestID, wallet.Call{RequestID: "Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", Signature: signature}, newEmail},
		{wallet.ReasonRequestDiffers, wallet.Call{RequestID: id, Signature: signature}, "eve@example.com"},
		{wallet.ReasonSignature, wallet.Call{RequestID: id, Signature: foreign(request.Payload)}, newEmail},
		{wallet.ReasonSignature, wallet.Call{RequestID: id, Signature: sign("another payload")}, newEmail},
	} {
		_, _, err := env.update(t, c.call, customer.Change{Email: new(c.email)})
		wantReason(t, c.reason, err, c.reason)
	}
	if customerEmail, credentialEmail := env.stored(t); customerEmail != "ana@example.com" || credentialEmail != "ana@example.com" {
		t.Errorf("stored %s and %s", customerEmail, credentialEmail)
	}
	if _, request, err := env.update(t, wallet.Call{RequestID: "proxy", Signature: "x"}, customer.Change{Email: new("ana@example.com"),
		FullName: new("Ana Souza")}); err != nil || request != nil {
		t.Errorf("another field: %+v, %v", request, err)
	}

	env.Clock.Advance(wallet.RequestLifetime)
	_, _, err = env.update(t, wallet.Call{RequestID: id, Signature: signature}, toNewEmail())
	wantReason(t, "expired", err, wallet.ReasonRequestExpired)
}

func TestUpdate_EmailConflicts(t *testing.T) {
	t.Parallel()
	// Both requests are refused while the codes of another wallet are sent to the address. The second is
	// refused if the credentials changed meanwhile, and can be repeated from the first.
	env := newEmailEnv(t)
	code := env.addCredential(env.wallet, wallet.EmailOTP, "ana@example.com", true)
	sign := env.openSession(t, code)
	_, other := env.newOwner(t, "bo@example.com")
	_, request, err := env.update(t, wallet.Call{}, toNewEmail())
	if err != nil {
		t.Fatal(err)
	}
	signed := wallet.Call{RequestID: request.ID.String(), Signature: sign(request.Payload)}

	taken := env.addCredential(other, wallet.EmailOTP, "Ana.Silva@example.com", false)
	for name, call := range map[string]wallet.Call{"first": {}, "second": signed} {
		_, _, err := env.update(t, call, toNewEmail())
		apptest.WantFault(t, name, err, fault.EmailOTPEmailAlreadyExists)
	}
	taken.RevokedAt = env.Clock.Now()
	env.save(wallet.Change{Credentials: []wallet.Credential{taken}})

	env.addCredential(env.wallet, wallet.Passkey, "", true)
	_, _, err = env.update(t, signed, toNewEmail())
	apptest.WantFault(t, "changed credentials", err, fault.EmailOTPCredentialSetChanged)
	if customerEmail, credentialEmail := env.stored(t); customerEmail != "ana@example.com" || credentialEmail != "ana@example.com" {
		t.Errorf("stored %s and %s", customerEmail, credentialEmail)
	}

	if _, request, err = env.update(t, wallet.Call{}, toNewEmail()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := env.update(t, wallet.Call{RequestID: request.ID.String(), Signature: sign(request.Payload)}, toNewEmail()); err != nil {
		t.Error(err)
	}
}

func TestUpdate_EmailOfUnverifiedWalletIsDirect(t *testing.T) {
	t.Parallel()
	// As long as nobody can sign, the change needs no signature: a credential that was challenged follows, and
	// one that is not stored has the new address by itself. The address can be removed only in the latter case.
	env := newEmailEnv(t)
	if changed, request, err := env.update(t, wallet.Call{}, toNewEmail()); err != nil || request != nil || changed.Email != newEmail {
		t.Fatalf("without a credential: %+v, %v", request, err)
	}
	if _, _, err := env.update(t, wallet.Call{}, customer.Change{Email: new("")}); err != nil {
		t.Errorf("removed: %v", err)
	}

	env.addCredential(env.wallet, wallet.EmailOTP, "ana@example.com", false)
	if _, request, err := env.update(t, wallet.Call{}, toNewEmail()); err != nil || request != nil {
		t.Fatalf("never verified: %+v, %v", request, err)
	}
	if customerEmail, credentialEmail := env.stored(t); customerEmail != newEmail || credentialEmail != newEmail {
		t.Errorf("stored %s and %s", customerEmail, credentialEmail)
	}
	_, _, err := env.update(t, wallet.Call{}, customer.Change{Email: new("")})
	apptest.WantFault(t, "removed", err, fault.InvalidInput, "email")
}

func TestUpdate_EmailSignatureIsUsedOnce(t *testing.T) {
	t.Parallel()
	// Of twenty second requests at once, one changes the customer, and the others find its request used.
	env := newEmailEnv(t)
	sign := env.openSession(t, env.addCredential(env.wallet, wallet.EmailOTP, "ana@example.com", true))
	_, request, err := env.update(t, wallet.Call{}, toNewEmail())
	if err != nil {
		t.Fatal(err)
	}
	before, err := env.customers.Get(t.Context(), env.platform, env.ana.ID)
	if err != nil {
		t.Fatal(err)
	}

	call := wallet.Call{RequestID: request.ID.String(), Signature: sign(request.Payload)}
	outcomes := make([]error, 20)
	var all sync.WaitGroup
	for i := range outcomes {
		all.Go(func() { _, _, outcomes[i] = env.update(t, call, toNewEmail()) })
	}
	all.Wait()

	changed := 0
	for _, err := range outcomes {
		if err == nil {
			changed++ // one changes the address; a later one finds it as it wants it
		} else {
			wantReason(t, "another", err, wallet.ReasonRequestUsed)
		}
	}
	after, err := env.customers.Get(t.Context(), env.platform, env.ana.ID)
	if err != nil || changed == 0 || after.Email != newEmail || reflect.DeepEqual(before, after) {
		t.Errorf("%d changes: %+v, %v", changed, after, err)
	}
	if used := env.QueryStrings(`SELECT count(*)::text FROM wallet_signed_requests WHERE used_at IS NOT NULL`); used[0] != "1" {
		t.Errorf("%s requests are used", used[0])
	}
}

func wantReason(t *testing.T, name string, err error, reason string) {
	t.Helper()
	if f, ok := fault.As(err); !ok || f.Code != fault.Unauthorized || f.Reason != reason {
		t.Errorf("%s: %v, want UNAUTHORIZED with the reason %q", name, err, reason)
	}
}
