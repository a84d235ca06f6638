package payments_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// interruptedStore fails one call of jobs to the database, that is the nth counted from when it was
// armed.
type interruptedStore struct {
	payments.Store
	left  atomic.Int64
	cause error
}

// arm makes the nth call fail with cause.
func (s *interruptedStore) arm(n int, cause error) {
	s.cause = cause
	s.left.Store(int64(n))
}

// interrupted reports whether the call that was to fail was made.
func (s *interruptedStore) interrupted() bool { return s.left.Load() <= 0 }

func (s *interruptedStore) next() error {
	if s.left.Add(-1) == 0 {
		return s.cause
	}
	return nil
}

// interruptible makes a call unless it is the one to fail.
func interruptible[T any](s *interruptedStore, call func() (T, error)) (T, error) {
	if err := s.next(); err != nil {
		var none T
		return none, err
	}
	return call()
}

func (s *interruptedStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	if err := s.next(); err != nil {
		return err
	}
	return s.Store.DoUnit(ctx, func(ctx context.Context, tx any) error {
		if err := fn(ctx, interruptedTx{tx.(payments.Tx), s}); err != nil {
			return err
		}
		return s.next() // instead of the commit
	})
}

func (s *interruptedStore) TransactionsByKey(ctx context.Context,
	keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	return interruptible(s, func() (map[ports.TransactionKey]transaction.Transaction, error) {
		return s.Store.TransactionsByKey(ctx, keys)
	})
}

func (s *interruptedStore) Transaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error) {
	return interruptible(s, func() (transaction.Transaction, error) { return s.Store.Transaction(ctx, p, id) })
}

func (s *interruptedStore) TransactionsByReference(ctx context.Context,
	keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error) {
	return interruptible(s, func() (map[ports.ReferenceKey]transaction.Transaction, error) {
		return s.Store.TransactionsByReference(ctx, keys)
	})
}

func (s *interruptedStore) Payouts(ctx context.Context, keys []ports.TransactionKey) ([]ports.Payout, error) {
	return interruptible(s, func() ([]ports.Payout, error) { return s.Store.Payouts(ctx, keys) })
}

func (s *interruptedStore) Collections(ctx context.Context, keys []ports.TransactionKey) ([]ports.Collection, error) {
	return interruptible(s, func() ([]ports.Collection, error) { return s.Store.Collections(ctx, keys) })
}

func (s *interruptedStore) Receipts(ctx context.Context, p ident.Platform, ids []ident.Receipt) ([]transaction.Receipt, error) {
	return interruptible(s, func() ([]transaction.Receipt, error) { return s.Store.Receipts(ctx, p, ids) })
}

func (s *interruptedStore) Platform(ctx context.Context, p ident.Platform) (platform.Platform, error) {
	return interruptible(s, func() (platform.Platform, error) { return s.Store.Platform(ctx, p) })
}

func (s *interruptedStore) Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	return interruptible(s, func() (customer.Customer, error) { return s.Store.Customer(ctx, p, id) })
}

func (s *interruptedStore) Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	return interruptible(s, func() (ports.Page[customer.Customer], error) { return s.Store.Customers(ctx, p, f) })
}

func (s *interruptedStore) UMAForwardingAccount(ctx context.Context, p ident.Platform, id ident.Customer) (account.External, bool, error) {
	if err := s.next(); err != nil {
		return account.External{}, false, err
	}
	return s.Store.UMAForwardingAccount(ctx, p, id)
}

// interruptedTx is a unit of work of an interruptedStore.
type interruptedTx struct {
	payments.Tx
	store *interruptedStore
}

func (x interruptedTx) LockTransactions(ctx context.Context,
	keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	return interruptible(x.store, func() (map[ports.TransactionKey]transaction.Transaction, error) {
		return x.Tx.LockTransactions(ctx, keys)
	})
}

func (x interruptedTx) LockBalances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]account.WithBalance, error) {
	return interruptible(x.store, func() (map[ledger.Account]account.WithBalance, error) { return x.Tx.LockBalances(ctx, accounts) })
}

func (x interruptedTx) Balances(ctx context.Context, accounts []ledger.Account) (map[ledger.Account]int64, error) {
	return interruptible(x.store, func() (map[ledger.Account]int64, error) { return x.Tx.Balances(ctx, accounts) })
}

func (x interruptedTx) Parties(ctx context.Context, keys []ports.PartyKey) ([]quote.Parties, error) {
	return interruptible(x.store, func() ([]quote.Parties, error) { return x.Tx.Parties(ctx, keys) })
}

func (x interruptedTx) InternalAccount(ctx context.Context, key ports.InternalAccountKey) (account.Internal, bool, error) {
	if err := x.store.next(); err != nil {
		return account.Internal{}, false, err
	}
	return x.Tx.InternalAccount(ctx, key)
}

func (x interruptedTx) FinishJobs(ctx context.Context, jobs []ports.Job) error {
	return errors.Join(x.store.next(), x.Tx.FinishJobs(ctx, jobs))
}

func (x interruptedTx) AddJobs(ctx context.Context, jobs []ports.Job) error {
	return errors.Join(x.store.next(), x.Tx.AddJobs(ctx, jobs))
}

func (x interruptedTx) Post(ctx context.Context, postings []ledger.Posting) error {
	return errors.Join(x.store.next(), x.Tx.Post(ctx, postings))
}

// interruptions are failures that say nothing about a payment.
var interruptions = map[string]error{
	"a lock timeout": &fault.Error{Code: fault.ServiceUnavailable, RetryAfter: time.Second,
		Message: "Another request is working on the same resource. Try again in a second."},
	"a lost connection": errors.New("unexpected EOF"),
}

func TestJobs_TemporaryFaultRefusesNothing(t *testing.T) {
	t.Parallel()
	// Whatever call to the database fails once while the jobs of a payment run, the payment ends as it
	// would have without the failure: it is not refused, refunded or dropped.
	for name, c := range map[string]struct {
		// begin creates a payment, and returns the one that must end in the state end.
		begin func(*interruptedEnv, testing.TB) ident.Transaction
		end   string
	}{
		"deliver":                       {(*interruptedEnv).beginPayout, "COMPLETED"},
		"pull":                          {(*interruptedEnv).beginPull, "COMPLETED"},
		"refund":                        {(*interruptedEnv).beginRefund, "FAILED (refund COMPLETED)"},
		"expire":                        {(*interruptedEnv).beginUnpaid, "EXPIRED"},
		"to a customer of the platform": {(*interruptedEnv).beginInternal, "COMPLETED"},
		"forward":                       {(*interruptedEnv).beginForward, "COMPLETED"},
	} {
		for kind, cause := range interruptions {
			t.Run(name+" after "+kind, func(t *testing.T) {
				t.Parallel()
				env := newInterruptedEnv(t)
				store := &interruptedStore{Store: env.Store}
				interrupted := newService(env.Env, store, env.approvals)
				calls := 0
				for n := 1; ; n++ {
					id := c.begin(env, t)
					store.arm(n, cause)

					env.runJobs(t, interrupted)

					if got := env.Transaction(id).State.String(); got != c.end {
						t.Fatalf("after call %d failed, the payment is %s, want %s", n, got, c.end)
					}
					if !store.interrupted() {
						break
					}
					calls++
				}
				if calls < 4 {
					t.Errorf("only %d calls were made", calls)
				}
			})
		}
	}
}

func TestJobs_UnknownOutcomeKeepsJob(t *testing.T) {
	t.Parallel()
	// While a rail reports no outcome, operators see one job with more and more attempts, until it is
	// dead.
	env := newInterruptedEnv(t)
	env.beginPayout(t)
	env.Rail.OnSend = apptest.AllOutcomes[ports.Payout](ports.Outcome{Verdict: ports.Unknown})
	service := newService(env.Env, env.Store, env.approvals,
		func(c *payments.Config) { c.JobRetry.MaxAttempts = 3 })

	var seen []ports.ListedJob
	for range 3 {
		if err := service.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		env.Clock.Advance(time.Minute)
		listed, err := env.Store.ListJobs(t.Context(), ports.JobFilter{Step: transaction.StepDeliver, Limit: 10})
		if err != nil || len(listed) != 1 {
			t.Fatalf("%d jobs, %v", len(listed), err)
		}
		seen = append(seen, listed...)
	}

	for i, j := range seen {
		if j.ID != seen[0].ID || j.Attempts != i+1 || j.Dead != (i == 2) || j.LastError == "" {
			t.Errorf("after attempt %d: %+v", i+1, j)
		}
	}
}

// interruptedEnv is an environment whose workers do not run.
type interruptedEnv struct {
	*env
	wallet, bank account.External
}

func newInterruptedEnv(t testing.TB) *interruptedEnv {
	t.Helper()
	e := newIdleEnv(t)
	e.dollars = e.NewInternalAccount(e.Customer.ID, "USD", 0)
	e.approvals.set(200, "")
	return &interruptedEnv{e, e.NewWallet("spark1good"), e.NewBankAccount("1234567001")}
}

// runJobs runs all jobs, with all retries.
func (e *interruptedEnv) runJobs(t testing.TB, service *payments.Service) {
	t.Helper()
	for range 20 {
		if err := service.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		e.Clock.Advance(15 * time.Minute)
	}
}

// beginPayout begins a payment that is paid and must be delivered.
func (e *interruptedEnv) beginPayout(t testing.TB) ident.Transaction { return e.beginPaid(t, 100_50) }

// beginRefund begins a payment that is paid with the wrong amount and must be refunded.
func (e *interruptedEnv) beginRefund(t testing.TB) ident.Transaction { return e.beginPaid(t, 100_49) }

func (e *interruptedEnv) beginPaid(t testing.TB, minor int64) ident.Transaction {
	t.Helper()
	created := e.quote(t, "USD", 100_50, e.wallet)
	if _, err := e.Receive(t.Context(), e.receipt(created, "RTP", minor), nil); err != nil {
		t.Fatal(err)
	}
	return created.Transaction
}

// beginUnpaid begins a payment that is not paid and must expire.
func (e *interruptedEnv) beginUnpaid(t testing.TB) ident.Transaction {
	return e.quote(t, "USD", 100_50, e.wallet).Transaction
}

// beginPull begins a transfer from a bank account.
func (e *interruptedEnv) beginPull(t testing.TB) ident.Transaction {
	t.Helper()
	transfer, err := e.TransferIn(t.Context(), transaction.TransferIn{Platform: e.Platform.ID, From: e.bank.ID, To: e.dollars.ID,
		Amount: 25_00}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return transfer.ID
}

// beginInternal begins a payment from another customer to Ana.
func (e *interruptedEnv) beginInternal(t testing.TB) ident.Transaction {
	t.Helper()
	now := e.Clock.Now()
	ben := e.NewCustomer("ben"+e.IDs.New(now).String()[24:], func(c *customer.Customer) { c.FullName = "Ben Berg" })
	lookup := quote.Lookup{ID: ident.NewLookup(e.IDs.New, now), Platform: e.Platform.ID, Customer: ben.ID, SenderUMA: ben.UMAAddress,
		ReceiverUMA: e.Customer.UMAAddress, Currencies: []money.Currency{"USD"}, CreatedAt: now, ExpiresAt: now.Add(quote.LookupValidity)}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateLookup(ctx, lookup) })
	created, err := e.CreateQuote(t.Context(),
		quote.Request{Platform: e.Platform.ID, Source: quote.Source{Internal: e.account(ben.ID, "USD", 100_50).ID},
			Destination: quote.Destination{UMA: e.Customer.UMAAddress}, Lookup: lookup.ID, Side: quote.Sending, Amount: 100_50}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.execute(t, created.Quote)
	return created.Quote.Transaction
}

// beginForward begins a payment to Ana that must be forwarded to her bank account, and returns the
// transfer to it.
func (e *interruptedEnv) beginForward(t testing.TB) ident.Transaction {
	t.Helper()
	if _, chosen, err := e.Store.UMAForwardingAccount(t.Context(), e.Platform.ID, e.Customer.ID); err != nil {
		t.Fatal(err)
	} else if !chosen {
		e.forwardingAccount("USD", corridor.RTP)
	}
	return transaction.CounterpartID(e.receiveUMA(t, e.umaPayment()).ID)
}
