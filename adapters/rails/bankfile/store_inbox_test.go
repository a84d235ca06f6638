package bankfile_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile"
	"causeway/core/bankorder"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// inFile returns orders that are in a file that was delivered.
func (c *storeEnv) inFile(n int) []bankorder.Order {
	c.t.Helper()
	orders := c.add(c.newOrders(c.platform, n)...)
	c.cut(sepaCut(n))
	c.deliver(time.Time{})
	return orders
}

func (c *storeEnv) report(file int64, reports ...bankfile.OrderReport) []bankorder.Notice {
	c.t.Helper()
	notices, _, err := c.ReportOrders(c.t.Context(), c.lease, file, reports, noon)
	if err != nil {
		c.t.Fatal(err)
	}
	return notices
}

func TestStore_ReportsEveryOrderOfThree(t *testing.T) {
	t.Parallel()
	// Reports that come in any order, each in a file of its own or all in one, come to the same state as one after the
	// other in the rules, and an order about which nothing changed has no news.
	c := newStoreEnv(t)
	states := []bankorder.State{bankorder.Accepted, bankorder.Pending, bankorder.Settled, bankorder.Rejected, bankorder.Returned}
	var sequences [][]bankorder.State
	for _, first := range states {
		for _, second := range states {
			for _, third := range states {
				sequences = append(sequences, []bankorder.State{first, second, third})
			}
		}
	}
	orders := c.inFile(2 * len(sequences))
	var pieces [4][]bankfile.OrderReport
	var want []bankorder.Order
	contradictions := 0
	for i, sequence := range sequences {
		apart, together := c.ordersIn(1)[2*i], c.ordersIn(1)[2*i+1]
		for n, state := range sequence {
			report := bankorder.Report{State: state, Code: string(state), Text: "text", PartnerID: "B" + string(state)}
			pieces[n] = append(pieces[n], bankfile.OrderReport{EndToEndID: apart.EndToEndID, Place: apart.Key, Report: report})
			pieces[3] = append(pieces[3], bankfile.OrderReport{Key: together.Key, Place: together.Key + "abc"[n:n+1], Report: report})
			var effect, same bankorder.Effect
			apart, effect = apart.Apply(report, noon)
			together, same = together.Apply(report, noon)
			if effect == bankorder.Contradicts && same == effect {
				contradictions += 2
			}
		}
		want = append(want, apart, together)
	}
	noticed := 0
	for n, piece := range pieces {
		noticed += len(c.report(int64(n+1), piece...))
	}

	stored := c.ordersIn(1)
	if !reflect.DeepEqual(stored, want) || noticed != contradictions || contradictions == 0 {
		t.Errorf("%d notices, want %d; stored\n%+v\nwant\n%+v", noticed, contradictions, stored, want)
	}
	if places, last := c.changedAfter(0, orders); len(places) != len(orders) || last <= int64(len(orders)) {
		t.Errorf("%d changed up to %d", len(places), last)
	}
	// All of it again, as after a crash before the cursor was stored: no row changes but the time of the last look.
	_, before := c.changedAfter(0, orders)
	for n, piece := range pieces[3:] {
		c.report(int64(n+4), piece...)
	}
	if again := c.ordersIn(1); !reflect.DeepEqual(again, want) {
		t.Errorf("applied again: %+v", again)
	}
	if places, _ := c.changedAfter(before, orders); len(places) != 0 {
		t.Errorf("news of %v", places)
	}
}

func TestStore_ReportsNewsHaveNumbersInOrder(t *testing.T) {
	t.Parallel()
	// Each change gets the next number, in the sequence of reports, so that a reader that remembers a number misses none.
	// An order that changes again moves to the end. Reading in pieces gives the same.
	c := newStoreEnv(t)
	orders := c.inFile(4)
	accepted := func(i int) bankfile.OrderReport {
		return bankfile.OrderReport{EndToEndID: orders[i].EndToEndID, Place: "a", Report: bankorder.Report{State: bankorder.Accepted}}
	}
	c.report(1, accepted(3), accepted(0), accepted(3), accepted(2))
	if places, last := c.changedAfter(0, orders); !slices.Equal(places, []int{3, 0, 2}) || last != 3 {
		t.Errorf("changed %v up to %d", places, last)
	}
	c.report(2, bankfile.OrderReport{Key: orders[3].Key, Place: "b", Report: bankorder.Report{State: bankorder.Settled}})
	if places, last := c.changedAfter(1, orders); !slices.Equal(places, []int{0, 2, 3}) || last != 4 {
		t.Errorf("then %v up to %d", places, last)
	}
	first, last, err := c.ChangedOrders(t.Context(), bankName, 0, 2)
	if err != nil || len(first) != 2 || last != 3 ||
		first[1] != (ports.RailSubject{Platform: orders[2].Platform, Subject: orders[2].Subject}) {
		t.Errorf("the first piece %+v up to %d, %v", first, last, err)
	}
	if places, last := c.changedAfter(4, orders); len(places) != 0 || last != 4 {
		t.Errorf("then %v up to %d", places, last)
	}
}

func TestStore_ReportsWhatIsNoticed(t *testing.T) {
	t.Parallel()
	// Payments that are none of ours, of another connection or not yet in a file, contradictions, what the bank takes for a
	// duplicate, and corrections are kept for an operator, once. They change no state, and corrections are kept encrypted
	// with the order.
	c := newStoreEnv(t)
	ctx := t.Context()
	orders := c.inFile(3)
	queued, other := c.newOrders(c.platform, 1)[0], c.newOrders(c.platform, 1)[0]
	other.Connection = "other"
	c.add(queued, other)
	settled := bankorder.Report{State: bankorder.Settled, Code: "S1"}
	reports := []bankfile.OrderReport{
		{EndToEndID: "NOTPROVIDED", Key: orders[0].Key, Place: "1", Report: settled},
		{Key: rail.ShortID("x"), Place: "2", Report: settled},
		{EndToEndID: other.EndToEndID, Place: "3", Report: settled},
		{EndToEndID: queued.EndToEndID, Place: "4", Report: settled},
		{EndToEndID: orders[1].EndToEndID, Place: "5", Notice: bankorder.DuplicateFile,
			Report: bankorder.Report{State: bankorder.Rejected, Code: "AM05"}},
		{Key: orders[2].Key, Place: "6", Notice: bankorder.Correction, Report: bankorder.Report{Code: "C01"},
			Correction: map[string]string{"accountNumber": "0042"}},
	}
	want := []bankorder.Notice{
		{Connection: bankName, File: 9, Place: "1", Kind: bankorder.UnknownPayment, Name: "NOTPROVIDED", Code: "S1", At: noon},
		{Connection: bankName, File: 9, Place: "2", Kind: bankorder.UnknownPayment, Name: rail.ShortID("x"), Code: "S1", At: noon},
		{Connection: bankName, File: 9, Place: "3", Kind: bankorder.UnknownPayment, Name: other.EndToEndID, Code: "S1", At: noon},
		{Connection: bankName, File: 9, Place: "4", Kind: bankorder.Contradiction, Name: queued.EndToEndID, Code: "S1", At: noon},
		{Connection: bankName, File: 9, Place: "5", Kind: bankorder.DuplicateFile, Name: orders[1].EndToEndID, Code: "AM05", At: noon},
		{Connection: bankName, File: 9, Place: "6", Kind: bankorder.Correction, Name: orders[2].Key, Code: "C01", At: noon},
	}
	orderOf := []string{"", "", "", queued.EndToEndID, orders[1].EndToEndID, orders[2].EndToEndID}
	for range 2 {
		got := c.report(9, reports...)
		for i := range got {
			if about := orderOf[i]; !reflect.DeepEqual(got[i].Report, reports[i].Report) || (got[i].Order == nil) != (about == "") || about != "" &&
				got[i].Order.EndToEndID != about {
				t.Errorf("notice %d is about %+v, of the report %+v", i, got[i].Order, got[i].Report)
			}
			got[i].Report, got[i].Order = bankorder.Report{}, nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("noticed %+v, want %+v", got, want)
		}
	}
	unreadable := bankorder.Notice{Connection: bankName, File: 10, Place: "", Kind: bankorder.UnreadableFile, Name: "x.xml",
		At: noon.Add(time.Second)}
	for range 2 {
		if err := c.KeepNotice(ctx, c.lease, unreadable); err != nil {
			t.Fatal(err)
		}
	}

	kept, err := c.Notices(ctx, bankName, 10)
	if err != nil || len(kept) != 7 || !reflect.DeepEqual(kept[0], bankorder.KeptNotice{Notice: unreadable}) ||
		!reflect.DeepEqual(kept[1], bankorder.KeptNotice{Notice: want[5], Correction: map[string]string{"accountNumber": "0042"}}) ||
		!reflect.DeepEqual(kept[6].Notice, want[0]) {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if newest, err := c.Notices(ctx, bankName, 1); err != nil || len(newest) != 1 {
		t.Errorf("the newest is %+v, %v", newest, err)
	}
	if none, err := c.Notices(ctx, "other", 10); err != nil || len(none) != 0 {
		t.Errorf("the other connection has %+v, %v", none, err)
	}
	if places, _ := c.changedAfter(0, orders); len(places) != 0 {
		t.Errorf("news of %v", places)
	}
}

func TestStore_ReportsWholeFileExceptItsOwnReports(t *testing.T) {
	t.Parallel()
	// A report about a whole file is about those of its orders that it can be true of, and about which the same file of the
	// bank had none of its own. It is applied in pieces, and again it changes nothing.
	c := newStoreEnv(t)
	ctx := t.Context()
	orders := c.inFile(6)
	later := c.inFile(1)
	one := func(i int, state bankorder.State, notice bankorder.NoticeKind) bankfile.OrderReport {
		return bankfile.OrderReport{EndToEndID: orders[i].EndToEndID, Place: "p", Notice: notice, Report: bankorder.Report{State: state}}
	}
	c.report(1, one(0, bankorder.Settled, ""), one(1, bankorder.Accepted, ""))
	c.report(2, one(2, bankorder.Accepted, ""), one(3, bankorder.Rejected, bankorder.DuplicateFile))
	rejected := bankorder.Report{State: bankorder.Rejected, Code: "FF01", Text: "no"}
	var changed []int
	for range 3 {
		n, problem, err := c.ReportFile(ctx, c.lease, 2, "M1", rejected, noon, 2)
		if err != nil || problem != "" {
			t.Fatal(problem, err)
		}
		changed = append(changed, n)
	}

	if !slices.Equal(changed, []int{2, 1, 0}) {
		t.Errorf("changed %v", changed)
	}
	var got []bankorder.State
	for _, o := range append(c.ordersIn(1), c.ordersIn(2)...) {
		if got = append(got, o.State); o.State == bankorder.Rejected && (o.Code != "FF01" || o.Text != "no") {
			t.Errorf("%+v", o)
		}
	}
	if want := []bankorder.State{bankorder.Settled, bankorder.Rejected, bankorder.Accepted, bankorder.InFile, bankorder.Rejected,
		bankorder.Rejected, bankorder.InFile}; !slices.Equal(got, want) {
		t.Errorf("states %v, want %v", got, want)
	}
	if _, problem, err := c.ReportFile(ctx, c.lease, 2, "M9", rejected, noon, 2); problem != bankorder.UnknownPayment || err != nil {
		t.Errorf("an unknown message: %s, %v", problem, err)
	}
	if n, _, err := c.ReportFile(ctx, c.lease, 3, "M2", bankorder.Report{State: bankorder.Accepted}, noon, 10); n != 1 || err != nil {
		t.Errorf("the file of %s: %d, %v", later[0].ID, n, err)
	}
}

func TestStore_ReportsAmounts(t *testing.T) {
	t.Parallel()
	// What was deducted from a payment that came back is returned as a fee with every report of it, the same each time. An
	// amount that cannot be true is noticed and changes nothing.
	c := newStoreEnv(t)
	ctx := t.Context()
	orders := c.inFile(3) // of 1, 2 and 3 cents
	returned := func(i int, minor int64, at time.Time) bankfile.OrderReport {
		return bankfile.OrderReport{EndToEndID: orders[i].EndToEndID, Place: orders[i].Key, Report: bankorder.Report{State: bankorder.Returned,
			Amount: money.Amount{Minor: minor, Currency: "EUR"}, Charges: money.Amount{Minor: 1, Currency: "EUR"}, At: at}}
	}
	c.report(1, bankfile.OrderReport{EndToEndID: orders[2].EndToEndID, Report: bankorder.Report{State: bankorder.Rejected}})
	earlier := noon.Add(-time.Hour)
	fee := func(i int, at time.Time) ports.RailFee {
		return ports.RailFee{Platform: c.platform, Rail: "SEPA", PartnerID: orders[i].EndToEndID + "/return",
			Amount: money.Amount{Minor: 1, Currency: "EUR"}, At: at, Memo: "deducted from the return", Undated: true}
	}
	want := []ports.RailFee{fee(1, earlier), fee(2, earlier)}
	for round, at := range []time.Time{earlier, earlier, noon} { // the last one in another file, with another time
		notices, fees, err := c.ReportOrders(ctx, c.lease, int64(round/2+2), []bankfile.OrderReport{returned(0, 2, at), returned(1, 1, at),
			returned(2, 2, earlier)}, noon)
		if err != nil || !reflect.DeepEqual(fees, want) || len(notices) != 1 || notices[0].Kind != bankorder.Contradiction ||
			notices[0].Name != orders[0].EndToEndID {
			t.Errorf("round %d: fees %+v, notices %+v, %v", round, fees, notices, err)
		}
	}
	if got := c.ordersIn(1); got[0].State != bankorder.InFile || got[1].State != bankorder.Returned || got[2].State != bankorder.Rejected {
		t.Errorf("%+v", got)
	}
}

func TestStore_ReportsSumsOfFiles(t *testing.T) {
	t.Parallel()
	// A report about a whole file with an amount applies if that is the sum of the file, or of what of it was not rejected.
	c := newStoreEnv(t)
	orders := c.inFile(3) // of 1, 2 and 3 cents
	c.report(1, bankfile.OrderReport{EndToEndID: orders[2].EndToEndID, Report: bankorder.Report{State: bankorder.Rejected}})
	var file int64 = 2
	settle := func(minor int64, currency money.Currency, changed int, problem bankorder.NoticeKind) {
		t.Helper()
		report := bankorder.Report{State: bankorder.Settled, Amount: money.Amount{Minor: minor, Currency: currency}}
		n, got, err := c.ReportFile(t.Context(), c.lease, file, "M1", report, noon, 10)
		if file++; err != nil || n != changed || got != problem {
			t.Errorf("%s: %d, %q, %v; want %d, %q", report.Amount, n, got, err, changed, problem)
		}
	}
	settle(5, "EUR", 0, bankorder.Contradiction)
	settle(0, "EUR", 0, bankorder.Contradiction)
	settle(3, "USD", 0, bankorder.Contradiction)
	settle(3, "EUR", 2, "")
	settle(6, "EUR", 0, "")
	c.inFile(1)
	c.report(file, bankfile.OrderReport{EndToEndID: c.ordersIn(2)[0].EndToEndID, Report: bankorder.Report{State: bankorder.Rejected}})
	if _, problem, err := c.ReportFile(t.Context(), c.lease, file+1, "M2", bankorder.Report{State: bankorder.Settled,
		Amount: money.Amount{Minor: 2, Currency: "EUR"}}, noon, 10); problem != bankorder.Contradiction || err != nil {
		t.Errorf("a file of which all was rejected: %q, %v", problem, err)
	}
}

func TestStore_FilesAreReadOnce(t *testing.T) {
	t.Parallel()
	// A file is known by name, size and time. The same content under another name or time is a duplicate once it was read,
	// is read on while it is being read, and is read again if it could not be read before.
	c := newStoreEnv(t)
	ctx := t.Context()
	received := func(name string, at time.Time, content byte) bankorder.Received {
		return bankorder.Received{Name: name, Size: 10, ModifiedAt: at, SHA256: [32]byte{content}, FoundAt: noon}
	}
	begin := func(f bankorder.Received, number int64, state bankorder.ReceivedState) {
		t.Helper()
		got, err := c.BeginFile(ctx, c.lease, f)
		f.Connection, f.Number, f.State = bankName, number, state
		f.ModifiedAt, got.Problem = f.ModifiedAt.Truncate(time.Microsecond), ""
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("begun %+v, %v; want %+v", got, err, f)
		}
	}
	end := func(number int64, state bankorder.ReceivedState) {
		t.Helper()
		if err := c.EndFile(ctx, c.lease, number, state, "problem", noon); err != nil {
			t.Fatal(err)
		}
	}
	first, moved := received("a.xml", noon.Add(time.Minute+123), 1), received("b.xml", noon.Add(time.Second), 1)
	begin(first, 1, bankorder.Reading)
	begin(first, 1, bankorder.Reading)
	begin(moved, 1, bankorder.Reading)
	end(1, bankorder.Read)
	end(1, bankorder.Unreadable) // it has ended
	begin(moved, 1, bankorder.Read)
	begin(first, 2, bankorder.Duplicate)
	begin(first, 2, bankorder.Duplicate)
	bad := received("c.xml", noon, 2)
	begin(bad, 3, bankorder.Reading)
	end(3, bankorder.Unreadable)
	begin(bad, 3, bankorder.Unreadable)
	begin(received("c.xml", noon.Add(time.Hour), 2), 4, bankorder.Reading)

	known, err := c.KnownFiles(ctx, bankName, []bankorder.Received{first, moved, bad, received("a.xml", noon, 1),
		received("d.xml", noon, 1)})
	if err != nil || len(known) != 3 || known[0].Number != 1 || known[0].Name != "b.xml" || known[1].State != bankorder.Duplicate ||
		known[2].Problem != "problem" {
		t.Errorf("known %+v, %v", known, err)
	}
	if r, some, err := c.FileBeingRead(ctx, bankName, 4); err != nil || !some || r.Name != "c.xml" || r.State != bankorder.Reading {
		t.Errorf("being read %+v, %t, %v", r, some, err)
	}
	if _, some, err := c.FileBeingRead(ctx, "other", 4); some || err != nil {
		t.Errorf("of the other connection: %t, %v", some, err)
	}
}
