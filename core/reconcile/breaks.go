package reconcile

import (
	"fmt"

	"causeway/core/money"
)

// Reason is why a line or an entry has no match.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	// Returned: the partner gave back, or took back, a payment that we know, and our
	// books do not say so.
	Returned Reason = "RETURNED"
	// Duplicate: one side has a second time what the other has once.
	Duplicate Reason = "DUPLICATE"
	// AmountDiffers: a line and an entry have a reference in common and other amounts.
	AmountDiffers Reason = "AMOUNT_DIFFERS"
	// MissingInLedger: the partner has it, and our books do not.
	MissingInLedger Reason = "MISSING_IN_LEDGER"
	// MissingOnStatement: our books have it, and the partner does not.
	MissingOnStatement Reason = "MISSING_ON_STATEMENT"
)

// Reasons lists the reasons.
func Reasons() []Reason {
	return []Reason{Returned, Duplicate, AmountDiffers, MissingInLedger, MissingOnStatement}
}

// None is the place of what a break does not have.
const None = -1

// Break is a line, an entry, or both, without a match.
type Break struct {
	Reason Reason
	// Line and Entry are places in what was compared, or None.
	Line, Entry int
	// OtherLine and OtherEntry are what it was compared with: the payment that came
	// back, the first of two. None where there is nothing.
	OtherLine, OtherEntry int
	// Reference is the key that tells what was compared; empty where there is none.
	Reference string
}

// classifyBreaks gives everything that is left its reason.
func (c *comparison) classifyBreaks() {
	for _, l := range c.lines.open() {
		if !c.lines.items[l].taken { // by a line before it
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

func (c *comparison) lineBreak(l int) Break {
	of := c.lines.items[l]
	b := Break{Line: l, Entry: None, OtherLine: None, OtherEntry: None}
	if other, key, ok := c.entries.findAny(of.keys, -of.amount, None); ok {
		b.Reason, b.OtherEntry, b.Reference = Returned, other, key
		return b
	}
	if c.sourceLines[l].Returned {
		b.Reason = Returned
		return b
	}
	// What is open is looked at in order, so one that is taken is matched, or a break
	// that stands before this one.
	if other, key, ok := c.lines.findAny(of.keys, of.amount, l); ok && c.lines.items[other].taken {
		b.Reason, b.OtherLine, b.Reference = Duplicate, other, key
		return b
	}
	if e, ok := c.entries.nearest(of); ok {
		c.entries.take(e)
		b.Reason, b.Entry, b.Reference = AmountDiffers, e, commonKey(of.keys, c.entries.items[e].keys)
		return b
	}
	b.Reason = MissingInLedger
	return b
}

func (c *comparison) entryBreak(e int) Break {
	of := c.entries.items[e]
	b := Break{Reason: MissingOnStatement, Line: None, Entry: e, OtherLine: None, OtherEntry: None}
	if other, key, ok := c.entries.findAny(of.keys, of.amount, e); ok && c.entries.items[other].taken {
		b.Reason, b.OtherEntry, b.Reference = Duplicate, other, key
	}
	return b
}

// findAny is the first item with one of the keys and the amount, taken or not, that is
// not the one to leave out: a taken one where there is one.
func (p *pool) findAny(keys []string, amount int64, without int) (found int, key string, ok bool) {
	for _, k := range keys {
		for n, i := range p.byAmount[keyAmount{k, amount}] {
			if i == without {
				continue
			}
			if !ok || p.items[i].taken {
				found, key, ok = i, k, true
			}
			if p.items[i].taken || n > 8 {
				break
			}
		}
	}
	return found, key, ok
}

func commonKey(a, b []string) string {
	for _, key := range a {
		for _, other := range b {
			if key == other {
				return key
			}
		}
	}
	return ""
}

// Difference is what the partner has more than our books, in minor units: what a
// posting that resolves the break must add. It is zero where it does not fit.
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

// Explain says in a sentence what was compared.
func (b Break) Explain(lines []Line, entries []Entry, currency money.Currency) string {
	amount := func(minor int64) string { return money.Amount{Minor: minor, Currency: currency}.String() }
	switch b.Reason {
	case Returned:
		if b.OtherEntry != None {
			e := entries[b.OtherEntry]
			return fmt.Sprintf("The partner booked %s on %s, which undoes our entry %d.%d of %s on %s with the reference %s; our books have nothing of it.",
				amount(lines[b.Line].Amount), lines[b.Line].Value, e.Seq, e.N, amount(e.Amount), e.Day, b.Reference)
		}
		return fmt.Sprintf("The partner calls %s on %s a payment that came back; our books have nothing of it.",
			amount(lines[b.Line].Amount), lines[b.Line].Value)
	case Duplicate:
		if b.Line != None {
			l := lines[b.OtherLine]
			return fmt.Sprintf("The partner booked %s on %s with the reference %s, and %s on %s before; our books have it once.",
				amount(lines[b.Line].Amount), lines[b.Line].Value, b.Reference, amount(l.Amount), l.Value)
		}
		e, other := entries[b.Entry], entries[b.OtherEntry]
		return fmt.Sprintf("Our entries %d.%d and %d.%d both have %s with the reference %s; the partner has it once.",
			other.Seq, other.N, e.Seq, e.N, amount(e.Amount), b.Reference)
	case AmountDiffers:
		l, e := lines[b.Line], entries[b.Entry]
		return fmt.Sprintf("The partner has %s on %s and our entry %d.%d has %s on %s, with the reference %s.",
			amount(l.Amount), l.Value, e.Seq, e.N, amount(e.Amount), e.Day, b.Reference)
	case MissingInLedger:
		l := lines[b.Line]
		return fmt.Sprintf("The partner has %s on %s; no entry of ours has its reference or, alone, its amount within %d days.",
			amount(l.Amount), l.Value, Window)
	case MissingOnStatement:
		e := entries[b.Entry]
		return fmt.Sprintf("Our entry %d.%d has %s on %s; no line of the partner has its reference or, alone, its amount within %d days.",
			e.Seq, e.N, amount(e.Amount), e.Day, Window)
	}
	return ""
}
