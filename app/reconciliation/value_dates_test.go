package reconciliation_test

import (
	"context"
	"fmt"
	"testing"

	"causeway/app/reconciliation"
	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

// checkLinesEnd fails if a line of a run has neither a match nor a break, and returns the lines.
func (e *env) checkLinesEnd(t *testing.T, run ident.Reconciliation) []reconcile.LineDetails {
	t.Helper()
	page, err := e.reconciliation.Lines(t.Context(), e.Platform.ID, run, ports.StatementLineFilter{Paging: ports.Paging{Limit: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range page.Items {
		if l.Status != reconcile.Matched && l.Break.IsZero() {
			t.Errorf("line %d, booked on %s and valued on %s, is %s without a break", l.Ordinal, l.Booked, l.Value, l.Status)
		}
	}
	return page.Items
}

func TestImport_ValueDateFarFromBooking(t *testing.T) {
	t.Parallel()
	// A line with a value date outside of the days of its statement ends in a match with the entry of the day on which it
	// was booked, or in a break. So do the lines of the next statement, and importing either again changes nothing.
	for _, value := range []int{-400, -40, -31, -10, -6, -5, 4, 5, 6, 12, 31} {
		t.Run(fmt.Sprint(value), func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			env.Post(env.receivedPosting(0, 10_000, "REFERENCE1"))
			var bank dailyStatements
			bank.addValued(0, value, 10_000, "REFERENCE1")
			bank.addValued(0, value, 700, "REFERENCE2")
			bank.add(1, 300, "REFERENCE3")

			first := env.importDays(t, &bank, 0, 0)
			second := env.importDays(t, &bank, 1, 1)
			again := env.importDays(t, &bank, 0, 1)

			for _, run := range []reconcile.Run{first, second} {
				env.checkLinesEnd(t, run.ID)
				if run.Balance.Unexplained() != 0 {
					t.Errorf("%s: %+v leaves %d", run.From, run.Balance, run.Balance.Unexplained())
				}
			}
			if first.MatchedLines != 1 || first.Breaks[reconcile.MissingInLedger] != 1 || first.Breaks[reconcile.MissingOnStatement] != 0 {
				t.Errorf("the first statement has %v and %v", first.Matches, first.Breaks)
			}
			if second.Breaks[reconcile.MissingInLedger] != 1 || len(second.Breaks) != 1 || second.EarlierBreaksResolved != 0 {
				t.Errorf("the second statement has %v and resolves %d", second.Breaks, second.EarlierBreaksResolved)
			}
			if again.KnownLines != 3 || len(again.Breaks) != 0 || len(again.Matches) != 0 || again.EarlierBreaksResolved != 0 {
				t.Errorf("both again: %+v", again)
			}
		})
	}
}

func TestImport_LateLineOfAnEarlierDay(t *testing.T) {
	t.Parallel()
	// A line that the bank books days later, with the value date of the day on which it was missing, is matched with the entry
	// that is an open break since then.
	env := newEnv(t)
	env.Post(env.receivedPosting(-12, 10_000, "REFERENCE1"), env.receivedPosting(-12, 500, "REFERENCE0"))
	file := newStatementFile()
	file.addLine(-12, 500, "REFERENCE0", "")
	if missing := env.mustImport(t, file.String()); missing.Breaks[reconcile.MissingOnStatement] != 1 {
		t.Fatalf("the first statement has %v", missing.Breaks)
	}
	var bank dailyStatements
	bank.addValued(0, -12, 10_000, "REFERENCE1")

	run := env.importDays(t, &bank, 0, 0)

	if run.MatchedLines != 1 || run.EarlierBreaksResolved != 1 || len(run.Breaks) != 0 {
		t.Errorf("the second statement has %v and %v, and resolves %d", run.Matches, run.Breaks, run.EarlierBreaksResolved)
	}
}

func TestImport_EntryLaterThanBackValuedLine(t *testing.T) {
	t.Parallel()
	// The break of a line with an earlier or later value date is resolved by an entry that is posted later, of its value date or
	// of its booking day, when the next statement is compared; a note or a correction resolves it for good.
	for _, value := range []int{-31, -12, -40, 12} {
		for _, entryDay := range []int{0, value} {
			if value == -40 && entryDay == value { // that long ago only the booking day counts
				continue
			}
			t.Run(fmt.Sprint(value, entryDay), func(t *testing.T) {
				t.Parallel()
				env := newEnv(t)
				var bank dailyStatements
				bank.addValued(0, value, 10_000, "REFERENCE1")
				bank.addValued(0, value, -300, "")
				bank.add(2, 800, "REFERENCE2")
				first := env.importDays(t, &bank, 0, 0)
				for _, b := range env.openBreaks(t, first.ID) {
					if b.Difference != -300 {
						continue
					}
					if _, err := env.reconciliation.Resolve(t.Context(), reconciliation.ResolveRequest{Platform: env.Platform.ID, Break: b.ID,
						ResolveCommand: reconcile.ResolveCommand{Note: "Fee", Offset: reconcile.OffsetExpense}, By: env.Admin.Author()}, nil); err != nil {
						t.Fatal(err)
					}
				}
				late := env.receivedPosting(0, 10_000, "REFERENCE1")
				late.Effective = monday.AddDate(0, 0, entryDay)
				env.Post(late, env.receivedPosting(2, 800, "REFERENCE2"))

				second := env.importDays(t, &bank, 1, 2)

				if second.EarlierBreaksResolved != 1 || len(second.Breaks) != 0 || second.MatchedLines != 2 {
					t.Errorf("the second statement has %v and %v, and resolves %d", second.Matches, second.Breaks, second.EarlierBreaksResolved)
				}
				if open := env.openBreaks(t, ident.Reconciliation{}); len(open) != 0 {
					t.Errorf("%d breaks are open: %s", len(open), open[0].Explanation)
				}
				if second.Balance.Unexplained() != 0 {
					t.Errorf("%+v leaves %d", second.Balance, second.Balance.Unexplained())
				}
				shown, err := env.reconciliation.Get(t.Context(), env.Platform.ID, first.ID)
				if err != nil || shown.Balance.Unexplained() != 0 {
					t.Errorf("the first balance is now %+v, %v", shown.Balance, err)
				}
			})
		}
	}
}

func (e *env) openBreaks(t *testing.T, run ident.Reconciliation) []reconcile.BreakDetails {
	t.Helper()
	page, err := e.reconciliation.Breaks(t.Context(), e.Platform.ID, run, ports.BreakFilter{Paging: ports.Paging{Limit: 100}, Status: "OPEN"})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func TestImport_ComparesLinesThatEarlierReleasesLeft(t *testing.T) {
	t.Parallel()
	// A line that was stored without a match or a break, because its value date was far from the days of its statement, ends in one
	// with the next statement.
	env := newEnv(t)
	env.Post(env.receivedPosting(0, 10_000, "REFERENCE1"))
	day := reconcile.DayOf(monday)
	for i, value := range []reconcile.Day{day - 10, day - 100} {
		run := reconcile.Run{ID: ident.NewReconciliation(env.IDs.New, now), Format: reconcile.CSV, Digest: [32]byte{byte(i)},
			Account: reconcile.Account{Platform: env.Platform.ID, Path: "rails/RTP", Currency: "USD"},
			Header:  reconcile.Header{From: day, To: day}, Lines: 1, By: "Token:test", At: now}
		line := reconcile.Line{ID: env.IDs.New(now), Ordinal: 1, Amount: 10_000 - int64(i), Booked: day, Value: value,
			References: []string{"REFERENCE1"}}
		line.Identity[0] = byte(i)
		if err := ports.Do(t.Context(), env.Store, func(ctx context.Context, tx reconciliation.Tx) error {
			if _, err := tx.AddStatementLines(ctx, run.ID, run.Account, []reconcile.Line{line}); err != nil {
				return err
			}
			return tx.AddReconciliation(ctx, run)
		}); err != nil {
			t.Fatal(err)
		}
	}
	file := newStatementFile()
	file.addLine(1, 300, "REFERENCE3", "")

	next := env.mustImport(t, file.String())

	if next.MatchedLines != 1 || next.Breaks[reconcile.MissingInLedger] != 2 || len(next.Breaks) != 1 {
		t.Errorf("the next statement has %v and %v", next.Matches, next.Breaks)
	}
}

func TestImport_OldBreakIsNotTornApart(t *testing.T) {
	t.Parallel()
	// A break that is too old to be compared again stays as it is, with its line and its entry, although a younger one has the
	// days around it read.
	env := newEnv(t)
	env.Post(env.receivedPosting(-44, 10_000, "REFERENCE1"), env.receivedPosting(-36, 500, "REFERENCE2"))
	file := newStatementFile()
	file.addLine(-40, 9_000, "REFERENCE1", "")
	file.addLine(-36, 400, "REFERENCE2", "")
	if old := env.mustImport(t, file.String()); old.Breaks[reconcile.AmountDiffers] != 2 {
		t.Fatalf("the first statement has %v", old.Breaks)
	}
	later := newStatementFile()
	later.addLine(-7, 5, "REFERENCE3", "")

	run := env.mustImport(t, later.String())

	if open := env.openBreaks(t, ident.Reconciliation{}); len(open) != 3 || run.EarlierBreaksResolved != 0 {
		t.Errorf("%d breaks are open, and %d resolved", len(open), run.EarlierBreaksResolved)
	}
}

func TestImport_MonthlyStatementComparesValueDates(t *testing.T) {
	t.Parallel()
	// In a statement of a month, lines that are booked 10 days after their value date are matched with the entries of that,
	// not with those of the day of booking.
	env := newEnv(t)
	postings := make([]ledger.Posting, 0, 20)
	file := newStatementFile()
	for i := range 10 {
		reference := fmt.Sprintf("REFERENCE%d", i)
		postings = append(postings, env.receivedPosting(i-20, 1_000, reference), env.receivedPosting(i-10, 1_000, reference))
		file.addValued(i-10, i-20, 1_000, reference)
		file.addLine(i-10, 1_000, reference, "")
	}
	env.Post(postings...)
	file.addLine(-25, 5, "", "")

	run := env.mustImport(t, file.String())

	if run.Matches[reconcile.ReferenceAmountDate] != 20 || len(run.Breaks) != 1 {
		t.Errorf("%v and %v", run.Matches, run.Breaks)
	}
}
