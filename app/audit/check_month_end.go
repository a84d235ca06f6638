package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	runs "causeway/app/internal/monthend"
	"causeway/core/books"
	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/ledger"
	"causeway/ports"
)

// checkMonthEnd computes every result of a month-end run again, from the entries and the kept rates, up to the last
// posting that the run read: what was posted later does not matter.
func (c *run) checkMonthEnd(ctx context.Context) error {
	platforms, err := c.store.MonthEndPlatforms(ctx)
	if err != nil {
		return err
	}
	m := &monthEndCheck{report: c.report, stored: c.store, postings: c.store.LedgerReader(),
		reader: &runs.Reader{Results: c.store, Views: c.store.MonthEndViews(), KeptRates: c.store, Receivables: c.store}}
	for _, platform := range slices.DeleteFunc(platforms, c.ofOthers) {
		if err := m.checkRuns(ctx, platform, ledger.KindRevaluation, RuleExchangeResults, m.checkExchangeResult); err != nil {
			return err
		}
		if err := m.checkRuns(ctx, platform, ledger.KindAllowance, RuleAllowances, m.checkAllowance); err != nil {
			return err
		}
		if err := m.checkRuns(ctx, platform, ledger.KindFeeDeferral, RuleDeferredFees, m.checkDeferredFees); err != nil {
			return err
		}
	}
	return nil
}

type monthEndCheck struct {
	report   *Report
	stored   ports.MonthEndAudit
	postings ports.LedgerReader
	reader   *runs.Reader
}

// checkRuns checks the last run of each month. Months that are archived are left out.
func (c *monthEndCheck) checkRuns(ctx context.Context, p ident.Platform, kind ledger.Kind, rule Rule,
	check func(ctx context.Context, run, previous monthend.Run, current bool) ([]ledger.Posting, string, error)) error {
	all, err := c.stored.MonthEndRuns(ctx, p, kind)
	if err != nil {
		return err
	}
	for i, run := range all {
		previous := monthend.Run{Platform: p, Kind: kind, Month: run.Previous.Month, Number: run.Previous.Number}
		// A run that continues one that was repeated is out of date.
		current := !previous.Exists() || i > 0 && all[i-1].Ref() == run.Previous
		want, problem, err := check(ctx, run, previous, current)
		if fault.Is(err, fault.MonthArchived) {
			continue
		}
		if err != nil && !isOfStored(err) {
			return fmt.Errorf("check the run of %s on %s: %w", run.Month, p, err)
		}
		c.report.countChecked(rule)
		if err != nil {
			problem = fmt.Sprintf("its result cannot be computed again: %v", err)
		}
		if problem == "" {
			if problem, err = c.comparePostings(ctx, run, want); err != nil {
				return err
			}
		}
		if problem != "" {
			c.report.addFinding(rule, "run %d of %s on %s: %s", run.Number, run.Month, p, problem)
		}
	}
	return nil
}

// isOfStored reports whether an error comes from what is stored: a row that is missing or was changed. It must not keep
// the other rules from being checked.
func isOfStored(err error) bool {
	f, isFault := fault.As(err)
	return isFault && !f.Code.Temporary() || errors.Is(err, ports.ErrMonthEndMissing) || errors.Is(err, money.ErrInvalidRate) ||
		errors.Is(err, money.ErrOverflow)
}

// comparePostings returns how the postings in force differ from those that follow from the result.
func (c *monthEndCheck) comparePostings(ctx context.Context, run monthend.Run, want []ledger.Posting) (string, error) {
	var posted []ledger.Posting
	for _, id := range run.Postings {
		posting, found, err := c.postings.Posting(ctx, run.Platform, id)
		if err != nil {
			return "", err
		}
		if !found {
			return fmt.Sprintf("its posting %s is missing", id), nil
		}
		posted = append(posted, posting)
	}
	if !monthend.SameEntries(posted, want) {
		return "its postings are not those of its result", nil
	}
	return "", nil
}

func (c *monthEndCheck) checkExchangeResult(ctx context.Context, run, previous monthend.Run,
	current bool) ([]ledger.Posting, string, error) {
	stored, err := c.stored.ExchangeResult(ctx, run)
	if err != nil {
		return nil, "", err
	}
	kept, err := c.reader.RatesKept(ctx, stored)
	if err != nil {
		return nil, "", err
	}
	if !kept {
		return c.checkWithoutRates(ctx, run, previous, stored, current)
	}
	unrealised := books.Reverse
	if stored.Keep {
		unrealised = books.Keep
	}
	computed, err := c.reader.ExchangeResult(ctx, run, previous, stored.Functional, unrealised)
	if err != nil {
		return nil, "", err
	}
	postings, err := computed.Postings(run)
	if err != nil {
		return nil, "", err
	}
	if problem := compareResults(stored, computed); problem != "" || !current {
		return postings, problem, nil
	}
	problem, err := c.checkValuation(ctx, run, computed)
	return postings, problem, err
}

// checkWithoutRates checks the result of a month whose market rates were deleted: its quantities by the entries, and
// that the rest of it follows from them, the closing rates that are stored with it, and the result before it.
func (c *monthEndCheck) checkWithoutRates(ctx context.Context, run, previous monthend.Run, stored monthend.ExchangeResult,
	current bool) ([]ledger.Posting, string, error) {
	var before monthend.ExchangeResult
	if previous.Exists() {
		var err error
		if before, err = c.stored.ExchangeResult(ctx, previous); err != nil {
			return nil, "", err
		}
	}
	quantities, err := c.reader.Quantities(ctx, run, previous, stored.Functional, before)
	if err != nil {
		return nil, "", err
	}
	c.report.MonthsWithoutRates++
	postings, err := stored.Postings(run)
	if err != nil {
		return nil, "", err
	}
	problem, err := stored.Check(before, quantities)
	if err != nil || problem != "" || !current {
		return postings, problem, err
	}
	problem, err = c.checkValuation(ctx, run, stored)
	return postings, problem, err
}

// checkValuation returns how fx/valuation differs from what follows from a result.
func (c *monthEndCheck) checkValuation(ctx context.Context, run monthend.Run, result monthend.ExchangeResult) (string, error) {
	want, err := result.Valuation()
	if err != nil {
		return "", err
	}
	valuation := ledger.Account{Platform: run.Platform, Path: ledger.FXValuation, Currency: result.Functional}
	balance, err := c.postings.BalanceAt(ctx, valuation, ports.ByEffective, monthend.Last(run.Month))
	if err == nil && balance != want {
		return fmt.Sprintf("%s is %d %s, and by the value of the position less what was translated it must be %d", ledger.FXValuation, balance,
			result.Functional, want), nil
	}
	return "", err
}

// compareResults returns how a stored result differs from the computed one.
func compareResults(stored, computed monthend.ExchangeResult) string {
	switch {
	case !slices.Equal(stored.Lines, computed.Lines) || stored.Cash != computed.Cash:
		return fmt.Sprintf("the position is stored as %d %s and %v, and by the entries and kept rates it is %d and %v",
			stored.Cash, stored.Functional, stored.Lines, computed.Cash, computed.Lines)
	case !slices.EqualFunc(stored.Translations, computed.Translations, exchange.Translation.Equal) || stored.Translated != computed.Translated:
		return fmt.Sprintf("income, expense and own funds are stored as %v, and by the entries and kept rates they are %v", stored.Translations,
			computed.Translations)
	case !slices.Equal(stored.Realised, computed.Realised) || stored.Opening != computed.Opening:
		return fmt.Sprintf("the realised result is stored as %v, and by the entries it is %v", stored.Realised, computed.Realised)
	case !stored.Changes.Equal(computed.Changes):
		return fmt.Sprintf("the changes of the position are stored as %+v, and by the entries and kept rates they are %+v",
			stored.Changes, computed.Changes)
	}
	return ""
}

func (c *monthEndCheck) checkDeferredFees(ctx context.Context, run, previous monthend.Run, _ bool) ([]ledger.Posting, string, error) {
	var stored []monthend.InTransit
	deferred := false
	err := c.stored.PaymentsInTransit(ctx, run, func(l monthend.InTransit) error {
		stored, deferred = append(stored, l), deferred || l.Fee != 0
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	computed, _, err := c.reader.InTransit(ctx, run, previous)
	if err != nil {
		return nil, "", err
	}
	if !deferred { // by a run that has taken back what was deferred
		for i := range computed {
			computed[i].Fee = 0
		}
		computed = slices.DeleteFunc(computed, func(l monthend.InTransit) bool { return l.Amount == 0 })
		stored = slices.DeleteFunc(stored, func(l monthend.InTransit) bool { return l.Amount == 0 })
	}
	if !slices.Equal(stored, computed) {
		return nil, fmt.Sprintf("%d lines of payments in transit are stored, and by the entries there are others (%d)", len(stored),
			len(computed)), nil
	}
	fees, err := monthend.DeferredFees(computed)
	return monthend.FeePostings(run, fees), "", err
}
