package history

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"causeway/adapters/ids"
	"causeway/core/transaction"
	"causeway/ledger"
)

// entriesPerCommit is how many entries one commit has. More cost less each; but they all have
// one recorded time, and moments in between should not be rare.
const entriesPerCommit = 500

// commit is what one unit of work writes.
type commit struct {
	recordedAt time.Time
	postings   []ledger.Posting
	entries    int
	// endedTransactions are the payments that nothing more happens to.
	endedTransactions []transaction.Transaction
}

// writer thinks up what happens.
type writer struct {
	Options
	ids            *ids.Generator
	rand           *rand.Rand
	from           time.Time
	times          []time.Time
	accounts       []*accountBalance
	accountsByPath map[string]*accountBalance // by path
	entryCounts    map[ledger.Account]int

	timeIndex int // the moment that it has come to
	now       time.Time
	commit    commit            // at that moment
	scheduled [][]scheduledStep // what is still to happen to payments, by moments
	entries   int               // in all, as are the next
	postings  int
	payments  int
	commits   int
}

// scheduledStep is what will happen to a payment.
type scheduledStep struct {
	transaction.Transaction
	decide decideFunc
}

type decideFunc func(transaction.Transaction, time.Time) (transaction.Decision, error)

func newWriter(o Options) *writer {
	w := &writer{Options: o, ids: ids.New(), rand: rand.New(rand.NewPCG(o.Seed, 0)), accountsByPath: map[string]*accountBalance{}, entryCounts: map[ledger.Account]int{}}
	// Ten a month at least, however few entries there are.
	w.from, w.times = commitSchedule(o.Until, o.Months, max(o.Entries/entriesPerCommit, 10*(o.Months+1)))
	w.scheduled = make([][]scheduledStep, len(w.times))
	return w
}

// write hands over what happens at each moment.
func (w *writer) write(out func(commit) error) error {
	for i, now := range w.times {
		w.timeIndex, w.now, w.commit = i, now, commit{recordedAt: now}
		for _, d := range w.scheduled[i] {
			taken, err := w.apply(d.decide(d.Transaction, now))
			if err != nil {
				return err
			}
			if !taken {
				w.addEnded(d.Transaction)
			}
		}
		w.scheduled[i] = nil
		for w.entries < w.Entries*(i+1)/len(w.times) {
			if err := w.addActivity(); err != nil {
				return err
			}
		}
		if len(w.commit.postings) == 0 {
			continue
		}
		w.commits++
		if err := out(w.commit); err != nil {
			return err
		}
	}
	return nil
}

// apply writes down what was decided, unless that would be too many entries.
func (w *writer) apply(d transaction.Decision, err error) (taken bool, _ error) {
	if err != nil {
		return false, err
	}
	entries := 0
	for _, p := range d.Postings {
		entries += len(p.Entries)
	}
	if w.entries+entries > w.Entries {
		return false, nil
	}
	effective := w.randomEffective()
	for _, p := range d.Postings {
		p.Effective = effective
		w.commit.postings = append(w.commit.postings, p)
		w.updateBalances(p)
	}
	w.commit.entries += entries
	w.entries += entries
	w.postings += len(d.Postings)
	if t := d.Transaction; !t.ID.IsZero() && !w.scheduleNext(t) {
		w.addEnded(t)
	}
	return true, nil
}

// randomEffective is when something counts that is written down now: mostly when it happened,
// a moment ago. Partners tell of some things late, and of a few before their day.
func (w *writer) randomEffective() time.Time {
	at := w.now.Add(-w.randomDuration(3 * time.Second))
	switch n := w.rand.IntN(1000); {
	case n < 8:
		at = w.now.Add(-time.Hour - w.randomDuration(5*24*time.Hour))
	case n < 10:
		at = w.now.Add(time.Hour + w.randomDuration(2*24*time.Hour))
	}
	if at.Before(w.from) || at.After(w.Until) {
		return w.now
	}
	return at
}

func (w *writer) randomDuration(d time.Duration) time.Duration {
	return time.Duration(w.rand.Int64N(int64(d))).Truncate(time.Microsecond)
}

// updateBalances keeps in mind what accounts hold and how often they are posted to.
func (w *writer) updateBalances(p ledger.Posting) {
	for _, e := range p.Entries {
		w.entryCounts[ledger.Account{Platform: p.Platform, Path: e.Debit, Currency: e.Currency}]++
		w.entryCounts[ledger.Account{Platform: p.Platform, Path: e.Credit, Currency: e.Currency}]++
		if h := w.accountsByPath[e.Debit]; h != nil {
			h.minor -= e.Amount
		}
		if h := w.accountsByPath[e.Credit]; h != nil {
			h.minor += e.Amount
		}
	}
}

// scheduleNext says what happens next to a payment, and when; false for nothing. What would
// happen after the last moment does not: it is under way in the end.
func (w *writer) scheduleNext(t transaction.Transaction) bool {
	switch {
	case t.State.Refund == transaction.RefundPending:
		return w.schedule(t, time.Hour+w.randomDuration(36*time.Hour), func(t transaction.Transaction, now time.Time) (transaction.Decision, error) {
			return t.RefundPaid(t.SourceAccount, now)
		})
	case t.State.InTransit() && w.rand.IntN(1000) < 8:
		return w.schedule(t, w.randomDuration(24*time.Hour), func(t transaction.Transaction, now time.Time) (transaction.Decision, error) {
			return t.Refuse(transaction.CounterpartyPostFailed, now)
		})
	case t.State.InTransit():
		return w.schedule(t, w.randomDuration(2*time.Hour), transaction.Transaction.Deliver)
	case t.Type == transaction.Outgoing && t.State.IsDelivered() && w.rand.IntN(1000) < 4:
		return w.schedule(t, 24*time.Hour+w.randomDuration(48*time.Hour), transaction.Transaction.Return)
	}
	return false
}

// addEnded takes a payment down as it is in the end.
func (w *writer) addEnded(t transaction.Transaction) {
	w.payments++
	w.commit.endedTransactions = append(w.commit.endedTransactions, t)
}

func (w *writer) schedule(t transaction.Transaction, in time.Duration, happens decideFunc) bool {
	rest := w.times[w.timeIndex+1:]
	next, _ := slices.BinarySearchFunc(rest, w.now.Add(in), time.Time.Compare)
	if next == len(rest) {
		return false
	}
	at := w.timeIndex + 1 + next
	w.scheduled[at] = append(w.scheduled[at], scheduledStep{t, happens})
	return true
}

// result is what came of it.
func (w *writer) result() Result {
	m := Result{From: w.from, Until: w.Until, Entries: w.entries, Postings: w.postings, Payments: w.payments, Commits: w.commits}
	for a, n := range w.entryCounts {
		m.Accounts = append(m.Accounts, Account{a, n})
	}
	slices.SortFunc(m.Accounts, func(a, b Account) int { return cmp.Or(b.Entries-a.Entries, a.Compare(b.Account)) })
	return m
}
