package e2e

import (
	"encoding/csv"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/e2e/bench/history"
)

func TestFinancialStatements_AgainstEntries(t *testing.T) {
	t.Parallel()
	// Two months of payments in several currencies are revalued. What the statements of the second one say of cash, of what is owed
	// and of cash
	// flows is what the entries come to at the closing rates, computed here with exact numbers, and hledger has the same cash. The statements
	// agree with each other and with those of the month before; a closed month has the same ones after later postings. API, command, CSV and
	// PDF have the same figures.
	h := newTestEnv(t)
	platform, err := ident.ParsePlatform(h.platformID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := history.Write(t.Context(), history.Options{URL: h.databaseURL, Platform: platform, Entries: 6000, Months: 2,
		Seed: 5}); err != nil {
		t.Fatal(err)
	}
	h.keepPastRates(100)
	env := []string{"DATABASE_URL=" + h.databaseURL}
	second := period.MonthOf(time.Now()).Previous()
	first := second.Previous()
	run := func(args ...string) string {
		return mustRunCommand(t, env, append(args, "--platform", h.platformID)...)
	}
	run("ledger", "settings", "set", "functionalCurrency=USD", "yearEndMonth="+first.Previous().Start().Format("1"), "--actor", "ana")
	h.get("/ledger/financial-statements/"+second.String()).wantError(409, "CONFLICT")
	run("ledger", "soft-close", first.String(), "--confirm-opening-balances")
	run("ledger", "soft-close", second.String())
	for _, m := range []period.Month{first, second} {
		run("ledger", "revalue", m.String(), "--actor", "ana")
	}
	run("ledger", "close", first.String())
	closed := h.get("/ledger/financial-statements/" + first.String()).wantStatus(200)

	got := h.get("/ledger/financial-statements/" + second.String()).wantStatus(200)

	amounts, before := map[string]int64{}, map[string]int64{}
	for i := range got.list("lines") {
		line := "lines." + strconv.Itoa(i)
		code := got.text(line+".statement") + " " + got.text(line+".name")
		amounts[code], before[code] = got.int(line+".amount"), got.int(line+".amountBefore")
	}
	w := h.statementsOf(second)
	for code, want := range map[string]*big.Rat{
		"BALANCE_SHEET Cash at partners and on chains, with customers' money": w.cash, "CASH_FLOW Cash at the end": w.cash,
		"BALANCE_SHEET Total liabilities": w.owed, "CASH_FLOW Received from customers and payees": w.received,
		"CASH_FLOW Paid to customers and payees": new(big.Rat).Neg(w.paid),
	} {
		difference := new(big.Rat).Sub(want, new(big.Rat).SetInt64(amounts[code]))
		if difference.Abs(difference).Cmp(big.NewRat(20, 1)) > 0 || want.Sign() == 0 { // each account is rounded
			t.Errorf("%s is %d, and the entries come to %s", code, amounts[code], want.FloatString(2))
		}
	}
	const assets, both, equity = "BALANCE_SHEET Total assets", "BALANCE_SHEET Total liabilities and equity", "BALANCE_SHEET Total equity"
	if amounts[assets] != amounts[both] || before[assets] != before[both] || amounts[assets] == 0 {
		t.Errorf("assets are %d and %d, liabilities and equity %d and %d", amounts[assets], before[assets], amounts[both], before[both])
	}
	result := "INCOME_STATEMENT Result"
	if amounts[result] != amounts[equity]-before[equity] || amounts[result] == 0 { // nothing was paid in
		t.Errorf("the result is %d, and equity went from %d to %d", amounts[result], before[equity], amounts[equity])
	}
	if amounts["CASH_FLOW Cash at the beginning"] != before["CASH_FLOW Cash at the end"] {
		t.Errorf("the month begins with %d, and the one before it ended with %d", amounts["CASH_FLOW Cash at the beginning"],
			before["CASH_FLOW Cash at the end"])
	}
	for code := range amounts {
		if strings.Contains(code, "Exchange result not posted yet") || strings.Contains(code, "Posted while this was read") {
			t.Errorf("%s: %d", code, amounts[code])
		}
	}
	if again := h.get("/ledger/financial-statements/" + first.String()).wantStatus(200); string(again.body) != string(closed.body) {
		t.Errorf("the closed month had\n%s\nand has\n%s", closed.body, again.body)
	}
	if printed := run("ledger", "financial-statements", second.String(), "--output", "csv"); printed !=
		string(h.get("/ledger/financial-statements/"+second.String()+"?format=csv").wantStatus(200).body) {
		t.Errorf("the command prints\n%s", printed)
	}
	text := run("ledger", "financial-statements", second.String(), "--span", "quarter-to-date", "--statement", "income")
	if !strings.Contains(text, "Income statement, in USD") || !strings.Contains(text, "provisional") || strings.Contains(text, "Own cash") {
		t.Errorf("the command prints\n%s", text)
	}
	pdf := filepath.Join(t.TempDir(), "statements.pdf")
	run("ledger", "financial-statements", second.String(), "--pdf", pdf)
	shown, err := exec.CommandContext(t.Context(), "pdftotext", "-layout", pdf, "-").Output()
	total := new(big.Rat).SetFrac64(amounts[assets], 100).FloatString(2)
	if err != nil || !strings.Contains(string(shown), "Balance sheet") || !strings.Contains(string(shown), total) {
		t.Errorf("%v: %s", err, shown)
	}
}

// computed is what the entries until the end of a month come to at its closing rates, and those of the month between cash and customers.
type computed struct{ cash, owed, received, paid *big.Rat }

// statementsOf computes figures of a month from all entries, and checks the cash in each currency with hledger.
func (h *testEnv) statementsOf(m period.Month) computed {
	h.t.Helper()
	result := h.get("/ledger/exchange-result/" + m.String()).wantStatus(200)
	rates := map[string]*big.Rat{"USD": big.NewRat(1, 1)} // of the smallest units
	for i := range result.list("positions") {
		line := "positions." + strconv.Itoa(i)
		rates[result.text(line+".currency")], _ = new(big.Rat).SetString(result.text(line + ".rate"))
	}
	file := h.get("/ledger/postings?format=csv&by=effective&to=" + url.QueryEscape(formatTimestamp(m.End()))).wantStatus(200)
	rows, err := csv.NewReader(strings.NewReader(string(file.body))).ReadAll()
	if err != nil {
		h.t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	isOne := func(path string, groups ...string) bool {
		for _, g := range groups {
			if strings.HasPrefix(path, g) {
				return true
			}
		}
		return false
	}
	c := computed{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)}
	majors := map[string]*big.Rat{}
	for _, row := range rows[1:] {
		debit, credit, currency, rate := row[column["debit"]], row[column["credit"]], row[column["currency"]], rates[row[column["currency"]]]
		amount, ok := new(big.Rat).SetString(row[column["amount"]])
		if !ok || rate == nil {
			h.t.Fatalf("no rate for %v", row)
		}
		_, decimals, _ := strings.Cut(row[column["amount"]], ".")
		value := new(big.Rat).Mul(amount, rate)
		for range decimals {
			value.Mul(value, big.NewRat(10, 1))
		}
		if majors[currency] == nil {
			majors[currency] = new(big.Rat)
		}
		intoCash, outOfCash := isOne(debit, "rails/", "chains/"), isOne(credit, "rails/", "chains/")
		if intoCash {
			c.cash.Add(c.cash, value)
			majors[currency].Add(majors[currency], amount)
		}
		if outOfCash {
			c.cash.Sub(c.cash, value)
			majors[currency].Sub(majors[currency], amount)
		}
		owed := []string{"customers/", "wallets/", "funding/", "transit/"}
		if isOne(debit, owed...) {
			c.owed.Sub(c.owed, value)
		}
		if isOne(credit, owed...) {
			c.owed.Add(c.owed, value)
		}
		effective, err := time.Parse(time.RFC3339, row[column["effective_at"]])
		switch {
		case err != nil:
			h.t.Fatal(err)
		case effective.Before(m.Start()):
		case intoCash && isOne(credit, owed...):
			c.received.Add(c.received, value)
		case outOfCash && isOne(debit, owed...):
			c.paid.Add(c.paid, value)
		}
	}
	h.checkCashByHledger(m, majors)
	return c
}

func (h *testEnv) checkCashByHledger(m period.Month, want map[string]*big.Rat) {
	h.t.Helper()
	path := filepath.Join(h.t.TempDir(), "books.journal")
	if err := os.WriteFile(path, h.get("/ledger/export?format=hledger&to="+url.QueryEscape(formatTimestamp(m.End()))).wantStatus(200).body,
		0o600); err != nil {
		h.t.Fatal(err)
	}
	out, err := exec.CommandContext(h.t.Context(), "hledger", "-f", path, "balance", "^Assets:(Rails|Chains)", "--flat", "--no-total",
		"--layout=bare",
		"-O", "csv").CombinedOutput()
	if err != nil {
		h.t.Fatalf("hledger: %v\n%s; install it with .ci/need hledger", err, out)
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		h.t.Fatal(err)
	}
	got := map[string]*big.Rat{}
	for _, row := range rows[1:] {
		amount, ok := new(big.Rat).SetString(row[2])
		if !ok {
			h.t.Fatalf("%q", row)
		}
		if got[row[1]] == nil {
			got[row[1]] = new(big.Rat)
		}
		got[row[1]].Add(got[row[1]], amount)
	}
	for currency, amount := range want {
		if g := got[currency]; amount.Sign() != 0 && (g == nil || g.Cmp(amount) != 0) {
			h.t.Errorf("hledger has %v %s, and the entries come to %s", g, currency, amount.FloatString(8))
		}
	}
}
