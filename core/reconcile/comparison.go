package reconcile

import (
	"iter"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// Comparison compares the lines of statements with the entries of an account. It keeps amounts, days
// and the keys that both sides have, and no texts: it may have a million lines.
//
// Expect and SetAside are called first, then AddEntry for all entries, then AddLine, and Compare last.
type Comparison struct {
	covered      []DayRange
	open         []OpenBreak
	broken       map[EntryPosition]bool
	asideLines   map[uuid.UUID]bool
	asideEntries map[EntryPosition]bool

	lines, entries pool
	lineIDs        []uuid.UUID
	otherDays      []otherDay // of few lines, in their order
	again          bool       // the lines are compared on their other days
	shared         sharedKeys

	matches []storedMatch
	matched []int32 // the lines and the entries of each match, one after the other
	breaks  []Break
}

// otherDay is the day on which a line is not compared now, of those on which it is compared.
type otherDay struct {
	line int32
	day  Day
}

// storedMatch is a Match in few bytes.
type storedMatch struct {
	rule           int8 // index into Rules
	days           int8
	key            key
	first          uint32 // index into matched
	lines, entries int32
}

// Expect adds days that statements cover and breaks that are open: entries on these days and those of
// these breaks are expected on a statement.
func (c *Comparison) Expect(covered []DayRange, open []OpenBreak) {
	c.covered = append(c.covered, covered...)
	c.open = append(c.open, open...)
	if c.broken == nil {
		c.broken = map[EntryPosition]bool{}
	}
	for _, b := range open {
		if b.Entry != (EntryPosition{}) {
			c.broken[b.Entry] = true
		}
	}
}

// SetAside adds breaks that stay open. Their lines and entries are only compared with, because not all that they could
// match is known.
func (c *Comparison) SetAside(open []OpenBreak) {
	c.asideLines, c.asideEntries = map[uuid.UUID]bool{}, map[EntryPosition]bool{}
	for _, b := range open {
		if b.Line != uuid.Nil {
			c.asideLines[b.Line] = true
		}
		if b.Entry != (EntryPosition{}) {
			c.asideEntries[b.Entry] = true
		}
	}
}

func (c *Comparison) isExpected(e Entry) bool {
	for _, days := range c.covered {
		if days.Contains(e.Day) {
			return true
		}
	}
	return c.broken[EntryPosition{e.Seq, e.N}]
}

// AddEntry adds an entry. Entries are added in the order of their positions. Its error says that there
// are too many.
func (c *Comparison) AddEntry(e Entry) error {
	if len(c.entries.items) == MaxCompared {
		return tooManyError("entries")
	}
	names := e.keys()
	taken := e.Reconciled || c.asideEntries[EntryPosition{e.Seq, e.N}]
	it := item{amount: e.Amount, order: e.Seq, day: e.Day, n: int16(e.N), taken: taken, expected: c.isExpected(e),
		firstKey: uint32(len(c.shared.ofEntries)), keyCount: uint8(len(names))}
	c.shared.addEntry(names)
	c.entries.items = append(c.entries.items, it)
	return nil
}

// AddLine adds a line. Its error says that there are too many.
func (c *Comparison) AddLine(l Line) error {
	if len(c.lines.items) == MaxCompared {
		return tooManyError("lines")
	}
	first := len(c.lines.keys)
	c.lines.keys = c.shared.appendLine(c.lines.keys, l.keys())
	day, other := l.comparedOn()
	if other != day {
		c.otherDays = append(c.otherDays, otherDay{int32(len(c.lines.items)), other})
	}
	c.lines.items = append(c.lines.items, item{amount: l.Amount, order: int64(l.Ordinal), day: day, taken: l.Reconciled || c.asideLines[l.ID],
		returned: l.Returned,
		firstKey: uint32(first), keyCount: uint8(len(c.lines.keys) - first)})
	c.lineIDs = append(c.lineIDs, l.ID)
	return nil
}

func tooManyError(what string) error {
	return InvalidFile("covers days with more than %d %s to compare; split it into several files", MaxCompared, what)
}

// resolveEntryKeys replaces the hashes of the entries with their shared keys.
func (c *Comparison) resolveEntryKeys() {
	for i := range c.entries.items {
		it := &c.entries.items[i]
		hashes := c.shared.ofEntries[it.firstKey:][:it.keyCount]
		it.firstKey = uint32(len(c.entries.keys))
		c.entries.keys = c.shared.appendEntry(c.entries.keys, hashes)
		it.keyCount = uint8(uint32(len(c.entries.keys)) - it.firstKey)
	}
	c.shared.ofEntries, c.shared.sorted, c.shared.numbers = nil, nil, nil
}

// Line returns the id of a line, which is its number in a match or break; zero for None.
func (c *Comparison) Line(i int) (id uuid.UUID) {
	if i != None {
		id = c.lineIDs[i]
	}
	return id
}

// Entry returns the position of an entry; zero for None.
func (c *Comparison) Entry(i int) (p EntryPosition) {
	if i != None {
		p = EntryPosition{c.entries.items[i].order, int(c.entries.items[i].n)}
	}
	return p
}

// Matches returns the matches in the order in which they were made.
func (c *Comparison) Matches() iter.Seq[Match] {
	rules := Rules()
	return func(yield func(Match) bool) {
		for _, stored := range c.matches {
			m := Match{Rule: rules[stored.rule], Days: int(stored.days)}
			if stored.key != noKey {
				m.Reference = c.shared.names[stored.key]
			}
			all := make([]int, stored.lines+stored.entries)
			for i := range all {
				all[i] = int(c.matched[int(stored.first)+i])
			}
			m.Lines, m.Entries = all[:stored.lines], all[stored.lines:]
			if !yield(m) {
				return
			}
		}
	}
}

// MatchCount returns the number of matches.
func (c *Comparison) MatchCount() int { return len(c.matches) }

// Breaks returns a break for everything that is not matched.
func (c *Comparison) Breaks() []Break { return c.breaks }

// Update is the change of breaks by a comparison.
type Update struct {
	// New are the new breaks.
	New []Break
	// Resolved are the open breaks that it resolves, in their order.
	Resolved []ResolvedBreak
}

// ResolvedBreak is an open break with how it was resolved: ResolvedByMatch or ResolvedByBreak.
type ResolvedBreak struct {
	ID     ident.Break
	Method ResolutionMethod
}

// Update compares the result with the breaks that were open before. A break that was found again
// stays open, and so does one that was not compared.
func (c *Comparison) Update() Update {
	type subject struct {
		reason Reason
		line   uuid.UUID
		entry  EntryPosition
	}
	// What became of the lines and entries of the open breaks.
	type outcome int
	const (
		isMatched outcome = iota + 1
		isBroken
	)
	found, ofLine, ofEntry := map[subject]bool{}, map[uuid.UUID]outcome{}, map[EntryPosition]outcome{}
	for _, b := range c.open {
		found[subject{b.Reason, b.Line, b.Entry}] = false
		if b.Line != uuid.Nil {
			ofLine[b.Line] = 0
		}
		if b.Entry != (EntryPosition{}) {
			ofEntry[b.Entry] = 0
		}
	}
	note := func(line uuid.UUID, entry EntryPosition, o outcome) {
		if earlier, open := ofLine[line]; open {
			ofLine[line] = max(earlier, o)
		}
		if earlier, open := ofEntry[entry]; open {
			ofEntry[entry] = max(earlier, o)
		}
	}
	if len(c.open) > 0 {
		for _, m := range c.matches {
			ends := [2]int{int(m.first) + int(m.lines), int(m.first) + int(m.lines) + int(m.entries)}
			for _, l := range c.matched[m.first:ends[0]] {
				note(c.Line(int(l)), EntryPosition{}, isMatched)
			}
			for _, e := range c.matched[ends[0]:ends[1]] {
				note(uuid.Nil, c.Entry(int(e)), isMatched)
			}
		}
	}
	var u Update
	for _, b := range c.breaks {
		s := subject{b.Reason, c.Line(b.Line), c.Entry(b.Entry)}
		note(s.line, s.entry, isBroken)
		if _, known := found[s]; known {
			found[s] = true
		} else {
			u.New = append(u.New, b)
		}
	}
	for _, b := range c.open {
		switch {
		case found[subject{b.Reason, b.Line, b.Entry}]:
		case ofLine[b.Line] == isBroken || ofEntry[b.Entry] == isBroken:
			u.Resolved = append(u.Resolved, ResolvedBreak{b.ID, ResolvedByBreak})
		case ofLine[b.Line] == isMatched || ofEntry[b.Entry] == isMatched:
			u.Resolved = append(u.Resolved, ResolvedBreak{b.ID, ResolvedByMatch})
		}
	}
	return u
}
