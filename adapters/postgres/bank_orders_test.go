package postgres_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/bankorder"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/rail"
	"causeway/ports"
)

const bankName = "bank-eur"

// bankEnv is a database whose lease on the files of a connection is held.
type bankEnv struct {
	*env
	t     testing.TB
	lease ports.Lease
}

func newBankEnv(t testing.TB) *bankEnv {
	t.Helper()
	c := &bankEnv{env: newEnv(t), t: t}
	c.lease = c.take(noon)
	return c
}

// take takes the lease for a minute.
func (c *bankEnv) take(now time.Time) ports.Lease {
	c.t.Helper()
	c.at(now)
	lease, ok, err := c.TakeBankLease(c.t.Context(), bankName, time.Minute)
	if err != nil || !ok {
		c.t.Fatalf("lease: %v, %v", ok, err)
	}
	return lease
}

// newBankOrders returns orders of SEPA in the sequence of their time, each of i+1 cents.
func newBankOrders(p ident.Platform, n int) []bankorder.Order {
	orders := make([]bankorder.Order, n)
	for i := range orders {
		id := generator.New(noon)
		orders[i] = bankorder.Order{Platform: p, ID: id, Subject: id, Kind: bankorder.Payout, Connection: bankName, Rail: "SEPA",
			Amount: money.Amount{Currency: "EUR", Minor: int64(i) + 1}, EndToEndID: bankorder.EndToEndIDOf(bankorder.Payout, id),
			Counterparty: bankorder.Counterparty{Name: "Ana Silva", Fields: map[string]string{"iban": "DE89370400440532013000"}}, Remittance: "rent",
			State: bankorder.Queued, QueuedAt: noon}
		orders[i].Key = rail.ShortID(orders[i].EndToEndID)
	}
	return orders
}

// handOver records the payments of orders, as the service does before the adapter gets them.
func (c *bankEnv) handOver(orders ...bankorder.Order) {
	c.t.Helper()
	for _, o := range orders {
		c.env.handOver(c.t, o.Connection, o.Rail, o.Amount, ports.RailPaymentKey{Platform: o.Platform, ID: o.Subject, Kind: rail.Kind(o.Kind)})
	}
}

func (c *bankEnv) add(orders ...bankorder.Order) []bankorder.Order {
	c.t.Helper()
	c.handOver(orders...)
	stored, err := c.AddBankOrders(c.t.Context(), orders)
	if err != nil {
		c.t.Fatal(err)
	}
	return stored
}

// sepaCut cuts the next file of SEPA.
func sepaCut(maxOrders int) ports.BankFileCut {
	return ports.BankFileCut{Rail: "SEPA", Currency: "EUR", MaxOrders: maxOrders, MaxSum: 1_000_00, Day: "2026-03-14",
		MaxOfDay: 100, Now: noon,
		Name: func(n int64) (string, string) { return fmt.Sprintf("file-%d", n), fmt.Sprintf("M%d", n) }}
}

func (c *bankEnv) cut(cut ports.BankFileCut) bankorder.File {
	c.t.Helper()
	f, some, err := c.CutBankFile(c.t.Context(), c.lease, cut)
	if err != nil || !some {
		c.t.Fatalf("cut: %v, %v", some, err)
	}
	return f
}

// deliver delivers the oldest file that is not delivered.
func (c *bankEnv) deliver(settlesAt time.Time) bankorder.File {
	c.t.Helper()
	ctx := c.t.Context()
	f, some, err := c.UndeliveredBankFile(ctx, bankName)
	if err != nil || !some {
		c.t.Fatalf("undelivered: %v, %v", some, err)
	}
	f.TemporaryName, f.SHA256, f.Size = "file.tmp", [32]byte{1}, 10
	_, begun := c.BeginBankUpload(ctx, c.lease, f.Number)
	if err := errors.Join(begun, c.BankFileUploaded(ctx, c.lease, f), c.BankFileDelivered(ctx, c.lease, f.Number, noon,
		settlesAt)); err != nil {
		c.t.Fatal(err)
	}
	return f
}

// ordersIn returns the orders of a file.
func (c *bankEnv) ordersIn(number int64) []bankorder.Order {
	c.t.Helper()
	orders, err := c.BankFileOrders(c.t.Context(), bankName, number, 0, 1000)
	if err != nil {
		c.t.Fatal(err)
	}
	return orders
}

// changedAfter returns the subjects with news after a number, by the number of their order, and the last number.
func (c *bankEnv) changedAfter(after int64, orders []bankorder.Order) (places []int, last int64) {
	c.t.Helper()
	changed, last, err := c.ChangedBankOrders(c.t.Context(), bankName, after, 1000)
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

func TestBankOrders_AreStoredOnce(t *testing.T) {
	t.Parallel()
	// An order is stored as it is, and a repeated call returns what became of it. Orders of a platform are seen by that
	// platform alone, and the payout and refund of a transaction are two orders.
	c := newBankEnv(t)
	ctx := t.Context()
	payout := newBankOrders(c.platform.ID, 1)[0]
	payout.Batch, payout.Counterparty.Business, payout.Counterparty.Address = "PPD", true, &party.Address{Line1: "1 Road", City: "Lisbon",
		PostalCode: "1000", Country: "PT"}
	refund := payout
	refund.Kind, refund.ID, refund.EndToEndID = bankorder.Refund, bankorder.IDOf(bankorder.Refund, payout.Subject),
		bankorder.EndToEndIDOf(bankorder.Refund, payout.Subject)
	refund.Key = rail.ShortID(refund.EndToEndID)
	other := newBankOrders(c.otherPlatform.ID, 1)[0]

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
	keys := []ports.BankOrderKey{{Platform: payout.Platform, ID: payout.ID}, {Platform: other.Platform, ID: other.ID},
		{Platform: payout.Platform, ID: other.ID}}
	seen, err := c.BankOrdersByKey(ports.ForPlatform(ctx, c.otherPlatform.ID), keys)
	if err != nil || len(seen) != 1 || !reflect.DeepEqual(seen[keys[1]], other) {
		t.Errorf("the other platform sees %+v, %v", seen, err)
	}
	if _, err := c.AddBankOrders(ports.ForPlatform(ctx, c.otherPlatform.ID), newBankOrders(c.platform.ID, 1)); err == nil ||
		!strings.Contains(err.Error(), "row-level security") {
		t.Errorf("an order of another platform was stored: %v", err)
	}
}

func TestBankOrders_StoredByTwoAtOnce(t *testing.T) {
	t.Parallel()
	// Two processes that store the same payments, in opposite order, wait for each other and both succeed.
	c := newBankEnv(t)
	orders := newBankOrders(c.platform.ID, 200)
	reversed := slices.Clone(orders)
	slices.Reverse(reversed)
	var group sync.WaitGroup
	for _, given := range [][]bankorder.Order{orders, reversed, orders, reversed} {
		group.Go(func() {
			if stored, err := c.AddBankOrders(t.Context(), given); err != nil || !reflect.DeepEqual(stored, given) {
				t.Errorf("%d stored, %v", len(stored), err)
			}
		})
	}
	group.Wait()
	queued, err := c.QueuedBankOrders(t.Context(), bankName)
	if want := []ports.QueuedBankOrders{{Rail: "SEPA", Currency: "EUR", Orders: 200, Oldest: noon}}; err != nil ||
		!reflect.DeepEqual(queued, want) {
		t.Errorf("queued %+v, %v", queued, err)
	}
}

func TestBankLease_LostOneChangesNothing(t *testing.T) {
	t.Parallel()
	// A process whose lease was taken over is refused by every method that takes one, and changes no row.
	c := newBankEnv(t)
	ctx := t.Context()
	c.add(newBankOrders(c.platform.ID, 3)...)
	f := c.cut(sepaCut(1))
	c.deliver(noon)
	c.cut(sepaCut(1))
	if _, err := c.BeginBankFile(ctx, c.lease, bankorder.Received{Name: "in", Size: 1, ModifiedAt: noon, SHA256: [32]byte{2},
		FoundAt: noon}); err != nil {
		t.Fatal(err)
	}
	lost := c.lease
	c.lease = c.take(noon.Add(time.Hour))
	before := c.bankRows()
	report := bankorder.Report{State: bankorder.Rejected}
	for name, call := range map[string]func(lease ports.Lease) error{
		"settle": func(l ports.Lease) error { _, err := c.SettleDueBankOrders(ctx, l, noon, 10); return err },
		"cut":    func(l ports.Lease) error { _, _, err := c.CutBankFile(ctx, l, sepaCut(1)); return err },
		"upload": func(l ports.Lease) error { _, err := c.BeginBankUpload(ctx, l, 2); return err },
		"uploaded": func(l ports.Lease) error {
			return c.BankFileUploaded(ctx, l, bankorder.File{Number: 2, TemporaryName: "x", Size: 1})
		},
		"delivered": func(l ports.Lease) error { return c.BankFileDelivered(ctx, l, 2, noon, noon) },
		"begin": func(l ports.Lease) error {
			_, err := c.BeginBankFile(ctx, l, bankorder.Received{Name: "in2", Size: 1, ModifiedAt: noon, SHA256: [32]byte{3}, FoundAt: noon})
			return err
		},
		"end": func(l ports.Lease) error { return c.EndBankFile(ctx, l, 1, bankorder.Read, "", noon) },
		"orders": func(l ports.Lease) error {
			_, _, err := c.ReportBankOrders(ctx, l, 1,
				[]ports.BankOrderReport{{EndToEndID: c.ordersIn(1)[0].EndToEndID, Place: "1", Report: report}}, noon)
			return err
		},
		"file": func(l ports.Lease) error {
			_, _, err := c.ReportBankFile(ctx, l, 1, f.MessageID, report, noon, 10)
			return err
		},
		"notice": func(l ports.Lease) error {
			return c.KeepBankNotice(ctx, l, bankorder.Notice{Connection: bankName, File: 1, Place: "1", Kind: bankorder.UnreadableFile, At: noon})
		},
	} {
		for _, lease := range []ports.Lease{lost, {Name: bankName}, {Name: "unknown"},
			{Name: bankName, Fence: c.lease.Fence + 1}} {
			if err := call(lease); !errors.Is(err, ports.ErrLeaseLost) {
				t.Errorf("%s with %+v: %v", name, lease, err)
			}
		}
	}
	if after := c.bankRows(); after != before {
		t.Errorf("rows have changed from\n%s\nto\n%s", before, after)
	}
}

// bankRows returns all rows of banks as a text.
func (c *bankEnv) bankRows() string {
	c.t.Helper()
	var all []string
	for _, table := range []string{"bank_connections", "bank_files", "bank_orders", "bank_received_files", "bank_notices",
		"bank_corrections"} {
		var text string
		if err := c.Pool().QueryRow(c.t.Context(), `SELECT coalesce(string_agg(t::text, E'\n' ORDER BY t::text), '') FROM `+table+` t`).Scan(
			&text); err != nil {
			c.t.Fatal(err)
		}
		all = append(all, table+": "+text)
	}
	return strings.Join(all, "\n")
}

func TestBankOrders_StayInTheirFile(t *testing.T) {
	t.Parallel()
	// No statement takes an order out of its file, moves it or changes what the bank was sent.
	c := newBankEnv(t)
	c.add(newBankOrders(c.platform.ID, 2)...)
	c.cut(sepaCut(1))
	c.cut(sepaCut(1))
	for _, change := range []string{"state = 'QUEUED', file_number = NULL, file_position = NULL", "file_number = 2", "file_position = 7",
		"connection = 'other'",
		"amount = 2", "end_to_end_id = 'x'", "key = 'x'", "rail = 'ACH'", "batch = 'CCD'", "kind = 'REFUND'"} {
		if _, err := c.Pool().Exec(t.Context(), `UPDATE bank_orders SET `+change+` WHERE file_number = 1`); err == nil ||
			!strings.Contains(err.Error(), "stays there") {
			t.Errorf("%s: %v", change, err)
		}
	}
}

func TestBankOrders_Retention(t *testing.T) {
	t.Parallel()
	// Orders that ended before the time are deleted with their corrections, then files without orders, and what was
	// received and noticed before. Open orders and their files stay however old they are, and no number is used again.
	c := newBankEnv(t)
	ctx := t.Context()
	later := noon.Add(24 * time.Hour)
	orders := c.add(append(newBankOrders(c.platform.ID, 2), newBankOrders(c.otherPlatform.ID, 2)...)...)
	for range 4 {
		c.cut(sepaCut(1))
		c.deliver(time.Time{})
	}
	begin := func(n byte, end time.Time) {
		t.Helper()
		r, err := c.BeginBankFile(ctx, c.lease, bankorder.Received{Name: "in", Size: int64(n), ModifiedAt: noon,
			SHA256: [32]byte{n}, FoundAt: noon})
		if err == nil && !end.IsZero() {
			err = c.EndBankFile(ctx, c.lease, r.Number, bankorder.Read, "", end)
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
		if _, _, err := c.ReportBankOrders(ctx, c.lease, 1, []ports.BankOrderReport{
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
	if err := c.DeleteOld(ctx, postgres.RetentionCutoffs{BankOrders: noon.Add(time.Hour)}, count); err != nil {
		t.Fatal(err)
	}

	if want := map[string]int{"bank_orders": 2, "bank_files": 2, "bank_received_files": 1, "bank_notices": 2}; !reflect.DeepEqual(deleted,
		want) {
		t.Errorf("deleted %v, want %v", deleted, want)
	}
	left, err := c.BankOrdersByKey(ctx, []ports.BankOrderKey{{Platform: c.platform.ID, ID: orders[0].ID},
		{Platform: c.platform.ID, ID: orders[1].ID},
		{Platform: c.otherPlatform.ID, ID: orders[2].ID}, {Platform: c.otherPlatform.ID, ID: orders[3].ID}})
	if err != nil || len(left) != 2 || left[ports.BankOrderKey{Platform: c.platform.ID, ID: orders[1].ID}].State != bankorder.InFile {
		t.Errorf("left %+v, %v", left, err)
	}
	if notices, err := c.BankNotices(ctx, bankName, 10); err != nil || len(notices) != 1 || notices[0].Correction["accountNumber"] != "1" {
		t.Errorf("notices %+v, %v", notices, err)
	}
	c.add(newBankOrders(c.platform.ID, 1)...)
	if f := c.cut(sepaCut(1)); f.Number != 5 {
		t.Errorf("the next file is %d", f.Number)
	}
	if err := c.DeleteOld(ctx, postgres.RetentionCutoffs{BankOrders: later.Add(time.Hour)}, count); err != nil ||
		deleted["bank_orders"] != 3 || deleted["bank_files"] != 3 || deleted["bank_received_files"] != 2 {
		t.Errorf("deleted %v, %v", deleted, err)
	}
}
