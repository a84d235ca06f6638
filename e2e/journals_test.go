package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestJournals_OfAMonthAreMadeOnceAndGrowByRevisions(t *testing.T) {
	t.Parallel()
	// The journals of a month have what was posted in it, by code. They are the same when they are made again;
	// what is posted later is in a journal of its own; and the days of the month cannot be journalled as well.
	h := newSharedEnv(t)
	month := previousMonth()
	compact, label, lastDay := month.Format("200601"), month.Format("2006-01"), month.AddDate(0, 1, -1)
	fee := func(amount int, currency string) {
		h.post("/ledger/adjustments", object{"note": "A fee of the bank", "effectiveAt": formatTimestamp(month.Add(time.Hour)),
			"entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": currency, "amount": amount}}}).wantStatus(201)
	}
	fee(700, "USD")
	fee(12, "BTC")
	const path = "/ledger/journals"
	h.post(path, object{"span": time.Now().UTC().Format("2006-01")}).wantError(400,
		"INVALID_INPUT").wantValues(map[string]any{"details.errors.0.field": "span"})
	h.post(path, object{"span": "October"}).wantError(400, "INVALID_INPUT")
	ana := h.withHeader("Causeway-Actor", "Ana Lima")

	first := ana.post(path, object{"span": label}).wantStatus(200).wantValues(map[string]any{
		"data.0.number": "CW-" + compact + "-BTC", "data.1.number": "CW-" + compact + "-USD", "data.1.date": lastDay.Format(time.DateOnly),
		"data.1.actor":    "Ana Lima",
		"data.1.revision": 1, "data.1.control.debits": 700, "data.1.control.credits": 700, "data.1.control.lines": 2,
		"data.1.lines.0.code": "1100", "data.1.lines.0.credit": 700, "data.1.lines.1.debit": 700})
	if again := h.post(path, object{"span": label}).wantStatus(200); string(again.body) != string(first.body) {
		t.Errorf("made again:\n%s\nfirst:\n%s", again.body, first.body)
	}
	fee(30, "USD")
	h.post(path, object{"span": label}).wantStatus(200).wantValues(map[string]any{"data.1.control.debits": 700,
		"data.2.number": "CW-" + compact + "-USD-R2", "data.2.revision": 2, "data.2.control.debits": 30, "data.2.actor": ""})
	h.post(path, object{"span": lastDay.Format(time.DateOnly)}).wantError(409,
		"CONFLICT").wantValues(map[string]any{"reason": "Overlapping journals"})

	page := h.get(path + "?limit=2").wantStatus(200).wantValues(map[string]any{"hasMore": true, "data.0.number": "CW-" + compact + "-BTC"})
	h.get(path + "?limit=2&cursor=" + page.text("nextCursor")).wantStatus(200).wantValues(map[string]any{"hasMore": false,
		"data.0.number": "CW-" + compact + "-USD-R2"})
	h.get(path+"/CW-209901-USD").wantError(404, "NOT_FOUND")
	h.get(path+"/CW-"+compact+"-BTC/file?format=xero").wantError(409, "CONFLICT")
	xero := h.get(path + "/CW-" + compact + "-USD/file?format=xero&taxRate=None").wantStatus(200)
	if want := "CW-" + compact + "-USD USD," + lastDay.Format("02/01/2006") + ",\"1100 Funds at payment partners, " + label +
		"\",1100,None,-7.00\r\n"; !strings.Contains(string(xero.body), want) {
		t.Errorf("Xero:\n%s\nwant %s", xero.body, want)
	}
}

func TestJournals_CommandWritesTheFilesOfAPeriod(t *testing.T) {
	t.Parallel()
	// The command writes a file for each journal that the program takes, names the others, and prints the
	// control totals. Repeated, it writes the same.
	h := newTestEnv(t)
	day := previousMonth().AddDate(0, 0, 2)
	for _, currency := range []string{"USD", "BTC"} {
		h.post("/ledger/adjustments", object{"note": "A fee of the bank", "effectiveAt": formatTimestamp(day.Add(time.Hour)),
			"entries": []object{{"debit": "expense/rails", "credit": "rails/WIRE", "currency": currency, "amount": 700}}}).wantStatus(201)
	}
	env, folder := []string{"DATABASE_URL=" + h.databaseURL}, filepath.Join(t.TempDir(), "journals")
	args := []string{"ledger", "journals", day.Format(time.DateOnly), "--platform", h.platformID, "--program", "quickbooks", "--folder",
		folder, "--actor", "ana"}

	out := mustRunCommand(t, env, args...)

	number := "CW-" + day.Format("20060102")
	if !strings.Contains(out, "No file for "+number+"-BTC: QuickBooks cannot import") || !strings.Contains(out, number+"-USD") ||
		!strings.Contains(out, "7.00") {
		t.Errorf("printed:\n%s", out)
	}
	file, err := os.ReadFile(filepath.Join(folder, number+"-USD.csv"))
	if want := number + "-USD," + day.Format("01/02/2006") + ",Funds at payment partners,,7.00,"; err != nil ||
		!strings.Contains(string(file), want) {
		t.Errorf("%v\n%s\nwant %s", err, file, want)
	}
	control, err := os.ReadFile(filepath.Join(folder, "control-"+day.Format(time.DateOnly)+".csv"))
	if err != nil || strings.Count(string(control), "\n") != 3 {
		t.Errorf("%v\n%s", err, control)
	}
	if again := mustRunCommand(t, env, args...); again != out {
		t.Errorf("repeated:\n%s", again)
	}
	for span, want := range map[string]string{"2026-13": "2026-13 must be a day of the form YYYY-MM-DD or a month",
		"2999-01": "2999-01 is not over"} {
		if _, errOut, status := runCommand(t, env, "ledger", "journals", span, "--platform", h.platformID); status != 1 ||
			!strings.Contains(errOut, want) {
			t.Errorf("journals of %s: status %d, %s", span, status, errOut)
		}
	}
}
