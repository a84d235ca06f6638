package statements_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"causeway/core/fault"
	"causeway/core/formats/statements"
	"causeway/core/money"
	"causeway/core/reconcile"
)

// newStmt returns a Stmt element of an account, with balances and entries.
func newStmt(id, iban, currency string, parts ...string) string {
	return `<Stmt><Id>` + id + `</Id><Acct><Id><IBAN>` + iban + `</IBAN></Id><Ccy>` + currency + `</Ccy></Acct>` +
		strings.Join(parts, "") + `</Stmt>`
}

func newBal(kind, day, amount, more string) string {
	return `<Bal><Tp><CdOrPrtry><Cd>` + kind + `</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">` + amount + `</Amt>` + more + `<Dt><Dt>` +
		day + `</Dt></Dt></Bal>`
}

const (
	credit = "<CdtDbtInd>CRDT</CdtDbtInd>"
	debit  = "<CdtDbtInd>DBIT</CdtDbtInd>"
)

func newEntry(day, amount, side string) string {
	return `<Ntry><Amt Ccy="EUR">` + amount + `</Amt>` + side + `<Sts>BOOK</Sts><BookgDt><Dt>` + day + `</Dt></BookgDt></Ntry>`
}

func newMessage(namespace string, stmts ...string) string {
	return `<Document` + namespace + `><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId><CreDtTm>2026-03-14T06:00:00.000</CreDtTm></GrpHdr>` +
		strings.Join(stmts, "\n") + `</BkToCstmrStmt></Document>`
}

const isoNamespace = ` xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"`

// readAll reads a file that may have several accounts and writes down what it found.
func readAll(format reconcile.Format, text string, acceptsMismatch bool) (string, error) {
	statements, err := statements.Read(strings.NewReader(text), statements.Options{Format: format, AcceptsMismatch: acceptsMismatch})
	var all strings.Builder
	for _, s := range statements {
		all.WriteString(string(s.Currency) + " " + formatStatement(s))
		for _, m := range s.Mismatches {
			all.WriteString(m + "\n")
		}
	}
	return all.String(), err
}

// readAccounts reads a CSV file whose lines say their account. currency is that of lines without one.
func readAccounts(layout, currency, text string) (string, error) {
	parsed, err := reconcile.ParseLayout(layout)
	if err != nil {
		return "", err
	}
	statements, err := statements.Read(strings.NewReader(text), statements.Options{Format: reconcile.CSV, Layout: parsed,
		CommonCurrency: money.Currency(currency)})
	var all strings.Builder
	for _, s := range statements {
		all.WriteString(string(s.Currency) + " " + formatStatement(s))
	}
	return all.String(), err
}

func TestRead_CSVWithAccounts(t *testing.T) {
	t.Parallel()
	// Each line is of the account that it names, in its currency or the common one; the balances of each
	// account lead from line to line; a file for one account may name only that one.
	const file = "Preamble\nD,Konto,A,B,C\n2026-03-10,111,1,11,USD\n2026-03-10,222,5,5,EUR\n2026-03-11,111,-2,9,USD\nTotal\n2026-03-11, 222 " +
		",0,5,EUR\n"
	got, err := readAccounts("date=D;account=Konto;amount=A;balance=B;currency=C;ignore=Total", "", file)
	want := "USD  111 .. 1000→900 ignored 1\n2026-03-10 2026-03-10 100  [] \"\" false\n2026-03-11 2026-03-11 -200  [] \"\" false\n" +
		"EUR  222 .. 0→500 ignored 1\n2026-03-10 2026-03-10 500  [] \"\" false\n"
	if err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	common, err := readAccounts("date=D;account=Konto;amount=A;ignore=Total", "USD", strings.ReplaceAll(file, "EUR", "GBP"))
	if err != nil || strings.Count(common, "USD ") != 2 {
		t.Errorf("one currency: %v\n%s", err, common)
	}
	for _, c := range []struct{ name, layout, file, want string }{
		{"no account", "date=D;account=K;amount=A", "D,K,A\n2026-03-10,,1\n", "line 2, column 2 (K): has no account"},
		{"a total", "date=D;account=K;amount=A", "D,K,A\n2026-03-10,1,1\nTotal,,1\n", "line 3, column 2 (K): has no account; if it is no " +
			"movement, name its beginning in map, as ignore=Total"},
		{"no movements", "date=D;account=K;amount=A", "D,K,A\n", "has no movements, and only they say the account"},
		{"another currency", "date=D;account=K;amount=A;currency=C", "D,K,A,C\n2026-03-10,1,1,EUR\n",
			`line 2, column 4 (C): is in "EUR", and the request says USD`},
		{"a missing line of one account", "date=D;account=K;amount=A;balance=B",
			"D,K,A,B\n2026-03-10,1,1,11\n2026-03-10,2,5,5\n2026-03-10,2,5,11\n2026-03-10,2,1,3\n",
			"line 4, column 4 (B): the amounts do not lead from the balance"},
	} {
		if got, err := readAccounts(c.layout, "USD", c.file); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v %s\nwant %s", c.name, err, got, c.want)
		}
	}
	if _, err := readAccounts("date=D;account=K;amount=A;currency=C", "", "D,K,A,C\n2026-03-10,1,1,XQQ\n"); err == nil ||
		!strings.Contains(err.Error(), `the account 1 is in "XQQ", which is not a currency of this service`) {
		t.Errorf("an unknown currency: %v", err)
	}
	if _, err := read(reconcile.CSV, "date=D;account=Konto;amount=A;ignore=Total", file); err == nil ||
		!strings.Contains(err.Error(), "has statements of two accounts, 111 and 222") {
		t.Errorf("for one account: %v", err)
	}
	if s, err := read(reconcile.CSV, "date=D;account=K;amount=A", "D,K,A\n2026-03-10,111,1\n"); err != nil || s.PartnerAccount != "111" {
		t.Errorf("for the account 111: %v, %q", err, s.PartnerAccount)
	}
}

const bai2Accounts = "01,BANK,US,260314,0600,77,,,2/\n02,US,BANK,1,260313,,,2/\n03,111,,010,-100,,,015,+400,,/\n16,165,500,Z,R1,/\n49,800,3/\n" +
	"03,222,EUR,040,,,,045,+000000,,/\n16,475,250,Z,R2,,A/B/C\n49,250,3/\n98,1050,2,8/\n" +
	"02,US,BANK,3,260314,2400,,2/\n03,111,USD,010,400,,,015,400,,/\n49,800,2/\n98,800,1,4/\n99,1850,2,14/\n\x1a"

func TestRead_SeveralAccounts(t *testing.T) {
	t.Parallel()
	// Each account of a file is a statement of its own, in its own currency.
	stmts := []string{
		newStmt("A1", "DE1", "EUR", newBal("OPBD", "2026-03-10", "1.00", credit), newBal("CLBD", "2026-03-10", "3.00", credit),
			newEntry("2026-03-10", "2.00", credit)),
		newStmt("B1", "DE2", "EUR", newEntry("2026-03-10", "7.00", debit)),
		newStmt("A2", "DE1", "EUR", newBal("PRCD", "2026-03-10", "3.00", credit), newBal("CLBD", "2026-03-11", "2.50", credit),
			newEntry("2026-03-11", "0.50", debit)),
	}
	const want = `EUR A1+A2 DE1 2026-03-10..2026-03-11 100→250 ignored 0
2026-03-10 2026-03-10 200  [] "" false
2026-03-11 2026-03-11 -50  [] "" false
EUR B1 DE2 .. -→- ignored 0
2026-03-10 2026-03-10 -700  [] "" false
`
	header := `<AppHdr xmlns="urn:iso:std:iso:20022:tech:xsd:head.001.001.02"><BizMsgIdr>B</BizMsgIdr><CreDt>2026-03-14T06:00:00Z</CreDt></AppHdr>`
	iso := func(version string) string { return strings.Replace(isoNamespace, "001.02", "001."+version, 1) }
	for name, file := range map[string]string{
		"version 2":                 newMessage(iso("02"), stmts...),
		"version 13":                newMessage(iso("13"), stmts...),
		"no namespace":              newMessage("", stmts...),
		"the namespace of a scheme": newMessage(` xmlns="ISO:camt.053.001.02:APC:STUZZA:payments:003"`, stmts...),
		"the namespace of SWIFT":    newMessage(` xmlns="urn:swift:xsd:camt.053.001.02"`, stmts...),
		"a namespace of its own":    newMessage(` xmlns="https://bank.example/statements"`, stmts...),
		"a business header": `<?xml version="1.0"?><BizMsgEnvlp xmlns="urn:bank">` + header + newMessage(iso("08"), stmts...) +
			`</BizMsgEnvlp>`,
		"several messages": `<Package>` + header + newMessage(iso("08"), stmts[0]) + header + newMessage(iso("04"), stmts[1:]...) +
			`</Package>`,
		"statements in another order":  newMessage("", stmts[0], stmts[2], stmts[1]),
		"without the element Document": `<BkToCstmrStmt>` + strings.Join(stmts, "") + `</BkToCstmrStmt>`,
	} {
		if got, err := readAll(reconcile.CAMT053, file, false); err != nil || got != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
	got, err := readAll(reconcile.BAI2, bai2Accounts, false)
	if want := `USD 260314-77 111 2026-03-13..2026-03-14 -100→400 ignored 0
2026-03-13 2026-03-13 500 R1 [] "" false
EUR 260314-77 222 2026-03-13..2026-03-13 -→- ignored 0
2026-03-13 2026-03-13 -250 R2 [] "A/B/C" false
`; err != nil || got != want {
		t.Errorf("BAI2: %v\n got %s\nwant %s", err, got, want)
	}
}

func TestRead_Balances(t *testing.T) {
	t.Parallel()
	// A balance has the direction that CdtDbtInd, its sign or the lines say, and zeros after the
	// minor unit.
	for _, c := range []struct{ name, opening, closing, want string }{
		{"zeros", newBal("OPBD", "2026-03-10", "1.000", credit), newBal("CLBD", "2026-03-10", "3.00000", credit), "100→300"},
		{"signs", newBal("OPBD", "2026-03-10", "-1.00", ""), newBal("CLBD", "2026-03-10", "+1.00", ""), "-100→100"},
		{"a sign and the direction", newBal("OPBD", "2026-03-10", "-1.00", debit), newBal("CLBD", "2026-03-10", "1.00", credit), "-100→100"},
		{"nothing at the beginning", newBal("OPBD", "2026-03-10", "0.00", ""), newBal("CLBD", "2026-03-10", "2.00", credit), "0→200"},
		{"the lines say it", newBal("OPBD", "2026-03-10", "5.00", ""), newBal("CLBD", "2026-03-10", "3.00", ""), "-500→-300"},
		{"the lines say it of one", newBal("PRCD", "2026-03-10", "5.00", ""), newBal("CLBD", "2026-03-10", "7.00", credit), "500→700"},
		{"others are not read", newBal("OPBD", "2026-03-10", "1.00", credit) + newBal("CLAV", "2026-03-10", "x", ""),
			newBal("CLBD", "2026-03-10", "3.00", credit), "100→300"},
	} {
		got, err := readAll(reconcile.CAMT053, newMessage("", newStmt("A", "DE1", "EUR", c.opening, c.closing,
			newEntry("2026-03-10", "2.0000", credit))), false)
		if err != nil || !strings.Contains(got, " "+c.want+" ") {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestRead_PagesOfStatement(t *testing.T) {
	t.Parallel()
	// Pages of a statement are one, whether the bank repeats the balances on each or not.
	page := func(number, balances, entry string) string {
		return newStmt("A", "DE1", "EUR", "<StmtPgntn><PgNb>"+number+"</PgNb></StmtPgntn>", balances, entry)
	}
	opening, closing := newBal("OPBD", "2026-03-10", "1.00", credit), newBal("CLBD", "2026-03-10", "4.00", credit)
	first, second := newEntry("2026-03-10", "2.00", credit), newEntry("2026-03-10", "1.00", credit)
	for name, file := range map[string]string{
		"repeated": newMessage("", page("1", opening+closing, first), page("2", opening+closing, second)),
		"once":     newMessage("", page("1", opening, first), page("2", closing, second)),
	} {
		if got, err := readAll(reconcile.CAMT053, file, false); err != nil || !strings.Contains(got, " 100→400 ") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	_, err := readAll(reconcile.CAMT053, newMessage("", page("1", opening+closing, first)), false)
	if err == nil || !strings.Contains(err.Error(), `the lines of the statement "A" of account "DE1" add up to 2.00 EUR`) {
		t.Errorf("a page alone: %v", err)
	}
}

func TestRead_Encodings(t *testing.T) {
	t.Parallel()
	// A text is the same in whatever encoding the bank declares.
	declared := func(name string) string {
		return `<?xml version="1.0" encoding="` + name + `"?>` + newMessage(isoNamespace,
			newStmt("A", "DE1", "EUR", newEntry("2026-03-10", "1.00", credit+"<AddtlNtryInf>Müller 5 €</AddtlNtryInf>")))
	}
	wide := func(text string, high, low int, mark bool) string {
		var b []byte
		if mark {
			text = "\ufeff" + text
		}
		for _, unit := range utf16.Encode([]rune(text)) {
			b = append(b, byte(unit>>high), byte(unit>>low))
		}
		return string(b)
	}
	narrow := func(name string, m *charmap.Charmap) string {
		text, err := m.NewEncoder().String(declared(name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, file := range map[string]string{
		"UTF-8":                        declared("UTF-8"),
		"windows-1252":                 narrow("windows-1252", charmap.Windows1252),
		"ISO-8859-15":                  narrow("ISO-8859-15", charmap.ISO8859_15),
		"UTF-16, little-endian":        wide(declared("UTF-16"), 0, 8, true),
		"UTF-16, big-endian":           wide(declared("utf-16"), 8, 0, true),
		"UTF-16 without a mark":        wide(declared("UTF-16LE"), 0, 8, false),
		"UTF-16 that says it is UTF-8": wide(declared("UTF-8"), 0, 8, true),
	} {
		if got, err := readAll(reconcile.CAMT053, file, false); err != nil || !strings.Contains(got, `"Müller 5 €"`) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	for name, file := range map[string]string{"UTF-16": wide(bai2Accounts, 0, 8, true), "UTF-8 with a mark": "\ufeff" + bai2Accounts} {
		if got, err := readAll(reconcile.BAI2, file, false); err != nil || !strings.Contains(got, "R1") {
			t.Errorf("BAI2 in %s: %v\n%s", name, err, got)
		}
	}
	if _, err := readAll(reconcile.CAMT053, declared("EBCDIC"), false); err == nil ||
		!strings.Contains(err.Error(), `the encoding "EBCDIC" is not supported`) {
		t.Errorf("EBCDIC: %v", err)
	}
}

func TestRead_RefusedByName(t *testing.T) {
	t.Parallel()
	// What cannot be a whole statement is refused with a sentence that says what it is.
	a1 := newStmt("A1", "DE1", "EUR", newBal("OPBD", "2026-03-10", "1.00", credit), newBal("CLBD", "2026-03-10", "3.00", credit),
		newEntry("2026-03-10", "2.00", credit))
	later := func(opening, closing string) string {
		return newStmt("A2", "DE1", "EUR", newBal("OPBD", "2026-03-12", opening, credit), newBal("CLBD", "2026-03-12", closing, credit),
			newEntry("2026-03-12", "2.00", credit))
	}
	other := func(element, message string) string {
		return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:` + message + `"><` + element + `/></Document>`
	}
	unclear := newStmt("A", "DE1", "EUR", newBal("OPBD", "2026-03-10", "1.00", ""), newBal("CLBD", "2026-03-10", "2.00", ""))
	for _, c := range []struct {
		name   string
		format reconcile.Format
		file   string
		want   string
	}{
		{"camt.052", reconcile.CAMT053, other("BkToCstmrAcctRpt", "camt.052.001.08"), "it is a camt.052 report of a day that is not closed"},
		{"camt.054", reconcile.CAMT053, other("BkToCstmrDbtCdtNtfctn", "camt.054.001.04"), "it is a camt.054 notification of single entries"},
		{"camt.052 without a namespace", reconcile.CAMT053, "<Document><BkToCstmrAcctRpt/></Document>", "it is a camt.052 report"},
		{"a payment order", reconcile.CAMT053, other("CstmrCdtTrfInitn", "pain.001.001.03"),
			`it is "Document" in the namespace "urn:iso:std:iso:20022:tech:xsd:pain.001.001.03"`},
		{"another document", reconcile.CAMT053, `<html/>`, `it is "html" in the namespace "", without the element BkToCstmrStmt`},
		{"version 1", reconcile.CAMT053, other("BkToCstmrStmt", "camt.053.001.01"), "version 1, which is not supported"},
		{"a missing day", reconcile.CAMT053, newMessage("", a1, later("4.00", "6.00")),
			`the statement "A1" of account "DE1" closes with 3.00 EUR, and the statement "A2" of account "DE1" after it opens with 4.00 EUR`},
		{"a statement twice", reconcile.CAMT053, newMessage("", a1, a1), `has the statement "A1" of account "DE1" twice`},
		{"no direction", reconcile.CAMT053, newMessage("", unclear), "the balance OPBD of the statement \"A\" has no CdtDbtInd"},
		{"a sign against the direction", reconcile.CAMT053, newMessage("", strings.Replace(a1, "1.00", "-1.00", 1)),
			"has a sign that its CdtDbtInd CRDT contradicts"},
		{"an odd direction", reconcile.CAMT053, newMessage("", strings.Replace(a1, "CRDT", "CREDIT", 1)),
			"the balance OPBD is neither CRDT nor DBIT"},
		{"decimals that are no zeros", reconcile.CAMT053, newMessage("", strings.Replace(a1, "2.00", "2.0010", 1)),
			`"2.0010" has 3 decimals, and EUR has 2`},
		{"no currency", reconcile.CAMT053, newMessage("", `<Stmt><Id>A</Id></Stmt>`), `has the statement "A", which does not say its currency`},
		{"an unknown currency", reconcile.CAMT053, newMessage("", newStmt("A", "DE1", "XXX")), `the account DE1 is in "XXX"`},
		{"BAI2: an account twice", reconcile.BAI2,
			"01,BANK,US,260314,0600,77,,,2/\n02,US,BANK,1,260313,,,2/\n03,111,/\n16,165,500,Z,R1,/\n49,500,3/\n03,111,/\n16,165,500,Z,R1,/\n49,500,3/\n98,1000,2,8/\n99,1000,1,10/\n", "of account \"111\" on 2026-03-13 twice"},
		{"BAI2: a deletion", reconcile.BAI2, strings.Replace(bai2Accounts, "BANK,1,260313", "BANK,2,260313", 1),
			"line 2: the group deletes an earlier one (status 2)"},
		{"BAI2: a test", reconcile.BAI2, strings.Replace(bai2Accounts, "BANK,3,260314", "BANK,4,260314", 1), "the group is a test (status 4)"},
		{"BAI2: a missing day", reconcile.BAI2,
			strings.Replace(strings.Replace(bai2Accounts, "03,111,USD,010,400,,,015,400", "03,111,USD,010,300,,,015,300", 1),
				"49,800,2/\n98,800,1,4/\n99,1850", "49,600,2/\n98,600,1,4/\n99,1650", 1), "a statement between them is missing"},
	} {
		if got, err := readAll(c.format, c.file, false); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestRead_AcceptedMismatch(t *testing.T) {
	t.Parallel()
	// If a person accepts it, a file whose balances do not fit is read, and says what does not fit.
	file := newMessage("",
		newStmt("A1", "DE1", "EUR", newBal("OPBD", "2026-03-10", "1.00", credit), newBal("CLBD", "2026-03-10", "4.00", credit),
			newEntry("2026-03-10", "2.00", credit)),
		newStmt("A2", "DE1", "EUR", newBal("OPBD", "2026-03-11", "5.00", credit), newBal("CLBD", "2026-03-11", "5.00", credit)))
	got, err := readAll(reconcile.CAMT053, file, true)
	want := `EUR A1+A2 DE1 2026-03-10..2026-03-11 100→500 ignored 0
2026-03-10 2026-03-10 200  [] "" false
The file is not complete: the lines of the statement "A1" of account "DE1" add up to 2.00 EUR, but its opening balance is 1.00 EUR and its closing balance 4.00 EUR.
The file is not complete: the statement "A1" of account "DE1" closes with 4.00 EUR, and the statement "A2" of account "DE1" after it opens with 5.00 EUR; a statement between them is missing.
`
	if err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

func FuzzRead_SeveralAccounts(f *testing.F) {
	// Any bytes are read as statements of different accounts or refused.
	f.Add(string(reconcile.CAMT053), newMessage(isoNamespace, newStmt("A1", "DE1", "EUR", newBal("OPBD", "2026-03-10", "1.00", ""),
		newEntry("2026-03-10", "2.00", credit)), newStmt("B1", "DE2", "USD")))
	f.Add(string(reconcile.BAI2), bai2Accounts)
	f.Fuzz(func(t *testing.T, format, file string) {
		statements, err := statements.Read(strings.NewReader(file), statements.Options{Format: reconcile.Format(format), AcceptsMismatch: true})
		seen := map[string]bool{}
		for _, s := range statements {
			if key := fmt.Sprint(s.Currency, s.PartnerAccount); seen[key] || s.Currency == "" {
				t.Fatalf("%s twice, or without a currency", key)
			} else {
				seen[key] = true
			}
			checkInvariants(t, s, nil)
		}
		checkInvariants(t, reconcile.Statement{}, err)
	})
}
