package postgres_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/sca"
	"causeway/core/wallet"
)

// newSCACustomer returns the id of a new customer.
func newSCACustomer(t *testing.T, c *env, name string) ident.Customer {
	t.Helper()
	owner := newCustomer(c.platform, name)
	c.createCustomers(t, owner)
	return owner.ID
}

func TestSCA_RoundTrip(t *testing.T) {
	t.Parallel()
	// What is counted, enrolled, asked, opened and reset is read as it was stored, also after a change. Secrets and addresses are stored
	// encrypted.
	c := newEnv(t)
	p, id := c.platform.ID, newSCACustomer(t, c, "ana")
	totp := sca.Credential{ID: ident.NewSCACredential(generator.New, noon), Platform: p, Customer: id, Factor: sca.TOTP,
		TOTPSecret: "JBSWY3DPEHPK3PXP", TOTPStep: 7, RecoveryCodes: []person.SecretHash{{1}, {2}}, CreatedAt: noon}
	passkey := sca.Credential{ID: ident.NewSCACredential(generator.New, noon), Platform: p, Customer: id, Factor: sca.Passkey,
		Passkey: &wallet.PasskeyKey{CredentialID: []byte{1}, PublicKey: []byte{2}, SignCount: 3, Transports: []string{"usb"},
			BackupEligible: true, BackedUp: true}, CreatedAt: noon}
	challenge := sca.NewChallenge(sca.Challenge{ID: ident.NewSCAChallenge(generator.New, noon), Platform: p, Customer: id,
		Purpose: sca.Payout, Subject: sca.Digest{9}, Factor: sca.Passkey, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}, [32]byte{5})
	older := challenge
	challenge.ID = ident.NewSCAChallenge(generator.New, noon.Add(time.Second))
	session := sca.Session{ID: ident.NewSCASession(generator.New, noon), Platform: p, Customer: id, Factor: sca.TOTP,
		IPAddress: "203.0.113.7", CreatedAt: noon, ExpiresAt: noon.Add(sca.SessionLifetime)}
	reset := sca.NewReset(sca.Reset{ID: ident.NewSCAReset(generator.New, noon), Platform: p, Customer: id, Factor: sca.TOTP}, noon)
	account := sca.Account{Platform: p, Customer: id, Failures: sca.Failures{Logins: 1, SMS: 2, TOTP: 3, Passkeys: 4}, LockedUntil: noon,
		SuspendedAt: noon, Sending: wallet.CodeSending{BurstUntil: noon, HourUntil: noon.Add(time.Minute)}, UpdatedAt: noon}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if fresh, err := tx.LockSCAAccount(ctx, p, id); err != nil || fresh != (sca.Account{Platform: p, Customer: id}) {
			t.Errorf("new account %+v, %v", fresh, err)
		}
		for _, write := range []error{tx.SaveSCAAccount(ctx, account), tx.SaveSCACredential(ctx, totp), tx.SaveSCACredential(ctx, passkey),
			tx.SaveSCAChallenge(ctx, older), tx.SaveSCAChallenge(ctx, challenge), tx.CreateSCASession(ctx, session),
			tx.SaveSCAReset(ctx, reset)} {
			if write != nil {
				t.Error(write)
			}
		}
		return nil
	})
	read := func() {
		t.Helper()
		if got, err := c.SCACredentials(t.Context(), p, id); err != nil || !reflect.DeepEqual(got, []sca.Credential{totp, passkey}) {
			t.Errorf("credentials %+v, %v", got, err)
		}
		if got, err := c.SCASession(t.Context(), p, id, noon); err != nil || got != session {
			t.Errorf("session %+v, %v", got, err)
		}
		if got, err := c.SCAReset(t.Context(), p, reset.ID); err != nil || got != reset {
			t.Errorf("reset %+v, %v", got, err)
		}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if got, err := tx.LockSCAAccount(ctx, p, id); err != nil || got != account {
				t.Errorf("account %+v, %v", got, err)
			}
			if got, found, err := tx.LatestSCAChallenge(ctx, p, id, sca.Payout, sca.Digest{9}); err != nil || !found ||
				!reflect.DeepEqual(got, challenge) {
				t.Errorf("challenge %+v, %t, %v", got, found, err)
			}
			if _, found, err := tx.LatestSCAChallenge(ctx, p, id, sca.Payout, sca.Digest{8}); err != nil || found {
				t.Errorf("a challenge about something else: %t, %v", found, err)
			}
			if got, err := tx.SCAResets(ctx, p, id); err != nil || len(got) != 1 || got[0] != reset {
				t.Errorf("resets %+v, %v", got, err)
			}
			return nil
		})
	}
	read()
	if open, err := c.OpenSCAResets(t.Context(), p, noon); err != nil || len(open) != 1 {
		t.Errorf("open %+v, %v", open, err)
	}

	totp.TOTPStep, totp.RecoveryCodes, totp.LastUsedAt = 8, totp.RecoveryCodes[1:], noon
	passkey.Passkey.SignCount, passkey.LastUsedAt = 4, noon
	challenge.CodeHash, challenge.Attempts, challenge.EndedAt = wallet.CodeHash{4}, 2, noon
	account = account.Clear(noon)
	reset.Status, reset.CompletedAt = sca.ResetCompleted, noon
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, write := range []error{tx.SaveSCAAccount(ctx, account), tx.SaveSCACredential(ctx, totp), tx.SaveSCACredential(ctx, passkey),
			tx.SaveSCAChallenge(ctx, challenge), tx.SaveSCAReset(ctx, reset)} {
			if write != nil {
				t.Error(write)
			}
		}
		return nil
	})
	read()

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.EndSCASessions(ctx, p, id, sca.SMSOTP, noon); err != nil {
			return err
		}
		if _, err := tx.SCASession(ctx, p, id, noon); err != nil {
			t.Errorf("sessions of another factor ended: %v", err)
		}
		if err := tx.EndSCASessions(ctx, p, id, "", noon); err != nil {
			return err
		}
		_, err := tx.SCASession(ctx, p, id, noon)
		if !fault.Is(err, fault.SCASessionRequired) {
			t.Errorf("the session has not ended: %v", err)
		}
		return tx.DeleteSCACredential(ctx, p, totp.ID)
	})
	if got, err := c.SCACredentials(t.Context(), p, id); err != nil || len(got) != 1 {
		t.Errorf("after a deletion: %+v, %v", got, err)
	}
	if _, err := c.SCAReset(t.Context(), p, ident.SCAReset{}); !fault.Is(err, fault.ReferenceNotFound) {
		t.Errorf("no reset: %v", err)
	}
	if open, err := c.OpenSCAResets(t.Context(), p, noon); err != nil || len(open) != 0 {
		t.Errorf("open after the end %+v, %v", open, err)
	}
}

func TestSCA_CodeHashesAreBoundToTheirText(t *testing.T) {
	t.Parallel()
	// The hash of a code is that of its challenge, subject and phone alone.
	c := newEnv(t)
	hashes := map[wallet.CodeHash]bool{}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, challenge := range []sca.Challenge{{}, {Subject: sca.Digest{1}}, {ID: ident.NewSCAChallenge(generator.New, noon)}} {
			hash, err := tx.SCACodeHash(ctx, challenge.CodeText("+447700900123", "123456"))
			if err != nil {
				return err
			}
			hashes[hash] = true
		}
		return nil
	})
	if len(hashes) != 3 {
		t.Errorf("%d hashes", len(hashes))
	}
}

func TestSCA_AttemptsAtTheSameTimeAreAllCounted(t *testing.T) {
	t.Parallel()
	// The account is locked from the first attempt on, also before it has a row: each attempt sees those before it.
	c := newEnv(t)
	p, id := c.platform.ID, newSCACustomer(t, c, "ana")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
				account, err := tx.LockSCAAccount(ctx, p, id)
				if err != nil {
					return err
				}
				return tx.SaveSCAAccount(ctx, account.Fail(sca.SMSOTP, noon))
			})
		})
	}
	wait.Wait()
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		account, err := tx.LockSCAAccount(ctx, p, id)
		if account.Failures.SMS != 8 || !account.LockedUntil.Equal(noon.Add(24*time.Hour)) {
			t.Errorf("%+v", account)
		}
		return err
	})
}

func TestSCA_OneCredentialOfEach(t *testing.T) {
	t.Parallel()
	// The database has one credential of a factor for each customer, whatever a program does.
	c := newEnv(t)
	p, id := c.platform.ID, newSCACustomer(t, c, "ana")
	err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		for range 2 {
			if err := tx.SaveSCACredential(ctx, sca.Credential{ID: ident.NewSCACredential(generator.New, noon), Platform: p, Customer: id,
				Factor: sca.TOTP, CreatedAt: noon}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "sca_credential_one_of_each") {
		t.Errorf("two of one: %v", err)
	}
}
