package reconcile

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
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
	// AmountDate: without common references, a line and an entry have the same amount and day. If the
	// numbers of lines and entries with them differ, this applies after DaySum.
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

// Window is the maximum number of days between a line's day, mostly its value date, and an entry's day: a
// weekend with a holiday on each side.
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

// Compare matches lines with entries, and makes a break for everything that is left. It is
// deterministic and takes linear time. Reconciled lines and entries are only compared with.
func (c *Comparison) Compare() {
	c.resolveEntryKeys()
	c.sortLines()
	c.entries.sort(func(a, b int32) int { return 0 })

	c.applyRules()
	if c.again = c.changeDays(); c.again {
		c.applyRules()
		c.changeDays()
	}
	c.lines.byDay = nil
	c.classifyBreaks()
}

func (c *Comparison) sortLines() {
	c.lines.sort(func(a, b int32) int { return bytes.Compare(c.lineIDs[a][:], c.lineIDs[b][:]) })
}

// changeDays moves the open lines that have another day to that, and reports whether there are any.
func (c *Comparison) changeDays() (changed bool) {
	for i := range c.otherDays {
		other := &c.otherDays[i]
		if it := &c.lines.items[other.line]; !it.taken {
			it.day, other.day, it.again, changed = other.day, it.day, !it.again, true
		}
	}
	if changed {
		c.sortLines()
	}
	return changed
}

// linesToMatch returns the open lines, in order: the second time those on their other day, which all others
// can only make ambiguous.
func (c *Comparison) linesToMatch() iter.Seq[int] {
	return func(yield func(int) bool) {
		for l := range c.lines.open() {
			if c.lines.items[l].again == c.again && !yield(l) {
				return
			}
		}
	}
}

// applyRules matches what is open.
func (c *Comparison) applyRules() {
	c.lines.byDay, c.entries.byDay = nil, nil // of what was open before
	c.entries.indexByAmountAndDay()
	c.byReference()
	c.entries.byAmountAndDay = nil
	c.lines.indexByDay(&c.entries)
	c.entries.indexByDay(&c.lines)
	c.byReferenceSum()
	c.byAmountAndDate(true)
	c.byDaySum()
	c.byAmountAndDate(false)
	c.byAmountAlone()
}

func (c *Comparison) match(rule Rule, shared key, lines, entries []int) {
	m := storedMatch{rule: int8(slices.Index(Rules(), rule)), key: shared, first: uint32(len(c.matched)), lines: int32(len(lines)),
		entries: int32(len(entries))}
	for _, l := range lines {
		for _, e := range entries {
			m.days = max(m.days, int8(daysBetween(c.lines.items[l].day, c.entries.items[e].day)))
		}
	}
	for _, l := range lines {
		c.lines.take(l)
		c.matched = append(c.matched, int32(l))
	}
	for _, e := range entries {
		c.entries.take(e)
		c.matched = append(c.matched, int32(e))
	}
	c.matches = append(c.matches, m)
}

// byReference matches one line with one entry: for all lines on the same day first, then for the
// rest with the nearest day.
func (c *Comparison) byReference() {
	for distance := range Window + 1 {
		rule := ReferenceAmount
		if distance == 0 {
			rule = ReferenceAmountDate
		}
		for l := range c.linesToMatch() {
			line := c.lines.items[l]
			for _, key := range c.lines.keysOf(l) {
				if e, ok := c.entries.firstOpen(key, line.amount, line.day, distance); ok {
					c.match(rule, key, []int{l}, []int{e})
					break
				}
			}
		}
	}
}

// byReferenceSum matches one line with several entries, and then one entry with several lines.
func (c *Comparison) byReferenceSum() {
	for l := range c.linesToMatch() {
		if entries, key := c.entries.findSum(c.lines.items[l], c.lines.keysOf(l)); entries != nil {
			c.match(ReferenceSum, key, []int{l}, entries)
		}
	}
	for e := range c.entries.open() {
		if lines, key := c.lines.findSum(c.entries.items[e], c.entries.keysOf(e)); lines != nil {
			c.match(ReferenceSum, key, lines, []int{e})
		}
	}
}

// byAmountAndDate matches, in order, lines and entries without common references that have an amount
// and day: all of them if there are equally many, and otherwise as many as there are on both sides.
// Equal amounts of one day are interchangeable: whichever are matched, as many are left, with the
// same amount on the same day.
func (c *Comparison) byAmountAndDate(equallyMany bool) {
	lines, entries := c.lines.unsharedByAmountAndDay(), c.entries.unsharedByAmountAndDay()
	for l := range c.linesToMatch() {
		same := amountDay{c.lines.items[l].amount, c.lines.items[l].day}
		sameLines, sameEntries := lines[same], entries[same]
		if c.lines.items[l].keyCount > 0 || equallyMany && len(sameLines) != len(sameEntries) {
			continue
		}
		for i := range min(len(sameLines), len(sameEntries)) {
			c.match(AmountDate, noKey, sameLines[i:i+1], sameEntries[i:i+1])
		}
		delete(lines, same)
	}
}

// byDaySum matches a line with all entries of its day, or of an earlier day if the partner settles
// later.
func (c *Comparison) byDaySum() {
	days := c.entries.unsharedByDay()
	for l := range c.linesToMatch() {
		line := c.lines.items[l]
		if line.keyCount > 0 {
			continue
		}
		for back := range Day(Window + 1) {
			group := signDay{line.amount > 0, line.day - back}
			day := days[group]
			if day == nil || day.sum != uint64(line.amount) {
				continue
			}
			if entries := c.entries.openSummingTo(day.items, line.amount); entries != nil {
				c.match(DaySum, noKey, []int{l}, entries)
				delete(days, group)
				break
			}
		}
	}
}

// byAmountAlone matches a line and an entry that are the only ones with their amount.
func (c *Comparison) byAmountAlone() {
	lines, entries := c.lines.unsharedByAmountAndDay(), c.entries.unsharedByAmountAndDay()
	for l := range c.linesToMatch() {
		line := c.lines.items[l]
		if line.keyCount > 0 {
			continue
		}
		e, ok := uniqueNear(entries, line)
		if !ok {
			continue
		}
		if back, ok := uniqueNear(lines, c.entries.items[e]); ok && back == l {
			c.match(AmountAlone, noKey, []int{l}, []int{e})
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
		text.WriteString("No common reference; same amount and day.")
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
