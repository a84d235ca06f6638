package statements_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"causeway/core/fault"
	"causeway/core/formats/statements"
	"causeway/core/reconcile"
)

// newMT940 returns a statement of a day whose fields are those after :25:.
func newMT940(account, number string, fields ...string) string {
	return ":20:STARTUMS\r\n:25:" + account + "\r\n:28C:" + number + "\r\n" + strings.Join(fields, "\r\n") + "\r\n-\r\n"
}

// mt940With returns a statement that opens with 100.00 USD, has these fields and closes with an amount.
func mt940With(closing string, fields ...string) string {
	return newMT940("12345678", "7/1", append(append([]string{":60F:C260309USD100,00"}, fields...), ":62F:C260310USD"+closing)...)
}

const testIBAN = "DE02120300000000202051"

func TestRead_MT940(t *testing.T) {
	t.Parallel()
	// What a bank writes in a statement line and its information is read to the unit.
	const header = "USD 7 12345678 2026-03-10..2026-03-10 10000→"
	for _, c := range []struct{ name, file, want string }{
		{"a statement line with all it can say", mt940With("112,50", ":61:2603120310CD12,50NTRFOWNER-REF-1//BANKREF1\r\n/OCMT/EUR11,00/",
			":86:INVOICE 77 THANK YOU"), header +
			"11250 ignored 0\n2026-03-10 2026-03-12 1250 BANKREF1 [OWNER-REF-1] \"/OCMT/EUR11,00/ INVOICE 77 THANK YOU\" false\n"},
		{"no entry date, no references", mt940With("99,50", ":61:260310D,5NMSCNONREF"), header +
			"9950 ignored 0\n2026-03-10 2026-03-10 -50  [] \"\" false\n"},
		{"no entry date, available days later", mt940With("99,50", ":61:260317C1,NMSCNONREF", ":61:260309D1,5NMSCNONREF"), header +
			"9950 ignored 0\n2026-03-10 2026-03-17 100  [] \"\" false\n2026-03-09 2026-03-09 -150  [] \"\" false\n"},
		{"an entry date of blanks", mt940With("99,50", ":61:260310    DD,5NMSCNONREF"), header +
			"9950 ignored 0\n2026-03-10 2026-03-10 -50  [] \"\" false\n"},
		{"reversals", mt940With("99,00", ":61:260310RC2,NTRFA1", ":61:260310RDD1,00S103B1//"), header +
			"9900 ignored 0\n2026-03-10 2026-03-10 -200  [A1] \"\" true\n2026-03-10 2026-03-10 100  [B1] \"\" true\n"},
		{"a returned item", mt940With("101,00", ":61:260310C1,00NRTIA1"), header +
			"10100 ignored 0\n2026-03-10 2026-03-10 100  [A1] \"\" true\n"},
		{"zeros after the minor unit and an amount of zero", mt940With("101,0000", ":61:260310C1,000NTRFA1", ":61:260310C0,00NTRFA2"), header +
			"10100 ignored 1\n2026-03-10 2026-03-10 100  [A1] \"\" false\n"},
		{"information of the statement", mt940With("100,00", ":86:of the account\r\nin two lines", ":NS:22a") + "\r\n",
			"USD 7 12345678 2026-03-10..2026-03-10 10000→10000 ignored 0\n"},
		{"information after the closing balance", strings.Replace(mt940With("100,00"), "\r\n-\r\n",
			"\r\n:64:C260310USD90,00\r\n:65:D260311USD,5\r\n:86:of the statement\r\n-\r\n", 1), header + "10000 ignored 0\n"},
		{"information that fills its lines", mt940With("101,00", ":61:260310C1,00NTRFNONREF", ":86:"+strings.Repeat("x", 59)+" 4T9K2", "M7PXQ3A",
			"and more"), header +
			"10100 ignored 0\n2026-03-10 2026-03-10 100  [] \"" + strings.Repeat("x", 59) + " 4T9K2M7PXQ3A and more\" false\n"},
		{"subfields", mt940With("101,00", ":61:260310C1,00NTRFNONREF", ":86:166?00CREDIT?100931?20EREF+4T9K2M7PXQ3A-12345-678",
			"?2190KREF+OTHER?22SVWZ+Invoice 7?23and 8?30COBADEFF?31DE1?32Jane Doe?33", "& Co?60thanks"), header +
			"10100 ignored 0\n2026-03-10 2026-03-10 100  [4T9K2M7PXQ3A-12345-67890 OTHER] \"EREF+4T9K2M7PXQ3A-12345-67890KREF+OTHER SVWZ+Invoice " +
			"7 and 8 thanks Jane Doe& Co CREDIT\" false\n"},
		{"subfields with another mark, which is in the text", mt940With("99,00", ":61:260310D1,00NTRFNONREF",
			":86:109~00RETURN~20a~b~21EREF+NOTPROVIDED"), header +
			"9900 ignored 0\n2026-03-10 2026-03-10 -100  [] \"a~b EREF+NOTPROVIDED RETURN\" true\n"},
		{"parts with names", mt940With("101,00", ":61:260310C1,00NTRFNONREF", ":86:/TRTP/SEPA "+
			"OVERBOEKING/EREF/4T9K2M7PXQ3A/RTRN/AC04/REMI//USTD//7/"), header +
			"10100 ignored 0\n2026-03-10 2026-03-10 100  [4T9K2M7PXQ3A] \"/TRTP/SEPA " +
			"OVERBOEKING/EREF/4T9K2M7PXQ3A/RTRN/AC04/REMI//USTD//7/\" true\n"},
		{"another day of the year", newMT940("1", "1", ":60F:C251231USD0,", ":61:2512310102C1,NTRFA", ":61:2601021231C1,NTRFB",
			":62F:C260102USD2,"),
			"USD 1 1 2026-01-02..2026-01-02 0→200 ignored 0\n2026-01-02 2025-12-31 100  [A] \"\" false\n2025-12-31 2026-01-02 100  [B] \"\" " +
				"false\n"},
		{"the first statement of an account", newMT940("1", "00000", ":60F:C000000JPY0", ":61:260310C12,NTRFA", ":62F:C260310JPY12,00"),
			"JPY STARTUMS 1 2026-03-10..2026-03-10 0→12 ignored 0\n2026-03-10 2026-03-10 12  [A] \"\" false\n"},
		{"blocks", "{1:F01BANKDEFFAXXX0000000000}{2:O9401200260310BANKDEFFAXXX00000000002603101200N}{3:{108:X}}{4:\r\n" +
			strings.TrimSuffix(mt940With("101,00", ":61:260310C1,00NTRFA1"), "-\r\n") + "-}{5:{CHK:0}}", header +
			"10100 ignored 0\n2026-03-10 2026-03-10 100  [A1] \"\" false\n"},
		{"several messages in blocks", "\x01{1:F01A}{2:I940BN}{4:\n" + strings.TrimSuffix(mt940With("101,00", ":61:260310C1,00NTRFA1"), "-\r\n") +
			"-}$" +
			"{1:F01A}{2:I940BN}{4:\n" + strings.TrimSuffix(newMT940("12345678", "8/1", ":60F:C260310USD101,00", ":62F:C260311USD101,00"),
			"-\r\n") + "-}\x03",
			"USD 7+8 12345678 2026-03-10..2026-03-11 10000→10100 ignored 0\n2026-03-10 2026-03-10 100  [A1] \"\" false\n"},
		{"an envelope of the bank's own", "BANKNL2A\r\n940\r\nBANKNL2A\r\n" + mt940With("100,00"), header + "10000 ignored 0\n"},
		{"an envelope with a field", ":940:\r\n" + mt940With("100,00"), header + "10000 ignored 0\n"},
		{"no end of message", strings.TrimSuffix(mt940With("100,00"), "-\r\n"), header + "10000 ignored 0\n"},
		{"several accounts", newMT940("COBADEFF/"+testIBAN, "1/1", ":60F:C260309EUR1,00", ":61:260310C1,00NTRFA", ":62F:C260310EUR2,00") +
			newMT940("/12030000/202051", "1", ":60F:D260309USD1,00", ":62F:D260310USD1,00") +
			newMT940(testIBAN+"EUR", "2/1", ":60F:C260310EUR2,00", ":61:260311D1,00NTRFB", ":62F:C260311EUR1,00"),
			"EUR 1+2 " + testIBAN + " 2026-03-10..2026-03-11 100→100 ignored 0\n2026-03-10 2026-03-10 100  [A] \"\" false\n2026-03-11 2026-03-11 " +
				"-100  [B] \"\" false\n" +
				"USD 1 12030000/202051 2026-03-10..2026-03-10 -100→-100 ignored 0\n"},
		{
			"several statements in one message",
			":20:X\n:25:1\n:28C:1\n:60F:C260309USD1,\n:62F:C260310USD1,\n:28C:2\n:60F:C260310USD1,\n:62F:C260311USD1,\n",
			"USD 1+2 1 2026-03-10..2026-03-11 100→100 ignored 0\n"},
		{"pages", newMT940("1", "5/1", ":60F:C260309USD1,", ":61:260310C1,NTRFA", ":62M:C260310USD2,") + newMT940("1", "5/2", ":60M:C260310USD2,",
			":61:260310C1,NTRFB", ":62F:C260310USD3,"),
			"USD 5 1 2026-03-10..2026-03-10 100→300 ignored 0\n2026-03-10 2026-03-10 100  [A] \"\" false\n2026-03-10 2026-03-10 100  [B] \"\" " +
				"false\n"},
	} {
		if got, err := readAll(reconcile.MT940, c.file, false); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestRead_MT940AsBanksWriteIt(t *testing.T) {
	t.Parallel()
	// Banks do not keep to the letter of the field rules; what they mean is clear.
	const header = "USD 7 12345678 2026-03-10..2026-03-10 10000→"
	for _, c := range []struct{ name, file, want string }{
		{"a type of transaction of two letters", mt940With("101,00", ":61:260310C1,00NOV A1"), header + "10100 ignored 0\n2026-03-10 " +
			"2026-03-10 100  [A1] \"\" false\n"},
		{"a type of transaction of one letter", mt940With("101,00", ":61:2603100310CD1,00S   X"), header + "10100 ignored 0\n2026-03-10 " +
			"2026-03-10 100  [X] \"\" false\n"},
		{"a space before the type of transaction", mt940With("101,00", ":61:260310C1,00 NTRFA1//B1"), header + "10100 ignored 0\n2026-03-10 " +
			"2026-03-10 100 B1 [A1] \"\" false\n"},
		{"no type of transaction before NONREF", mt940With("101,00", ":61:2603100310C1,00NONREF//B1"), header + "10100 ignored 0\n2026-03-10 " +
			"2026-03-10 100 B1 [] \"\" false\n"},
		{"no type of transaction", mt940With("100,00", ":61:2603100310CN1,00//B1", ":61:260310D1,00"), header + "10000 ignored 0\n2026-03-10 " +
			"2026-03-10 100 B1 [] \"\" false\n2026-03-10 2026-03-10 -100  [] \"\" false\n"},
		{"an amount without a comma", mt940With("600,00", ":61:260310C500NTRFA1"), header + "60000 ignored 0\n2026-03-10 2026-03-10 50000  " +
			"[A1] \"\" false\n"},
		{"the value date 30 February", newMT940("1", "1", ":60F:C260228USD1,", ":61:2602300302D1,NTRFA", ":61:2802300301C1,NTRFB",
			":62F:C280301USD1,"),
			"USD 1 1 2028-03-01..2028-03-01 100→100 ignored 0\n2026-03-02 2026-02-28 -100  [A] \"\" false\n2028-03-01 2028-02-29 100  [B] \"\" " +
				"false\n"},
		{"a name in the columns after the reference", mt940With("101,00", ":61:260310C1,00N044A1              Jane Doe", ":86:Rent"),
			header + "10100 ignored 0\n2026-03-10 2026-03-10 100  [A1] \"Jane Doe Rent\" false\n"},
		{"words that say where the reference is", mt940With("104,00", ":61:260310C1,00NTRFEREF            ", ":61:260310C1,00NTRFPREF//B2",
			":61:260310C1,00NTRFKREF+//B3", ":61:260310C1,00NTRFMARF//B4"), header +
			"10400 ignored 0\n2026-03-10 2026-03-10 100  [] \"\" false\n2026-03-10 2026-03-10 100 B2 [] \"\" false\n2026-03-10 2026-03-10 100 B3 " +
			"[] \"\" false\n2026-03-10 2026-03-10 100 B4 [] \"\" false\n"},
		{"a number of the page alone", strings.Replace(mt940With("100,00"), ":28C:7/1", ":28C: /1", 1),
			"USD STARTUMS 12345678 2026-03-10..2026-03-10 10000→10000 ignored 0\n"},
		{"a time that is broken into two lines", mt940With("101,00", ":61:260310C1,00NTRFA1", ":86:paid 2026-03-10T16", ":20:37 in Rome", "at 16",
			":26:37"), header +
			"10100 ignored 0\n2026-03-10 2026-03-10 100  [A1] \"paid 2026-03-10T16 :20:37 in Rome at 16 :26:37\" false\n"},
		{"a space before subfields", mt940With("101,00", ":61:260310C1,00NTRFNONREF", ":86: 020?00CREDIT?20EREF+A1"),
			header + "10100 ignored 0\n2026-03-10 2026-03-10 100  [A1] \"EREF+A1 CREDIT\" false\n"},
		{"information in fields of the bank's own", mt940With("101,00", ":61:260310C1,00NTRFNONREF", ":NS:01EREF+A1", "02SVWZ+Invoice 7",
			"15Jane", "16Doe", "17CREDIT", "3310000000"), header +
			"10100 ignored 0\n2026-03-10 2026-03-10 100  [A1] \"EREF+A1 SVWZ+Invoice 7 Jane Doe CREDIT\" false\n"},
	} {
		if got, err := readAll(reconcile.MT940, c.file, false); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
	for _, c := range []struct{ name, file, want string }{
		{"an amount without a comma that the balances contradict", mt940With("105,00", ":61:260310C500NTRFA1"), "add up to 500.00 USD"},
		{"the value date 31 February", mt940With("99,00", ":61:260231D1,00NTRFA1"), `value date: "260231" is not a date`},
		{"the balance of 30 February", mt940With("100,00", ":64:C260230USD1,"), "field :64: comes before the closing balance"},
		{"a message that begins after a time", mt940With("101,00", ":61:260310C1,00NTRFA1", ":86:paid 2026-03-10T16", ":20:NEXT"),
			"has no closing balance (:62F:)"},
		{"a field in the information", mt940With("101,00", ":61:260310C1,00NTRFA1", ":86:paid at 16", ":28C:7"),
			"field :28C: comes after the opening balance"},
	} {
		if got, err := readAll(reconcile.MT940, c.file, false); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestRead_MT940Invalid(t *testing.T) {
	t.Parallel()
	// A file that is incomplete or unclear is refused with line, column and field, and what to do.
	movement := ":61:2603100310C1,00NTRFA1//B1"
	good := mt940With("101,00", movement)
	block := "{1:F01A}{2:O940X}{4:\n" + strings.TrimSuffix(good, "-\r\n")
	page := func(number, first, last string) string {
		return newMT940("1", number, first, ":62"+last)
	}
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", "is empty"},
		{"lines without a field", "Date,Amount\n", "has no statement: MT940 begins with the field :20:"},
		{"a CSV file", strings.Repeat("Date,Amount\n", 20), `line 11: "Date,Amount" is not a field of MT940`},
		{"the middle of a file", movement + "\n", "line 1, column 5, field :61: is outside of a message, which begins with :20:"},
		{"truncated", good[:strings.Index(good, ":62F")], "has no closing balance (:62F:)"},
		{"truncated before the next message", good[:strings.Index(good, ":62F")] + good, "has no closing balance (:62F:)"},
		{"a block without its end", block, "the end of the message, -}, is missing"},
		{"a block in a block", block + block, "a message begins before the one before it ends with -}"},
		{"MT942", strings.Replace(block, "O940", "O942", 1), "is an MT942 report of a day that is not closed; import the MT940 statement of " +
			"the day"},
		{"MT942 without blocks", ":20:A\n:25:1\n:28C:1\n:34F:USD0,\n", "is an MT942 report"},
		{"MT942 in an envelope", "BANKNL2A\n942\nBANKNL2A\n" + good, "is an MT942 report"},
		{"MT941", strings.Replace(block, "O940", "I941", 1), "is an MT941 balance report"},
		{"MT103", strings.Replace(block, "O940", "I103", 1), "is an MT103 message, not a statement"},
		{"another field", strings.Replace(good, ":61:", ":50K:", 1), "line 5, column 6, field :50K: is not a field of MT940"},
		{"no account", strings.Replace(good, ":25:12345678", ":21:X", 1), "field :60F: comes before the account, :25:"},
		{"no opening balance", strings.Replace(good, ":60F:C260309USD100,00", ":21:X", 1),
			"field :61: is not between an opening and a closing balance"},
		{"an available balance in the middle", strings.Replace(good, ":62F:", ":64:C260310USD1,\n:62F:", 1),
			"field :64: comes before the closing balance"},
		{"a second opening balance", strings.Replace(good, ":62F:", ":60F:", 1), "field :60F: comes after the opening balance"},
		{"a missing movement", mt940With("102,00", movement),
			`lines of the page "7/1" of account "12345678" with the balance of 2026-03-10 add up to 1.00 USD, but its opening balance is 100.00 USD and its closing balance 102.00 USD`},
		{"a missing day", good + newMT940("12345678", "9/1", ":60F:C260311USD105,00", ":62F:C260312USD105,00"), "closes with 101.00 USD, and " +
			"the page \"9/1\" of account \"12345678\" with the balance of 2026-03-12 after it opens with 105.00 USD"},
		{"a statement twice", good + strings.Replace(good, "STARTUMS", "ANOTHER", 1), "twice"},
		{"another currency in the closing balance", strings.Replace(good, ":62F:C260310USD", ":62F:C260310EUR", 1),
			`line 6, column 13, field :62F: is in "EUR", and the account is in USD`},
		{"no currency of the service", strings.ReplaceAll(good, "USD", "XXX"), `is in "XXX"`},
		{"no balance", strings.Replace(good, ":60F:C", ":60F:X", 1), `line 4, column 6, field :60F: "X260309USD100,00" is not a balance`},
		{"a balance with a decimal point", strings.Replace(good, "USD100,00", "USD100.00", 1),
			`line 4, column 16, field :60F: "100.00" is not an amount with a decimal comma`},
		{"a balance without a comma", strings.Replace(good, "USD100,00", "USD10000", 1), `"10000" is not an amount with a decimal comma`},
		{"a day that does not exist", strings.Replace(good, ":62F:C260310", ":62F:C260230", 1),
			`line 6, column 7, field :62F: "260230" is not a date`},
		{"no closing day", strings.Replace(good, ":62F:C260310", ":62F:C000000", 1), `line 6, column 7, field :62F: is not a date`},
		{"a value date", strings.Replace(good, ":61:260310", ":61:2603XX", 1),
			`line 5, column 5, field :61: "2603XX0310C1,00NTRFA" is not a value date`},
		{"a value date that does not exist", strings.Replace(good, ":61:260310", ":61:261310", 1),
			`line 5, column 5, field :61: value date: "261310" is not a date`},
		{"an entry date", strings.Replace(good, "0310C1", "0000C1", 1),
			`line 5, column 11, field :61: entry date: "0000" is not a date of the form MMDD`},
		{"an expected credit", strings.Replace(good, "0310C1", "0310EC1", 1),
			`line 5, column 11, field :61: "0310EC1,00NTRFA1//B1" is not a direction`},
		{"an amount", strings.Replace(good, "C1,00N", "C-1,00N", 1),
			`line 5, column 16, field :61: "-1,00NTRFA1//B1" is not an amount with a decimal comma`},
		{"an amount with two commas", strings.Replace(good, "C1,00N", "C1,000,00N", 1),
			`line 5, column 16, field :61: amount: "1,000,00" is not an amount with a decimal comma`},
		{"decimals", strings.Replace(good, "C1,00N", "C1,005N", 1), `column 16, field :61: amount: "1.005" has 3 decimals, and USD has 2`},
		{"a huge amount", strings.Replace(good, "C1,00N", "C99999999999999999999,00N", 1), "exceeds the maximum amount"},
		{"a type of transaction", strings.Replace(good, "NTRFA1//B1", "NT", 1),
			`line 5, column 20, field :61: "NT" is not a type of transaction`},
		{"a number", strings.Replace(good, ":28C:7/1", ":28C:seven", 1), `line 3, column 6, field :28C: "seven" is not a statement number`},
		{"a page number", strings.Replace(good, ":28C:7/1", ":28C:7/x", 1), `line 3, column 8, field :28C: "x" is not a page number`},
		{"no first page", page("5/2", ":60M:C260309USD1,", "F:C260310USD1,"),
			`the page "5/2" of account "1" begins in line 4 with an intermediate balance (:60M:); import the pages before it in the same file`},
		{"no last page", page("5/1", ":60F:C260309USD1,", "M:C260310USD1,"),
			`the statement "5/1" of account "1" ends with an intermediate balance (:62M:); import its further pages in the same file`},
		{"no middle page", page("5/1", ":60F:C260309USD1,", "M:C260310USD1,") + page("5/3", ":60M:C260310USD1,", "F:C260310USD1,"),
			`after the page "5/1" of account "1" comes "5/3" in line 10`},
		{"a page of another statement", page("5/1", ":60F:C260309USD1,", "M:C260310USD1,") + page("6/1", ":60F:C260310USD1,", "F:C260310USD1,"),
			`the statement "5/1" of account "1" ends with an intermediate balance (:62M:), and line 10 begins another one`},
		{"pages that do not connect", page("5/1", ":60F:C260309USD1,", "M:C260310USD1,") + page("5/2", ":60M:C260310USD2,", "F:C260310USD2,"),
			"closes with 1.00 USD"},
		{"an endless field", mt940With("101,00", movement, ":86:x"+strings.Repeat("\n"+strings.Repeat("x", 65), 1000)),
			"line 6, column 5, field :86: has more than 16384 bytes"},
		{"an endless line", mt940With("101,00", movement, ":86:"+strings.Repeat("x", 1<<17)), "has a line of more than 65536 bytes"},
	} {
		if got, err := readAll(reconcile.MT940, c.file, false); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestRead_MT940AcceptedMismatch(t *testing.T) {
	t.Parallel()
	// If a person accepts it, pages without the others are read, and it is said what is missing.
	got, err := readAll(reconcile.MT940, newMT940("1", "5/2", ":60M:C260309USD1,", ":62M:C260310USD1,"), true)
	if err != nil || strings.Count(got, "The file is not complete: ") != 2 {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestRead_NamedEncodings(t *testing.T) {
	t.Parallel()
	// A file is read in the encoding that the map names, and refused in any other.
	file := mt940With("101,00", ":61:260310C1,00NTRFA1", ":86:Łódź Müller 5€")
	for _, c := range []struct {
		name   reconcile.Encoding
		encode func(string) (string, error)
		text   string
	}{
		{"", func(s string) (string, error) { return s, nil }, "Łódź Müller 5€"},
		{"", charmap.Windows1252.NewEncoder().String, "Müller 5€"}, // which no map names, as banks do
		{"UTF-8", func(s string) (string, error) { return "\ufeff" + s, nil }, "Łódź Müller 5€"},
		{"", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String, "Łódź Müller 5€"},
		{"UTF-16", unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String, "Łódź Müller 5€"},
		{"ISO-8859-1", charmap.ISO8859_1.NewEncoder().String, "Müller"},
		{"ISO-8859-2", charmap.ISO8859_2.NewEncoder().String, "Łódź Müller"},
		{"ISO-8859-15", charmap.ISO8859_15.NewEncoder().String, "Müller 5€"},
		{"windows-1250", charmap.Windows1250.NewEncoder().String, "Łódź Müller 5€"},
		{"windows-1252", charmap.Windows1252.NewEncoder().String, "Müller 5€"},
		{"CP850", charmap.CodePage850.NewEncoder().String, "Müller"},
		{"CP852", charmap.CodePage852.NewEncoder().String, "Łódź Müller"},
	} {
		encoded, err := c.encode(strings.Replace(file, "Łódź Müller 5€", c.text, 1))
		if err != nil {
			t.Fatal(err)
		}
		statements, err := statements.Read(strings.NewReader(encoded), statements.Options{Format: reconcile.MT940,
			Layout: reconcile.Layout{Encoding: c.name}})
		if err != nil || statements[0].Lines[0].Description != c.text {
			t.Errorf("%s: %v, %v", c.name, err, statements)
		}
	}
	latin := "Date,Amount,Bank id,Ref,Text,Cur\n2026-03-10,1,,,M\xfcller,USD\n"
	if s, err := read(reconcile.CSV, csvLayout+";encoding=ISO-8859-1", latin); err != nil || s.Lines[0].Description != "Müller" {
		t.Errorf("CSV: %v, %v", err, s)
	}
	for _, name := range reconcile.Encodings {
		_, err := statements.Read(strings.NewReader(file), statements.Options{Format: reconcile.MT940,
			Layout: reconcile.Layout{Encoding: reconcile.Encoding(name)}})
		if (err != nil) != (name == "UTF-16") {
			t.Errorf("%s of a file in UTF-8: %v", name, err)
		}
	}
}

func FuzzRead_MT940(f *testing.F) {
	// Any bytes are read as statements of different accounts or refused.
	f.Add(mt940With("101,00", ":61:2603100310C1,00NTRFA1//B1\r\nmore", ":86:166?00CREDIT?20EREF+A?21B"))
	f.Add(mt940With("101,00", ":61:2603100310C1,00NTRFA1", ":86:/EREF/A/RTRN/AC04/REMI//USTD//7/"))
	f.Add("{1:F01A}{2:I940BN}{4:\n" + newMT940("1", "5/1", ":60F:C260309USD1,", ":62M:C260310USD1,") + newMT940("1", "5/2",
		":60M:C260310USD1,", ":62F:C260310USD1,") + "-}")
	f.Fuzz(func(t *testing.T, file string) {
		for _, accepts := range []bool{false, true} {
			statements, err := statements.Read(strings.NewReader(file), statements.Options{Format: reconcile.MT940, AcceptsMismatch: accepts})
			for _, s := range statements {
				if s.Opening == nil || s.Closing == nil || s.From == reconcile.NoDay {
					t.Fatalf("a statement without balances or days: %+v", s.Header)
				}
				checkInvariants(t, s, nil)
			}
			checkInvariants(t, reconcile.Statement{}, err)
		}
	})
}

// BenchmarkRead_MT940 reads a statement of 100,000 movements.
func BenchmarkRead_MT940(b *testing.B) {
	fields := make([]string, 100_000)
	for i := range fields {
		fields[i] = fmt.Sprintf(":61:2603100310C1,00NTRFE%d//A%d\r\n:86:166?00CREDIT?20EREF+REF%09d?21SVWZ+Invoice?32Jane Doe", i, i, i)
	}
	file := mt940With("100100,00", fields...)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := read(reconcile.MT940, "", file)
		if err != nil || len(s.Lines) != len(fields) {
			b.Fatal(len(s.Lines), err)
		}
	}
}
