// Package history writes the ledger of a platform that has been in use for months, with any
// number of entries: deposits, withdrawals, payments between currencies, fees, refunds,
// returns and postings with another effective time. The benchmark measures a large ledger
// with it.
//
// All postings are decided by the rules of core and written in ordinary units of work with
// every constraint in place. Only the clock is not the real one.
package history

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Options say what to write.
type Options struct {
	URL      string         // of a migrated database
	Platform ident.Platform // its ledger is empty
	Entries  int            // the exact number
	Months   int            // whole months before the current one
	Until    time.Time      // the last time; zero is now
	Seed     uint64         // decides everything but ids and, if Until is zero, the time
}

// The limits of Options.
const (
	MinEntries = 1_000
	MaxEntries = 1_000_000_000
	MaxMonths  = 120
)

// Result is what was written.
type Result struct {
	From, Until                 time.Time
	Entries, Postings, Payments int
	Accounts                    []Account // with entries, the busiest first
	Duration                    time.Duration
}

// Account is an account with the number of its entries.
type Account struct {
	ledger.Account
	Entries int
}

// Validate checks the limits.
func (o Options) Validate() error {
	switch {
	case o.Entries < MinEntries || o.Entries > MaxEntries:
		return fmt.Errorf("entries must be from %d to %d, not %d", MinEntries, MaxEntries, o.Entries)
	case o.Months < 1 || o.Months > MaxMonths:
		return fmt.Errorf("months must be from 1 to %d, not %d", MaxMonths, o.Months)
	}
	return nil
}

const (
	// entriesPerCommit is the number of entries in one commit. More would be faster, but all
	// have the same recorded time.
	entriesPerCommit = 500
	// postingsPerSnapshot is how many postings there are between two updates of the balance
	// snapshots, about as many as in a running service.
	postingsPerSnapshot = 1_000
)

// Write writes the postings. If it fails, those written before remain.
func Write(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	if o.Until.IsZero() {
		o.Until = began
	}
	o.Until = o.Until.UTC().Truncate(time.Millisecond)
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	from := period.MonthOf(o.Until).Start().AddDate(0, -o.Months, 0)
	// At least ten commits a month, however few entries there are.
	commits := max(o.Entries/entriesPerCommit, 10*(o.Months+1))
	w := &writer{Options: o, from: from, now: from, ids: ids.New(), rand: rand.New(rand.NewPCG(o.Seed, 0)), balances: map[string]int64{},
		entryCounts: map[ledger.Account]int{}, scheduled: make([][]scheduledStep, commits)}
	db, err := postgres.Open(ctx, postgres.Options{URL: o.URL, AllPlatforms: true, MaxConnections: 4, Clock: w, IDs: w.ids})
	if err != nil {
		return Result{}, err
	}
	defer db.Close()
	if err := w.createCustomers(ctx, db); err != nil {
		return Result{}, err
	}
	sinceSnapshot := 0
	for i := range commits {
		if err := w.writeCommit(ctx, db, i); err != nil {
			return Result{}, err
		}
		if sinceSnapshot += len(w.newPostings); sinceSnapshot >= postingsPerSnapshot || i == commits-1 {
			sinceSnapshot = 0
			if err := db.AdvanceBalanceSnapshots(ctx); err != nil {
				return Result{}, err
			}
		}
	}
	result := Result{From: from, Until: o.Until, Entries: w.entries, Postings: w.postings, Payments: w.payments, Duration: time.Since(began)}
	for a, n := range w.entryCounts {
		result.Accounts = append(result.Accounts, Account{a, n})
	}
	slices.SortFunc(result.Accounts, func(a, b Account) int { return cmp.Or(b.Entries-a.Entries, a.Compare(b.Account)) })
	return result, nil
}

// writer creates the activity of the platform.
type writer struct {
	Options
	ids         *ids.Generator
	rand        *rand.Rand
	from, now   time.Time
	accounts    []account.Internal
	balances    map[string]int64 // by path
	entryCounts map[ledger.Account]int

	// The commit that is created, and the later steps of payments by the index of their commit.
	index             int
	newPostings       []ledger.Posting
	endedTransactions []transaction.Transaction
	scheduled         [][]scheduledStep

	entries, postings, payments int // total numbers
}

// scheduledStep is a later step of a payment.
type scheduledStep struct {
	transaction.Transaction
	decide func(transaction.Transaction, time.Time) (transaction.Decision, error)
}

// Now returns the time of the current commit: the writer is the clock of the ledger.
func (w *writer) Now() time.Time { return w.now }

// customerCount is the number of customers. Each has an account in every currency.
const customerCount = 300

// createCustomers creates the customers of the platform with their accounts. The ledger of the
// platform must be empty: its clock does not go back to the first month.
func (w *writer) createCustomers(ctx context.Context, db *postgres.DB) error {
	platform, err := db.Platform(ctx, w.Platform)
	if err != nil {
		return err
	}
	page, err := db.Finance().Postings(ctx, ports.PostingFilter{Platform: w.Platform, Limit: 1})
	if err != nil {
		return err
	}
	if len(page.Postings) > 0 {
		return fmt.Errorf("the ledger of %s already has postings; use a platform without postings", w.Platform)
	}
	return db.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		for i := range customerCount {
			name := fmt.Sprintf("history-%03d", i+1)
			c := customer.Customer{ID: ident.NewCustomer(w.ids.New, w.now), Platform: w.Platform, PlatformCustomerID: name, Type: customer.Individual,
				Region: "US", FullName: name, UMAAddress: "$" + name + "@" + platform.UMADomain, Status: customer.Approved, CreatedAt: w.now, UpdatedAt: w.now}
			if err := tx.CreateCustomer(ctx, c); err != nil {
				return err
			}
			for _, currency := range balanceCurrencies {
				a, err := account.NewInternal(ident.NewInternalAccount(w.ids.New, w.now), w.Platform, c.ID, currency, w.now)
				if err != nil {
					return err
				}
				w.accounts = append(w.accounts, a)
			}
		}
		return tx.OpenInternalAccounts(ctx, w.accounts)
	})
}

// writeCommit creates and writes the postings of a commit: those of scheduled steps, and new activity.
func (w *writer) writeCommit(ctx context.Context, db *postgres.DB, index int) error {
	commits := len(w.scheduled)
	w.index, w.newPostings, w.endedTransactions = index, nil, nil
	w.now = w.from.Add(w.Until.Sub(w.from) / time.Duration(commits) * time.Duration(index)).Truncate(time.Millisecond)
	for _, step := range w.scheduled[index] {
		applied, err := w.apply(step.decide(step.Transaction, w.now))
		if err != nil {
			return err
		}
		if !applied {
			w.endedTransactions = append(w.endedTransactions, step.Transaction)
		}
	}
	w.scheduled[index] = nil
	for w.entries < w.Entries*(index+1)/commits {
		if err := w.addActivity(); err != nil {
			return err
		}
	}
	w.postings += len(w.newPostings)
	w.payments += len(w.endedTransactions)
	// Refunds are written by an update.
	refunded := slices.DeleteFunc(slices.Clone(w.endedTransactions), func(t transaction.Transaction) bool { return t.Refund == nil })
	return db.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreateTransactions(ctx, w.endedTransactions); err != nil {
			return err
		}
		if err := tx.UpdateTransactions(ctx, refunded); err != nil {
			return err
		}
		return tx.Post(ctx, w.newPostings)
	})
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
	w.entries += entries
	effective := w.randomEffective()
	for _, p := range d.Postings {
		p.Effective = effective
		w.newPostings = append(w.newPostings, p)
		for _, e := range p.Entries {
			w.entryCounts[ledger.Account{Platform: p.Platform, Path: e.Debit, Currency: e.Currency}]++
			w.entryCounts[ledger.Account{Platform: p.Platform, Path: e.Credit, Currency: e.Currency}]++
			w.balances[e.Debit] -= e.Amount
			w.balances[e.Credit] += e.Amount
		}
	}
	if t := d.Transaction; !t.ID.IsZero() && !w.scheduleNext(t) {
		w.endedTransactions = append(w.endedTransactions, t)
	}
	return true, nil
}

// randomEffective returns the effective time of a posting that is recorded now: mostly seconds
// before, sometimes days before, rarely after.
func (w *writer) randomEffective() time.Time {
	random := func(d time.Duration) time.Duration {
		return time.Duration(w.rand.Int64N(int64(d))).Truncate(time.Microsecond)
	}
	effective := w.now.Add(-random(3 * time.Second))
	switch n := w.rand.IntN(1000); {
	case n < 8:
		effective = w.now.Add(-time.Hour - random(5*24*time.Hour))
	case n < 10:
		effective = w.now.Add(time.Hour + random(2*24*time.Hour))
	}
	if effective.Before(w.from) || effective.After(w.Until) {
		return w.now
	}
	return effective
}

// scheduleNext schedules the next step of a payment in one of the next commits, and reports
// whether there is one. A step after the last commit is not done: the payment is unfinished
// at the end.
func (w *writer) scheduleNext(t transaction.Transaction) bool {
	step := scheduledStep{Transaction: t}
	switch {
	case t.State.Refund == transaction.RefundPending:
		step.decide = func(t transaction.Transaction, now time.Time) (transaction.Decision, error) {
			return t.RefundPaid(t.SourceAccount, now)
		}
	case t.State.InTransit() && w.rand.IntN(1000) < 8:
		step.decide = func(t transaction.Transaction, now time.Time) (transaction.Decision, error) {
			return t.Refuse(transaction.CounterpartyPostFailed, now)
		}
	case t.State.InTransit():
		step.decide = transaction.Transaction.Deliver
	case t.Type == transaction.Outgoing && t.State.IsDelivered() && w.rand.IntN(1000) < 4:
		step.decide = transaction.Transaction.Return
	}
	next := w.index + 1 + w.rand.IntN(4)
	if step.decide == nil || next >= len(w.scheduled) {
		return false
	}
	w.scheduled[next] = append(w.scheduled[next], step)
	return true
}
