// Package recurring holds the rules of adjustments that are posted every month, such as depreciation, or a cost that is
// accrued and reversed when the next month begins.
//
// Two persons approve one once; then each month that it covers has one posting, at its end, after it is over. The package
// decides; it reads, stores and posts nothing.
package recurring

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

// MaxAdjustments is the maximum number of recurring adjustments of a platform that go on: see CheckNumber.
const MaxAdjustments = 200

// maxNote leaves room for the name and the month in the note of an authorisation.
const maxNote = 400 // characters

// maxMonthsBack is how many months before the present one the first month may be.
const maxMonthsBack = 12

// Version says what is posted for the months from First on, until a later version says something else. It never changes.
type Version struct {
	Platform ident.Platform
	// Name is that of the adjustment, and Number counts its versions from 1.
	Name   string
	Number int

	Entries []ledger.Entry
	Note    string
	// First is the first month of the version, and Last the last one; zero until it is ended. A version whose Last is before its
	// First ends the adjustment.
	First, Last period.Month
	// Reverses: each posting is reversed when the next month begins.
	Reverses bool

	At time.Time
	By platform.Author
	// Approval is that of a second person; zero without four eyes.
	Approval platform.Approval
}

// Ends reports whether the version ends its adjustment.
func (v Version) Ends() bool { return !v.Last.IsZero() && v.Last.Before(v.First) }

// covers reports whether the version has a posting for a month.
func (v Version) covers(m period.Month) bool {
	return !m.Before(v.First) && (v.Last.IsZero() || !v.Last.Before(m))
}

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Check returns everything that is wrong with a version, by request field.
func (v Version) Check(now time.Time) []fault.Field {
	adjustment := period.Adjustment{Entries: v.Entries, Note: v.Note}
	bad := adjustment.Check(now)
	if len(v.Name) > 40 || !nameForm.MatchString(v.Name) {
		bad = append(bad, fault.Field{Field: "name", Message: "must be up to 40 small letters, digits and hyphens, such as office-rent"})
	}
	if len([]rune(v.Note)) > maxNote {
		bad = append(bad, fault.Field{Field: "note", Message: fmt.Sprintf("must have at most %d characters", maxNote)})
	}
	for i, e := range v.Entries {
		if e.Debit == ledger.TransitInternal || e.Credit == ledger.TransitInternal {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("entries[%d]", i), Message: "must not be on " + ledger.TransitInternal +
				", which is zero after every posting"})
		}
	}
	if v.Ends() && v.Last.Next() != v.First {
		bad = append(bad, fault.Field{Field: "last", Message: "must not be before first"})
	}
	if v.Reverses && adjustment.MovesHeldMoney() {
		bad = append(bad, fault.Field{Field: "entries", Message: "must not be on an account of held money if the adjustment is reversed: " +
			"an accrual is on accounts of income, expense and what is owed"})
	}
	earliest := period.MonthOf(now)
	for range maxMonthsBack {
		earliest = earliest.Previous()
	}
	if v.First.Before(earliest) {
		bad = append(bad, fault.Field{Field: "first", Message: "must be a month from " + earliest.String() + " on"})
	}
	return bad
}

// Adjustment is a recurring adjustment: its versions by number.
type Adjustment []Version

// Latest returns the latest version, and false if there is none.
func (a Adjustment) Latest() (Version, bool) {
	if len(a) == 0 {
		return Version{}, false
	}
	return a[len(a)-1], true
}

// For returns the version that has a posting for a month, and false if none has: the latest one that has begun says so.
func (a Adjustment) For(m period.Month) (Version, bool) {
	for _, v := range slices.Backward(a) {
		if !m.Before(v.First) {
			return v, v.covers(m)
		}
	}
	return Version{}, false
}

// Change returns the next version, or CONFLICT if months that it is about were posted or are closed.
func (a Adjustment) Change(v Version, posted []Run, c period.Calendar) (Version, error) {
	latest, exists := a.Latest()
	v.Number = latest.Number + 1
	if v.Ends() && !exists {
		return v, conflict("Not in force", "There is no recurring adjustment %q that can be ended.", v.Name)
	}
	if v.Ends() && !latest.Last.IsZero() && !v.Last.Before(latest.Last) {
		return v, conflict("Not in force", "The recurring adjustment %q ends with %s. It can be ended after an earlier month.", v.Name,
			latest.Last)
	}
	if c.State(v.First) == period.Closed {
		return v, conflict("Month is closed", "%s is closed. The first month that can have other postings is %s.", v.First, c.FirstUnclosed)
	}
	for _, run := range posted {
		if run.Name == v.Name && !run.Month.Before(v.First) {
			return v, conflict("Posted already", "%s is posted for %s. Change it for a later month, and correct that posting with an adjustment.",
				v.Name, run.Month)
		}
	}
	return v, nil
}

// IsOver reports whether nothing more is posted: the last month is over, and no month is due.
func (a Adjustment) IsOver(posted []Run, c period.Calendar, now time.Time) bool {
	latest, _ := a.Latest()
	return !latest.Last.IsZero() && latest.Last.Before(period.MonthOf(now)) && len(a.Due(posted, c, now)) == 0
}

// CheckNumber returns CONFLICT if a version would be one adjustment too many among those of a platform. Those that have ended, or are
// over, as accruals of a single month soon are, do not count.
func CheckNumber(all []Adjustment, v Version, posted []Run, c period.Calendar, now time.Time) error {
	others := 0
	for _, a := range all {
		if latest, _ := a.Latest(); latest.Name != v.Name && !latest.Ends() && !a.IsOver(posted, c, now) {
			others++
		}
	}
	if others >= MaxAdjustments && !v.Ends() {
		return conflict("Too many recurring adjustments", "A platform can have %d recurring adjustments. End one that is no longer needed.",
			MaxAdjustments)
	}
	return nil
}

// End returns the version after which the adjustment has no postings after a month.
func (a Adjustment) End(last period.Month) Version {
	v, _ := a.Latest()
	v.First, v.Last = last.Next(), last
	return v
}

// Due is a month that is over and has no posting yet.
type Due struct {
	Version
	Month period.Month
}

// Due returns the months before now that have no posting yet and are not closed, oldest first.
func (a Adjustment) Due(posted []Run, c period.Calendar, now time.Time) (due []Due) {
	first := period.Month{}
	for _, v := range a {
		if first.IsZero() || v.First.Before(first) {
			first = v.First
		}
	}
	if first.Before(c.FirstUnclosed) {
		first = c.FirstUnclosed
	}
	for m := first; len(a) > 0 && m.Before(period.MonthOf(now)); m = m.Next() {
		isOfMonth := func(r Run) bool { return r.Month == m && r.Name == a[0].Name }
		if v, covered := a.For(m); covered && !slices.ContainsFunc(posted, isOfMonth) {
			due = append(due, Due{v, m})
		}
	}
	return due
}

// Run is the posting of one month. It never changes.
type Run struct {
	Platform ident.Platform
	Name     string
	Month    period.Month
	Version  int
	// Posting is at the end of the month, and Reversal at the beginning of the next; nil if it is not reversed.
	Posting, Reversal uuid.UUID
	At                time.Time
}

// Post returns the postings of a month with their authorisations, and the run. Repeated work derives the same ids.
func (d Due) Post(now time.Time) (run Run, postings []ledger.Posting, authorised []period.Authorisation) {
	a := period.Adjustment{Platform: d.Platform, Entries: d.Entries, Note: fmt.Sprintf("%s %s: %s", d.Name, d.Month, d.Note),
		Effective: monthend.Last(d.Month)}
	posting, authorisation := a.Posting(d.postingID(0), d.By, now)
	postings = append(postings, posting)
	run = Run{Platform: d.Platform, Name: d.Name, Month: d.Month, Version: d.Number, Posting: posting.ID, At: now}
	if d.Reverses {
		run.Reversal = d.postingID(1)
		postings = append(postings, ledger.Reverse(posting, run.Reversal, d.Month.End(), posting.Memo))
	}
	for _, p := range postings {
		authorisation.Posting, authorisation.Approval = p.ID, d.Approval
		authorised = append(authorised, authorisation)
	}
	return run, postings, authorised
}

// Posting returns the id of the posting of the month.
func (d Due) Posting() uuid.UUID { return d.postingID(0) }

// postingID returns the id of the posting of the month (0), or of its reversal (1). It is the same for all versions, so that no month is
// posted twice.
func (d Due) postingID(nth int) uuid.UUID {
	hash := sha256.New()
	platform := d.Platform.UUID()
	hash.Write(platform[:])
	hash.Write([]byte("recurring\x00" + d.Name))
	subject := uuid.UUID(hash.Sum(nil)[:16])
	copy(subject[:6], platform[:6])
	start := d.Month.Start()
	return ledger.DerivedID(subject, ledger.KindAdjustment, (start.Year()*12+int(start.Month()))<<1+nth)
}

// Blocker returns CONFLICT if a month has no posting because of its accounts, and otherwise because nothing has posted it yet.
func (d Due) Blocker(problems []fault.Field) error {
	end := fmt.Sprintf("`causeway ledger recurring end %s --last %s`", d.Name, d.Month.Previous())
	if len(problems) == 0 {
		return conflict("Not posted", "The recurring adjustment %s is not posted for %s yet. The service posts it within a minute.", d.Name,
			d.Month)
	}
	return conflict("Account not available", "The recurring adjustment %s is not posted for %s: %s %s. Change the account with "+
		"`causeway ledger chart change`, the adjustment with `causeway ledger recurring set`, or end it with %s.", d.Name, d.Month,
		problems[0].Field, problems[0].Message, end)
}

func conflict(reason, format string, args ...any) error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}
