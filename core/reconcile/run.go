package reconcile

import (
	"crypto/sha256"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
)

// Run is one import of a statement, with the result of its comparison.
type Run struct {
	ID      ident.Reconciliation
	Account Account
	Format  Format
	// Digest is the hash of the file, its format and its layout.
	Digest [sha256.Size]byte
	Header
	// Lines counts the lines of the statement, KnownLines those that an earlier one had.
	Lines, KnownLines int
	// Matches and Breaks count the new matches and breaks.
	Matches map[Rule]int
	Breaks  map[Reason]int
	// MatchedLines and MatchedEntries count the lines and entries of the matches.
	MatchedLines, MatchedEntries int
	// Override says why a person had the statement imported with its mismatches; empty if it has none.
	Override string
	// EarlierBreaksResolved counts the breaks of earlier runs that this one resolved.
	EarlierBreaksResolved int
	By                    string
	At                    time.Time
}

// DayRange is a range of days, both included.
type DayRange struct{ First, Last Day }

// Contains reports whether the day is in the range.
func (s DayRange) Contains(d Day) bool { return s.First <= d && d <= s.Last }

// Lookback is the number of days before a statement from which open breaks are compared again.
const Lookback = 31

// OpenBreak is an earlier break that is not resolved.
type OpenBreak struct {
	ID     ident.Break
	Reason Reason
	// Line and Entry are zero if the break has none.
	Line  uuid.UUID
	Entry EntryPosition
	// Day is the day of its line or, without one, of its entry.
	Day Day
}

// EntryPosition identifies an entry by the number of its posting and its number in it.
type EntryPosition struct {
	Seq int64
	N   int
}

// MarkExpected marks the entries that a statement must have: those on covered days, and those of
// open breaks.
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

// Update is the change of breaks by a comparison.
type Update struct {
	// New are the new breaks.
	New []Break
	// Resolved has how each resolved break was resolved: ResolvedByMatch or ResolvedByBreak.
	Resolved map[ident.Break]ResolutionMethod
}

// Update compares a result with the breaks that were open before. A break that was found again
// stays open, and so does one that was not compared.
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
	found, lineHasBreak, entryHasBreak := map[subject]bool{}, map[uuid.UUID]bool{}, map[EntryPosition]bool{}
	subjectOf := func(b Break) subject {
		s := subject{reason: b.Reason, entry: entryPosition(entries, b.Entry)}
		if b.Line != None {
			s.line = lines[b.Line].ID
		}
		return s
	}
	for _, b := range r.Breaks {
		s := subjectOf(b)
		found[s], lineHasBreak[s.line], entryHasBreak[s.entry] = true, true, true
	}
	delete(lineHasBreak, uuid.Nil)
	delete(entryHasBreak, EntryPosition{})

	u := Update{Resolved: map[ident.Break]ResolutionMethod{}}
	known := map[subject]bool{}
	for _, b := range open {
		s := subject{b.Reason, b.Line, b.Entry}
		switch {
		case found[s]:
			known[s] = true
		case lineHasBreak[b.Line] || entryHasBreak[b.Entry]:
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

// LineStatus is the status of a line.
type LineStatus string

// The statuses.
const (
	Matched  LineStatus = "MATCHED"
	InBreak  LineStatus = "BREAK"
	Resolved LineStatus = "RESOLVED"
)

// EntryDetails is an entry with its posting.
type EntryDetails struct {
	EntryPosition
	Posting     uuid.UUID
	Transaction ident.Transaction
	Kind        ledger.Kind
	Memo        string
	Amount      int64
	Effective   time.Time
}

// LineDetails is a line with its match or break.
type LineDetails struct {
	Line
	Run    ident.Reconciliation
	Status LineStatus
	// Rule, Explanation and Entries are of its match.
	Rule        Rule
	Explanation string
	Entries     []EntryDetails
	// Break is its last break; zero if it had none.
	Break ident.Break
}

// BreakDetails is a break with its line and entry and its resolution.
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
