package bankfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/encryption"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/rails/bankfile"
	"causeway/core/bankorder"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/rail"
	"causeway/ports"
)

const bankName = "bank-eur"

// storeEnv is a database with two platforms whose lease on the files of a connection is held.
type storeEnv struct {
	database
	t     testing.TB
	other ident.Platform
	lease ports.Lease
}

func newStoreEnv(t testing.TB) *storeEnv {
	t.Helper()
	c := &storeEnv{database: openDatabase(t), t: t}
	c.other = c.newPlatform(t, "There")
	c.lease = c.take(noon)
	return c
}

// take takes the lease for a minute.
func (c *storeEnv) take(now time.Time) ports.Lease {
	c.t.Helper()
	c.setClock(now)
	lease, ok, err := c.Lease(c.t.Context(), bankName, time.Minute)
	if err != nil || !ok {
		c.t.Fatalf("lease: %v, %v", ok, err)
	}
	return lease
}

// newOrders returns orders of SEPA in the sequence of their time, each of i+1 cents.
func (c *storeEnv) newOrders(p ident.Platform, n int) []bankorder.Order {
	orders := make([]bankorder.Order, n)
	for i := range orders {
		id := c.ids.New(noon)
		orders[i] = bankorder.Order{Platform: p, ID: id, Subject: id, Kind: bankorder.Payout, Connection: bankName, Rail: "SEPA",
			Amount: money.Amount{Currency: "EUR", Minor: int64(i) + 1}, EndToEndID: bankorder.EndToEndIDOf(bankorder.Payout, id),
			Counterparty: bankorder.Counterparty{Name: "Ana Silva", Fields: map[string]string{"iban": "DE89370400440532013000"}}, Remittance: "rent",
			State: bankorder.Queued, QueuedAt: noon}
		orders[i].Key = rail.ShortID(orders[i].EndToEndID)
	}
	return orders
}

// handOver records the payments of orders, as the service does before the adapter gets them.
func (c *storeEnv) handOver(orders ...bankorder.Order) {
	c.t.Helper()
	for _, o := range orders {
		if err := c.handover(o.Connection).HandOver(c.t.Context(), o.Platform, o.Subject, rail.Kind(o.Kind), rail.Route{Rail: o.Rail},
			o.Amount); err != nil {
			c.t.Error(err)
		}
	}
}

func (c *storeEnv) add(orders ...bankorder.Order) []bankorder.Order {
	c.t.Helper()
	c.handOver(orders...)
	stored, err := c.AddOrders(c.t.Context(), orders)
	if err != nil {
		c.t.Fatal(err)
	}
	return stored
}

// sepaCut cuts the next file of SEPA.
func sepaCut(maxOrders int) bankfile.FileCut {
	return bankfile.FileCut{Rail: "SEPA", Currency: "EUR", MaxOrders: maxOrders, MaxSum: 1_000_00, Day: "2026-03-14",
		MaxOfDay: 100, Now: noon,
		Name: func(n int64, _ time.Time) (string, string) { return fmt.Sprintf("file-%d", n), fmt.Sprintf("M%d", n) }}
}

func (c *storeEnv) cut(cut bankfile.FileCut) bankorder.File {
	c.t.Helper()
	f, some, err := c.CutFile(c.t.Context(), c.lease, cut)
	if err != nil || !some {
		c.t.Fatalf("cut: %v, %v", some, err)
	}
	return f
}

// deliver delivers the oldest file that is not delivered.
func (c *storeEnv) deliver(settlesAt time.Time) bankorder.File {
	c.t.Helper()
	ctx := c.t.Context()
	f, some, err := c.UndeliveredFile(ctx, bankName)
	if err != nil || !some {
		c.t.Fatalf("undelivered: %v, %v", some, err)
	}
	f.TemporaryName, f.SHA256, f.Size = "file.tmp", [32]byte{1}, 10
	_, begun := c.BeginUpload(ctx, c.lease, f.Number)
	if err := errors.Join(begun, c.FileUploaded(ctx, c.lease, f), c.FileDelivered(ctx, c.lease, f.Number, noon,
		settlesAt)); err != nil {
		c.t.Fatal(err)
	}
	return f
}

// ordersIn returns the orders of a file.
func (c *storeEnv) ordersIn(number int64) []bankorder.Order {
	c.t.Helper()
	orders, err := c.FileOrders(c.t.Context(), bankName, number, 0, 1000)
	if err != nil {
		c.t.Fatal(err)
	}
	return orders
}

// changedAfter returns the subjects with news after a number, by the number of their order, and the last number.
func (c *storeEnv) changedAfter(after int64, orders []bankorder.Order) (places []int, last int64) {
	c.t.Helper()
	changed, last, err := c.ChangedOrders(c.t.Context(), bankName, after, 1000)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, s := range changed {
		places = append(places, slices.IndexFunc(orders, func(o bankorder.Order) bool {
			return o.Platform == s.Platform &&
				o.Subject == s.Subject
		}))
	}
	return places, last
}

func TestStore_OrdersAreStoredOnce(t *testing.T) {
	t.Parallel()
	// An order is stored as it is, and a repeated call returns what became of it. Orders of a platform are seen by that
	// platform alone, and the payout and refund of a transaction are two orders.
	c := newStoreEnv(t)
	ctx := t.Context()
	payout := c.newOrders(c.platform, 1)[0]
	payout.Batch, payout.Counterparty.Business, payout.Counterparty.Address = "PPD", true, &party.Address{Line1: "1 Road", City: "Lisbon",
		PostalCode: "1000", Country: "PT"}
	refund := payout
	refund.Kind, refund.ID, refund.EndToEndID = bankorder.Refund, bankorder.IDOf(bankorder.Refund, payout.Subject),
		bankorder.EndToEndIDOf(bankorder.Refund, payout.Subject)
	refund.Key = rail.ShortID(refund.EndToEndID)
	other := c.newOrders(c.other, 1)[0]

	if got := c.add(payout, other); !reflect.DeepEqual(got, []bankorder.Order{payout, other}) {
		t.Errorf("stored %+v, want %+v and %+v", got, payout, other)
	}
	c.cut(sepaCut(1))
	again := payout
	again.Amount.Minor, again.QueuedAt = 99, noon.Add(time.Hour)
	got := c.add(again, refund)

	if got[0].State != bankorder.InFile || got[0].File != 1 || got[0].Position != 1 || got[0].Amount.Minor != 1 ||
		!reflect.DeepEqual(got[1], refund) {
		t.Errorf("stored again: %+v", got)
	}
	keys := []bankfile.OrderKey{{Platform: payout.Platform, ID: payout.ID}, {Platform: other.Platform, ID: other.ID},
		{Platform: payout.Platform, ID: other.ID}}
	seen, err := c.OrdersByKey(ports.ForPlatform(ctx, c.other), keys)
	if err != nil || len(seen) != 1 || !reflect.DeepEqual(seen[keys[1]], other) {
		t.Errorf("the other platform sees %+v, %v", seen, err)
	}
	if _, err := c.AddOrders(ports.ForPlatform(ctx, c.other), c.newOrders(c.platform, 1)); err == nil ||
		!strings.Contains(err.Error(), "row-level security") {
		t.Errorf("an order of another platform was stored: %v", err)
	}
}

func TestStore_EncryptsPersonalData(t *testing.T) {
	t.Parallel()
	// Who is paid, what the bank writes about it and what it corrects are encrypted, and read as they were. A store without the cipher
	// fails to read them.
	c := newStoreEnv(t)
	sealer, err := encryption.New(bytes.Repeat([]byte{7}, encryption.KeyLength))
	if err != nil {
		t.Fatal(err)
	}
	cipher := encryption.NewDataKeys(c.db, sealer, c.clock)
	if err := cipher.Create(t.Context(), c.ids.New(noon)); err != nil {
		t.Fatal(err)
	}
	plain := c.Store
	c.Store = bankfile.NewStore(c.db.Storage(), cipher)
	orders := c.newOrders(c.platform, 1)

	if stored := c.add(orders...); !reflect.DeepEqual(stored, orders) {
		t.Errorf("stored %+v", stored)
	}
	c.cut(sepaCut(1))
	c.deliver(time.Time{})
	correction := map[string]string{"accountNumber": "secret number"}
	rejected := bankorder.Report{State: bankorder.Rejected, Text: "secret reason"}
	c.report(1, bankfile.OrderReport{Key: orders[0].Key, Place: "1", Report: rejected},
		bankfile.OrderReport{Key: orders[0].Key, Place: "2", Notice: bankorder.Correction, Correction: correction})

	if o := c.ordersIn(1)[0]; o.Text != "secret reason" || o.Counterparty.Name != "Ana Silva" {
		t.Errorf("read %+v", o)
	}
	if notices, err := c.Notices(t.Context(), bankName, 10); err != nil || len(notices) != 1 ||
		!reflect.DeepEqual(notices[0].Correction, correction) {
		t.Errorf("notices %+v, %v", notices, err)
	}
	if rows := c.rows(); strings.Contains(rows, "secret") || strings.Contains(rows, "Ana Silva") || !strings.Contains(rows, orders[0].Key) {
		t.Errorf("the rows show\n%s", rows)
	}
	if _, err := plain.FileOrders(t.Context(), bankName, 1, 0, 10); !errors.Is(err, sealed.ErrNoCipher) {
		t.Errorf("read without the cipher: %v", err)
	}
	if _, err := plain.Notices(t.Context(), bankName, 10); !errors.Is(err, sealed.ErrNoCipher) {
		t.Errorf("read without the cipher: %v", err)
	}
}

func TestStore_OrdersStoredByTwoAtOnce(t *testing.T) {
	t.Parallel()
	// Two processes that store the same payments, in opposite order, wait for each other and both succeed.
	c := newStoreEnv(t)
	orders := c.newOrders(c.platform, 200)
	reversed := slices.Clone(orders)
	slices.Reverse(reversed)
	var group sync.WaitGroup
	for _, given := range [][]bankorder.Order{orders, reversed, orders, reversed} {
		group.Go(func() {
			if stored, err := c.AddOrders(t.Context(), given); err != nil || !reflect.DeepEqual(stored, given) {
				t.Errorf("%d stored, %v", len(stored), err)
			}
		})
	}
	group.Wait()
	queued, err := c.QueuedOrders(t.Context(), bankName)
	if want := []bankfile.QueuedOrders{{Rail: "SEPA", Currency: "EUR", Orders: 200, Oldest: noon}}; err != nil ||
		!reflect.DeepEqual(queued, want) {
		t.Errorf("queued %+v, %v", queued, err)
	}
}

func TestStore_LeaseLostOneChangesNothing(t *testing.T) {
	t.Parallel()
	// A process whose lease was taken over is refused by every method that takes one, and changes no row.
	c := newStoreEnv(t)
	ctx := t.Context()
	c.add(c.newOrders(c.platform, 3)...)
	f := c.cut(sepaCut(1))
	c.deliver(noon)
	c.cut(sepaCut(1))
	if _, err := c.BeginFile(ctx, c.lease, bankorder.Received{Name: "in", Size: 1, ModifiedAt: noon, SHA256: [32]byte{2},
		FoundAt: noon}); err != nil {
		t.Fatal(err)
	}
	lost := c.lease
	c.lease = c.take(noon.Add(time.Hour))
	before := c.rows()
	report := bankorder.Report{State: bankorder.Rejected}
	for name, call := range map[string]func(lease ports.Lease) error{
		"settle": func(l ports.Lease) error { _, err := c.SettleDue(ctx, l, noon, 10); return err },
		"cut":    func(l ports.Lease) error { _, _, err := c.CutFile(ctx, l, sepaCut(1)); return err },
		"upload": func(l ports.Lease) error { _, err := c.BeginUpload(ctx, l, 2); return err },
		"uploaded": func(l ports.Lease) error {
			return c.FileUploaded(ctx, l, bankorder.File{Number: 2, TemporaryName: "x", Size: 1})
		},
		"delivered": func(l ports.Lease) error { return c.FileDelivered(ctx, l, 2, noon, noon) },
		"begin": func(l ports.Lease) error {
			_, err := c.BeginFile(ctx, l, bankorder.Received{Name: "in2", Size: 1, ModifiedAt: noon, SHA256: [32]byte{3}, FoundAt: noon})
			return err
		},
		"end": func(l ports.Lease) error { return c.EndFile(ctx, l, 1, bankorder.Read, "", noon) },
		"orders": func(l ports.Lease) error {
			_, _, err := c.ReportOrders(ctx, l, 1,
				[]bankfile.OrderReport{{EndToEndID: c.ordersIn(1)[0].EndToEndID, Place: "1", Report: report}}, noon)
			return err
		},
		"file": func(l ports.Lease) error {
			_, _, err := c.ReportFile(ctx, l, 1, f.MessageID, report, noon, 10)
			return err
		},
		"notice": func(l ports.Lease) error {
			return c.KeepNotice(ctx, l, bankorder.Notice{Connection: bankName, File: 1, Place: "1", Kind: bankorder.UnreadableFile, At: noon})
		},
	} {
		for _, lease := range []ports.Lease{lost, {Name: bankName}, {Name: "unknown"},
			{Name: bankName, Fence: c.lease.Fence + 1}} {
			if err := call(lease); !errors.Is(err, ports.ErrLeaseLost) {
				t.Errorf("%s with %+v: %v", name, lease, err)
			}
		}
	}
	if after := c.rows(); after != before {
		t.Errorf("rows have changed from\n%s\nto\n%s", before, after)
	}
}

// rows returns all rows of banks as a text.
func (c *storeEnv) rows() string {
	c.t.Helper()
	var all []string
	for _, table := range []string{"bank_connections", "bank_files", "bank_orders", "bank_received_files", "bank_notices",
		"bank_corrections"} {
		var text string
		if err := c.db.Pool().QueryRow(c.t.Context(), `SELECT coalesce(string_agg(t::text, E'\n' ORDER BY t::text), '') FROM `+table+` t`).Scan(
			&text); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, table+": "+text)
	}
	return strings.Join(all, "\n")
}

func TestStore_OrdersStayInTheirFile(t *testing.T) {
	t.Parallel()
	// No statement takes an order out of its file, moves it or changes what the bank was sent.
	c := newStoreEnv(t)
	c.add(c.newOrders(c.platform, 2)...)
	c.cut(sepaCut(1))
	c.cut(sepaCut(1))
	for _, change := range []string{"state = 'QUEUED', file_number = NULL, file_position = NULL", "file_number = 2", "file_position = 7",
		"connection = 'other'",
		"amount = 2", "end_to_end_id = 'x'", "key = 'x'", "rail = 'ACH'", "batch = 'CCD'", "kind = 'REFUND'"} {
		if _, err := c.db.Pool().Exec(t.Context(), `UPDATE bank_orders SET `+change+` WHERE file_number = 1`); err == nil ||
			!strings.Contains(err.Error(), "stays there") {
			t.Errorf("%s: %v", change, err)
		}
	}
}

func TestStore_OrdersRetention(t *testing.T) {
	t.Parallel()
	// Orders that ended before the time are deleted with their corrections, then files without orders, and what was
	// received and noticed before. Open orders and their files stay however old they are, and no number is used again.
	c := newStoreEnv(t)
	ctx := t.Context()
	later := noon.Add(24 * time.Hour)
	orders := c.add(append(c.newOrders(c.platform, 2), c.newOrders(c.other, 2)...)...)
	for range 4 {
		c.cut(sepaCut(1))
		c.deliver(time.Time{})
	}
	begin := func(n byte, end time.Time) {
		t.Helper()
		r, err := c.BeginFile(ctx, c.lease, bankorder.Received{Name: "in", Size: int64(n), ModifiedAt: noon,
			SHA256: [32]byte{n}, FoundAt: noon})
		if err == nil && !end.IsZero() {
			err = c.EndFile(ctx, c.lease, r.Number, bankorder.Read, "", end)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	begin(1, noon)
	begin(2, later)
	begin(3, time.Time{})
	report := func(i int, at time.Time) {
		t.Helper()
		if _, _, err := c.ReportOrders(ctx, c.lease, 1, []bankfile.OrderReport{
			{EndToEndID: orders[i].EndToEndID, Place: fmt.Sprint(i), Report: bankorder.Report{State: bankorder.Settled}},
			{EndToEndID: orders[i].EndToEndID, Place: fmt.Sprint(i, "c"), Notice: bankorder.Correction, Report: bankorder.Report{Code: "C01"},
				Correction: map[string]string{"accountNumber": "1"}},
		}, at); err != nil {
			t.Fatal(err)
		}
	}
	report(0, noon)
	report(2, noon)
	report(3, later)
	deleted := map[string]int{}
	count := func(table string, n int) {
		if n > 0 {
			deleted[table] += n
		}
	}
	if err := c.db.DeleteOld(ctx, postgres.RetentionCutoffs{WithoutPlatform: bankfile.OldRows(noon.Add(time.Hour))}, count); err != nil {
		t.Fatal(err)
	}

	if want := map[string]int{"bank_orders": 2, "bank_files": 2, "bank_received_files": 1, "bank_notices": 2}; !reflect.DeepEqual(deleted,
		want) {
		t.Errorf("deleted %v, want %v", deleted, want)
	}
	left, err := c.OrdersByKey(ctx, []bankfile.OrderKey{{Platform: c.platform, ID: orders[0].ID},
		{Platform: c.platform, ID: orders[1].ID},
		{Platform: c.other, ID: orders[2].ID}, {Platform: c.other, ID: orders[3].ID}})
	if err != nil || len(left) != 2 || left[bankfile.OrderKey{Platform: c.platform, ID: orders[1].ID}].State != bankorder.InFile {
		t.Errorf("left %+v, %v", left, err)
	}
	if notices, err := c.Notices(ctx, bankName, 10); err != nil || len(notices) != 1 || notices[0].Correction["accountNumber"] != "1" {
		t.Errorf("notices %+v, %v", notices, err)
	}
	c.add(c.newOrders(c.platform, 1)...)
	if f := c.cut(sepaCut(1)); f.Number != 5 {
		t.Errorf("the next file is %d", f.Number)
	}
	if err := c.db.DeleteOld(ctx, postgres.RetentionCutoffs{WithoutPlatform: bankfile.OldRows(later.Add(time.Hour))}, count); err != nil ||
		deleted["bank_orders"] != 3 || deleted["bank_files"] != 3 || deleted["bank_received_files"] != 2 {
		t.Errorf("deleted %v, %v", deleted, err)
	}
}
