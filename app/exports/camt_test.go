package exports_test

import (
	"context"
	"encoding/xml"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/app/exports"
	"causeway/app/exports/camt053"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// camtStatement is one statement of a camt.053 message, in minor units with debits positive.
type camtStatement struct {
	id, legalNumber, owner, ownerID, servicer string
	number                                    int
	from, to                                  time.Time
	opening, closing, sum, entries            int64
}

type amountElement struct {
	Amt struct {
		Text     string `xml:",chardata"`
		Currency string `xml:"Ccy,attr"`
	}
	CdtDbtInd string
}

// minor returns the digits of an amount, in any currency.
func (a amountElement) minor(t testing.TB) int64 {
	n, err := strconv.ParseInt(strings.Replace(a.Amt.Text, ".", "", 1), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if a.CdtDbtInd == "CRDT" {
		return -n
	}
	return n
}

// parseStatements reads the statements of a message, in order, by account name and currency. It checks
// that each entry is in the time of its statement, and that the statement adds up.
func parseStatements(t testing.TB, path string) map[[2]string][]camtStatement {
	t.Helper()
	var document struct {
		BkToCstmrStmt struct {
			Stmt []struct {
				Id           string
				ElctrncSeqNb int
				LglSeqNb     string
				FrToDt       struct{ FrDtTm, ToDtTm time.Time }
				Acct         struct {
					Ccy, Nm string
					Owner   string `xml:"Ownr>Nm"`
					Private string `xml:"Ownr>Id>PrvtId>Othr>Id"`
					Company string `xml:"Ownr>Id>OrgId>Othr>Id"`
					Svcr    string `xml:"Svcr>FinInstnId>Nm"`
				}
				Bal []struct {
					Cd string `xml:"Tp>CdOrPrtry>Cd"`
					amountElement
				}
				Ntry []struct {
					amountElement
					Effective time.Time `xml:"ValDt>DtTm"`
				}
			}
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	statements := map[[2]string][]camtStatement{}
	for _, s := range document.BkToCstmrStmt.Stmt {
		read := camtStatement{id: s.Id, number: s.ElctrncSeqNb, legalNumber: s.LglSeqNb, owner: s.Acct.Owner, ownerID: s.Acct.Private +
			s.Acct.Company, servicer: s.Acct.Svcr,
			from: s.FrToDt.FrDtTm, to: s.FrToDt.ToDtTm}
		for _, balance := range s.Bal {
			if balance.Amt.Currency != s.Acct.Ccy {
				t.Errorf("%s has a balance in %s", s.Acct.Nm, balance.Amt.Currency)
			}
			switch balance.Cd {
			case "OPBD":
				read.opening = balance.minor(t)
			case "CLBD":
				read.closing = balance.minor(t)
			}
		}
		for _, entry := range s.Ntry {
			read.sum += entry.minor(t)
			read.entries++
			if entry.Effective.Before(read.from) || entry.Effective.After(read.to) {
				t.Errorf("%s: an entry of %s in the statement from %s to %s", s.Acct.Nm, entry.Effective, read.from, read.to)
			}
		}
		if read.opening+read.sum != read.closing || read.entries == 0 {
			t.Errorf("%s: does not add up: %+v", s.Acct.Nm, read)
		}
		key := [2]string{s.Acct.Nm, s.Acct.Ccy}
		statements[key] = append(statements[key], read)
	}
	return statements
}

// exportCamt exports statements that are valid against the schema of ISO 20022.
func (e *env) exportCamt(t testing.TB, r exports.Request) map[[2]string][]camtStatement {
	t.Helper()
	r.Format = exports.Camt053
	path := writeFile(t, "export.xml", e.mustExport(r))
	if out, err := runProgram(t, "xmllint", "--nonet", "--noout", "--schema", "testdata/camt.053.001.08.xsd", path); err != nil {
		t.Errorf("not valid: %v\n%.2000s", err, out)
	}
	return parseStatements(t, path)
}

func TestExportCamt053_StatementEachDay(t *testing.T) {
	t.Parallel()
	// A camt.053 message of random postings with malicious memos has a statement for each day with
	// entries of each fiat account. They are numbered without gaps, and each begins with the closing
	// balance of the one before.
	env := newEnv(t)
	env.postRandom(rand.New(rand.NewPCG(3, 5)), 400)
	for _, filter := range []ports.LedgerFilter{
		{}, {Interval: period.Interval{From: noon.AddDate(0, 1, 0), To: noon.AddDate(0, 2, 0)}}, {Path: "rails/ACH", Currency: money.USD},
	} {
		statements := env.exportCamt(t, exports.Request{LedgerFilter: filter})
		compared := 0
		for account, turnover := range env.turnovers(time.Time{}, filter) {
			if !camt053.Supports(money.Currency(account[1])) || turnover.Debits.Count+turnover.Credits.Count == 0 {
				continue
			}
			balance, entries, last := turnover.Opening, int64(0), time.Time{}
			for i, s := range statements[account] {
				if s.opening != balance || s.from.Truncate(24*time.Hour) != s.to.Truncate(24*time.Hour) || !s.from.After(last) {
					t.Errorf("%v: %+v after a balance of %d at %s", account, s, balance, last)
				}
				if i > 0 && s.number != statements[account][i-1].number+1 || s.number < 1 || s.legalNumber != strconv.Itoa(s.number) {
					t.Errorf("%v: the number %d after %+v", account, s.number, statements[account][max(0, i-1)])
				}
				balance, entries, last = s.closing, entries+s.entries, s.to
			}
			if balance != turnover.Closing || entries != turnover.Debits.Count+turnover.Credits.Count {
				t.Errorf("%v: %d entries up to %d, and the ledger has %+v", account, entries, balance, turnover)
			}
			compared++
			delete(statements, account)
		}
		if len(statements) > 0 || compared == 0 {
			t.Errorf("statements of unknown accounts: %v", statements)
		}
	}
}

func TestExportCamt053_NumbersAreStable(t *testing.T) {
	t.Parallel()
	// The statement of a day has the same number and id in every message that has the whole day,
	// whatever its period. Numbers begin with 1 in a new year. Posting on a later day changes neither.
	env := newEnv(t)
	deposit := func(at time.Time) {
		env.post(at, ledger.UnmatchedReceived(env.header(at, ""), ledger.Rail("ACH"), newAmount(100, money.USD)))
	}
	start := time.Date(2026, 12, 28, 10, 0, 0, 0, time.UTC)
	for _, days := range []int{0, 0, 2, 3, 4, 6, 8} { // up to 5 January
		deposit(start.AddDate(0, 0, days))
	}
	day := func(n int) time.Time { return start.AddDate(0, 0, n).Truncate(24 * time.Hour) }
	rail := [2]string{"rails/ACH", "USD"}
	all := env.exportCamt(t, exports.Request{})[rail]
	var numbers []int
	for _, s := range all {
		numbers = append(numbers, s.number)
	}
	if want := []int{1, 2, 3, 1, 2, 3}; !slices.Equal(numbers, want) {
		t.Fatalf("numbers %v, want %v", numbers, want)
	}

	deposit(start.AddDate(0, 0, 9))
	for i, span := range []period.Interval{
		{From: day(0), To: day(1)}, {From: day(2), To: day(3)}, {From: day(3), To: day(4)}, {From: day(4), To: day(5)},
		{From: day(5), To: day(7)},
	} {
		got := env.exportCamt(t, exports.Request{LedgerFilter: ports.LedgerFilter{Interval: span}})[rail]
		if len(got) != 1 || got[0] != all[i] {
			t.Errorf("from %s: %+v\nwant %+v", span.From, got, all[i])
		}
	}

	half := env.exportCamt(t, exports.Request{LedgerFilter: ports.LedgerFilter{Interval: period.Interval{From: start.Add(time.Minute),
		To: day(3)}}})[rail]
	if len(half) != 1 || half[0].number != 2 {
		t.Errorf("from within a day: %+v", half)
	}
}

func TestExportCamt053_DayThatIsNotOver(t *testing.T) {
	t.Parallel()
	// The statement of the day of the export ends with the last posting.
	env := newEnv(t)
	env.post(noon, ledger.UnmatchedReceived(env.header(noon.Add(-time.Hour), ""), ledger.Rail("ACH"), newAmount(100, money.USD)))

	got := env.exportCamt(t, exports.Request{})[[2]string{"rails/ACH", "USD"}]

	if len(got) != 1 || !got[0].to.Equal(noon) || !got[0].from.Equal(noon.Truncate(24*time.Hour)) {
		t.Errorf("%+v", got)
	}
}

func TestExportCamt053_PeriodWithoutEntries(t *testing.T) {
	t.Parallel()
	// A period without entries is refused, because a message must have a statement.
	env := newSmallEnv(t)
	quiet := period.Interval{From: noon.AddDate(0, 3, 0), To: noon.AddDate(0, 4, 0)}

	_, err := env.export(exports.Request{Format: exports.Camt053, LedgerFilter: ports.LedgerFilter{Interval: quiet}})

	if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || len(f.Fields) != 1 ||
		!strings.Contains(f.Fields[0].Message, "none had entries") {
		t.Errorf("%v", err)
	}
}

// archivedYear is a ledger with one entry, in which the days before it are archived.
type archivedYear struct{ fakeLedger }

func (a *archivedYear) View(ctx context.Context, _ ident.Platform, _ time.Time, fn func(context.Context, ports.LedgerView) error) error {
	return fn(ctx, a)
}

func (a *archivedYear) Days(_ context.Context, _ ledger.Account, since time.Time, _ period.Interval,
	each func(ports.DayTurnover) error) error {
	day := noon.Truncate(24 * time.Hour)
	if since.Before(day) {
		return fault.New(fault.MonthArchived, "archived")
	}
	return each(ports.DayTurnover{Day: day, Debits: ports.Tally{Count: 1, Sum: 100}, Last: noon})
}

func TestExportCamt053_NoNumbersInArchivedYear(t *testing.T) {
	t.Parallel()
	// If a month of the year is archived, statements have no numbers, because they would be wrong.
	rail := ledger.Account{Platform: platformID(1), Path: "rails/ACH", Currency: money.USD}
	a := &archivedYear{fakeLedger{
		turnover: ports.AccountTurnover{Account: rail, Class: ledger.Asset, Opening: 5, Closing: 105, Debits: ports.Tally{Count: 1, Sum: 100}},
		movements: []ports.RecordedEntry{{Entry: ledger.Entry{Debit: rail.Path, Credit: "funding/unmatched", Currency: money.USD, Amount: 100},
			Position: ports.EntryPosition{Seq: 9, N: 1}, Kind: ledger.KindUnmatchedReceived, Effective: noon, Recorded: noon}},
	}}
	document, err := exports.New(exports.Config{Views: a, Store: a, Clock: portstest.NewFakeClock(noon)}).Export(platformID(1),
		exports.Request{Format: exports.Camt053,
			LedgerFilter: ports.LedgerFilter{Interval: period.Interval{From: noon.Truncate(24 * time.Hour)}}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder

	if err := document.Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}

	if text := out.String(); strings.Contains(text, "SeqNb") || strings.Count(text, "<Stmt>") != 1 || !strings.Contains(text, ">1.05</Amt>") {
		t.Error(text)
	}
}
