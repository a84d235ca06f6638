package statements_test

import (
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/formats/statements"
	"causeway/core/reconcile"
)

// newPeriod returns a FrToDt element.
func newPeriod(from, to string) string {
	return `<FrToDt><FrDtTm>` + from + `</FrDtTm><ToDtTm>` + to + `</ToDtTm></FrToDt>`
}

// newBareEntry returns an entry without a status and without dates.
func newBareEntry(amount, side string) string {
	return `<Ntry><Amt Ccy="EUR">` + amount + `</Amt>` + side + `</Ntry>`
}

func TestRead_EntriesWithoutStatusAndDate(t *testing.T) {
	t.Parallel()
	// Central banks write neither status nor date of an entry: the balances show that all are booked,
	// and on which day.
	opening, closing := newBal("OPBD", "2026-03-10", "5.00", ""), newBal("CLBD", "2026-03-10", "4.50", "")
	file := newMessage("", newStmt("A", "DE1", "EUR", opening, closing, newBareEntry("0.3", credit), newBareEntry("0.8", debit)),
		newStmt("B", "DE2", "EUR", newBal("OPBD", "2026-03-10", "8.00", ""), newBal("CLBD", "2026-03-10", "8.00", ""), newBareEntry("2", credit),
			newBareEntry("2", debit)))
	got, err := readAll(reconcile.CAMT053, file, false)
	if want := `EUR A DE1 2026-03-10..2026-03-10 500→450 ignored 0
2026-03-10 2026-03-10 30  [] "" false
2026-03-10 2026-03-10 -80  [] "" false
EUR B DE2 2026-03-10..2026-03-10 -→- ignored 0
2026-03-10 2026-03-10 200  [] "" false
2026-03-10 2026-03-10 -200  [] "" false
`; err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	known := newBal("OPBD", "2026-03-10", "5.00", credit)
	booked := strings.Replace(newBareEntry("0.5", debit), "</Ntry>", "<Sts>BOOK</Sts></Ntry>", 1)
	for _, c := range []struct{ name, file, want string }{
		{"the period", newStmt("A", "DE1", "EUR", newPeriod("2026-03-10T00:00:00", "2026-03-10T23:59:59"), booked),
			"\n2026-03-10 2026-03-10 -50 "},
		{"a period that ends at midnight", newStmt("A", "DE1", "EUR", newPeriod("2026-03-10T00:00:00", "2026-03-11T00:00:00"), booked),
			"\n2026-03-10 2026-03-10 -50 "},
		{"a value date alone", newStmt("A", "DE1", "EUR", newPeriod("2026-03-09", "2026-03-10"), newValuedEntry("2026-03-09")),
			"\n2026-03-09 2026-03-09 -50 "},
		{"a value date after the statement", newStmt("A", "DE1", "EUR", newPeriod("2026-03-09", "2026-03-10"), newValuedEntry("2026-03-17")),
			"\n2026-03-10 2026-03-17 -50 "},
		{"a value date after the closing balance", newStmt("A", "DE1", "EUR", newBal("CLBD", "2026-03-10", "4.50", credit),
			newValuedEntry("2026-03-17")), "\n2026-03-10 2026-03-17 -50 "},
	} {
		if got, err := readAll(reconcile.CAMT053, newMessage("", c.file), false); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
	for _, c := range []struct{ name, file, want string }{
		{"no closing balance", newStmt("A", "DE1", "EUR", known, newEntryWithoutStatus("0.50")),
			"an entry has no status, and no balances show whether all entries are booked"},
		{"another closing balance", newStmt("A", "DE1", "EUR", known, newBal("CLBD", "2026-03-10", "4.00", credit),
			newEntryWithoutStatus("0.50")), "an entry has no status, and no balances show whether all entries are booked"},
		{"several days", newStmt("A", "DE1", "EUR", newPeriod("2026-03-09T00:00:00", "2026-03-10T23:59:59"), opening, closing, booked),
			"an entry has no date, and the statement is not of a single day"},
		{"balances of two days", newStmt("A", "DE1", "EUR", newBal("OPBD", "2026-03-09", "5.00", credit), closing, booked),
			"an entry has no date, and the statement is not of a single day"},
	} {
		for _, accepts := range []bool{false, true} {
			if got, err := readAll(reconcile.CAMT053, newMessage("", c.file), accepts); !fault.Is(err, fault.InvalidInput) ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s:\n got %v %s\nwant %s", c.name, err, got, c.want)
			}
		}
	}
}

func newValuedEntry(day string) string {
	return strings.Replace(newBareEntry("0.5", debit), "</Ntry>", "<Sts>BOOK</Sts><ValDt><Dt>"+day+"</Dt></ValDt></Ntry>", 1)
}

func newEntryWithoutStatus(amount string) string {
	return strings.Replace(newEntry("2026-03-10", amount, debit), "<Sts>BOOK</Sts>", "", 1)
}

func TestRead_DaysOfStatement(t *testing.T) {
	t.Parallel()
	// A statement covers the days that its period or its closing balance says, and not the day that
	// begins when it ends.
	opening, closing := newBal("OPBD", "2026-03-09", "5.00", credit), newBal("CLBD", "2026-03-13", "5.00", credit)
	ends := strings.NewReplacer("<Dt><Dt>2026-03-13</Dt></Dt>", "<Dt><DtTm>2026-03-14T00:00:00+01:00</DtTm></Dt>").Replace(closing)
	for _, c := range []struct{ name, stmt, want string }{
		{"no entries and no period", newStmt("A", "DE1", "EUR", opening, closing), "2026-03-13..2026-03-13"},
		{"no period", newStmt("A", "DE1", "EUR", opening, closing, newEntry("2026-03-10", "1.00", credit), newEntry("2026-03-10", "1.00", debit)),
			"2026-03-10..2026-03-13"},
		{"a period", newStmt("A", "DE1", "EUR", newPeriod("2026-03-09T00:00:00", "2026-03-13T23:59:59"), opening, closing),
			"2026-03-09..2026-03-13"},
		{"midnight", newStmt("A", "DE1", "EUR", newPeriod("2026-03-09T00:00:00+01:00", "2026-03-14T00:00:00+01:00"), opening, ends),
			"2026-03-09..2026-03-13"},
		{"midnight of another zone", newStmt("A", "DE1", "EUR", newPeriod("2026-03-09T04:00:00Z", "2026-03-14T04:00:00Z")),
			"2026-03-09..2026-03-13"},
		{"midnight, but the closing balance is of the last day",
			newStmt("A", "DE1", "EUR", newPeriod("2026-03-09T00:00:00", "2026-03-13T00:00:00"), opening, closing), "2026-03-09..2026-03-13"},
		{"a single day", newStmt("A", "DE1", "EUR", newPeriod("2026-03-13T00:00:00", "2026-03-13T00:00:00"), opening, closing),
			"2026-03-13..2026-03-13"},
		{"dates alone", newStmt("A", "DE1", "EUR", newPeriod("2026-03-09", "2026-03-13"), opening, closing), "2026-03-09..2026-03-13"},
	} {
		statements, err := statements.Read(strings.NewReader(newMessage("", c.stmt)), statements.Options{Format: reconcile.CAMT053})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s := statements[0]
		if err := s.Finalize(time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)); err != nil || s.From.String()+".."+s.To.String() != c.want {
			t.Errorf("%s: %v, %s..%s, want %s", c.name, err, s.From, s.To, c.want)
		}
	}
}

func TestRead_BalancesWithCodesOfBAI(t *testing.T) {
	t.Parallel()
	// Banks in North America name the balances of camt.053 by the codes of BAI2.
	bai := strings.NewReplacer("<Cd>OPBD</Cd>", "<Prtry>010</Prtry>", "<Cd>CLBD</Cd>", "<Prtry>015</Prtry>", "<Cd>CLAV</Cd>",
		"<Prtry>045</Prtry>")
	file := func(closing string) string {
		return bai.Replace(newMessage("", newStmt("A", "DE1", "EUR", newBal("OPBD", "2026-03-10", "5.00", credit),
			newBal("CLBD", "2026-03-10", closing, credit), newBal("CLAV", "2026-03-10", "1.00", credit),
			newEntry("2026-03-10", "0.50", debit))))
	}
	if got, err := readAll(reconcile.CAMT053, file("4.50"), false); err != nil || !strings.Contains(got, " 500→450 ") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := readAll(reconcile.CAMT053, file("4.00"), false); err == nil || !strings.Contains(err.Error(), "its opening balance is "+
		"5.00 EUR and its closing balance 4.00 EUR") {
		t.Errorf("an entry is missing: %v\n%s", err, got)
	}
}
