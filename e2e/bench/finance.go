package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// financed are the results about what finance and auditors use.
type financed struct {
	exporting  exporting
	proof      proof
	months     months
	reconciled []reconciled
	stated     stated
	large      large
	largest    int64 // memory of the service before it was last forgotten
}

// measureFinance measures what finance and auditors use. A run that is about the load
// alone leaves it out.
func (b *bench) measureFinance(ctx context.Context) error {
	if b.only == "" && b.partial() {
		return nil
	}
	if b.wants("exports") {
		if err := b.measureExports(ctx); err != nil {
			return err
		}
	}
	if b.needsPast() {
		if err := b.measureLastMonth(ctx); err != nil {
			return err
		}
	}
	if b.wants("books") {
		return b.measureBooks(ctx)
	}
	return nil
}

func (b *bench) measureLastMonth(ctx context.Context) error {
	say("making the books of a month that is over, for statements of %d lines", b.lines)
	begin := time.Now()
	p, err := b.makePast(ctx)
	if err != nil {
		return err
	}
	say("%d postings in %s", len(p.made), lasting(time.Since(begin)))
	return errors.Join(b.measurePast(ctx, p), p.lower())
}

// measurePast measures what needs the books of a month that is over.
func (b *bench) measurePast(ctx context.Context, p *past) error {
	if err := b.rig.meter.analyzeIn(ctx, pastDatabase); err != nil {
		return err
	}
	if err := b.measureSealing(ctx, p); err != nil {
		return err
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context, *past) error
	}{{"proof", b.measureProof}, {"reconciliation", b.measureReconciling}, {"statements", b.measureStatements}, {"months", b.measureMonths}} {
		if !b.wants(part.name) {
			continue
		}
		if err := part.measure(ctx, p); err != nil {
			return fmt.Errorf("%s: %w; %s", part.name, err, p.words())
		}
	}
	return nil
}

// financial are the sections about all that was measured of it.
func (r results) financial() (all []section) {
	for _, s := range []struct {
		measured bool
		of       func() section
	}{
		{len(r.exporting.files) > 0, r.exports}, {r.proof.proved > 0, r.proving}, {r.closing.check.took > 0, r.checking},
		{len(r.months.free) > 0, r.ending}, {len(r.reconciled) > 0, r.reconciling}, {r.stated.movements > 0, r.stating},
		{len(r.large.posting) > 0, r.postingLarge}, {len(r.large.asked) > 0, r.askingLarge}, {len(r.large.trials) > 0, r.trialsOfLarge},
		{len(r.large.sizes) > 0, r.sizeOfLarge},
	} {
		if s.measured {
			all = append(all, s.of())
		}
	}
	return all
}

// lasting writes how long something took, with three digits that mean something.
func lasting(d time.Duration) string {
	if d < time.Second {
		return millis(d) + " ms"
	}
	return fmt.Sprintf("%.*f s", max(0, 2-int(math.Log10(d.Seconds()))), d.Seconds())
}

// perSecond is a rate, in three digits that mean something.
func perSecond(n int64, took time.Duration) string {
	rate := float64(n) / took.Seconds()
	step := math.Pow10(max(0, int(math.Log10(rate))-2))
	return number(math.Round(rate/step) * step)
}
