package iso20022_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"causeway/core/formats/iso20022"
	"causeway/core/formats/textfile"
)

const (
	statusStart = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt><GrpHdr><MsgId>M</MsgId></GrpHdr>`
	statusEnd   = `</CstmrPmtStsRpt></Document>`
	reportStart = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>S</Id>`
	reportEnd   = `</Stmt></BkToCstmrStmt></Document>`
)

// newEntry returns an entry with a status, and other elements.
func newEntry(amount, side, rest string) string {
	return "\n<Ntry>" + amount + side + `<Sts><Cd>BOOK</Cd></Sts>` + rest + `</Ntry>`
}

const (
	oneEuro = `<Amt Ccy="EUR">1.00</Amt>`
	credit  = `<CdtDbtInd>CRDT</CdtDbtInd>`
)

func TestReadStatuses_MalformedFiles(t *testing.T) {
	t.Parallel()
	// A file that is damaged, another one, or made to exhaust the reader, is refused with the line, the reason, and what
	// to do.
	for name, c := range map[string]struct{ file, want string }{
		"empty":  {"", "line 1: the file is empty: fetch it again"},
		"spaces": {" \n ", "line 2: the file is empty: fetch it again"},
		"text":   {"101 021000021", "text outside of the document"},
		"another message": {`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.08"><BkToCstmrDbtCdtNtfctn/></Document>`,
			"line 1: it is a message camt.054, not pain.002"},
		"an early version": {`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.02"><CstmrPmtStsRpt/></Document>`,
			"version 02, which is not supported: ask the bank for version 03 or later"},
		"no message":           {`<html><body>Login</body></html>`, "no message of ISO 20022"},
		"truncated":            {statusStart + "\n<OrgnlGrpInfAndSts><GrpSts>RJ", "line 2: the file ends too early: it is truncated"},
		"tags that do not fit": {statusStart + `<A></B>` + statusEnd, "not valid XML"},
		"two documents":        {statusStart + statusEnd + statusStart + statusEnd, "continues after its end"},
		"a document type": {`<!DOCTYPE a [<!ENTITY b "c">]>` + statusStart + statusEnd,
			"document type or entity declaration is not allowed"},
		"an unknown entity": {statusStart + `<A>&b;</A>` + statusEnd, "not valid XML"},
		"an unknown encoding": {`<?xml version="1.0" encoding="EBCDIC-FR"?>` + statusStart + statusEnd,
			`its encoding "EBCDIC-FR" is not the one that it declares, or not supported`},
		"another encoding":      {`<?xml version="1.0" encoding="UTF-16"?>` + statusStart + statusEnd, `its encoding "UTF-16" is not the one`},
		"no UTF-8":              {statusStart + "<A>\xff</A>" + statusEnd, "invalid UTF-8"},
		"deep elements":         {statusStart + strings.Repeat("<A>", 100), "more than 64 nested elements"},
		"deep skipped elements": {statusStart + "<SplmtryData>" + strings.Repeat("<A>", 100), "more than 64 nested elements"},
		"a long text":           {statusStart + "<A>" + strings.Repeat("A", 2<<20), "a text or tag has more than 1048576 bytes"},
		"a long tag":            {statusStart + "<A " + strings.Repeat("a='b' ", 1<<20), "a text or tag has more than 1048576 bytes"},
		"a long comment":        {statusStart + "<!-- " + strings.Repeat("A", 2<<20), "a text or tag has more than 1048576 bytes"},
	} {
		statuses, err := readStatuses([]byte(c.file))
		var file *textfile.Error
		if !errors.As(err, &file) || !strings.Contains(err.Error(), c.want) || file.Line < 1 {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if len(statuses) > 0 {
			t.Errorf("%s: %+v", name, statuses)
		}
	}
}

func TestReadReports_MalformedFiles(t *testing.T) {
	t.Parallel()
	// Amounts, directions and dates that are missing or ambiguous are refused with the line: money is never guessed.
	balance := func(parts string) string {
		return "\n<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp>" + parts + "</Bal>"
	}
	for name, c := range map[string]struct{ file, want string }{
		"a report of the day": {`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.08"><BkToCstmrAcctRpt/></Document>`,
			"it is a message camt.052, not camt.053 or camt.054"},
		"version 1": {`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.01"><BkToCstmrStmt/></Document>`,
			"version 01, which is not supported"},
		"no amount":              {newEntry("", credit, ""), `line 2: an entry: its currency "" is unknown`},
		"no currency":            {newEntry("<Amt>1</Amt>", credit, ""), `its currency "" is unknown`},
		"an unknown currency":    {newEntry(`<Amt Ccy="EURO">1</Amt>`, credit, ""), `its currency "EURO" is unknown`},
		"a sign":                 {newEntry(`<Amt Ccy="EUR">-1</Amt>`, credit, ""), `its amount "-1" is not a number without a sign`},
		"an exponent":            {newEntry(`<Amt Ccy="EUR">1e9</Amt>`, credit, ""), `its amount "1e9" is not a number`},
		"a comma":                {newEntry(`<Amt Ccy="EUR">1,00</Amt>`, credit, ""), `its amount "1,00" is not a number`},
		"two points":             {newEntry(`<Amt Ccy="EUR">1.0.0</Amt>`, credit, ""), `its amount "1.0.0" is not a number`},
		"no digits":              {newEntry(`<Amt Ccy="EUR">.</Amt>`, credit, ""), `its amount "." is not a number`},
		"a part of a cent":       {newEntry(`<Amt Ccy="EUR">1.001</Amt>`, credit, ""), `its amount "1.001" has more than the 2 decimals of EUR`},
		"more than there is":     {newEntry(`<Amt Ccy="EUR">99999999999999999999</Amt>`, credit, ""), "is too large"},
		"no direction":           {newEntry(oneEuro, "", ""), "line 2: an entry is neither CRDT nor DBIT"},
		"an unknown direction":   {newEntry(oneEuro, `<CdtDbtInd>C</CdtDbtInd>`, ""), "neither CRDT nor DBIT"},
		"an impossible date":     {newEntry(oneEuro, credit, `<BookgDt><Dt>2026-02-30</Dt></BookgDt>`), `line 2: "2026-02-30" is not a date`},
		"an impossible value":    {newEntry(oneEuro, credit, `<ValDt><Dt>10.03.2026</Dt></ValDt>`), `"10.03.2026" is not a date`},
		"a balance without side": {balance(oneEuro + `<Dt><Dt>2026-03-10</Dt></Dt>`), "line 2: the balance CLBD is neither CRDT nor DBIT"},
		"a balance without date": {balance(oneEuro + credit), "line 2: the balance CLBD has no date"},
		"a balance in no amount": {balance(credit + `<Dt><Dt>2026-03-10</Dt></Dt>`), `the balance CLBD: its currency "" is unknown`},
		"too many payments": {"\n<Ntry><NtryDtls>" + strings.Repeat("<TxDtls/>", 200_001) + "</NtryDtls></Ntry>",
			"an entry has more than 200000 payments"},
	} {
		file := c.file
		if !strings.HasPrefix(file, "<Document") {
			file = reportStart + file + reportEnd
		}
		items, err := readReports([]byte(file))
		var wrong *textfile.Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		for _, item := range items {
			if item.Report == nil {
				t.Errorf("%s: %+v", name, item)
			}
		}
	}
}

func TestReadReports_AmountsOfPayments(t *testing.T) {
	t.Parallel()
	// An entry is divided into its payments only if their amounts are known exactly, in the same currency and direction.
	payments := func(texts ...string) string {
		return newEntry(`<Amt Ccy="EUR">10.00</Amt>`, credit, "<NtryDtls><TxDtls>"+strings.Join(texts, "</TxDtls><TxDtls>")+
			"</TxDtls></NtryDtls>")
	}
	for name, c := range map[string]struct {
		entry     string
		amounts   []int64
		undivided int
	}{
		"both amounts":      {payments(`<Amt Ccy="EUR">4</Amt>`, `<Amt Ccy="EUR">6.00</Amt>`), []int64{400, 600}, 0},
		"one amount":        {payments(`<Amt Ccy="EUR">4</Amt>`, ``), []int64{1000}, 2},
		"another sum":       {payments(`<Amt Ccy="EUR">4</Amt>`, `<Amt Ccy="EUR">5</Amt>`), []int64{1000}, 2},
		"another currency":  {payments(`<Amt Ccy="EUR">4</Amt>`, `<Amt Ccy="USD">6</Amt>`), []int64{1000}, 2},
		"another direction": {payments(`<Amt Ccy="EUR">4</Amt>`, `<Amt Ccy="EUR">6</Amt><CdtDbtInd>DBIT</CdtDbtInd>`), []int64{1000}, 2},
		"a single payment":  {payments(`<Amt Ccy="EUR">9.00</Amt>`), []int64{1000}, 0},
		"a batch of one": {newEntry(`<Amt Ccy="EUR">10.00</Amt>`, credit, "<NtryDtls><Btch><NbOfTxs>1</NbOfTxs></Btch></NtryDtls>"),
			[]int64{1000}, 0},
		"a batch of seven": {newEntry(`<Amt Ccy="EUR">10.00</Amt>`, credit, "<NtryDtls><Btch><NbOfTxs>7</NbOfTxs></Btch></NtryDtls>"),
			[]int64{1000}, 7},
		"no payment at all": {newEntry(`<Amt Ccy="EUR">10.00</Amt>`, credit, ""), []int64{1000}, 0},
		"a sum out of range": {payments(`<Amt Ccy="EUR">92233720368547758.07</Amt>`, `<Amt Ccy="EUR">92233720368547758.07</Amt>`,
			`<Amt Ccy="EUR">10.02</Amt>`), []int64{1000}, 3},
	} {
		items, err := readReports([]byte(reportStart + c.entry + reportEnd))
		if err != nil || len(items) != 2 {
			t.Fatalf("%s: %v, %d items", name, err, len(items))
		}
		entry := items[1].Entry
		var amounts []int64
		for _, p := range entry.Payments {
			amounts = append(amounts, p.Amount.Minor)
		}
		if len(amounts) != len(c.amounts) || amounts[0] != c.amounts[0] || entry.Undivided != c.undivided {
			t.Errorf("%s: %v undivided %d, want %v undivided %d", name, amounts, entry.Undivided, c.amounts, c.undivided)
		}
	}
}

func TestReadReports_IdsOfPayments(t *testing.T) {
	t.Parallel()
	// A payment has the same id in every file that reports it, whatever the ids of the file; two payments that the bank
	// describes alike have two.
	one := newEntry(
		oneEuro, credit, `<BookgDt><Dt>2026-03-10</Dt></BookgDt><NtryDtls><TxDtls><RmtInf><Ustrd>REF 1</Ustrd></RmtInf></TxDtls></NtryDtls>`)
	two := strings.Replace(one, "REF 1", "REF 2", 1)
	other := strings.Replace(one, "2026-03-10", "2026-03-11", 1)
	ids := func(start string, entries ...string) (ids []string) {
		items, err := readReports([]byte(start + strings.Join(entries, "") + reportEnd))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			if item.Entry != nil {
				ids = append(ids, item.Entry.Payments[0].PartnerID)
			}
		}
		return ids
	}

	first := ids(reportStart, one, two, one, other)
	second := ids(strings.Replace(reportStart, "<Id>S</Id>", "<Id>ANOTHER</Id><CreDtTm>2026-03-12T00:00:00Z</CreDtTm>", 1),
		two, one, other, one)

	if first[0] != second[1] || first[1] != second[0] || first[2] != second[3] || first[3] != second[2] {
		t.Errorf("\n%v\n%v", first, second)
	}
	seen := map[string]bool{}
	for _, id := range first {
		if seen[id] || !strings.HasPrefix(id, "sha256:") {
			t.Errorf("the id %s in %v", id, first)
		}
		seen[id] = true
	}
	for name, c := range map[string]struct{ details, want string }{
		"the reference of the entry": {`<AcctSvcrRef>E</AcctSvcrRef><NtryDtls><TxDtls><Refs><UETR>U</UETR></Refs></TxDtls></NtryDtls>`, "E"},
		"the reference of the payment": {
			`<AcctSvcrRef>E</AcctSvcrRef><NtryDtls><TxDtls><Refs><AcctSvcrRef>P</AcctSvcrRef></Refs></TxDtls></NtryDtls>`, "P"},
		"the UETR": {
			`<AcctSvcrRef>NONREF</AcctSvcrRef><NtryDtls><TxDtls><Refs><UETR>U</UETR><ClrSysRef>C</ClrSysRef></Refs></TxDtls></NtryDtls>`, "U"},
		"the clearing": {`<NtryDtls><TxDtls><Refs><ClrSysRef>C</ClrSysRef></Refs></TxDtls></NtryDtls>`, "C"},
	} {
		if got := ids(reportStart, newEntry(oneEuro, credit, c.details)); got[0] != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestRead_LongTextsAndLists(t *testing.T) {
	t.Parallel()
	// What a bank repeats without end is cut, and memory with it.
	file := reportStart + newEntry(oneEuro, credit, `<AddtlNtryInf>`+strings.Repeat("ä", 5000)+`</AddtlNtryInf><NtryDtls><TxDtls><RmtInf>`+
		strings.Repeat(`<Ustrd>`+strings.Repeat("A", 140)+`</Ustrd><Strd><RfrdDocInf><Nb>1</Nb></RfrdDocInf></Strd>`, 1000)+`</RmtInf><Chrgs>`+
		strings.Repeat(`<Rcrd>`+oneEuro+`</Rcrd>`, 1000)+`</Chrgs></TxDtls></NtryDtls>`) + reportEnd
	items, err := readReports([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	entry := items[1].Entry
	if p := entry.Payments[0]; len(p.Remittance) > 4500 || len(p.Documents) != 20 || len(p.Charges) != 50 ||
		entry.Text != strings.Repeat("ä", 2048) {
		t.Errorf("%d bytes, %d documents, %d charges, %d bytes of text", len(p.Remittance), len(p.Documents), len(p.Charges), len(entry.Text))
	}
	statuses, err := readStatuses([]byte(statusStart + `<OrgnlGrpInfAndSts>` +
		strings.Repeat(`<StsRsnInf><Rsn><Cd>AC01</Cd></Rsn></StsRsnInf>`, 100) + `</OrgnlGrpInfAndSts>` + statusEnd))
	if err != nil || len(statuses) != 1 || len(statuses[0].Reasons) != 20 {
		t.Errorf("%v %+v", err, statuses)
	}
}

func TestRead_ErrorOfSource(t *testing.T) {
	t.Parallel()
	// A file that cannot be read is not taken for a wrong one.
	gone := errors.New("the disk is gone")
	err := iso20022.ReadStatuses(io.MultiReader(strings.NewReader(statusStart), failing{gone}), func(iso20022.Status) error { return nil })
	var file *textfile.Error
	if !errors.Is(err, gone) || errors.As(err, &file) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func FuzzReadStatuses(f *testing.F) {
	for _, name := range []string{"status.xml", "status.03.xml", "notification.xml"} {
		f.Add(readFixture(f, name))
	}
	f.Add([]byte("\xff\xfe" + wide(statusStart+statusEnd)))
	f.Fuzz(func(t *testing.T, file []byte) {
		// No file stops the program, and two readings of it are the same.
		first, err := readStatuses(file)
		second, again := readStatuses(file)
		if len(first) != len(second) || (err == nil) != (again == nil) {
			t.Errorf("%v %v", err, again)
		}
	})
}

func FuzzReadReports(f *testing.F) {
	for _, name := range []string{"notification.xml", "notification.02.xml", "notification.04.xml", "statement.xml"} {
		f.Add(readFixture(f, name))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		// No file stops the program. The payments of every entry add up to it, and have an id.
		items, _ := readReports(file)
		for _, item := range items {
			if item.Entry == nil {
				continue
			}
			sum := int64(0)
			for _, p := range item.Entry.Payments {
				sum += p.Amount.Minor
				if p.PartnerID == "" || p.Amount.Currency != item.Entry.Amount.Currency || p.Amount.Minor < 0 {
					t.Errorf("%+v", p)
				}
			}
			if sum != item.Entry.Amount.Minor {
				t.Errorf("payments of %d in an entry of %d", sum, item.Entry.Amount.Minor)
			}
		}
	})
}

// The files of the benchmarks report on 100,000 payments.
func BenchmarkReadStatuses(b *testing.B) {
	var file bytes.Buffer
	file.WriteString(
		statusStart + `<OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>B</OrgnlPmtInfId>`)
	for i := range 100_000 {
		file.WriteString(`<TxInfAndSts><OrgnlInstrId>I` + strconv.Itoa(i) +
			`</OrgnlInstrId><OrgnlEndToEndId>0193F4A0C0DE7000800000000000000A</OrgnlEndToEndId><TxSts>ACSC</TxSts><StsRsnInf><Rsn><Cd>NARR</Cd></Rsn></StsRsnInf></TxInfAndSts>` + "\n")
	}
	file.WriteString("</OrgnlPmtInfAndSts>" + statusEnd)
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		count := 0
		if err := iso20022.ReadStatuses(bytes.NewReader(file.Bytes()), func(iso20022.Status) error { count++; return nil }); err != nil ||
			count != 100_000 {
			b.Fatal(err, count)
		}
	}
}

func BenchmarkReadReports(b *testing.B) {
	text := string(readFixture(b, "notification.xml"))
	start, end := strings.Index(text, "<Ntry>"), strings.Index(text, "</Ntry>")+len("</Ntry>")
	var file bytes.Buffer
	file.WriteString(text[:start])
	for range 100_000 {
		file.WriteString(text[start:end])
	}
	file.WriteString(text[end:])
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		count := 0
		if err := iso20022.ReadReports(bytes.NewReader(file.Bytes()),
			iso20022.Visitor{Entry: func(iso20022.Report, iso20022.Entry) error { count++; return nil }}); err != nil || count != 100_003 {
			b.Fatal(err, count)
		}
	}
}
