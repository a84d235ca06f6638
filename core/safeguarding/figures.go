package safeguarding

import (
	"cmp"
	"slices"
	"strings"

	"causeway/core/money"
	"causeway/ledger"
)

// Section is the part of a report that an account belongs to.
type Section string

// The sections.
const (
	Requirement Section = "REQUIREMENT" // owed to customers
	Resource    Section = "RESOURCE"    // held for them at partners
	// OwnFunds is everything else. It adds up to the company's own money in the accounts of the resource:
	// liabilities, equity, income and positions above zero, assets and expenses below.
	OwnFunds Section = "OWN_FUNDS"
)

// SectionOf returns the section of an account. Error: ledger.ErrNotInChart.
func (p Purposes) SectionOf(path string) (Section, error) {
	line, err := ledger.FindChartLine(path)
	if err != nil {
		return "", err
	}
	if purpose, atPartner := p.Of(path); atPartner && purpose == Client {
		return Resource, nil
	}
	if isOwed(line) {
		return Requirement, nil
	}
	return OwnFunds, nil
}

// Line is one account of a report, or all accounts of a line of the chart, in one currency.
type Line struct {
	Section  Section
	Path     string
	Currency money.Currency
	// Amount is what the line adds to its section, in minor units.
	Amount money.Total

	// Of a line of the resource: what confirms the amount, empty in reports that were made before this was recorded, and what of it
	// comes from adjustments since a day. That is the first after the last day before the report that was confirmed.
	Confirmation Confirmation
	Manual       money.Total
	ManualSince  Day
}

// Status is the result of a comparison.
type Status string

// The results.
const (
	Shortfall Status = "SHORTFALL" // less is held than owed
	Excess    Status = "EXCESS"    // more is held than owed
	Even      Status = "EVEN"
	// Unconfirmed: the ledger says that at least as much is held as is owed, and of an account nothing outside confirms it.
	Unconfirmed Status = "UNCONFIRMED"
)

func statusOf(difference money.Total) Status {
	switch difference.Sign() {
	case -1:
		return Shortfall
	case 1:
		return Excess
	default:
		return Even
	}
}

// Figures compare one currency.
type Figures struct {
	Currency                        money.Currency
	Requirement, Resource, OwnFunds money.Total
	Lines                           []Line
}

// Difference returns what is held less what is owed.
func (f Figures) Difference() money.Total { return f.Resource.Sub(f.Requirement) }

// Shortfall returns by how much less is held than owed; zero if it is not less.
func (f Figures) Shortfall() money.Total {
	if d := f.Difference(); d.Sign() < 0 {
		return d.Neg()
	}
	return money.Total{}
}

// Status returns the result of the comparison. A shortfall is one whether or not what is held is confirmed.
func (f Figures) Status() Status {
	if status := statusOf(f.Difference()); status == Shortfall || len(f.Unconfirmed()) == 0 {
		return status
	}
	return Unconfirmed
}

// Unconfirmed returns the accounts of the resource that nothing confirms.
func (f Figures) Unconfirmed() (paths []string) {
	for _, l := range f.Lines {
		if l.Confirmation == NoEvidence {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

// Manual returns what of the resource was posted by hand since it was last confirmed; false in reports that were made before
// this was recorded.
func (f Figures) Manual() (sum money.Total, known bool) {
	for _, l := range f.Lines {
		if l.Confirmation != "" {
			sum, known = sum.Add(l.Manual), true
		}
	}
	return sum, known
}

// Explained reports whether the company's own funds are the difference, as they are in a balanced ledger.
func (f Figures) Explained() bool { return f.Difference().Equal(f.OwnFunds) }

// Counter adds up the balances of a ledger. Its memory is bounded by the chart, not by the number of customers.
type Counter struct {
	purposes Purposes
	sums     map[lineKey]money.Total
}

type lineKey struct {
	section  Section
	currency money.Currency
	path     string
}

// NewCounter returns an empty Counter.
func NewCounter(p Purposes) *Counter { return &Counter{purposes: p, sums: map[lineKey]money.Total{}} }

// Add adds the balance of an account, with the sign of its class. Error: ledger.ErrNotInChart.
func (c *Counter) Add(path string, currency money.Currency, balance money.Total) error {
	line, err := ledger.FindChartLine(path)
	if err != nil {
		return err
	}
	section, err := c.purposes.SectionOf(path)
	if err != nil {
		return err
	}
	if line.NoOverdraft {
		path = line.Path // one line for all customers
	}
	if section == OwnFunds && line.Class.IsDebitNormal() {
		balance = balance.Neg()
	}
	key := lineKey{section, currency, path}
	c.sums[key] = c.sums[key].Add(balance)
	return nil
}

// Figures returns the comparison of each currency, by currency, with its lines by section and path.
func (c *Counter) Figures() []Figures {
	var lines []Line
	for key, amount := range c.sums {
		lines = append(lines, Line{Section: key.section, Path: key.path, Currency: key.currency, Amount: amount})
	}
	return FiguresOf(lines)
}

// OwnFundsOf returns the company's own funds in a currency.
func OwnFundsOf(figures []Figures, currency money.Currency) money.Total {
	for _, f := range figures {
		if f.Currency == currency {
			return f.OwnFunds
		}
	}
	return money.Total{}
}

var sectionOrder = map[Section]int{Requirement: 0, Resource: 1, OwnFunds: 2}

// FiguresOf adds up lines in any order. Lines of zero are left out, unless they are accounts at a partner.
func FiguresOf(lines []Line) []Figures {
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(strings.Compare(string(a.Currency), string(b.Currency)), sectionOrder[a.Section]-sectionOrder[b.Section],
			strings.Compare(a.Path, b.Path))
	})
	var all []Figures
	for _, l := range lines {
		if l.Amount.Sign() == 0 && l.Section != Resource {
			continue
		}
		if n := len(all); n == 0 || all[n-1].Currency != l.Currency {
			all = append(all, Figures{Currency: l.Currency})
		}
		f := &all[len(all)-1]
		f.Lines = append(f.Lines, l)
		switch l.Section {
		case Requirement:
			f.Requirement = f.Requirement.Add(l.Amount)
		case Resource:
			f.Resource = f.Resource.Add(l.Amount)
		case OwnFunds:
			f.OwnFunds = f.OwnFunds.Add(l.Amount)
		}
	}
	return all
}
