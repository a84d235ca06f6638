package postgres_test

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/adapters/encryption"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// openEncrypting is openWithCipher with a key.
func openEncrypting(t *testing.T, c *env) *postgres.DB {
	t.Helper()
	db, cipher := openWithCipher(t, c)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	return db
}

// openWithCipher opens the environment's database with personal data encrypted.
func openWithCipher(t *testing.T, c *env) (*postgres.DB, ports.Cipher) {
	t.Helper()
	sealer, err := encryption.New(bytes.Repeat([]byte{7}, encryption.KeyLength))
	if err != nil {
		t.Fatal(err)
	}
	var cipher ports.Cipher
	db := openWith(t, postgres.Options{URL: c.url, AllPlatforms: true, MaxConnections: 4,
		Clock: portstest.NewFakeClock(noon), IDs: generator,
		NewCipher: func(store ports.DataKeyStore) ports.Cipher {
			cipher = encryption.NewDataKeys(store, sealer, portstest.NewFakeClock(noon))
			return cipher
		}})
	return db, cipher
}

func TestPersonalData_IsEncryptedAtRest(t *testing.T) {
	t.Parallel()
	// Rows written before there was a data key are readable and found as duplicates; they are
	// encrypted by ReencryptPersonalData, as new rows are at once, and again with a newer key.
	// Nothing that identifies a person is then found in the tables.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	ana, ben := newCustomer(c.platform, "c-1"), newCustomer(c.platform, "c-2")
	ana.FullName, ana.Email, ana.Address = "Ana Secreta", "ana@secreta.example", &party.Address{Line1: "Calle Secreta 1", City: "Lima",
		PostalCode: "1", Country: "PE"}
	ben.FullName, ben.Email = "Ben Secreto", "ben@secreto.example"
	early, late := newWallet(c.platform, ana.ID, "spark1secreta"), newWallet(c.platform, ben.ID, "spark1secreto")
	early.VerifiedName, late.VerifiedName = "Ana Secreta", "Ben Secreto"
	late.Beneficiary = &account.Beneficiary{Type: "INDIVIDUAL", FullName: "Ben Secreto", BirthDate: "1990-01-01"}
	c.createCustomers(t, ana)
	c.createAccounts(t, early)
	create := func(a account.External) error {
		return db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateExternalAccount(ctx, a) })
	}
	if found := secrets(t, c.url); found == 0 {
		t.Fatal("the rows written without a key show nothing")
	}

	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateCustomer(ctx, ben) }); err != nil {
		t.Fatal(err)
	}
	if err := create(late); err != nil {
		t.Fatal(err)
	}
	for round, wantChanged := range []int{2, 0, 4} {
		for _, want := range []account.External{early, late} {
			got, err := db.ExternalAccount(t.Context(), c.platform.ID, want.ID)
			if err != nil || !reflect.DeepEqual(got.Fields, want.Fields) || got.VerifiedName != want.VerifiedName ||
				!reflect.DeepEqual(got.Beneficiary, want.Beneficiary) {
				t.Errorf("round %d: read %+v, %v\nwant %+v", round, got, err, want)
			}
			again := newWallet(c.platform, want.Customer, want.Fields["address"])
			if err := create(again); !fault.Is(err, fault.Conflict) {
				t.Errorf("round %d: the account was stored twice: %v", round, err)
			}
		}
		customers, err := db.Customers(t.Context(), c.platform.ID, ports.CustomerFilter{Paging: ports.Paging{Limit: 10, Ascending: true}})
		if err != nil || len(customers.Items) != 2 || customers.Items[0].FullName != "Ana Secreta" ||
			customers.Items[1].Email != "ben@secreto.example" ||
			!reflect.DeepEqual(customers.Items[0].Address, ana.Address) {
			t.Errorf("round %d: customers %+v, %v", round, customers.Items, err)
		}
		if round == 2 {
			if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
				t.Fatal(err)
			}
		}

		changed := reencrypt(t, db)

		if changed != wantChanged {
			t.Errorf("round %d: %d rows were encrypted, want %d", round, changed, wantChanged)
		}
		if found := secrets(t, c.url); found != 0 {
			t.Errorf("round %d: %d rows show personal data", round, found)
		}
	}

	// A program without the key fails, and a value that was moved to another row is not accepted.
	if _, err := c.Customer(t.Context(), c.platform.ID, ana.ID); err == nil {
		t.Error("read without a key")
	}
	exec(t, connect(t, c.url), "UPDATE customers SET details = (SELECT details FROM customers WHERE platform_customer_id = 'c-1')")
	if _, err := db.Customer(t.Context(), c.platform.ID, ben.ID); err == nil {
		t.Error("the details of another customer were accepted")
	}
}

// reencrypt encrypts all personal data with the newest data key, and returns how many rows it changed.
func reencrypt(t *testing.T, db *postgres.DB) (rows int) {
	t.Helper()
	if err := db.ReencryptPersonalData(t.Context(), func(_ string, _, changed int) { rows += changed }); err != nil {
		t.Fatal(err)
	}
	return rows
}

// secrets returns how many rows contain the names, addresses or accounts of the test.
func secrets(t *testing.T, url string) (found int) {
	t.Helper()
	conn := connect(t, url)
	for _, table := range []string{"customers", "external_accounts"} {
		rows, err := conn.Query(t.Context(), "SELECT "+table+"::text FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		for rows.Next() {
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.ToLower(text), "secret") {
				found++
			}
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
	}
	return found
}

func TestPersonalData_PartiesOfTransactions(t *testing.T) {
	t.Parallel()
	// What a transaction says about its parties is encrypted when it is created and when its approval
	// changes. One that was created before there was a data key is read as well.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	early := newIncoming(c.platform.ID, ana.ID, ident.NewInternalAccount(generator.New, noon), "$bo@bank.example")
	late := newIncoming(c.platform.ID, ana.ID, ident.NewInternalAccount(generator.New, noon), "$cy@bank.example")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{early})
	})
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}

	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{late}); err != nil {
			return err
		}
		return tx.UpdateTransactions(ctx, []transaction.Transaction{late})
	}); err != nil {
		t.Fatal(err)
	}

	for _, want := range []transaction.Transaction{early, late} {
		if read, err := db.Transaction(t.Context(), c.platform.ID, want.ID); err != nil || !reflect.DeepEqual(read, want) {
			t.Errorf("%v\nread    %+v\nwritten %+v", err, read, want)
		}
	}
	var shown int
	if err := connect(t, c.url).QueryRow(t.Context(), `SELECT count(*) FROM transactions WHERE details LIKE '%Bo Berg%'`).Scan(
		&shown); err != nil || shown != 1 {
		t.Errorf("%d transactions show a name, %v; want only the early one", shown, err)
	}
}

func TestReencryptPersonalData_WaitsForLockedRow(t *testing.T) {
	t.Parallel()
	// A row that is locked for longer than a statement waits does not end the encryption of all rows.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	c.createCustomers(t, newCustomer(c.platform, "c-1"), newCustomer(c.platform, "c-2"))
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT FROM customers WHERE platform_customer_id = 'c-2' FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	time.AfterFunc(3500*time.Millisecond, func() { released <- tx.Rollback(context.Background()) })

	if changed := reencrypt(t, db); changed != 2 {
		t.Errorf("%d rows were encrypted, want 2", changed)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
}
