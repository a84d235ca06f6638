package reconcile_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/reconcile"
)

// plainComparison applies the rules as docs/reconciliation.md has them, one after the other, by looking
// at everything each time.
type plainComparison struct {
	lines                      []reconcile.Line
	entries                    []testEntry
	days                       []reconcile.Day // on which the lines are compared
	again                      []bool          // the lines to match, the second time
	lineTaken, entryTaken      []bool
	lineKeys, entryKeys        [][]string
	orderedLines, orderedEntry []int
	matches                    []reconcile.Match
	breaks                     []reconcile.Break
}

func comparePlainly(lines []reconcile.Line, entries []testEntry) result {
	p := &plainComparison{lines: lines, entries: entries}
	p.lineKeys, p.entryKeys = make([][]string, len(lines)), make([][]string, len(entries))
	has := func(all []string, text string) bool { return text != "" && slices.Contains(all, text) }
	for i, l := range lines {
		p.lineTaken = append(p.lineTaken, l.Reconciled)
		for _, e := range entries {
			if reference := strings.Join(l.References, ""); has([]string{e.Memo}, reference) && p.lineKeys[i] == nil {
				p.lineKeys[i] = []string{strings.ReplaceAll(reference, "-", "")}
			}
		}
		p.orderedLines = append(p.orderedLines, i)
		p.days = append(p.days, l.Value)
		if apart(l.Value, l.Booked) > reconcile.Lookback {
			p.days[i] = l.Booked
		}
	}
	for i, e := range entries {
		p.entryTaken = append(p.entryTaken, e.Reconciled)
		for _, l := range lines {
			if has(l.References, e.Memo) && p.entryKeys[i] == nil {
				p.entryKeys[i] = []string{strings.ReplaceAll(e.Memo, "-", "")}
			}
		}
		p.orderedEntry = append(p.orderedEntry, i)
	}
	slices.SortStableFunc(p.orderedEntry, func(a, b int) int { return cmp.Compare(entries[a].Day, entries[b].Day) })

	p.applyRules()
	byValue := slices.Clone(p.days)
	p.again = make([]bool, len(lines))
	for i, l := range lines {
		if p.again[i] = !p.lineTaken[i] && p.days[i] != l.Booked && apart(l.Value, l.Booked) > reconcile.Window; p.again[i] {
			p.days[i] = l.Booked
		}
	}
	if slices.Contains(p.again, true) {
		p.applyRules()
	}
	p.days = byValue
	p.rest()
	return result{Matches: p.matches, Breaks: p.breaks}
}

func (p *plainComparison) applyRules() {
	p.orderLines()
	p.oneByReference()
	p.sums()
	p.amountAndDate(true)
	p.daySums()
	p.amountAndDate(false)
	p.amountAlone()
}

func (p *plainComparison) orderLines() {
	slices.Sort(p.orderedLines)
	slices.SortStableFunc(p.orderedLines, func(a, b int) int { return cmp.Compare(p.days[a], p.days[b]) })
}

// isOpen reports whether a line is one to match now.
func (p *plainComparison) isOpen(l int) bool {
	return !p.lineTaken[l] && (p.again == nil || p.again[l])
}

func (p *plainComparison) match(rule reconcile.Rule, key string, lines, entries []int) {
	m := reconcile.Match{Rule: rule, Reference: key, Lines: lines, Entries: entries}
	for _, l := range lines {
		p.lineTaken[l] = true
		for _, e := range entries {
			p.entryTaken[e] = true
			m.Days = max(m.Days, apart(p.days[l], p.entries[e].Day))
		}
	}
	p.matches = append(p.matches, m)
}

func apart(a, b reconcile.Day) int { return int(max(a, b) - min(a, b)) }

func isCredit(amount int64) bool { return amount > 0 }

func (p *plainComparison) sharesKey(l, e int) bool {
	return len(p.lineKeys[l]) > 0 && slices.Equal(p.lineKeys[l], p.entryKeys[e])
}

func (p *plainComparison) oneByReference() {
	for distance := range reconcile.Window + 1 {
		rule := reconcile.ReferenceAmount
		if distance == 0 {
			rule = reconcile.ReferenceAmountDate
		}
		for _, l := range p.orderedLines {
			for _, e := range p.orderedEntry { // the earlier day first
				if p.isOpen(l) && !p.entryTaken[e] && p.sharesKey(l, e) && p.lines[l].Amount == p.entries[e].Amount &&
					apart(p.days[l], p.entries[e].Day) == distance {
					p.match(rule, p.lineKeys[l][0], []int{l}, []int{e})
				}
			}
		}
	}
}

func (p *plainComparison) sums() {
	for _, l := range p.orderedLines {
		for _, reach := range []int{0, reconcile.Window} {
			var found []int
			var sum int64
			for _, e := range p.orderedEntry {
				if !p.entryTaken[e] && p.sharesKey(l, e) && isCredit(p.entries[e].Amount) == isCredit(p.lines[l].Amount) &&
					apart(p.days[l], p.entries[e].Day) <= reach {
					found, sum = append(found, e), sum+p.entries[e].Amount
				}
			}
			if p.isOpen(l) && len(found) > 1 && sum == p.lines[l].Amount {
				p.match(reconcile.ReferenceSum, p.lineKeys[l][0], []int{l}, found)
			}
		}
	}
	for _, e := range p.orderedEntry {
		for _, reach := range []int{0, reconcile.Window} {
			var found []int
			var sum int64
			for _, l := range p.orderedLines {
				if !p.lineTaken[l] && p.sharesKey(l, e) && isCredit(p.entries[e].Amount) == isCredit(p.lines[l].Amount) &&
					apart(p.days[l], p.entries[e].Day) <= reach {
					found, sum = append(found, l), sum+p.lines[l].Amount
				}
			}
			if !p.entryTaken[e] && len(found) > 1 && sum == p.entries[e].Amount {
				p.match(reconcile.ReferenceSum, p.entryKeys[e][0], found, []int{e})
			}
		}
	}
}

// without lists the open lines and entries without keys of an amount near a day.
func (p *plainComparison) without(amount int64, day reconcile.Day, reach int) (lines, entries []int) {
	for _, l := range p.orderedLines {
		if !p.lineTaken[l] && p.lineKeys[l] == nil && p.lines[l].Amount == amount && apart(p.days[l], day) <= reach {
			lines = append(lines, l)
		}
	}
	for _, e := range p.orderedEntry {
		if !p.entryTaken[e] && p.entryKeys[e] == nil && p.entries[e].Amount == amount && apart(p.entries[e].Day, day) <= reach {
			entries = append(entries, e)
		}
	}
	return lines, entries
}

func (p *plainComparison) amountAndDate(equallyMany bool) {
	for _, l := range p.orderedLines {
		if !p.isOpen(l) || p.lineKeys[l] != nil {
			continue
		}
		lines, entries := p.without(p.lines[l].Amount, p.days[l], 0)
		if equallyMany && len(lines) != len(entries) {
			continue
		}
		for i := range min(len(lines), len(entries)) {
			p.match(reconcile.AmountDate, "", lines[i:i+1], entries[i:i+1])
		}
	}
}

func (p *plainComparison) daySums() {
	for _, l := range p.orderedLines {
		for back := range reconcile.Day(reconcile.Window + 1) {
			var found []int
			var sum int64
			for _, e := range p.orderedEntry {
				if !p.entryTaken[e] && p.entryKeys[e] == nil && isCredit(p.entries[e].Amount) == isCredit(p.lines[l].Amount) &&
					p.entries[e].Day == p.days[l]-back {
					found, sum = append(found, e), sum+p.entries[e].Amount
				}
			}
			if p.isOpen(l) && p.lineKeys[l] == nil && len(found) > 1 && sum == p.lines[l].Amount {
				p.match(reconcile.DaySum, "", []int{l}, found)
			}
		}
	}
}

// amountAlone counts what it has matched itself too.
func (p *plainComparison) amountAlone() {
	type pair struct{ line, entry int }
	var pairs []pair
	for _, l := range p.orderedLines {
		if !p.isOpen(l) || p.lineKeys[l] != nil {
			continue
		}
		_, entries := p.without(p.lines[l].Amount, p.days[l], reconcile.Window)
		if len(entries) != 1 {
			continue
		}
		if lines, _ := p.without(p.lines[l].Amount, p.entries[entries[0]].Day, reconcile.Window); len(lines) == 1 {
			pairs = append(pairs, pair{l, entries[0]})
		}
	}
	for _, found := range pairs {
		p.match(reconcile.AmountAlone, "", []int{found.line}, []int{found.entry})
	}
}

// rest makes the breaks. Only their lines and entries are compared with the other comparison.
func (p *plainComparison) rest() {
	p.orderLines()
	for _, l := range p.orderedLines {
		if !p.lineTaken[l] {
			p.breaks = append(p.breaks, reconcile.Break{Line: l, Entry: reconcile.None})
		}
	}
}

func TestCompare_MatchesAsPlainReference(t *testing.T) {
	t.Parallel()
	// A comparison finds the same matches, in the same order, as one that looks at everything for every
	// rule; and its lines with a break are those that the other leaves.
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(anyLine), 0, 25).Draw(t, "lines")
		entries := rapid.SliceOfN(rapid.Custom(anyEntry), 0, 25).Draw(t, "entries")
		assignNumbers(lines, entries)

		got, want := compare(t, lines, entries), comparePlainly(lines, entries)

		if found := describe(result{Matches: got.Matches}); found != describe(result{Matches: want.Matches}) {
			t.Fatalf("\n got %s\nwant %s", found, describe(result{Matches: want.Matches}))
		}
		for i := range got.Matches {
			if got.Matches[i].Reference != want.Matches[i].Reference || got.Matches[i].Days != want.Matches[i].Days {
				t.Fatalf("the match is %+v, want %+v", got.Matches[i], want.Matches[i])
			}
		}
		var broken []int
		for _, b := range got.Breaks {
			if b.Line != reconcile.None {
				broken = append(broken, b.Line)
			}
		}
		var open []int
		for _, b := range want.Breaks {
			open = append(open, b.Line)
		}
		if !slices.Equal(broken, open) {
			t.Fatalf("the lines with a break are %v, want %v", broken, open)
		}
	})
}

func TestCompare_UnequalBatchesMatchThePartThatFits(t *testing.T) {
	t.Parallel()
	// Without references, of equal amounts on one day as many are matched as there are on both sides,
	// whatever the order of the file is, and the breaks are those left of the larger side.
	rapid.Check(t, func(t *rapid.T) {
		var lines []reconcile.Line
		var entries []testEntry
		want, left := 0, 0
		amounts := rapid.Permutation([]int64{1_000, 20_000, 300_000, -4_000_000}).Draw(t, "amounts")
		for i, amount := range amounts {
			day := i * (reconcile.Window + 1) // so that no other rule applies
			n, m := rapid.IntRange(0, 5).Draw(t, "lines"), rapid.IntRange(0, 5).Draw(t, "entries")
			for range n {
				lines = append(lines, line(day, amount))
			}
			for range m {
				entries = append(entries, entry(day, amount, ""))
			}
			want, left = want+min(n, m), left+max(n, m)-min(n, m)
		}
		lines = rapid.Permutation(lines).Draw(t, "order")
		assignNumbers(lines, entries)

		got := compare(t, lines, entries)

		if len(got.Matches) != want || len(got.Breaks) != left {
			t.Fatalf("%s; want %d matches and %d breaks", describe(got), want, left)
		}
		for _, m := range got.Matches {
			if m.Rule != reconcile.AmountDate {
				t.Fatalf("a match is by %s", m.Rule)
			}
		}
	})
}
