// Package history writes the ledger of a platform that has been in use for months, with any number of entries:
// deposits, withdrawals, payments between currencies, fees, refunds, returns and postings with another effective
// time. The benchmark measures a large ledger with it.
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
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/quote"
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
	// Customers is the number of customers; zero is 300. Each has an account in every currency of balances.
	Customers int
	Until     time.Time // the last time; zero is now
	Seed      uint64    // decides everything but ids and, if Until is zero, the time
}

// The limits of Options.
const (
	MinEntries = 1_000
	MaxEntries = 1_000_000_000
	MaxMonths  = 120
	// MaxCustomers is what one commit creates.
	MaxCustomers = 20_000
)

// Validate checks the limits.
func (o Options) Validate() error {
	switch {
	case o.Entries < MinEntries || o.Entries > MaxEntries:
		return fmt.Errorf("entries must be from %d to %d, not %d", MinEntries, MaxEntries, o.Entries)
	case o.Months < 1 || o.Months > MaxMonths:
		return fmt.Errorf("months must be from 1 to %d, not %d", MaxMonths, o.Months)
	case o.Customers < 0 || o.Customers > MaxCustomers:
		return fmt.Errorf("customers must be from 0 to %d, not %d", MaxCustomers, o.Customers)
	}
	return nil
}

// Result is what was written.
type Result struct {
	From, Until        time.Time
	Postings, Payments int
	Duration           time.Duration
}

const (
	// entriesPerCommit is the number of entries in one commit. More would be faster, but all
	// have the same recorded time.
	entriesPerCommit = 500
	// postingsPerSnapshot is how many postings there are between two updates of the balance
	// snapshots, about as many as in a running service.
	postingsPerSnapshot = 1_000
	// defaultCustomers is the number of customers without another in the options.
	defaultCustomers = 300
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
	w := &writer{Options: o, from: from, now: from, ids: ids.New(), rand: rand.New(rand.NewPCG(o.Seed, 0)),
		banks: map[ident.Customer]ident.ExternalAccount{}, balances: map[string]int64{}, steps: make([][]step, commits)}
	db, err := postgres.Open(ctx, postgres.Options{URL: o.URL, AllPlatforms: true, MaxConnections: 4, Clock: w, IDs: w.ids})
	if err != nil {
		return Result{}, err
	}
	defer db.Close()
	if err := w.createCustomers(ctx, db); err != nil {
		return Result{}, err
	}
	for snapshotAt := 0; w.index < commits; w.index++ {
		if err := w.writeCommit(ctx, db); err != nil {
			return Result{}, err
		}
		if w.postings >= snapshotAt+postingsPerSnapshot || w.index == commits-1 {
			snapshotAt = w.postings
			if err := db.AdvanceBalanceSnapshots(ctx); err != nil {
				return Result{}, err
			}
		}
	}
	// Autovacuum has not analyzed the new rows yet.
	if _, err := db.Pool().Exec(ctx, "ANALYZE"); err != nil {
		return Result{}, err
	}
	return Result{From: from, Until: o.Until, Postings: w.postings, Payments: w.payments, Duration: time.Since(began)}, nil
}

// writer creates the activity of the platform. It is the clock of the ledger.
type writer struct {
	Options
	ids       *ids.Generator
	rand      *rand.Rand
	from, now time.Time
	accounts  []account.Internal
	banks     map[ident.Customer]ident.ExternalAccount // that transfers in are pulled from
	balances  map[string]int64                         // by path

	index int      // of the commit that is created, with what it writes
	steps [][]step // later steps of payments by the index of their commit
	posts []ledger.Posting
	moved []transaction.Transaction // that were posted
	// received is the receipt of the activity that is created; receipts are those of the commit.
	received transaction.Receipt
	receipts []transaction.Receipt
	replies  []ports.RailReply // of the commit

	entries, postings, payments int // total numbers
}

// Now returns the time of the current commit.
func (w *writer) Now() time.Time { return w.now }

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
	return db.Do(ctx, func(ctx context.Context, tx *postgres.Unit) error {
		for i := range cmp.Or(w.Customers, defaultCustomers) {
			name := fmt.Sprintf("history-%03d", i+1)
			c := customer.Customer{ID: ident.NewCustomer(w.ids.New, w.now), Platform: w.Platform, PlatformCustomerID: name,
				Type: customer.Individual, Region: "US", FullName: name, UMAAddress: "$" + name + "@" + platform.UMADomain,
				Status: customer.Approved, CreatedAt: w.now, UpdatedAt: w.now}
			if err := tx.CreateCustomer(ctx, c); err != nil {
				return err
			}
			bank := account.External{ID: ident.NewExternalAccount(w.ids.New, w.now), Platform: w.Platform, Customer: c.ID, Currency: money.USD,
				Type:   account.USAccount,
				Fields: map[string]string{"accountNumber": fmt.Sprintf("%09d", i+1), "routingNumber": "021000021"}, Status: account.Active,
				CreatedAt: w.now, UpdatedAt: w.now}
			if err := tx.CreateExternalAccount(ctx, bank); err != nil {
				return err
			}
			w.banks[c.ID] = bank.ID
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

// writeCommit creates and writes the postings of a commit: steps of earlier payments, and new activity.
func (w *writer) writeCommit(ctx context.Context, db *postgres.DB) error {
	commits := len(w.steps)
	w.posts, w.moved, w.receipts, w.replies = nil, nil, nil, nil
	w.now = w.from.Add(w.Until.Sub(w.from) / time.Duration(commits) * time.Duration(w.index)).Truncate(time.Millisecond)
	for _, step := range w.steps[w.index] {
		if _, err := w.apply(step(w.now)); err != nil {
			return err
		}
	}
	w.steps[w.index] = nil
	earlier := len(w.moved)
	for w.entries < w.Entries*(w.index+1)/commits {
		if err := w.addActivity(); err != nil {
			return err
		}
	}
	// A payment is written with its first posting, as the service does: what is sealed with it does not change.
	begun, changed := w.moved[earlier:], slices.Clone(w.moved[:earlier])
	w.postings, w.payments = w.postings+len(w.posts), w.payments+len(begun)
	var quotes []quote.Quote
	for i, t := range begun {
		begun[i].Payee = t.PayeeDigest(nil)
		if !t.Quote.IsZero() {
			quotes = append(quotes, quote.Quote{ID: t.Quote, Platform: t.Platform, Transaction: t.ID, Customer: t.Customer, Side: quote.Sending,
				LockedAmount: t.Pricing.Sent.Minor, Pricing: t.Pricing, Reference: t.Reference, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt})
		}
		if !t.Receipt.IsZero() { // what was received is written by an update
			changed = append(changed, t)
		}
	}
	return db.Do(ctx, func(ctx context.Context, tx *postgres.Unit) error {
		if len(w.receipts) > 0 {
			if _, err := tx.SaveReceipts(ctx, w.receipts); err != nil {
				return err
			}
		}
		if err := tx.CreateQuotes(ctx, quotes, begun); err != nil {
			return err
		}
		if err := tx.UpdateTransactions(ctx, changed); err != nil {
			return err
		}
		if err := tx.SaveRailReplies(ctx, w.replies); err != nil {
			return err
		}
		return tx.Post(ctx, w.posts)
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
	w.date(&d.Transaction, &effective)
	for _, p := range d.Postings {
		p.Effective = effective
		w.posts = append(w.posts, p)
		for _, e := range p.Entries {
			w.balances[e.Debit] -= e.Amount
			w.balances[e.Credit] += e.Amount
		}
	}
	w.addReply(d)
	if t := d.Transaction; !t.ID.IsZero() {
		// A step after the last commit is not done: the payment is unfinished at the end.
		next := w.index + 1 + w.rand.IntN(4)
		if step := w.nextStep(t); step != nil && next < len(w.steps) {
			w.steps[next] = append(w.steps[next], step)
		}
		w.moved = append(w.moved, t)
	}
	return true, nil
}

// date makes the times of a transaction those of its postings, which have an effective time.
func (w *writer) date(t *transaction.Transaction, effective *time.Time) {
	switch {
	case t.ID.IsZero():
		return
	case t.Type == transaction.Incoming:
		t.CreatedAt, t.UpdatedAt, t.SettledAt = *effective, *effective, *effective
		return
	case effective.After(w.now):
		*effective = w.now // a payment is not settled before
	}
	if t.Refund != nil && t.Refund.InitiatedAt.Equal(w.now) {
		refund := *t.Refund
		refund.InitiatedAt = *effective
		t.Refund = &refund
	}
	if t.Receipt == w.received.ID && !t.Receipt.IsZero() {
		w.received.At = *effective
		w.receipts, w.received = append(w.receipts, w.received), transaction.Receipt{}
	}
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
