package reconcile

import (
	"fmt"
	"strings"
)

// Rule is how a match was found.
type Rule string

// The rules, in the order in which they are tried. Each takes what those before it have
// left.
const (
	// ReferenceAmountDate: one line and one entry with a reference in common, the same
	// amount and the same day.
	ReferenceAmountDate Rule = "REFERENCE_AMOUNT_DATE"
	// ReferenceAmount: the same, some days apart.
	ReferenceAmount Rule = "REFERENCE_AMOUNT"
	// ReferenceSum: one line for several entries, or several lines for one entry, all
	// with one reference, which add up.
	ReferenceSum Rule = "REFERENCE_SUM"
	// AmountDate: no side knows the other's references, and there are as many lines as
	// entries with the amount on the day.
	AmountDate Rule = "AMOUNT_DATE"
	// DaySum: one line for all entries of a day, which add up.
	DaySum Rule = "DAY_SUM"
	// AmountAlone: no side knows the other's references, and one line and one entry alone
	// have the amount within some days.
	AmountAlone Rule = "AMOUNT"
)

// Rules lists the rules in the order in which they are tried.
func Rules() []Rule {
	return []Rule{ReferenceAmountDate, ReferenceAmount, ReferenceSum, AmountDate, DaySum, AmountAlone}
}

// Window is how many days may lie between a line's value date and an entry's day:
// a weekend with a holiday on each side.
const Window = 5

// Match says that these lines and these entries are the same money.
type Match struct {
	Rule Rule
	// Lines and Entries are places in what was compared; one of them is one long, but
	// for AmountDate, where both are.
	Lines, Entries []int
	// Reference is the key they have in common; empty where they have none.
	Reference string
	// Days is the largest number of days between a line and an entry of the match.
	Days int
}

// Result is what became of everything that was not settled before.
type Result struct {
	Matches []Match
	Breaks  []Break
}

// Compare matches lines with entries, and names the reason for whatever is left. The
// same input gives the same result, and it takes time in proportion to it. Lines and
// entries that are settled only serve to be compared with.
func Compare(lines []Line, entries []Entry) Result {
	c := &comparison{lines: newPool(len(lines)), entries: newPool(len(entries)), sourceLines: lines, sourceEntries: entries}
	for _, e := range entries {
		c.entries.add(item{amount: e.Amount, day: e.Day, order: e.Seq, keys: e.keys()}, e.Reconciled)
	}
	for _, l := range lines {
		// Of the many words of a line only those that our books know can find anything.
		c.lines.add(item{amount: l.Amount, day: l.Value, order: int64(l.Ordinal), keys: c.entries.sharedKeys(l.keys())}, l.Reconciled)
	}
	c.lines.indexSharedKeys(c.entries)
	c.entries.indexSharedKeys(c.lines)

	c.byReference()
	c.byReferenceSum()
	c.byAmountAndDate()
	c.byDaySum()
	c.byAmountAlone()
	c.classifyBreaks()
	return c.result
}

// comparison is one comparison under way.
type comparison struct {
	lines, entries *pool
	sourceLines    []Line
	sourceEntries  []Entry
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

// byReference pairs one line with one entry: first those of one day, for all lines,
// then the nearest day for those that are left.
func (c *comparison) byReference() {
	for apart := range Window + 1 {
		rule := ReferenceAmount
		if apart == 0 {
			rule = ReferenceAmountDate
		}
		for _, l := range c.lines.open() {
			of := c.lines.items[l]
			for _, key := range of.keys {
				if e, ok := c.entries.firstOpen(key, of.amount, of.day, apart); ok {
					c.match(rule, key, []int{l}, []int{e})
					break
				}
			}
		}
	}
}

// byReferenceSum finds one line for several entries, and then one entry for several
// lines.
func (c *comparison) byReferenceSum() {
	for _, l := range c.lines.open() {
		if entries, key := c.entries.findSum(c.lines.items[l]); entries != nil {
			c.match(ReferenceSum, key, []int{l}, entries)
		}
	}
	for _, e := range c.entries.open() {
		if lines, key := c.lines.findSum(c.entries.items[e]); lines != nil {
			c.match(ReferenceSum, key, lines, []int{e})
		}
	}
}

// byAmountAndDate pairs what has nothing but amount and day to be told by, where the
// two sides have equally many, in order.
func (c *comparison) byAmountAndDate() {
	lines, entries := c.lines.unsharedByAmountAndDay(), c.entries.unsharedByAmountAndDay()
	for _, l := range c.lines.open() {
		of := c.lines.items[l]
		here := lines[amountDay{of.amount, of.day}]
		there := entries[amountDay{of.amount, of.day}]
		if of.hasSharedKey || len(here) != len(there) {
			continue
		}
		for i := range here {
			c.match(AmountDate, "", []int{here[i]}, []int{there[i]})
		}
		delete(lines, amountDay{of.amount, of.day})
	}
}

// byDaySum finds the line that stands for everything of a day or, as partners settle
// later, of one of the days before.
func (c *comparison) byDaySum() {
	days := c.entries.unsharedByDay()
	for _, l := range c.lines.open() {
		of := c.lines.items[l]
		if of.hasSharedKey {
			continue
		}
		for back := range Day(Window + 1) {
			at := signDay{of.amount > 0, of.day - back}
			day := days[at]
			if day == nil || day.sum != uint64(of.amount) {
				continue
			}
			if entries := c.entries.openSummingTo(day.items, of.amount); entries != nil {
				c.match(DaySum, "", []int{l}, entries)
				delete(days, at)
				break
			}
		}
	}
}

// byAmountAlone pairs a line and an entry that are the only ones with their amount.
func (c *comparison) byAmountAlone() {
	lines, entries := c.lines.unsharedByAmountAndDay(), c.entries.unsharedByAmountAndDay()
	for _, l := range c.lines.open() {
		of := c.lines.items[l]
		if of.hasSharedKey {
			continue
		}
		e, ok := uniqueNear(entries, of)
		if !ok {
			continue
		}
		if back, ok := uniqueNear(lines, c.entries.items[e]); ok && back == l {
			c.match(AmountAlone, "", []int{l}, []int{e})
		}
	}
}

// uniqueNear is the only one with the amount within the window around the day.
func uniqueNear(of map[amountDay][]int, at item) (found int, only bool) {
	for day := at.day - Window; day <= at.day+Window; day++ {
		for _, i := range of[amountDay{at.amount, day}] {
			if only {
				return 0, false
			}
			found, only = i, true
		}
	}
	return found, only
}

// Explain says in a sentence what the match rests on.
func (m Match) Explain() string {
	var text strings.Builder
	switch m.Rule {
	case ReferenceAmountDate:
		fmt.Fprintf(&text, "Both have the reference %s, the amount and the day.", m.Reference)
	case ReferenceAmount:
		fmt.Fprintf(&text, "Both have the reference %s and the amount, %s apart.", m.Reference, formatDays(m.Days))
	case ReferenceSum:
		if len(m.Lines) == 1 {
			fmt.Fprintf(&text, "%d entries with the reference %s add up to the line.", len(m.Entries), m.Reference)
		} else {
			fmt.Fprintf(&text, "%d lines with the reference %s add up to the entry.", len(m.Lines), m.Reference)
		}
	case AmountDate:
		text.WriteString("Neither knows the other's references; there are as many lines as entries with this amount on the day.")
	case DaySum:
		fmt.Fprintf(&text, "The %d entries of a day add up to the line.", len(m.Entries))
	case AmountAlone:
		fmt.Fprintf(&text, "Neither knows the other's references; these alone have the amount within %d days, and are %s apart.", Window, formatDays(m.Days))
	}
	return text.String()
}

func formatDays(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}
