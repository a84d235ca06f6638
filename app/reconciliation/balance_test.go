package reconciliation_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"causeway/app/reconciliation"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

// dailyStatements makes a partner's statement of each day, with the balance after each line.
type dailyStatements struct {
	days    [7][]string // the lines without day and balances, from the id on
	amounts [7][]int64
	lines   int
}

func (d *dailyStatements) add(day int, minor int64, reference string) {
	d.addValued(day, day, minor, reference)
}

// addValued adds a line with another value date than booking day.
func (d *dailyStatements) addValued(day, value int, minor int64, reference string) {
	d.lines++
	d.days[day] = append(d.days[day], fmt.Sprintf("P%d,%s,%s", d.lines, reference, monday.AddDate(0, 0, value).Format(time.DateOnly)))
	d.amounts[day] = append(d.amounts[day], minor)
}

func major(minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d", sign, minor/100, minor%100)
}

const dailyLayout = "date=Booked;amount=Amount;balance=Balance;id=Id;reference=Reference;valueDate=Value"

// file returns the statement of some days, which follows that of the days before.
func (d *dailyStatements) file(from, to int) string {
	var text strings.Builder
	text.WriteString("Booked,Amount,Balance,Id,Reference,Value\n")
	var balance int64
	for day := range to + 1 {
		for i, amount := range d.amounts[day] {
			balance += amount
			if day >= from {
				fmt.Fprintf(&text, "%s,%s,%s,%s\n", monday.AddDate(0, 0, day).Format(time.DateOnly), major(amount), major(balance), d.days[day][i])
			}
		}
	}
	return text.String()
}

func (e *env) importDays(t *testing.T, d *dailyStatements, from, to int) reconcile.Run {
	t.Helper()
	request := e.importRequest(d.file(from, to))
	request.Layout = dailyLayout
	done, err := e.reconciliation.Import(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	return done.Run
}

func TestBalance_IsExplainedByBreaksAndOtherDays(t *testing.T) {
	t.Parallel()
	// A partner's balance is compared with the ledger's. What only one side has is in open breaks, what
	// comes a day later is explained by that, and after a note or a correction the rest still adds up.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 10_000, "REFERENCE1"), env.receivedPosting(0, 2_000, "REFERENCE2"),
		env.receivedPosting(1, 700, "REFERENCE3"), env.receivedPosting(2, 50_000, "REFERENCE4"))
	var bank dailyStatements
	bank.add(0, 10_000, "REFERENCE1")
	bank.add(0, 700, "REFERENCE3") // a day before the ledger
	bank.add(1, -300, "")          // a fee
	bank.add(2, 2_000, "REFERENCE2")
	bank.add(2, 49_000, "REFERENCE4")

	first := env.importDays(t, &bank, 0, 0)

	if want := (reconcile.BalanceComparison{Partner: 10_700, Ledger: 12_000, OpenBreaks: -2_000, OtherDay: 700}); first.Balance == nil ||
		*first.Balance != want || want.Unexplained() != 0 {
		t.Errorf("the first day is %+v, want %+v", first.Balance, want)
	}
	second := env.importDays(t, &bank, 1, 1)
	if want := (reconcile.BalanceComparison{Partner: 10_400, Ledger: 12_700, OpenBreaks: -2_300}); *second.Balance != want ||
		want.Unexplained() != 0 {
		t.Errorf("the second day is %+v, want %+v", second.Balance, want)
	}
	third := env.importDays(t, &bank, 2, 2)
	if want := (reconcile.BalanceComparison{Partner: 61_400, Ledger: 62_700, OpenBreaks: -1_300}); *third.Balance != want ||
		want.Unexplained() != 0 {
		t.Errorf("the third day is %+v, want %+v", third.Balance, want)
	}

	resolve := func(run ident.Reconciliation, reason reconcile.Reason, offset reconcile.OffsetAccount) {
		t.Helper()
		if _, err := env.reconciliation.Resolve(t.Context(), reconciliation.ResolveRequest{Platform: env.Platform.ID,
			Break:          env.breaksByReason(t, run)[reason].ID,
			ResolveCommand: reconcile.ResolveCommand{Note: "As agreed", Offset: offset}, By: env.Admin.Author()}, nil); err != nil {
			t.Fatal(err)
		}
	}
	resolve(second.ID, reconcile.MissingInLedger, reconcile.OffsetExpense) // takes effect on the day of its line
	resolve(third.ID, reconcile.AmountDiffers, "")
	for _, c := range []struct {
		run  ident.Reconciliation
		want reconcile.BalanceComparison
	}{
		{first.ID, reconcile.BalanceComparison{Partner: 10_700, Ledger: 12_000, OtherDay: 700 - 2_000}}, // matched with the line of the third day
		{second.ID, reconcile.BalanceComparison{Partner: 10_400, Ledger: 12_400, OtherDay: -2_000}},
		{third.ID, reconcile.BalanceComparison{Partner: 61_400, Ledger: 62_400, Resolved: -1_000}},
	} {
		shown, err := env.reconciliation.Get(t.Context(), env.Platform.ID, c.run)
		if err != nil || *shown.Balance != c.want || shown.Balance.Unexplained() != 0 {
			t.Errorf("%s is now %+v, %v; want %+v", c.run, shown.Balance, err, c.want)
		}
	}
	shown, err := env.reconciliation.Get(t.Context(), env.Platform.ID, first.ID)
	if err != nil || *shown.Run.Balance != *first.Balance {
		t.Errorf("that of the import is read as %+v, %v; want %+v", shown.Run.Balance, err, first.Balance)
	}
}

func TestBalance_NamesWhatIsUnexplained(t *testing.T) {
	t.Parallel()
	// What the ledger had before the first statement, and a balance that the lines do not lead to, is
	// not explained.
	env := newEnv(t)
	env.Post(env.receivedPosting(-20, 4_000, "REFERENCE0"), env.receivedPosting(0, 10_000, "REFERENCE1"))
	var bank dailyStatements
	bank.add(0, 10_000, "REFERENCE1")

	run := env.importDays(t, &bank, 0, 0)

	if run.Balance.Unexplained() != -4_000 || run.Balance.Difference() != -4_000 {
		t.Errorf("%+v leaves %d", run.Balance, run.Balance.Unexplained())
	}
	withoutBalances := newStatementFile()
	withoutBalances.addLine(1, 5, "", "")
	if run := env.mustImport(t, withoutBalances.String()); run.Balance != nil {
		t.Errorf("without balances it is %+v", run.Balance)
	}
}

func TestBalance_IsExplainedWhateverHappens(t *testing.T) {
	t.Parallel()
	// Of a week with random payments on either or both sides, days apart, with other amounts, or with value dates
	// weeks before or after, imported day by day or several at once, every line ends in a match or a break, and every
	// balance is explained to the cent: when it is imported, and after breaks are resolved with notes and corrections.
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			random := rand.New(rand.NewPCG(seed, 14))
			var bank dailyStatements
			var postings []ledger.Posting
			const nowhere = -100
			for i := range 120 {
				day, amount, reference := random.IntN(7), int64(100+random.IntN(9)*100), fmt.Sprintf("REFERENCE%d", i)
				onStatement, inLedger := day, day
				switch random.IntN(8) {
				case 0:
					onStatement = nowhere
				case 1:
					inLedger = nowhere
				case 2, 3:
					onStatement = random.IntN(7)
				}
				if random.IntN(4) == 0 {
					reference = "" // matched by amount, if at all
				}
				sign := int64(1 - 2*random.IntN(2))
				if onStatement != nowhere {
					difference := int64(0)
					if random.IntN(9) == 0 {
						difference = -15
					}
					value := onStatement
					if random.IntN(3) == 0 {
						value += []int{-40, -32, -31, -12, -6, -5, -2, 1, 4, 6, 12, 31}[random.IntN(12)]
					}
					bank.addValued(onStatement, value, sign*amount+difference, reference)
					if inLedger != nowhere && random.IntN(3) == 0 { // as the bank values it
						inLedger = min(inLedger, value)
					}
				}
				if inLedger != nowhere && sign > 0 {
					postings = append(postings, env.receivedPosting(inLedger, amount, reference))
				} else if inLedger != nowhere {
					postings = append(postings, env.deliveredPosting(inLedger, amount, reference))
				}
			}
			env.Post(postings...)
			before := newStatementFile() // covers the earlier days with nothing
			before.addLine(-45, 5, "", "")
			before.addLine(-1, -5, "", "")
			env.mustImport(t, before.String())
			var runs []reconcile.Run
			for from := 0; from < 7; {
				to := min(6, from+random.IntN(3))
				runs = append(runs, env.importDays(t, &bank, from, to))
				from = to + 1
			}
			for _, run := range runs {
				env.checkLinesEnd(t, run.ID)
				if run.Balance.Unexplained() != 0 {
					t.Errorf("%s to %s: %+v leaves %d", run.From, run.To, run.Balance, run.Balance.Unexplained())
				}
			}
			page, err := env.reconciliation.Breaks(t.Context(), env.Platform.ID, ident.Reconciliation{},
				ports.BreakFilter{Paging: ports.Paging{Limit: 1000}, Status: "OPEN"})
			if err != nil || len(page.Items) < 10 {
				t.Fatalf("%d breaks, %v", len(page.Items), err)
			}
			for i, b := range page.Items {
				offset := []reconcile.OffsetAccount{"", reconcile.OffsetExpense, reconcile.OffsetUnmatched}[i%3]
				if i%4 == 0 {
					continue
				}
				if _, err := env.reconciliation.Resolve(t.Context(), reconciliation.ResolveRequest{Platform: env.Platform.ID, Break: b.ID,
					ResolveCommand: reconcile.ResolveCommand{Note: "Looked at", Offset: offset}, By: env.Admin.Author()}, nil); err != nil {
					t.Fatal(err)
				}
			}
			for _, run := range runs {
				shown, err := env.reconciliation.Get(t.Context(), env.Platform.ID, run.ID)
				if err != nil || shown.Balance.Unexplained() != 0 {
					t.Errorf("%s to %s, after breaks are resolved: %+v leaves %d, %v", run.From, run.To, shown.Balance, shown.Balance.Unexplained(), err)
				}
			}
		})
	}
}
