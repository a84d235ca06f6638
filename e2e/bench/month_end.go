package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/ledger"
)

// monthEndResults is what it takes to end a month, and what that does to posting.
type monthEndResults struct {
	softClose, close       time.Duration
	trialBalanceLines      int       // of the trial balance
	latencyBefore          latency   // of a commit of one posting before
	latencyDuring          latency   // while the month is held and closed
	openRates, closedRates []float64 // postings per second in short runs
}

// measureMonthEnd compares posting to books with a closed month and without, and then
// holds and closes the month that everything was posted to.
func (b *bench) measureMonthEnd(ctx context.Context, p *closedPeriodEnv) error {
	m := &b.results.monthEnd
	for _, t := range []tenant{p.openTenant, p.closedTenant} { // both have been posted to
		if err := p.commit(ctx, p.newPostings(t, postingsPerCommit)); err != nil {
			return err
		}
	}
	c, err := dial(ctx, p.monthTenant.address)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := p.changePeriod(c, p.closedTenant, "soft-close"); err != nil {
		return err
	}
	if _, err := p.changePeriod(c, p.closedTenant, "close"); err != nil {
		return err
	}
	if err := p.compareRates(ctx, m); err != nil {
		return err
	}
	return p.closeMonth(ctx, c, m)
}

const (
	postingsPerCommit = 100
	rounds            = 10
	roundDuration     = 300 * time.Millisecond
)

// compareRates posts to both in many short runs, and lets the one begin as often as the
// other, so that whatever else happens on the machine meets both.
func (p *closedPeriodEnv) compareRates(ctx context.Context, m *monthEndResults) error {
	type side struct {
		tenant
		rates *[]float64
	}
	order := []side{{p.openTenant, &m.openRates}, {p.closedTenant, &m.closedRates}}
	for range rounds {
		for _, s := range order {
			begin, n := time.Now(), 0
			for ; time.Since(begin) < roundDuration; n += postingsPerCommit {
				if err := p.commit(ctx, p.newPostings(s.tenant, postingsPerCommit)); err != nil {
					return err
				}
			}
			*s.rates = append(*s.rates, float64(n)/time.Since(begin).Seconds())
		}
		slices.Reverse(order)
	}
	logf("posting with no month closed: %s/s; with one closed: %s/s", formatSpread(m.openRates), formatSpread(m.closedRates))
	return nil
}

// formatSpread is the median of rates, with the lowest and the highest.
func formatSpread(rates []float64) string {
	return fmt.Sprintf("%s (%s to %s)", formatNumber(median(rates)), formatNumber(slices.Min(rates)), formatNumber(slices.Max(rates)))
}

// newPostings are postings of the present month.
func (p *closedPeriodEnv) newPostings(t tenant, n int) []ledger.Posting {
	now := time.Now()
	all := make([]ledger.Posting, n)
	for i := range all {
		all[i] = ledger.JITReceived(ledger.Header{ID: p.ids.New(now), Platform: t.id, Effective: now}, ledger.Rail("RTP"), usd(100))
	}
	return all
}

// closeMonth holds and closes the month with everything in it, while somebody goes on posting.
func (p *closedPeriodEnv) closeMonth(ctx context.Context, c *client, m *monthEndResults) error {
	poster, err := p.startPosting(ctx)
	if err != nil {
		return err
	}
	err = sleep(ctx, time.Second)
	m.latencyBefore = latencyOf(poster.takeLatencies())
	if err == nil {
		m.softClose, err = p.changePeriod(c, p.monthTenant, "soft-close")
	}
	if err == nil {
		m.close, err = p.changePeriod(c, p.monthTenant, "close")
	}
	m.latencyDuring = latencyOf(poster.takeLatencies())
	if wrong := poster.stop(); err == nil {
		err = wrong
	}
	if err != nil {
		return err
	}
	var closed struct {
		Closing struct {
			TrialBalance struct{ Totals []struct{ Accounts int } }
		}
	}
	if err := c.call(p.monthTenant.target, "GET", "/ledger/periods/"+p.month.String(), nil, &closed); err != nil {
		return err
	}
	for _, t := range closed.Closing.TrialBalance.Totals {
		m.trialBalanceLines += t.Accounts
	}
	logf("hold %s, close %s; posting meanwhile %s ms", formatDuration(m.softClose), formatDuration(m.close), m.latencyDuring)
	return nil
}

// changePeriod holds or closes the month of a platform.
func (p *closedPeriodEnv) changePeriod(c *client, t tenant, action string) (time.Duration, error) {
	begin := time.Now()
	err := c.call(t.target, "POST", "/ledger/periods/"+p.month.String()+"/"+action, nil, nil)
	return time.Since(begin), err
}

// backgroundPoster posts one posting after the other, each in a commit of its own.
type backgroundPoster struct {
	latencies chan []time.Duration
	requests  chan struct{}
	done      chan error
}

func (p *closedPeriodEnv) startPosting(ctx context.Context) (*backgroundPoster, error) {
	if err := p.commit(ctx, p.newPostings(p.monthTenant, 1)); err != nil {
		return nil, err
	}
	w := &backgroundPoster{latencies: make(chan []time.Duration), requests: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		var took []time.Duration
		for {
			begin := time.Now()
			if err := p.commit(ctx, p.newPostings(p.monthTenant, 1)); err != nil {
				w.done <- err
				close(w.latencies)
				return
			}
			took = append(took, time.Since(begin))
			select {
			case _, on := <-w.requests:
				if !on {
					w.done <- nil
					return
				}
				w.latencies <- slices.Clone(took)
				took = nil
			default:
			}
		}
	}()
	return w, nil
}

// takeLatencies are the commits since the last time it was asked.
func (w *backgroundPoster) takeLatencies() []time.Duration {
	select {
	case w.requests <- struct{}{}:
		return <-w.latencies
	case took := <-w.latencies: // it has ended
		return took
	}
}

// stop returns what went wrong.
func (w *backgroundPoster) stop() error {
	close(w.requests)
	return <-w.done
}

func (r results) monthEndSection() section {
	m := r.monthEnd
	free, ended := median(m.openRates), median(m.closedRates)
	return section{
		title: "The end of a month",
		prose: []string{
			r.closedPeriodSentence() + " That month is held and closed while one client goes on posting to the same books, one posting a commit. " +
				fmt.Sprintf("Books with a closed month and books without took turns in %d short runs of commits of %d postings; the medians are compared.", rounds, postingsPerCommit),
		},
		columns: []string{"Figure", "Value"},
		rows: [][]string{
			{"`POST /ledger/periods/{month}/soft-close`", formatDuration(m.softClose)},
			{"`POST /ledger/periods/{month}/close`", formatDuration(m.close)},
			{"Accounts in its trial balance", fmt.Sprint(m.trialBalanceLines)},
			{"A posting before, p50 / p95 / p99 ms, and the longest", m.latencyBefore.String() + ", " + formatMillis(m.latencyBefore.longest)},
			{"A posting meanwhile, the same", m.latencyDuring.String() + ", " + formatMillis(m.latencyDuring.longest)},
			{"Postings/s, no month closed: median (lowest to highest)", formatSpread(m.openRates)},
			{"Postings/s, a month closed", formatSpread(m.closedRates)},
			{"Closed to not closed, medians", fmt.Sprintf("%.2f", ended/free)},
		},
	}
}
