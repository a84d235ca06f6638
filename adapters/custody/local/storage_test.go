package local_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/custody/local"
	"causeway/adapters/encryption"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

// export returns the words of a wallet, as its owner reads them.
func export(t *testing.T, custody ports.Custody, w ports.WalletID) string {
	t.Helper()
	client := portstest.NewWalletClient(t)
	text, err := custody.Export(t.Context(), w, client.Public)
	if err != nil {
		t.Fatal(err)
	}
	words, err := client.OpenExport(text)
	if err != nil {
		t.Fatal(err)
	}
	return words
}

func TestCustody_DatabaseShowsNoKey(t *testing.T) {
	t.Parallel()
	// A copy of the whole database contains neither the words of a wallet that was used and exported, nor
	// their entropy, seed or private keys, in any encoding, before and after the data key was replaced.
	env := newEnv(t)
	custody := local.New(env.db)
	w, _, _ := env.newWallets(t)
	certificate, err := custody.Sign(t.Context(), w, "a statement")
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := portstest.WalletSecrets(export(t, custody, w))
	if err != nil {
		t.Fatal(err)
	}

	for _, when := range []string{"before", "after"} {
		stored := pgtest.Dump(t, env.url)
		if !portstest.ShowsSecret(stored, certificate.Key[:]) {
			t.Fatalf("%s the replacement: the public key is not found", when)
		}
		for name, secret := range secrets {
			if portstest.ShowsSecret(stored, secret) {
				t.Errorf("%s the replacement: the %s can be read", when, name)
			}
		}
		env.rotate(t)
	}
}

// rotate replaces the data key, as `causeway keys rotate` does.
func (e *env) rotate(t *testing.T) {
	t.Helper()
	e.clock.Advance(time.Minute)
	if err := e.dataKeys.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	if err := e.db.ReencryptPersonalData(t.Context(), func(string, int, int) {}); err != nil {
		t.Fatal(err)
	}
}

func TestCustody_SignsAfterKeyRotation(t *testing.T) {
	t.Parallel()
	// After the data key was replaced, every wallet has the key and the words it had, its entropy is
	// encrypted with the new key, and the old one is used no more.
	env := newEnv(t)
	custody := local.New(env.db)
	one, other, elsewhere := env.newWallets(t)
	wallets := []ports.WalletID{one, other, elsewhere}
	before := map[ports.WalletID]string{}
	keys := map[ports.WalletID]wallet.Key{}
	for _, w := range wallets {
		before[w] = export(t, custody, w)
		certificate, err := custody.Sign(t.Context(), w, "a statement")
		if err != nil {
			t.Fatal(err)
		}
		keys[w] = certificate.Key
	}
	oldKey, err := env.dataKeys.NewestKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	env.rotate(t)

	for _, w := range wallets {
		certificate, err := custody.Sign(t.Context(), w, "a statement")
		if err != nil || certificate.Key != keys[w] || certificate.Verify() != nil {
			t.Errorf("%v signs with %x, %v; want %x", w, certificate.Key, err, keys[w])
		}
		if after := export(t, custody, w); after != before[w] {
			t.Errorf("%v has other words", w)
		}
	}
	uses, err := env.db.DataKeyUses(t.Context(), func(string, int) {})
	if err != nil {
		t.Fatal(err)
	}
	reencrypted := 0
	for _, use := range uses {
		if use.Key == oldKey.ID {
			t.Errorf("the old data key is used in %s", use.Table)
		}
		if use.Table == "wallet_keys" {
			reencrypted += use.Rows
		}
	}
	if reencrypted != len(wallets) {
		t.Errorf("%d keys of wallets are encrypted with the new data key, want %d", reencrypted, len(wallets))
	}
}

func TestCustody_StoresNothingWithoutEncryption(t *testing.T) {
	t.Parallel()
	// Without a data key, or without any cipher, no wallet gets a key.
	env := newEnv(t)
	w, _, _ := env.newWallets(t)
	pgtest.ExecAsSuperuser(t, env.url, "DELETE FROM data_keys")
	master, err := encryption.New(make([]byte, encryption.KeyLength))
	if err != nil {
		t.Fatal(err)
	}
	for name, newCipher := range map[string]func(ports.DataKeyStore) ports.Cipher{
		"no data key": func(store ports.DataKeyStore) ports.Cipher { return encryption.NewDataKeys(store, master, env.clock) },
		"no cipher":   nil,
	} {
		db, err := postgres.Open(t.Context(), postgres.Options{URL: env.url, AllPlatforms: true, MaxConnections: 2, Clock: env.clock,
			IDs: generator, NewCipher: newCipher})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)

		certificate, err := local.New(db).Sign(t.Context(), w, "a statement")

		if err == nil || !strings.Contains(err.Error(), "CAUSEWAY_MASTER_KEY") {
			t.Errorf("%s: signed with %x, %v", name, certificate.Key, err)
		}
		if key, err := db.WalletKey(t.Context(), w); err != nil || key != (wallet.Key{}) {
			t.Errorf("%s: the key %x is stored, %v", name, key, err)
		}
	}
}

func TestCustody_NoticesChangedRows(t *testing.T) {
	t.Parallel()
	// A wallet does not sign with the entropy of another wallet, with entropy that is not encrypted, or if
	// its public key was replaced; a person who can write to the database as a superuser gains nothing.
	env := newEnv(t)
	custody := local.New(env.db)
	for name, change := range map[string]string{
		"entropy of another wallet": "UPDATE wallet_keys SET entropy = (SELECT entropy FROM wallet_keys WHERE id = '%[2]s' AND platform_id = " +
			"'%[3]s') WHERE id = '%[1]s' AND platform_id = '%[3]s'",
		"entropy of another tenant": "UPDATE wallet_keys SET entropy = (SELECT entropy FROM wallet_keys WHERE id = '%[1]s' AND platform_id = " +
			"'%[4]s') WHERE id = '%[1]s' AND platform_id = '%[3]s'",
		"plain entropy": "ALTER TABLE wallet_keys DROP CONSTRAINT wallet_key_entropy_encrypted; UPDATE wallet_keys SET entropy = " +
			"decode(repeat('61', 32), 'hex') WHERE id = '%[1]s'",
		"public key": "UPDATE wallet_keys SET public_key = (SELECT public_key FROM wallet_keys WHERE id = '%[2]s' AND " +
			"platform_id = '%[3]s') WHERE id = '%[1]s' AND platform_id = '%[3]s'",
	} {
		one, other, elsewhere := env.newWallets(t)
		for _, w := range []ports.WalletID{one, other, elsewhere} {
			if _, err := custody.Sign(t.Context(), w, "a statement"); err != nil {
				t.Fatal(err)
			}
		}
		pgtest.ExecAsSuperuser(t, env.url, "SET session_replication_role = replica; "+
			fmt.Sprintf(change, one.Account.UUID(), other.Account.UUID(), one.Platform.UUID(), elsewhere.Platform.UUID()))

		certificate, err := custody.Sign(t.Context(), one, "a statement")

		if err == nil {
			t.Errorf("%s: signed with %x", name, certificate.Key)
		}
	}
}

func TestWalletKeys_ServiceCannotReplaceOrDelete(t *testing.T) {
	t.Parallel()
	// The role of the service can encrypt entropy again. It can neither replace what a wallet's key is, nor
	// delete it, nor store entropy that is not encrypted; and the owner of the tables is stopped, too.
	env := newEnv(t)
	w, _, _ := env.newWallets(t)
	if _, err := local.New(env.db).WalletKey(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"SET ROLE causeway_service", ""} {
		conn := pgtest.Connect(t, env.url)
		if _, err := conn.Exec(t.Context(), role+"; SET causeway.platform = '*'"); err != nil {
			t.Fatal(err)
		}
		for statement, allowed := range map[string]bool{
			"UPDATE wallet_keys SET entropy = entropy":                                                         true,
			"UPDATE wallet_keys SET entropy = decode(repeat('61', 32), 'hex')":                                 false,
			"UPDATE wallet_keys SET entropy = decode(repeat('61', 64), 'hex')":                                 false,
			"UPDATE wallet_keys SET public_key = public_key":                                                   false,
			"UPDATE wallet_keys SET id = id":                                                                   false,
			"UPDATE wallet_keys SET platform_id = platform_id":                                                 false,
			"UPDATE wallet_keys SET created_at = created_at":                                                   false,
			"DELETE FROM wallet_keys":                                                                          false,
			"TRUNCATE wallet_keys":                                                                             false,
			"DELETE FROM internal_accounts":                                                                    false,
			"INSERT INTO wallet_keys SELECT platform_id, id, entropy, public_key, created_at FROM wallet_keys": false,
			"INSERT INTO wallet_keys SELECT platform_id, gen_random_uuid(), entropy, public_key, created_at FROM wallet_keys": false,
		} {
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tag, err := tx.Exec(t.Context(), statement)
			if (err == nil) != allowed || allowed && tag.RowsAffected() != 1 {
				t.Errorf("%s: %s: %d rows, %v", role, statement, tag.RowsAffected(), err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCustody_SeesItsPlatformOnly(t *testing.T) {
	t.Parallel()
	// In the scope of another platform a wallet has no key, and none is made for it.
	env := newEnv(t)
	w, _, elsewhere := env.newWallets(t)
	custody := local.New(env.db)
	want, err := custody.WalletKey(ports.ForPlatform(t.Context(), w.Platform), w)
	if err != nil {
		t.Fatal(err)
	}

	if key, err := custody.WalletKey(ports.ForPlatform(t.Context(), elsewhere.Platform), w); err == nil {
		t.Errorf("another platform got the key %x", key)
	}
	if key, err := custody.WalletKey(ports.ForPlatform(t.Context(), ident.Platform{}), w); err == nil {
		t.Errorf("no platform got the key %x", key)
	}
	if key, err := custody.WalletKey(ports.ForPlatform(t.Context(), w.Platform), w); err != nil || key != want {
		t.Errorf("the key is %x, %v; want %x", key, err, want)
	}
}

func TestCustody_NonceIsFixedBeforeTheEndOfItsTime(t *testing.T) {
	t.Parallel()
	// From the end of the time of a transfer on, none gets a nonce; one that has a nonce keeps it.
	env := newEnv(t)
	w, _, _ := env.newWallets(t)
	fix := func(payload byte, nonce uint64) (uint64, error) {
		return env.db.FixTransferNonce(t.Context(), w, [32]byte{payload}, nonce, noon.Add(time.Hour))
	}
	if got, err := fix(1, 7); err != nil || got != 7 {
		t.Errorf("%d, %v", got, err)
	}
	env.clock.Advance(time.Hour)
	if got, err := fix(1, 8); err != nil || got != 7 {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := fix(2, 8); !errors.Is(err, wallet.ErrTooLate) {
		t.Errorf("%v", err)
	}
}
