package exports_test

import (
	"cmp"
	"encoding/csv"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"causeway/app/exports"
	"causeway/app/exports/plaintext"
	"causeway/app/exports/records"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

func TestJournal_ProgramsReportSameBalances(t *testing.T) {
	t.Parallel()
	// hledger, ledger and beancount read a journal of random postings in their strictest mode,
	// confirm every assertion, and report the balances of our ledger: for the whole ledger, for
	// a past time, and for a period with balances brought forward.
	env := newEnv(t)
	env.postRandom(rand.New(rand.NewPCG(7, 11)), 400)
	month := period.Interval{From: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	for name, request := range map[string]exports.Request{
		"whole":       {},
		"past":        {AsOf: noon.AddDate(0, 3, 0).Add(150 * time.Microsecond)},
		"month":       {LedgerFilter: ports.LedgerFilter{Interval: month}},
		"one account": {LedgerFilter: ports.LedgerFilter{Interval: month, Path: "rails/_ODD_1"}},
	} {
		want, earnedBefore := map[[2]string]string{}, map[string]int64{}
		for account, turnover := range env.turnovers(request.AsOf, request.LedgerFilter) {
			name, err := plaintext.AccountName(account[0])
			if err != nil {
				t.Fatal(err)
			}
			want[[2]string{name, account[1]}] = records.FormatMajor(wantClosing(turnover), money.Currency(account[1]))
			earnedBefore[account[1]] += turnover.Closing - wantClosing(turnover)
		}
		for currency, minor := range earnedBefore {
			if request.Path == "" {
				want[[2]string{"Equity:Opening-Balances", currency}] = records.FormatMajor(minor, money.Currency(currency))
			}
		}
		if len(want) < 4 {
			t.Fatalf("%s: only %d balances to compare", name, len(want))
		}
		for format, balances := range map[exports.Format]func(*testing.T, string) map[[2]string]string{
			exports.HLedger: hledgerBalances, exports.Ledger: ledgerBalances, exports.Beancount: beancountBalances,
		} {
			request.Format = format
			journal := env.mustExport(request)
			got := balances(t, journal)
			for account, balance := range want {
				if !equalDecimals(got[account], balance) {
					t.Errorf("%s, %s: the balance of %v is %q, want %s", name, format, account, got[account], balance)
				}
			}
			if request.Path != "" {
				continue // the contra accounts have only the entries with this account
			}
			for account, balance := range got {
				if _, known := want[account]; !known && !equalDecimals(balance, "0") {
					t.Errorf("%s, %s: unknown account %v has a balance of %s", name, format, account, balance)
				}
			}
		}
	}
}

// wantClosing is the balance of an account at the end of a journal: income and expense begin at
// zero with the period.
func wantClosing(t ports.AccountTurnover) int64 {
	if t.Class == ledger.Income || t.Class == ledger.Expense {
		return t.Debits.Sum - t.Credits.Sum
	}
	return t.Closing
}

func TestJournal_IncomeStatementOfPeriod(t *testing.T) {
	t.Parallel()
	// hledger's income statement of an export of a period has the income and expense of that
	// period, whatever was earned before.
	env := newEnv(t)
	env.postRandom(rand.New(rand.NewPCG(5, 3)), 400)
	april := period.Interval{From: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	for name, filter := range map[string]ports.LedgerFilter{
		"whole": {}, "month": {Interval: april}, "from a month on": {Interval: period.Interval{From: april.From}},
		"up to a month": {Interval: period.Interval{To: april.To}},
		"one account":   {Interval: april, Path: "income/fees"}, "one currency": {Interval: april, Currency: "EUR"},
	} {
		journal := writeFile(t, "export.journal", env.mustExport(exports.Request{Format: exports.HLedger, LedgerFilter: filter}))
		out, err := runProgram(t, "hledger", "-f", journal, "incomestatement", "--flat", "--no-total", "--layout=bare", "-O", "csv")
		if err != nil {
			t.Fatalf("%s: hledger: %v\n%s", name, err, out)
		}
		got := parseBalances(t, out)

		compared := 0
		for account, turnover := range env.turnovers(time.Time{}, filter) {
			amount := turnover.Debits.Sum - turnover.Credits.Sum
			switch turnover.Class {
			case ledger.Income:
				amount = -amount
			case ledger.Expense:
			default:
				continue
			}
			path, err := plaintext.AccountName(account[0])
			if err != nil {
				t.Fatal(err)
			}
			compared++
			if want := records.FormatMajor(amount, money.Currency(account[1])); !equalDecimals(got[[2]string{path, account[1]}], want) {
				t.Errorf("%s: hledger reports %q on %s in %s, want %s", name, got[[2]string{path, account[1]}], path, account[1], want)
			}
		}
		if compared == 0 {
			t.Errorf("%s: no income or expense to compare", name)
		}
	}
}

// equalDecimals compares two decimals by value. An empty text, for an account that a program
// leaves out, is zero.
func equalDecimals(a, b string) bool {
	var numbers [2]big.Rat
	for i, text := range []string{a, b} {
		if _, ok := numbers[i].SetString(cmp.Or(text, "0")); !ok {
			return false
		}
	}
	return numbers[0].Cmp(&numbers[1]) == 0
}

func hledgerBalances(t *testing.T, journal string) map[[2]string]string {
	t.Helper()
	path := writeFile(t, "export.journal", journal)
	if out, err := runProgram(t, "hledger", "-f", path, "check", "--strict"); err != nil {
		t.Errorf("hledger rejects the journal: %v\n%.2000s", err, out)
	}
	out, err := runProgram(t, "hledger", "-f", path, "balance", "--flat", "--no-total", "--empty", "--layout=bare", "-O", "csv")
	if err != nil {
		t.Fatalf("hledger: %v\n%s", err, out)
	}
	return parseBalances(t, out)
}

func parseBalances(t *testing.T, text string) map[[2]string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	balances := map[[2]string]string{}
	for _, row := range rows[1:] {
		balances[[2]string{strings.TrimSpace(row[0]), strings.TrimSpace(row[1])}] = strings.TrimSpace(row[2])
	}
	return balances
}

func ledgerBalances(t *testing.T, journal string) map[[2]string]string {
	t.Helper()
	path := writeFile(t, "export.ledger", journal)
	balances := map[[2]string]string{}
	for _, currency := range regexp.MustCompile(`(?m)^commodity (\w+)$`).FindAllStringSubmatch(journal, -1) {
		out, err := runProgram(t, "ledger", "--init-file", "/dev/null", "--pedantic", "-f", path, "balance", "--flat", "--no-total",
			"--limit", `commodity == "`+currency[1]+`"`, "--format", `%(account)|%(quantity(scrub(display_total)))\n`)
		if err != nil || strings.Contains(out, "Error") {
			t.Fatalf("ledger: %v\n%.2000s", err, out)
		}
		for line := range strings.Lines(out) {
			account, balance, _ := strings.Cut(strings.TrimSpace(line), "|")
			balances[[2]string{account, currency[1]}] = balance
		}
	}
	return balances
}

func beancountBalances(t *testing.T, journal string) map[[2]string]string {
	t.Helper()
	path := writeFile(t, "export.beancount", journal)
	if out, err := runProgram(t, "bean-check", path); err != nil || out != "" {
		t.Errorf("beancount rejects the journal: %v\n%.2000s", err, out)
	}
	out, err := runProgram(t, "bean-query", "-f", "csv", path, "SELECT account, currency, str(sum(number)) GROUP BY account, currency")
	if err != nil {
		t.Fatalf("beancount: %v\n%s", err, out)
	}
	balances := parseBalances(t, out)
	for account, text := range balances {
		balances[account] = strings.TrimSuffix(strings.TrimPrefix(text, "Decimal('"), "')")
	}
	return balances
}

func TestJournal_ProgramsRejectWrongAssertion(t *testing.T) {
	t.Parallel()
	// Each program rejects a journal with a balance assertion that is wrong in the last digit.
	env := newSmallEnv(t)
	for format, c := range map[exports.Format]struct{ from, to string }{
		exports.HLedger:   {"= 1498.01 EUR", "= 1498.00 EUR"},
		exports.Ledger:    {"= 1498.01 EUR", "= 1498.00 EUR"},
		exports.Beancount: {"1498.01 ~ 0 EUR", "1498.00 ~ 0 EUR"},
	} {
		correct := env.mustExport(exports.Request{Format: format})
		changed := strings.Replace(correct, c.from, c.to, 1)
		if changed == correct {
			t.Fatalf("%s: there is no %q in\n%s", format, c.from, correct)
		}
		check := func(journal string) error {
			path := writeFile(t, "export.journal", journal)
			var err error
			switch format {
			case exports.HLedger:
				_, err = runProgram(t, "hledger", "-f", path, "check", "--strict")
			case exports.Ledger:
				_, err = runProgram(t, "ledger", "--init-file", "/dev/null", "--pedantic", "-f", path, "balance")
			default:
				_, err = runProgram(t, "bean-check", path)
			}
			return err
		}
		if err := check(correct); err != nil {
			t.Errorf("%s: the correct balance is rejected: %v", format, err)
		}
		if check(changed) == nil {
			t.Errorf("%s: a changed balance is accepted", format)
		}
	}
}
