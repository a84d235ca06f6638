package main

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/cli"
	"causeway/adapters/encryption"
	"causeway/adapters/encryption/vault/vaulttest"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/datakeys"
	"causeway/core/platform"
	"causeway/ports"
)

// newKeysApp returns an app on a database, with the data keys of a master key.
func newKeysApp(t *testing.T, url string, masterKey string) (*app, *encryption.DataKeys) {
	t.Helper()
	master, err := newMaster(masterKey, "")
	if err != nil {
		t.Fatal(err)
	}
	db := openDB(t, postgres.Options{URL: url, MaxConnections: 2, Clock: systemClock{}})
	log := logrus.New()
	log.SetOutput(io.Discard)
	return &app{db: db, log: log}, encryption.NewDataKeys(db, master, systemClock{})
}

func TestEnsureDataKey_OtherMasterKeyIsRefused(t *testing.T) {
	t.Parallel()
	// A process with another master key does not start, because it could read and store no
	// personal data. One with the right key does.
	url, key := pgtest.New(t), encryption.NewKey()
	a, keys := newKeysApp(t, url, key)
	if err := a.ensureDataKey(t.Context(), keys); err != nil {
		t.Fatal(err)
	}

	a, keys = newKeysApp(t, url, encryption.NewKey())
	if err := a.ensureDataKey(t.Context(), keys); !errors.Is(err, encryption.ErrCannotDecrypt) {
		t.Errorf("another key: %v", err)
	}
	a, keys = newKeysApp(t, url, key)
	if err := a.ensureDataKey(t.Context(), keys); err != nil {
		t.Errorf("the same key: %v", err)
	}
}

func TestEnsureDataKey_WarnsAboutKeyOfEarlierVersion(t *testing.T) {
	t.Parallel()
	// A process says at its start that some data is not encrypted because the version before created
	// the data key, and no longer when there is a newer one.
	url, key := pgtest.New(t), encryption.NewKey()
	start := func() string {
		t.Helper()
		a, keys := newKeysApp(t, url, key)
		var log strings.Builder
		a.log.SetOutput(&log)
		if err := a.ensureDataKey(t.Context(), keys); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	if logged := start(); logged != "" {
		t.Errorf("a new database: %s", logged)
	}
	pgtest.ExecAsSuperuser(t, url, `UPDATE data_keys SET generation = 1`)

	if logged := start(); !strings.Contains(logged, "run: causeway keys rotate") {
		t.Errorf("a key of the version before: %s", logged)
	}
	_, keys := newKeysApp(t, url, key)
	if err := keys.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	if logged := start(); logged != "" {
		t.Errorf("a newer key: %s", logged)
	}
}

func TestEnsureDataKey_InterruptedCreationIsRepeated(t *testing.T) {
	t.Parallel()
	// A process that stopped between creating the key of fingerprints and the data key does not
	// leave a database in which nothing is ever encrypted.
	a, keys := newKeysApp(t, pgtest.New(t), encryption.NewKey())
	if err := keys.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	pgtest.ExecAsSuperuser(t, a.db.Pool().Config().ConnString(), `DELETE FROM data_keys WHERE purpose = 'DATA'`)

	err := a.ensureDataKey(t.Context(), keys)

	stored, failed := a.db.DataKeys(t.Context())
	if err != nil || failed != nil || !datakeys.HasDataKey(stored) {
		t.Errorf("%d keys, %v, %v", len(stored), err, failed)
	}
}

func TestKeysCommands(t *testing.T) {
	t.Parallel()
	// The list says which rows use each data key and which are not encrypted. A key is removed only
	// when none uses it, and a day after it was replaced; the record names the operator.
	url, key := pgtest.New(t), encryption.NewKey()
	a, keys := newKeysApp(t, url, key)
	if err := a.ensureDataKey(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	first, err := keys.NewestKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pgtest.ExecAsSuperuser(t, url, insertPlainCustomer)
	command := func(args ...string) (out, errOut string, status int) {
		t.Helper()
		var stdout, stderr strings.Builder
		if args[0] == "rotate" || args[0] == "reencrypt" {
			args = append(args, "--master-key", key)
		}
		status = run(t.Context(), append(append([]string{"keys"}, args...), "--database-url", url), &stdout, &stderr)
		return stdout.String(), stderr.String(), status
	}
	mustPrint := func(want string, args ...string) string {
		t.Helper()
		out, errOut, status := command(args...)
		if status != 0 || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("keys %s: status %d, %s%s\nwant %s", args, status, out, errOut, want)
		}
		return out
	}
	mustRefuse := func(want string, args ...string) {
		t.Helper()
		if out, errOut, status := command(args...); status != 1 || !strings.Contains(errOut, want) {
			t.Errorf("keys %s: status %d, %s%s\nwant %s", args, status, out, errOut, want)
		}
	}

	mustPrint(first.ID.String()+` +\S+ +newest +-\nnot encrypted +- +- +customers 1\n`, "list")
	mustPrint(`Encrypted 1 rows with data key `+first.ID.String(), "reencrypt")
	mustPrint(first.ID.String()+` +\S+ +newest +customers 1\n$`, "list")
	pgtest.ExecAsSuperuser(t, url, `CREATE TABLE copy AS SELECT id, details FROM customers`)
	mustPrint(`encrypted 1 rows with it`, "rotate", "--actor", "ana")
	mustPrint(first.ID.String()+` +\S+ +unused +-\n\S+ +\S+ +newest +customers 1\n$`, "list")

	mustRefuse("can be removed from", "remove", first.ID.String())
	pgtest.ExecAsSuperuser(t, url, `
		UPDATE data_keys SET created_at = created_at - interval '25 hours';
		UPDATE customers SET details = c.details FROM copy c WHERE c.id = customers.id`)
	mustRefuse("still encrypts rows: customers 1; encrypt them with the newest key first", "remove", first.ID.String())
	mustPrint(`Encrypted 1 rows`, "reencrypt")
	mustPrint(`is removed`, "remove", first.ID.String(), "--actor", "ana")

	out := mustPrint(`newest +customers 1\n$`, "list")
	if strings.Contains(out, first.ID.String()) {
		t.Errorf("the removed key is listed:\n%s", out)
	}
	mustRefuse("encrypts new data", "remove", strings.Fields(out)[5])
	mustRefuse("there is no data key", "remove", first.ID.String())
	mustRefuse("is not the id of a data key", "remove", "x")
	checkActions(t, url, "ROTATE_DATA_KEY ana "+strings.Fields(out)[5], "REMOVE_DATA_KEY ana "+first.ID.String())
}

func TestKeysRotate_FirstKeyIncludesRowsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	// What another process stores just after the first data key was created, or the first of a
	// generation, as it is because it has not read the key yet, is encrypted too. Further keys wait for
	// no process.
	url, key := pgtest.New(t), encryption.NewKey()
	a, _ := newKeysApp(t, url, key)
	pgtest.ExecAsSuperuser(t, url, insertPlainCustomer)
	for round, wantWait := range []bool{true, true, false} {
		keys := openKeys(t, url, cli.MasterKeyFlag{MasterKey: key})
		waited := false
		keys.AwaitFirstKey = func(ctx context.Context) error {
			waited = true
			stored, err := a.db.DataKeys(ctx)
			if err != nil || datakeys.IsFirst(stored) {
				t.Errorf("round %d: there is no data key yet: %v", round, err)
			}
			pgtest.ExecAsSuperuser(t, url, `UPDATE customers SET details = '{"fullName": "Ana"}'`)
			return nil
		}

		rotateKeys(t, keys)

		var kind string
		if err := a.db.Pool().QueryRow(ports.ForAllPlatforms(t.Context()), `SELECT jsonb_typeof(details) FROM customers`).Scan(
			&kind); err != nil || kind != "string" {
			t.Errorf("round %d: the details are a JSON %s, %v", round, kind, err)
		}
		if waited != wantWait {
			t.Errorf("round %d: waited %t", round, waited)
		}
		if round == 0 { // the key of the version before
			pgtest.ExecAsSuperuser(t, url, `UPDATE data_keys SET generation = 1`)
		}
	}
}

func TestKeysRotate_MovesMasterKeyToVault(t *testing.T) {
	t.Parallel()
	// A service whose master key was a text continues with one in Vault: after keys rotate with both, Vault
	// alone opens the data keys, and the old key none. Without a token nothing starts.
	vault := httptest.NewServer(vaulttest.New(t))
	defer vault.Close()
	url, text, inVault := pgtest.New(t), encryption.NewKey(), "vault:"+vault.URL+"/transit/causeway"
	a, keys := newKeysApp(t, url, text)
	if err := a.ensureDataKey(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	sealed, err := keys.Seal(t.Context(), []byte("ana"), nil)
	if err != nil {
		t.Fatal(err)
	}
	use := func(masterKey, token string) error {
		master, err := newMaster(masterKey, token)
		if err != nil {
			return err
		}
		plain, err := encryption.NewDataKeys(a.db, master, systemClock{}).Open(t.Context(), sealed, nil)
		if err == nil && string(plain) != "ana" {
			t.Errorf("opened %q", plain)
		}
		return err
	}

	rotateKeys(t, openKeys(t, url, cli.MasterKeyFlag{VaultFlag: cli.VaultFlag{VaultToken: vaulttest.Token}, MasterKey: inVault + "," + text}))

	if err := use(inVault, vaulttest.Token); err != nil {
		t.Errorf("Vault alone: %v", err)
	}
	if err := use(text, ""); !errors.Is(err, encryption.ErrCannotDecrypt) {
		t.Errorf("the old key alone: %v", err)
	}
	if err := use(inVault, "expired"); err == nil || errors.Is(err, encryption.ErrCannotDecrypt) ||
		!strings.Contains(err.Error(), vaultTokenEnv) {
		t.Errorf("an expired token: %v", err)
	}
	if err := use(inVault, ""); err == nil || !strings.Contains(err.Error(), vaultTokenEnv) {
		t.Errorf("no token: %v", err)
	}
	if err := use("vault:http://vault.example.com/transit/causeway", vaulttest.Token); err == nil ||
		!strings.Contains(err.Error(), masterKeyEnv) {
		t.Errorf("an address without protection: %v", err)
	}
}

// insertPlainCustomer stores a customer as a process without a data key does.
const insertPlainCustomer = `
	INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at)
	VALUES (gen_random_uuid(), 'Acme', 'SANDBOX', true, 'example.com', '[]', now(), now());
	INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, uma_address, status, details, created_at, updated_at)
	SELECT id, gen_random_uuid(), 'one', 'INDIVIDUAL', '$one@example.com', 'APPROVED', '{"fullName": "Ana"}', now(), now() FROM platforms`

// openKeys returns the use cases on the data keys of a database.
func openKeys(t *testing.T, url string, master cli.MasterKeyFlag) *datakeys.Service {
	t.Helper()
	opened, err := openServices(t.Context(), cli.DatabaseFlags{DatabaseURL: url}, cli.Access{Work: cli.AsRequest, MasterKey: &master})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened.DataKeys(nil)
}

func rotateKeys(t *testing.T, keys *datakeys.Service) {
	t.Helper()
	now := systemClock{}.Now()
	id := ids.New().New(now)
	action := platform.OperatorAction{ID: ids.New().New(now), Kind: platform.OperatorRotatedDataKey, Name: id.String(), Actor: "ana", At: now}
	if _, err := keys.Rotate(t.Context(), id, action); err != nil {
		t.Fatal(err)
	}
}
