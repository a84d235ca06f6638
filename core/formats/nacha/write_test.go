package nacha_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/moov-io/ach"
	"pgregory.net/rapid"

	"causeway/core/formats/nacha"
	"causeway/core/money"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func newFile(batches ...nacha.Batch) nacha.File {
	return nacha.File{Destination: "021000021", DestinationName: "JPMORGAN CHASE", Origin: "1234567890", OriginName: "CAUSEWAY INC",
		Modifier:  'A',
		CreatedAt: time.Date(2026, 3, 10, 15, 4, 5, 0, time.UTC), Batches: batches}
}

func newBatch(class nacha.Class, debit bool, entries ...nacha.Entry) nacha.Batch {
	return nacha.Batch{Class: class, Debit: debit, CompanyName: "CAUSEWAY", CompanyID: "1234567890", Description: "PAYMENT",
		EffectiveOn: time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC), ODFI: "021000021", Entries: yield(entries...)}
}

func yield(entries ...nacha.Entry) iter.Seq2[nacha.Entry, error] {
	return func(yield func(nacha.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func newEntry(sequence int, cents int64) nacha.Entry {
	id := uuid.UUID{15: byte(sequence), 14: byte(sequence >> 8), 13: byte(sequence >> 16)}
	return nacha.Entry{Sequence: sequence, Key: nacha.KeyOf(id), EndToEndID: strings.ToUpper(strings.ReplaceAll(id.String(), "-", "")),
		Routing: "121042882", Account: "1234567890", Amount: money.Amount{Minor: cents, Currency: money.USD}, Name: "Jane Doe"}
}

func write(t testing.TB, f nacha.File) (nacha.Totals, string) {
	t.Helper()
	var file bytes.Buffer
	totals, err := nacha.Write(&file, f)
	if err != nil {
		t.Fatal(err)
	}
	return totals, file.String()
}

// readStrictly reads a file by the rules of Nacha, without exceptions but that of the origin.
func readStrictly(t testing.TB, text string) ach.File {
	t.Helper()
	reader := ach.NewReader(strings.NewReader(text))
	rules := &ach.ValidateOpts{BypassOriginValidation: true}
	reader.SetValidation(rules)
	file, err := reader.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range file.Batches {
		b.SetValidation(&ach.ValidateOpts{})
	}
	if err := file.ValidateWith(rules); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWrite_EveryClass(t *testing.T) {
	t.Parallel()
	// A file with credits and debits of each class follows the rules of Nacha, and is as expected to the last byte.
	business := newEntry(3, 99)
	business.Name, business.Savings, business.EndToEndID = "Café Müller & Söhne Gesellschaft", true, ""
	file := newFile(newBatch(nacha.PPD, false, newEntry(1, 100_50), newEntry(2, 1)), newBatch(nacha.CCD, false, business),
		newBatch(nacha.PPD, true, newEntry(5, 7_00)), newBatch(nacha.WEB, true, newEntry(7, 8_00)))
	file.Batches[2].CompanyData, file.Reference = "our data", "REF-1"

	totals, text := write(t, file)

	if want := (nacha.Totals{Entries: 5, Batches: 4, Credits: 101_50, Debits: 15_00}); totals != want {
		t.Errorf("%+v, want %+v", totals, want)
	}
	if got := readStrictly(t, text); len(got.Batches) != 4 {
		t.Errorf("%d batches", len(got.Batches))
	}
	const golden = "testdata/payments.ach"
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestWrite_RoundTrip(t *testing.T) {
	t.Parallel()
	// Whatever is not refused is read back as it was, with every total right.
	rapid.Check(t, func(t *rapid.T) {
		var batches []nacha.Batch
		var all []nacha.Entry
		sequence := 0
		for range rapid.IntRange(1, 3).Draw(t, "batches") {
			debit := rapid.Bool().Draw(t, "debit")
			var entries []nacha.Entry
			for range rapid.IntRange(1, 4).Draw(t, "entries") {
				sequence += rapid.IntRange(1, 2_000_000).Draw(t, "step")
				if sequence > nacha.MaxSequence {
					break
				}
				e := newEntry(sequence, rapid.Int64Range(1, 9_999_999_999).Draw(t, "cents"))
				e.Name, e.Account, e.Savings = rapid.String().Draw(t, "name"), rapid.StringMatching(`[0-9A-Z-]{1,17}`).Draw(t, "account"),
					rapid.Bool().Draw(t, "savings")
				if (nacha.Batch{}).CheckEntry(e) == nil {
					entries, all = append(entries, e), append(all, e)
				}
			}
			batches = append(batches, newBatch(nacha.PPD, debit, entries...))
		}
		if len(all) == 0 {
			t.Skip("every entry was refused")
		}
		var text bytes.Buffer
		totals, err := nacha.Write(&text, newFile(batches...))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(text.String(), "\n"); lines%10 != 0 || text.Len() != lines*95 {
			t.Fatalf("%d bytes in %d lines", text.Len(), lines)
		}
		reader := ach.NewReader(&text)
		reader.SetValidation(&ach.ValidateOpts{BypassOriginValidation: true})
		file, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		var read []*ach.EntryDetail
		for _, b := range file.Batches {
			read = append(read, b.GetEntries()...)
		}
		if len(read) != len(all) || totals.Entries != len(all) || totals.Credits != int64(file.Control.TotalCreditEntryDollarAmountInFile) ||
			totals.Debits != int64(file.Control.TotalDebitEntryDollarAmountInFile) {
			t.Fatalf("%d entries of %d, %+v", len(read), len(all), totals)
		}
		for i, e := range read {
			if w := all[i]; e.TraceNumber != nacha.TraceNumber("021000021", w.Sequence) || strings.TrimSpace(e.IdentificationNumber) != w.Key ||
				int64(e.Amount) != w.Amount.Minor ||
				e.DFIAccountNumber != w.Account && strings.TrimSpace(e.DFIAccountNumber) != w.Account ||
				e.Addenda05[0].PaymentRelatedInformation != w.EndToEndID {
				t.Fatalf("%+v, want %+v", e, w)
			}
		}
	})
}

func TestWrite_TextForTheReceiver(t *testing.T) {
	t.Parallel()
	// A text for the receiver takes the place of the end-to-end id, in Latin letters and as far as it fits. One that has none of
	// those leaves the id.
	for text, want := range map[string]string{"Rent, März": "Rent, Marz", "": newEntry(1, 1).EndToEndID, "家賃": newEntry(1, 1).EndToEndID,
		strings.Repeat("ß", 80): strings.Repeat("ss", 40)} {
		entry := newEntry(1, 1)
		entry.Remittance = text
		_, written := write(t, newFile(newBatch(nacha.PPD, false, entry)))
		if got := readStrictly(t, written).Batches[0].GetEntries()[0].Addenda05[0].PaymentRelatedInformation; got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}

func TestWrite_DividesBatches(t *testing.T) {
	t.Parallel()
	// A batch with more entries than 10,000 lines hold, or with a larger sum than a batch holds, is divided.
	many := newBatch(nacha.PPD, false)
	many.Entries = newEntries(10_000, 100)
	large := newBatch(nacha.PPD, true)
	large.Entries = newEntries(101, 99_999_999_99)

	totals, text := write(t, newFile(many))
	if want := (nacha.Totals{Entries: 10_000, Batches: 3, Credits: 10_000_00}); totals != want {
		t.Errorf("%+v, want %+v", totals, want)
	}
	if file := readStrictly(t, text); file.Control.EntryAddendaCount != 20_000 || file.Control.BatchCount != 3 {
		t.Errorf("%+v", file.Control)
	}
	if _, err := nacha.Write(&bytes.Buffer{}, newFile(large)); err == nil || !strings.Contains(err.Error(), "write several files") {
		t.Errorf("more than a file holds: %v", err)
	}
	large.Entries = newEntries(100, 99_999_999_99)
	if totals, _ := write(t, newFile(large)); totals.Batches != 1 || totals.Debits != 9_999_999_999_00 {
		t.Errorf("as much as a file holds: %+v", totals)
	}
}

func newEntries(count int, cents int64) iter.Seq2[nacha.Entry, error] {
	return func(yield func(nacha.Entry, error) bool) {
		for i := range count {
			if !yield(newEntry(i+1, cents), nil) {
				return
			}
		}
	}
}

func TestWrite_KeepsOneBatch(t *testing.T) {
	t.Parallel()
	// Batches are written as they are full, so that the size of a file does not matter.
	const perBatch, lines = 4_999, 2 * 95
	var written counter
	batch := newBatch(nacha.PPD, false)
	batch.Entries = func(yield func(nacha.Entry, error) bool) {
		for i := range 20_000 {
			if int(written) < (i-2*perBatch)*lines {
				t.Errorf("%d bytes are written of %d entries", written, i)
				return
			}
			if !yield(newEntry(i+1, 1), nil) {
				return
			}
		}
	}

	if _, err := nacha.Write(&written, newFile(batch)); err != nil || written < 20_000*lines {
		t.Errorf("%d bytes: %v", written, err)
	}
}

func TestWrite_RefusesWhatNoBankTakes(t *testing.T) {
	t.Parallel()
	// An entry, batch or file that a bank would reject is refused with the reason, which names no person.
	change := func(f func(*nacha.Entry)) nacha.Entry { e := newEntry(1, 1_00); f(&e); return e }
	for name, c := range map[string]struct {
		entry nacha.Entry
		want  string
	}{
		"no sequence":        {change(func(e *nacha.Entry) { e.Sequence = 0 }), "not between 1 and 9999999"},
		"too many":           {change(func(e *nacha.Entry) { e.Sequence = 10_000_000 }), "not between 1 and 9999999"},
		"no key":             {change(func(e *nacha.Entry) { e.Key = "" }), "its key is empty"},
		"a long key":         {change(func(e *nacha.Entry) { e.Key = strings.Repeat("A", 16) }), "longer than 15 characters"},
		"a long id":          {change(func(e *nacha.Entry) { e.EndToEndID = strings.Repeat("A", 81) }), "longer than 80 characters"},
		"euros":              {change(func(e *nacha.Entry) { e.Amount.Currency = money.EUR }), "ACH takes USD"},
		"nothing":            {newEntry(1, 0), "not above zero"},
		"more than possible": {newEntry(1, 100_000_000_00), "above 99,999,999.99"},
		"a wrong routing":    {change(func(e *nacha.Entry) { e.Routing = "121042883" }), "the routing number"},
		"no account":         {change(func(e *nacha.Entry) { e.Account = "000" }), "empty or zero"},
		"a long account":     {change(func(e *nacha.Entry) { e.Account = strings.Repeat("1", 18) }), "longer than 17"},
		"no name":            {change(func(e *nacha.Entry) { e.Name = " " }), "write it in Latin letters"},
		"a Chinese name":     {change(func(e *nacha.Entry) { e.Name = "李小龙" }), "write it in Latin letters"},
	} {
		var refused *nacha.EntryError
		batch := newBatch(nacha.PPD, false, c.entry)
		if err := batch.CheckEntry(c.entry); !errors.As(err, &refused) || refused.Key != c.entry.Key || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if _, err := nacha.Write(&bytes.Buffer{}, newFile(batch)); !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "batch 1: ") {
			t.Errorf("%s: written: %v", name, err)
		}
	}
	broken := func(f func(*nacha.File)) nacha.File {
		file := newFile(newBatch(nacha.PPD, false, newEntry(1, 1)))
		f(&file)
		return file
	}
	failing := errors.New("the database is gone")
	for name, c := range map[string]struct {
		file nacha.File
		want string
	}{
		"no batch":               {newFile(), "no entry"},
		"no entry":               {newFile(newBatch(nacha.PPD, false)), "no entry"},
		"no entries":             {broken(func(f *nacha.File) { f.Batches[0].Entries = nil }), "no entries"},
		"a number twice":         {newFile(newBatch(nacha.PPD, false, newEntry(1, 1), newEntry(1, 2))), "must ascend"},
		"a number of another":    {newFile(newBatch(nacha.PPD, false, newEntry(2, 1)), newBatch(nacha.PPD, true, newEntry(1, 2))), "must ascend"},
		"no time":                {broken(func(f *nacha.File) { f.CreatedAt = time.Time{} }), "no time of creation"},
		"a wrong destination":    {broken(func(f *nacha.File) { f.Destination = "021000022" }), "ImmediateDestination"},
		"a short origin":         {broken(func(f *nacha.File) { f.Origin = "12345" }), "9 or 10 characters"},
		"no modifier":            {broken(func(f *nacha.File) { f.Modifier = 0 }), "FileIDModifier"},
		"a long reference":       {broken(func(f *nacha.File) { f.Reference = "123456789" }), "more than 8"},
		"an unknown class":       {broken(func(f *nacha.File) { f.Batches[0].Class = "IAT" }), "none of PPD, CCD and WEB"},
		"a credit on the web":    {broken(func(f *nacha.File) { f.Batches[0].Class = nacha.WEB }), "WEB is for debits"},
		"no company":             {broken(func(f *nacha.File) { f.Batches[0].CompanyName = "" }), "the company's name"},
		"a long company":         {broken(func(f *nacha.File) { f.Batches[0].CompanyName = strings.Repeat("A", 17) }), "longer than 16"},
		"no company id":          {broken(func(f *nacha.File) { f.Batches[0].CompanyID = "0" }), "the company's id"},
		"long data":              {broken(func(f *nacha.File) { f.Batches[0].CompanyData = strings.Repeat("A", 21) }), "longer than 20"},
		"no description":         {broken(func(f *nacha.File) { f.Batches[0].Description = "" }), "the description"},
		"a wrong ODFI":           {broken(func(f *nacha.File) { f.Batches[0].ODFI = "021000022" }), "not a routing number"},
		"letters in place of it": {broken(func(f *nacha.File) { f.Batches[0].ODFI = "ABCDEFGH" }), "not a routing number"},
		"no day":                 {broken(func(f *nacha.File) { f.Batches[0].EffectiveOn = time.Time{} }), "no day on which to settle"},
		"a failing source": {broken(func(f *nacha.File) {
			f.Batches[0].Entries = func(yield func(nacha.Entry, error) bool) { yield(nacha.Entry{}, failing) }
		}), failing.Error()},
	} {
		if totals, err := nacha.Write(&bytes.Buffer{}, c.file); err == nil || !strings.Contains(err.Error(), c.want) ||
			totals != (nacha.Totals{}) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestWrite_ErrorOfDestination(t *testing.T) {
	t.Parallel()
	// What the destination refuses is an error, also if only the last bytes are concerned.
	_, text := write(t, newFile(newBatch(nacha.PPD, false, newEntry(1, 1))))
	for _, room := range []int{0, len(text) - 1} {
		if _, err := nacha.Write(&fullDisk{room}, newFile(newBatch(nacha.PPD, false, newEntry(1, 1)))); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return d.room, errFull
	}
	d.room -= len(p)
	return len(p), nil
}

func TestKeyOf_StableAndReadable(t *testing.T) {
	t.Parallel()
	// The key of an id is always the same, has 15 characters that every bank takes, and is another for another id.
	if got, want := nacha.KeyOf(uuid.MustParse("0193f4a0-c0de-7000-8000-00000000000a")), "A31EKWETNRZGQD3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	seen := map[string]int{}
	for i := range 100_000 {
		key := newEntry(i, 1).Key
		if other, taken := seen[key]; taken || len(key) != 15 || strings.Trim(key, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
			t.Fatalf("%d and %d have %s", i, other, key)
		}
		seen[key] = i
	}
}

func BenchmarkWrite(b *testing.B) {
	// 100,000 payments with an addenda record each.
	batch := newBatch(nacha.PPD, false)
	batch.Entries = newEntries(100_000, 100_01)
	b.ReportAllocs()
	for b.Loop() {
		var size counter
		totals, err := nacha.Write(&size, newFile(batch))
		if err != nil || totals.Entries != 100_000 {
			b.Fatal(totals, err)
		}
		b.SetBytes(int64(size))
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

func ExampleTraceNumber() {
	fmt.Println(nacha.TraceNumber("021000021", 17))
	// Output: 021000020000017
}
