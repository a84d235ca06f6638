package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// financeResults are the results about what finance and auditors use.
type financeResults struct {
	exportResults    exportResults
	proofResults     proofResults
	monthEnd         monthEndResults
	reconciliations  []reconciliationResult
	statementResults statementResults
	largeLedger      largeLedgerResults
	peakBeforeReset  int64 // memory of the service before it was last forgotten
}

// measureFinance measures what finance and auditors use. A run that is about the load
// alone leaves it out.
func (b *bench) measureFinance(ctx context.Context) error {
	if b.part == "" && b.partial() {
		return nil
	}
	if b.includesPart("exports") {
		if err := b.measureExports(ctx); err != nil {
			return err
		}
	}
	if b.needsClosedPeriods() {
		if err := b.measureLastMonth(ctx); err != nil {
			return err
		}
	}
	if b.includesPart("books") {
		return b.measureLedgerSizes(ctx)
	}
	return nil
}

func (b *bench) measureLastMonth(ctx context.Context) error {
	logf("making the books of a month that is over, for statements of %d lines", b.statementLines)
	begin := time.Now()
	p, err := b.createClosedPeriodEnv(ctx)
	if err != nil {
		return err
	}
	logf("%d postings in %s", len(p.postingIDs), formatDuration(time.Since(begin)))
	return errors.Join(b.measureClosedPeriods(ctx, p), p.stop())
}

// measureClosedPeriods measures what needs the books of a month that is over.
func (b *bench) measureClosedPeriods(ctx context.Context, p *closedPeriodEnv) error {
	if err := b.env.meter.analyzeDatabase(ctx, closedPeriodDatabase); err != nil {
		return err
	}
	if err := b.measureSealing(ctx, p); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context, *closedPeriodEnv) error
	}{{"proof", b.measureProof}, {"reconciliation", b.measureReconciliation}, {"statements", b.measureStatements}, {"months", b.measureMonthEnd}} {
		if !b.includesPart(part.name) {
			continue
		}
		if err := part.measure(ctx, p); err != nil {
			return fmt.Errorf("%s: %w; %s", part.name, err, p.serviceLog())
		}
	}
	return nil
}

// financeSections are the sections about all that was measured of it.
func (r results) financeSections() (all []section) {
	for _, s := range []struct {
		measured bool
		of       func() section
	}{
		{len(r.exportResults.files) > 0, r.exportsSection}, {r.proofResults.proofCount > 0, r.proofSection}, {r.finalChecks.ledgerCheck.duration > 0, r.ledgerCheckSection},
		{len(r.monthEnd.openRates) > 0, r.monthEndSection}, {len(r.reconciliations) > 0, r.reconciliationSection}, {r.statementResults.movements > 0, r.statementsSection},
		{len(r.largeLedger.postingCosts) > 0, r.largePostingSection}, {len(r.largeLedger.queries) > 0, r.largeQueriesSection}, {len(r.largeLedger.trialBalances) > 0, r.largeTrialBalancesSection},
		{len(r.largeLedger.tableSizes) > 0, r.largeSizesSection},
	} {
		if s.measured {
			all = append(all, s.of())
		}
	}
	return all
}

// formatDuration writes how long something took, with three digits that mean something.
func formatDuration(d time.Duration) string {
	if d < time.Second {
		return formatMillis(d) + " ms"
	}
	return fmt.Sprintf("%.*f s", max(0, 2-int(math.Log10(d.Seconds()))), d.Seconds())
}

// formatRate is a rate, in three digits that mean something.
func formatRate(n int64, took time.Duration) string {
	rate := float64(n) / took.Seconds()
	step := math.Pow10(max(0, int(math.Log10(rate))-2))
	return formatNumber(math.Round(rate/step) * step)
}
