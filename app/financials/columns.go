package financials

import (
	"context"
	"maps"
	"slices"
	"time"

	"causeway/app/internal/report"
	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// find returns which exchange results cover a period, or false if they do not begin and end with it.
func (b *reader) find(p financials.Period) (first, last int, ok bool) {
	first = slices.IndexFunc(b.covered, func(c covered) bool { return c.from.Equal(p.From.Start()) })
	last = slices.IndexFunc(b.covered, func(c covered) bool { return c.month == p.To })
	if first < 0 || last < first {
		return 0, 0, false
	}
	for i := first; i < last; i++ {
		if !b.covered[i+1].from.Equal(b.covered[i].month.End()) {
			return 0, 0, false
		}
	}
	return first, last, true
}

// check returns CONFLICT if a month of a period has no exchange result.
func (b *reader) check(p financials.Period) error {
	if _, _, ok := b.find(p); ok {
		return nil
	}
	missing := p.To
	for m := p.To; !m.Before(p.From); m = m.Previous() {
		if !slices.ContainsFunc(b.covered, func(c covered) bool { return c.month == m && c.from.Equal(m.Start()) }) {
			missing = m
		}
	}
	refused := fault.New(fault.Conflict, "The exchange result of %s is not posted, so its figures in %s are not known. Soft-close the "+
		"month, and post the result (%s).", missing, b.functional, monthend.Command(ledger.KindRevaluation, missing))
	refused.Reason = "Exchange result missing"
	return refused
}

// fill reads the figures of the columns whose months have exchange results.
func (b *reader) fill(ctx context.Context, columns []financials.Column) error {
	balances, err := b.balancesOf(ctx, columns)
	if err != nil {
		return err
	}
	flows := map[int]financials.CashFlows{}
	for i := range columns {
		c := &columns[i]
		first, last, ok := b.find(c.Period)
		if !ok {
			continue
		}
		c.IsKnown = true
		var months []*financials.State
		var monthFlows []financials.CashFlows
		for n := first; n <= last; n++ {
			months = append(months, b.covered[n].state)
			if _, read := flows[n]; !read {
				if flows[n], err = b.cashFlows(ctx, n, balances); err != nil {
					return err
				}
			}
			monthFlows = append(monthFlows, flows[n])
		}
		if c.Cash, err = financials.Join(monthFlows); err != nil {
			return err
		}
		if c.Earnings, err = financials.Earnings(months); err != nil {
			return err
		}
		state, rates := b.before(first)
		if c.Opening, err = financials.NewPosition(state, balances[first-1], rates); err != nil {
			return err
		}
		if c.Closing, err = financials.NewPosition(b.covered[last].state, balances[last], b.covered[last].rates); err != nil {
			return err
		}
	}
	return nil
}

// before returns the state before what one exchange result covers, and the rates of that time.
func (b *reader) before(n int) (*financials.State, *exchange.Rates) {
	if n == 0 {
		return b.opening, b.openingRates
	}
	return b.covered[n-1].state, b.covered[n-1].rates
}

// balancesOf reads the balances of all accounts at the ends of what the exchange results of columns cover, and before the first,
// by the number of
// the result; −1 is before all.
func (b *reader) balancesOf(ctx context.Context, columns []financials.Column) (map[int]map[financials.Key]money.Total, error) {
	var ends []int
	for _, c := range columns {
		if first, last, ok := b.find(c.Period); ok {
			for n := first - 1; n <= last; n++ {
				ends = append(ends, n)
			}
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	cuts := make([]ports.Cutoff, len(ends))
	for i, n := range ends {
		end := b.covered[0].from
		if n >= 0 {
			end = b.covered[n].month.End()
		}
		cuts[i] = ports.Cutoff{By: ports.ByEffective, Moment: end.Add(-time.Microsecond)}
	}
	read, err := b.balancesAt(ctx, cuts)
	balances := map[int]map[financials.Key]money.Total{}
	for i, n := range ends {
		balances[n] = read[i]
	}
	return balances, err
}

// cashFlows reads those of what one exchange result covers.
func (b *reader) cashFlows(ctx context.Context, n int, balances map[int]map[financials.Key]money.Total) (financials.CashFlows, error) {
	c := b.covered[n]
	sums := map[financials.Key]*financials.Movement{}
	err := b.Views.MonthEndView(ctx, b.platform, maxSeq, func(ctx context.Context, view ports.MonthEndView) error {
		return view.CashMovements(ctx, period.Interval{From: c.from, To: c.month.End()}, "", func(m financials.Movement) (err error) {
			key := financials.Key{Path: financials.Group(m.Path), Currency: m.Currency}
			sum := sums[key]
			if sum == nil {
				sum = &financials.Movement{Key: key}
				sums[key] = sum
			}
			if sum.Received, err = money.AddMinor(sum.Received, m.Received); err != nil {
				return err
			}
			sum.Paid, err = money.AddMinor(sum.Paid, m.Paid)
			return err
		})
	})
	if err != nil {
		return financials.CashFlows{}, err
	}
	movements := make([]financials.Movement, 0, len(sums))
	for _, m := range sums {
		movements = append(movements, *m)
	}
	_, openingRates := b.before(n)
	return financials.NewCashFlows(b.functional, balances[n-1], balances[n], openingRates, c.rates, movements)
}

// maxGroupAccounts is the maximum number of accounts of a group in a list.
const maxGroupAccounts = 50_000

// CashOfGroup returns what each account of a group adds to a figure of the cash flow statement, by path. Faults: INVALID_INPUT if too many
// do; MONTH_ARCHIVED.
func (s *Service) CashOfGroup(ctx context.Context, p ident.Platform, group financials.Key, e financials.Entries) (
	accounts []financials.AccountFigure, err error) {
	moved := map[string]money.Total{}
	err = s.Views.MonthEndView(ctx, p, maxSeq, func(ctx context.Context, view ports.MonthEndView) error {
		return view.CashMovements(ctx, period.Interval{From: e.From.Start(), To: e.To.End()}, group.Path, func(m financials.Movement) error {
			quantity := m.Received
			if e.Part == financials.CashPaid {
				quantity = -m.Paid
			}
			if m.Currency == group.Currency && quantity != 0 {
				moved[m.Path] = moved[m.Path].Add(money.TotalOf(quantity))
			}
			if len(moved) > maxGroupAccounts {
				return fault.Invalid(fault.Field{Field: "span", Message: "must be shorter: more than 50000 accounts have such entries"})
			}
			return nil
		})
	})
	for _, path := range slices.Sorted(maps.Keys(moved)) {
		accounts = append(accounts, financials.AccountFigure{Key: financials.Key{Path: path, Currency: group.Currency}, Quantity: moved[path],
			Entries: &e})
	}
	return accounts, report.TooSlow(err, "Choose a shorter span.")
}
