package payments_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/app/payments"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// lostCommitStore is a store that loses the result of its second commit. It blocks the first until
// release is closed, so that further commands form a batch.
type lostCommitStore struct {
	payments.Store
	mu           sync.Mutex
	runs         int
	firstBlocked chan struct{} // closed when the first run is blocked
	release      chan struct{}
}

var errCommitLost = errors.New("connection lost after the commit")

func (d *lostCommitStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	d.mu.Lock()
	d.runs++
	run := d.runs
	d.mu.Unlock()
	if run == 1 {
		close(d.firstBlocked)
		<-d.release
	}
	err := d.Store.DoUnit(ctx, fn)
	if run == 2 && err == nil {
		return errCommitLost
	}
	return err
}

// waitingCommands counts the commands that wait for a batch.
type waitingCommands struct{ atomic.Int64 }

func (w *waitingCommands) Waiting(_ string, commands int)     { w.Store(int64(commands)) }
func (w *waitingCommands) Started(string, int, time.Duration) {}
func (w *waitingCommands) Refused(string)                     {}
func (w *waitingCommands) Withdrawn(string)                   {}

func TestBatch_LostCommitIsNotRepeated(t *testing.T) {
	t.Parallel()
	// The commit of a batch succeeds, but its result is lost. The batch runs again in halves, which
	// find what was committed: nothing is created or emitted twice, and each caller gets its result.
	const others = 5
	for name, prepare := range map[string]func(env *env) func(context.Context, *payments.Service) (ident.Transaction, error){
		"create quote": func(env *env) func(context.Context, *payments.Service) (ident.Transaction, error) {
			request := env.QuoteRequest("USD", 10050, env.NewWallet("spark1good"))
			return func(ctx context.Context, service *payments.Service) (ident.Transaction, error) {
				created, err := service.CreateQuote(ctx, request, nil)
				return created.Quote.Transaction, err
			}
		},
		"fund account": func(env *env) func(context.Context, *payments.Service) (ident.Transaction, error) {
			dollars := env.account(env.Customer.ID, "USD", 0)
			return func(ctx context.Context, service *payments.Service) (ident.Transaction, error) {
				funded, err := service.Fund(ctx, env.Platform.ID, dollars.ID, 700, nil)
				if err == nil && (funded.ID != dollars.ID || funded.Balance < 700) {
					err = fmt.Errorf("funded %+v", funded)
				}
				return funded.Transaction.ID, err
			}
		},
		"transfer in": func(env *env) func(context.Context, *payments.Service) (ident.Transaction, error) {
			in := transaction.TransferIn{Platform: env.Platform.ID, From: env.NewBankAccount("123456789").ID,
				To: env.account(env.Customer.ID, "USD", 0).ID, Amount: 700}
			return func(ctx context.Context, service *payments.Service) (ident.Transaction, error) {
				transfer, err := service.TransferIn(ctx, in, nil)
				return transfer.ID, err
			}
		},
		"transfer out": func(env *env) func(context.Context, *payments.Service) (ident.Transaction, error) {
			out := transaction.TransferOut{Platform: env.Platform.ID, From: env.account(env.Customer.ID, "USD", 700*(others+1)).ID,
				To: env.NewBankAccount("123456789").ID, Amount: 700}
			return func(ctx context.Context, service *payments.Service) (ident.Transaction, error) {
				transfer, err := service.TransferOut(ctx, out, nil)
				return transfer.ID, err
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newIdleEnv(t)
			submit := prepare(env)
			store := &lostCommitStore{Store: env.Store, firstBlocked: make(chan struct{}), release: make(chan struct{})}
			waiting := &waitingCommands{}
			service := newService(env.Env, store, nil, func(c *payments.Config) { c.Batches.Observer = waiting })
			var mu sync.Mutex
			created := map[ident.Transaction]bool{}
			var all sync.WaitGroup
			create := func() {
				id, err := submit(t.Context(), service)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				created[id] = true
			}
			all.Go(create)
			<-store.firstBlocked
			for range others {
				all.Go(create)
			}
			for waiting.Load() < others {
				runtime.Gosched() // until all wait for the first commit
			}

			close(store.release)
			all.Wait()

			var stored int
			if err := env.Store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM transactions").Scan(&stored); err != nil || stored != others+1 ||
				len(created) != others+1 {
				t.Errorf("%d transactions are stored and %d returned, want %d (%v)", stored, len(created), others+1, err)
			}
			for id := range created {
				if n := len(env.Events.About(id.UUID())); n > 1 {
					t.Errorf("%d events about %s", n, id)
				}
			}
		})
	}
}
