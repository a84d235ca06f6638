// Package financials makes the financial statements of a platform from its ledger: balance sheet, income statement, cash
// flow statement and changes in equity, in the functional currency, with those of the period before and of the year before.
//
// It reads months whose exchange result is posted, and changes nothing.
package financials

import (
	"context"
	"slices"
	"time"

	runs "causeway/app/internal/monthend"
	"causeway/app/internal/report"
	"causeway/core/books"
	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/price"
	"causeway/ledger"
	"causeway/ports"
)

// Store reads the settings of the books and what months have come to.
type Store interface {
	runs.YearClosings
	BooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error)
	// PeriodOverview returns everything about the months but their trial balances.
	PeriodOverview(ctx context.Context, p ident.Platform) (ports.PeriodOverview, error)
	// MonthEndRuns returns the last run of a kind for each month that has one, in order.
	MonthEndRuns(ctx context.Context, p ident.Platform, kind ledger.Kind) ([]monthend.Run, error)
	// ExchangeResult returns the result of a run of a revaluation.
	ExchangeResult(ctx context.Context, run monthend.Run) (monthend.ExchangeResult, error)
	// RatesAt returns the last rates kept up to and including a moment; the zero value if there are none.
	RatesAt(ctx context.Context, moment time.Time) (price.KeptRates, error)
}

// Ledger reads balances.
type Ledger interface {
	runs.RecordedPostings
	// Turnovers calls each for every account of a class (of all classes if empty), by currency and path, with its turnover up to
	// each cutoff. All are read from one snapshot.
	Turnovers(ctx context.Context, p ident.Platform, class ledger.Class, cuts []ports.Cutoff, each func(ports.AccountTurnovers) error) error
	// AccountsAtCutoff returns the accounts at a path with their balances at a cutoff.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency, cut ports.Cutoff) ([]ports.LedgerAccount,
		error)
}

// Config is what the use cases need.
type Config struct {
	Store  Store
	Ledger Ledger
	Views  ports.MonthEndViews
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Query selects the statements of the months up to one; if that is zero, of the last one that has an exchange result.
type Query struct {
	Month period.Month
	Span  financials.Span
}

// Report are the financial statements of a period.
type Report struct {
	financials.Report
	Query
	// State is that of the last month: only the statements of a closed month are final.
	State period.State
}

// Report returns the statements of a period with those of the period before and of the year before, as far as their months have exchange
// results. A period that begins before the first one begins with it. Faults: INVALID_INPUT for an unknown span; CONFLICT without
// a functional currency, or without the exchange result of a month; MONTH_ARCHIVED.
func (s *Service) Report(ctx context.Context, p ident.Platform, q Query) (Report, error) {
	if q.Span == "" {
		q.Span = financials.OneMonth
	}
	if !slices.Contains(financials.Spans(), q.Span) {
		return Report{}, fault.Invalid(fault.Field{Field: "span", Message: "must be MONTH, QUARTER_TO_DATE or YEAR_TO_DATE"})
	}
	settings, err := s.Store.BooksSettings(ctx, p)
	if err != nil {
		return Report{}, err
	}
	functional, err := settings.RequireFunctionalCurrency()
	if err != nil {
		return Report{}, err
	}
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return Report{}, err
	}
	b := &reader{Service: s, platform: p, functional: functional}
	if err := b.load(ctx, q.Month); err != nil {
		return Report{}, report.TooSlow(err, "Choose a shorter span.")
	}
	if n := len(b.covered); n > 0 && q.Month.IsZero() {
		q.Month = b.covered[n-1].month
	}
	if q.Month.IsZero() {
		refused := fault.New(fault.Conflict, "No exchange result is posted yet, so there are no figures in %s. Soft-close a month, and post its "+
			"result (causeway ledger revalue).", functional)
		refused.Reason = "Exchange result missing"
		return Report{}, refused
	}
	now, before, yearBefore := financials.Periods(q.Span, q.Month, settings.YearEndMonth)
	if len(b.covered) > 0 && now.From.Start().Before(b.covered[0].from) && !now.To.Before(b.covered[0].month) {
		now.From = period.MonthOf(b.covered[0].from) // no figures are known before
	}
	columns := []financials.Column{{Period: now}}
	for _, other := range []financials.Period{before, yearBefore} {
		if !other.IsZero() {
			columns = append(columns, financials.Column{Period: other})
		}
	}
	if err := b.check(now); err != nil {
		return Report{}, err
	}
	if err := b.fill(ctx, columns); err != nil {
		return Report{}, report.TooSlow(err, "Choose a shorter span.")
	}
	return Report{financials.NewReport(functional, columns), q, overview.Calendar.State(q.Month)}, nil
}

// covered is what one exchange result covers: a month, or a month with those before it that were closed without a result.
type covered struct {
	from   time.Time
	month  period.Month
	result monthend.ExchangeResult
	rates  *exchange.Rates
	state  *financials.State
}

// reader reads the months of a platform up to one.
type reader struct {
	*Service
	platform   ident.Platform
	functional money.Currency
	covered    []covered
	opening    *financials.State
	// openingRates are those before the first month.
	openingRates *exchange.Rates
}

// load reads what the exchange results have translated, and what own accounts are worth after each.
func (b *reader) load(ctx context.Context, until period.Month) error {
	all, err := b.Store.MonthEndRuns(ctx, b.platform, ledger.KindRevaluation)
	if err != nil {
		return err
	}
	for _, run := range all {
		if !until.IsZero() && until.Before(run.Month) {
			break
		}
		c := covered{month: run.Month}
		if c.result, err = b.Store.ExchangeResult(ctx, run); err != nil {
			return err
		}
		c.from = c.result.From
		if c.rates, err = b.ratesAt(ctx, c.result.RatesKeptAt); err != nil {
			return err
		}
		b.covered = append(b.covered, c)
	}
	if len(b.covered) == 0 {
		return nil
	}
	if b.openingRates, err = b.ratesAt(ctx, b.covered[0].result.OpeningRatesKeptAt); err != nil {
		return err
	}
	return b.loadStates(ctx)
}

func (b *reader) ratesAt(ctx context.Context, at time.Time) (*exchange.Rates, error) {
	kept, err := b.Store.RatesAt(ctx, at)
	if err == nil && !kept.At.Equal(at) {
		refused := fault.New(fault.Conflict, "The market rates of %s are no longer kept, so there are no statements with them.",
			at.UTC().Format(time.RFC3339))
		refused.Reason = "No market rate"
		err = refused
	}
	return exchange.NewRates(kept, b.functional), err
}

// loadStates reads the balances of own accounts at each end, and follows their values.
func (b *reader) loadStates(ctx context.Context) error {
	cuts := []ports.Cutoff{{By: ports.ByEffective, Moment: b.covered[0].from.Add(-time.Microsecond)}}
	for _, c := range b.covered {
		cuts = append(cuts, ports.Cutoff{By: ports.ByEffective, Moment: monthend.Last(c.month)})
	}
	balances, err := b.ownBalances(ctx, cuts)
	if err != nil {
		return err
	}
	before, err := b.balancesAt(ctx, cuts[:1])
	if err != nil {
		return err
	}
	for key, net := range before[0] { // with the platform's own accounts, which follow from the others later
		if line, _ := financials.LineOf(key.Path); line.Code == "own-balances" {
			if balances[0][key], err = minor(net.Neg()); err != nil {
				return err
			}
		}
	}
	first := b.covered[0].result
	translated := money.TotalOf(first.Translated)
	for _, t := range first.Translations {
		translated = translated.Sub(money.TotalOf(t.Value))
	}
	sum, err := minor(translated)
	if err != nil {
		return err
	}
	if b.opening, err = financials.Open(balances[0], b.openingRates, b.functional, sum); err != nil {
		return err
	}
	years, err := runs.YearPostings(ctx, b.platform, b.Store, b.Ledger)
	if err != nil {
		return err
	}
	state := b.opening
	for i := range b.covered {
		c := &b.covered[i]
		closings, err := closingsIn(years, period.Interval{From: c.from, To: c.month.End()})
		if err != nil {
			return err
		}
		if state, err = state.Next(financials.Month{Balances: balances[i+1], Translations: c.result.Translations, Rates: c.rates,
			Years: closings}); err != nil {
			return err
		}
		c.state = state
	}
	return nil
}

// closingsIn returns the postings that close years and are effective in an interval.
func closingsIn(postings []ports.RecordedPosting, i period.Interval) (years []financials.YearPosting, err error) {
	var in []ports.RecordedPosting
	for _, p := range postings {
		if i.Contains(p.Effective) {
			in = append(in, p)
		}
	}
	slices.SortFunc(in, func(a, b ports.RecordedPosting) int { return int(a.Seq - b.Seq) })
	for _, p := range in {
		y, err := financials.NewYearPosting(p.Posting)
		if err != nil {
			return nil, err
		}
		years = append(years, y)
	}
	return years, nil
}

// ownBalances returns the credit balances of income, expense, equity and deferred fees at each cutoff.
func (b *reader) ownBalances(ctx context.Context, cuts []ports.Cutoff) ([]map[financials.Key]int64, error) {
	balances := make([]map[financials.Key]int64, len(cuts))
	for i := range balances {
		balances[i] = map[financials.Key]int64{}
	}
	for _, class := range []ledger.Class{ledger.Income, ledger.Expense, ledger.Equity} {
		err := b.Ledger.Turnovers(ctx, b.platform, class, cuts, func(a ports.AccountTurnovers) (err error) {
			for i, t := range a.Turnovers {
				if balances[i][financials.Key{Path: a.Account.Path, Currency: a.Account.Currency}], err = minor(t.Credits.Sub(t.Debits)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i, cut := range cuts {
		accounts, err := b.Ledger.AccountsAtCutoff(ctx, b.platform, ledger.LiabilityDeferredFees, "", cut)
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			if balances[i][financials.Key{Path: a.Account.Path, Currency: a.Account.Currency}], err = minor(a.Balance); err != nil {
				return nil, err
			}
		}
	}
	return balances, nil
}

// balancesAt returns the balances of all accounts at each cutoff, debits less credits, with those of customers as one.
func (b *reader) balancesAt(ctx context.Context, cuts []ports.Cutoff) ([]map[financials.Key]money.Total, error) {
	balances := make([]map[financials.Key]money.Total, len(cuts))
	for i := range balances {
		balances[i] = map[financials.Key]money.Total{}
	}
	err := b.Ledger.Turnovers(ctx, b.platform, "", cuts, func(a ports.AccountTurnovers) error {
		key := financials.Key{Path: financials.Group(a.Account.Path), Currency: a.Account.Currency}
		for i, t := range a.Turnovers {
			balances[i][key] = balances[i][key].Add(t.Debits.Sub(t.Credits))
		}
		return nil
	})
	return balances, err
}

func minor(t money.Total) (int64, error) {
	n, fits := t.Minor()
	if !fits {
		return 0, money.ErrOverflow
	}
	return n, nil
}
