package statements_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"causeway/core/fault"
	"causeway/core/formats/statements"
	"causeway/core/reconcile"
)

// formatStatement writes what was read down, one line a line of the statement.
func formatStatement(s reconcile.Statement) string {
	var text strings.Builder
	balance := func(b *int64) string {
		if b == nil {
			return "-"
		}
		return fmt.Sprint(*b)
	}
	fmt.Fprintf(&text, "%s %s %s..%s %s→%s ignored %d\n", strings.Join(s.Statements, "+"), s.PartnerAccount, s.From, s.To, balance(s.Opening),
		balance(s.Closing), s.Ignored)
	for _, l := range s.Lines {
		fmt.Fprintf(&text, "%s %s %d %s %v %q %v\n", l.Booked, l.Value, l.Amount, l.ServicerReference, l.References, l.Description, l.Returned)
	}
	return text.String()
}

const camtHeader = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08" xmlns:x="urn:other"><BkToCstmrStmt>
<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-03-14T06:00:00+01:00</CreDtTm></GrpHdr>
<Stmt><Id>S-1</Id><FrToDt><FrDtTm>2026-03-09T00:00:00</FrDtTm><ToDtTm>2026-03-13T23:59:59</ToDtTm></FrToDt>
<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>USD</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="USD">100.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-09</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="USD">%s</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-03-13</Dt></Dt></Bal>
`
const camtFooter = `</Stmt></BkToCstmrStmt></Document>`

func newCamt(closing string, entries ...string) string {
	return fmt.Sprintf(camtHeader, closing) + strings.Join(entries, "\n") + camtFooter
}

func newNtry(amount, side, more string) string {
	return `<Ntry><Amt Ccy="USD">` + amount + `</Amt><CdtDbtInd>` + side +
		`</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-03-10</Dt></BookgDt>` + more + `</Ntry>`
}

// read reads a file of one account in USD.
func read(format reconcile.Format, layout, text string) (reconcile.Statement, error) {
	options := statements.Options{Format: format, Currency: "USD"}
	if layout != "" {
		var err error
		if options.Layout, err = reconcile.ParseLayout(layout); err != nil {
			return reconcile.Statement{}, err
		}
	}
	statements, err := statements.Read(strings.NewReader(text), options)
	if err != nil {
		return reconcile.Statement{}, err
	}
	if len(statements) != 1 {
		return reconcile.Statement{}, fmt.Errorf("%d statements", len(statements))
	}
	return statements[0], nil
}

const csvLayout = "date=Date;amount=Amount;id=Bank id;reference=Ref;description=Text;currency=Cur"

const bai2File = "01,BANK,US,260314,0600,77,,,2/\n02,US,BANK,1,260313,,USD,2/\n03,123456,,010,10000,,,015,19500,,/\n" +
	"16,165,10000,V,260312,,BANKREF1,4T9K2M7PXQ3A,PAYMENT, WITH COMMAS\n88,AND " +
	"MORE\n16,475,500,Z,BANKREF2,CHECK17/\n49,40000,5/\n98,40000,1,7/\n99,40000,1,9/\n"

func TestRead(t *testing.T) {
	t.Parallel()
	// What a partner writes is read to the unit, whatever way it writes it.
	for _, c := range []struct {
		name         string
		format       reconcile.Format
		layout, file string
		want         string
	}{
		{"camt.053 with all it can say", reconcile.CAMT053, "", newCamt("195.00",
			newNtry(
				"100.00", "CRDT", `<ValDt><DtTm>2026-03-11T00:00:00Z</DtTm></ValDt><AcctSvcrRef>A1</AcctSvcrRef><x:Amt Ccy="EUR">7</x:Amt><NtryDtls><TxDtls>
				<Refs><EndToEndId>NOTPROVIDED</EndToEndId><TxId>TX1</TxId></Refs><RmtInf><Ustrd>4T9K2M7PXQ3A</Ustrd><Ustrd>thanks</Ustrd></RmtInf></TxDtls></NtryDtls>`),
			newNtry("5", "DBIT", `<NtryRef>9</NtryRef><RvslInd>true</RvslInd><AddtlNtryInf>a fee &amp; more</AddtlNtryInf>`),
			strings.Replace(newNtry("1.00", "CRDT", ""), "BOOK", "PDNG", 1)), `
S-1 DE02120300000000202051 2026-03-09..2026-03-13 10000→19500 ignored 1
2026-03-10 2026-03-11 10000 A1 [TX1] "4T9K2M7PXQ3A thanks" false
2026-03-10 2026-03-10 -500  [9] "a fee & more" true
`},
		{"a batch with details becomes a line for each", reconcile.CAMT053, "",
			newCamt("103.00", newNtry("3.00", "CRDT", `<AcctSvcrRef>B</AcctSvcrRef><NtryDtls><Btch><PmtInfId>P9</PmtInfId></Btch>
			<TxDtls><Refs><EndToEndId>E1</EndToEndId></Refs><Amt Ccy="USD">1.00</Amt></TxDtls><TxDtls><Refs><EndToEndId>E2</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy="USD">2.00</Amt></TxAmt></AmtDtls><RtrInf/></TxDtls></NtryDtls>`)), `
S-1 DE02120300000000202051 2026-03-09..2026-03-13 10000→10300 ignored 0
2026-03-10 2026-03-10 100 B#1 [E1 P9] "" false
2026-03-10 2026-03-10 200 B#2 [E2 P9] "" true
`},
		{"a batch whose parts do not add up stays whole", reconcile.CAMT053, "", newCamt("103.00", newNtry("3.00", "CRDT", `<NtryDtls>
			<TxDtls><Refs><EndToEndId>E1</EndToEndId></Refs><Amt Ccy="USD">1.00</Amt></TxDtls><TxDtls><Refs><EndToEndId>E2</EndToEndId></Refs><Amt Ccy="EUR">2.00</Amt></TxDtls></NtryDtls>`)), `
S-1 DE02120300000000202051 2026-03-09..2026-03-13 10000→10300 ignored 0
2026-03-10 2026-03-10 300  [E1 E2] "" false
`},
		{"camt.053 of version 2", reconcile.CAMT053, "", strings.NewReplacer("053.001.08", "053.001.02", "<Sts><Cd>BOOK</Cd></Sts>",
			"<Sts>BOOK</Sts>").Replace(newCamt("101.00", newNtry("1.00", "CRDT", ""))), `
S-1 DE02120300000000202051 2026-03-09..2026-03-13 10000→10100 ignored 0
2026-03-10 2026-03-10 100  [] "" false
`},
		{"camt.053 in Latin 1", reconcile.CAMT053, "",
			strings.Replace(newCamt("101.00", newNtry("1.00", "CRDT", "<AddtlNtryInf>M\xfcller\xfc</AddtlNtryInf>")), "UTF-8", "ISO-8859-1", 1), `
S-1 DE02120300000000202051 2026-03-09..2026-03-13 10000→10100 ignored 0
2026-03-10 2026-03-10 100  [] "Müllerü" false
`},
		{"camt.053 with a byte order mark", reconcile.CAMT053, "", "\ufeff" + newCamt("101.00", newNtry("1.00", "CRDT", "")) + "\r\n", `
S-1 DE02120300000000202051 2026-03-09..2026-03-13 10000→10100 ignored 0
2026-03-10 2026-03-10 100  [] "" false
`},
		{"CSV", reconcile.CSV, csvLayout, "Date,Amount,Bank id,Ref,Text,Cur\n2026-03-10,-12.5,B1,R1,\"with, comma\nand " +
			"line\",USD\n2026-03-11,0.00,B2,,,USD\n", `
  .. -→- ignored 1
2026-03-10 2026-03-10 -1250 B1 [R1] "with, comma and line" false
`},
		{"CSV as a bank in Germany writes it", reconcile.CSV,
			"date=Buchung;valueDate=Wert;debit=Soll;credit=Haben;dateFormat=DD.MM.YYYY;decimal=,;group=.;delimiter=semicolon",
			"\ufeffBuchung;Wert;Soll;Haben\r\n10.03.2026;11.03.2026;;1.234,56\r\n10.03.2026;;-0,44;\r\n", `
  .. -→- ignored 0
2026-03-10 2026-03-11 123456  [] "" false
2026-03-10 2026-03-10 -44  [] "" false
`},
		{"control characters", reconcile.CSV, csvLayout, "Date,Amount,Bank id,Ref,Text,Cur\n2026-03-10,1,\x01B1,\x1bR1,\x01AgAA,USD\n", `
  .. -→- ignored 0
2026-03-10 2026-03-10 100 B1 [R1] "AgAA" false
`},
		{"BAI2", reconcile.BAI2, "", bai2File, `
260314-77 123456 2026-03-13..2026-03-13 10000→19500 ignored 0
2026-03-13 2026-03-12 10000 BANKREF1 [4T9K2M7PXQ3A] "PAYMENT, WITH COMMAS,AND MORE" false
2026-03-13 2026-03-13 -500 BANKREF2 [CHECK17] "" false
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := read(c.format, c.layout, c.file)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := formatStatement(s), strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestRead_InvalidFile(t *testing.T) {
	t.Parallel()
	// An incomplete or ambiguous file is refused with a message that says what is wrong.
	good := newCamt("101.00", newNtry("1.00", "CRDT", ""))
	bomb := strings.Replace(good, "<Document", `<!DOCTYPE b [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Document`, 1)
	for _, c := range []struct {
		name         string
		format       reconcile.Format
		layout, file string
		want         string
	}{
		{"nothing", reconcile.CAMT053, "", "", "is empty"},
		{"no XML", reconcile.CAMT053, "", "Date,Amount\n", "is not valid XML: line 2: text outside of the document"},
		{"white space", reconcile.CAMT053, "", " \n", "is empty"},
		{"text after the document", reconcile.CAMT053, "", good + "garbage\n", "text outside of the document"},
		{"broken XML", reconcile.CAMT053, "", strings.Replace(good, "</Ntry>", "</Entry>", 1),
			"is not valid XML: line 8: element <Ntry> closed by </Entry>"},
		{"truncated", reconcile.CAMT053, "", good[:len(good)-40], "ends too early, in line 8: it is truncated"},
		{"an entity bomb", reconcile.CAMT053, "", bomb, "has a document type or entity declaration in line 2"},
		{"an undeclared entity", reconcile.CAMT053, "", strings.Replace(good, ">M1<", ">&lol;<", 1), "invalid character entity &lol;"},
		{"another message", reconcile.CAMT053, "", strings.Replace(good, "camt.053", "camt.052", 1), "is not a camt.053 statement"},
		{"two messages", reconcile.CAMT053, "", good + "<Document/>", "continues after its end"},
		{"deeply nested", reconcile.CAMT053, "", strings.Replace(good, "<Stmt>", strings.Repeat("<Stmt>", 100), 1),
			"has more than 64 nested elements"},
		{"a long text", reconcile.CAMT053, "", strings.Replace(good, ">M1<", ">"+strings.Repeat("M", 2<<20)+"<", 1),
			"has a text or tag of more than 1048576 bytes"},
		{"another currency", reconcile.CAMT053, "", strings.Replace(good, "<Ccy>USD", "<Ccy>EUR", 1),
			`the statement is in "EUR", and the account is in USD`},
		{"an entry in another currency", reconcile.CAMT053, "", strings.Replace(good, `<Ntry><Amt Ccy="USD">`, `<Ntry><Amt Ccy="JPY">`, 1),
			`an entry is in "JPY"`},
		{"too many decimals", reconcile.CAMT053, "", newCamt("101.00", newNtry("1.005", "CRDT", "")),
			`line 8: "1.005" has 3 decimals, and USD has 2`},
		{"a sign", reconcile.CAMT053, "", newCamt("101.00", newNtry("-1.00", "CRDT", "")), "has a sign"},
		{"no side", reconcile.CAMT053, "", newCamt("101.00", newNtry("1.00", "", "")), "is neither CRDT nor DBIT"},
		{"no number", reconcile.CAMT053, "", newCamt("101.00", newNtry("1e3", "CRDT", "")), "is not an amount"},
		{"a huge amount", reconcile.CAMT053, "", newCamt("101.00", newNtry("99999999999999999999", "CRDT", "")), "exceeds the maximum amount"},
		{"no day", reconcile.CAMT053, "", strings.Replace(good, "<BookgDt><Dt>2026-03-10", "<BookgDt><Dt>2026-02-30", 1),
			`"2026-02-30" is not a date`},
		{"not booked, as far as it says", reconcile.CAMT053, "", strings.NewReplacer("<Sts><Cd>BOOK</Cd></Sts>", "", "CLBD",
			"CLAV").Replace(good), "line 8: an entry has no status"},
		{"a status of the bank's own", reconcile.CAMT053, "", strings.Replace(good, "<Cd>BOOK</Cd>", "<Prtry>OPEN</Prtry>", 1),
			`line 8: an entry has the status "OPEN", which is none of ISO 20022`},
		{"a missing entry", reconcile.CAMT053, "", newCamt("101.00"), "add up to 0.00 USD, but its opening balance is 100.00 USD and its " +
			"closing balance 101.00 USD"},
		{"two accounts", reconcile.CAMT053, "", strings.Replace(good, "</Stmt>", "</Stmt><Stmt><Acct><Id><IBAN>DE1</IBAN></Id></Acct></Stmt>", 1),
			"has statements of two accounts"},
		{"an encoding", reconcile.CAMT053, "", strings.Replace(good, "UTF-8", "UTF-16", 1), "the encoding"},
		{"no layout", reconcile.CSV, "", "Date\n", "date must name the column"},
		{"no column", reconcile.CSV, csvLayout, "Date,Amount\n", `has no column "Bank id", "Cur", "Ref", "Text"`},
		{"a column twice", reconcile.CSV, "date=D;amount=A", "D,A,A\n", `has two columns with the name "A"`},
		{"a short line", reconcile.CSV, "date=D;amount=A", "D,A\n2026-03-10,1\n2026-03-11\n", "line 3 does not have as many fields"},
		{"an open quote", reconcile.CSV, "date=D;amount=A", "D,A\n2026-03-10,\"1\n" + strings.Repeat("2026-03-10,1\n", 10_000),
			"has a line of more than"},
		{"a date of another form", reconcile.CSV, "date=D;amount=A", "D,A\n10.03.2026,1\n",
			`line 2, column 1 (D): "10.03.2026" is not a date of the form YYYY-MM-DD`},
		{"decimals", reconcile.CSV, "date=D;amount=A", "D,A\n2026-03-10,1234.001\n", `"1234.001" has 3 decimals`},
		{"one parenthesis", reconcile.CSV, "date=D;amount=A", "D,A\n2026-03-10,(1.00\n", `line 2, column 2 (A): "(1.00" is not an amount`},
		{"both debit and credit", reconcile.CSV, "date=D;debit=A;credit=B", "D,A,B\n2026-03-10,1,1\n", "both a debit and a credit"},
		{"the wrong currency", reconcile.CSV, "date=D;amount=A;currency=C", "D,A,C\n2026-03-10,1,EUR\n",
			`line 2, column 3 (C): is in "EUR", and the account is in USD`},
		{"no UTF-8", reconcile.CSV, "date=D;amount=A;description=T", "D,A,T\n2026-03-10,1,\xfc\n", "is not UTF-8"},
		{"no BAI2", reconcile.BAI2, "", "Date,Amount\n", "is not a record"},
		{"BAI2 without a file header", reconcile.BAI2, "", bai2File[strings.Index(bai2File, "02,"):], "this is not a BAI2 file"},
		{"BAI2 truncated", reconcile.BAI2, "", bai2File[:len(bai2File)-14], "ends too early"},
		{"BAI2 without a movement", reconcile.BAI2, "", strings.Replace(bai2File, "16,475,500,Z,BANKREF2,CHECK17/\n", "", 1),
			"the control total of the account"},
		{"BAI2 with a record less", reconcile.BAI2, "", strings.Replace(bai2File, "88,AND MORE\n", "", 1), "it is incomplete"},
		{"BAI2 in another currency", reconcile.BAI2, "", strings.Replace(bai2File, ",USD,", ",CAD,", 1), `is in "CAD"`},
		{"BAI2 with a decimal point", reconcile.BAI2, "", strings.Replace(bai2File, "16,165,10000", "16,165,100.00", 1), "is not an amount"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := read(c.format, c.layout, c.file)
			if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
			if len(s.Lines) != 0 {
				t.Errorf("%d lines of a refused file are left", len(s.Lines))
			}
		})
	}
}

func TestRead_IOErrorIsNotInvalidFile(t *testing.T) {
	t.Parallel()
	// An I/O error is not reported as an invalid file.
	broken := errors.New("disk error")
	for name, start := range map[reconcile.Format]string{reconcile.CAMT053: "<?xml", reconcile.CSV: "D,A\n", reconcile.BAI2: "01,"} {
		format := statements.Options{Format: name, Currency: "USD"}
		format.Layout, _ = reconcile.ParseLayout("date=D;amount=A")
		_, err := statements.Read(io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken)), format)
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkInvariants checks what must be true of every statement that is read.
func checkInvariants(t *testing.T, s reconcile.Statement, err error) {
	t.Helper()
	if err != nil {
		if _, ok := fault.As(err); !ok {
			t.Fatalf("not a fault: %v", err)
		}
		return
	}
	for _, l := range s.Lines {
		if l.Amount == 0 || l.Booked == reconcile.NoDay || len(l.Description) > reconcile.MaxDescription ||
			len(l.References) > reconcile.MaxReferences {
			t.Fatalf("invalid line: %+v", l)
		}
	}
	_ = s.Finalize(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
}

func FuzzRead_CAMT053(f *testing.F) {
	// Any bytes are read as a statement or refused.
	f.Add(newCamt("101.00", newNtry("1.00", "CRDT", "")))
	f.Fuzz(func(t *testing.T, file string) {
		s, err := read(reconcile.CAMT053, "", file)
		checkInvariants(t, s, err)
	})
}

func FuzzRead_CSV(f *testing.F) {
	// Any bytes with any layout are read as a statement or refused.
	f.Add(csvLayout, "Date,Amount,Bank id,Ref,Text,Cur\n2026-03-10,-12.5,B1,R1,,USD\n")
	f.Fuzz(func(t *testing.T, layout, file string) {
		s, err := read(reconcile.CSV, layout, file)
		checkInvariants(t, s, err)
	})
}

func FuzzRead_BAI2(f *testing.F) {
	// Any bytes are read as a statement or refused.
	f.Add(bai2File)
	f.Fuzz(func(t *testing.T, file string) {
		s, err := read(reconcile.BAI2, "", file)
		checkInvariants(t, s, err)
	})
}

// BenchmarkRead_CAMT053 reads a statement of 100,000 entries.
func BenchmarkRead_CAMT053(b *testing.B) {
	entries := make([]string, 100_000)
	for i := range entries {
		entries[i] = newNtry(
			"1.00", "CRDT", fmt.Sprintf(
				`<ValDt><Dt>2026-03-10</Dt></ValDt><AcctSvcrRef>A%d</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd></Domn></BkTxCd><NtryDtls><TxDtls>
			<Refs><EndToEndId>E%d</EndToEndId></Refs><RmtInf><Ustrd>REF%09d</Ustrd></RmtInf></TxDtls></NtryDtls>`, i, i, i))
	}
	file := newCamt("100100.00", entries...)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := read(reconcile.CAMT053, "", file)
		if err != nil || len(s.Lines) != len(entries) {
			b.Fatal(len(s.Lines), err)
		}
	}
}
