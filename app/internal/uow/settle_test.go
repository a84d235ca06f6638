package uow_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// repeatingStore runs every unit of work twice, as after a serialization failure: the first run
// is rolled back.
type repeatingStore struct{ ports.UnitsOfWork }

var errSerialization = errors.New("serialization failure")

func (s repeatingStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	err := s.UnitsOfWork.DoUnit(ctx, func(ctx context.Context, tx any) error { return errors.Join(fn(ctx, tx), errSerialization) })
	if err != nil && !errors.Is(err, errSerialization) {
		return err
	}
	return s.UnitsOfWork.DoUnit(ctx, fn)
}

// decisions are those of one run of a unit of work.
type decisions struct {
	*uow.Work
	decide func(*uow.Work, transaction.Transaction) error
}

func (d decisions) Decide(t transaction.Transaction) error { return d.decide(d.Work, t) }

// settle returns the work of the last run of the unit of work.
func (e *env) settle(store ports.UnitsOfWork, jobs []ports.Job,
	decide func(*uow.Work, transaction.Transaction) error) (last *uow.Work, err error) {
	err = uow.Settle(context.Background(), store, jobs, uow.TransactionKeys(jobs), func() uow.Decisions[uow.Tx] {
		last = e.newWork()
		return decisions{last, decide}
	})
	return last, err
}

func TestSettle_RepeatedRunWritesOnce(t *testing.T) {
	t.Parallel()
	// When the database asks for another run, the decisions of the first are dropped: the
	// deposit is posted once and the job is finished.
	env := newEnv(t)
	created := env.newDeposit(1_00)
	created.Postings, created.Events = nil, nil
	first := env.newWork()
	first.Create(created)
	env.write(first)
	jobs, err := env.Store.TakeJobs(t.Context(), transaction.StepDeliver, apptest.Noon.Add(localLease), time.Minute, 1)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs %+v, %v", jobs, err)
	}
	runs := 0

	work, err := env.settle(repeatingStore{env.Store}, jobs,
		func(w *uow.Work, locked transaction.Transaction) error {
			runs++
			deposit := env.newDeposit(3_00)
			deposit.Postings[0].Transaction = locked.ID
			w.Update(transaction.Decision{Transaction: locked, Events: []string{event.IncomingPaymentCompleted}, Postings: deposit.Postings,
				Next: transaction.StepRefund})
			return nil
		})

	if err != nil || runs != 2 || len(work.LocalJobs()) != 1 {
		t.Fatalf("%d runs, local jobs %+v, %v", runs, work.LocalJobs(), err)
	}
	env.WantEntries(created.Transaction.ID, "deposit rails/ACH "+env.path+" 300 USD")
	env.WantBalances(map[string]int64{"rails/ACH USD": 13_00, env.path + " USD": -13_00})
	if finished, next := env.CountJobs(transaction.StepDeliver), env.CountJobs(transaction.StepRefund); finished != 0 || next != 1 {
		t.Errorf("%d settled jobs left and %d next jobs, want 0 and 1", finished, next)
	}
}

func TestSettle_LostLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	// A process that took too long and lost its lease decides like the one that has the lease now, but
	// only the decision and the follow-up of the latter are written, in either order.
	for name, holderFirst := range map[string]bool{"the holder first": true, "the other first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			created := env.newDeposit(1_00)
			created.Postings, created.Events = nil, nil
			first := env.newWork()
			first.Create(created)
			env.write(first)
			take := func(after time.Duration) []ports.Job {
				jobs, err := env.Store.TakeJobs(t.Context(), transaction.StepDeliver, apptest.Noon.Add(after), time.Minute, 1)
				if err != nil || len(jobs) != 1 {
					t.Fatalf("jobs %+v, %v", jobs, err)
				}
				return jobs
			}
			lost := take(localLease)
			held := take(localLease + time.Minute)
			settle := func(jobs []ports.Job) error {
				_, err := env.settle(env.Store, jobs,
					func(w *uow.Work, locked transaction.Transaction) error {
						w.Update(transaction.Decision{Transaction: locked, Next: transaction.StepRefund})
						return nil
					})
				return err
			}

			if holderFirst {
				if err := settle(held); err != nil {
					t.Fatal(err)
				}
			}
			if err := settle(lost); !errors.Is(err, ports.ErrLeaseLost) {
				t.Errorf("without the lease: %v", err)
			}
			if !holderFirst {
				if n := env.CountJobs(transaction.StepDeliver); n != 1 {
					t.Errorf("%d jobs are left of the holder, want 1", n)
				}
				if err := settle(held); err != nil {
					t.Fatal(err)
				}
			}

			if finished, next := env.CountJobs(transaction.StepDeliver), env.CountJobs(transaction.StepRefund); finished != 0 || next != 1 {
				t.Errorf("%d settled jobs left and %d follow-ups, want 0 and 1", finished, next)
			}
		})
	}
}

func TestSettle_DecisionErrorKeepsJobs(t *testing.T) {
	t.Parallel()
	// If a decision fails, nothing is written and the jobs are not finished.
	env := newEnv(t)
	first := env.newWork()
	first.Create(env.newDeposit(1_00))
	env.write(first)
	jobs := first.LocalJobs()
	failure := errors.New("cannot decide")

	_, err := env.settle(env.Store, jobs,
		func(*uow.Work, transaction.Transaction) error { return failure })

	if !errors.Is(err, failure) || env.CountJobs(transaction.StepDeliver) != 1 {
		t.Errorf("got %v, and %d jobs", err, env.CountJobs(transaction.StepDeliver))
	}
}

func TestSaveResponse(t *testing.T) {
	t.Parallel()
	// Results and faults are stored under the idempotency key; another error fails the batch and
	// stores nothing, as does a request without a key. A second save of a key replays the first.
	env := newEnv(t)
	refused := fault.New(fault.Conflict, "refused")
	broken := errors.New("connection lost")
	save := func(key string, result any, err error) error {
		var request *ports.IdempotentRequest
		if key != "" {
			request = apptest.IdempotentRequest(env.Admin, key, func(result any) string { return result.(string) })
		}
		return env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			return uow.SaveResponse(ctx, env.Tx(tx), request, result, err)
		})
	}

	for name, err := range map[string]error{
		"a result": save("result", "first", nil), "a fault": save("fault", nil, refused), "without a key": save("", "lost", nil),
		"a fault without a key": save("", nil, refused),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := save("error", nil, broken); !errors.Is(err, broken) {
		t.Errorf("another error: %v", err)
	}
	var replay *ports.Replay
	if err := save("result", "second", nil); !errors.As(err, &replay) || string(replay.Body) != "first" {
		t.Errorf("a repeated save: %v", err)
	}

	keys := []ports.IdempotencyKey{}
	for _, key := range []string{"result", "fault", "error"} {
		keys = append(keys, apptest.IdempotentRequest(env.Admin, key, nil).IdempotencyKey())
	}
	stored, err := env.Store.StoredResponses(t.Context(), keys)
	if err != nil || stored[0] == nil || stored[0].Status != 201 || string(stored[0].Body) != "first" || stored[1] == nil ||
		stored[1].Status != 400 || stored[2] != nil {
		t.Errorf("stored %+v, %v", stored, err)
	}
}

func TestEnsureAccount_OpensOnce(t *testing.T) {
	t.Parallel()
	// However many units of work need an account in a currency, one is opened and all get it.
	env := newEnv(t)
	accounts := make([]account.Internal, 8)
	var running sync.WaitGroup
	for i := range accounts {
		running.Go(func() {
			opened, err := account.NewInternal(ident.NewInternalAccount(env.IDs.New, env.Clock.Now()), env.Platform.ID, env.Customer.ID,
				"EUR", env.Clock.Now())
			if err != nil {
				t.Error(err)
			}
			err = env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) (err error) {
				accounts[i], err = uow.EnsureAccount(ctx, env.Tx(tx), opened)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()

	stored, err := env.Store.InternalAccountsOf(t.Context(), env.Platform.ID, []ident.Customer{env.Customer.ID})
	if err != nil || len(stored[env.Customer.ID]) != 2 {
		t.Errorf("stored %+v, %v; want USD and EUR", stored, err)
	}
	for _, a := range accounts {
		if a.ID != accounts[0].ID || a.Currency != "EUR" || a.Customer != env.Customer.ID {
			t.Errorf("got %+v and %+v", a, accounts[0])
		}
	}
}

func TestCheckCapacity(t *testing.T) {
	t.Parallel()
	// An internal account can be credited up to its maximum. Partner accounts have none.
	to := ledger.CustomerAccount(ident.NewInternalAccount(func(time.Time) uuid.UUID { return uuid.New() }, apptest.Noon))
	deposit := ledger.Deposit(ledger.Header{ID: uuid.New(), Effective: apptest.Noon},
		ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: to, Amount: money.Amount{Minor: 1, Currency: money.USD}})
	internal := ledger.Account{Path: to, Currency: money.USD}

	for balance, accepted := range map[int64]bool{0: true, account.MaxBalance - 1: true, account.MaxBalance: false} {
		err := uow.CheckCapacity(ledger.Balances{internal: balance}, []ledger.Posting{deposit})
		if accepted != (err == nil) || !accepted && !fault.Is(err, fault.AmountOutOfRange) {
			t.Errorf("a balance of %d: %v", balance, err)
		}
	}
}

func TestWithUnmatchedNote(t *testing.T) {
	t.Parallel()
	// The note is added to a copy of a fault. Another error stays as it is.
	refused, broken := fault.New(fault.Conflict, "Refused."), errors.New("connection lost")

	noted := uow.WithUnmatchedNote(refused)

	if !fault.Is(noted, fault.Conflict) || !strings.HasSuffix(noted.Error(), "held as unmatched funds.") ||
		strings.Contains(refused.Error(), "unmatched") {
		t.Errorf("got %v from %v", noted, refused)
	}
	if err := uow.WithUnmatchedNote(broken); !errors.Is(err, broken) || err.Error() != broken.Error() {
		t.Errorf("got %v", err)
	}
}
