package wallets_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/wallets"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

func TestService_CodesAreSingleUseAndForgetful(t *testing.T) {
	t.Parallel()
	// A code that was never sent, is wrong, used, replaced, expired or dead is refused with one and the same
	// fault, and opens nothing.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	verify := func(code string) error {
		_, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, id, wallets.Verification{Type: wallet.EmailOTP, Code: code,
			ClientKey: clientKey(t)})
		return err
	}
	challenge := func() string {
		t.Helper()
		if _, err := env.wallets.Challenge(t.Context(), env.live, nil, id, nil); err != nil {
			t.Fatal(err)
		}
		return env.proofs.code
	}
	var refusals []error
	refused := func(name, code string) {
		t.Helper()
		err := verify(code)
		wantReason(t, name, err, "Invalid OTP code")
		refusals = append(refusals, err)
	}

	refused("never sent", "123456")
	replaced := challenge()
	first := challenge()
	refused("replaced", replaced)
	refused("wrong", "000000")
	if err := verify(first); err != nil {
		t.Fatal(err)
	}
	refused("used", first)
	expired := challenge()
	env.Clock.Advance(5 * time.Minute)
	refused("expired", expired)
	dead := challenge()
	for range wallet.MaxCodeTries {
		refused("wrong", "000000")
	}
	env.Clock.Advance(time.Minute) // the delay after the fifth
	refused("dead", dead)
	if err := verify(challenge()); err != nil {
		t.Errorf("the code after a dead one: %v", err)
	}

	for _, err := range refusals {
		if err.Error() != refusals[0].Error() {
			t.Errorf("%v differs from %v", err, refusals[0])
		}
	}
	if sessions := env.sessions(env.liveWallet); len(sessions) != 2 {
		t.Errorf("%d sessions, want 2", len(sessions))
	}
}

func TestService_CodesAreQueuedWithinLimits(t *testing.T) {
	t.Parallel()
	// A code is in the commit of its mail to the address of the credential, which ends those before it that were not sent. After five at
	// once the next one has to wait, and then no mail is queued; in the sandbox there are no mails.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	for range 5 {
		if _, err := env.wallets.Challenge(t.Context(), env.live, nil, id, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := env.wallets.Challenge(t.Context(), env.live, nil, id, nil)
	if f, ok := fault.As(err); !ok || f.Code != fault.RateLimited || f.RetryAfter != 15*time.Second {
		t.Errorf("the sixth code: %v", err)
	}
	if _, err := env.wallets.Challenge(t.Context(), env.Admin, nil, wallet.DefaultCredentialID(env.wallet.ID), nil); err != nil {
		t.Fatal(err)
	}
	if mails := env.QueryStrings(`SELECT kind FROM mails WHERE content LIKE '%bo@example.com%'`); !slices.Equal(mails,
		[]string{"CODE"}) {
		t.Errorf("mails %v", mails)
	}
	if mails := env.QueryStrings(`SELECT status FROM mails ORDER BY created_at, id`); !slices.Equal(mails,
		append(slices.Repeat([]string{"EXPIRED"}, 4), "WAITING")) {
		t.Errorf("the mails are %v", mails)
	}
}

func TestService_RightCodeOpensOneSessionAmongConcurrent(t *testing.T) {
	t.Parallel()
	// However many requests have the right code at the same time, one opens a session. The others get
	// the error of a wrong code.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	if _, err := env.wallets.Challenge(t.Context(), env.live, nil, id, nil); err != nil {
		t.Fatal(err)
	}
	v := wallets.Verification{Type: wallet.EmailOTP, Code: env.proofs.code, ClientKey: clientKey(t)}

	opened := concurrently(100, func() error {
		_, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, id, v)
		return err
	})

	for _, err := range opened.failed {
		wantReason(t, "concurrent", err, "Invalid OTP code")
	}
	if sessions := env.sessions(env.liveWallet); opened.succeeded != 1 || len(sessions) != 1 {
		t.Errorf("%d requests opened %d sessions", opened.succeeded, len(sessions))
	}
}

func TestService_WrongCodesAmongConcurrentEndTheCode(t *testing.T) {
	t.Parallel()
	// Wrong codes at the same time are all counted: the right one after five is refused until the delay is over, and then as
	// one that was tried too often.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	if _, err := env.wallets.Challenge(t.Context(), env.live, nil, id, nil); err != nil {
		t.Fatal(err)
	}
	v := wallets.Verification{Type: wallet.EmailOTP, Code: "wrong", ClientKey: clientKey(t)}
	tried := concurrently(wallet.MaxCodeTries, func() error {
		_, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, id, v)
		return err
	})
	v.Code = env.proofs.code
	_, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, id, v)
	if f, ok := fault.As(err); !ok || f.Code != fault.RateLimited || f.RetryAfter != time.Minute {
		t.Errorf("the right one at once: %v", err)
	}
	env.Clock.Advance(time.Minute)
	_, _, err = env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, id, v)
	wantReason(t, "the right one", err, "Invalid OTP code")
	if stored := env.QueryStrings(`SELECT failures || ' ' || tries FROM wallet_codes`); !slices.Equal(stored, []string{"5 5"}) {
		t.Errorf("stored failures and tries %q", stored)
	}
	if tried.succeeded > 0 || len(env.sessions(env.liveWallet)) > 0 {
		t.Errorf("%d wrong codes opened a session", tried.succeeded)
	}
}

func TestService_WrongCodesAreCountedOverCodes(t *testing.T) {
	t.Parallel()
	// New codes give no new tries: from the fifth wrong one on, each is followed by a longer delay, in which no code is sent
	// and not even the right one is accepted, by another process either. The right code after a delay ends it.
	env := newEnv(t)
	other := env.newService(env.Store)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	guess := func(service *wallets.Service, code string) error {
		_, _, err := service.Verify(t.Context(), env.live, wallet.Call{}, nil, id,
			wallets.Verification{Type: wallet.EmailOTP, Code: code, ClientKey: clientKey(t)})
		return err
	}
	challenge := func(service *wallets.Service) error {
		_, err := service.Challenge(t.Context(), env.live, nil, id, nil)
		return err
	}
	wantWait := func(name string, err error, wait time.Duration) {
		t.Helper()
		if f, ok := fault.As(err); !ok || f.Code != fault.RateLimited || f.Reason != "Too many wrong codes" || f.RetryAfter != wait {
			t.Fatalf("%s: %v, want a wait of %s", name, err, wait)
		}
	}
	for range 2 {
		if err := challenge(env.wallets); err != nil {
			t.Fatal(err)
		}
		wantReason(t, "wrong", guess(env.wallets, "wrong"), "Invalid OTP code")
		wantReason(t, "wrong", guess(other, "wrong"), "Invalid OTP code")
		env.Clock.Advance(time.Hour)
	}
	wait := time.Minute
	for range 4 {
		if err := challenge(other); err != nil {
			t.Fatal(err)
		}
		wantReason(t, "wrong", guess(other, "wrong"), "Invalid OTP code")
		wantWait("the right one", guess(env.wallets, env.proofs.code), wait)
		wantWait("a new code", challenge(env.wallets), wait)
		env.Clock.Advance(wait - time.Second)
		wantWait("the right one later", guess(other, env.proofs.code), time.Second)
		env.Clock.Advance(time.Hour - wait + time.Second)
		wait *= 2
	}
	if err := challenge(env.wallets); err != nil {
		t.Fatal(err)
	}
	if err := guess(env.wallets, env.proofs.code); err != nil {
		t.Fatal(err)
	}
	if err := challenge(env.wallets); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "wrong after a right one", guess(env.wallets, "wrong"), "Invalid OTP code")
	if err := guess(env.wallets, env.proofs.code); err != nil {
		t.Errorf("the right one after one wrong: %v", err)
	}
}

func TestService_SandboxCodeIsNeverDelayed(t *testing.T) {
	t.Parallel()
	// The test value of the sandbox opens sessions whatever was tried before.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.wallet.ID)
	guess := func(code string) error {
		_, _, err := env.wallets.Verify(t.Context(), env.Admin, wallet.Call{}, nil, id,
			wallets.Verification{Type: wallet.EmailOTP, Code: code,
				ClientKey: clientKey(t)})
		return err
	}
	if _, err := env.wallets.Challenge(t.Context(), env.Admin, nil, id, nil); err != nil {
		t.Fatal(err)
	}
	for range wallet.MaxCodeTries {
		wantReason(t, "wrong", guess("wrong"), "Invalid OTP code")
	}
	if err := guess("wrong"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("a sixth wrong one: %v", err)
	}
	if err := guess("000000"); err != nil {
		t.Errorf("the test value: %v", err)
	}
	if _, err := env.wallets.Challenge(t.Context(), env.Admin, nil, id, nil); err != nil {
		t.Errorf("a code after the test value: %v", err)
	}
}

// outcomes of concurrent calls.
type outcomes struct {
	succeeded int
	failed    []error
}

// concurrently makes calls at the same time.
func concurrently(n int, call func() error) (o outcomes) {
	results := make(chan error, n)
	for range n {
		go func() { results <- call() }()
	}
	for range n {
		if err := <-results; err != nil {
			o.failed = append(o.failed, err)
		} else {
			o.succeeded++
		}
	}
	return o
}

// lostStore loses the answers of commits.
type lostStore struct{ wallets.Store }

var errLost = errors.New("the connection is lost")

func (s lostStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return errors.Join(s.Store.DoUnit(ctx, fn), errLost)
}

// repeatingStore runs every unit of work twice, as after a serialization failure: the first run is rolled
// back.
type repeatingStore struct{ wallets.Store }

func (s repeatingStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	err := s.Store.DoUnit(ctx, func(ctx context.Context, tx any) error { return errors.Join(fn(ctx, tx), errLost) })
	if err != nil && !errors.Is(err, errLost) {
		return err
	}
	return s.Store.DoUnit(ctx, fn)
}

func TestService_LostAnswerKeepsResponse(t *testing.T) {
	t.Parallel()
	// When the answer of the commit is lost, the session exists and its response is stored under the idempotency
	// key. That is the response now and of every repeated request, which opens nothing.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.liveWallet.ID)
	if _, err := env.wallets.Challenge(t.Context(), env.live, nil, id, nil); err != nil {
		t.Fatal(err)
	}
	v := wallets.Verification{Type: wallet.EmailOTP, Code: env.proofs.code, ClientKey: clientKey(t)}
	request := apptest.IdempotentRequest(env.live, "verify", func(result any) string { return result.(wallets.OpenedSession).ID.String() })
	// The check of the code is a unit of work without changes; only the last one is lost.
	calls := 0
	service := env.newService(countingStore{env.Store, func(s wallets.Store) wallets.Store {
		if calls++; calls == 2 {
			return lostStore{s}
		}
		return s
	}})

	_, _, err := service.Verify(t.Context(), env.live, wallet.Call{}, request, id, v)
	sessions := env.sessions(env.liveWallet)
	if len(sessions) != 1 {
		t.Fatalf("sessions %+v, %v", sessions, err)
	}
	wantReplay(t, "lost", err, sessions[0].ID.String())
	_, _, err = env.wallets.Verify(t.Context(), env.live, wallet.Call{}, request, id, v)
	wantReplay(t, "again", err, sessions[0].ID.String())
	_, _, err = env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, id, v)
	wantReason(t, "again without a key", err, "Invalid OTP code")
	if again := env.sessions(env.liveWallet); len(again) != 1 {
		t.Errorf("%d sessions", len(again))
	}
}

// wantReplay checks that an error is a stored response.
func wantReplay(t *testing.T, name string, err error, body string) {
	t.Helper()
	var replay *ports.Replay
	if !errors.As(err, &replay) || string(replay.Body) != body {
		t.Errorf("%s: %v, want the response %q", name, err, body)
	}
}

// countingStore chooses the store of each unit of work.
type countingStore struct {
	wallets.Store
	next func(wallets.Store) wallets.Store
}

func (s countingStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	return s.next(s.Store).DoUnit(ctx, fn)
}

func TestService_RepeatedUnitOfWorkChangesOnce(t *testing.T) {
	t.Parallel()
	// A unit of work that the database asks to run again leaves what one run leaves.
	env := newEnv(t)
	env.wallets = env.newService(repeatingStore{env.Store})
	session := env.liveSession()
	env.addIdentity(session, "google bo-1")
	if credentials, sessions := env.credentials(env.liveWallet), env.sessions(env.liveWallet); len(credentials) != 2 || len(sessions) != 1 {
		t.Errorf("%d credentials, %d sessions", len(credentials), len(sessions))
	}
	if mails := env.QueryStrings(`SELECT kind FROM mails ORDER BY id`); !slices.Equal(mails, []string{"CODE", "CREDENTIAL_ADDED"}) {
		t.Errorf("mails %v", mails)
	}
}

// addPasskey adds a passkey to the production wallet.
func (e *env) addPasskey(by wallet.Session, challenge string) (wallet.Credential, error) {
	e.t.Helper()
	request := wallets.NewCredential{Account: e.liveWallet.ID, Type: wallet.Passkey, Nickname: "Phone", Challenge: []byte(challenge),
		Attestation: wallet.Attestation{CredentialID: "key", ClientDataJSON: challenge}}
	call := newCall("/auth/credentials?" + challenge)
	_, toSign, err := e.wallets.CreateCredential(e.t.Context(), e.live, call, nil, request)
	if err != nil {
		return wallet.Credential{}, err
	}
	created, _, err := e.wallets.CreateCredential(e.t.Context(), e.live, e.signedBy(by, call, toSign), nil, request)
	return created.Credential, err
}

func TestService_PasskeyChallengesAreSingleUse(t *testing.T) {
	t.Parallel()
	// An assertion is accepted once, for its own challenge and credential, in time; each use stores the counter.
	// The key of the session is for the client of the challenge.
	env := newEnv(t)
	passkey, err := env.addPasskey(env.liveSession(), "challenge")
	if err != nil {
		t.Fatal(err)
	}
	client := clientKey(t)
	challenge := func() *wallet.PasskeyChallenge {
		t.Helper()
		challenged, err := env.wallets.Challenge(t.Context(), env.live, nil, passkey.ID, &client)
		if err != nil || !bytes.Equal(challenged.Challenge.Challenge, wallet.BoundChallenge([32]byte(challenged.Challenge.Challenge), client)) {
			t.Fatalf("%+v, %v", challenged, err)
		}
		return challenged.Challenge
	}
	verification := func(c *wallet.PasskeyChallenge, requestID string) wallets.Verification {
		return wallets.Verification{Type: wallet.Passkey, RequestID: requestID,
			Assertion: wallet.Assertion{Signature: "signed " + hex.EncodeToString(c.Challenge)}}
	}
	verify := func(v wallets.Verification) error {
		_, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, passkey.ID, v)
		return err
	}
	if _, err := env.wallets.Challenge(t.Context(), env.live, nil, passkey.ID, nil); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("without a client key: %v", err)
	}

	first, second := challenge(), challenge()
	wantReason(t, "no Request-Id", verify(verification(first, "")), "Missing Request-Id")
	wantReason(t, "malformed", verify(verification(first, "x")), "Invalid Request-Id")
	wantReason(t, "unknown", verify(verification(first, ident.NewSignedRequest(env.IDs.New, env.Clock.Now()).String())), "Invalid Request-Id")
	wantReason(t, "of another challenge", verify(verification(first, second.ID.String())), "Invalid passkey signature")
	if err := verify(verification(first, first.ID.String())); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "again", verify(verification(first, first.ID.String())), "Request-Id already used")
	once := concurrently(20, func() error { return verify(verification(second, second.ID.UUID().String())) })
	if once.succeeded != 1 {
		t.Errorf("%d of 20 assertions were accepted", once.succeeded)
	}
	late := challenge()
	env.Clock.Advance(wallet.PasskeyChallengeLifetime)
	wantReason(t, "late", verify(verification(late, late.ID.String())), "Request-Id expired")
	stored, err := env.Store.WalletCredential(t.Context(), env.live.Platform, passkey.ID)
	if err != nil || stored.Passkey.SignCount != 3 || stored.VerifiedAt.IsZero() {
		t.Errorf("stored %+v, %v", stored.Passkey, err)
	}

	// The challenge of a registration is used once too.
	otherOwner := env.NewCustomer("cy", func(c *customer.Customer) { c.Platform = env.live.Platform })
	other := env.NewInternalAccountOn(env.live.Platform, otherOwner.ID, "USDB", 0)
	_, _, err = env.wallets.CreateCredential(t.Context(), env.live, newCall("/auth/credentials"), nil, wallets.NewCredential{Account: other.ID,
		Type: wallet.Passkey, Nickname: "Phone",
		Challenge: []byte("challenge"), Attestation: wallet.Attestation{ClientDataJSON: "challenge"}})
	apptest.WantFault(t, "a used challenge", err, fault.InvalidInput, "challenge")
}

func TestService_IDTokensAreSingleUse(t *testing.T) {
	t.Parallel()
	// A token opens one session among concurrent requests, and never another one, also if its signature is
	// written in another valid way; a token of another person opens none. The same identity cannot be added
	// twice.
	env := newEnv(t)
	session := env.liveSession()
	added := env.addIdentity(session, "google bo-1")
	verify := func(token string) error {
		_, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, added.ID,
			wallets.Verification{Type: wallet.OAuth, Token: token,
				ClientKey: clientKey(t)})
		return err
	}
	once := concurrently(20, func() error { return verify("google bo-1 first.signature") })
	if once.succeeded != 1 {
		t.Errorf("%d of 20 requests opened a session", once.succeeded)
	}
	for _, err := range once.failed {
		wantReason(t, "concurrent", err, "Invalid OIDC token")
	}
	wantReason(t, "with another signature", verify("google bo-1 first.another"), "Invalid OIDC token")
	wantReason(t, "of another person", verify("google ana-1"), "Invalid OIDC token")
	wantReason(t, "that added the credential", verify("google bo-1"), "Invalid OIDC token")
	_, _, err := env.wallets.CreateCredential(t.Context(), env.live, newCall("/auth/credentials"), nil,
		wallets.NewCredential{Account: env.liveWallet.ID, Type: wallet.OAuth, Token: "google bo-1\n"})
	apptest.WantFault(t, "the same identity", err, fault.InvalidInput, "oidcToken")
	if _, err := env.wallets.Challenge(t.Context(), env.live, nil, added.ID, nil); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a challenge of an identity: %v", err)
	}
}

func TestService_SandboxValuesOpenSessions(t *testing.T) {
	t.Parallel()
	// In the sandbox each type of credential is added and verified with its test values, again and again, and
	// each wrong value has its reason. No session has to exist for a signature.
	env := newEnv(t)
	add := func(r wallets.NewCredential) wallet.Credential {
		t.Helper()
		r.Account = env.wallet.ID
		call := newCall("/auth/credentials?" + string(r.Type))
		_, toSign, err := env.wallets.CreateCredential(t.Context(), env.Admin, call, nil, r)
		if err != nil || toSign == nil || toSign.Credential != r.Type {
			t.Fatalf("%+v, %v", toSign, err)
		}
		created, _, err := env.wallets.CreateCredential(t.Context(), env.Admin, signed(call, toSign), nil, r)
		if err != nil {
			t.Fatal(err)
		}
		return created.Credential
	}
	client := clientKey(t)
	const header, claims = "eyJhbGciOiJub25lIn0",
		"eyJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20iLCJzdWIiOiIxIiwiYXVkIjoiYXBwIiwiZW1haWwiOiJhbmFAZ29vZ2xlLnRlc3QifQ"
	identity := add(wallets.NewCredential{Type: wallet.OAuth, Token: header + "." + claims + ".c2ln"})
	if identity.Nickname != "ana@google.test" {
		t.Errorf("identity %+v", identity)
	}
	challenge := []byte("a challenge of the platform")
	passkey := add(wallets.NewCredential{Type: wallet.Passkey, Nickname: "Ana's phone", Challenge: challenge,
		Attestation: wallet.Attestation{CredentialID: "a2V5",
			ClientDataJSON: clientData("webauthn.create", challenge)}})
	email := wallet.DefaultCredentialID(env.wallet.ID)
	if credentials := env.credentials(env.wallet); len(credentials) != 3 || credentials[0].ID != email {
		t.Errorf("credentials %+v", credentials)
	}

	challenged, err := env.wallets.Challenge(t.Context(), env.Admin, nil, passkey.ID, &client)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		id     ident.AuthMethod
		v      wallets.Verification
		reason string
	}{
		"code":        {email, wallets.Verification{Type: wallet.EmailOTP, Code: "000000", ClientKey: client}, ""},
		"code again":  {email, wallets.Verification{Type: wallet.EmailOTP, Code: "000000", ClientKey: client}, ""},
		"wrong code":  {email, wallets.Verification{Type: wallet.EmailOTP, Code: "123456", ClientKey: client}, "Invalid OTP code"},
		"token":       {identity.ID, wallets.Verification{Type: wallet.OAuth, Token: "sandbox-valid-oidc-token", ClientKey: client}, ""},
		"token again": {identity.ID, wallets.Verification{Type: wallet.OAuth, Token: "sandbox-valid-oidc-token", ClientKey: client}, ""},
		"wrong token": {identity.ID, wallets.Verification{Type: wallet.OAuth, Token: "other", ClientKey: client}, "Invalid OIDC token"},
		"passkey": {passkey.ID, wallets.Verification{Type: wallet.Passkey, RequestID: challenged.Challenge.ID.String(),
			Assertion: wallet.Assertion{Signature: "sandbox-valid-passkey-signature"}}, ""},
		"wrong passkey": {passkey.ID,
			wallets.Verification{Type: wallet.Passkey, RequestID: "", Assertion: wallet.Assertion{Signature: "other"}},
			"Missing Request-Id"},
	} {
		opened, _, err := env.wallets.Verify(t.Context(), env.Admin, wallet.Call{}, nil, c.id, c.v)
		if c.reason != "" {
			wantReason(t, name, err, c.reason)
		} else if err != nil || opened.EncryptedKey == "" || opened.Type != c.v.Type ||
			!opened.ExpiresAt.Equal(opened.CreatedAt.Add(wallet.SessionLifetime)) {
			t.Errorf("%s: %+v, %v", name, opened, err)
		}
	}
	if sessions := env.sessions(env.wallet); len(sessions) != 5 {
		t.Errorf("%d sessions, want 5", len(sessions))
	}
	env.Clock.Advance(wallet.SessionLifetime)
	if sessions := env.sessions(env.wallet); len(sessions) != 0 {
		t.Errorf("%d sessions after their end", len(sessions))
	}
}

func TestService_VerifyRefusals(t *testing.T) {
	t.Parallel()
	// Customers who are deleted or not ready open no sessions, and ids of another platform or of nothing are
	// not found. A verification must have the type of the credential.
	env := newEnv(t)
	id := wallet.DefaultCredentialID(env.wallet.ID)
	verification := wallets.Verification{Type: wallet.EmailOTP, Code: "000000", ClientKey: clientKey(t)}
	verify := func(p platform.Principal, id ident.AuthMethod, v wallets.Verification) error {
		_, _, err := env.wallets.Verify(t.Context(), p, wallet.Call{}, nil, id, v)
		return err
	}
	edit := func(change func(*customer.Customer)) {
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			c, err := tx.LockCustomer(ctx, env.Platform.ID, env.Customer.ID)
			if err != nil {
				return err
			}
			change(&c)
			return tx.UpdateCustomer(ctx, c)
		})
	}
	if err := verify(env.live, id, verification); !fault.Is(err, fault.CredentialNotFound) {
		t.Errorf("another platform: %v", err)
	}
	if err := verify(env.Admin, ident.NewAuthMethod(env.IDs.New, env.Clock.Now()), verification); !fault.Is(err, fault.CredentialNotFound) {
		t.Errorf("an unknown credential: %v", err)
	}
	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 0)
	if err := verify(env.Admin, wallet.DefaultCredentialID(dollars.ID), verification); !fault.Is(err, fault.CredentialNotFound) {
		t.Errorf("an account that is no wallet: %v", err)
	}
	apptest.WantFault(t, "another type", verify(env.Admin, id,
		wallets.Verification{Type: wallet.OAuth, Token: "sandbox-valid-oidc-token"}),
		fault.InvalidInput, "type")

	edit(func(c *customer.Customer) { c.Status = customer.Pending })
	if err := verify(env.Admin, id, verification); !fault.Is(err, fault.UserNotReady) {
		t.Errorf("a customer who is not ready: %v", err)
	}
	edit(func(c *customer.Customer) { c.DeletedAt = env.Clock.Now() })
	if err := verify(env.Admin, id, verification); !fault.Is(err, fault.CustomerDeleted) {
		t.Errorf("a deleted customer: %v", err)
	}
	if credentials := env.credentials(env.wallet); len(credentials) != 0 {
		t.Errorf("credentials of a deleted customer: %+v", credentials)
	}
}
