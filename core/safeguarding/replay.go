package safeguarding

import (
	"causeway/core/money"
	"causeway/ledger"
)

// Replay computes the figures of reports again from the postings of a ledger, in the order in which they were
// recorded. Its memory grows with the days and the chart, not with the postings.
type Replay struct {
	// days has the changes of each day, and sums those of all days up to and including last.
	days map[Day]map[replayKey]money.Total
	// manual has the changes of assets by adjustments.
	manual map[Day]map[replayKey]money.Total
	sums   map[replayKey]money.Total
	last   Day
}

// replayKey is an account, or a line of the chart for the accounts of customers.
type replayKey struct {
	path     string
	currency money.Currency
}

// NewReplay returns a Replay of an empty ledger.
func NewReplay() *Replay {
	return &Replay{days: map[Day]map[replayKey]money.Total{}, manual: map[Day]map[replayKey]money.Total{}, sums: map[replayKey]money.Total{}}
}

// Add adds the next posting. Error: ledger.ErrNotInChart.
func (r *Replay) Add(p ledger.Posting) error {
	day := DayOf(p.Effective)
	for _, e := range p.Entries {
		amount := money.TotalOf(e.Amount)
		for i, path := range [...]string{e.Debit, e.Credit} {
			line, err := ledger.FindChartLine(path)
			if err != nil {
				return err
			}
			change := amount
			if line.Class.IsDebitNormal() != (i == 0) {
				change = change.Neg()
			}
			if line.NoOverdraft {
				path = line.Path
			}
			key := replayKey{path, e.Currency}
			r.add(day, key, change)
			if p.Kind == ledger.KindAdjustment && line.Class == ledger.Asset {
				if r.manual[day] == nil {
					r.manual[day] = map[replayKey]money.Total{}
				}
				r.manual[day][key] = r.manual[day][key].Add(change)
			}
		}
	}
	return nil
}

func (r *Replay) add(day Day, key replayKey, change money.Total) {
	if r.days[day] == nil {
		r.days[day] = map[replayKey]money.Total{}
	}
	r.days[day][key] = r.days[day][key].Add(change)
	if day <= r.last {
		r.sums[key] = r.sums[key].Add(change)
	}
}

// moveTo makes sums those up to and including a day.
func (r *Replay) moveTo(day Day) {
	for d, changes := range r.days {
		var sign func(money.Total) money.Total
		switch {
		case r.last < d && d <= day:
			sign = func(t money.Total) money.Total { return t }
		case day < d && d <= r.last:
			sign = money.Total.Neg
		default:
			continue
		}
		for key, change := range changes {
			r.sums[key] = r.sums[key].Add(sign(change))
		}
	}
	r.last = day
}

// Mismatch returns the first line of a report that does not follow from the postings added so far, with the amount
// that does; false if all lines do and none is missing. Which accounts are of the resource is taken from the
// report.
func (r *Replay) Mismatch(report Report) (line Line, want money.Total, found bool) {
	r.moveTo(report.Day)
	reported := map[replayKey]bool{}
	for _, f := range report.Figures {
		for _, l := range f.Lines {
			key := replayKey{l.Path, l.Currency}
			want := r.sums[key]
			if l.Section == OwnFunds && isDebitNormal(l.Path) {
				want = want.Neg()
			}
			if reported[key] || !l.Amount.Equal(want) {
				return l, want, true
			}
			reported[key] = true
		}
	}
	for key, sum := range r.sums {
		if sum.Sign() != 0 && !reported[key] {
			return Line{Path: key.path, Currency: key.currency}, sum, true
		}
	}
	return Line{}, money.Total{}, false
}

// ManualMismatch returns the first line of a report whose manual amount does not follow from the adjustments added so far, with
// the amount that does; false if all do.
func (r *Replay) ManualMismatch(report Report) (line Line, want money.Total, found bool) {
	for _, f := range report.Figures {
		for _, l := range f.Lines {
			if l.Confirmation == "" {
				continue
			}
			want := money.Total{}
			for day := l.ManualSince; day != "" && day <= report.Day; day = day.Next() {
				want = want.Add(r.manual[day][replayKey{l.Path, l.Currency}])
			}
			if !l.Manual.Equal(want) {
				return l, want, true
			}
		}
	}
	return Line{}, money.Total{}, false
}

// isDebitNormal reports whether debits increase an account. Lines of the chart stand for accounts of customers
// and of the platform, which credits increase.
func isDebitNormal(path string) bool {
	line, err := ledger.FindChartLine(path)
	return err == nil && line.Class.IsDebitNormal()
}
