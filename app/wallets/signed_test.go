package wallets_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/wallets"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

func TestService_SecondLegIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	// A second leg names the first check that failed, and changes nothing; the right one is carried out once.
	env := newEnv(t)
	session := env.liveSession()
	client := clientKey(t)
	call := newCall("/internal-accounts/1/export")
	export := func(c wallet.Call) error {
		_, _, err := env.wallets.Export(t.Context(), env.live, c, nil, env.liveWallet.ID, client)
		return err
	}
	_, toSign, err := env.wallets.Export(t.Context(), env.live, call, nil, env.liveWallet.ID, client)
	if err != nil || toSign == nil || toSign.Credential != "" || !toSign.ExpiresAt.Equal(toSign.CreatedAt.Add(wallet.RequestLifetime)) ||
		!strings.Contains(toSign.Payload, env.liveWallet.ID.String()) {
		t.Fatalf("%+v, %v", toSign, err)
	}
	right := env.signedBy(session, call, toSign)
	with := func(edit func(*wallet.Call)) wallet.Call {
		c := right
		edit(&c)
		return c
	}
	otherAccount := env.NewInternalAccountOn(env.live.Platform,
		env.NewCustomer("cy", func(c *customer.Customer) { c.Platform = env.live.Platform }).ID, "USDB", 0)
	for name, c := range map[string]struct {
		call wallet.Call
		want string
	}{
		"no signature":  {with(func(c *wallet.Call) { c.Signature = "" }), "Missing Service-Wallet-Signature"},
		"no request id": {with(func(c *wallet.Call) { c.RequestID = "" }), "Missing Request-Id"},
		"malformed":     {with(func(c *wallet.Call) { c.RequestID = "1" }), "Invalid Request-Id"},
		"unknown": {with(func(c *wallet.Call) { c.RequestID = ident.NewSignedRequest(env.IDs.New, env.Clock.Now()).String() }),
			"Invalid Request-Id"},
		"other body": {with(func(c *wallet.Call) { c.BodyHash = sha256.Sum256([]byte("{ }")) }), "Request does not match Request-Id"},
		"other path": {with(func(c *wallet.Call) { c.Path = "/other" }), "Request does not match Request-Id"},
		"no base64":  {with(func(c *wallet.Call) { c.Signature = "?" }), "Invalid Service-Wallet-Signature"},
		"other payload": {with(func(c *wallet.Call) { c.Signature = env.custody.sign(t, session, toSign.Payload+" ") }),
			"Invalid Service-Wallet-Signature"},
		"sandbox's text": {with(func(c *wallet.Call) { c.Signature = "sandbox-valid-signature" }), "Invalid Service-Wallet-Signature"},
	} {
		wantReason(t, name, export(c.call), c.want)
	}
	_, _, err = env.wallets.Export(t.Context(), env.live, right, nil, otherAccount.ID, client)
	wantReason(t, "another account", err, "Request does not match Request-Id")
	if _, _, err = env.wallets.Export(t.Context(), env.Admin, right, nil, env.liveWallet.ID, client); !fault.Is(err,
		fault.InternalAccountNotFound) {
		t.Errorf("another platform: %v", err)
	}
	if rows := env.QueryStrings(`SELECT id::text FROM wallet_exports`); len(rows) != 0 {
		t.Fatalf("exports %v", rows)
	}

	if err := export(right); err != nil {
		t.Fatal(err)
	}
	wantReason(t, "again", export(right), "Request-Id already used")
	exports, err := env.Store.WalletExports(t.Context(), ports.WalletID{Platform: env.live.Platform, Account: env.liveWallet.ID})
	if err != nil || len(exports) != 1 || exports[0].Session != session.ID || exports[0].Credential != session.Credential ||
		exports[0].Request != toSign.ID || exports[0].Token != env.live.Token {
		t.Errorf("exports %+v, %v", exports, err)
	}
	if mails := env.QueryStrings(`SELECT kind FROM mails ORDER BY id`); !slices.Equal(mails, []string{"CODE", "WALLET_EXPORTED"}) {
		t.Errorf("mails %v", mails)
	}

	// A request that is signed too late, or by a session that has ended, is refused.
	_, late, err := env.wallets.Export(t.Context(), env.live, call, nil, env.liveWallet.ID, client)
	if err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(wallet.RequestLifetime)
	wantReason(t, "late", export(env.signedBy(session, call, late)), "Request-Id expired")
	env.Clock.Advance(wallet.SessionLifetime)
	_, unsigned, err := env.wallets.Export(t.Context(), env.live, call, nil, env.liveWallet.ID, client)
	if err != nil {
		t.Fatal(err)
	}
	wantReason(t, "of a session that has ended", export(env.signedBy(session, call, unsigned)), "Invalid Service-Wallet-Signature")
}

func TestService_OneSignatureWorksOnceAmongConcurrent(t *testing.T) {
	t.Parallel()
	// However many requests have one signature at the same time, one is carried out.
	env := newEnv(t)
	session := env.liveSession()
	call := newCall("/internal-accounts/1/export")
	_, toSign, err := env.wallets.Export(t.Context(), env.live, call, nil, env.liveWallet.ID, clientKey(t))
	if err != nil {
		t.Fatal(err)
	}
	right := env.signedBy(session, call, toSign)

	exported := concurrently(100, func() error {
		_, _, err := env.wallets.Export(t.Context(), env.live, right, nil, env.liveWallet.ID, clientKey(t))
		return err
	})

	for _, err := range exported.failed {
		wantReason(t, "concurrent", err, "Request-Id already used")
	}
	if rows := env.QueryStrings(`SELECT id::text FROM wallet_exports`); exported.succeeded != 1 || len(rows) != 1 {
		t.Errorf("%d requests made %d exports", exported.succeeded, len(rows))
	}
}

func TestService_LostAnswerOfSecondLegKeepsResponse(t *testing.T) {
	t.Parallel()
	// When the answer of the commit of a second leg is lost, what it did is done. Its response is stored under its
	// idempotency key, and is that of this and of every repeated request, also of many at the same time; the
	// signature works no second time.
	env := newEnv(t)
	session := env.liveSession()
	call := newCall("/internal-accounts/1/export")
	first := apptest.IdempotentRequest(env.live, "first", func(result any) string { return result.(*wallet.SignedRequest).ID.String() })
	_, toSign, err := env.wallets.Export(t.Context(), env.live, call, first, env.liveWallet.ID, clientKey(t))
	if err != nil {
		t.Fatal(err)
	}
	second := apptest.IdempotentRequest(env.live, "second", func(result any) string { return result.(wallets.Exported).Encrypted })

	_, _, err = env.newService(lostStore{env.Store}).Export(t.Context(), env.live, env.signedBy(session,
		call, toSign), second,
		env.liveWallet.ID, clientKey(t))
	words := "words of " + env.liveWallet.ID.String()
	wantReplay(t, "lost", err, words)
	_, _, err = env.wallets.Export(t.Context(), env.live, call, first, env.liveWallet.ID, clientKey(t))
	wantReplay(t, "the first leg again", err, toSign.ID.String())
	right := env.signedBy(session, call, toSign)
	again := concurrently(20, func() error {
		_, _, err := env.wallets.Export(t.Context(), env.live, right, second, env.liveWallet.ID, clientKey(t))
		return err
	})
	for _, err := range again.failed {
		wantReplay(t, "again", err, words)
	}
	if again.succeeded > 0 {
		t.Errorf("%d of the repeated requests were carried out", again.succeeded)
	}
	_, _, err = env.wallets.Export(t.Context(), env.live, right, nil, env.liveWallet.ID, clientKey(t))
	wantReason(t, "without a key", err, "Request-Id already used")
	if rows := env.QueryStrings(`SELECT id::text FROM wallet_exports`); len(rows) != 1 {
		t.Errorf("exports %v", rows)
	}
}

func TestService_SameRequestInTwoProcessesHasOneResponse(t *testing.T) {
	t.Parallel()
	// A second leg that is sent many times at once with one idempotency key is carried out once, and the others
	// get its response, although the request and the code are used up.
	env := newEnv(t)
	session := env.liveSession()
	request := wallets.NewCredential{Account: env.liveWallet.ID, Type: wallet.Passkey, Nickname: "Phone", Challenge: []byte("challenge"),
		Attestation: wallet.Attestation{ClientDataJSON: "challenge"}}
	call := newCall("/auth/credentials")
	_, toSign, err := env.wallets.CreateCredential(t.Context(), env.live, call, nil, request)
	if err != nil {
		t.Fatal(err)
	}
	right := env.signedBy(session, call, toSign)
	added := concurrently(20, func() error {
		key := apptest.IdempotentRequest(env.live, "add", func(result any) string { return result.(wallets.Challenged).Nickname })
		_, _, err := env.wallets.CreateCredential(t.Context(), env.live, right, key, request)
		return err
	})
	for _, err := range added.failed {
		wantReplay(t, "concurrent", err, "Phone")
	}
	if credentials := env.credentials(env.liveWallet); added.succeeded != 1 || len(credentials) != 2 {
		t.Errorf("%d were added: %+v", added.succeeded, credentials)
	}
}

func TestService_FirstCredentialNeedsNoSignature(t *testing.T) {
	t.Parallel()
	// The wallet of a customer without an e-mail address is empty: one of several first credentials at the same
	// time is added at once, and all others need a signature. An e-mail credential needs an address.
	env := newEnv(t)
	owner := env.NewCustomer("cy", func(c *customer.Customer) { c.Platform = env.live.Platform })
	empty := env.NewInternalAccountOn(env.live.Platform, owner.ID, "USDB", 0)
	if credentials := env.credentials(empty); len(credentials) != 0 {
		t.Fatalf("credentials %+v", credentials)
	}
	_, _, err := env.wallets.CreateCredential(t.Context(), env.live, newCall("/auth/credentials"), nil,
		wallets.NewCredential{Account: empty.ID, Type: wallet.EmailOTP})
	apptest.WantFault(t, "no address", err, fault.InvalidInput, "accountId")

	n := make(chan int, 20)
	for i := range cap(n) {
		n <- i
	}
	added := concurrently(cap(n), func() error {
		_, toSign, err := env.wallets.CreateCredential(t.Context(), env.live, newCall("/auth/credentials"), nil,
			wallets.NewCredential{Account: empty.ID, Type: wallet.OAuth, Token: fmt.Sprint("google cy-", <-n)})
		if toSign != nil {
			return errors.New("to be signed")
		}
		return err
	})
	for _, err := range added.failed {
		if !fault.Is(err, fault.Conflict) && err.Error() != "to be signed" {
			t.Errorf("concurrent: %v", err)
		}
	}
	if credentials := env.credentials(empty); added.succeeded != 1 || len(credentials) != 1 ||
		credentials[0].Nickname != credentials[0].Identity.Subject {
		t.Errorf("%d were added: %+v", added.succeeded, credentials)
	}

	// An address that the customer gets later does not let anybody in.
	env.setEmail(owner, "cy@example.com")
	if credentials := env.credentials(empty); len(credentials) != 1 || credentials[0].Type != wallet.OAuth {
		t.Errorf("credentials with an address: %+v", credentials)
	}
}

func TestService_RevokedCredentialOpensNothingMeanwhile(t *testing.T) {
	t.Parallel()
	// Sessions that are opened while their credential is revoked end with it, or are not opened.
	env := newEnv(t)
	session := env.liveSession()
	added := env.addIdentity(session, "google bo-1")
	call := newCall("/auth/credentials/" + added.ID.String())
	toSign, err := env.wallets.RevokeCredential(t.Context(), env.live, call, added.ID)
	if err != nil {
		t.Fatal(err)
	}
	right := env.signedBy(session, call, toSign)
	turns := make(chan int, 20)
	for i := range cap(turns) {
		turns <- i
	}

	done := concurrently(cap(turns), func() error {
		turn := <-turns
		if turn == 5 {
			_, err := env.wallets.RevokeCredential(t.Context(), env.live, right, added.ID)
			return err
		}
		_, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, added.ID, wallets.Verification{Type: wallet.OAuth,
			Token: fmt.Sprint("google bo-1 ", turn), ClientKey: clientKey(t)})
		return err
	})

	for _, err := range done.failed {
		if !fault.Is(err, fault.CredentialNotFound) {
			t.Errorf("meanwhile: %v", err)
		}
	}
	if sessions, credentials := env.sessions(env.liveWallet), env.credentials(env.liveWallet); len(sessions) != 1 ||
		sessions[0].ID != session.ID || len(credentials) != 1 {
		t.Errorf("left: %+v, %+v", sessions, credentials)
	}
	if active := env.QueryStrings(
		`SELECT s.id::text FROM wallet_sessions s JOIN wallet_credentials c ON c.platform_id = s.platform_id AND c.id = s.credential_id WHERE s.revoked_at IS NULL AND c.revoked_at IS NOT NULL`); len(active) > 0 {
		t.Errorf("active sessions of a revoked credential: %v", active)
	}
}

func TestService_RefreshIsSignedByTheSessionItself(t *testing.T) {
	t.Parallel()
	// Only the session itself opens another one of its credential, while it is active. Both are active then.
	env := newEnv(t)
	session := env.liveSession()
	env.Clock.Advance(time.Minute)
	other := env.liveSession()
	client := clientKey(t)
	call := newCall("/auth/sessions/refresh")
	_, toSign, err := env.wallets.RefreshSession(t.Context(), env.live, call, nil, session.ID, client)
	if err != nil || toSign.Credential != wallet.EmailOTP {
		t.Fatalf("%+v, %v", toSign, err)
	}
	_, _, err = env.wallets.RefreshSession(t.Context(), env.live, env.signedBy(other, call, toSign), nil, session.ID, client)
	wantReason(t, "another session", err, "Invalid Service-Wallet-Signature")

	opened, _, err := env.wallets.RefreshSession(t.Context(), env.live, env.signedBy(session, call, toSign), nil, session.ID, client)
	if err != nil || opened.Credential != session.Credential || opened.PublicKey == session.PublicKey || opened.EncryptedKey == "" ||
		!opened.ExpiresAt.Equal(env.Clock.Now().Add(wallet.SessionLifetime)) {
		t.Fatalf("%+v, %v", opened, err)
	}
	if sessions := env.sessions(env.liveWallet); len(sessions) != 3 {
		t.Errorf("%d sessions, want 3", len(sessions))
	}

	_, toSign, err = env.wallets.RefreshSession(t.Context(), env.live, call, nil, session.ID, client)
	if err != nil {
		t.Fatal(err)
	}
	env.endSession(other, session.ID)
	_, _, err = env.wallets.RefreshSession(t.Context(), env.live, env.signedBy(session, call, toSign), nil, session.ID, client)
	if !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("a session that has ended: %v", err)
	}
	if _, _, err := env.wallets.RefreshSession(t.Context(), env.live, call, nil, session.ID, client); !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("the first leg of a session that has ended: %v", err)
	}
}

// endSession ends a session of the production wallet.
func (e *env) endSession(by wallet.Session, id ident.Session) {
	e.t.Helper()
	call := newCall("/auth/sessions/" + id.String())
	toSign, err := e.wallets.RevokeSession(e.t.Context(), e.live, call, id)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.wallets.RevokeSession(e.t.Context(), e.live, e.signedBy(by, call, toSign), id); err != nil {
		e.t.Fatal(err)
	}
}

func TestService_SessionEndsItselfAndOthers(t *testing.T) {
	t.Parallel()
	// A session ends another one, and itself. It cannot sign or be ended again then, and ids of nothing and of
	// another platform are not found.
	env := newEnv(t)
	session, other := env.liveSession(), env.liveSession()
	env.endSession(session, other.ID)
	if sessions := env.sessions(env.liveWallet); len(sessions) != 1 || sessions[0].ID != session.ID {
		t.Errorf("sessions %+v", sessions)
	}
	env.endSession(session, session.ID)
	if sessions := env.sessions(env.liveWallet); len(sessions) != 0 {
		t.Errorf("sessions %+v", sessions)
	}
	for name, id := range map[string]ident.Session{"ended": session.ID, "unknown": ident.NewSession(env.IDs.New, env.Clock.Now())} {
		if _, err := env.wallets.RevokeSession(t.Context(), env.live, newCall("/"), id); !fault.Is(err, fault.SessionNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	third := env.liveSession()
	if _, err := env.wallets.RevokeSession(t.Context(), env.Admin, newCall("/"), third.ID); !fault.Is(err, fault.SessionNotFound) {
		t.Errorf("another platform: %v", err)
	}
}

func TestService_RevocationSendsNoticeAndWaitsForNone(t *testing.T) {
	t.Parallel()
	// The customer gets a notice of a credential that was removed. When the platform may send no more mails, it
	// is removed all the same; adding one has to wait.
	env := newEnv(t)
	session := env.liveSession()
	revoke := func(id ident.AuthMethod) {
		t.Helper()
		if err := env.revoke(session, id); err != nil {
			t.Fatal(err)
		}
	}
	first, second := env.addIdentity(session, "google bo-1"), env.addIdentity(session, "google bo-2")
	mails := []string{"CODE", "CREDENTIAL_ADDED", "CREDENTIAL_ADDED", "CREDENTIAL_REMOVED"}

	revoke(first.ID)
	if queued := env.QueryStrings(`SELECT kind FROM mails WHERE content LIKE '%bo@example.com%' ORDER BY id`); !slices.Equal(queued, mails) {
		t.Errorf("mails %v", queued)
	}
	if err := env.Exec(`UPDATE mail_counts SET notices = 1000`); err != nil {
		t.Fatal(err)
	}
	revoke(second.ID)

	if credentials, queued := env.credentials(env.liveWallet), env.QueryStrings(`SELECT kind FROM mails`); len(credentials) != 1 ||
		len(queued) != len(mails) {
		t.Errorf("credentials %+v, mails %v", credentials, queued)
	}
	if _, err := env.addPasskey(session, "challenge"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("a new credential without a notice: %v", err)
	}
}

func TestService_NoticesByTextMessage(t *testing.T) {
	t.Parallel()
	// A customer without an e-mail address gets the notices as text messages, which name neither the credential nor its owner.
	env := newEnv(t)
	cy := env.NewCustomer("cy", func(c *customer.Customer) { c.Platform, c.PhoneNumber = env.live.Platform, "+447700900123" })
	env.liveWallet = env.NewInternalAccountOn(env.live.Platform, cy.ID, "USDB", 0)
	phone, _, err := env.wallets.CreateCredential(t.Context(), env.live, newCall("/auth/credentials"), nil,
		wallets.NewCredential{Account: env.liveWallet.ID, Type: wallet.SMSOTP})
	if err != nil {
		t.Fatal(err)
	}
	opened, _, err := env.wallets.Verify(t.Context(), env.live, wallet.Call{}, nil, phone.ID,
		wallets.Verification{Type: wallet.SMSOTP, Code: env.proofs.code, ClientKey: clientKey(t)})
	if err != nil {
		t.Fatal(err)
	}
	added := env.addIdentity(opened.Session, "google cy-1")
	if err := errors.Join(env.exportOf(env.liveWallet, opened.Session), env.revoke(opened.Session, added.ID)); err != nil {
		t.Fatal(err)
	}

	if queued, want := env.QueryStrings(`SELECT kind FROM mails ORDER BY id`), []string{"SMS_CODE", "SMS_CREDENTIAL_ADDED",
		"SMS_WALLET_EXPORTED", "SMS_CREDENTIAL_REMOVED"}; !slices.Equal(queued, want) {
		t.Errorf("queued %v, want %v", queued, want)
	}
	for _, content := range env.QueryStrings(`SELECT content FROM mails WHERE kind <> 'SMS_CODE'`) {
		if !strings.Contains(content, "+447700900123") || strings.Contains(content, "cy-1") || strings.Contains(content, cy.FullName) {
			t.Errorf("a text message is %s", content)
		}
	}
}

func TestService_PrivacyIsSigned(t *testing.T) {
	t.Parallel()
	// The privacy of a wallet changes with a signature. Accounts that are no wallets do not have it, and a
	// request that changes nothing needs no signature.
	env := newEnv(t)
	session := env.liveSession()
	private := true
	change := account.InternalChange{PrivateEnabled: &private}
	call := newCall("/internal-accounts/1")
	same, toSign, err := env.wallets.UpdateAccount(t.Context(), env.live, call, env.liveWallet.ID, account.InternalChange{})
	if err != nil || toSign != nil || same.ID != env.liveWallet.ID || same.PrivateEnabled {
		t.Errorf("no change: %+v, %+v, %v", same, toSign, err)
	}
	_, toSign, err = env.wallets.UpdateAccount(t.Context(), env.live, call, env.liveWallet.ID, change)
	if err != nil || toSign == nil {
		t.Fatalf("%+v, %v", toSign, err)
	}
	changed, _, err := env.wallets.UpdateAccount(t.Context(), env.live, env.signedBy(session, call, toSign), env.liveWallet.ID, change)
	if err != nil || !changed.PrivateEnabled {
		t.Errorf("%+v, %v", changed, err)
	}
	if stored, err := env.Store.InternalAccount(t.Context(), env.live.Platform, env.liveWallet.ID); err != nil || !stored.PrivateEnabled ||
		!stored.UpdatedAt.Equal(changed.UpdatedAt) {
		t.Errorf("stored %+v, %v", stored, err)
	}
	_, _, err = env.wallets.UpdateAccount(t.Context(), env.live, env.signedBy(session, call, toSign), env.liveWallet.ID, change)
	wantReason(t, "again", err, "Request-Id already used")

	dollars := env.NewInternalAccount(env.Customer.ID, "USD", 5_00)
	if read, _, err := env.wallets.UpdateAccount(t.Context(), env.Admin, call, dollars.ID, account.InternalChange{}); err != nil ||
		read.Balance != 5_00 {
		t.Errorf("dollars: %+v, %v", read, err)
	}
	_, _, err = env.wallets.UpdateAccount(t.Context(), env.Admin, call, dollars.ID, change)
	apptest.WantFault(t, "not a wallet", err, fault.InvalidInput, "privateEnabled")
	_, _, err = env.wallets.Export(t.Context(), env.Admin, call, nil, dollars.ID, clientKey(t))
	apptest.WantFault(t, "no words", err, fault.InvalidInput, "id")
	_, err = env.wallets.ListSessions(t.Context(), env.Admin.Platform, dollars.ID)
	apptest.WantFault(t, "no sessions", err, fault.InvalidInput, "accountId")
	if sessions, err := env.wallets.ListSessions(t.Context(), env.Admin.Platform, env.liveWallet.ID); err != nil || len(sessions) != 0 {
		t.Errorf("sessions of another platform: %+v, %v", sessions, err)
	}
}
