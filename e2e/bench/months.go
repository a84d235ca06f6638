package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/ledger"
)

// months is what it takes to end a month, and what that does to posting.
type months struct {
	hold, close time.Duration
	lines       int       // of the trial balance
	usual       latency   // of a commit of one posting before
	meanwhile   latency   // while the month is held and closed
	free, ended []float64 // postings per second in short runs
}

// measureMonths compares posting to books with a closed month and without, and then
// holds and closes the month that everything was posted to.
func (b *bench) measureMonths(ctx context.Context, p *past) error {
	m := &b.results.months
	for _, t := range []tenant{p.free, p.ended} { // both have been posted to
		if err := p.post(ctx, p.payments(t, perCommit)); err != nil {
			return err
		}
	}
	c, err := dial(ctx, p.books.address)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := p.change(c, p.ended, "hold"); err != nil {
		return err
	}
	if _, err := p.change(c, p.ended, "close"); err != nil {
		return err
	}
	if err := p.takeTurns(ctx, m); err != nil {
		return err
	}
	return p.endMonth(ctx, c, m)
}

const (
	perCommit = 100
	turns     = 10
	turn      = 300 * time.Millisecond
)

// takeTurns posts to both in many short runs, and lets the one begin as often as the
// other, so that whatever else happens on the machine meets both.
func (p *past) takeTurns(ctx context.Context, m *months) error {
	type side struct {
		tenant
		rates *[]float64
	}
	order := []side{{p.free, &m.free}, {p.ended, &m.ended}}
	for range turns {
		for _, s := range order {
			begin, n := time.Now(), 0
			for ; time.Since(begin) < turn; n += perCommit {
				if err := p.post(ctx, p.payments(s.tenant, perCommit)); err != nil {
					return err
				}
			}
			*s.rates = append(*s.rates, float64(n)/time.Since(begin).Seconds())
		}
		slices.Reverse(order)
	}
	say("posting with no month closed: %s/s; with one closed: %s/s", spread(m.free), spread(m.ended))
	return nil
}

// spread is the median of rates, with the lowest and the highest.
func spread(rates []float64) string {
	return fmt.Sprintf("%s (%s to %s)", number(median(rates)), number(slices.Min(rates)), number(slices.Max(rates)))
}

// payments are postings of the present month.
func (p *past) payments(t tenant, n int) []ledger.Posting {
	now := time.Now()
	all := make([]ledger.Posting, n)
	for i := range all {
		all[i] = ledger.JITReceived(ledger.Header{ID: p.ids.New(now), Platform: t.id, Effective: now}, ledger.Rail("RTP"), dollars(100))
	}
	return all
}

// endMonth holds and closes the month with everything in it, while somebody goes on posting.
func (p *past) endMonth(ctx context.Context, c *client, m *months) error {
	poster, err := p.keepPosting(ctx)
	if err != nil {
		return err
	}
	err = rest(ctx, time.Second)
	m.usual = latencyOf(poster.so())
	if err == nil {
		m.hold, err = p.change(c, p.books, "hold")
	}
	if err == nil {
		m.close, err = p.change(c, p.books, "close")
	}
	m.meanwhile = latencyOf(poster.so())
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
	if err := c.call(p.books.target, "GET", "/ledger/periods/"+p.month.String(), nil, &closed); err != nil {
		return err
	}
	for _, t := range closed.Closing.TrialBalance.Totals {
		m.lines += t.Accounts
	}
	say("hold %s, close %s; posting meanwhile %s ms", lasting(m.hold), lasting(m.close), m.meanwhile)
	return nil
}

// change holds or closes the month of a platform.
func (p *past) change(c *client, t tenant, action string) (time.Duration, error) {
	begin := time.Now()
	err := c.call(t.target, "POST", "/ledger/periods/"+p.month.String()+"/"+action, nil, nil)
	return time.Since(begin), err
}

// poster posts one posting after the other, each in a commit of its own.
type poster struct {
	took  chan []time.Duration
	ask   chan struct{}
	ended chan error
}

func (p *past) keepPosting(ctx context.Context) (*poster, error) {
	if err := p.post(ctx, p.payments(p.books, 1)); err != nil {
		return nil, err
	}
	w := &poster{took: make(chan []time.Duration), ask: make(chan struct{}), ended: make(chan error, 1)}
	go func() {
		var took []time.Duration
		for {
			begin := time.Now()
			if err := p.post(ctx, p.payments(p.books, 1)); err != nil {
				w.ended <- err
				close(w.took)
				return
			}
			took = append(took, time.Since(begin))
			select {
			case _, on := <-w.ask:
				if !on {
					w.ended <- nil
					return
				}
				w.took <- slices.Clone(took)
				took = nil
			default:
			}
		}
	}()
	return w, nil
}

// so are the commits since the last time it was asked.
func (w *poster) so() []time.Duration {
	select {
	case w.ask <- struct{}{}:
		return <-w.took
	case took := <-w.took: // it has ended
		return took
	}
}

// stop returns what went wrong.
func (w *poster) stop() error {
	close(w.ask)
	return <-w.ended
}

func (r results) ending() section {
	m := r.months
	free, ended := median(m.free), median(m.ended)
	return section{
		title: "The end of a month",
		prose: []string{
			r.pastBooks() + " That month is held and closed while one client goes on posting to the same books, one posting a commit. " +
				fmt.Sprintf("Books with a closed month and books without took turns in %d short runs of commits of %d postings; the medians are compared.", turns, perCommit),
		},
		head: []string{"Figure", "Value"},
		rows: [][]string{
			{"`POST /ledger/periods/{month}/hold`", lasting(m.hold)},
			{"`POST /ledger/periods/{month}/close`", lasting(m.close)},
			{"Accounts in its trial balance", fmt.Sprint(m.lines)},
			{"A posting before, p50 / p95 / p99 ms, and the longest", m.usual.String() + ", " + millis(m.usual.worst)},
			{"A posting meanwhile, the same", m.meanwhile.String() + ", " + millis(m.meanwhile.worst)},
			{"Postings/s, no month closed: median (lowest to highest)", spread(m.free)},
			{"Postings/s, a month closed", spread(m.ended)},
			{"Closed to not closed, medians", fmt.Sprintf("%.2f", ended/free)},
		},
	}
}
