package payments_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// setParty changes the status of a row, or deletes it.
func (e *env) setParty(t *testing.T, statement string, id any) {
	t.Helper()
	if _, err := e.Store.Pool().Exec(t.Context(), statement, e.Platform.ID.UUID(), id); err != nil {
		t.Fatal(err)
	}
}

func TestQuote_PartyChangedAfterwards(t *testing.T) {
	t.Parallel()
	// A customer or an account that was deleted or suspended after a quote was created stops it: its
	// execution is refused and changes nothing, and what was paid for it is refunded.
	const deleteExternal, reviewExternal = "UPDATE external_accounts SET deleted_at = now() WHERE platform_id = $1 AND id = $2",
		"UPDATE external_accounts SET status = 'UNDER_REVIEW' WHERE platform_id = $1 AND id = $2"
	const deleteCustomer, rejectCustomer = "UPDATE customers SET deleted_at = now() WHERE platform_id = $1 AND id = $2",
		"UPDATE customers SET status = 'REJECTED' WHERE platform_id = $1 AND id = $2"
	const freezeInternal = "UPDATE internal_accounts SET status = 'FROZEN' WHERE platform_id = $1 AND id = $2"
	for name, c := range map[string]struct {
		statement string
		code      fault.Code
		onlyPaid  bool // the party is only one of the prefunded quote
	}{
		"destination deleted":   {deleteExternal, fault.QuoteNotExecutable, false},
		"destination in review": {reviewExternal, fault.QuoteNotExecutable, false},
		"customer deleted":      {deleteCustomer, fault.QuoteNotExecutable, false},
		"customer rejected":     {rejectCustomer, fault.UserNotReady, false},
		"source frozen":         {freezeInternal, fault.QuoteNotExecutable, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			dollars, wallet := env.account(env.Customer.ID, "USD", 10050), env.NewWallet("spark1good")
			prefunded := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: wallet.ID})
			justInTime := env.quote(t, "USD", 10050, wallet)
			id := wallet.ID.UUID()
			switch c.statement {
			case deleteCustomer, rejectCustomer:
				id = env.Customer.ID.UUID()
			case freezeInternal:
				id = dollars.ID.UUID()
			}
			env.setParty(t, c.statement, id)

			_, err := env.ExecuteQuote(t.Context(), env.Platform.ID, prefunded.ID, nil)
			if !fault.Is(err, c.code) {
				t.Errorf("executed: %v, want %s", err, c.code)
			}
			if got := env.Transaction(prefunded.Transaction); got.State != transaction.Initial {
				t.Errorf("the refused quote is %s", got.State)
			}
			if c.onlyPaid {
				return
			}
			if _, err := env.Receive(t.Context(), env.receipt(justInTime, "RTP", 10050), nil); err != nil {
				t.Fatal(err)
			}
			refunded := env.WaitForState(justInTime.Transaction, "FAILED (refund COMPLETED)")
			if refunded.State.Reason != transaction.QuoteExecutionFailed || refunded.Refund.Reason != transaction.RefundFailed {
				t.Errorf("reason %s, refund %+v", refunded.State.Reason, refunded.Refund)
			}
			env.wantOutgoingEvents(justInTime.Transaction, "PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
			env.WantBalances(map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -10050})
		})
	}
}

func TestQuote_ReceiverOfPlatformDeleted(t *testing.T) {
	t.Parallel()
	// The owner of the account that receives counts too, if the platform pays on behalf of another
	// customer: no quote is made for it, and one that was made before does not run.
	env := newEnv(t)
	receiver := env.NewCustomer("bo")
	dollars, euros := env.account(ident.Customer{}, "USD", 20100), env.account(receiver.ID, "EUR", 0)
	from, to := quote.Source{Internal: dollars.ID, Customer: env.Customer.ID}, quote.Destination{Internal: euros.ID}
	q := env.quoteFrom(t, from, 10050, to)
	env.setParty(t, "UPDATE customers SET deleted_at = now() WHERE platform_id = $1 AND id = $2", receiver.ID.UUID())

	_, executeErr := env.ExecuteQuote(t.Context(), env.Platform.ID, q.ID, nil)
	_, quoteErr := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: from, Destination: to, Side: quote.Sending,
		Amount: 10050}, nil)

	apptest.WantFault(t, "executed", executeErr, fault.QuoteNotExecutable)
	apptest.WantFault(t, "quoted", quoteErr, fault.CustomerDeleted)
}

// failOnceStore fails the second unit of work after it has run, and blocks the first until release
// is closed, so that further commands form a batch.
type failOnceStore struct {
	payments.Store
	mu           sync.Mutex
	runs         int
	firstBlocked chan struct{} // closed when the first run is blocked
	release      chan struct{}
}

func (s *failOnceStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	s.mu.Lock()
	s.runs++
	run := s.runs
	s.mu.Unlock()
	if run == 1 {
		close(s.firstBlocked)
		<-s.release
	}
	return s.Store.DoUnit(ctx, func(ctx context.Context, tx any) error {
		err := fn(ctx, tx)
		if run == 2 {
			return errors.Join(err, errors.New("the database failed"))
		}
		return err
	})
}

func TestExecute_RepeatedAfterUnrelatedFailure(t *testing.T) {
	t.Parallel()
	// A quote that was executed before is refused, also if the batch of the second call fails for
	// another reason and runs again. The other quotes of the batch are executed once.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 100_00)
	wallet := quote.Destination{External: env.NewWallet("spark1good").ID}
	newQuote := func() quote.Quote { return env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10_00, wallet) }
	executed, first, other := newQuote(), newQuote(), newQuote()
	env.execute(t, executed)
	store := &failOnceStore{Store: env.Store, firstBlocked: make(chan struct{}), release: make(chan struct{})}
	service := newService(env.Env, store, nil)
	var all sync.WaitGroup
	execute := func(q quote.Quote, want fault.Code) {
		all.Go(func() {
			_, err := service.ExecuteQuote(t.Context(), env.Platform.ID, q.ID, nil)
			if want == "" && err != nil || want != "" && !fault.Is(err, want) {
				t.Errorf("%s: %v, want %q", q.ID, err, want)
			}
		})
	}
	execute(first, "")
	<-store.firstBlocked
	execute(executed, fault.QuoteAlreadyExecuted)
	execute(other, "")
	for service.PendingExecutions() < 2 {
		runtime.Gosched() // until both wait for the first commit
	}

	close(store.release)
	all.Wait()

	for _, q := range []quote.Quote{executed, first, other} {
		env.WaitForState(q.Transaction, "COMPLETED")
	}
	env.wantNotifiedBalances(t, dollars, 90_00, 80_00, 70_00, 70_00) // the third was rolled back
}
