package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestYearEnd_CloseAndReverse(t *testing.T) {
	t.Parallel()
	// A financial year that ends with last month is closed by command: its trial balance has no income and expense,
	// retained earnings have the result, and the income report still has what was earned, as hledger reports it.
	h := newTestEnv(t)
	now := time.Now().UTC()
	last := time.Date(now.Year(), now.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	month, year := "/ledger/periods/"+last.Format("2006-01"), last.Format("2006")
	post := func(debit, credit string, amount int) {
		h.post("/ledger/adjustments", object{"note": "Invoice", "effectiveAt": formatTimestamp(last.AddDate(0, 0, 4)),
			"entries": []object{{"debit": debit, "credit": credit, "currency": "USD", "amount": amount}}}).wantStatus(201)
	}
	h.call("PUT", "/ledger/settings", object{"unrealisedResult": "REVERSE", "feeRecognition": "CONVERSION", "yearEndMonth": int(last.Month()),
		"fourEyes": []string{}}).wantStatus(200)
	post("rails/WIRE", "income/fees", 12000)
	post("expense/rails", "rails/WIRE", 2000)

	env := []string{"DATABASE_URL=" + h.databaseURL}
	command := func(name string, args ...string) string {
		return mustRunCommand(t, env, append([]string{"ledger", name}, append(args, "--platform", h.platformID)...)...)
	}
	h.post("/ledger/years/"+year+"/close", object{"note": "Audited"}).wantError(409,
		"CONFLICT").wantValues(map[string]any{"reason": "Wrong state"})
	h.post(month+"/soft-close", object{"confirmOpeningBalances": true}).wantStatus(200)
	if out := command("close-year", year, "--note", "Audited"); !strings.Contains(out, "CLOSED") || !strings.Contains(out, "100.00") {
		t.Errorf("close-year prints\n%s", out)
	}
	h.get("/ledger/years/" + year).wantStatus(200).wantValues(map[string]any{"state": "CLOSED", "closings.0.note": "Audited",
		"closings.0.results.0.income": 12000, "closings.0.results.0.expense": 2000, "closings.0.results.0.result": 10000})

	// What is posted afterwards is found when the month is closed.
	post("rails/WIRE", "income/fees", 500)
	h.post(month+"/close", nil).wantError(409, "CONFLICT").wantValues(map[string]any{"reason": "Year end out of date"})
	h.withHeader("Causeway-Actor", "Ana").post("/ledger/years/"+year+"/reverse", object{"note": "A fee is missing"}).wantStatus(200).
		wantValues(map[string]any{"state": "OPEN", "closings.0.reversal.actor": "Ana", "closings.0.reversal.note": "A fee is missing"})
	command("close-year", year, "--note", "With the fee")
	command("close", last.Format("2006-01"))

	lines := h.get(month).wantStatus(200)
	closing := map[string]int64{}
	for i := range lines.list("closing.trialBalance.lines") {
		at := "closing.trialBalance.lines." + strconv.Itoa(i)
		closing[lines.text(at+".account")] = lines.int(at + ".closing")
	}
	if closing["income/fees"] != 0 || closing["expense/rails"] != 0 || closing["equity/retained-earnings"] != 10500 {
		t.Errorf("closing balances %v", closing)
	}
	income := h.get("/ledger/income?by=effective&period=month&from=" + formatTimestamp(last)).wantStatus(200)
	income.wantValues(map[string]any{"periods.0.lines.0.path": "income/fees", "periods.0.lines.0.earned": 12500})
	mustRunCommand(t, env, "ledger", "check")

	path := filepath.Join(t.TempDir(), "year.journal")
	if err := os.WriteFile(path, h.get("/ledger/export?format=hledger").wantStatus(200).body, 0o600); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"not:desc:Closing of the year": "125.00", "not:desc:nothing": "0"} {
		out, err := exec.CommandContext(t.Context(), "hledger", "-f", path, "incomestatement", "--flat", "--no-total", "--layout=bare", "-O",
			"csv", query).CombinedOutput()
		if err != nil {
			t.Fatalf("hledger: %v\n%s; install it with .ci/need hledger", err, out)
		}
		if got := strings.Contains(string(out), `"Income:Fees","USD","125.00"`); got != (want == "125.00") {
			t.Errorf("%s: hledger reports\n%s", query, out)
		}
	}
}
