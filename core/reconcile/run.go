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
	Lines, KnownLines int
	// Matches and Breaks count what the comparison found new.
	Matches map[Rule]int
	Breaks  map[Reason]int
	// MatchedLines and MatchedEntries count what the matches are made of.
	MatchedLines, MatchedEntries int
	// EarlierBreaksResolved counts the breaks of earlier runs that this one resolved.
	EarlierBreaksResolved int
	By                    string
	At                    time.Time
}

// DayRange is a range of days, both included.
type DayRange struct{ First, Last Day }

// Contains reports whether the day is in the range.
func (s DayRange) Contains(d Day) bool { return s.First <= d && d <= s.Last }

// Lookback is how many days before a statement the breaks of earlier ones are compared
// again.
const Lookback = 31

// OpenBreak is an earlier break that nobody has resolved.
type OpenBreak struct {
	ID     ident.Break
	Reason Reason
	// Line is zero, and Entry's Seq is 0, where it has none.
	Line  uuid.UUID
	Entry EntryPosition
	// Day is that of its line or, without one, of its entry.
	Day Day
}

// EntryPosition is where an entry stands in the books.
type EntryPosition struct {
	Seq int64
	N   int
}

// MarkExpected marks the entries that the partner must have: those on days that a statement
// covers, and those that are open breaks already.
func MarkExpected(entries []Entry, covered []DayRange, open []OpenBreak) {
	broken := make(map[EntryPosition]bool, len(open))
	for _, b := range open {
		broken[b.Entry] = true
	}
	for i := range entries {
		e := &entries[i]
		e.Expected = broken[EntryPosition{e.Seq, e.N}] || slices.ContainsFunc(covered, func(s DayRange) bool { return s.Contains(e.Day) })
	}
}

// Update is what a comparison changes in the breaks that were open before it.
type Update struct {
	// New are the breaks that were not known.
	New []Break
	// Resolved says of known ones what resolved them: ByMatch or ByBreak.
	Resolved map[ident.Break]ResolutionMethod
}

// Update holds a result against the breaks that were open before it. One that was found
// again stays as it is, and so does one of which nothing was compared.
func (r Result) Update(lines []Line, entries []Entry, open []OpenBreak) Update {
	matchedLine, matchedEntry := map[uuid.UUID]bool{}, map[EntryPosition]bool{}
	for _, m := range r.Matches {
		for _, l := range m.Lines {
			matchedLine[lines[l].ID] = true
		}
		for _, e := range m.Entries {
			matchedEntry[entryPosition(entries, e)] = true
		}
	}
	type subject struct {
		reason Reason
		line   uuid.UUID
		entry  EntryPosition
	}
	found, ofLine, ofEntry := map[subject]bool{}, map[uuid.UUID]bool{}, map[EntryPosition]bool{}
	subjectOf := func(b Break) subject {
		s := subject{reason: b.Reason, entry: entryPosition(entries, b.Entry)}
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
	delete(ofEntry, EntryPosition{})

	u := Update{Resolved: map[ident.Break]ResolutionMethod{}}
	known := map[subject]bool{}
	for _, b := range open {
		s := subject{b.Reason, b.Line, b.Entry}
		switch {
		case found[s]:
			known[s] = true
		case ofLine[b.Line] || ofEntry[b.Entry]:
			u.Resolved[b.ID] = ResolvedByBreak
		case matchedLine[b.Line] || matchedEntry[b.Entry]:
			u.Resolved[b.ID] = ResolvedByMatch
		}
	}
	for _, b := range r.Breaks {
		if !known[subjectOf(b)] {
			u.New = append(u.New, b)
		}
	}
	return u
}

func entryPosition(entries []Entry, i int) EntryPosition {
	if i == None {
		return EntryPosition{}
	}
	return EntryPosition{entries[i].Seq, entries[i].N}
}

// LineStatus is what has become of a line by now.
type LineStatus string

// The statuses.
const (
	Matched  LineStatus = "MATCHED"
	InBreak  LineStatus = "BREAK"
	Resolved LineStatus = "RESOLVED"
)

// EntryDetails is an entry with what people look for it by.
type EntryDetails struct {
	EntryPosition
	Posting     uuid.UUID
	Transaction ident.Transaction
	Kind        ledger.Kind
	Memo        string
	Amount      int64
	Effective   time.Time
}

// LineDetails is a line with what has become of it.
type LineDetails struct {
	Line
	Run    ident.Reconciliation
	Status LineStatus
	// Rule, Explanation and Entries are those of its match.
	Rule        Rule
	Explanation string
	Entries     []EntryDetails
	// Break is the last one it was in; zero for none.
	Break ident.Break
}

// BreakDetails is a break with what it is about and how it was resolved.
type BreakDetails struct {
	ID          ident.Break
	Run         ident.Reconciliation
	Account     Account
	Reason      Reason
	Line        *Line
	Entry       *EntryDetails
	OtherLine   uuid.UUID     // zero for none
	OtherEntry  EntryPosition // zero for none
	Reference   string
	Difference  int64
	Explanation string
	At          time.Time
	// Resolution is nil while the break is open.
	Resolution *Resolution
}
