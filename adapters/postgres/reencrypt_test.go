package postgres_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/encryption"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/sealed"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/reconcile"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestReencryptPersonalData_CoversEveryTable(t *testing.T) {
	t.Parallel()
	// Plain values of every registered column are encrypted, and again with each newer key, so that no
	// row uses the key before. The counts say so, and no table contains the plain text.
	url := pgtest.New(t)
	fillTenantTables(t, url, uuid.New(), uuid.New())
	// others are not encrypted
	pgtest.ExecAsSuperuser(t, url, "UPDATE internal_accounts a SET customer_id = c.id FROM customers c WHERE c.platform_id = a.platform_id")
	var clock *portstest.FakeClock
	db, cipher := openForKeys(t, url, &clock)
	tables := map[string]int{}
	for _, c := range sealed.Columns() {
		value := map[string]string{"text": "'a secret'", "jsonb": `'{"name": "a secret"}'`, "bytea": `'{"name": "a secret"}'`}[c.SQLType()]
		pgtest.ExecAsSuperuser(t, url, fmt.Sprintf("SET session_replication_role = replica; UPDATE %s SET %s = %s", c.Table(), c.Name(), value))
		tables[c.Table()] = 2
	}
	countShown := func() (shown int) {
		t.Helper()
		for _, c := range sealed.Columns() {
			text := map[string]string{"text": c.Name(), "jsonb": c.Name() + "::text", "bytea": "encode(" + c.Name() + ", 'escape')"}[c.SQLType()]
			var n int
			if err := connect(t, url).QueryRow(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s WHERE %s LIKE '%%secret%%'", c.Table(),
				text)).Scan(&n); err != nil {
				t.Fatal(err)
			}
			shown += n
		}
		return shown
	}
	rowsOf := func(key uuid.UUID) map[string]int {
		t.Helper()
		uses, err := db.DataKeyUses(t.Context(), func(string, int) {})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, use := range uses {
			if use.Key == key {
				found[use.Table] = use.Rows
			}
		}
		return found
	}
	if shown := countShown(); shown < len(tables) || !reflect.DeepEqual(rowsOf(uuid.Nil), tables) {
		t.Fatalf("%d values show personal data, and the counts of plain rows are %v", shown, rowsOf(uuid.Nil))
	}

	var before uuid.UUID
	for round := range 3 {
		key := generator.New(clock.Now())
		if err := cipher.Create(t.Context(), key); err != nil {
			t.Fatal(err)
		}

		if changed := reencrypt(t, db); changed != 2*len(tables) {
			t.Errorf("round %d: %d rows were changed, want %d", round, changed, 2*len(tables))
		}
		delete(tables, sealed.SearchKeysHash.Table()) // has nothing but a fingerprint, whose key stays
		if again := reencrypt(t, db); again != 0 {
			t.Errorf("round %d: the repetition changed %d rows", round, again)
		}

		if shown, used, old := countShown(), rowsOf(key), rowsOf(before); shown != 0 || !reflect.DeepEqual(used, tables) || len(old) != 0 {
			t.Errorf("round %d: %d values show personal data, rows by table %v, with the key before %v", round, shown, used, old)
		}
		before = key
		clock.Advance(time.Minute)
	}
}

// openForKeys opens a database with a cipher, whose clock it sets.
func openForKeys(t *testing.T, url string, clock **portstest.FakeClock) (*postgres.DB, *encryption.DataKeys) {
	t.Helper()
	sealer, err := encryption.New(make([]byte, encryption.KeyLength))
	if err != nil {
		t.Fatal(err)
	}
	*clock = portstest.NewFakeClock(noon)
	var cipher *encryption.DataKeys
	db := openWith(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 4, Clock: *clock, IDs: generator,
		NewCipher: func(store ports.DataKeyStore) ports.Cipher {
			cipher = encryption.NewDataKeys(store, sealer, *clock)
			return cipher
		}})
	return db, cipher
}

func TestReencryptPersonalData_ManyBatches(t *testing.T) {
	t.Parallel()
	// More rows than a batch has are all encrypted, of all platforms, each once.
	c := newEnv(t)
	var clock *portstest.FakeClock
	db, cipher := openForKeys(t, c.url, &clock)
	exec(t, connect(t, c.url), `
		INSERT INTO idempotency_keys (platform_id, token_id, key, fingerprint, status, body, created_at)
		SELECT p.id, gen_random_uuid(), 'key ' || n, '', 200, 'a secret', now() FROM platforms p, generate_series(1, 700) n`)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}

	if changed := reencrypt(t, db); changed != 1400 {
		t.Errorf("%d rows were encrypted, want 1400", changed)
	}

	for _, p := range []ident.Platform{c.platform.ID, c.otherPlatform.ID} {
		stored, err := db.StoredResponses(t.Context(), []ports.IdempotencyKey{{Platform: p, Key: "key 1"}, {Platform: p, Key: "key 700"}})
		if err != nil || string(stored[0].Body) != "a secret" || string(stored[1].Body) != "a secret" {
			t.Errorf("read %v, %v", stored, err)
		}
	}
}

func TestReencryptPersonalData_EndsWhileRowsAreAdded(t *testing.T) {
	t.Parallel()
	// Whatever is read, as many rows follow: those are not waited for.
	c := newEnv(t)
	var clock *portstest.FakeClock
	db, cipher := openForKeys(t, c.url, &clock)
	conn := connect(t, c.url)
	added := 0
	add := func() {
		exec(t, conn, fmt.Sprintf(`
			INSERT INTO idempotency_keys (platform_id, token_id, key, fingerprint, status, body, created_at)
			SELECT $1, gen_random_uuid(), to_char(%d + n, '00000000'), '', 200, 'a secret', now() FROM generate_series(1, 500) n`, added),
			c.platform.ID.UUID())
		added += 500
	}
	add()
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}

	changed := 0
	err := db.ReencryptPersonalData(t.Context(), func(table string, _, n int) {
		changed += n
		if table == "idempotency_keys" && added < 50_000 {
			add()
		}
	})

	if err != nil || changed != 500 {
		t.Errorf("%d rows were encrypted, %v; want the 500 that existed", changed, err)
	}
}

func TestReencryptPersonalData_AccountAddedByTwoProcesses(t *testing.T) {
	t.Parallel()
	// When the first data key is created, a process that has read it and one that has not can add the
	// same account. Encrypting both succeeds, both stay usable, and none is added a third time.
	c := newEnv(t)
	var clock *portstest.FakeClock
	db, cipher := openForKeys(t, c.url, &clock)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	create := func(a account.External) error {
		return db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateExternalAccount(ctx, a) })
	}
	first, second, other := newWallet(c.platform, ana.ID, "spark1one"), newWallet(c.platform, ana.ID, "spark1one"),
		newWallet(c.platform, ana.ID, "spark1two")
	if err := create(first); err != nil {
		t.Fatal(err)
	}
	c.createAccounts(t, second, other) // by a process without the key

	if changed := reencrypt(t, db); changed != 3 {
		t.Errorf("%d rows were encrypted, want the customer and two accounts", changed)
	}

	for _, want := range []account.External{first, second, other} {
		if got, err := db.ExternalAccount(t.Context(), c.platform.ID, want.ID); err != nil || got.Fields["address"] != want.Fields["address"] {
			t.Errorf("read %v, %v", got.Fields, err)
		}
		if err := create(newWallet(c.platform, ana.ID, want.Fields["address"])); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s was added again: %v", want.Fields["address"], err)
		}
	}
	if n := countRows(
		t, c.url, `SELECT count(*) FROM external_accounts WHERE fingerprint NOT LIKE 'hmac-sha256:%' OR fields::text LIKE '%spark1%'`); n != 0 {
		t.Errorf("%d accounts are not encrypted", n)
	}
	if again := reencrypt(t, db); again != 0 {
		t.Errorf("the repetition changed %d rows", again)
	}
}

func TestReencryptPersonalData_UnreadableRowStopsNoOther(t *testing.T) {
	t.Parallel()
	// A row that cannot be decrypted stays as it is and is named by the error; all other rows are
	// encrypted.
	c := newEnv(t)
	var clock *portstest.FakeClock
	db, cipher := openForKeys(t, c.url, &clock)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	broken, whole := newCustomer(c.platform, "broken"), newCustomer(c.platform, "whole")
	c.createCustomers(t, broken, whole)
	c.createAccounts(t, newWallet(c.platform, whole.ID, "spark1one"))
	exec(t, connect(t, c.url), `UPDATE customers SET details = '"AgAA"' WHERE platform_customer_id = 'broken'`)
	rows := 0

	err := db.ReencryptPersonalData(t.Context(), func(_ string, _, changed int) { rows += changed })

	if rows != 2 || !errors.Is(err, ports.ErrCannotDecrypt) ||
		!strings.Contains(err.Error(), "customers.details of "+broken.ID.UUID().String()) {
		t.Errorf("%d rows were encrypted, want the other customer and the account: %v", rows, err)
	}
}

func TestPersonalData_LaterColumnsNeedKeyOfTheirGeneration(t *testing.T) {
	t.Parallel()
	// What a provider says about a receiver, the texts of statement lines, and the instructions of internal
	// accounts are stored as they are while the newest data key was created by the version before, whose
	// processes cannot read them encrypted. Both forms are read.
	c := newEnv(t)
	var clock *portstest.FakeClock
	db, cipher := openForKeys(t, c.url, &clock)
	bo := newCustomer(c.platform, "bo")
	c.createCustomers(t, bo)
	for round, wantPlain := range []bool{true, false} {
		if err := cipher.Create(t.Context(), generator.New(clock.Now())); err != nil {
			t.Fatal(err)
		}
		if wantPlain {
			pgtest.ExecAsSuperuser(t, c.url, "UPDATE data_keys SET generation = 1")
		}
		clock.Advance(time.Minute)
		lookup := quote.Lookup{ID: ident.NewLookup(generator.New, noon), Platform: c.platform.ID, SenderUMA: "$a@uma.test",
			ReceiverUMA: "$b@uma.test",
			Facts:       map[string]string{"FULL_NAME": "Bo Secret"}, ExpiresAt: noon.Add(time.Hour), CreatedAt: noon}
		books := reconcile.Account{Platform: c.platform.ID, Path: "rails/RTP", Currency: "USD"}
		line := reconcile.Line{ID: uuid.New(), Identity: sha256.Sum256([]byte{byte(round)}), Ordinal: 1, Amount: 5, Booked: 20000, Value: 20000,
			References: []string{"Secret 1", "Secret 2"}, Description: "From Bo Secret"}
		instructed, later := newInternal(t, c.platform.ID, bo.ID, money.Currency([]string{"USD", "GBP"}[round])),
			newInternal(t, c.platform.ID, bo.ID, money.Currency([]string{"EUR", "MXN"}[round]))
		instructed.Instructions = []account.Instruction{{Info: map[string]any{"accountHolderName": "Client Money FBO Bo Secret"}}}

		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			if err := tx.CreateLookup(ctx, lookup); err != nil {
				return err
			}
			if err := tx.OpenInternalAccounts(ctx, []account.Internal{instructed, later}); err != nil {
				return err
			}
			later.Instructions = instructed.Instructions
			if _, err := tx.AddFundingInstructions(ctx, []account.Internal{later}); err != nil {
				return err
			}
			_, err := tx.AddStatementLines(ctx, ident.NewReconciliation(generator.New, noon), books, []reconcile.Line{line})
			return err
		}); err != nil {
			t.Fatal(err)
		}

		read, err := db.Lookup(t.Context(), c.platform.ID, lookup.ID)
		if err != nil || !reflect.DeepEqual(read.Facts, lookup.Facts) {
			t.Errorf("round %d: read %v, %v", round, read.Facts, err)
		}
		for _, want := range []account.Internal{instructed, later} {
			if got, err := db.InternalAccount(t.Context(), c.platform.ID, want.ID); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("round %d: read %+v, %v", round, got, err)
			}
		}
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			parties, err := tx.IncomingPaymentParties(ctx, []ports.IncomingPaymentKey{{Platform: c.platform.ID, To: later.ID}})
			if err != nil || !reflect.DeepEqual(parties[0].To, &later) {
				t.Errorf("round %d: the receiver is %+v, %v", round, parties[0].To, err)
			}
			var input comparedLines
			err = tx.LoadComparison(ctx, ident.NewReconciliation(generator.New, noon), books, reconcile.DayRange{First: 20000, Last: 20000},
				nil, &input)
			slices.SortFunc(input.lines, func(a, b reconcile.Line) int { return bytes.Compare(a.ID[:], b.ID[:]) })
			if got := input.lines[len(input.lines)-1]; len(input.lines) != round+1 || !reflect.DeepEqual(got.References, line.References) ||
				got.Description != line.Description {
				t.Errorf("round %d: read %d lines, the last one %+v", round, len(input.lines), got)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var plain int
		if err := connect(t, c.url).QueryRow(t.Context(),
			`SELECT (SELECT count(*) FROM lookups WHERE id = $1 AND receiver_info::text ILIKE '%secret%')
			+ (SELECT count(*) FROM reconciliation_lines l WHERE id = $2 AND l::text ILIKE '%secret%')
			+ (SELECT count(*) FROM internal_accounts i WHERE id IN ($3, $4) AND i::text ILIKE '%secret%')`,
			lookup.ID.UUID(), line.ID, instructed.ID.UUID(), later.ID.UUID()).Scan(&plain); err != nil || plain != map[bool]int{true: 4}[wantPlain] {
			t.Errorf("round %d: %d rows show a name, %v", round, plain, err)
		}
	}
	reencrypt(t, db)
	if n := countRows(
		t, c.url, `SELECT (SELECT count(*) FROM reconciliation_lines l WHERE l::text ILIKE '%secret%') + (SELECT count(*) FROM internal_accounts i WHERE i::text ILIKE '%secret%')`); n != 0 {
		t.Errorf("%d rows show a name after they were encrypted again", n)
	}
}

// comparedLines keeps the lines of a comparison.
type comparedLines struct {
	reconcile.Comparison
	lines []reconcile.Line
}

func (c *comparedLines) AddLine(l reconcile.Line) error {
	c.lines = append(c.lines, l)
	return nil
}

func countRows(t *testing.T, url, query string) (n int) {
	t.Helper()
	if err := connect(t, url).QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReconciliationLines_OnlyEncryptedTextsReplaceOthers(t *testing.T) {
	t.Parallel()
	// The database accepts no other change of a statement line than texts that are encrypted.
	c := newEnv(t)
	conn := connect(t, c.url)
	exec(
		t, conn, `INSERT INTO reconciliation_lines VALUES ($1, gen_random_uuid(), gen_random_uuid(), 'rails/RTP', 'USD', sha256('x'), 1, now(), now(), 5, '', 'INV-1', 'From Bo', false)`,
		c.platform.ID.UUID())
	for change, allowed := range map[string]bool{
		`description = E'\x01abc', reference_list = E'\x01abc'`: true,
		`description = 'From Cy'`:                               false,
		`description = ''`:                                      false,
		`reference_list = 'INV-2'`:                              false,
		`amount = 6`:                                            false,
	} {
		if _, err := conn.Exec(t.Context(), "UPDATE reconciliation_lines SET "+change); (err == nil) != allowed {
			t.Errorf("%s: %v", change, err)
		}
	}
}
