package safeguarding

import (
	"slices"
	"strings"
	"time"

	"causeway/core/money"
	"causeway/ledger"
)

// Confirmation says what confirms, from outside the ledger, that an account with customers' money holds what the
// ledger says at the end of a day.
type Confirmation string

// The confirmations. The last four need no bank, and confirm nothing that was posted by hand.
const (
	ByStatement Confirmation = "STATEMENT"    // a statement of the day, whose closing balance is not below the ledger
	ByRailProof Confirmation = "RAIL_PROOF"   // the daily proof of connections
	BySandbox   Confirmation = "SANDBOX"      // the sandbox, which moves the money itself
	InTransit   Confirmation = "IN_TRANSIT"   // on its way between two accounts, as movements say
	NothingHeld Confirmation = "NOTHING_HELD" // the ledger says that it holds nothing
	NoEvidence  Confirmation = "NONE"
)

// Evidence is what is known about an account with customers' money at the end of a day.
type Evidence struct {
	// Statement is the last statement of the account that ended by the day; zero if there is none.
	Statement Statement
	// ProvedAt is the time of the balances in the proof of the day, and ComparedAt when they were compared with the ledger; zero if
	// it has not proved the account. AddedSince is what was posted into the account by hand after them.
	ProvedAt, ComparedAt time.Time
	AddedSince           money.Total
	Sandbox              bool
}

// denies reports whether a statement of the day says that the account holds less than the ledger.
func (e Evidence) denies(day Day) bool {
	return e.Statement.Day == day && e.Statement.HasClosing && e.Statement.Difference.Sign() < 0
}

// ConfirmedBy returns what confirms a line of the resource on a day.
func (l Line) ConfirmedBy(day Day, e Evidence) Confirmation {
	switch {
	case e.Statement.Day == day && e.Statement.HasClosing && !e.denies(day):
		return ByStatement
	case !e.ProvedAt.IsZero() && e.AddedSince.Sign() <= 0:
		return ByRailProof
	case e.denies(day) || l.Manual.Sign() > 0:
		return NoEvidence
	case l.Amount.Sign() <= 0:
		return NothingHeld
	case l.Path == ledger.TransitClientMoney:
		return InTransit
	case e.Sandbox:
		return BySandbox
	}
	return NoEvidence
}

// ManualMonths is how many months, with that of the report, its manual amounts go back at most. They end before months are
// archived.
const ManualMonths = 12

// ManualFrom returns the earliest day from which manual amounts of a day's report count.
func ManualFrom(day Day) Day {
	start := day.Start()
	return DayOf(time.Date(start.Year(), start.Month()-(ManualMonths-1), 1, 0, 0, 0, 0, time.UTC))
}

// HandKinds returns the kinds of the postings that people make and that can add to what is held. In a sandbox, movements of
// the treasury move the money of the sandbox themselves.
func HandKinds(sandbox bool) []ledger.Kind {
	if sandbox {
		return []ledger.Kind{ledger.KindAdjustment}
	}
	return []ledger.Kind{ledger.KindAdjustment, ledger.KindOpeningBalances, ledger.KindTreasuryTransfer, ledger.KindFXSettlement}
}

// HandPosting is a posting that a person made.
type HandPosting struct {
	ledger.Posting
	Recorded time.Time
}

// HandPostings are postings that people made.
type HandPostings []HandPosting

// Manual returns by how much adjustments have changed an asset from a moment on, with those that took something out.
func (h HandPostings) Manual(path string, currency money.Currency, from time.Time) (sum money.Total) {
	for _, p := range h {
		if p.Kind != ledger.KindAdjustment || p.Effective.Before(from) {
			continue
		}
		for _, e := range p.Entries {
			if e.Currency == currency && e.Debit == path {
				sum = sum.Add(money.TotalOf(e.Amount))
			} else if e.Currency == currency && e.Credit == path {
				sum = sum.Sub(money.TotalOf(e.Amount))
			}
		}
	}
	return sum
}

// AddedTo returns what was added to an account with customers' money after balances of a time from that were compared with the ledger
// at a time compared, which is zero if they are compared now. What came from another account with customers' money does not
// count. What was taken out is not deducted: that may be true, and what was added not.
func (h HandPostings) AddedTo(p Purposes, path string, currency money.Currency, from, compared time.Time) (sum money.Total) {
	for _, posting := range h {
		if posting.Effective.Before(from) && (compared.IsZero() || !posting.Recorded.After(compared)) {
			continue
		}
		for _, e := range posting.Entries {
			if source, atPartner := p.Of(e.Credit); e.Debit == path && e.Currency == currency && !(atPartner && source == Client) {
				sum = sum.Add(money.TotalOf(e.Amount))
			}
		}
	}
	return sum
}

// maxPassedOver is how many days without a statement lie at most between now and the day that a withdrawal rests on.
const maxPassedOver = 3

// ConfirmingDays returns the days whose statement or proof can confirm, at a moment, that money may be taken out: that day, and
// the day before, or the last one before that is not a Saturday or a Sunday. Banks send no statements of weekends.
func ConfirmingDays(moment time.Time) []Day {
	today := DayOf(moment)
	days := []Day{today}
	for day := today; len(days) <= maxPassedOver; {
		day = day.Before()
		days = append(days, day)
		if weekday := day.Start().Weekday(); weekday != time.Saturday && weekday != time.Sunday {
			break
		}
	}
	return days
}

// Held is an account with customers' money in one currency, as far as something confirms what it holds.
type Held struct {
	Path      string
	Confirmed bool
	// Added is what was posted into it by hand since it was confirmed.
	Added money.Total
}

// Hold returns an account from which money may be taken out, with the evidence of each of the days that can confirm it, the last
// one first. added returns what was posted into it by hand after balances of one time were compared at another, as AddedTo does.
func (l Line) Hold(days []Day, evidence []Evidence, added func(from, compared time.Time) money.Total) Held {
	for i, day := range days {
		switch e := evidence[i]; {
		case e.denies(day) && e.ProvedAt.IsZero():
			return Held{Path: l.Path}
		case l.ConfirmedBy(day, e) == ByStatement:
			return Held{l.Path, true, added(day.End(), time.Time{})}
		case !e.ProvedAt.IsZero():
			return Held{l.Path, true, added(e.ProvedAt, e.ComparedAt)}
		}
	}
	switch l.ConfirmedBy(days[0], evidence[0]) {
	case BySandbox:
		return Held{Path: l.Path, Confirmed: true}
	case NothingHeld, InTransit: // no bank has to confirm what is there, and nothing confirms what was just posted by hand
		return Held{l.Path, true, added(days[len(days)-1].Start(), time.Time{})}
	case ByStatement, ByRailProof, NoEvidence:
	}
	return Held{Path: l.Path}
}

// ConfirmedExcess returns what of an excess can be taken out: without what was posted by hand since, and nothing if an account
// is not confirmed at all, whose paths are returned. It is never below zero.
func ConfirmedExcess(excess money.Total, accounts []Held) (confirmed money.Total, missing []string) {
	confirmed = excess
	for _, a := range accounts {
		if !a.Confirmed {
			missing = append(missing, a.Path)
		}
		if a.Added.Sign() > 0 {
			confirmed = confirmed.Sub(a.Added)
		}
	}
	if len(missing) > 0 || confirmed.Sign() < 0 {
		confirmed = money.Total{}
	}
	slices.SortFunc(missing, strings.Compare)
	return confirmed, missing
}

// UnconfirmedLine returns the first line of a report whose confirmation its own statements deny; false if there is none.
func (r Report) UnconfirmedLine() (Line, bool) {
	for _, f := range r.Figures {
		for _, l := range f.Lines {
			if l.Confirmation == ByStatement && !slices.ContainsFunc(r.Statements, func(s Statement) bool {
				return s.Path == l.Path && s.Currency == l.Currency && s.Day == r.Day && s.HasClosing && s.Difference.Sign() >= 0
			}) {
				return l, true
			}
		}
	}
	return Line{}, false
}

// ConfirmsMoreThan reports whether an account that nothing confirmed in an earlier version of the report is confirmed.
func (r Report) ConfirmsMoreThan(earlier Report) bool {
	for _, before := range earlier.Figures {
		var now []string
		for _, f := range r.Figures {
			if f.Currency == before.Currency {
				now = f.Unconfirmed()
			}
		}
		for _, path := range before.Unconfirmed() {
			if !slices.Contains(now, path) {
				return true
			}
		}
	}
	return false
}

// LacksConfirmation reports whether nothing confirms an account of the resource in any currency, also if another one is short.
func (r Report) LacksConfirmation() bool {
	return slices.ContainsFunc(r.Figures, func(f Figures) bool { return len(f.Unconfirmed()) > 0 })
}

// Clone returns a copy whose lines can be changed.
func (r Report) Clone() Report {
	r.Figures = slices.Clone(r.Figures)
	for i := range r.Figures {
		r.Figures[i].Lines = slices.Clone(r.Figures[i].Lines)
	}
	return r
}
