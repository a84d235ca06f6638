package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// posted compares what a kind of commit costs on small and on large books.
type posted struct {
	what         string
	small, large spent
}

// spent is what a commit took in each short run: the time until it was done, and
// processor time of the database.
type spent struct{ wall, processor []float64 } // µs

func (s spent) costs() [2]float64 { return [2]float64{median(s.wall), median(s.processor)} }

// times is how much more one commit takes on large books: the time, and processor time.
func (p posted) times() [2]float64 {
	small, large := p.small.costs(), p.large.costs()
	return [2]float64{large[0] / small[0], large[1] / small[1]}
}

// sort is a kind of commit: so many a turn. They are few, or the small books would not
// stay small.
type sort struct {
	what    string
	commits int
	post    func(*volume) []ledger.Posting
}

var sorts = []sort{
	{"One ramp", 60, func(v *volume) []ledger.Posting { return v.ramps(1) }},
	{"32 ramps", 6, func(v *volume) []ledger.Posting { return v.ramps(32) }},
	{"100 deposits", 6, (*volume).deposits},
}

const postingTurns = 12

// comparePosting lets the two take turns, each kind of commit after the other, and lets
// the one begin as often as the other.
func (b *bench) comparePosting(ctx context.Context, small, large *volume) error {
	if err := b.rig.meter.run(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	results := make([]posted, len(sorts))
	for turn := range postingTurns + 1 {
		for i, s := range sorts {
			results[i].what = s.what
			order := []struct {
				*volume
				*spent
			}{{small, &results[i].small}, {large, &results[i].large}}
			if turn%2 == 1 {
				slices.Reverse(order)
			}
			for _, side := range order {
				wall, processor, err := side.turn(ctx, s)
				if err != nil {
					return err
				}
				if turn > 0 { // the first is the warm-up
					side.wall, side.processor = append(side.wall, wall), append(side.processor, processor)
				}
			}
		}
	}
	for _, p := range results {
		say("%s: %.2f times the time and %.2f times the processor time of small books", p.what, p.times()[0], p.times()[1])
	}
	b.results.large.posting = results
	return nil
}

// turn is one short run: what a commit took, in µs.
func (v *volume) turn(ctx context.Context, s sort) (wall, processor float64, err error) {
	units := make([][]ledger.Posting, s.commits)
	for i := range units {
		units[i] = s.post(v)
	}
	before, err := workTime(v.backend)
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	for _, postings := range units {
		if err := v.store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.Post(ctx, postings) }); err != nil {
			return 0, 0, err
		}
	}
	took := time.Since(begin)
	after, err := workTime(v.backend)
	each := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) / float64(s.commits) }
	return each(took), each(after - before), err
}

// ramps are three postings each, with five entries.
func (v *volume) ramps(n int) (all []ledger.Posting) {
	bitcoin := money.Amount{Minor: 100_000, Currency: money.BTC}
	for range n {
		header := v.headers()
		all = append(all,
			ledger.JITReceived(header(), ledger.Rail("RTP"), dollars(10_050)),
			ledger.Converted(header(), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: dollars(10_050), Fees: 50, Received: bitcoin}),
			ledger.Delivered(header(), ledger.Chain("LAYER2"), bitcoin))
	}
	return all
}

// deposits are to accounts of customers, any of them.
func (v *volume) deposits() (all []ledger.Posting) {
	for len(all) < 100 {
		a := v.made.Accounts[v.rand.IntN(len(v.made.Accounts))]
		if a.Currency == money.USD && strings.HasPrefix(a.Path, "customers/") {
			all = append(all, ledger.Deposit(v.headers()(), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: a.Path, Amount: dollars(10_000)}))
		}
	}
	return all
}

// headers are those of the postings of one payment.
func (v *volume) headers() func() ledger.Header {
	payment := ident.NewTransaction(v.ids.New, time.Now())
	return func() ledger.Header {
		now := time.Now()
		return ledger.Header{ID: v.ids.New(now), Platform: v.id, Transaction: payment, Effective: now, Memo: ident.ShortCode(payment.UUID())}
	}
}

func (r results) postingLarge() section {
	l := r.large
	s := section{
		title: "Posting to large books",
		prose: []string{
			fmt.Sprintf("Books of %s entries and books of %s, each of one platform in a database of its own: %d months of ramps, payouts, deposits, transfers, fees, refunds and reversals, "+
				"recorded hour by hour and some of them effective days before or after, on %d accounts. They were written by `e2e/bench/history` through the ledger, at %s entries/s, "+
				"with checkpoints moved as it went; then they were vacuumed and analysed.",
				grouped(l.large.entries), grouped(l.small.entries), largeMonths, l.large.accounts, perSecond(int64(l.large.entries), l.large.took)),
			fmt.Sprintf("Commits of either took turns in %d short runs; the medians are compared, of the time of one commit and of the processor time of the database. A ramp is three postings "+
				"with five entries. What was posted for this is in the books too: in the end the small ones have %s entries.", postingTurns, grouped(l.small.after)),
		},
		head: []string{"One commit", "Small books", "Large books", "Large to small", "Goal"},
	}
	for _, p := range l.posting {
		small, large, times := p.small.costs(), p.large.costs(), p.times()
		goal := fmt.Sprintf("at most %.1f times: %s", goalLarge, met(times[0] <= goalLarge && times[1] <= goalLarge))
		s.rows = append(s.rows, []string{p.what, fmt.Sprintf("%.0f µs, %.0f µs of processor", small[0], small[1]), fmt.Sprintf("%.0f µs, %.0f µs of processor", large[0], large[1]),
			fmt.Sprintf("%.2f, %.2f of processor", times[0], times[1]), goal})
	}
	return s
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}
