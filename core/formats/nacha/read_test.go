package nacha_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/moov-io/ach"

	"causeway/core/formats/nacha"
	"causeway/core/formats/textfile"
)

// reported is what a file contains.
type reported struct {
	Returns []nacha.Return
	Changes []nacha.Change
}

func read(file string) (reported, error) {
	var result reported
	err := nacha.Read(strings.NewReader(file), nacha.Visitor{
		Return: func(r nacha.Return) error { result.Returns = append(result.Returns, r); return nil },
		Change: func(c nacha.Change) error { result.Changes = append(result.Changes, c); return nil },
	})
	return result, err
}

// newDetail returns an entry of a bank that answers a payment of ours.
func newDetail(code, cents int, trace string) *ach.EntryDetail {
	d := ach.NewEntryDetail()
	d.TransactionCode, d.Amount, d.DFIAccountNumber, d.IndividualName, d.IdentificationNumber = code, cents, "1234567890",
		"Jane Doe", "A31EKWETNRZGQD3"
	d.SetRDFI("021000021")
	d.TraceNumber, d.AddendaRecordIndicator, d.Category = trace, 1, ach.CategoryReturn
	return d
}

// newReports returns a file of a bank with a batch of each of the entries.
func newReports(t testing.TB, class string, entries ...*ach.EntryDetail) string {
	t.Helper()
	file := ach.NewFile()
	header := ach.NewFileHeader()
	header.ImmediateDestination, header.ImmediateOrigin, header.FileCreationDate, header.FileCreationTime, header.FileIDModifier = "021000021",
		"121042882", "260102", "0815", "A"
	file.SetHeader(header)
	for _, e := range entries {
		h := ach.NewBatchHeader()
		h.ServiceClassCode, h.CompanyName, h.CompanyIdentification, h.StandardEntryClassCode = ach.MixedDebitsAndCredits, "CAUSEWAY",
			"1234567890", class
		h.CompanyEntryDescription, h.ODFIIdentification, h.SettlementDate = "PAYMENT", "12104288", "364"
		if e.Addenda98 != nil || e.Addenda98Refused != nil {
			h.StandardEntryClassCode, e.Category = ach.COR, ach.CategoryNOC
		}
		batch, err := ach.NewBatch(h)
		if err != nil {
			t.Fatal(err)
		}
		batch.AddEntry(e)
		if err := batch.Create(); err != nil {
			t.Fatal(err)
		}
		file.AddBatch(batch)
	}
	if err := file.Create(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	writer := ach.NewWriter(&text)
	writer.BypassValidation = true
	if err := writer.Write(file); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func newReturn(code, cents int, reason string) *ach.EntryDetail {
	d := newDetail(code, cents, "121042880000001")
	d.Addenda99 = ach.NewAddenda99()
	d.Addenda99.SetValidation(&ach.ValidateOpts{CustomReturnCodes: true})
	d.Addenda99.ReturnCode, d.Addenda99.OriginalTrace, d.Addenda99.OriginalDFI, d.Addenda99.TraceNumber = reason, "021000020000005",
		"12104288", d.TraceNumber
	return d
}

func newChange(code, data string) *ach.EntryDetail {
	d := newDetail(21, 0, "121042880000002")
	d.Addenda98 = ach.NewAddenda98()
	d.Addenda98.ChangeCode, d.Addenda98.OriginalTrace, d.Addenda98.OriginalDFI, d.Addenda98.CorrectedData, d.Addenda98.TraceNumber = code,
		"021000020000001", "12104288", data, d.TraceNumber
	return d
}

// newReportsOfEveryKind returns a file with everything that a bank reports.
func newReportsOfEveryKind(t testing.TB) string {
	died := newReturn(36, 8_00, "R15")
	died.Addenda99.DateOfDeath, died.Addenda99.AddendaInformation = "251224", "ESTATE OF JANE DOE"
	unknown := newReturn(21, 1, "R97")
	dishonored := newDetail(26, 7_00, "121042880000003")
	dishonored.Category = ach.CategoryDishonoredReturn
	dishonored.Addenda99Dishonored = ach.NewAddenda99Dishonored()
	a := dishonored.Addenda99Dishonored
	a.DishonoredReturnReasonCode, a.OriginalEntryTraceNumber, a.OriginalReceivingDFIIdentification = "R68", "021000020000006", "12104288"
	a.ReturnTraceNumber, a.ReturnSettlementDate, a.ReturnReasonCode, a.AddendaInformation, a.TraceNumber = "121042880000001", "001", "01",
		"UNTIMELY RETURN", dishonored.TraceNumber
	contested := newDetail(26, 7_00, "121042880000004")
	contested.Category = ach.CategoryDishonoredReturnContested
	contested.Addenda99Contested = ach.NewAddenda99Contested()
	c := contested.Addenda99Contested
	c.ContestedReturnCode, c.OriginalEntryTraceNumber, c.OriginalReceivingDFIIdentification, c.DateOriginalEntryReturned = "R73",
		"021000020000006", "12104288", "260101"
	c.OriginalSettlementDate, c.ReturnTraceNumber, c.ReturnSettlementDate, c.ReturnReasonCode = "001", "121042880000001", "001", "01"
	c.DishonoredReturnTraceNumber, c.DishonoredReturnSettlementDate, c.DishonoredReturnReasonCode, c.TraceNumber = "121042880000003", "002",
		"68", contested.TraceNumber
	refused := newDetail(21, 0, "121042880000005")
	refused.Addenda98Refused = ach.NewAddenda98Refused()
	r := refused.Addenda98Refused
	r.RefusedChangeCode, r.OriginalTrace, r.OriginalDFI, r.CorrectedData, r.ChangeCode, r.TraceSequenceNumber, r.TraceNumber = "C62",
		"021000020000001", "12104288", "99", "C01", "0000002", refused.TraceNumber
	return newReports(t, ach.PPD, newReturn(26, 7_00, "R01"), newReturn(21, 100_50, "R03"), died, unknown, dishonored, contested,
		newChange("C01", "9876543210"), refused)
}

func TestRead_EveryKind(t *testing.T) {
	t.Parallel()
	// Returns, disputes about them and notifications of change are read with everything that the bank wrote. The day of
	// settlement, 364, is of the year before the file, which was created on 2 January.
	got, err := read(newReportsOfEveryKind(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(got, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/reports.txt"
	if *update {
		if err := os.WriteFile(golden, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(text)+"\n" != string(want) {
		t.Errorf("got\n%s", text)
	}
}

func TestRead_EveryReturnCode(t *testing.T) {
	t.Parallel()
	// Each code of returns is kept as it is, also one that the library does not know. The direction is that of our payment.
	for number := 1; number <= 85; number++ {
		code := "R" + string(rune('0'+number/10)) + string(rune('0'+number%10))
		if ach.IsDishonoredReturnCode(code) || ach.IsContestedReturnCode(code) {
			continue // these have records of their own, see TestRead_EveryKind
		}
		for transaction, debit := range map[int]bool{21: false, 26: true, 31: false, 36: true} {
			got, err := read(newReports(t, ach.CCD, newReturn(transaction, number, code)))
			if err != nil || len(got.Returns) != 1 {
				t.Fatalf("%s: %v, %+v", code, err, got)
			}
			if r := got.Returns[0]; r.Code != code || r.Kind != nacha.Returned || r.Debit != debit || r.Amount.Minor != int64(number) ||
				r.OriginalTrace != "021000020000005" {
				t.Errorf("%s of %d: %+v", code, transaction, r)
			}
		}
	}
}

func TestRead_CorrectedData(t *testing.T) {
	t.Parallel()
	// What is to be changed is read from the data as far as its code says; the data is kept in any case.
	for name, c := range map[string]struct {
		code, data string
		want       nacha.Change
	}{
		"the account":                       {"C01", "9876543210", nacha.Change{Account: "9876543210"}},
		"the routing number":                {"C02", "021000021", nacha.Change{Routing: "021000021"}},
		"both":                              {"C03", "021000021   9876543210", nacha.Change{Routing: "021000021", Account: "9876543210"}},
		"the name":                          {"C04", "JANE ROE", nacha.Change{Name: "JANE ROE"}},
		"a savings account":                 {"C05", "32", nacha.Change{TransactionCode: 32}},
		"the account, which is for savings": {"C06", "9876543210       32", nacha.Change{Account: "9876543210", TransactionCode: 32}},
		"the routing number and that": {"C07", "021000021987654321       32", nacha.Change{Routing: "021000021", Account: "987654321",
			TransactionCode: 32}},
		"the id":                              {"C09", "17", nacha.Change{Identification: "17"}},
		"one that says nothing by its code":   {"C13", "X", nacha.Change{}},
		"one whose data is another than that": {"C05", "AB", nacha.Change{}},
	} {
		got, err := read(newReports(t, ach.PPD, newChange(c.code, c.data)))
		if err != nil || len(got.Changes) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, got)
		}
		c.want.Code, c.want.Data, c.want.Line = c.code, c.data, 3
		c.want.OriginalTrace, c.want.Key, c.want.Trace, c.want.RDFI = "021000020000001", "A31EKWETNRZGQD3", "121042880000002", "12104288"
		if got.Changes[0] != c.want {
			t.Errorf("%s: %+v, want %+v", name, got.Changes[0], c.want)
		}
	}
}

func TestRead_ErrorOfVisitor(t *testing.T) {
	t.Parallel()
	// An error of the caller ends the reading, and is returned as it is. What it does not ask for is skipped.
	stop := errors.New("stop")
	file, calls := newReportsOfEveryKind(t), 0
	for name, v := range map[string]nacha.Visitor{
		"return": {Return: func(nacha.Return) error { calls++; return stop }},
		"change": {Change: func(nacha.Change) error { calls++; return stop }},
	} {
		calls = 0
		if err := nacha.Read(strings.NewReader(file), v); !errors.Is(err, stop) || calls != 1 {
			t.Errorf("%s: %v after %d calls", name, err, calls)
		}
	}
	if err := nacha.Read(strings.NewReader(file), nacha.Visitor{}); err != nil {
		t.Errorf("no functions: %v", err)
	}
}

func TestRead_MalformedFiles(t *testing.T) {
	t.Parallel()
	// A file that is damaged, another one, or too large, is refused as a whole with the line, the reason, and what to do.
	// The error has no data of persons.
	good := newReportsOfEveryKind(t)
	lines := strings.SplitAfter(good, "\n")
	replace := func(line, from int, text string) string {
		changed := strings.Split(good, "\n")
		changed[line-1] = changed[line-1][:from-1] + text + changed[line-1][from-1+len(text):]
		return strings.Join(changed, "\n")
	}
	payment := func() string { _, text := write(t, newFile(newBatch(nacha.PPD, true, newEntry(1, 1)))); return text }()
	for name, c := range map[string]struct {
		file, want string
		line       int
	}{
		"empty":               {"", "the file is empty: fetch it again", 0},
		"only spaces":         {" \n \n", "the file is empty", 0},
		"another file":        {"<?xml version=\"1.0\"?><Document/>", "it is another file", 1},
		"only a header":       {lines[0], "no file control record (9)", 0},
		"truncated":           {strings.Join(lines[:9], ""), "no file control record (9)", 0},
		"in a line":           {good[:95*2+40], "no file control record (9)", 0},
		"a batch is missing":  {lines[0] + strings.Join(lines[5:], ""), "calculated", 0},
		"another amount":      {replace(3, 30, "0000009999"), "batch 1: TotalDebitEntryDollarAmount", 5},
		"another bank":        {replace(3, 4, "02100003"), "batch 1: EntryHash", 5},
		"more after the end":  {replace(len(lines)-1, 1, "X"), "records found after file control", 40},
		"an unknown code":     {replace(4, 4, "R0X"), `the code "R0X" is none of Nacha`, 3},
		"no code":             {replace(4, 4, "   "), "is none of Nacha", 3},
		"letters in a sum":    {replace(5, 21, "AAAAAAAAAAAA"), "TotalDebitEntryDollarAmount", 5},
		"an unknown record":   {replace(3, 1, "X"), "unknown record type", 0},
		"a payment":           {payment, "neither a return nor a notification of change: put the file where such files are read", 3},
		"two files":           {good + good, "", 0},
		"too large":           {"101" + strings.Repeat(" ", nacha.MaxFileBytes), "more than 32 MB", 0},
		"a line without end":  {"101" + strings.Repeat("9", 1<<20), "fetch the file again", 1},
		"binary":              {"101" + strings.Repeat("\x00\xff", 500), "fetch the file again", 1},
		"an international":    {strings.Replace(good, "PPDPAYMENT", "IATPAYMENT", 1), "", 0},
		"a code of no change": {strings.Replace(good, "798C01", "798C99", 1), "ChangeCode", 28},
	} {
		got, err := read(c.file)
		var wrong *textfile.Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) || c.line > 0 && wrong.Line != c.line {
			t.Errorf("%s: %v, want %s in line %d", name, err, c.want, c.line)
			continue
		}
		if len(got.Returns)+len(got.Changes) > 0 || strings.Contains(err.Error(), "Jane") || strings.Contains(err.Error(), "1234567890") {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	gone := errors.New("the disk is gone")
	var wrong *textfile.Error
	if err := nacha.Read(failing{gone}, nacha.Visitor{}); !errors.Is(err, gone) || errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestRead_LinesOfBanks(t *testing.T) {
	t.Parallel()
	// Banks end lines in other ways, or do not end them, and leave spaces and lines of nines out: it is the same file.
	good := newReportsOfEveryKind(t)
	want, err := read(good)
	if err != nil {
		t.Fatal(err)
	}
	trimmed := strings.Split(good, "\n")
	for i := range trimmed {
		trimmed[i] = strings.TrimRight(trimmed[i], " ")
	}
	for name, file := range map[string]string{
		"CRLF":                strings.ReplaceAll(good, "\n", "\r\n"),
		"no line ends":        strings.ReplaceAll(good, "\n", ""),
		"no spaces at ends":   strings.Join(trimmed, "\n"),
		"no lines of nines":   strings.TrimRight(good, "9\n") + "\n",
		"no end of the last":  strings.TrimRight(good, "\n"),
		"empty lines between": strings.ReplaceAll(good, "\n", "\n\n"),
	} {
		got, err := read(file)
		if err != nil || len(got.Returns) != len(want.Returns) || len(got.Changes) != len(want.Changes) {
			t.Errorf("%s: %v, %d returns and %d changes", name, err, len(got.Returns), len(got.Changes))
			continue
		}
		for i, r := range got.Returns {
			if r.Line = want.Returns[i].Line; r != want.Returns[i] {
				t.Errorf("%s: %+v, want %+v", name, r, want.Returns[i])
			}
		}
	}
}

func TestHasHeader(t *testing.T) {
	t.Parallel()
	// A file of the Nacha format is recognised by its beginning.
	for start, want := range map[string]bool{"101 021000021": true, "": false, "10": false, "<?xml": false, "5220": false} {
		if got := nacha.HasHeader([]byte(start)); got != want {
			t.Errorf("%q: %v", start, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	_, payments := write(f, newFile(newBatch(nacha.PPD, true, newEntry(1, 1))))
	f.Add(newReportsOfEveryKind(f))
	f.Add(newReports(f, ach.PPD, newReturn(26, 7_00, "R01")))
	f.Add(newReports(f, ach.PPD, newChange("C07", "021000021987654321       32")))
	f.Add(payments)
	f.Fuzz(func(t *testing.T, file string) {
		// No file stops the program. What is read has a code and no negative amount, and nothing is read of a wrong file.
		got, err := read(file)
		if err != nil && len(got.Returns)+len(got.Changes) > 0 {
			t.Errorf("%v: %+v", err, got)
		}
		for _, r := range got.Returns {
			if len(r.Code) != 3 || r.Amount.Minor < 0 || r.Kind == "" {
				t.Errorf("%+v", r)
			}
		}
		for _, c := range got.Changes {
			if len(c.Code) != 3 || c.Data == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	// 1,000 returns, as of 100,000 payments.
	entries := make([]*ach.EntryDetail, 1000)
	for i := range entries {
		entries[i] = newReturn(26, 7_00, "R01")
	}
	file := newReports(b, ach.PPD, entries...)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if got, err := read(file); err != nil || len(got.Returns) != 1000 {
			b.Fatal(err)
		}
	}
}
