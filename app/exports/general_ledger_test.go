package exports_test

import (
	"bytes"
	"testing"
	"time"

	"causeway/core/period"
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
