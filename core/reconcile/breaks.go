package reconcile

import (
	"cmp"
	"fmt"
	"slices"

	"causeway/core/money"
)

// Reason is the reason of a break.
type Reason string

// The reasons in the order in which they are checked.
const (
	// Returned: the partner returned a payment, and the ledger does not have the return.
	Returned Reason = "RETURNED"
	// Duplicate: one side has twice what the other has once.
	Duplicate Reason = "DUPLICATE"
	// AmountDiffers: a line and an entry have a common reference and different amounts.
	AmountDiffers Reason = "AMOUNT_DIFFERS"
	// MissingInLedger: the statement has it, and the ledger does not.
	MissingInLedger Reason = "MISSING_IN_LEDGER"
	// MissingOnStatement: the ledger has it, and the statement does not.
	MissingOnStatement Reason = "MISSING_ON_STATEMENT"
)

// Reasons lists the reasons.
func Reasons() []Reason {
	return []Reason{Returned, Duplicate, AmountDiffers, MissingInLedger, MissingOnStatement}
}

// ParseReason parses the name of a reason.
func ParseReason(text string) (Reason, bool) {
	return Reason(text), slices.Contains(Reasons(), Reason(text))
}

// None is the index of a line or entry that a break does not have.
const None = -1

// Break is a line or an entry without a match, or both with a difference.
type Break struct {
	Reason Reason
	// Line and Entry are indexes into what was compared, or None.
	Line, Entry int
	// OtherLine and OtherEntry are what it was compared with: the returned payment, or the first
	// of two duplicates. None if there is nothing.
	OtherLine, OtherEntry int
	// Reference is the common key; empty if there is none.
	Reference string
}

// classifyBreaks adds a break for every open line and every open expected entry.
func (c *Comparison) classifyBreaks() {
	c.indexByAmount()
	for l := range c.lines.open() {
		c.breaks = append(c.breaks, c.lineBreak(l))
		c.lines.take(l)
	}
	for e := range c.entries.open() {
		if c.entries.items[e].expected {
			c.breaks = append(c.breaks, c.entryBreak(e))
		}
	}
}

// indexByAmount makes the indexes that breaks are looked up in.
func (c *Comparison) indexByAmount() {
	lines, entries := map[keyAmount]bool{}, map[keyAmount]bool{}
	for l := range c.lines.open() {
		for _, k := range c.lines.keysOf(l) {
			lines[keyAmount{k, c.lines.items[l].amount}] = true
			entries[keyAmount{k, -c.lines.items[l].amount}] = true
		}
	}
	for e := range c.entries.open() {
		for _, k := range c.entries.keysOf(e) {
			entries[keyAmount{k, c.entries.items[e].amount}] = true
		}
	}
	c.lines.indexByAmount(lines)
	c.entries.indexByAmount(entries)
}

func (c *Comparison) lineBreak(l int) Break {
	line, keys := c.lines.items[l], c.lines.keysOf(l)
	b := Break{Line: l, Entry: None, OtherLine: None, OtherEntry: None}
	if other, key, ok := c.entries.findAny(keys, -line.amount, None); ok {
		b.Reason, b.OtherEntry, b.Reference = Returned, other, c.shared.names[key]
		return b
	}
	if line.returned {
		b.Reason = Returned
		return b
	}
	// Lines are checked in order, so one that is taken is matched or has an earlier break.
	if other, key, ok := c.lines.findAny(keys, line.amount, l); ok && c.lines.items[other].taken {
		b.Reason, b.OtherLine, b.Reference = Duplicate, other, c.shared.names[key]
		return b
	}
	e, ok := c.entries.nearest(line, keys)
	if other, has := c.otherDay(l); has && !ok {
		line.day = other
		e, ok = c.entries.nearest(line, keys)
	}
	if ok {
		c.entries.take(e)
		b.Reason, b.Entry, b.Reference = AmountDiffers, e, c.shared.names[commonKey(keys, c.entries.keysOf(e))]
		return b
	}
	b.Reason = MissingInLedger
	return b
}

// otherDay returns the day on which a line is not compared now, if it has two.
func (c *Comparison) otherDay(l int) (Day, bool) {
	i, found := slices.BinarySearchFunc(c.otherDays, int32(l), func(d otherDay, line int32) int { return cmp.Compare(d.line, line) })
	if !found {
		return NoDay, false
	}
	return c.otherDays[i].day, true
}

// describeDay returns the day of a line, and the other one if it has two.
func (c *Comparison) describeDay(l int) string {
	day := c.lines.items[l].day
	other, found := c.otherDay(l)
	switch {
	case !found:
		return day.String()
	case c.lines.items[l].again:
		day, other = other, day
	}
	return fmt.Sprintf("%s (booked on %s)", day, other)
}

func (c *Comparison) entryBreak(e int) Break {
	b := Break{Reason: MissingOnStatement, Line: None, Entry: e, OtherLine: None, OtherEntry: None}
	if other, key, ok := c.entries.findAny(c.entries.keysOf(e), c.entries.items[e].amount, e); ok && c.entries.items[other].taken {
		b.Reason, b.OtherEntry, b.Reference = Duplicate, other, c.shared.names[key]
	}
	return b
}

// findAny returns an item with one of the keys and the amount, other than the one to leave out;
// a taken one if there is one.
func (p *pool) findAny(keys []key, amount int64, except int) (found int, shared key, ok bool) {
	for _, k := range keys {
		for n, i := range p.byAmount[keyAmount{k, amount}] {
			if i == except {
				continue
			}
			if !ok || p.items[i].taken {
				found, shared, ok = i, k, true
			}
			if p.items[i].taken || n > 8 {
				break
			}
		}
	}
	return found, shared, ok
}

// commonKey returns a key that both have; the items of nearest have one.
func commonKey(a, b []key) key {
	for _, k := range a {
		if slices.Contains(b, k) {
			return k
		}
	}
	return 0
}

// Difference returns what the statement has more than the ledger, in minor units: what a
// correction must add. It is zero if it exceeds an amount.
func (c *Comparison) Difference(b Break) int64 {
	var line, entry int64
	if b.Line != None {
		line = c.lines.items[b.Line].amount
	}
	if b.Entry != None {
		entry = c.entries.items[b.Entry].amount
	}
	difference, err := money.SubMinor(line, entry)
	if err != nil {
		return 0
	}
	return difference
}

// Explain returns a sentence that says what was compared.
func (c *Comparison) Explain(b Break, currency money.Currency) string {
	amount := func(it item) string { return money.Amount{Minor: it.amount, Currency: currency}.String() }
	var l, e item
	var day string
	if b.Line != None {
		l, day = c.lines.items[b.Line], c.describeDay(b.Line)
	}
	if b.Entry != None {
		e = c.entries.items[b.Entry]
	}
	switch b.Reason {
	case Returned:
		if b.OtherEntry != None {
			e := c.entries.items[b.OtherEntry]
			return fmt.Sprintf("The statement has %s on %s, which reverses entry %d.%d of %s on %s with the reference %s; the ledger has no such "+
				"return.",
				amount(l), day, e.order, e.n, amount(e), e.day, b.Reference)
		}
		return fmt.Sprintf("The statement marks %s on %s as a returned payment; the ledger has no such return.", amount(l), day)
	case Duplicate:
		if b.Line != None {
			first := c.lines.items[b.OtherLine]
			return fmt.Sprintf("The statement has %s on %s with the reference %s, and %s on %s before; the ledger has it once.",
				amount(l), day, b.Reference, amount(first), c.describeDay(b.OtherLine))
		}
		other := c.entries.items[b.OtherEntry]
		return fmt.Sprintf("The entries %d.%d and %d.%d both have %s with the reference %s; the statement has it once.",
			other.order, other.n, e.order, e.n, amount(e), b.Reference)
	case AmountDiffers:
		return fmt.Sprintf("The statement has %s on %s and entry %d.%d has %s on %s, with the reference %s.",
			amount(l), day, e.order, e.n, amount(e), e.day, b.Reference)
	case MissingInLedger:
		return fmt.Sprintf("The statement has %s on %s; no entry has its reference, and no single entry has its amount within %d days.",
			amount(l), day, Window)
	case MissingOnStatement:
		return fmt.Sprintf("Entry %d.%d has %s on %s; no statement line has its reference, and no single line has its amount within %d days.",
			e.order, e.n, amount(e), e.day, Window)
	}
	return ""
}
