package statements_test

import (
	"fmt"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/reconcile"
)

func TestRead_CSVOfBanks(t *testing.T) {
	t.Parallel()
	// What banks put around and into their lines does not change what is read.
	for _, c := range []struct{ name, layout, file, want string }{
		{
			"a preamble and a total", "date=Buchungstag;amount=Betrag;description=Text;dateFormat=DD.MM.YYYY;delimiter=semicolon;ignore=Summe|Endsaldo",
			"Konto;DE02120300000000202051\n\"Zeitraum\";01.03.2026;31.03.2026\n\nBuchungstag;Text;Betrag\n10.03.2026;A;1.234,50 " +
				"$\n11.03.2026;B;-1,5\nSumme;;1.233,00\n;;Endsaldo\n",
			"  .. -→- ignored 2\n2026-03-10 2026-03-10 123450  [] \"A\" false\n2026-03-11 2026-03-11 -150  [] \"B\" false\n"},
		{"a byte order mark before a quote", "date=Datum;amount=Betrag", "\ufeff\"Datum\",\"Betrag\"\n2026-03-10,1\n",
			"  .. -→- ignored 0\n2026-03-10 2026-03-10 100  [] \"\" false\n"},
		{"quotes in the preamble", "date=Datum;amount=Betrag;delimiter=semicolon", "Datum von:;=\"01.03.2026\"\nKonto " +
			"\"Lohn\"\nDatum;Betrag\n2026-03-10;1\n", "  .. -→- ignored 0\n2026-03-10 2026-03-10 100  [] \"\" false\n"},
		{"balances with a date", "date=Date;amount=Amount;balance=Running Bal.;description=Description;dateFormat=MM/DD/YYYY;ignore=Beginning " +
			"balance|Ending balance",
			"Description,,Summary Amt.\nBeginning balance as of 03/09/2026,,\"1,000.00\"\n\nDate,Description,Amount,Running Bal.\n" +
				"03/09/2026,Beginning balance as of 03/09/2026,,\"1,000.00\"\n03/10/2026,Ending balance " +
				"services,\"-1.00\",\"999.00\"\n03/10/2026,Ending balance,,999.00\n",
			"  .. 100000→99900 ignored 2\n2026-03-10 2026-03-10 -100  [] \"Ending balance services\" false\n"},
		{"parentheses, signs and times", "date=Date;amount=Amount;dateFormat=MM/DD/YYYY",
			"Date,Amount\n3/10/2026 11:59 PM,\"($1,234.50)\"\n03/11/2026,1.00-\n",
			"  .. -→- ignored 0\n2026-03-10 2026-03-10 -123450  [] \"\" false\n2026-03-11 2026-03-11 -100  [] \"\" false\n"},
		{"a column with the side", "date=Datum;amount=Bedrag;side=Af Bij;dateFormat=YYYYMMDD;delimiter=semicolon",
			"Datum;Af Bij;Bedrag\n20260310;Bij;12,50\n20260311;Af;2,50\n20260311;Af;-1,00\n",
			"  .. -→- ignored 0\n2026-03-10 2026-03-10 1250  [] \"\" false\n2026-03-11 2026-03-11 -250  [] \"\" false\n2026-03-11 2026-03-11 -100 " +
				" [] \"\" false\n"},
		{"delimiters at the ends of lines", "date=D;amount=A", "D,A\n2026-03-10,1,,\n2026-03-10,2,\n",
			"  .. -→- ignored 0\n2026-03-10 2026-03-10 100  [] \"\" false\n2026-03-10 2026-03-10 200  [] \"\" false\n"},
		{"balances, oldest first", "date=D;amount=A;balance=B", "D,A,B\n2026-03-10,1,11\n2026-03-10,0,11\n2026-03-11,-2,9\n",
			"  .. 1000→900 ignored 1\n2026-03-10 2026-03-10 100  [] \"\" false\n2026-03-11 2026-03-11 -200  [] \"\" false\n"},
		{"balances, newest first", "date=D;debit=X;credit=Y;balance=B", "D,X,Y,B\n2026-03-11,2,,9\n2026-03-10,,1,11\n",
			"  .. 1000→900 ignored 0\n2026-03-11 2026-03-11 -200  [] \"\" false\n2026-03-10 2026-03-10 100  [] \"\" false\n"},
		{"one balance", "date=D;amount=A;balance=B", "D,A,B\n2026-03-11,2,9\n", "  .. 700→900 ignored 0\n2026-03-11 2026-03-11 200  [] \"\" " +
			"false\n"},
		{"balances that both orders explain, by the days", "date=D;amount=A;balance=B", "D,A,B\n2026-03-11,1,1\n2026-03-10,-1,0\n",
			"  .. 100→100 ignored 0\n2026-03-11 2026-03-11 100  [] \"\" false\n2026-03-10 2026-03-10 -100  [] \"\" false\n"},
		{"balances that both orders explain, on one day", "date=D;amount=A;balance=B", "D,A,B\n2026-03-11,1,1\n2026-03-11,-1,0\n",
			"  .. -→- ignored 0\n2026-03-11 2026-03-11 100  [] \"\" false\n2026-03-11 2026-03-11 -100  [] \"\" false\n"},
	} {
		s, err := read(reconcile.CSV, c.layout, c.file)
		if got := formatStatement(s); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestRead_CSVInvalid(t *testing.T) {
	t.Parallel()
	// A line that is not clear is refused with its line, column and field, and what to do.
	for _, c := range []struct{ name, layout, file, want string }{
		{"a total", "date=D;amount=A", "D,A\n2026-03-10,1\nTotal,1\n",
			`line 3, column 1 (D): "Total" is not a date of the form YYYY-MM-DD; if it is no movement, name its beginning in map, as ignore=Total`},
		{"a short total", "date=D;amount=A", "D,A\n2026-03-10,1\nTotal\n",
			`line 3 does not have as many fields as the header; if it is no movement, name its beginning in map, as ignore=Total`},
		{"a field too many", "date=D;amount=A", "D,A\n2026-03-10,1,5\n", "line 2 does not have as many fields as the header"},
		{"no header", "date=D;amount=A", "X,Y\nD,B\n", `has no column "A"; its header is "D,B"`},
		{"a header that comes late", "date=D;amount=A", strings.Repeat("x\n", 100) + "D,A\n", `has no column "A", "D"; its header is "x"`},
		{"thousands or decimals", "date=D;amount=A;delimiter=semicolon", "D;A\n2026-03-10;1,234\n",
			`line 2, column 2 (A): "1,234" may have the decimal mark or the thousands mark ','; set decimal and group in map`},
		{"two decimal marks", "date=D;amount=A;delimiter=semicolon", "D;A\n2026-03-10;1,5\n2026-03-10;1.5\n",
			`line 3, column 2 (A): "1.5" has the decimal mark '.', and line 2 has ','; set decimal and group in map`},
		{"a sign of another currency", "date=D;amount=A", "D,A\n2026-03-10,€1\n", `line 2, column 2 (A): "€1" is not an amount in USD`},
		{"a value date", "date=D;amount=A;valueDate=V", "D,A,V\n2026-03-10,1,soon\n", `line 2, column 3 (V): "soon" is not a date`},
		{"a side", "date=D;amount=A;side=S", "D,A,S\n2026-03-10,1,X\n", `line 2, column 3 (S): "X" is neither a credit nor a debit`},
		{"a side against the sign", "date=D;amount=A;side=S", "D,A,S\n2026-03-10,-1,C\n", "line 2, column 2 (A): the credit is negative"},
		{"an encoding", "date=D;amount=A", "D,A\n2026-03-10,\xa31\n", "line 2, column 2: is not UTF-8; name the encoding of the file with map, " +
			"as encoding=windows-1252"},
		{"an open quote in a line", "date=D;amount=A;description=T", "D,A,T\n2026-03-10,1,\"a\n2026-03-11,5,b\n", "is not valid CSV: line 3"},
		{"an open quote in the preamble", "date=D;amount=A", "\"a\nD,A\n2026-03-10,1\n", `has no column "A", "D"`},
		{"a byte order mark of another encoding", "date=D;amount=A;encoding=windows-1252", "\ufeffD,A\n2026-03-10,1\n",
			"is not in the encoding windows-1252 that map names"},
		{"another encoding", "date=D;amount=A;encoding=UTF-16", "D,A\n2026-03-10,1\n", "is not in the encoding UTF-16 that map names"},
		{"no balance", "date=D;amount=A;balance=B", "D,A,B\n2026-03-10,1,\n", `line 2, column 3 (B): "" is not an amount in USD`},
		{"a missing line", "date=D;amount=A;balance=B", "D,A,B\n2026-03-10,1,11\n2026-03-10,1,12\n2026-03-11,2,15\n",
			"line 4, column 3 (B): the amounts do not lead from the balance of the line before it to this one: a line is missing or in another " +
				"order; if it is right, say why with override"},
	} {
		if s, err := read(reconcile.CSV, c.layout, c.file); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v %s\nwant %s", c.name, err, formatStatement(s), c.want)
		}
	}
}

// BenchmarkRead_CSV reads a statement of 100,000 lines.
func BenchmarkRead_CSV(b *testing.B) {
	var file strings.Builder
	file.WriteString("Account,1\nDate,Amount,Balance,Bank id,Ref,Text,Cur\n")
	for i := range 100_000 {
		fmt.Fprintf(&file, "2026-03-10 10:00:00,$1.00,\"%d.00\",A%d,REF%09d,Invoice,USD\n", i+1, i, i)
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		s, err := read(reconcile.CSV, csvLayout+";balance=Balance", file.String())
		if err != nil || len(s.Lines) != 100_000 {
			b.Fatal(len(s.Lines), err)
		}
	}
}
