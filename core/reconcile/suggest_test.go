package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/reconcile"
)

func breakID(n int) (id ident.Break) {
	id.SetUUID(uuid.UUID{14: byte(n >> 8), 15: byte(n)})
	return id
}

var suggestedAccount = reconcile.Account{Path: "rails/RTP", Currency: "USD"}

// lineBreak is an open break of a line that the ledger does not have.
func lineBreak(n, day int, amount int64, references ...string) reconcile.BreakDetails {
	l := line(day, amount, references...)
	return reconcile.BreakDetails{ID: breakID(n), Account: suggestedAccount, Reason: reconcile.MissingInLedger, Line: &l, Difference: amount}
}

// valuedBreak is one of a line with another value date than booking day.
func valuedBreak(n, booked, value int, amount int64) reconcile.BreakDetails {
	b := lineBreak(n, booked, amount)
	b.Line.Value = monday + reconcile.Day(value)
	return b
}

// entryBreak is an open break of an entry that the statement does not have.
func entryBreak(n, day int, amount int64, memo string) reconcile.BreakDetails {
	e := reconcile.EntryDetails{EntryPosition: reconcile.EntryPosition{Seq: int64(n), N: 1}, Posting: uuid.UUID{0: 9, 15: byte(n)},
		Memo: memo, Amount: amount,
		Effective: (monday + reconcile.Day(day)).Start()}
	return reconcile.BreakDetails{ID: breakID(n), Account: suggestedAccount, Reason: reconcile.MissingOnStatement, Entry: &e,
		Difference: -amount}
}

// describeSuggestions formats suggestions: the reasons with the breaks and what remains.
func describeSuggestions(found []reconcile.Suggestion) string {
	var text []string
	for _, s := range found {
		var breaks []int
		for _, b := range s.Breaks {
			u := b.UUID()
			breaks = append(breaks, int(u[14])<<8|int(u[15]))
		}
		t := fmt.Sprintf("%s %v", s.Reason, breaks)
		if s.Remaining != 0 {
			t += fmt.Sprintf(" leaves %d %s", s.Remaining, s.Against)
		}
		text = append(text, t)
	}
	return strings.Join(text, ", ")
}

func TestSuggester_For(t *testing.T) {
	t.Parallel()
	// What explains a break is suggested, the most probable first, and nothing else.
	differs := lineBreak(1, 0, 9985, "REFERENCE1")
	differs.Entry, differs.Difference = entryBreak(1, 0, 10000, "REFERENCE1").Entry, -15
	differsMuch := differs
	differsMuch.Difference = -1500
	resolved := lineBreak(1, 0, 500)
	resolved.Resolution = &reconcile.Resolution{}
	for _, c := range []struct {
		name   string
		of     reconcile.BreakDetails
		others []reconcile.BreakDetails
		want   string
	}{
		{"nothing else is open", lineBreak(1, 0, 500), nil, ""},
		{"the same direction", lineBreak(1, 0, 500), []reconcile.BreakDetails{lineBreak(2, 0, 500)}, ""},
		{"another amount", lineBreak(1, 0, 500), []reconcile.BreakDetails{entryBreak(2, 0, 600, "")}, ""},
		{"the same amount, the nearest day first", lineBreak(1, 0, 500), []reconcile.BreakDetails{entryBreak(2, 9, 500, ""),
			entryBreak(3, -7, 500, "")}, "SAME_AMOUNT [3], SAME_AMOUNT [2]"},
		{"too long ago", lineBreak(1, 0, 500), []reconcile.BreakDetails{entryBreak(2, -32, 500, "")}, ""},
		{"the same reference on another date", entryBreak(1, 0, 500, "REFERENCE1"), []reconcile.BreakDetails{lineBreak(2, 3, 500),
			lineBreak(3, 12, 500, "reference-1")},
			"SAME_REFERENCE [3], SAME_AMOUNT [2]"},
		{"a typing error in the reference", lineBreak(1, 0, 500, "REFERECNE1"), []reconcile.BreakDetails{entryBreak(2, 0, 500, "OTHER00001"),
			entryBreak(3, 8, 500, "REFERENCE1")},
			"SIMILAR_REFERENCE [3], SAME_AMOUNT [2]"},
		{"two typing errors in a short reference", lineBreak(1, 0, 500, "REFERECNE2"),
			[]reconcile.BreakDetails{entryBreak(3, 8, 500, "REFERENCE1")}, "SAME_AMOUNT [3]"},
		{"two typing errors in a long reference", lineBreak(1, 0, 500, "LONGREFERECNE2"),
			[]reconcile.BreakDetails{entryBreak(3, 8, 500, "LONGREFERENCE1")}, "SIMILAR_REFERENCE [3]"},
		{"words are not references", lineBreak(1, 0, 500, "SUBSCRIPTIONS"), []reconcile.BreakDetails{entryBreak(3, 8, 500, "SUBSCRIPTION")},
			"SAME_AMOUNT [3]"},
		{"the same reference and another amount", lineBreak(1, 0, 500, "REFERENCE1"),
			[]reconcile.BreakDetails{entryBreak(2, 8, 700, "REFERENCE1")}, "SAME_REFERENCE [2] leaves -200 "},
		{"the same reference less a fee", lineBreak(1, 0, 9985, "REFERENCE1"), []reconcile.BreakDetails{entryBreak(2, 8, 10000, "REFERENCE1")},
			"SAME_REFERENCE [2] leaves -15 EXPENSE"},
		{"less a fee", lineBreak(1, 0, 9985), []reconcile.BreakDetails{entryBreak(2, 1, 10000, ""), entryBreak(3, 9, 10000, "")},
			"FEE [2] leaves -15 EXPENSE"},
		{"with a fee", entryBreak(1, 0, -10000, ""), []reconcile.BreakDetails{lineBreak(2, 1, -10015)}, "FEE [2] leaves -15 EXPENSE"},
		{"more than was paid is no fee", lineBreak(1, 0, 10015), []reconcile.BreakDetails{entryBreak(2, 1, 10000, "")}, ""},
		{"a sum", lineBreak(1, 0, 600), []reconcile.BreakDetails{entryBreak(2, 0, 100, ""), entryBreak(3, 1, 150, ""), entryBreak(4, 1, 500, ""),
			entryBreak(5, 2, 350, "")},
			"SUM [2 4], SUM [2 3 5]"},
		{"the amount before a sum", entryBreak(1, 0, 600, ""), []reconcile.BreakDetails{lineBreak(2, 0, 100), lineBreak(3, 0, 500),
			lineBreak(4, 9, 600)}, "SAME_AMOUNT [4], SUM [2 3]"},
		{"near the day of booking", valuedBreak(1, 20, 0, 500), []reconcile.BreakDetails{entryBreak(2, 19, 500, ""), entryBreak(3, 2, 500, ""),
			entryBreak(4, -32, 500, ""), entryBreak(5, 51, 500, "")}, "SAME_AMOUNT [2], SAME_AMOUNT [3], SAME_AMOUNT [5]"},
		{"less a fee, near the day of booking", entryBreak(1, 20, 10000, ""), []reconcile.BreakDetails{valuedBreak(2, 21, 0, 9985)},
			"FEE [2] leaves -15 EXPENSE"},
		{"near a value date that does not count", valuedBreak(1, 40, 0, 500), []reconcile.BreakDetails{entryBreak(2, 0, 500, ""),
			entryBreak(3, 70, 500, "")}, "SAME_AMOUNT [3]"},
		{"a fee of the payment", differs, nil, "FEE [] leaves -15 EXPENSE"},
		{"too much for a fee", differsMuch, nil, ""},
		{"a resolved break", resolved, []reconcile.BreakDetails{entryBreak(2, 0, 500, "")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := reconcile.NewSuggester(append(c.others, c.of)).For(c.of)

			if describeSuggestions(got) != c.want {
				t.Errorf("\n got %s\nwant %s", describeSuggestions(got), c.want)
			}
			for _, s := range got {
				if s.Explanation == "" {
					t.Errorf("%s has no explanation", s.Reason)
				}
			}
		})
	}
}

func TestSuggester_RemainingIsTheSumOfDifferences(t *testing.T) {
	t.Parallel()
	// Whatever is suggested, the differences of the break and the suggested ones add up to what remains,
	// none is suggested twice in one suggestion, and the order of the open breaks does not matter.
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 30).Draw(t, "count")
		var open []reconcile.BreakDetails
		differences := map[ident.Break]int64{}
		for i := range count + 1 {
			day, amount, reference := rapid.IntRange(-3, 9).Draw(t, "day"), anyAmount(t), someReferences.Draw(t, "reference")
			b := lineBreak(i+1, day, amount, reference)
			if rapid.Bool().Draw(t, "entry") {
				b = entryBreak(i+1, day, amount, reference)
			}
			open, differences[b.ID] = append(open, b), b.Difference
		}

		got := reconcile.NewSuggester(open).For(open[0])

		if len(got) > reconcile.MaxSuggestions {
			t.Fatalf("there are %d suggestions", len(got))
		}
		for _, s := range got {
			sum := open[0].Difference
			for i, b := range s.Breaks {
				if b == open[0].ID || slices.Contains(s.Breaks[:i], b) {
					t.Fatalf("%s suggests %v for %s", s.Reason, s.Breaks, open[0].ID)
				}
				sum += differences[b]
			}
			if sum != s.Remaining {
				t.Fatalf("%s: the differences add up to %d, and %d remain", s.Reason, sum, s.Remaining)
			}
		}
		again := reconcile.NewSuggester(rapid.Permutation(open).Draw(t, "order")).For(open[0])
		if describeSuggestions(again) != describeSuggestions(got) {
			t.Fatalf("in another order %s, first %s", describeSuggestions(again), describeSuggestions(got))
		}
	})
}
