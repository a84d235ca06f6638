package reconcile

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
)

// Run is one import of a statement, with what its comparison found at the time.
type Run struct {
	ID      ident.Reconciliation
	Account Account
	Format  Format
	// Digest is over the file and how it was read.
	Digest [sha256.Size]byte
	Header
	// Lines counts those of the statement, Known those that an earlier one had shown.
	Lines, Known int
	// Matches and Breaks count what the comparison found new.
	Matches map[Rule]int
	Breaks  map[Reason]int
	// MatchedLines and MatchedEntries count what the matches are made of.
	MatchedLines, MatchedEntries int
	// Cleared counts the breaks of earlier runs that this one resolved.
	Cleared int
	By      string
	At      time.Time
}

// Span is a run of days, both ends included.
type Span struct{ From, To Day }

// Has tells whether the day lies in the span.
func (s Span) Has(d Day) bool { return s.From <= d && d <= s.To }

// Lookback is how many days before a statement the breaks of earlier ones are compared
// again.
const Lookback = 31

// OpenBreak is an earlier break that nobody has resolved.
type OpenBreak struct {
	ID     ident.Break
	Reason Reason
	// Line is zero, and Entry's Seq is 0, where it has none.
	Line  uuid.UUID
	Entry Place
	// Day is that of its line or, without one, of its entry.
	Day Day
}

// Place is where an entry stands in the books.
type Place struct {
	Seq int64
	N   int
}

// Expect marks the entries that the partner must have: those on days that a statement
// covers, and those that are open breaks already.
func Expect(entries []Entry, covered []Span, open []OpenBreak) {
	broken := make(map[Place]bool, len(open))
	for _, b := range open {
		broken[b.Entry] = true
	}
	for i := range entries {
		e := &entries[i]
		e.Expected = broken[Place{e.Seq, e.N}] || slices.ContainsFunc(covered, func(s Span) bool { return s.Has(e.Day) })
	}
}

// Update is what a comparison changes in the breaks that were open before it.
type Update struct {
	// Fresh are the breaks that were not known.
	Fresh []Break
	// Resolved says of known ones what resolved them: ByMatch or ByBreak.
	Resolved map[ident.Break]How
}

// Update holds a result against the breaks that were open before it. One that was found
// again stays as it is, and so does one of which nothing was compared.
func (r Result) Update(lines []Line, entries []Entry, open []OpenBreak) Update {
	matchedLine, matchedEntry := map[uuid.UUID]bool{}, map[Place]bool{}
	for _, m := range r.Matches {
		for _, l := range m.Lines {
			matchedLine[lines[l].ID] = true
		}
		for _, e := range m.Entries {
			matchedEntry[place(entries, e)] = true
		}
	}
	type subject struct {
		reason Reason
		line   uuid.UUID
		entry  Place
	}
	found, ofLine, ofEntry := map[subject]bool{}, map[uuid.UUID]bool{}, map[Place]bool{}
	subjectOf := func(b Break) subject {
		s := subject{reason: b.Reason, entry: place(entries, b.Entry)}
		if b.Line != None {
			s.line = lines[b.Line].ID
		}
		return s
	}
	for _, b := range r.Breaks {
		s := subjectOf(b)
		found[s], ofLine[s.line], ofEntry[s.entry] = true, true, true
	}
	delete(ofLine, uuid.Nil)
	delete(ofEntry, Place{})

	u := Update{Resolved: map[ident.Break]How{}}
	known := map[subject]bool{}
	for _, b := range open {
		s := subject{b.Reason, b.Line, b.Entry}
		switch {
		case found[s]:
			known[s] = true
		case ofLine[b.Line] || ofEntry[b.Entry]:
			u.Resolved[b.ID] = ByBreak
		case matchedLine[b.Line] || matchedEntry[b.Entry]:
			u.Resolved[b.ID] = ByMatch
		}
	}
	for _, b := range r.Breaks {
		if !known[subjectOf(b)] {
			u.Fresh = append(u.Fresh, b)
		}
	}
	return u
}

func place(entries []Entry, i int) Place {
	if i == None {
		return Place{}
	}
	return Place{entries[i].Seq, entries[i].N}
}

// LineStatus is what has become of a line by now.
type LineStatus string

// The statuses.
const (
	Matched  LineStatus = "MATCHED"
	Broken   LineStatus = "BREAK"
	Resolved LineStatus = "RESOLVED"
)

// ShownEntry is an entry with what people look for it by.
type ShownEntry struct {
	Place
	Posting     uuid.UUID
	Transaction ident.Transaction
	Kind        ledger.Kind
	Memo        string
	Amount      int64
	Effective   time.Time
}

// ShownLine is a line with what has become of it.
type ShownLine struct {
	Line
	Run    ident.Reconciliation
	Status LineStatus
	// Rule, Explanation and Entries are those of its match.
	Rule        Rule
	Explanation string
	Entries     []ShownEntry
	// Break is the last one it was in; zero for none.
	Break ident.Break
}

// ShownBreak is a break with what it is about and how it was resolved.
type ShownBreak struct {
	ID          ident.Break
	Run         ident.Reconciliation
	Account     Account
	Reason      Reason
	Line        *Line
	Entry       *ShownEntry
	OtherLine   uuid.UUID // zero for none
	OtherEntry  Place     // zero for none
	Reference   string
	Difference  int64
	Explanation string
	At          time.Time
	// Settlement is nil while the break is open.
	Settlement *Settlement
}
