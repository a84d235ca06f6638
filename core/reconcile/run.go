package reconcile

import (
	"crypto/sha256"
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
	// Balance compares the closing balance with the ledger at the time of the import; nil if the
	// statement has none.
	Balance *BalanceComparison
	By      string
	At      time.Time
}

// DayRange is a range of days, both included.
type DayRange struct{ First, Last Day }

// Contains reports whether the day is in the range.
func (s DayRange) Contains(d Day) bool { return s.First <= d && d <= s.Last }

// with returns the days from the first to the last of both ranges.
func (s DayRange) with(other DayRange) DayRange {
	return DayRange{First: min(s.First, other.First), Last: max(s.Last, other.Last)}
}

// Lookback is the number of days before a statement from which open breaks are compared again.
const Lookback = 31

// OpenBreak is an earlier break that is not resolved.
type OpenBreak struct {
	ID     ident.Break
	Reason Reason
	// Line and Entry are zero if the break has none.
	Line  uuid.UUID
	Entry EntryPosition
	// Days are those on which its line and its entry are compared.
	Days DayRange
}

// EntryPosition identifies an entry by the number of its posting and its number in it.
type EntryPosition struct {
	Seq int64
	N   int
}

// BreakDays returns the days of a break with a line that was booked on a day with a value date, an entry of a day, or
// both: the days are NoDay for what it has not.
func BreakDays(booked, value, entry Day) DayRange {
	days := DayRange{First: entry, Last: entry}
	switch {
	case booked == NoDay:
		return days
	case entry == NoDay:
		return Line{Booked: booked, Value: value}.ComparedDays()
	}
	return days.with(Line{Booked: booked, Value: value}.ComparedDays())
}

// Scope is what a statement is compared with.
type Scope struct {
	// Days are those of its lines and of the open breaks that are compared again, and Window more on each side, so
	// that everything which these can match is known.
	Days DayRange
	// Open are the open breaks that are compared again, and Aside those that are too far from the statement.
	Open, Aside []OpenBreak
}

// maxBreakDays is the most days between those of a break. One between a value date and an entry of a year before was made
// when lines of any value date were compared on that.
const maxBreakDays = Lookback + Window

// ScopeOf returns what a statement of some days is compared with, given the lines that it adds and the open breaks.
func ScopeOf(days DayRange, added []Line, open []OpenBreak) Scope {
	own := days
	for _, l := range added {
		own = own.with(l.ComparedDays())
	}
	near := DayRange{First: min(days.First-Lookback, own.First-Window), Last: own.Last + Window}
	s := Scope{Days: own}
	for _, b := range open {
		if b.Days.Last < near.First || b.Days.First > near.Last || b.Days.Last-b.Days.First > maxBreakDays {
			s.Aside = append(s.Aside, b)
			continue
		}
		s.Open = append(s.Open, b)
		s.Days = s.Days.with(b.Days)
	}
	s.Days.First, s.Days.Last = s.Days.First-Window, s.Days.Last+Window
	return s
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
	// Suggestions are what may explain it while it is open, the most probable first, if they were
	// asked for.
	Suggestions []Suggestion
}

// CorrectedAt returns when a correction takes effect: at the end of the day (UTC) on which the partner booked the
// line of the break, so that it is in the month of the statement; now for a break without a line.
func (b BreakDetails) CorrectedAt(now time.Time) time.Time {
	if b.Line == nil || b.Line.Booked == NoDay {
		return now
	}
	if end := (b.Line.Booked + 1).Start().Add(-time.Microsecond); end.Before(now) {
		return end
	}
	return now
}
