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

// postingComparison compares what a kind of commit costs on small and on large books.
type postingComparison struct {
	name         string
	small, large commitTimes
}

// commitTimes is what a commit took in each short run: the time until it was done, and
// processor time of the database.
type commitTimes struct{ wall, cpu []float64 } // µs

func (s commitTimes) medians() [2]float64 { return [2]float64{median(s.wall), median(s.cpu)} }

// ratios is how much more one commit takes on large books: the time, and processor time.
func (p postingComparison) ratios() [2]float64 {
	small, large := p.small.medians(), p.large.medians()
	return [2]float64{large[0] / small[0], large[1] / small[1]}
}

// commitKind is a kind of commit: so many a turn. They are few, or the small books would not
// stay small.
type commitKind struct {
	name        string
	commits     int
	newPostings func(*ledgerFixture) []ledger.Posting
}

var commitKinds = []commitKind{
	{"One ramp", 60, func(v *ledgerFixture) []ledger.Posting { return v.rampPostings(1) }},
	{"32 ramps", 6, func(v *ledgerFixture) []ledger.Posting { return v.rampPostings(32) }},
	{"100 deposits", 6, (*ledgerFixture).depositPostings},
}

const postingRounds = 12

// comparePosting lets the two take turns, each kind of commit after the other, and lets
// the one begin as often as the other.
func (b *bench) comparePosting(ctx context.Context, small, large *ledgerFixture) error {
	if err := b.env.meter.exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	results := make([]postingComparison, len(commitKinds))
	for turn := range postingRounds + 1 {
		for i, s := range commitKinds {
			results[i].name = s.name
			order := []struct {
				*ledgerFixture
				*commitTimes
			}{{small, &results[i].small}, {large, &results[i].large}}
			if turn%2 == 1 {
				slices.Reverse(order)
			}
			for _, side := range order {
				wall, processor, err := side.runCommits(ctx, s)
				if err != nil {
					return err
				}
				if turn > 0 { // the first is the warm-up
					side.wall, side.cpu = append(side.wall, wall), append(side.cpu, processor)
				}
			}
		}
	}
	for _, p := range results {
		logf("%s: %.2f times the time and %.2f times the processor time of small books", p.name, p.ratios()[0], p.ratios()[1])
	}
	b.results.largeLedger.postingCosts = results
	return nil
}

// runCommits is one short run: what a commit took, in µs.
func (v *ledgerFixture) runCommits(ctx context.Context, s commitKind) (wall, processor float64, err error) {
	units := make([][]ledger.Posting, s.commits)
	for i := range units {
		units[i] = s.newPostings(v)
	}
	before, err := preciseCPUTime(v.backendPID)
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
	after, err := preciseCPUTime(v.backendPID)
	each := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) / float64(s.commits) }
	return each(took), each(after - before), err
}

// rampPostings are three postings each, with five entries.
func (v *ledgerFixture) rampPostings(n int) (all []ledger.Posting) {
	bitcoin := money.Amount{Minor: 100_000, Currency: money.BTC}
	for range n {
		header := v.newHeaderFunc()
		all = append(all,
			ledger.JITReceived(header(), ledger.Rail("RTP"), usd(10_050)),
			ledger.Converted(header(), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10_050), Fees: 50, Received: bitcoin}),
			ledger.Delivered(header(), ledger.Chain("LAYER2"), bitcoin))
	}
	return all
}

// depositPostings are to accounts of customers, any of them.
func (v *ledgerFixture) depositPostings() (all []ledger.Posting) {
	for len(all) < 100 {
		a := v.content.Accounts[v.rand.IntN(len(v.content.Accounts))]
		if a.Currency == money.USD && strings.HasPrefix(a.Path, "customers/") {
			all = append(all, ledger.Deposit(v.newHeaderFunc()(), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: a.Path, Amount: usd(10_000)}))
		}
	}
	return all
}

// newHeaderFunc are those of the postings of one payment.
func (v *ledgerFixture) newHeaderFunc() func() ledger.Header {
	payment := ident.NewTransaction(v.ids.New, time.Now())
	return func() ledger.Header {
		now := time.Now()
		return ledger.Header{ID: v.ids.New(now), Platform: v.id, Transaction: payment, Effective: now, Memo: ident.ShortCode(payment.UUID())}
	}
}

func (r results) largePostingSection() section {
	l := r.largeLedger
	s := section{
		title: "Posting to large books",
		prose: []string{
			fmt.Sprintf("Books of %s entries and books of %s, each of one platform in a database of its own: %d months of ramps, payouts, deposits, transfers, fees, refunds and reversals, "+
				"recorded hour by hour and some of them effective days before or after, on %d accounts. They were written by `e2e/bench/history` through the ledger, at %s entries/s, "+
				"with checkpoints moved as it went; then they were vacuumed and analysed.",
				formatThousands(l.large.entries), formatThousands(l.small.entries), largeMonths, l.large.accounts, formatRate(int64(l.large.entries), l.large.duration)),
			fmt.Sprintf("Commits of either took turns in %d short runs; the medians are compared, of the time of one commit and of the processor time of the database. A ramp is three postings "+
				"with five entries. What was posted for this is in the books too: in the end the small ones have %s entries.", postingRounds, formatThousands(l.small.entriesAfter)),
		},
		columns: []string{"One commit", "Small books", "Large books", "Large to small", "Goal"},
	}
	for _, p := range l.postingCosts {
		small, large, times := p.small.medians(), p.large.medians(), p.ratios()
		goal := fmt.Sprintf("at most %.1f times: %s", goalLargeLedger, metOrMissed(times[0] <= goalLargeLedger && times[1] <= goalLargeLedger))
		s.rows = append(s.rows, []string{p.name, fmt.Sprintf("%.0f µs, %.0f µs of processor", small[0], small[1]), fmt.Sprintf("%.0f µs, %.0f µs of processor", large[0], large[1]),
			fmt.Sprintf("%.2f, %.2f of processor", times[0], times[1]), goal})
	}
	return s
}

// formatThousands writes a number with its thousands apart.
func formatThousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}
