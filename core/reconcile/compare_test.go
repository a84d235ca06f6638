package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/reconcile"
)

var monday, _ = reconcile.Date(2026, 3, 9)

// line is one of the partner's, on a day counted from Monday.
func line(day int, amount int64, references ...string) reconcile.Line {
	return reconcile.Line{Amount: amount, Booked: monday + reconcile.Day(day), Value: monday + reconcile.Day(day), References: references}
}

// entry is one of ours, that the statement covers.
func entry(day int, amount int64, memo string) reconcile.Entry {
	return reconcile.Entry{Amount: amount, Day: monday + reconcile.Day(day), Memo: memo, Expected: true}
}

// describe writes a result down as people would: places of lines, of entries, and why.
func describe(r reconcile.Result) string {
	var text []string
	for _, m := range r.Matches {
		text = append(text, fmt.Sprintf("%s %v=%v", m.Rule, m.Lines, m.Entries))
	}
	for _, b := range r.Breaks {
		text = append(text, strings.NewReplacer("-1", "").Replace(fmt.Sprintf("%s %d|%d (%d|%d)", b.Reason, b.Line, b.Entry, b.OtherLine, b.OtherEntry)))
	}
	return strings.Join(text, ", ")
}

func assignNumbers(lines []reconcile.Line, entries []reconcile.Entry) {
	for i := range lines {
		lines[i].Ordinal = i + 1
	}
	for i := range entries {
		entries[i].Seq, entries[i].N = int64(i+1), 1
		entries[i].Posting = uuid.UUID{15: byte(i + 1), 14: byte((i + 1) >> 8)}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	// Each rule matches what it is for, and each reason names what is left.
	settledLine := line(0, 500, "REFERENCE1")
	settledLine.Reconciled = true
	settledEntry := entry(0, 500, "REFERENCE1")
	settledEntry.Reconciled = true
	returned := line(1, 300)
	returned.Returned = true
	outside := entry(-3, 700, "REFERENCE7")
	outside.Expected = false
	for _, c := range []struct {
		name    string
		lines   []reconcile.Line
		entries []reconcile.Entry
		want    string
	}{
		{"nothing", nil, nil, ""},
		{"reference, amount and day", []reconcile.Line{line(0, 500, "REFERENCE1")}, []reconcile.Entry{entry(0, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0]"},
		{"the reference in the text of the payer, in small letters and in parts", []reconcile.Line{{Amount: 500, Booked: monday, Value: monday, Description: "for rent 4t9k-2m7pxq3a, thanks"}},
			[]reconcile.Entry{entry(0, 500, "4T9K2M7PXQ3A")}, "REFERENCE_AMOUNT_DATE [0]=[0]"},
		{"the reference in a memo with words", []reconcile.Line{line(0, 500, "4T9K2M7PXQ3A")}, []reconcile.Entry{entry(0, 500, "unknown reference 4T9K2M7PXQ3A")},
			"REFERENCE_AMOUNT_DATE [0]=[0]"},
		{"over a weekend", []reconcile.Line{line(3, 500, "REFERENCE1")}, []reconcile.Entry{entry(0, 500, "REFERENCE1")}, "REFERENCE_AMOUNT [0]=[0]"},
		{"the same day comes before the nearest", []reconcile.Line{line(1, 500, "REFERENCE1"), line(0, 500, "REFERENCE1")},
			[]reconcile.Entry{entry(0, 500, "REFERENCE1"), entry(2, 500, "REFERENCE1")}, "REFERENCE_AMOUNT_DATE [1]=[0], REFERENCE_AMOUNT [0]=[1]"},
		{"too many days apart", []reconcile.Line{line(6, 500, "REFERENCE1")}, []reconcile.Entry{entry(0, 500, "REFERENCE1")},
			"MISSING_IN_LEDGER 0| (|), MISSING_ON_STATEMENT |0 (|)"},
		{"a batch line", []reconcile.Line{line(0, 600, "BATCH-2026-03")}, []reconcile.Entry{entry(0, 100, "BATCH-2026-03"), entry(0, 200, "BATCH-2026-03"), entry(0, 300, "BATCH-2026-03")},
			"REFERENCE_SUM [0]=[0 1 2]"},
		{"a batch line of several days", []reconcile.Line{line(2, 300, "BATCH-2026-03")}, []reconcile.Entry{entry(0, 100, "BATCH-2026-03"), entry(1, 200, "BATCH-2026-03")},
			"REFERENCE_SUM [0]=[0 1]"},
		{"one entry in several lines", []reconcile.Line{line(0, -100, "REFERENCE1"), line(0, -50, "REFERENCE1")}, []reconcile.Entry{entry(0, -150, "REFERENCE1")},
			"REFERENCE_SUM [0 1]=[0]"},
		{"amount and day, where nobody knows a reference", []reconcile.Line{line(0, 500)}, []reconcile.Entry{entry(0, 500, "no reference")}, "AMOUNT_DATE [0]=[0]"},
		{"as many lines as entries", []reconcile.Line{line(0, 500), line(0, 500)}, []reconcile.Entry{entry(0, 500, ""), entry(0, 500, "")},
			"AMOUNT_DATE [0]=[0], AMOUNT_DATE [1]=[1]"},
		{"more lines than entries tell nothing", []reconcile.Line{line(0, 500), line(0, 500)}, []reconcile.Entry{entry(0, 500, "")},
			"MISSING_IN_LEDGER 0| (|), MISSING_IN_LEDGER 1| (|), MISSING_ON_STATEMENT |0 (|)"},
		{"a day's sum, settled the day after", []reconcile.Line{line(1, 350)}, []reconcile.Entry{entry(0, 100, "REFERENCE1"), entry(0, 250, "REFERENCE2"), entry(1, 1, "REFERENCE3")},
			"DAY_SUM [0]=[0 1], MISSING_ON_STATEMENT |2 (|)"},
		{"alone with its amount", []reconcile.Line{line(2, 500)}, []reconcile.Entry{entry(0, 500, "REFERENCE1")}, "AMOUNT [0]=[0]"},
		{"not alone with its amount", []reconcile.Line{line(2, 500)}, []reconcile.Entry{entry(0, 500, "REFERENCE1"), entry(1, 500, "REFERENCE2")},
			"MISSING_IN_LEDGER 0| (|), MISSING_ON_STATEMENT |0 (|), MISSING_ON_STATEMENT |1 (|)"},
		{"a known reference is not paired by its amount", []reconcile.Line{line(0, 500, "REFERENCE1"), line(0, 500, "REFERENCE1")},
			[]reconcile.Entry{entry(0, 500, "REFERENCE1"), entry(0, 500, "REFERENCE2")},
			"REFERENCE_AMOUNT_DATE [0]=[0], DUPLICATE 1| (0|), MISSING_ON_STATEMENT |1 (|)"},
		{"another amount", []reconcile.Line{line(0, 495, "REFERENCE1")}, []reconcile.Entry{entry(0, 500, "REFERENCE1")}, "AMOUNT_DIFFERS 0|0 (|)"},
		{"a second time there", []reconcile.Line{line(0, 500, "REFERENCE1"), line(1, 500, "REFERENCE1")}, []reconcile.Entry{entry(0, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0], DUPLICATE 1| (0|)"},
		{"a second time there, after the first was settled", []reconcile.Line{settledLine, line(1, 500, "REFERENCE1")}, []reconcile.Entry{settledEntry},
			"DUPLICATE 1| (0|)"},
		{"a second time here", []reconcile.Line{line(0, 500, "REFERENCE1")}, []reconcile.Entry{entry(0, 500, "REFERENCE1"), entry(0, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0], DUPLICATE |1 (|0)"},
		{"given back", []reconcile.Line{line(0, -500, "REFERENCE1"), line(1, 500, "REFERENCE1")}, []reconcile.Entry{entry(0, -500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0], RETURNED 1| (|0)"},
		{"given back, and booked", []reconcile.Line{line(0, -500, "REFERENCE1"), line(1, 500, "REFERENCE1")},
			[]reconcile.Entry{entry(0, -500, "REFERENCE1"), entry(1, 500, "REFERENCE1")}, "REFERENCE_AMOUNT_DATE [0]=[0], REFERENCE_AMOUNT_DATE [1]=[1]"},
		{"called a return", []reconcile.Line{returned}, nil, "RETURNED 0| (|)"},
		{"outside of the statement", nil, []reconcile.Entry{outside}, ""},
		{"outside of the statement, and yet matched", []reconcile.Line{line(0, 700, "REFERENCE7")}, []reconcile.Entry{outside}, "REFERENCE_AMOUNT [0]=[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lines, entries := slices.Clone(c.lines), slices.Clone(c.entries)
			assignNumbers(lines, entries)

			got := reconcile.Compare(lines, entries)

			if describe(got) != c.want {
				t.Errorf("\n got %s\nwant %s", describe(got), c.want)
			}
			for _, m := range got.Matches {
				if m.Explain() == "" {
					t.Errorf("the rule %s does not explain itself", m.Rule)
				}
			}
			for _, b := range got.Breaks {
				if b.Explain(lines, entries, "USD") == "" {
					t.Errorf("the reason %s does not explain itself", b.Reason)
				}
			}
		})
	}
}

func TestCompare_EachItemMatchedOrBrokenOnce(t *testing.T) {
	t.Parallel()
	// Whatever is compared, every open line and every open entry that the statement covers
	// ends in exactly one match or break, what is settled in none, every match adds up,
	// and the same again gives the same.
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(anyLine), 0, 30).Draw(t, "lines")
		entries := rapid.SliceOfN(rapid.Custom(anyEntry), 0, 30).Draw(t, "entries")
		assignNumbers(lines, entries)

		got := reconcile.Compare(lines, entries)

		ofLine, ofEntry := make([]int, len(lines)), make([]int, len(entries))
		for _, m := range got.Matches {
			var there, here int64
			for _, i := range m.Lines {
				ofLine[i]++
				there += lines[i].Amount
			}
			for _, i := range m.Entries {
				ofEntry[i]++
				here += entries[i].Amount
			}
			if there != here || len(m.Lines) == 0 || len(m.Entries) == 0 {
				t.Fatalf("the match %+v has %d there and %d here", m, there, here)
			}
			if m.Days > reconcile.Window {
				t.Fatalf("the match %+v spans %d days", m, m.Days)
			}
		}
		var there, here, differences int64
		for _, b := range got.Breaks {
			if b.Line != reconcile.None {
				ofLine[b.Line]++
			}
			if b.Entry != reconcile.None {
				ofEntry[b.Entry]++
			}
			differences += b.Difference(lines, entries)
		}
		for i, l := range lines {
			if (ofLine[i] == 1) == l.Reconciled || ofLine[i] > 1 {
				t.Fatalf("line %d, settled %v, ends %d times", i, l.Reconciled, ofLine[i])
			}
			if !l.Reconciled {
				there += l.Amount
			}
		}
		for i, e := range entries {
			if e.Reconciled && ofEntry[i] != 0 || ofEntry[i] > 1 || !e.Reconciled && e.Expected && ofEntry[i] != 1 {
				t.Fatalf("entry %d, settled %v, expected %v, ends %d times", i, e.Reconciled, e.Expected, ofEntry[i])
			}
			if ofEntry[i] == 1 {
				here += e.Amount
			}
		}
		if there-here != differences {
			t.Fatalf("the sides are %d apart, and the breaks explain %d", there-here, differences)
		}
		if again := reconcile.Compare(lines, entries); describe(again) != describe(got) {
			t.Fatalf("the same again: %s, and before %s", describe(again), describe(got))
		}
	})
}

var someReferences = rapid.SampledFrom([]string{"", "REFERENCE1", "REFERENCE2", "REFERENCE3", "REFERENCE4", "BATCH-00-11"})

func anyLine(t *rapid.T) reconcile.Line {
	l := line(rapid.IntRange(0, 9).Draw(t, "day"), anyAmount(t), someReferences.Draw(t, "reference"))
	l.Returned = rapid.IntRange(0, 9).Draw(t, "returned") == 0
	l.Reconciled = rapid.IntRange(0, 4).Draw(t, "settled") == 0
	return l
}

func anyEntry(t *rapid.T) reconcile.Entry {
	e := entry(rapid.IntRange(0, 9).Draw(t, "day"), anyAmount(t), someReferences.Draw(t, "reference"))
	e.Expected = rapid.IntRange(0, 4).Draw(t, "expected") > 0
	e.Reconciled = rapid.IntRange(0, 4).Draw(t, "settled") == 0
	return e
}

func anyAmount(t *rapid.T) int64 {
	return rapid.SampledFrom([]int64{100, 100, 200, 300, 400, -100, -200, -300}).Draw(t, "amount")
}

func TestCompare_LinearTime(t *testing.T) {
	t.Parallel()
	// What is hardest for a comparison, everything with one reference and nothing that
	// fits, takes no more than in proportion.
	const many = 100_000
	lines, entries := make([]reconcile.Line, many), make([]reconcile.Entry, many)
	for i := range many {
		lines[i] = line(i%7, int64(1000+i), "BATCH-2026-03")
		entries[i] = entry(i%7, int64(1_000_000+i), "BATCH-2026-03")
	}
	assignNumbers(lines, entries)

	began := time.Now()
	got := reconcile.Compare(lines, entries)

	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(got.Breaks) != many {
		t.Errorf("there are %d breaks, want %d", len(got.Breaks), many)
	}
}
