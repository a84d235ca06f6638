package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

func newImport(p platform.Platform, status customer.ImportStatus) customer.Import {
	return customer.Import{ID: ident.NewCustomerImport(generator.New, noon), Platform: p.ID, Status: status, Columns: []string{"city", "x"},
		Total: 3, CreatedAt: noon, UpdatedAt: noon}
}

var anyNumber = ports.UnfinishedImports{Max: 1000, UploadsSince: noon.Add(-time.Hour)}

// createImport stores an import with a status.
func (c *env) createImport(t *testing.T, i customer.Import) customer.Import {
	t.Helper()
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateCustomerImport(ctx, i, anyNumber) })
	return i
}

func newChunk(firstRow int, values ...string) ports.ImportChunk {
	chunk := ports.ImportChunk{ID: generator.New(noon), FirstRow: firstRow}
	for i, v := range values {
		chunk.Rows = append(chunk.Rows, ports.ImportRow{Line: firstRow + i + 1, Values: []string{v, ""}})
	}
	return chunk
}

func TestCustomerImports_ReadAndDeleteChunks(t *testing.T) {
	t.Parallel()
	// A chunk is found by its first row, among those of its import, until it is deleted in a unit of
	// work that commits.
	c := newEnv(t)
	one, other := c.createImport(t, newImport(c.platform, customer.ImportPending)),
		c.createImport(t, newImport(c.platform, customer.ImportPending))
	first, second, foreign := newChunk(1, "Ana", "Ben"), newChunk(3, "Cid"), newChunk(1, "Dan")
	for _, chunk := range []ports.ImportChunk{second, first} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.AddImportChunk(ctx, one, chunk) })
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.AddImportChunk(ctx, other, foreign) })
	want := func(when string, i customer.Import, chunks map[int]ports.ImportChunk) {
		t.Helper()
		for row := range 5 {
			if got, err := c.ImportChunk(t.Context(), i.Platform, i.ID, row); err != nil || !reflect.DeepEqual(got, chunks[row]) {
				t.Errorf("%s: row %d is in %+v, %v; want %+v", when, row, got, err, chunks[row])
			}
		}
	}
	remove := func(fail error) {
		t.Helper()
		if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			return errors.Join(tx.DeleteImportChunk(ctx, one, first), fail)
		}); !errors.Is(err, fail) {
			t.Fatal(err)
		}
	}

	want("stored", one, map[int]ports.ImportChunk{1: first, 3: second})
	remove(context.Canceled)
	want("rolled back", one, map[int]ports.ImportChunk{1: first, 3: second})
	remove(nil)
	want("deleted", one, map[int]ports.ImportChunk{3: second})
	want("of another import", other, map[int]ports.ImportChunk{1: foreign})
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteImportChunks(ctx, other) })
	want("all deleted", other, nil)
	elsewhere := one
	elsewhere.Platform = c.otherPlatform.ID
	want("of another platform", elsewhere, nil)
}

func TestCustomerImports_UpdateAndRead(t *testing.T) {
	t.Parallel()
	// An import is read as it was last stored, with its errors in the order of the rows. One that is
	// uploaded is not visible, and only such a one is deleted by DeleteCustomerUpload.
	c := newEnv(t)
	stored := c.createImport(t, newImport(c.platform, customer.ImportUploading))
	if _, err := c.CustomerImport(t.Context(), c.platform.ID, stored.ID); !fault.Is(err, fault.BulkUploadJobNotFound) {
		t.Errorf("an upload: %v", err)
	}
	rows := []customer.ImportError{
		{Row: 2, Line: 4, PlatformCustomerID: "ben", Code: fault.InvalidInput, Message: "city: is required.",
			Fields: []fault.Field{{Field: "city", Message: "is required"}}},
		{Row: 3, Line: 7, Code: fault.Conflict, Message: "In use.", Reason: "platformCustomerId in use", Fields: []fault.Field{}},
	}
	stored.Status, stored.Columns, stored.Successful, stored.Failed, stored.UpdatedAt = customer.ImportProcessing, []string{"city"}, 1, 1,
		noon.Add(time.Second)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.UpdateCustomerImport(ctx, stored, rows[1:])
	})
	stored.Status, stored.Failed, stored.CompletedAt = customer.ImportCompleted, 2, noon.Add(time.Minute)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.UpdateCustomerImport(ctx, stored, rows[:1])
	})
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteCustomerUpload(ctx, c.platform.ID, stored.ID)
	})

	read, err := c.CustomerImport(t.Context(), c.platform.ID, stored.ID)
	if err != nil || !reflect.DeepEqual(read, customer.ImportWithErrors{Import: stored, Errors: rows}) {
		t.Errorf("read %+v, %v", read, err)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		locked, found, err := tx.LockCustomerImport(ctx, c.platform.ID, stored.ID)
		if err != nil || !found || !reflect.DeepEqual(locked, stored) {
			t.Errorf("locked %+v, %v", locked, err)
		}
		if errors, err := tx.ImportErrors(ctx, stored); err != nil || !reflect.DeepEqual(errors, rows) {
			t.Errorf("errors %+v, %v", errors, err)
		}
		_, found, err = tx.LockCustomerImport(ctx, c.otherPlatform.ID, stored.ID)
		if err != nil || found {
			t.Errorf("of another platform: %v, %v", found, err)
		}
		return nil
	})

	// What is wrong with a file are errors without rows.
	invalid := c.createImport(t, newImport(c.platform, customer.ImportUploading))
	invalid.Status, invalid.Total = customer.ImportPending, 0
	reasons := []customer.ImportError{{Code: fault.InvalidRequestFormat, Reason: "a", Column: "city", Fields: []fault.Field{}},
		{Code: fault.InvalidRequestFormat, Reason: "b", Fields: []fault.Field{}}}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.UpdateCustomerImport(ctx, invalid, reasons)
	})
	if read, err := c.CustomerImport(t.Context(), c.platform.ID, invalid.ID); err != nil || !reflect.DeepEqual(read.Errors, reasons) {
		t.Errorf("errors %+v, %v", read.Errors, err)
	}
}

func TestCustomerImports_LimitHoldsConcurrently(t *testing.T) {
	t.Parallel()
	// However many uploads begin at once, only as many as allowed are stored. Imports that have ended,
	// and uploads that began long ago, do not count.
	c := newEnv(t)
	old, ended := newImport(c.platform, customer.ImportUploading), newImport(c.platform, customer.ImportCompleted)
	old.CreatedAt, ended.CompletedAt = noon.Add(-2*time.Hour), noon
	c.createImport(t, old)
	c.createImport(t, ended)
	limit := ports.UnfinishedImports{Max: 3, UploadsSince: noon.Add(-time.Hour)}
	var running sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		running.Go(func() {
			errs[i] = c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				return tx.CreateCustomerImport(ctx, newImport(c.platform, customer.ImportUploading), limit)
			})
		})
	}
	running.Wait()

	refused := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(refused) != 7 || slices.ContainsFunc(refused, func(err error) bool { return !fault.Is(err, fault.RateLimited) }) {
		t.Errorf("refused: %v", refused)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateCustomerImport(ctx, newImport(c.otherPlatform, customer.ImportUploading), limit)
	})
}

func TestCreateCustomers_LeavesOutConflicts(t *testing.T) {
	t.Parallel()
	// Customers whose ids are in use, also by one before them in the list or one of a unit of work that
	// runs at the same time, are left out with the reason. The others are read as they were created.
	c := newRetentionEnv(t)
	known, deleted := newCustomer(c.platform, "known"), newCustomer(c.platform, "free")
	deleted.DeletedAt = noon
	c.createCustomers(t, known, deleted, newCustomer(c.otherPlatform, "ana"))
	named := func(name, address string) customer.Customer {
		created := newCustomer(c.platform, name)
		created.UMAAddress = address
		return created
	}
	list := []customer.Customer{newCustomer(c.platform, "ana"), newCustomer(c.platform, "free"), named("known", "$k@uma.test"),
		named("k", "$known@uma.test"), named("ana", "$ana2@uma.test"), named("ana3", "$ana@uma.test")}
	list[0].Address, list[0].Email = nil, "ana@example.com"
	var running sync.WaitGroup
	refused := make([]map[ident.Customer]*fault.Error, 2)
	for i := range refused {
		running.Go(func() {
			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
				again := slices.Clone(list)
				for n := range again {
					again[n].ID = ident.NewCustomer(generator.New, noon)
				}
				if i == 0 {
					again = list
				}
				sealed, err := c.SealCustomers(ctx, again, accountsOf(t, again))
				if err != nil {
					return err
				}
				refused[i], err = tx.CreateCustomers(ctx, sealed)
				return err
			})
		})
	}
	running.Wait()

	if len(refused[0])+len(refused[1]) != 2*len(list)-2 {
		t.Errorf("%d and %d of %d are refused, and 2 should be created", len(refused[0]), len(refused[1]), len(list))
	}
	codes := map[string]int{}
	for _, r := range refused {
		for _, f := range r {
			codes[string(f.Code)]++
		}
	}
	if len(codes) != 2 || codes["CONFLICT"] < 4 || codes["UMA_ADDRESS_EXISTS"] != 4 {
		t.Errorf("refused with %v", codes)
	}
	if _, refusedFirst := refused[0][list[0].ID]; !refusedFirst {
		if got, err := c.Customer(t.Context(), c.platform.ID, list[0].ID); err != nil || !reflect.DeepEqual(got, list[0]) {
			t.Errorf("created %+v, %v", got, err)
		}
	}
	if owners := c.count(t, "internal_accounts a JOIN customers c ON c.platform_id = a.platform_id AND c.id = a.customer_id WHERE "+
		"c.platform_customer_id IN ('ana', 'free')"); owners != 2 || c.count(t, "internal_accounts") != 2 {
		t.Errorf("%d accounts of the customers that were created, %d in all; want 2", owners, c.count(t, "internal_accounts"))
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		none, err := c.SealCustomers(ctx, nil, nil)
		if err != nil || none.Len() != 0 {
			t.Errorf("none: %v", err)
		}
		if got, err := tx.CreateCustomers(ctx, none); err != nil || len(got) > 0 {
			t.Errorf("of none: %v, %v", got, err)
		}
		return nil
	})
}

// accountsOf returns an account of each customer.
func accountsOf(t *testing.T, customers []customer.Customer) []account.Internal {
	t.Helper()
	accounts := make([]account.Internal, len(customers))
	for i, c := range customers {
		var err error
		if accounts[i], err = account.NewInternal(ident.NewInternalAccount(generator.New, noon), c.Platform, c.ID, "USD", noon); err != nil {
			t.Error(err)
		}
	}
	return accounts
}

func TestCustomerImports_RowsAreEncrypted(t *testing.T) {
	t.Parallel()
	// The rows of a file are stored encrypted, are encrypted again with a new key, and cannot be moved
	// to another import.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	i := c.createImport(t, newImport(c.platform, customer.ImportPending))
	chunks := []ports.ImportChunk{newChunk(1, "Ana Secreta"), newChunk(2, "Ben Secreto")}
	for _, chunk := range chunks {
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.AddImportChunk(ctx, i, chunk) }); err != nil {
			t.Fatal(err)
		}
	}
	owner := connect(t, c.url)
	stored := func() (all []byte) {
		t.Helper()
		if err := owner.QueryRow(t.Context(), "SELECT string_agg(rows, '') FROM customer_import_chunks").Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := stored()
	if bytes.Contains(before, []byte("Secret")) {
		t.Errorf("stored %q", before)
	}

	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	if n := reencrypt(t, db); n != 2 || bytes.Equal(stored(), before) {
		t.Errorf("%d rows were encrypted again", n)
	}
	if got, err := db.ImportChunk(t.Context(), i.Platform, i.ID, 1); err != nil || !reflect.DeepEqual(got, chunks[0]) {
		t.Errorf("read %+v, %v", got, err)
	}
	exec(t, owner, "UPDATE customer_import_chunks SET id = gen_random_uuid()")
	if got, err := db.ImportChunk(t.Context(), i.Platform, i.ID, 2); err == nil {
		t.Errorf("a moved chunk was read: %+v", got)
	}
}

func TestDeleteOld_Imports(t *testing.T) {
	t.Parallel()
	// Imports that did not change for long are deleted with their rows and errors, and uploads that
	// began some time ago. The others stay.
	c := newRetentionEnv(t)
	cutoffs := postgres.RetentionCutoffs{Imports: noon.Add(-time.Hour), Uploads: noon.Add(-time.Minute)}
	want := []string{}
	for _, status := range []customer.ImportStatus{customer.ImportUploading, customer.ImportPending, customer.ImportProcessing,
		customer.ImportCompleted, customer.ImportFailed} {
		for _, age := range []time.Duration{0, 2 * time.Minute, 2 * time.Hour} {
			i := newImport(c.platform, status)
			i.CreatedAt, i.UpdatedAt = noon.Add(-age), noon.Add(-age)
			if i.Ended() {
				i.CompletedAt = i.UpdatedAt
			}
			c.createImport(t, i)
			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
				return tx.AddImportChunk(ctx, i, newChunk(1, "Ana"))
			})
			c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
				return tx.UpdateCustomerImport(ctx, i, []customer.ImportError{{Row: 1, Code: fault.Conflict}})
			})
			if age == 0 || age < time.Hour && status != customer.ImportUploading {
				want = append(want, fmt.Sprint(status, " ", age))
			}
		}
	}
	for range 2 {
		if err := c.DeleteOld(t.Context(), cutoffs, func(string, int) {}); err != nil {
			t.Fatal(err)
		}
		rows, err := c.owner.Query(t.Context(),
			`SELECT i.status || ' ' || ($1 - i.created_at) FROM customer_imports i JOIN customer_import_chunks USING (platform_id) JOIN customer_import_errors e USING (platform_id)
			WHERE e.import_id = i.id AND customer_import_chunks.import_id = i.id`, noon)
		if err != nil {
			t.Fatal(err)
		}
		left, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for n := range left {
			left[n] = strings.NewReplacer("00:00:00", "0s", "00:02:00", "2m0s").Replace(left[n])
		}
		slices.Sort(left)
		slices.Sort(want)
		if !slices.Equal(left, want) || c.count(t, "customer_import_chunks") != len(want) || c.count(t, "customer_import_errors") != len(want) {
			t.Errorf("left %q\nwant %q", left, want)
		}
	}
}
