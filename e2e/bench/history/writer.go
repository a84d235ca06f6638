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

// perCommit is how many entries one commit has. More cost less each; but they all have
// one recorded time, and moments in between should not be rare.
const perCommit = 500

// commit is what one unit of work writes.
type commit struct {
	at       time.Time
	postings []ledger.Posting
	entries  int
	// ended are the payments that nothing more happens to.
	ended []transaction.Transaction
}

// writer thinks up what happens.
type writer struct {
	Options
	ids      *ids.Generator
	rand     *rand.Rand
	from     time.Time
	moments  []time.Time
	holdings []*holding
	held     map[string]*holding // by path
	counts   map[ledger.Account]int

	nth      int // the moment that it has come to
	now      time.Time
	commit   commit  // at that moment
	due      [][]due // what is still to happen to payments, by moments
	entries  int     // in all, as are the next
	postings int
	payments int
	commits  int
}

// due is what will happen to a payment.
type due struct {
	transaction.Transaction
	happens happening
}

type happening func(transaction.Transaction, time.Time) (transaction.Decision, error)

func newWriter(o Options) *writer {
	w := &writer{Options: o, ids: ids.New(), rand: rand.New(rand.NewPCG(o.Seed, 0)), held: map[string]*holding{}, counts: map[ledger.Account]int{}}
	// Ten a month at least, however few entries there are.
	w.from, w.moments = calendar(o.Until, o.Months, max(o.Entries/perCommit, 10*(o.Months+1)))
	w.due = make([][]due, len(w.moments))
	return w
}

// write hands over what happens at each moment.
func (w *writer) write(out func(commit) error) error {
	for i, now := range w.moments {
		w.nth, w.now, w.commit = i, now, commit{at: now}
		for _, d := range w.due[i] {
			taken, err := w.take(d.happens(d.Transaction, now))
			if err != nil {
				return err
			}
			if !taken {
				w.end(d.Transaction)
			}
		}
		w.due[i] = nil
		for w.entries < w.Entries*(i+1)/len(w.moments) {
			if err := w.begin(); err != nil {
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

// take writes down what was decided, unless that would be too many entries.
func (w *writer) take(d transaction.Decision, err error) (taken bool, _ error) {
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
	effective := w.effective()
	for _, p := range d.Postings {
		p.Effective = effective
		w.commit.postings = append(w.commit.postings, p)
		w.move(p)
	}
	w.commit.entries += entries
	w.entries += entries
	w.postings += len(d.Postings)
	if t := d.Transaction; !t.ID.IsZero() && !w.goesOn(t) {
		w.end(t)
	}
	return true, nil
}

// effective is when something counts that is written down now: mostly when it happened,
// a moment ago. Partners tell of some things late, and of a few before their day.
func (w *writer) effective() time.Time {
	at := w.now.Add(-w.upTo(3 * time.Second))
	switch n := w.rand.IntN(1000); {
	case n < 8:
		at = w.now.Add(-time.Hour - w.upTo(5*24*time.Hour))
	case n < 10:
		at = w.now.Add(time.Hour + w.upTo(2*24*time.Hour))
	}
	if at.Before(w.from) || at.After(w.Until) {
		return w.now
	}
	return at
}

func (w *writer) upTo(d time.Duration) time.Duration {
	return time.Duration(w.rand.Int64N(int64(d))).Truncate(time.Microsecond)
}

// move keeps in mind what accounts hold and how often they are posted to.
func (w *writer) move(p ledger.Posting) {
	for _, e := range p.Entries {
		w.counts[ledger.Account{Platform: p.Platform, Path: e.Debit, Currency: e.Currency}]++
		w.counts[ledger.Account{Platform: p.Platform, Path: e.Credit, Currency: e.Currency}]++
		if h := w.held[e.Debit]; h != nil {
			h.minor -= e.Amount
		}
		if h := w.held[e.Credit]; h != nil {
			h.minor += e.Amount
		}
	}
}

// goesOn says what happens next to a payment, and when; false for nothing. What would
// happen after the last moment does not: it is under way in the end.
func (w *writer) goesOn(t transaction.Transaction) bool {
	switch {
	case t.State.Refund == transaction.RefundPending:
		return w.later(t, time.Hour+w.upTo(36*time.Hour), func(t transaction.Transaction, now time.Time) (transaction.Decision, error) {
			return t.RefundPaid(t.SourceAccount, now)
		})
	case t.State.InTransit() && w.rand.IntN(1000) < 8:
		return w.later(t, w.upTo(24*time.Hour), func(t transaction.Transaction, now time.Time) (transaction.Decision, error) {
			return t.Refuse(transaction.CounterpartyPostFailed, now)
		})
	case t.State.InTransit():
		return w.later(t, w.upTo(2*time.Hour), transaction.Transaction.Deliver)
	case t.Type == transaction.Outgoing && t.State.IsDelivered() && w.rand.IntN(1000) < 4:
		return w.later(t, 24*time.Hour+w.upTo(48*time.Hour), transaction.Transaction.Return)
	}
	return false
}

// end takes a payment down as it is in the end.
func (w *writer) end(t transaction.Transaction) {
	w.payments++
	w.commit.ended = append(w.commit.ended, t)
}

func (w *writer) later(t transaction.Transaction, in time.Duration, happens happening) bool {
	rest := w.moments[w.nth+1:]
	next, _ := slices.BinarySearchFunc(rest, w.now.Add(in), time.Time.Compare)
	if next == len(rest) {
		return false
	}
	at := w.nth + 1 + next
	w.due[at] = append(w.due[at], due{t, happens})
	return true
}

// made is what came of it.
func (w *writer) made() Made {
	m := Made{From: w.from, Until: w.Until, Entries: w.entries, Postings: w.postings, Payments: w.payments, Commits: w.commits}
	for a, n := range w.counts {
		m.Accounts = append(m.Accounts, Account{a, n})
	}
	slices.SortFunc(m.Accounts, func(a, b Account) int { return cmp.Or(b.Entries-a.Entries, a.Compare(b.Account)) })
	return m
}
