package postgres_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

// walletEnv is a database with a wallet of a customer.
type walletEnv struct {
	*env
	wallet ports.WalletID
}

func newWalletEnv(t *testing.T) *walletEnv {
	t.Helper()
	c := newEnv(t)
	return &walletEnv{c, c.newWalletOf(t, "ana")}
}

// newWalletOf opens a wallet of a new customer.
func (c *env) newWalletOf(t *testing.T, name string) ports.WalletID {
	t.Helper()
	owner := newCustomer(c.platform, name)
	c.createCustomers(t, owner)
	opened, err := account.NewInternal(ident.NewInternalAccount(generator.New, noon), c.platform.ID, owner.ID, "USDB", noon)
	if err != nil {
		t.Fatal(err)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{opened})
	})
	return ports.WalletID{Platform: c.platform.ID, Account: opened.ID}
}

func newCredential(w ports.WalletID, t wallet.CredentialType, at time.Time) wallet.Credential {
	c := wallet.Credential{ID: ident.NewAuthMethod(generator.New, at), Platform: w.Platform, Account: w.Account, Type: t,
		CreatedAt: at, UpdatedAt: at}
	switch t {
	case wallet.EmailOTP:
		c.SentTo, c.Nickname = "Ana@secreta.example", "Ana@secreta.example"
	case wallet.Passkey:
		c.Nickname = "Secreta's phone"
		c.Passkey = &wallet.PasskeyKey{CredentialID: []byte{1, 2}, PublicKey: []byte{3}, SignCount: 1<<32 - 1, Transports: []string{"usb"},
			BackupEligible: true, BackedUp: true, UserVerified: true}
	case wallet.OAuth:
		c.Nickname = "ana@secreta.example"
		c.Identity = &wallet.Identity{Issuer: "https://accounts.google.com", Audience: "app", Subject: "Secreta", Email: "ana@secreta.example"}
	}
	return c
}

func newSession(c wallet.Credential, at time.Time) wallet.Session {
	return wallet.Session{ID: ident.NewSession(generator.New, at), Platform: c.Platform, Account: c.Account, Credential: c.ID, Type: c.Type,
		PublicKey:   wallet.SessionKey{2, 7},
		Certificate: wallet.Certificate{Statement: "statement", Key: wallet.Key{3, 8}, Signature: []byte{9}}, CreatedAt: at, UpdatedAt: at,
		ExpiresAt: at.Add(wallet.SessionLifetime)}
}

func TestWallets_RoundTrip(t *testing.T) {
	t.Parallel()
	// A wallet is read as it was stored: the active credentials and sessions, oldest first, with the names of
	// the credentials. What a change says is stored, and nothing else.
	c := newWalletEnv(t)
	email, passkey, identity := newCredential(c.wallet, wallet.EmailOTP, noon), newCredential(c.wallet, wallet.Passkey, noon.Add(time.Second)),
		newCredential(c.wallet, wallet.OAuth, noon.Add(2*time.Second))
	first, second, expired := newSession(email, noon), newSession(passkey, noon.Add(time.Second)),
		newSession(identity, noon.Add(-wallet.SessionLifetime))
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{email, passkey, identity},
			Sessions: []wallet.Session{first, second, expired}})
	})
	read := func() wallet.Wallet {
		t.Helper()
		w, err := c.Wallet(t.Context(), c.wallet, noon)
		if err != nil {
			t.Fatal(err)
		}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if locked, err := tx.LockWallet(ctx, c.wallet, noon); err != nil || !reflect.DeepEqual(locked, w) {
				t.Errorf("locked %+v, %v; read %+v", locked, err, w)
			}
			return nil
		})
		return w
	}

	want := wallet.Wallet{Platform: c.wallet.Platform, Account: c.wallet.Account, Credentials: []wallet.Credential{email, passkey, identity},
		Sessions: []wallet.Session{first.Of(email), second.Of(passkey)}}
	if got := read(); !reflect.DeepEqual(got, want) {
		t.Fatalf("read\n%+v\nwant\n%+v", got, want)
	}
	for _, stored := range want.Credentials {
		if got, err := c.WalletCredential(t.Context(), c.wallet.Platform, stored.ID); err != nil || !reflect.DeepEqual(got, stored) {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	if got, err := c.ActiveWalletSessions(t.Context(), c.wallet, noon); err != nil ||
		!reflect.DeepEqual(got, []wallet.Session{first, second}) {
		t.Errorf("active %+v, %v", got, err)
	}
	if got, err := c.WalletSession(t.Context(), c.wallet.Platform, expired.ID); err != nil || !reflect.DeepEqual(got, expired) {
		t.Errorf("expired %+v, %v", got, err)
	}

	change, err := want.Revoke(passkey.ID, noon)
	if err != nil {
		t.Fatal(err)
	}
	email.SentTo, email.VerifiedAt = "other@secreta.example", noon
	change.Credentials = append(change.Credentials, email)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveWallet(ctx, change) })
	if got := read(); !reflect.DeepEqual(got, want.After(change, noon)) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want.After(change, noon))
	}
	if revoked, err := c.WalletCredential(t.Context(), c.wallet.Platform, passkey.ID); err != nil || !revoked.RevokedAt.Equal(noon) {
		t.Errorf("revoked %+v, %v", revoked, err)
	}
}

func TestWallets_OfOtherPlatformAreNotFound(t *testing.T) {
	t.Parallel()
	// Ids of one platform find nothing on another one.
	c := newWalletEnv(t)
	email := newCredential(c.wallet, wallet.EmailOTP, noon)
	session := newSession(email, noon)
	request := wallet.NewSignedRequest(ident.NewSignedRequest(generator.New, noon), wallet.Action{Platform: c.wallet.Platform,
		Account: c.wallet.Account, Operation: wallet.ExportWallet}, wallet.Call{Path: "/"}, noon)
	challenge := wallet.PasskeyChallenge{ID: ident.NewSignedRequest(generator.New, noon), Platform: c.wallet.Platform, Credential: email.ID,
		Challenge: []byte{1}, CreatedAt: noon, ExpiresAt: noon}
	hash := sha256.Sum256([]byte("token"))
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateSignedRequest(ctx, request); err != nil {
			return err
		}
		if err := tx.CreatePasskeyChallenge(ctx, challenge); err != nil {
			return err
		}
		if first, err := tx.UseOnce(ctx, c.wallet.Platform, hash, noon); err != nil || !first {
			t.Errorf("used %t, %v", first, err)
		}
		if first, err := tx.UseOnce(ctx, c.otherPlatform.ID, hash, noon); err != nil || !first {
			t.Errorf("used on another platform: %t, %v", first, err)
		}
		if err := tx.RecordExport(ctx, wallet.Export{ID: generator.New(noon), Platform: c.wallet.Platform, Account: c.wallet.Account,
			Request: request.ID, At: noon}); err != nil {
			return err
		}
		return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{email}, Sessions: []wallet.Session{session}})
	})
	other := ports.WalletID{Platform: c.otherPlatform.ID, Account: c.wallet.Account}

	if w, err := c.Wallet(t.Context(), other, noon); err != nil || len(w.Credentials)+len(w.Sessions) != 0 {
		t.Errorf("wallet: %+v, %v", w, err)
	}
	if s, err := c.ActiveWalletSessions(t.Context(), other, noon); err != nil || len(s) != 0 {
		t.Errorf("sessions: %+v, %v", s, err)
	}
	if e, err := c.WalletExports(t.Context(), other); err != nil || len(e) != 0 {
		t.Errorf("exports: %+v, %v", e, err)
	}
	if found, err := c.OtherWalletWithEmail(t.Context(), ports.WalletID{Platform: other.Platform}, email.SentTo); err != nil || found {
		t.Errorf("address: %t, %v", found, err)
	}
	_, credentialErr := c.WalletCredential(t.Context(), other.Platform, email.ID)
	_, sessionErr := c.WalletSession(t.Context(), other.Platform, session.ID)
	_, requestErr := c.SignedRequest(t.Context(), other.Platform, request.ID)
	_, challengeErr := c.PasskeyChallenge(t.Context(), other.Platform, challenge.ID)
	var locked [3]error
	for i, lock := range []func(context.Context, *postgres.Unit) error{
		func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockWallet(ctx, other, noon)
			return err
		},
		func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockSignedRequest(ctx, other.Platform, request.ID)
			return err
		},
		func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockPasskeyChallenge(ctx, other.Platform, challenge.ID)
			return err
		},
	} {
		locked[i] = c.Do(t.Context(), lock)
	}
	for name, got := range map[string]struct {
		err  error
		want fault.Code
	}{
		"credential": {credentialErr, fault.CredentialNotFound}, "session": {sessionErr, fault.SessionNotFound},
		"request": {requestErr, fault.Unauthorized}, "challenge": {challengeErr, fault.Unauthorized},
		"locked wallet": {locked[0], fault.InternalAccountNotFound}, "locked request": {locked[1], fault.Unauthorized},
		"locked challenge": {locked[2], fault.Unauthorized},
	} {
		if !fault.Is(got.err, got.want) {
			t.Errorf("%s: %v, want %s", name, got.err, got.want)
		}
	}
	if found, err := c.SignedRequest(t.Context(), c.wallet.Platform, request.ID); err != nil || !reflect.DeepEqual(found, request) {
		t.Errorf("request %+v, %v", found, err)
	}
	if found, err := c.PasskeyChallenge(t.Context(), c.wallet.Platform, challenge.ID); err != nil || !reflect.DeepEqual(found, challenge) {
		t.Errorf("challenge %+v, %v", found, err)
	}
}

func TestWallets_EmailIsFoundInOtherWallets(t *testing.T) {
	t.Parallel()
	// An address is found whatever its case, in active credentials of other wallets only, and also in rows of
	// before there was a data key.
	c := newWalletEnv(t)
	db, cipher := openWithCipher(t, c.env)
	bos := c.newWalletOf(t, "bo")
	plain := newCredential(bos, wallet.EmailOTP, noon)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{plain}})
	})
	want := func(name string, w ports.WalletID, email string, found bool) {
		t.Helper()
		if got, err := db.OtherWalletWithEmail(t.Context(), w, email); err != nil || got != found {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	want("of before", c.wallet, "ANA@SECRETA.example", true)
	want("its own", bos, plain.SentTo, false)
	want("another", c.wallet, "bo@secreta.example", false)

	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{plain}})
	}); err != nil {
		t.Fatal(err)
	}
	want("encrypted", c.wallet, "ana@Secreta.EXAMPLE", true)
	plain.RevokedAt = noon
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{plain}})
	}); err != nil {
		t.Fatal(err)
	}
	want("revoked", c.wallet, plain.SentTo, false)
}

func TestWallets_PersonalDataIsEncrypted(t *testing.T) {
	t.Parallel()
	// With a data key, no row names the customer; a code is not found in the database in any form that could
	// be tried without the key.
	c := newWalletEnv(t)
	db, cipher := openWithCipher(t, c.env)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	credentials := []wallet.Credential{newCredential(c.wallet, wallet.EmailOTP, noon), newCredential(c.wallet, wallet.Passkey, noon),
		newCredential(c.wallet, wallet.OAuth, noon)}
	const text = "123456"
	hash, err := db.WalletCodeHash(t.Context(), c.wallet.Platform, credentials[0].ID, text)
	if err != nil {
		t.Fatal(err)
	}
	other, err := db.WalletCodeHash(t.Context(), c.wallet.Platform, credentials[1].ID, text)
	if err != nil || other == hash {
		t.Errorf("two credentials have the same hash of a code, %v", err)
	}
	if withoutKey, err := c.WalletCodeHash(t.Context(), c.wallet.Platform, credentials[0].ID, text); err != nil || withoutKey == hash {
		t.Errorf("the hash does not depend on the key, %v", err)
	}
	portstest.MustDo(t, db, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.SaveWalletCode(ctx, wallet.Code{Platform: c.wallet.Platform, Credential: credentials[0].ID, Hash: hash,
			ExpiresAt: noon}); err != nil {
			return err
		}
		return tx.SaveWallet(ctx, wallet.Change{Credentials: credentials})
	})

	owner := connect(t, c.url)
	for _, table := range []string{"wallet_credentials", "wallet_codes"} {
		var rows int
		if err := owner.QueryRow(
			t.Context(), fmt.Sprintf(
				`SELECT count(*) FROM %s r WHERE r::text ILIKE '%%secreta%%' OR r::text ILIKE '%%google%%' OR r::text LIKE '%%%s%%'`, table,
				text)).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows of %s, %v", rows, table, err)
		}
	}
	w, err := db.Wallet(t.Context(), c.wallet, noon)
	if err != nil || !reflect.DeepEqual(w.Credentials, credentials) {
		t.Errorf("read %+v, %v", w.Credentials, err)
	}
}

func TestWallets_UseOnceAmongConcurrent(t *testing.T) {
	t.Parallel()
	// Of many units of work that use one token, one is the first. A code, a request and a session that are
	// locked wait for each other.
	c := newWalletEnv(t)
	hash := sha256.Sum256([]byte("token"))
	firsts := make(chan bool, 20)
	for range cap(firsts) {
		go func() {
			var first bool
			err := c.Do(context.WithoutCancel(t.Context()), func(ctx context.Context, tx *postgres.Unit) (err error) {
				first, err = tx.UseOnce(ctx, c.wallet.Platform, hash, noon)
				return err
			})
			firsts <- err == nil && first
		}()
	}
	n := 0
	for range cap(firsts) {
		if <-firsts {
			n++
		}
	}
	if used, err := c.WasUsed(t.Context(), c.wallet.Platform, hash); n != 1 || err != nil || !used {
		t.Errorf("%d of %d were the first; used %t, %v", n, cap(firsts), used, err)
	}
}

func TestWallets_LockedSessionsCannotEnd(t *testing.T) {
	t.Parallel()
	// Payments may share the lock of a session, and a change of it waits for them.
	c := newWalletEnv(t)
	email := newCredential(c.wallet, wallet.EmailOTP, noon)
	session := newSession(email, noon)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{email}, Sessions: []wallet.Session{session}})
	})
	unknown := ident.NewSession(generator.New, noon)
	owner := connect(t, c.url)
	exec(t, owner, "SET lock_timeout = '50ms'")

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		found, err := tx.LockWalletSessions(ctx, c.wallet.Platform, []ident.Session{session.ID, unknown})
		if err != nil || len(found) != 1 || !reflect.DeepEqual(found[session.ID], session) {
			t.Errorf("locked %+v, %v", found, err)
		}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockWalletSessions(ctx, c.wallet.Platform, []ident.Session{session.ID})
			return err
		})
		if _, err := owner.Exec(t.Context(), "UPDATE wallet_sessions SET revoked_at = now()"); err == nil ||
			!strings.Contains(err.Error(), "lock timeout") {
			t.Errorf("a locked session was ended: %v", err)
		}
		return nil
	})
	exec(t, owner, "UPDATE wallet_sessions SET revoked_at = now()")
}

func TestWallets_ExportsCannotBeChanged(t *testing.T) {
	t.Parallel()
	// What was recorded of an export stays, in the order of time.
	c := newWalletEnv(t)
	first := wallet.Export{ID: generator.New(noon), Platform: c.wallet.Platform, Account: c.wallet.Account,
		Request: ident.NewSignedRequest(generator.New, noon), Token: ident.NewToken(generator.New, noon), At: noon}
	second := first
	second.ID, second.Session, second.Credential, second.At = generator.New(noon), ident.NewSession(generator.New, noon),
		ident.NewAuthMethod(generator.New, noon), noon.Add(time.Second)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.RecordExport(ctx, second); err != nil {
			return err
		}
		return tx.RecordExport(ctx, first)
	})

	if exports, err := c.WalletExports(t.Context(), c.wallet); err != nil || !reflect.DeepEqual(exports, []wallet.Export{first, second}) {
		t.Errorf("exports %+v, %v", exports, err)
	}
	owner := connect(t, c.url)
	for _, statement := range []string{"UPDATE wallet_exports SET exported_at = now()", "DELETE FROM wallet_exports",
		"TRUNCATE wallet_exports"} {
		if _, err := owner.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s succeeded", statement)
		}
	}
}

func TestDeleteOld_Wallets(t *testing.T) {
	t.Parallel()
	// Sessions, requests and challenges go some time after their creation, codes and used challenges after
	// their end, and credentials after their revocation. Active credentials stay, however old.
	c := &retentionEnv{newEnv(t), nil}
	c.owner = connect(t, c.url)
	w := c.newWalletOf(t, "ana")
	active := newCredential(w, wallet.EmailOTP, noon.Add(longBefore))
	for i, age := range []time.Duration{-longBefore, -justBefore, 0, -time.Hour} {
		at := noon.Add(-age)
		revoked := newCredential(w, wallet.OAuth, noon.Add(longBefore))
		revoked.RevokedAt = at
		session := newSession(active, at)
		session.ID.SetUUID(newIDAt(at))
		request := wallet.SignedRequest{Platform: w.Platform, Account: w.Account, CreatedAt: at, ExpiresAt: at}
		request.ID.SetUUID(newIDAt(at))
		challenge := wallet.PasskeyChallenge{Platform: w.Platform, Credential: active.ID, Challenge: []byte{1}, CreatedAt: at, ExpiresAt: at}
		challenge.ID.SetUUID(newIDAt(at))
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if _, err := tx.UseOnce(ctx, w.Platform, sha256.Sum256([]byte{byte(i)}), at); err != nil {
				return err
			}
			if err := tx.SaveWalletCode(ctx, wallet.Code{Platform: w.Platform, Credential: revoked.ID, ExpiresAt: at}); err != nil {
				return err
			}
			if err := tx.CreateSignedRequest(ctx, request); err != nil {
				return err
			}
			if err := tx.CreatePasskeyChallenge(ctx, challenge); err != nil {
				return err
			}
			return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{active, revoked}, Sessions: []wallet.Session{session}})
		})
	}

	want := map[string]int{"wallet_sessions": 2, "wallet_signed_requests": 2, "wallet_passkey_challenges": 2, "wallet_codes": 2,
		"wallet_used_challenges": 2, "wallet_credentials": 2}
	if deleted := c.deleteOld(t); !reflect.DeepEqual(deleted, want) {
		t.Errorf("deleted %v, want %v", deleted, want)
	}
	if deleted := c.deleteOld(t); len(deleted) != 0 {
		t.Errorf("deleted again: %v", deleted)
	}
	if found, err := c.Wallet(t.Context(), w, noon); err != nil || len(found.Credentials) != 1 || len(found.Sessions) != 2 {
		t.Errorf("left %+v, %v", found, err)
	}
}
