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
	"causeway/app/exports/camt053"
	"causeway/app/exports/plaintext"
	"causeway/app/exports/records"
	"causeway/core/money"
	"causeway/ports"
)

func TestJournal_ProgramsReportSameBalances(t *testing.T) {
	t.Parallel()
	// hledger, ledger and beancount read a journal of random books in their strictest
	// mode, find every assertion true, and answer with every balance of ours: of the
	// whole, of a past moment, and of a period with balances brought forward.
	h := newEnv(t)
	h.postRandom(rand.New(rand.NewPCG(7, 11)), 400)
	month := ports.Period{From: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	for name, request := range map[string]exports.Request{
		"whole":       {},
		"past":        {AsOf: noon.AddDate(0, 3, 0).Add(150 * time.Microsecond)},
		"month":       {LedgerFilter: ports.LedgerFilter{Period: month}},
		"one account": {LedgerFilter: ports.LedgerFilter{Period: month, Path: "rails/_ODD_1"}},
	} {
		want := map[[2]string]string{}
		for at, turnover := range h.turnovers(request.AsOf, request.LedgerFilter) {
			account, err := plaintext.AccountName(at[0])
			if err != nil {
				t.Fatal(err)
			}
			want[[2]string{account, at[1]}] = records.FormatMajor(turnover.Closing, money.Currency(at[1]))
		}
		if len(want) < 4 {
			t.Fatalf("%s: there are only %d balances to compare", name, len(want))
		}
		for format, balances := range map[exports.Format]func(*testing.T, string) map[[2]string]string{
			exports.HLedger: hledgerBalances, exports.Ledger: ledgerBalances, exports.Beancount: beancountBalances,
		} {
			request.Format = format
			journal := h.mustExport(request)
			got := balances(t, journal)
			for at, balance := range want {
				if !equalDecimals(got[at], balance) {
					t.Errorf("%s, %s: the balance of %v is %q, and ours %s", name, format, at, got[at], balance)
				}
			}
			if request.Path != "" {
				continue // the accounts across are there with a part of what they have
			}
			for at, balance := range got {
				if _, ours := want[at]; !ours && !equalDecimals(balance, "0") {
					t.Errorf("%s, %s: %v has %s, and we know of no such account", name, format, at, balance)
				}
			}
		}
	}
}

// equalDecimals compares decimals, however many zeros they end with and however a program
// writes small ones. A program leaves an account of nothing out.
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
	path := writeFile(t, "books.journal", journal)
	if out, err := runProgram(t, "hledger", "-f", path, "check", "--strict"); err != nil {
		t.Errorf("hledger refuses the journal: %v\n%.2000s", err, out)
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
	path := writeFile(t, "books.ledger", journal)
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
	path := writeFile(t, "books.beancount", journal)
	if out, err := runProgram(t, "bean-check", path); err != nil || out != "" {
		t.Errorf("beancount refuses the journal: %v\n%.2000s", err, out)
	}
	out, err := runProgram(t, "bean-query", "-f", "csv", path, "SELECT account, currency, str(sum(number)) GROUP BY account, currency")
	if err != nil {
		t.Fatalf("beancount: %v\n%s", err, out)
	}
	balances := parseBalances(t, out)
	for at, text := range balances {
		balances[at] = strings.TrimSuffix(strings.TrimPrefix(text, "Decimal('"), "')")
	}
	return balances
}

func TestJournal_ProgramsRejectWrongAssertion(t *testing.T) {
	t.Parallel()
	// The assertions at the end of a journal are no ornament: with one of them off by
	// the last digit, each program refuses the journal.
	h := newSmallEnv(t)
	for format, c := range map[exports.Format]struct{ from, to string }{
		exports.HLedger:   {"= 1498.01 EUR", "= 1498.00 EUR"},
		exports.Ledger:    {"= 1498.01 EUR", "= 1498.00 EUR"},
		exports.Beancount: {"1498.01 ~ 0 EUR", "1498.00 ~ 0 EUR"},
	} {
		right := h.mustExport(exports.Request{Format: format})
		wrong := strings.Replace(right, c.from, c.to, 1)
		if wrong == right {
			t.Fatalf("%s: there is no %q in\n%s", format, c.from, right)
		}
		check := func(journal string) error {
			path := writeFile(t, "books.journal", journal)
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
		if err := check(right); err != nil {
			t.Errorf("%s: the right balance is refused: %v", format, err)
		}
		if check(wrong) == nil {
			t.Errorf("%s: a wrong balance is taken", format)
		}
	}
}

func TestExportCamt053_ValidAgainstSchema(t *testing.T) {
	t.Parallel()
	// A camt.053 of random books, with every memo that means harm, is valid against the
	// schema of ISO 20022, has every fiat account, and adds up: opening balance, credits
	// and debits make the closing balance.
	h := newEnv(t)
	h.postRandom(rand.New(rand.NewPCG(3, 5)), 400)
	for _, request := range []exports.Request{
		{Format: exports.Camt053},
		{Format: exports.Camt053, LedgerFilter: ports.LedgerFilter{Period: ports.Period{From: noon.AddDate(0, 1, 0), To: noon.AddDate(0, 2, 0)}}},
	} {
		path := writeFile(t, "books.xml", h.mustExport(request))
		if out, err := runProgram(t, "xmllint", "--nonet", "--noout", "--schema", "testdata/camt.053.001.08.xsd", path); err != nil {
			t.Errorf("not valid: %v\n%.2000s", err, out)
		}
		statements := parseStatements(t, path)
		for at, turnover := range h.turnovers(time.Time{}, request.LedgerFilter) {
			currency := money.Currency(at[1])
			if !camt053.Supports(currency) {
				continue
			}
			s, ok := statements[at]
			if !ok {
				t.Errorf("%v has no statement", at)
				continue
			}
			if s.opening != turnover.Opening || s.closing != turnover.Closing || s.opening+s.sum != s.closing || s.entries != turnover.Debits.Count+turnover.Credits.Count {
				t.Errorf("%v: %+v, and the books say %+v", at, s, turnover)
			}
			delete(statements, at)
		}
		if len(statements) > 0 {
			t.Errorf("statements of accounts that are not there: %v", statements)
		}
	}
}
