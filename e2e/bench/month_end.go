package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// measureMonthEnd compares postings with and without a closed month, and then closes the
// month that has all postings.
func (p *closedPeriodEnv) measureMonthEnd(ctx context.Context) error {
	for _, t := range []tenant{p.openTenant, p.closedTenant} {
		if err := p.commitNew(ctx, t, 100); err != nil {
			return err
		}
	}
	for _, action := range []string{"soft-close", "close"} {
		if _, err := p.changePeriod(ctx, p.closedTenant, action); err != nil {
			return err
		}
	}
	rate := func(t tenant) func() (float64, error) {
		return func() (float64, error) {
			began, n := time.Now(), 0
			for ; time.Since(began) < 300*time.Millisecond; n += 100 {
				if err := p.commitNew(ctx, t, 100); err != nil {
					return 0, err
				}
			}
			return float64(n) / time.Since(began).Seconds(), nil
		}
	}
	rates, err := alternate(10, rate(p.openTenant), rate(p.closedTenant))
	if err != nil {
		return err
	}
	if err := p.closeMonth(ctx); err != nil {
		return err
	}
	p.report.add(monthEnd, "Postings/s, no month closed", formatSpread(rates[0]))
	p.report.add(monthEnd, "Postings/s, a month closed", formatSpread(rates[1]))
	p.report.add(monthEnd, "Closed to not closed, medians", fmt.Sprintf("%.2f", median(rates[1])/median(rates[0])))
	return nil
}

// closeMonth closes the month while postings are made one by one.
func (p *closedPeriodEnv) closeMonth(ctx context.Context) error {
	if err := p.commitNew(ctx, p.monthTenant, 1); err != nil { // warm-up
		return err
	}
	var mu sync.Mutex
	var durations []time.Duration
	take := func() latency {
		mu.Lock()
		defer mu.Unlock()
		l := latencyOf(durations)
		durations = nil
		return l
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			began := time.Now()
			if err := p.commitNew(ctx, p.monthTenant, 1); err != nil {
				ended <- err
				return
			}
			mu.Lock()
			durations = append(durations, time.Since(began))
			mu.Unlock()
		}
	}()
	err := sleep(ctx, time.Second)
	before := take()
	var took [2]time.Duration
	for i, action := range []string{"soft-close", "close"} {
		if err == nil {
			took[i], err = p.changePeriod(ctx, p.monthTenant, action)
		}
	}
	during := take()
	close(stop)
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	p.report.add(monthEnd, "`POST /ledger/periods/{month}/soft-close`", took[0])
	p.report.add(monthEnd, "`POST /ledger/periods/{month}/close`", took[1])
	p.report.add(monthEnd, "Postings in the ledger, all of that month", len(p.postingIDs))
	p.report.add(monthEnd, "One posting before, "+latencyColumn+" and maximum", before.String()+", "+formatMillis(before.max))
	p.report.add(monthEnd, "One posting meanwhile", during.String()+", "+formatMillis(during.max))
	logf("soft-close %s, close %s; postings meanwhile %s ms", formatDuration(took[0]), formatDuration(took[1]), during)
	return nil
}

func (p *closedPeriodEnv) changePeriod(ctx context.Context, t tenant, action string) (time.Duration, error) {
	began := time.Now()
	err := t.api.Call(ctx, "POST", "/ledger/periods/"+p.month.String()+"/"+action, nil, nil)
	return time.Since(began), err
}
