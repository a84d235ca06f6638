package reconcile

import (
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
func (c *comparison) classifyBreaks() {
	c.indexByAmount()
	for _, l := range c.lines.open() {
		if !c.lines.items[l].taken { // by an earlier line
			c.result.Breaks = append(c.result.Breaks, c.lineBreak(l))
			c.lines.take(l)
		}
	}
	for _, e := range c.entries.open() {
		if c.sourceEntries[e].Expected {
			c.result.Breaks = append(c.result.Breaks, c.entryBreak(e))
		}
	}
}

// indexByAmount makes the indexes that breaks are looked up in.
func (c *comparison) indexByAmount() {
	lines, entries := map[keyAmount]bool{}, map[keyAmount]bool{}
	for _, l := range c.lines.open() {
		for _, k := range c.lines.items[l].keys {
			lines[keyAmount{k, c.lines.items[l].amount}] = true
			entries[keyAmount{k, -c.lines.items[l].amount}] = true
		}
	}
	for _, e := range c.entries.open() {
		for _, k := range c.entries.items[e].keys {
			entries[keyAmount{k, c.entries.items[e].amount}] = true
		}
	}
	c.lines.indexByAmount(lines)
	c.entries.indexByAmount(entries)
}

func (c *comparison) lineBreak(l int) Break {
	line := c.lines.items[l]
	b := Break{Line: l, Entry: None, OtherLine: None, OtherEntry: None}
	if other, key, ok := c.entries.findAny(line.keys, -line.amount, None); ok {
		b.Reason, b.OtherEntry, b.Reference = Returned, other, c.keyNames[key]
		return b
	}
	if c.sourceLines[l].Returned {
		b.Reason = Returned
		return b
	}
	// Lines are checked in order, so one that is taken is matched or has an earlier break.
	if other, key, ok := c.lines.findAny(line.keys, line.amount, l); ok && c.lines.items[other].taken {
		b.Reason, b.OtherLine, b.Reference = Duplicate, other, c.keyNames[key]
		return b
	}
	if e, ok := c.entries.nearest(line); ok {
		c.entries.take(e)
		b.Reason, b.Entry, b.Reference = AmountDiffers, e, c.keyNames[commonKey(line.keys, c.entries.items[e].keys)]
		return b
	}
	b.Reason = MissingInLedger
	return b
}

func (c *comparison) entryBreak(e int) Break {
	entry := c.entries.items[e]
	b := Break{Reason: MissingOnStatement, Line: None, Entry: e, OtherLine: None, OtherEntry: None}
	if other, key, ok := c.entries.findAny(entry.keys, entry.amount, e); ok && c.entries.items[other].taken {
		b.Reason, b.OtherEntry, b.Reference = Duplicate, other, c.keyNames[key]
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
func (b Break) Difference(lines []Line, entries []Entry) int64 {
	var line, entry int64
	if b.Line != None {
		line = lines[b.Line].Amount
	}
	if b.Entry != None {
		entry = entries[b.Entry].Amount
	}
	difference, err := money.SubMinor(line, entry)
	if err != nil {
		return 0
	}
	return difference
}

// Explain returns a sentence that says what was compared.
func (b Break) Explain(lines []Line, entries []Entry, currency money.Currency) string {
	amount := func(minor int64) string { return money.Amount{Minor: minor, Currency: currency}.String() }
	switch b.Reason {
	case Returned:
		if b.OtherEntry != None {
			e := entries[b.OtherEntry]
			return fmt.Sprintf("The statement has %s on %s, which reverses entry %d.%d of %s on %s with the reference %s; the ledger has no such return.",
				amount(lines[b.Line].Amount), lines[b.Line].Value, e.Seq, e.N, amount(e.Amount), e.Day, b.Reference)
		}
		return fmt.Sprintf("The statement marks %s on %s as a returned payment; the ledger has no such return.",
			amount(lines[b.Line].Amount), lines[b.Line].Value)
	case Duplicate:
		if b.Line != None {
			l := lines[b.OtherLine]
			return fmt.Sprintf("The statement has %s on %s with the reference %s, and %s on %s before; the ledger has it once.",
				amount(lines[b.Line].Amount), lines[b.Line].Value, b.Reference, amount(l.Amount), l.Value)
		}
		e, other := entries[b.Entry], entries[b.OtherEntry]
		return fmt.Sprintf("The entries %d.%d and %d.%d both have %s with the reference %s; the statement has it once.",
			other.Seq, other.N, e.Seq, e.N, amount(e.Amount), b.Reference)
	case AmountDiffers:
		l, e := lines[b.Line], entries[b.Entry]
		return fmt.Sprintf("The statement has %s on %s and entry %d.%d has %s on %s, with the reference %s.",
			amount(l.Amount), l.Value, e.Seq, e.N, amount(e.Amount), e.Day, b.Reference)
	case MissingInLedger:
		l := lines[b.Line]
		return fmt.Sprintf("The statement has %s on %s; no entry has its reference, and no single entry has its amount within %d days.",
			amount(l.Amount), l.Value, Window)
	case MissingOnStatement:
		e := entries[b.Entry]
		return fmt.Sprintf("Entry %d.%d has %s on %s; no statement line has its reference, and no single line has its amount within %d days.",
			e.Seq, e.N, amount(e.Amount), e.Day, Window)
	}
	return ""
}
