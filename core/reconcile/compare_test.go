package reconcile_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"causeway/core/rail"
	"causeway/core/reconcile"
)

var monday, _ = reconcile.Date(2026, 3, 9)

// line is a statement line on a day counted from Monday.
func line(day int, amount int64, references ...string) reconcile.Line {
	return reconcile.Line{Amount: amount, Booked: monday + reconcile.Day(day), Value: monday + reconcile.Day(day), References: references}
}

// valued is a line with another value date than booking day.
func valued(booked, value int, amount int64, references ...string) reconcile.Line {
	l := line(booked, amount, references...)
	l.Value = monday + reconcile.Day(value)
	return l
}

// testEntry is an entry, and whether a statement is expected to have it.
type testEntry struct {
	reconcile.Entry
	Expected bool
}

// entry is an expected ledger entry.
func entry(day int, amount int64, memo string) testEntry {
	return testEntry{reconcile.Entry{Amount: amount, Day: monday + reconcile.Day(day), Memo: memo}, true}
}

// result is what a comparison found.
type result struct {
	comparison *reconcile.Comparison
	Matches    []reconcile.Match
	Breaks     []reconcile.Break
}

func compare(t interface{ Fatal(...any) }, lines []reconcile.Line, entries []testEntry) result {
	c := &reconcile.Comparison{}
	for _, e := range entries {
		if e.Expected {
			c.Expect(nil, []reconcile.OpenBreak{{Entry: reconcile.EntryPosition{Seq: e.Seq, N: e.N}}})
		}
		if err := c.AddEntry(e.Entry); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range lines {
		if err := c.AddLine(l); err != nil {
			t.Fatal(err)
		}
	}
	c.Compare()
	return result{c, slices.Collect(c.Matches()), c.Breaks()}
}

// describe formats a result: the indexes of lines and entries, with rules and reasons.
func describe(r result) string {
	var text []string
	for _, m := range r.Matches {
		text = append(text, fmt.Sprintf("%s %v=%v", m.Rule, m.Lines, m.Entries))
	}
	for _, b := range r.Breaks {
		text = append(text, strings.NewReplacer("-1", "").Replace(fmt.Sprintf("%s %d|%d (%d|%d)", b.Reason, b.Line, b.Entry,
			b.OtherLine, b.OtherEntry)))
	}
	return strings.Join(text, ", ")
}

func assignNumbers(lines []reconcile.Line, entries []testEntry) {
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
	// Each rule finds its matches, and everything else is a break with its reason.
	reconciledLine := line(0, 500, "REFERENCE1")
	reconciledLine.Reconciled = true
	reconciledEntry := entry(0, 500, "REFERENCE1")
	reconciledEntry.Reconciled = true
	returned := line(1, 300)
	returned.Returned = true
	outside := entry(-3, 700, "REFERENCE7")
	outside.Expected = false
	for _, c := range []struct {
		name    string
		lines   []reconcile.Line
		entries []testEntry
		want    string
	}{
		{"nothing", nil, nil, ""},
		{"reference, amount and day", []reconcile.Line{line(0, 500, "REFERENCE1")}, []testEntry{entry(0, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0]"},
		{"the reference in the description, in small letters with a hyphen",
			[]reconcile.Line{{Amount: 500, Booked: monday, Value: monday, Description: "for rent 4t9k-2m7pxq3a, thanks"}},
			[]testEntry{entry(0, 500, "4T9K2M7PXQ3A")}, "REFERENCE_AMOUNT_DATE [0]=[0]"},
		{"the reference in a memo with words", []reconcile.Line{line(0, 500, "4T9K2M7PXQ3A")},
			[]testEntry{entry(0, 500, "unknown reference 4T9K2M7PXQ3A")},
			"REFERENCE_AMOUNT_DATE [0]=[0]"},
		{"over a weekend", []reconcile.Line{line(3, 500, "REFERENCE1")}, []testEntry{entry(0, 500, "REFERENCE1")}, "REFERENCE_AMOUNT [0]=[0]"},
		{"the same day before the nearest", []reconcile.Line{line(1, 500, "REFERENCE1"), line(0, 500, "REFERENCE1")},
			[]testEntry{entry(0, 500, "REFERENCE1"), entry(2, 500, "REFERENCE1")}, "REFERENCE_AMOUNT_DATE [1]=[0], REFERENCE_AMOUNT [0]=[1]"},
		{"too many days apart", []reconcile.Line{line(6, 500, "REFERENCE1")}, []testEntry{entry(0, 500, "REFERENCE1")},
			"MISSING_IN_LEDGER 0| (|), MISSING_ON_STATEMENT |0 (|)"},
		{"a batch line", []reconcile.Line{line(0, 600, "BATCH-2026-03")}, []testEntry{entry(0, 100, "BATCH-2026-03"),
			entry(0, 200, "BATCH-2026-03"), entry(0, 300, "BATCH-2026-03")},
			"REFERENCE_SUM [0]=[0 1 2]"},
		{"a batch line of several days", []reconcile.Line{line(2, 300, "BATCH-2026-03")}, []testEntry{entry(0, 100, "BATCH-2026-03"),
			entry(1, 200, "BATCH-2026-03")},
			"REFERENCE_SUM [0]=[0 1]"},
		{"one entry in several lines", []reconcile.Line{line(0, -100, "REFERENCE1"), line(0, -50, "REFERENCE1")},
			[]testEntry{entry(0, -150, "REFERENCE1")},
			"REFERENCE_SUM [0 1]=[0]"},
		{"amount and day without references", []reconcile.Line{line(0, 500)}, []testEntry{entry(0, 500, "no reference")}, "AMOUNT_DATE [0]=[0]"},
		{"as many lines as entries", []reconcile.Line{line(0, 500), line(0, 500)}, []testEntry{entry(0, 500, ""), entry(0, 500, "")},
			"AMOUNT_DATE [0]=[0], AMOUNT_DATE [1]=[1]"},
		{"more lines than entries", []reconcile.Line{line(0, 500), line(0, 500), line(0, 500)}, []testEntry{entry(0, 500, ""), entry(0, 500, "")},
			"AMOUNT_DATE [0]=[0], AMOUNT_DATE [1]=[1], MISSING_IN_LEDGER 2| (|)"},
		{"more entries than lines", []reconcile.Line{line(0, 500)}, []testEntry{entry(0, 500, ""), entry(0, 500, "")},
			"AMOUNT_DATE [0]=[0], MISSING_ON_STATEMENT |1 (|)"},
		{"a day's sum has more entries of an amount than lines", []reconcile.Line{line(0, 100), line(0, 350)},
			[]testEntry{entry(0, 100, ""), entry(0, 100, ""), entry(0, 150, "")},
			"DAY_SUM [1]=[0 1 2], MISSING_IN_LEDGER 0| (|)"},
		{"the rest of an amount is a day late", []reconcile.Line{line(0, 500), line(0, 500)}, []testEntry{entry(0, 500, ""), entry(1, 500, "")},
			"AMOUNT_DATE [0]=[0], AMOUNT [1]=[1]"},
		{"a day's sum, settled the day after", []reconcile.Line{line(1, 350)}, []testEntry{entry(0, 100, "REFERENCE1"),
			entry(0, 250, "REFERENCE2"), entry(1, 1, "REFERENCE3")},
			"DAY_SUM [0]=[0 1], MISSING_ON_STATEMENT |2 (|)"},
		{"unique amount", []reconcile.Line{line(2, 500)}, []testEntry{entry(0, 500, "REFERENCE1")}, "AMOUNT [0]=[0]"},
		{"ambiguous amount", []reconcile.Line{line(2, 500)}, []testEntry{entry(0, 500, "REFERENCE1"), entry(1, 500, "REFERENCE2")},
			"MISSING_IN_LEDGER 0| (|), MISSING_ON_STATEMENT |0 (|), MISSING_ON_STATEMENT |1 (|)"},
		{"a shared reference is not matched by amount", []reconcile.Line{line(0, 500, "REFERENCE1"), line(0, 500, "REFERENCE1")},
			[]testEntry{entry(0, 500, "REFERENCE1"), entry(0, 500, "REFERENCE2")},
			"REFERENCE_AMOUNT_DATE [0]=[0], DUPLICATE 1| (0|), MISSING_ON_STATEMENT |1 (|)"},
		{"another amount", []reconcile.Line{line(0, 495, "REFERENCE1")}, []testEntry{entry(0, 500, "REFERENCE1")}, "AMOUNT_DIFFERS 0|0 (|)"},
		{"duplicate line", []reconcile.Line{line(0, 500, "REFERENCE1"), line(1, 500, "REFERENCE1")}, []testEntry{entry(0, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0], DUPLICATE 1| (0|)"},
		{"duplicate of a reconciled line", []reconcile.Line{reconciledLine, line(1, 500, "REFERENCE1")}, []testEntry{reconciledEntry},
			"DUPLICATE 1| (0|)"},
		{"duplicate entry", []reconcile.Line{line(0, 500, "REFERENCE1")}, []testEntry{entry(0, 500, "REFERENCE1"), entry(0, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0], DUPLICATE |1 (|0)"},
		{"returned", []reconcile.Line{line(0, -500, "REFERENCE1"), line(1, 500, "REFERENCE1")}, []testEntry{entry(0, -500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0], RETURNED 1| (|0)"},
		{"returned, and in the ledger", []reconcile.Line{line(0, -500, "REFERENCE1"), line(1, 500, "REFERENCE1")},
			[]testEntry{entry(0, -500, "REFERENCE1"), entry(1, 500, "REFERENCE1")}, "REFERENCE_AMOUNT_DATE [0]=[0], REFERENCE_AMOUNT_DATE [1]=[1]"},
		{"marked as returned", []reconcile.Line{returned}, nil, "RETURNED 0| (|)"},
		{"valued long before, in the ledger when booked", []reconcile.Line{valued(10, 0, 500, "REFERENCE1")},
			[]testEntry{entry(9, 500, "REFERENCE1")}, "REFERENCE_AMOUNT [0]=[0]"},
		{"valued long before, in the ledger then", []reconcile.Line{valued(10, 0, 500, "REFERENCE1")},
			[]testEntry{entry(0, 500, "REFERENCE1"), entry(10, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[0], DUPLICATE |1 (|0)"},
		{"valued and booked long ago, in the ledger between", []reconcile.Line{valued(20, 0, 500, "REFERENCE1")},
			[]testEntry{entry(10, 500, "REFERENCE1")}, "MISSING_IN_LEDGER 0| (|), MISSING_ON_STATEMENT |0 (|)"},
		{"valued long before, without a reference", []reconcile.Line{valued(10, 0, 500)}, []testEntry{entry(10, 500, "")}, "AMOUNT_DATE [0]=[0]"},
		{"valued long before, the sum of the day of booking", []reconcile.Line{valued(10, 0, 500)},
			[]testEntry{entry(10, 200, ""), entry(10, 300, "")}, "DAY_SUM [0]=[0 1]"},
		{"valued days ahead", []reconcile.Line{valued(0, 9, 500, "REFERENCE1"), valued(0, 4, 600, "REFERENCE2")},
			[]testEntry{entry(0, 500, "REFERENCE1"), entry(1, 600, "REFERENCE2")}, "REFERENCE_AMOUNT [1]=[1], REFERENCE_AMOUNT_DATE [0]=[0]"},
		{"valued too long before", []reconcile.Line{valued(40, 0, 500, "REFERENCE1"), valued(40, 0, 600, "REFERENCE2")},
			[]testEntry{entry(0, 600, "REFERENCE2"), entry(40, 500, "REFERENCE1")},
			"REFERENCE_AMOUNT_DATE [0]=[1], MISSING_IN_LEDGER 1| (|), MISSING_ON_STATEMENT |0 (|)"},
		{"valued long before, another amount then", []reconcile.Line{valued(10, 0, 495, "REFERENCE1")},
			[]testEntry{entry(0, 500, "REFERENCE1"), entry(10, 300, "REFERENCE1")}, "AMOUNT_DIFFERS 0|0 (|), MISSING_ON_STATEMENT |1 (|)"},
		{"valued long before, another amount when booked", []reconcile.Line{valued(10, 0, 495, "REFERENCE1")},
			[]testEntry{entry(10, 500, "REFERENCE1")}, "AMOUNT_DIFFERS 0|0 (|)"},
		{"outside the statement", nil, []testEntry{outside}, ""},
		{"outside the statement, but matched", []reconcile.Line{line(0, 700, "REFERENCE7")}, []testEntry{outside}, "REFERENCE_AMOUNT [0]=[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lines, entries := slices.Clone(c.lines), slices.Clone(c.entries)
			assignNumbers(lines, entries)

			got := compare(t, lines, entries)

			if describe(got) != c.want {
				t.Errorf("\n got %s\nwant %s", describe(got), c.want)
			}
			for _, m := range got.Matches {
				if m.Explain() == "" {
					t.Errorf("the rule %s has no explanation", m.Rule)
				}
			}
			for _, b := range got.Breaks {
				if got.comparison.Explain(b, "USD") == "" {
					t.Errorf("the reason %s has no explanation", b.Reason)
				}
			}
		})
	}
}

func TestCompare_EachItemMatchedOrBrokenOnce(t *testing.T) {
	t.Parallel()
	// In any comparison every open line and every expected open entry ends in exactly one match or
	// break, reconciled ones in none, every match adds up, and the result is deterministic.
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(anyLine), 0, 30).Draw(t, "lines")
		entries := rapid.SliceOfN(rapid.Custom(anyEntry), 0, 30).Draw(t, "entries")
		assignNumbers(lines, entries)

		got := compare(t, lines, entries)

		lineCount, entryCount := make([]int, len(lines)), make([]int, len(entries))
		for _, m := range got.Matches {
			var lineSum, entrySum int64
			for _, i := range m.Lines {
				lineCount[i]++
				lineSum += lines[i].Amount
			}
			for _, i := range m.Entries {
				entryCount[i]++
				entrySum += entries[i].Amount
			}
			if lineSum != entrySum || len(m.Lines) == 0 || len(m.Entries) == 0 {
				t.Fatalf("the match %+v has lines of %d and entries of %d", m, lineSum, entrySum)
			}
			if m.Days > reconcile.Window {
				t.Fatalf("the match %+v spans %d days", m, m.Days)
			}
		}
		var lineSum, entrySum, differences int64
		for _, b := range got.Breaks {
			if b.Line != reconcile.None {
				lineCount[b.Line]++
			}
			if b.Entry != reconcile.None {
				entryCount[b.Entry]++
			}
			differences += got.comparison.Difference(b)
		}
		for i, l := range lines {
			if (lineCount[i] == 1) == l.Reconciled || lineCount[i] > 1 {
				t.Fatalf("line %d, reconciled %v, ends %d times", i, l.Reconciled, lineCount[i])
			}
			if !l.Reconciled {
				lineSum += l.Amount
			}
		}
		for i, e := range entries {
			if e.Reconciled && entryCount[i] != 0 || entryCount[i] > 1 || !e.Reconciled && e.Expected && entryCount[i] != 1 {
				t.Fatalf("entry %d, reconciled %v, expected %v, ends %d times", i, e.Reconciled, e.Expected, entryCount[i])
			}
			if entryCount[i] == 1 {
				entrySum += e.Amount
			}
		}
		if lineSum-entrySum != differences {
			t.Fatalf("the sides differ by %d, and the breaks by %d", lineSum-entrySum, differences)
		}
		if again := compare(t, lines, entries); describe(again) != describe(got) {
			t.Fatalf("the second time %s, the first time %s", describe(again), describe(got))
		}
	})
}

var someReferences = rapid.SampledFrom([]string{"", "REFERENCE1", "REFERENCE2", "REFERENCE3", "REFERENCE4", "BATCH-00-11"})

func anyLine(t *rapid.T) reconcile.Line {
	day := rapid.IntRange(0, 9).Draw(t, "day")
	l := line(day, anyAmount(t), someReferences.Draw(t, "reference"))
	switch away := rapid.SampledFrom([]int{0, 0, 0, -40, -32, -31, -10, -6, -5, 1, 5, 6, 8, 31, 32}).Draw(t, "away"); {
	case rapid.Bool().Draw(t, "valued away"):
		l.Value += reconcile.Day(away)
	default:
		l.Booked += reconcile.Day(away)
	}
	l.Returned = rapid.IntRange(0, 9).Draw(t, "returned") == 0
	l.Reconciled = rapid.IntRange(0, 4).Draw(t, "reconciled") == 0
	return l
}

func anyEntry(t *rapid.T) testEntry {
	e := entry(rapid.IntRange(0, 9).Draw(t, "day"), anyAmount(t), someReferences.Draw(t, "reference"))
	e.Expected = rapid.IntRange(0, 4).Draw(t, "expected") > 0
	e.Reconciled = rapid.IntRange(0, 4).Draw(t, "reconciled") == 0
	return e
}

func anyAmount(t *rapid.T) int64 {
	return rapid.SampledFrom([]int64{100, 100, 200, 300, 400, -100, -200, -300}).Draw(t, "amount")
}

func TestCompare_LinearTime(t *testing.T) {
	t.Parallel()
	// The worst case, one reference for everything and no match, takes linear time.
	const count = 100_000
	lines, entries := make([]reconcile.Line, count), make([]testEntry, count)
	for i := range count {
		lines[i] = line(i%7, int64(1000+i), "BATCH-2026-03")
		entries[i] = entry(i%7, int64(1_000_000+i), "BATCH-2026-03")
	}
	assignNumbers(lines, entries)

	// Processor time: a busy machine lets a test wait for any time.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := threadTime(t)
	got := compare(t, lines, entries)

	if took := threadTime(t) - began; took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(got.Breaks) != count {
		t.Errorf("there are %d breaks, want %d", len(got.Breaks), count)
	}
}

// threadTime returns the processor time that the current thread has used.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestCompare_FindsTransactionsByTheirIDs(t *testing.T) {
	t.Parallel()
	// A line names a payment by its transaction: by its end-to-end id, which that of a refund begins with, or, as in ACH
	// files, by the 15 characters that are derived from either. Without one of them the amounts are ambiguous.
	one, other := uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"), uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12")
	of := func(id uuid.UUID) testEntry {
		e := entry(0, -500, "")
		e.Transaction.SetUUID(id)
		return e
	}
	entries := []testEntry{of(one), of(other)}
	for _, reference := range []string{"0199F0A27B1C7E559D6B2F1F6A0C4E12", "0199F0A27B1C7E559D6B2F1F6A0C4E12-R",
		rail.ShortID("0199F0A27B1C7E559D6B2F1F6A0C4E12"),
		"PPD " + strings.ToLower(rail.ShortID("0199F0A27B1C7E559D6B2F1F6A0C4E12-R"))} {
		lines := []reconcile.Line{line(0, -500, reference)}
		assignNumbers(lines, entries)

		got := describe(compare(t, lines, entries))

		if !strings.HasPrefix(got, "REFERENCE_AMOUNT_DATE [0]=[1], ") {
			t.Errorf("%s: %s", reference, got)
		}
	}
}
