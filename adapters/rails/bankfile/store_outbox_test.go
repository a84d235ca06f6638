package bankfile_test

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/bankfile"
	"causeway/core/bankorder"
	"causeway/core/money"
)

func TestStore_FilesAreCutOldestFirstByBatch(t *testing.T) {
	t.Parallel()
	// A file has the oldest orders of one rail and currency of all platforms, up to the maximum, and those of a batch follow
	// each other. The rest waits for the next file. Orders of other rails, currencies and connections are not in it.
	c := newStoreEnv(t)
	orders := append(c.newOrders(c.platform, 3), c.newOrders(c.other, 2)...)
	for i, batch := range []string{"PPD", "CCD", "PPD", "CCD", "PPD"} {
		orders[i].Batch, orders[i].QueuedAt = batch, noon.Add(time.Duration(i)*time.Second)
	}
	others := c.newOrders(c.platform, 3)
	others[0].Rail, others[1].Amount.Currency, others[2].Connection = "ACH", "USD", "other"
	c.add(append(orders, others...)...)

	first, second := c.cut(sepaCut(4)), c.cut(sepaCut(4))
	_, some, err := c.CutFile(t.Context(), c.lease, sepaCut(4))

	want := bankorder.File{Connection: bankName, Number: 1, DayNumber: 1, Rail: "SEPA", Currency: "EUR", Name: "file-1",
		MessageID: "M1", Orders: 4,
		Sum: money.TotalOf(7), FirstTrace: 1, State: bankorder.FileCreated, CreatedAt: noon}
	if !reflect.DeepEqual(first, want) || second.Number != 2 || second.DayNumber != 2 || second.Orders != 1 || second.FirstTrace != 5 ||
		some || err != nil {
		t.Errorf("cut %+v and %+v, %t, %v", first, second, some, err)
	}
	if stored, _, err := c.UndeliveredFile(t.Context(), bankName); err != nil || !reflect.DeepEqual(stored, want) {
		t.Errorf("stored %+v, %v", stored, err)
	}
	var got []uuid.UUID
	for i, o := range append(c.ordersIn(1), c.ordersIn(2)...) {
		if got = append(got, o.ID); i < 4 && o.Position != i+1 || o.State != bankorder.InFile {
			t.Errorf("order %d: %+v", i, o)
		}
	}
	if want := []uuid.UUID{orders[1].ID, orders[3].ID, orders[0].ID, orders[2].ID, orders[4].ID}; !reflect.DeepEqual(got, want) {
		t.Errorf("files have %v, want %v", got, want)
	}
	if page, err := c.FileOrders(t.Context(), bankName, 1, 2, 1); err != nil || len(page) != 1 || page[0].ID != orders[0].ID {
		t.Errorf("after 2: %+v, %v", page, err)
	}
	queued, err := c.QueuedOrders(t.Context(), bankName)
	if want := []bankfile.QueuedOrders{{Rail: "ACH", Currency: "EUR", Orders: 1, Oldest: noon}, {Rail: "SEPA", Currency: "USD", Orders: 1,
		Oldest: noon}}; err != nil || !reflect.DeepEqual(queued, want) {
		t.Errorf("queued %+v, %v", queued, err)
	}
}

func TestStore_FilesHaveAMaximalSum(t *testing.T) {
	t.Parallel()
	// A file ends before the order that would bring it above the largest sum. An order that is above it alone stops no other.
	c := newStoreEnv(t)
	orders := c.newOrders(c.platform, 5)
	for i, minor := range []int64{40, 60, 1, 101, 2} {
		orders[i].Amount.Minor, orders[i].QueuedAt = minor, noon.Add(time.Duration(i)*time.Second)
		c.add(orders[i])
	}
	cut := sepaCut(10)
	cut.MaxSum = 100

	for i, want := range []struct {
		orders int
		sum    int64
	}{{2, 100}, {1, 1}, {1, 101}, {1, 2}} {
		if f := c.cut(cut); f.Orders != want.orders || !f.Sum.Equal(money.TotalOf(want.sum)) {
			t.Errorf("file %d has %d orders of %s, want %+v", i+1, f.Orders, f.Sum, want)
		}
	}
}

func TestStore_FilesAreNumberedByDay(t *testing.T) {
	t.Parallel()
	// Files of a rail are numbered by the day of the bank, up to its last number; then they wait for the next day. Trace
	// numbers go on, and begin again before they would run out within a file. A cut without orders takes no number.
	c := newStoreEnv(t)
	orders := c.newOrders(c.platform, 6)
	orders[5].Rail = "ACH"
	c.add(orders...)
	cut := sepaCut(1)
	cut.MaxOfDay = 2
	ach := cut
	ach.Rail = "ACH"
	if first, second, other := c.cut(cut), c.cut(cut), c.cut(ach); first.DayNumber != 1 || second.DayNumber != 2 || other.DayNumber != 1 ||
		other.Number != 3 {
		t.Errorf("%+v, %+v, %+v", first, second, other)
	}
	if _, some, err := c.CutFile(t.Context(), c.lease, cut); some || !errors.Is(err, bankfile.ErrDayFull) {
		t.Errorf("a third file of the day: %t, %v", some, err)
	}
	if _, err := c.db.Pool().Exec(t.Context(), `UPDATE bank_connections SET traces = 9999997`); err != nil {
		t.Fatal(err)
	}
	cut.Day, cut.MaxOrders = "2026-03-15", 2
	if f := c.cut(cut); f.DayNumber != 1 || f.Number != 4 || f.FirstTrace != 9_999_998 || f.Orders != 2 {
		t.Errorf("the next day: %+v", f)
	}
	if f := c.cut(cut); f.DayNumber != 2 || f.FirstTrace != 1 || f.Orders != 1 {
		t.Errorf("after the last trace: %+v", f)
	}
	cut.Day = "2026-03-16"
	if _, some, err := c.CutFile(t.Context(), c.lease, cut); some || err != nil {
		t.Errorf("without orders: %t, %v", some, err)
	}
	c.add(c.newOrders(c.platform, 1)...)
	if f := c.cut(cut); f.Number != 6 || f.DayNumber != 1 || f.FirstTrace != 2 {
		t.Errorf("%+v", f)
	}
}

func TestStore_FilesFailedCutLeavesOrdersQueued(t *testing.T) {
	t.Parallel()
	// If a cut fails in the middle, here for a name that is taken, nothing of it stays.
	c := newStoreEnv(t)
	c.add(c.newOrders(c.platform, 2)...)
	c.cut(sepaCut(1))
	before := c.rows()
	taken := sepaCut(1)
	taken.Name = func(int64, time.Time) (string, string) { return "file-1", "other" }
	if _, some, err := c.CutFile(t.Context(), c.lease, taken); some || err == nil ||
		!strings.Contains(err.Error(), "bank_file_name_unique") {
		t.Errorf("cut: %t, %v", some, err)
	}
	if after := c.rows(); after != before {
		t.Errorf("rows have changed from\n%s\nto\n%s", before, after)
	}
}

func TestStore_FilesCutByManyAtOnce(t *testing.T) {
	t.Parallel()
	// Each order is in one file, also if cuts under one lease overlap while orders are added.
	c := newStoreEnv(t)
	c.add(c.newOrders(c.platform, 40)...)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, _, err := c.CutFile(t.Context(), c.lease, sepaCut(10)); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			added := c.newOrders(c.other, 5)
			c.handOver(added...)
			if _, err := c.AddOrders(t.Context(), added); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for {
		if _, some, err := c.CutFile(t.Context(), c.lease, sepaCut(10)); err != nil {
			t.Fatal(err)
		} else if !some {
			break
		}
	}
	var orders, files, wrong int
	if err := c.db.Pool().QueryRow(t.Context(), `SELECT sum(orders), count(*), (SELECT count(*) FROM bank_orders WHERE file_number IS NULL),
		sum(f.orders - (SELECT count(*) FROM bank_orders o WHERE o.file_number = f.number AND o.file_position <= f.orders)) FROM bank_files f`).Scan(&orders, &files, new(int), &wrong); err != nil || orders != 80 || files < 8 || wrong != 0 {
		t.Errorf("%d orders in %d files, %d wrong, %v", orders, files, wrong, err)
	}
}

func TestStore_FilesDeliveredStepByStep(t *testing.T) {
	t.Parallel()
	// A file is created, uploaded and delivered, in that order, each once. After a crash between two steps the present state
	// is found again, with what was uploaded; attempts to upload are counted. The oldest file comes first.
	c := newStoreEnv(t)
	ctx := t.Context()
	c.add(c.newOrders(c.platform, 2)...)
	f := c.cut(sepaCut(1))
	c.cut(sepaCut(1))
	if err := c.FileDelivered(ctx, c.lease, 1, noon, noon); err == nil {
		t.Error("delivered before the upload")
	}
	for want := 1; want <= 2; want++ {
		if attempt, err := c.BeginUpload(ctx, c.lease, 1); err != nil || attempt != want {
			t.Errorf("attempt %d, %v; want %d", attempt, err, want)
		}
	}
	f.TemporaryName, f.SHA256, f.Size = "file-1-1-2.tmp", [32]byte{7}, 100
	if err := c.FileUploaded(ctx, c.lease, f); err != nil {
		t.Fatal(err)
	}
	f.State = bankorder.FileUploaded
	if stored, _, err := c.UndeliveredFile(ctx, bankName); err != nil || !reflect.DeepEqual(stored, f) {
		t.Errorf("uploaded %+v, %v", stored, err)
	}
	if _, err := c.BeginUpload(ctx, c.lease, 1); err == nil || !strings.Contains(err.Error(), "file 1 is not in the expected state") {
		t.Errorf("uploaded again: %v", err)
	}
	if err := c.FileUploaded(ctx, c.lease, f); err == nil {
		t.Error("uploaded twice")
	}
	if err := c.FileDelivered(ctx, c.lease, 1, noon, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := c.FileDelivered(ctx, c.lease, 1, noon, time.Time{}); err == nil {
		t.Error("delivered twice")
	}
	if second, some, err := c.UndeliveredFile(ctx, bankName); err != nil || !some || second.Number != 2 {
		t.Errorf("then %+v, %t, %v", second, some, err)
	}
	c.deliver(time.Time{})
	if _, some, err := c.UndeliveredFile(ctx, bankName); some || err != nil {
		t.Errorf("then %t, %v", some, err)
	}
}

func TestStore_FilesSettleWhenDue(t *testing.T) {
	t.Parallel()
	// Orders of a file settle at its time if no report ended them before, piece by piece, with the time of the file. Files
	// whose orders have all ended are passed over, and each settled order has a number of news of its own.
	c := newStoreEnv(t)
	ctx := t.Context()
	orders := c.add(c.newOrders(c.platform, 7)...)
	due := noon.Add(72 * time.Hour)
	for range 2 {
		c.cut(sepaCut(1))
		c.deliver(due)
	}
	c.cut(sepaCut(4))
	c.deliver(due)
	c.cut(sepaCut(1))
	c.deliver(due.Add(time.Hour))
	if _, _, err := c.ReportOrders(ctx, c.lease, 1, []bankfile.OrderReport{
		{EndToEndID: orders[0].EndToEndID, Place: "0", Report: bankorder.Report{State: bankorder.Rejected}},
		{EndToEndID: orders[1].EndToEndID, Place: "1", Report: bankorder.Report{State: bankorder.Returned}},
		{EndToEndID: orders[4].EndToEndID, Place: "4", Report: bankorder.Report{State: bankorder.Returned}},
	}, noon); err != nil {
		t.Fatal(err)
	}
	_, before := c.changedAfter(0, orders)

	var settled []int
	for _, now := range []time.Time{due.Add(-1), due, due, due, due.Add(time.Hour), due.Add(time.Hour)} {
		n, err := c.SettleDue(ctx, c.lease, now, 2)
		if err != nil {
			t.Fatal(err)
		}
		settled = append(settled, n)
	}

	if want := []int{0, 2, 1, 0, 1, 0}; !reflect.DeepEqual(settled, want) {
		t.Errorf("settled %v, want %v", settled, want)
	}
	if places, last := c.changedAfter(before, orders); !reflect.DeepEqual(places, []int{2, 3, 5, 6}) || last != before+4 {
		t.Errorf("changed %v up to %d", places, last)
	}
	stored := c.add(orders...)
	if o := stored[2]; o.State != bankorder.Settled || !o.SettledAt.Equal(due) || stored[4].State != bankorder.Returned ||
		!stored[6].SettledAt.Equal(due.Add(time.Hour)) {
		t.Errorf("%+v", stored)
	}
}
