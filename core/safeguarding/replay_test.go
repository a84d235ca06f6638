package safeguarding_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/safeguarding"
	"causeway/ledger"
)

func TestReplay_FindsExactlyTheChangedReports(t *testing.T) {
	t.Parallel()
	// Postings of several days come in any order, and reports of any day are made in between, also of earlier
	// days. Each is what the counter of all postings up to then says; with any line changed, added or removed it is not.
	accounts := paths(t)
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		type posted struct {
			effective time.Time
			entry     ledger.Entry
		}
		var history []posted
		replay := safeguarding.NewReplay()
		purposes := safeguarding.Purposes{"rails/ACH": safeguarding.Own}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			day := start.AddDate(0, 0, rapid.IntRange(0, 5).Draw(t, "day"))
			if rapid.Bool().Draw(t, "post") {
				e := ledger.Entry{Debit: rapid.SampledFrom(accounts).Draw(t, "debit"), Credit: rapid.SampledFrom(accounts).Draw(t, "credit"),
					Currency: "USD", Amount: rapid.Int64Range(1, 5).Draw(t, "amount")}
				history = append(history, posted{day, e})
				if err := replay.Add(ledger.Posting{Effective: day, Entries: []ledger.Entry{e}}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			balances := map[string]money.Total{}
			for _, p := range history {
				if p.effective.After(day) {
					continue
				}
				for i, path := range []string{p.entry.Debit, p.entry.Credit} {
					line, err := ledger.FindChartLine(path)
					if err != nil {
						t.Fatal(err)
					}
					change := line.Class.Balance(money.TotalOf(p.entry.Amount), money.Total{})
					if i == 1 {
						change = change.Neg()
					}
					balances[path] = balances[path].Add(change)
				}
			}
			counter := safeguarding.NewCounter(purposes)
			for path, balance := range balances {
				if err := counter.Add(path, "USD", balance); err != nil {
					t.Fatal(err)
				}
			}
			report := safeguarding.Report{Day: safeguarding.DayOf(day), Figures: counter.Figures()}
			if line, want, found := replay.Mismatch(report); found {
				t.Fatalf("%s: %+v, want %s", report.Day, line, want)
			}
			if len(report.Figures) == 0 {
				continue
			}
			lines := report.Figures[0].Lines
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "changed line")
			before := lines[i]
			lines[i].Amount = before.Amount.Add(money.TotalOf(1))
			if _, _, found := replay.Mismatch(report); !found {
				t.Fatalf("%s: %+v with one more is not found", report.Day, before)
			}
			lines[i] = before
			if before.Amount.Sign() != 0 {
				report.Figures[0].Lines = append(append([]safeguarding.Line(nil), lines[:i]...), lines[i+1:]...)
				if _, _, found := replay.Mismatch(report); !found {
					t.Fatalf("%s without %+v is not found", report.Day, before)
				}
			}
		}
	})
}
