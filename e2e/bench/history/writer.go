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

// entriesPerCommit is the number of entries in one commit. More would be faster, but all have
// the same recorded time.
const entriesPerCommit = 500

// commit is what one unit of work writes.
type commit struct {
	recordedAt time.Time
	postings   []ledger.Posting
	entries    int
	// endedTransactions are the payments without further steps.
	endedTransactions []transaction.Transaction
}

// writer creates the activity of the platform.
type writer struct {
	Options
	ids            *ids.Generator
	rand           *rand.Rand
	from           time.Time
	times          []time.Time
	accounts       []*accountBalance
	accountsByPath map[string]*accountBalance
	entryCounts    map[ledger.Account]int

	timeIndex int // index of now in times
	now       time.Time
	commit    commit            // at that time
	scheduled [][]scheduledStep // later steps of payments, by index of times
	entries   int               // total numbers
	postings  int
	payments  int
	commits   int
}

// scheduledStep is a later step of a payment.
type scheduledStep struct {
	transaction.Transaction
	decide decideFunc
}

type decideFunc func(transaction.Transaction, time.Time) (transaction.Decision, error)

func newWriter(o Options) *writer {
	w := &writer{Options: o, ids: ids.New(), rand: rand.New(rand.NewPCG(o.Seed, 0)), accountsByPath: map[string]*accountBalance{}, entryCounts: map[ledger.Account]int{}}
	// At least ten a month, however few entries there are.
	w.from, w.times = commitSchedule(o.Until, o.Months, max(o.Entries/entriesPerCommit, 10*(o.Months+1)))
	w.scheduled = make([][]scheduledStep, len(w.times))
	return w
}

// write calls out with each commit.
func (w *writer) write(out func(commit) error) error {
	for i, now := range w.times {
		w.timeIndex, w.now, w.commit = i, now, commit{recordedAt: now}
		for _, d := range w.scheduled[i] {
			applied, err := w.apply(d.decide(d.Transaction, now))
			if err != nil {
				return err
			}
			if !applied {
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

// apply adds a decision to the commit, unless that is too many entries.
func (w *writer) apply(d transaction.Decision, err error) (applied bool, _ error) {
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

// randomEffective returns the effective time of a posting that is recorded now: mostly seconds
// before, sometimes days before, rarely after.
func (w *writer) randomEffective() time.Time {
	effective := w.now.Add(-w.randomDuration(3 * time.Second))
	switch n := w.rand.IntN(1000); {
	case n < 8:
		effective = w.now.Add(-time.Hour - w.randomDuration(5*24*time.Hour))
	case n < 10:
		effective = w.now.Add(time.Hour + w.randomDuration(2*24*time.Hour))
	}
	if effective.Before(w.from) || effective.After(w.Until) {
		return w.now
	}
	return effective
}

func (w *writer) randomDuration(d time.Duration) time.Duration {
	return time.Duration(w.rand.Int64N(int64(d))).Truncate(time.Microsecond)
}

// updateBalances counts the entries and updates the balances of accounts.
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

// scheduleNext schedules the next step of a payment, and reports whether there is one. A step
// after the last time is not done: the payment is unfinished at the end.
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

// addEnded records a payment in its final state.
func (w *writer) addEnded(t transaction.Transaction) {
	w.payments++
	w.commit.endedTransactions = append(w.commit.endedTransactions, t)
}

func (w *writer) schedule(t transaction.Transaction, delay time.Duration, decide decideFunc) bool {
	rest := w.times[w.timeIndex+1:]
	next, _ := slices.BinarySearchFunc(rest, w.now.Add(delay), time.Time.Compare)
	if next == len(rest) {
		return false
	}
	index := w.timeIndex + 1 + next
	w.scheduled[index] = append(w.scheduled[index], scheduledStep{t, decide})
	return true
}

// result returns what was written.
func (w *writer) result() Result {
	result := Result{From: w.from, Until: w.Until, Entries: w.entries, Postings: w.postings, Payments: w.payments, Commits: w.commits}
	for a, n := range w.entryCounts {
		result.Accounts = append(result.Accounts, Account{a, n})
	}
	slices.SortFunc(result.Accounts, func(a, b Account) int { return cmp.Or(b.Entries-a.Entries, a.Compare(b.Account)) })
	return result
}
