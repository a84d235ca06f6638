package exports_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

func TestGeneralLedger_BalancesOfEachAccount(t *testing.T) {
	t.Parallel()
	// Each account begins with its opening balance and ends with its closing balance, with its entries by effective
	// time between them. Memos are escaped, and an account that only has postings later is left out.
	env := newSmallEnv(t)
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for name, interval := range map[string]period.Interval{
		"march-general-ledger.csv": {From: day, To: day.AddDate(0, 1, 0)},
		"early-general-ledger.csv": {From: day.AddDate(0, -1, 0), To: day},
	} {
		var out bytes.Buffer
		if err := env.newService().WriteGeneralLedger(t.Context(), &out, env.platform, interval); err != nil {
			t.Fatal(err)
		}
		compareGolden(t, name, out.String())
	}
}

func TestGeneralLedger_MoreAccountsThanAreReadAtOnce(t *testing.T) {
	t.Parallel()
	// The lines of each account stand together, from its opening to its closing balance, in the order of accounts.
	env := newEnv(t)
	const rails = 450
	var postings []ledger.Posting
	for i := range rails {
		header := env.header(noon, "")
		header.ID[14] = byte(i >> 8)
		postings = append(postings, ledger.FeePaid(header, ledger.Rail(fmt.Sprintf("R%03d", i)), newAmount(int64(i+1), money.EUR)))
	}
	env.post(noon, postings...)
	var out bytes.Buffer
	interval := period.Interval{From: noon.Add(-time.Hour), To: noon.Add(time.Hour)}
	if err := env.newService().WriteGeneralLedger(t.Context(), &out, env.platform, interval); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var accounts []string
	for lines = lines[1:]; len(lines) > 0; {
		account := lines[0][0]
		next := slices.IndexFunc(lines, func(line []string) bool { return line[0] != account })
		if next < 0 {
			next = len(lines)
		}
		of := lines[:next]
		if of[0][5] != "opening" || of[next-1][5] != "closing" || next < 3 || slices.ContainsFunc(of[1:next-1], func(line []string) bool {
			return line[5] != "entry"
		}) {
			t.Errorf("lines of %s: %q", account, of)
		}
		accounts, lines = append(accounts, account), lines[next:]
	}
	if len(accounts) != rails+1 || !slices.IsSorted(accounts) {
		t.Errorf("%d accounts: %q", len(accounts), accounts)
	}
}
