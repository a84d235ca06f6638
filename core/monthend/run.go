// Package monthend holds the rules of runs that post at the end of a month: the exchange result, the
// deferral of fees of payments that are not delivered, and the allowance for receivables.
//
// A run is for a month that is soft-closed. It may be repeated until the month is closed: a run that comes to
// another result reverses the postings of the run before it. One run per month and kind counts, the last one.
//
// The package decides; it reads, stores and posts nothing.
package monthend

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

// Run is one run for a month and a kind of postings. It never changes.
type Run struct {
	Platform ident.Platform
	Month    period.Month
	Kind     ledger.Kind
	// Number counts the runs of the month and kind, from 1; zero for none.
	Number int
	At     time.Time
	By     platform.Author
	// Approval is that of four eyes; zero without.
	Approval platform.Approval
	// LastSeq is the number of the last posting that was read.
	LastSeq int64
	// Previous is the run of an earlier month that it continues; zero for the first.
	Previous Ref
	// Postings are those in force after the run, of this run or of a former one of the month.
	Postings []uuid.UUID
}

// Ref names a run of a known platform and kind.
type Ref struct {
	Month  period.Month
	Number int
}

// Ref returns the name of the run; zero if there is none.
func (r Run) Ref() Ref {
	if r.Number == 0 {
		return Ref{}
	}
	return Ref{r.Month, r.Number}
}

// Exists reports whether there is such a run.
func (r Run) Exists() bool { return r.Number > 0 }

// Last returns the last stored time of a month.
func Last(m period.Month) time.Time { return m.End().Add(-time.Microsecond) }

// PostingID returns the id of the nth posting that the run writes. Repeated work derives the same id.
func (r Run) PostingID(nth int) uuid.UUID {
	subject := r.Platform.UUID()
	subject[7], subject[8] = byte(r.Month.Start().Year()-2000), byte(r.Month.Start().Month())
	return ledger.DerivedID(subject, r.Kind, r.Number<<8+nth)
}

// Post returns the postings of a run: the reversals of those of the former run that are still in force, and
// the new ones, which have no ids yet. All are authorised by the author and the approver of the run.
func (r *Run) Post(former, posted []ledger.Posting) ([]ledger.Posting, []period.Authorisation) {
	var all []ledger.Posting
	for _, p := range former {
		all = append(all, ledger.Reverse(p, r.PostingID(len(all)), p.Effective, fmt.Sprintf("%s is run again", p.Memo)))
	}
	r.Postings = nil
	for _, p := range posted {
		if len(p.Entries) == 0 {
			continue
		}
		p.ID = r.PostingID(len(all))
		r.Postings, all = append(r.Postings, p.ID), append(all, p)
	}
	authorisations := make([]period.Authorisation, len(all))
	for i, p := range all {
		authorisations[i] = period.Authorisation{Platform: r.Platform, Posting: p.ID, By: r.By, Approval: r.Approval, Note: p.Memo, At: r.At}
	}
	return all, authorisations
}

// SameEntries reports whether postings of a former run are those that a run would write again, but for their ids.
func SameEntries(former, posted []ledger.Posting) bool {
	posted = slices.DeleteFunc(slices.Clone(posted), func(p ledger.Posting) bool { return len(p.Entries) == 0 })
	return slices.EqualFunc(former, posted, func(a, b ledger.Posting) bool {
		return a.Kind == b.Kind && a.Effective.Equal(b.Effective) && slices.Equal(a.Entries, b.Entries)
	})
}

// CheckMonth returns CONFLICT if a run for a month is not possible: the month is not soft-closed, or an earlier
// soft-closed month has no run yet. previous is the last earlier run of the kind.
func CheckMonth(c period.Calendar, m period.Month, kind ledger.Kind, previous Run) error {
	if state := c.State(m); state == period.Open {
		return conflict("Wrong state", "%s is OPEN. Soft-close it first: then its result is final, but for authorised postings.", m)
	} else if state == period.Closed {
		return conflict("Wrong state", "%s is CLOSED and accepts no postings.", m)
	}
	if before := m.Previous(); c.State(before) == period.SoftClosed && previous.Month != before {
		return conflict("Out of order", "Months are run in order: run %s first (%s).", before, Command(kind, before))
	}
	return nil
}

// Command returns the command that runs a kind for a month.
func Command(kind ledger.Kind, m period.Month) string {
	switch kind {
	case ledger.KindFeeDeferral:
		return "causeway ledger defer-fees " + m.String()
	case ledger.KindAllowance:
		return "causeway ledger receivables post-allowance " + m.String()
	default:
		return "causeway ledger revalue " + m.String()
	}
}

// Needed is a kind of run that a month needs before it is closed.
type Needed struct {
	Kind ledger.Kind
	// Run is the last run of the month, Previous the last run of an earlier month.
	Run, Previous Run
	// Changed reports whether a posting that the run would have read was recorded after it.
	Changed bool
}

// CheckClose returns CONFLICT if a month lacks a run that it needs to be closed, or has one that is out of date.
func CheckClose(m period.Month, n Needed) error {
	name := map[ledger.Kind]string{ledger.KindRevaluation: "exchange result", ledger.KindFeeDeferral: "deferral of fees",
		ledger.KindAllowance: "allowance for receivables"}[n.Kind]
	skip := map[ledger.Kind]string{ledger.KindRevaluation: "withoutRevaluation", ledger.KindFeeDeferral: "withoutFeeDeferral",
		ledger.KindAllowance: "withoutAllowance"}[n.Kind]
	switch {
	case !n.Run.Exists():
		return conflict("Month-end run missing", "The %s of %s is not posted. Post it (%s), or confirm with %s to close the month without it.",
			name, m, Command(n.Kind, m), skip)
	case n.Changed || n.Run.Previous != n.Previous.Ref():
		return conflict("Month-end run out of date", "The %s of %s is out of date: postings were added after it. Post it again (%s), or "+
			"confirm with %s to close the month as it is.", name, m, Command(n.Kind, m), skip)
	}
	return nil
}

func conflict(reason, format string, args ...any) error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}
