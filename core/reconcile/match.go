package reconcile

import (
	"fmt"
	"strings"
)

// Rule is a rule by which matches are found.
type Rule string

// The rules in the order in which they are applied. Each applies to what the earlier ones left
// unmatched.
const (
	// ReferenceAmountDate: one line and one entry have a common reference, the same amount and
	// the same day.
	ReferenceAmountDate Rule = "REFERENCE_AMOUNT_DATE"
	// ReferenceAmount: the same, some days apart.
	ReferenceAmount Rule = "REFERENCE_AMOUNT"
	// ReferenceSum: several entries with a common reference add up to one line, or several lines
	// to one entry.
	ReferenceSum Rule = "REFERENCE_SUM"
	// AmountDate: without common references, as many lines as entries have the amount on the day.
	AmountDate Rule = "AMOUNT_DATE"
	// DaySum: all entries of a day add up to one line.
	DaySum Rule = "DAY_SUM"
	// AmountAlone: without common references, only one line and one entry have the amount within
	// some days.
	AmountAlone Rule = "AMOUNT"
)

// Rules lists the rules in the order in which they are applied.
func Rules() []Rule {
	return []Rule{ReferenceAmountDate, ReferenceAmount, ReferenceSum, AmountDate, DaySum, AmountAlone}
}

// Window is the maximum number of days between a line's value date and an entry's day: a weekend
// with a holiday on each side.
const Window = 5

// Match is a set of lines and a set of entries that are the same money.
type Match struct {
	Rule Rule
	// Lines and Entries are indexes into what was compared. At least one of them has a single
	// element.
	Lines, Entries []int
	// Reference is the common key; empty if there is none.
	Reference string
	// Days is the largest number of days between a line and an entry of the match.
	Days int
}

// Result is the result of a comparison.
type Result struct {
	Matches []Match
	Breaks  []Break
}

// Compare matches lines with entries, and returns a break for everything that is left. It is
// deterministic and takes linear time. Reconciled lines and entries are only compared with.
func Compare(lines []Line, entries []Entry) Result {
	c := &comparison{lines: newPool(len(lines)), entries: newPool(len(entries)), sourceLines: lines, sourceEntries: entries}
	lineKeys, entryKeys, names := sharedKeys(lines, entries)
	c.keyNames = names
	for i, e := range entries {
		c.entries.items = append(c.entries.items, item{amount: e.Amount, day: e.Day, order: e.Seq, keys: entryKeys[i], taken: e.Reconciled})
	}
	for i, l := range lines {
		c.lines.items = append(c.lines.items, item{amount: l.Amount, day: l.Value, order: int64(l.Ordinal), keys: lineKeys[i], taken: l.Reconciled})
	}
	c.lines.sort()
	c.entries.sort()

	c.entries.indexByAmountAndDay()
	c.byReference()
	c.entries.byAmountAndDay = nil
	c.lines.indexByDay(c.entries)
	c.entries.indexByDay(c.lines)
	c.byReferenceSum()
	c.byAmountAndDate()
	c.byDaySum()
	c.byAmountAlone()
	c.classifyBreaks()
	return c.result
}

// comparison is the state of one comparison.
type comparison struct {
	lines, entries *pool
	sourceLines    []Line
	sourceEntries  []Entry
	keyNames       []string
	result         Result
}

func (c *comparison) match(rule Rule, reference string, lines, entries []int) {
	m := Match{Rule: rule, Lines: lines, Entries: entries, Reference: reference}
	for _, l := range lines {
		for _, e := range entries {
			m.Days = max(m.Days, daysBetween(c.sourceLines[l].Value, c.sourceEntries[e].Day))
		}
	}
	for _, l := range lines {
		c.lines.take(l)
	}
	for _, e := range entries {
		c.entries.take(e)
	}
	c.result.Matches = append(c.result.Matches, m)
}

// byReference matches one line with one entry: for all lines on the same day first, then for the
// rest with the nearest day.
func (c *comparison) byReference() {
	for distance := range Window + 1 {
		rule := ReferenceAmount
		if distance == 0 {
			rule = ReferenceAmountDate
		}
		for _, l := range c.lines.open() {
			line := c.lines.items[l]
			for _, key := range line.keys {
				if e, ok := c.entries.firstOpen(key, line.amount, line.day, distance); ok {
					c.match(rule, c.keyNames[key], []int{l}, []int{e})
					break
				}
			}
		}
	}
}

// byReferenceSum matches one line with several entries, and then one entry with several lines.
func (c *comparison) byReferenceSum() {
	for _, l := range c.lines.open() {
		if entries, key := c.entries.findSum(c.lines.items[l]); entries != nil {
			c.match(ReferenceSum, c.keyNames[key], []int{l}, entries)
		}
	}
	for _, e := range c.entries.open() {
		if lines, key := c.lines.findSum(c.entries.items[e]); lines != nil {
			c.match(ReferenceSum, c.keyNames[key], lines, []int{e})
		}
	}
}

// byAmountAndDate matches, in order, lines and entries without common references, if there are
// equally many with an amount and day.
func (c *comparison) byAmountAndDate() {
	lines, entries := c.lines.unsharedByAmountAndDay(), c.entries.unsharedByAmountAndDay()
	for _, l := range c.lines.open() {
		line := c.lines.items[l]
		sameLines := lines[amountDay{line.amount, line.day}]
		sameEntries := entries[amountDay{line.amount, line.day}]
		if len(line.keys) > 0 || len(sameLines) != len(sameEntries) {
			continue
		}
		for i := range sameLines {
			c.match(AmountDate, "", []int{sameLines[i]}, []int{sameEntries[i]})
		}
		delete(lines, amountDay{line.amount, line.day})
	}
}

// byDaySum matches a line with all entries of its day, or of an earlier day if the partner settles
// later.
func (c *comparison) byDaySum() {
	days := c.entries.unsharedByDay()
	for _, l := range c.lines.open() {
		line := c.lines.items[l]
		if len(line.keys) > 0 {
			continue
		}
		for back := range Day(Window + 1) {
			group := signDay{line.amount > 0, line.day - back}
			day := days[group]
			if day == nil || day.sum != uint64(line.amount) {
				continue
			}
			if entries := c.entries.openSummingTo(day.items, line.amount); entries != nil {
				c.match(DaySum, "", []int{l}, entries)
				delete(days, group)
				break
			}
		}
	}
}

// byAmountAlone matches a line and an entry that are the only ones with their amount.
func (c *comparison) byAmountAlone() {
	lines, entries := c.lines.unsharedByAmountAndDay(), c.entries.unsharedByAmountAndDay()
	for _, l := range c.lines.open() {
		line := c.lines.items[l]
		if len(line.keys) > 0 {
			continue
		}
		e, ok := uniqueNear(entries, line)
		if !ok {
			continue
		}
		if back, ok := uniqueNear(lines, c.entries.items[e]); ok && back == l {
			c.match(AmountAlone, "", []int{l}, []int{e})
		}
	}
}

// uniqueNear returns the only item with an amount within the window around a day.
func uniqueNear(items map[amountDay][]int, target item) (found int, only bool) {
	for day := target.day - Window; day <= target.day+Window; day++ {
		for _, i := range items[amountDay{target.amount, day}] {
			if only {
				return 0, false
			}
			found, only = i, true
		}
	}
	return found, only
}

// Explain returns a sentence that says why the match was made.
func (m Match) Explain() string {
	var text strings.Builder
	switch m.Rule {
	case ReferenceAmountDate:
		fmt.Fprintf(&text, "Same reference %s, amount and day.", m.Reference)
	case ReferenceAmount:
		fmt.Fprintf(&text, "Same reference %s and amount, %s apart.", m.Reference, formatDays(m.Days))
	case ReferenceSum:
		if len(m.Lines) == 1 {
			fmt.Fprintf(&text, "%d entries with the reference %s add up to the line.", len(m.Entries), m.Reference)
		} else {
			fmt.Fprintf(&text, "%d lines with the reference %s add up to the entry.", len(m.Lines), m.Reference)
		}
	case AmountDate:
		text.WriteString("No common reference; as many lines as entries have this amount on the day.")
	case DaySum:
		fmt.Fprintf(&text, "The %d entries of a day add up to the line.", len(m.Entries))
	case AmountAlone:
		fmt.Fprintf(&text, "No common reference; only these have the amount within %d days, and they are %s apart.", Window, formatDays(m.Days))
	}
	return text.String()
}

func formatDays(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}
