package safeguarding

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
)

// Report is the comparison at a moment. A report that is kept has a day and a version, and never changes.
type Report struct {
	Platform ident.Platform
	Day      Day // empty for a report on demand, which is not kept
	Version  int // from 1
	// AsOf is the moment of the balances, by effective time.
	AsOf   time.Time
	MadeAt time.Time
	// By asked for the report. Both are zero for the one that the service makes after each day.
	By      platform.Author
	Figures []Figures
	// Statements are the last statements of the accounts of the resource that were imported. A line of Figures says whether one
	// confirms it.
	Statements []Statement
	Valuation  Valuation
	// Seq is the number of the last posting in the report, PostingDigest its digest and Checkpoint the newest
	// signed checkpoint of the log; 0, nil and empty if there was none.
	Seq           int64
	PostingDigest []byte
	Checkpoint    string
}

// Statement is the last imported statement of an account by the end of a report's day. The figures of a
// report come from the ledger alone: statements confirm it from outside.
type Statement struct {
	Path           string
	Currency       money.Currency
	Reconciliation ident.Reconciliation
	Day            Day // the last day of the statement
	// Closing is its closing balance, and Difference that less the balance of the ledger at the end of its last
	// day; only valid if HasClosing.
	Closing, Difference money.Total
	HasClosing          bool
	OpenBreaks          int
}

// Valuation is the comparison over all currencies in the functional currency.
type Valuation struct {
	Currency money.Currency // empty if the platform has none
	// RatesKeptAt is when the rates were kept; zero if there were none for the moment.
	RatesKeptAt time.Time
	// Missing are the currencies without a rate, or with an amount too large to be valued.
	Missing []money.Currency
	// Requirement and Resource are the sums of all currencies that have a value.
	Requirement, Resource money.Total
}

// Complete reports whether every currency has a value.
func (v Valuation) Complete() bool {
	return v.Currency != "" && !v.RatesKeptAt.IsZero() && len(v.Missing) == 0
}

// Status returns the result of the comparison of the values, whatever confirms what is held.
func (v Valuation) Status() Status { return statusOf(v.Resource.Sub(v.Requirement)) }

// Value returns the comparison of figures in one currency, at rates that were kept for the moment. What is
// owed is rounded up and what is held is rounded down.
func Value(figures []Figures, in money.Currency, moment time.Time, rates price.KeptRates) Valuation {
	v := Valuation{Currency: in}
	if in == "" || !rates.CoverTime(moment) {
		return v
	}
	v.RatesKeptAt = rates.At
	for _, f := range figures {
		rate, ok := rates.Rate(f.Currency, in)
		owed, owedFits := valueOf(f.Requirement, rate.Rate, true)
		held, heldFits := valueOf(f.Resource, rate.Rate, false)
		if !ok || !owedFits || !heldFits {
			v.Missing = append(v.Missing, f.Currency)
			continue
		}
		v.Requirement, v.Resource = v.Requirement.Add(owed), v.Resource.Add(held)
	}
	return v
}

func valueOf(amount money.Total, rate money.Rate, up bool) (money.Total, bool) {
	negative := amount.Sign() < 0
	if negative {
		amount, up = amount.Neg(), !up
	}
	minor, fits := amount.Minor()
	apply := rate.Floor
	if up {
		apply = rate.Ceil
	}
	value, err := apply(minor)
	if !fits || err != nil {
		return money.Total{}, false
	}
	if negative {
		return money.TotalOf(value).Neg(), true
	}
	return money.TotalOf(value), true
}

// CheckFollows returns CONFLICT if the report is of an earlier state of the ledger than the last version of its day,
// which another request has kept meanwhile. last is zero without one.
func (r Report) CheckFollows(last Report) error {
	if r.Seq >= last.Seq {
		return nil
	}
	f := fault.New(fault.Conflict, "Version %d of the report of %s was made meanwhile, with later postings. Repeat the request.",
		last.Version, r.Day)
	f.Reason = "Made meanwhile"
	return f
}

// IsEmpty reports whether nothing is owed and nothing held.
func (r Report) IsEmpty() bool {
	for _, f := range r.Figures {
		for _, l := range f.Lines {
			if l.Amount.Sign() != 0 {
				return false
			}
		}
	}
	return true
}

// Shortfalls returns the currencies in which less is held than owed.
func (r Report) Shortfalls() []money.Currency {
	var short []money.Currency
	for _, f := range r.Figures {
		if f.Status() == Shortfall {
			short = append(short, f.Currency)
		}
	}
	return short
}

// NewShortfalls returns the currencies in which less is held than owed, and by more than in an earlier version of the report, which is
// zero if there is none.
func (r Report) NewShortfalls(earlier Report) []money.Currency {
	before := map[money.Currency]money.Total{}
	for _, f := range earlier.Figures {
		before[f.Currency] = f.Shortfall()
	}
	var grown []money.Currency
	for _, f := range r.Figures {
		if f.Shortfall().Sub(before[f.Currency]).Sign() > 0 {
			grown = append(grown, f.Currency)
		}
	}
	return grown
}

// StillAcknowledged reports whether what a person has acknowledged of the first version of a report holds for the last one: none since
// has a new shortfall, also none that has gone and come back.
func StillAcknowledged(versions []Report) bool {
	for i := 1; i < len(versions); i++ {
		if len(versions[i].NewShortfalls(versions[i-1])) > 0 {
			return false
		}
	}
	return true
}

// Status returns SHORTFALL if any currency has one, else UNCONFIRMED or EXCESS if any has that, in this order.
func (r Report) Status() Status {
	status := Even
	for _, f := range r.Figures {
		switch s := f.Status(); {
		case s == Shortfall:
			return Shortfall
		case s == Unconfirmed || s == Excess && status == Even:
			status = s
		}
	}
	return status
}

// ValuationStatus returns the result of the comparison of the values. It is confirmed if each currency is.
func (r Report) ValuationStatus() Status {
	status := r.Valuation.Status()
	if status != Shortfall && r.LacksConfirmation() {
		return Unconfirmed
	}
	return status
}

// recordsConfirmation reports whether the report says what confirms its resource, as all do that are made now.
func (r Report) recordsConfirmation() bool {
	return slices.ContainsFunc(r.Figures, func(f Figures) bool {
		return slices.ContainsFunc(f.Lines, func(l Line) bool { return l.Confirmation != "" })
	})
}

// Digest returns a hash of everything in a kept report, so that a later change is detected. Each text is
// written with its length, each number in a fixed length or as a text.
func (r Report) Digest() [sha256.Size]byte {
	platform, token := r.Platform.UUID(), r.By.Token.UUID()
	var e encoder
	withConfirmation := r.recordsConfirmation()
	if withConfirmation {
		e = append(e, "causeway safeguarding report 2\n"...)
	} else {
		e = append(e, "causeway safeguarding report 1\n"...)
	}
	e = append(e, platform[:]...)
	e.text(string(r.Day))
	e.number(int64(r.Version))
	e.time(r.AsOf)
	e.time(r.MadeAt)
	e = append(e, token[:]...)
	e.text(r.By.Actor)
	e.number(r.Seq)
	e.text(string(r.PostingDigest))
	e.text(r.Checkpoint)
	for _, f := range r.Figures {
		for _, l := range f.Lines {
			e.text(string(l.Section))
			e.text(l.Path)
			e.text(string(l.Currency))
			e.text(l.Amount.String())
			if withConfirmation {
				e.text(string(l.Confirmation))
				e.text(l.Manual.String())
				e.text(string(l.ManualSince))
			}
		}
	}
	e.text("statements")
	for _, s := range r.Statements {
		id := s.Reconciliation.UUID()
		e.text(s.Path)
		e.text(string(s.Currency))
		e = append(e, id[:]...)
		e.text(string(s.Day))
		if s.HasClosing {
			e.text(s.Closing.String())
			e.text(s.Difference.String())
		}
		e.number(int64(s.OpenBreaks))
	}
	e.text("valuation")
	e.text(string(r.Valuation.Currency))
	if !r.Valuation.RatesKeptAt.IsZero() {
		e.time(r.Valuation.RatesKeptAt)
	}
	for _, c := range r.Valuation.Missing {
		e.text(string(c))
	}
	e.text(r.Valuation.Requirement.String())
	e.text(r.Valuation.Resource.String())
	return sha256.Sum256(e)
}

type encoder []byte

func (e *encoder) text(s string) {
	*e = append(binary.BigEndian.AppendUint32(*e, uint32(len(s))), s...)
}
func (e *encoder) number(n int64)   { *e = binary.BigEndian.AppendUint64(*e, uint64(n)) }
func (e *encoder) time(t time.Time) { e.number(t.UnixMicro()) }

// Acknowledgement says that a person has seen a kept report, and what was done. See Report.StillAcknowledged.
type Acknowledgement struct {
	Day     Day
	Version int
	At      time.Time
	By      platform.Author
	Note    string
}
