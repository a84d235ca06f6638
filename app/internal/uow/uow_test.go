package uow_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

const localLease = 15 * time.Second

// env is the environment of a test with an internal account of the customer, which holds 10.00 USD.
type env struct {
	*apptest.Env
	account account.Internal
	path    string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t)}
	e.account = e.NewInternalAccount(e.Customer.ID, money.USD, 10_00)
	e.path = ledger.CustomerAccount(e.account.ID)
	return e
}

func (e *env) newWork() *uow.Work { return uow.NewWork(e.Clock.Now(), e.IDs, localLease) }

// write writes work in a unit of work that must succeed.
func (e *env) write(w *uow.Work) {
	e.Do(func(ctx context.Context, tx *postgres.Unit) error { return w.Write(ctx, e.Tx(tx)) })
}

// newDeposit decides a transaction that credits the account over ACH.
func (e *env) newDeposit(minor int64) transaction.Decision {
	now, amount := e.Clock.Now(), money.Amount{Minor: minor, Currency: money.USD}
	t := transaction.Transaction{
		ID: ident.NewTransaction(e.IDs.New, now), Platform: e.Platform.ID, Customer: e.Customer.ID,
		PlatformCustomerID: e.Customer.PlatformCustomerID,
		Type:               transaction.Incoming, State: transaction.State{Status: transaction.Completed, Stage: transaction.Delivered},
		Source:      transaction.Endpoint{Customer: e.Customer.ID, Currency: money.USD},
		Destination: transaction.Endpoint{InternalAccount: e.account.ID},
		SourceRail:  "ACH", SourceAccount: ledger.Rail("ACH"), DestinationAccount: e.path,
		Pricing: transaction.AtPar(amount), Funded: amount, CreatedAt: now, UpdatedAt: now, SettledAt: now,
	}
	header := ledger.Header{ID: e.IDs.New(now), Platform: t.Platform, Transaction: t.ID, Effective: now}
	return transaction.Decision{
		Transaction: t, Events: []string{event.IncomingPaymentCompleted}, Next: transaction.StepDeliver,
		Postings: []ledger.Posting{ledger.Deposit(header, ledger.IncomingFunds{Partner: t.SourceAccount, To: e.path, Amount: amount})},
	}
}

func TestWork_CreateWritesTransactionEntriesEventsAndJob(t *testing.T) {
	t.Parallel()
	// One commit stores the transaction, its entries, its event, the new balance of the account
	// and the next job.
	env := newEnv(t)
	work, deposit := env.newWork(), env.newDeposit(25_00)

	work.Create(deposit)
	env.write(work)

	id := deposit.Transaction.ID
	if stored := env.Transaction(id); stored.State != deposit.Transaction.State || stored.Pricing.Sent != deposit.Transaction.Pricing.Sent {
		t.Errorf("stored %+v\nwant %+v", stored, deposit.Transaction)
	}
	env.WantEntries(id, fmt.Sprintf("deposit rails/ACH %s 2500 USD", env.path))
	env.WantBalances(map[string]int64{"rails/ACH USD": 35_00, env.path + " USD": -35_00})
	env.WantEvents(id, event.IncomingPaymentCompleted)
	env.Events.Want(env.account.ID.UUID(), event.InternalAccountBalanceUpdated)
	if n := env.CountJobs(transaction.StepDeliver); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
}

func TestWork_RolledBackWritesNothing(t *testing.T) {
	t.Parallel()
	// If the unit of work fails after Write, nothing is stored.
	env := newEnv(t)
	work, deposit := env.newWork(), env.newDeposit(25_00)
	work.Create(deposit)
	failure := errors.New("failed after the write")

	err := env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return errors.Join(work.Write(ctx, env.Tx(tx)), failure)
	})

	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if _, err := env.Store.Transaction(t.Context(), env.Platform.ID, deposit.Transaction.ID); !fault.Is(err, fault.TransactionNotFound) {
		t.Errorf("the transaction: %v", err)
	}
	env.WantEntries(deposit.Transaction.ID)
	env.WantBalances(map[string]int64{"rails/ACH USD": 10_00, env.path + " USD": -10_00})
	if n := env.CountJobs(transaction.StepDeliver); n != 0 {
		t.Errorf("%d jobs", n)
	}
}

func TestWork_LastUpdateIsWritten(t *testing.T) {
	t.Parallel()
	// Of several updates of one transaction the last is stored; the events of all are emitted in
	// their order. Latest returns the transaction as the next decision has to see it.
	env := newEnv(t)
	created := env.newDeposit(1_00)
	first := env.newWork()
	first.Create(created)
	env.write(first)
	work := env.newWork()
	if got := work.Latest(created.Transaction); !reflect.DeepEqual(got, created.Transaction) {
		t.Errorf("without updates the latest is %+v", got)
	}

	for _, description := range []string{"first", "second"} {
		changed := work.Latest(created.Transaction)
		changed.UpdatedAt = changed.UpdatedAt.Add(time.Second)
		changed.State.Reason = transaction.FailureReason(description)
		work.Update(transaction.Decision{Transaction: changed, Events: []string{"INCOMING_PAYMENT." + description}})
	}
	env.write(work)

	if got, want := env.Transaction(created.Transaction.ID), created.Transaction.UpdatedAt.Add(2*time.Second); !got.UpdatedAt.Equal(want) ||
		got.State.Reason != "second" {
		t.Errorf("stored %+v", got)
	}
	env.WantEvents(created.Transaction.ID, event.IncomingPaymentCompleted, "INCOMING_PAYMENT.first", "INCOMING_PAYMENT.second")
}

func TestWork_BalanceEventsReportNewBalance(t *testing.T) {
	t.Parallel()
	// An account gets one event with its new balance for all postings together, whether or not
	// the balance was locked before. An account that is not opened has none.
	env := newEnv(t)
	notOpened := ledger.Account{Platform: env.Platform.ID, Path: ledger.CustomerAccount(ident.NewInternalAccount(env.IDs.New, apptest.Noon)),
		Currency: money.USD}
	for _, lock := range []bool{false, true} {
		work := env.newWork()
		for range 2 {
			work.Post(env.newDeposit(1_00).Postings...)
		}
		toNotOpened := env.newDeposit(5_00).Postings[0]
		toNotOpened.Entries[0].Credit = notOpened.Path
		work.Post(toNotOpened)

		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			if lock {
				own := ledger.Account{Platform: env.Platform.ID, Path: env.path, Currency: money.USD}
				balances, err := work.LockBalances(ctx, env.Tx(tx), []ledger.Account{own, notOpened})
				if err != nil || balances[own] != 12_00 {
					t.Errorf("locked %v, %v", balances, err)
				}
			}
			return work.Write(ctx, env.Tx(tx))
		})
	}

	if got, want := env.Events.Balances(env.account.ID), []int64{12_00, 14_00}; !slices.Equal(got, want) || len(env.Events.All()) != 2 {
		t.Errorf("balances %v of %d events, want %v", got, len(env.Events.All()), want)
	}
}

func TestWork_LocksUsageAfterBalances(t *testing.T) {
	t.Parallel()
	// A payment of an agent that fails waits for the balances that its postings lock, also of an account that ends as
	// it began, before it locks the counter of the agent. So a payment that has locked the balances can be counted.
	env := newEnv(t)
	bank := env.NewBankAccount("123456789")
	payment, err := transaction.TransferOut{Platform: env.Platform.ID, From: env.account.ID, To: bank.ID, Amount: 1_00}.Make(
		ident.NewTransaction(env.IDs.New, env.Clock.Now()), transaction.TransferOutParties{Customer: &env.Customer, From: &env.account,
			To: &bank}, env.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	payment.Transaction.Agent = ident.NewAgent(env.IDs.New, env.Clock.Now())
	payment.Transaction.AgentUsage = &transaction.AgentUsage{Day: "2026-03-14"}
	work := env.newWork()
	work.Create(payment)
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		count := ports.AgentCount{Agent: payment.Transaction.Agent, Counter: agent.Counter{Day: "2026-03-14", Currency: money.USD,
			Transactions: 1, Spent: 1_00}}
		return errors.Join(tx.AddAgentUsage(ctx, env.Platform.ID, []ports.AgentCount{count}), work.Write(ctx, env.Tx(tx)))
	})
	refusal, err := payment.Transaction.Refuse("", env.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	failing, failed := env.newWork(), make(chan error, 1)
	failing.Update(refusal)

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockBalances(ctx, []ledger.Account{env.account.LedgerAccount()}); err != nil {
			return err
		}
		go func() { failed <- ports.Do(context.WithoutCancel(ctx), env.Store, failing.Write) }()
		env.AwaitLockWait()
		if free := env.QueryStrings(`SELECT currency FROM agent_usage FOR UPDATE SKIP LOCKED`); len(free) != 1 {
			t.Error("the counter is locked")
		}
		return nil
	})

	if err := <-failed; err != nil {
		t.Error(err)
	}
	if left := env.QueryStrings(`SELECT transactions || ' ' || spent FROM agent_usage`); !slices.Equal(left, []string{"0 0"}) {
		t.Errorf("counted %q", left)
	}
}

func TestWork_LocalJobs(t *testing.T) {
	t.Parallel()
	// Subjects that are due at once share a job for each platform and step, which other
	// processes may take when the local lease ends. A job due at a time is not a local job, and a
	// process without workers has none.
	env := newEnv(t)
	now := env.Clock.Now()
	subjects := []uuid.UUID{env.IDs.New(now), env.IDs.New(now), env.IDs.New(now)}
	for _, lease := range []time.Duration{localLease, 0} {
		work := uow.NewWork(now, env.IDs, lease)
		work.Enqueue(env.Platform.ID, transaction.StepRefund, subjects[0])
		work.EnqueueAt(env.Platform.ID, transaction.StepExpire, subjects[1], now.Add(time.Hour))
		work.Enqueue(env.Platform.ID, transaction.StepRefund, subjects[2])
		env.write(work)

		local := work.LocalJobs()
		taken, err := env.Store.TakeJobs(t.Context(), transaction.StepRefund, now.Add(lease), time.Minute, 10)
		if err != nil || len(taken) != 1 || !slices.Equal(taken[0].Subjects, []uuid.UUID{subjects[0], subjects[2]}) {
			t.Fatalf("with a lease of %s: due %+v, %v", lease, taken, err)
		}
		if lease == 0 && len(local) > 0 || lease > 0 && (len(local) != 1 || local[0].ID != taken[0].ID || !local[0].Due.Equal(now.Add(lease))) {
			t.Errorf("with a lease of %s: local jobs %+v", lease, local)
		}
	}
	if n := env.CountJobs(transaction.StepExpire); n != 2 {
		t.Errorf("%d jobs due later, want 2", n)
	}
	if early, err := env.Store.TakeJobs(t.Context(), transaction.StepExpire, now.Add(time.Hour-time.Millisecond), time.Minute,
		10); err != nil || len(early) > 0 {
		t.Errorf("taken early: %+v, %v", early, err)
	}
}

func TestWork_ContinueKeepsJob(t *testing.T) {
	t.Parallel()
	// A job of one subject is continued under its id and another lease. One of two subjects is continued
	// by a job for each, with ids that are always the same and have the time of the first one.
	env := newEnv(t)
	now := env.Clock.Now()
	one, other := env.IDs.New(now), env.IDs.New(now)
	single := ports.Job{ID: env.IDs.New(now), Platform: env.Platform.ID, Lease: 4, Subjects: []uuid.UUID{one}}
	double := single
	double.ID, double.Subjects = env.IDs.New(now), []uuid.UUID{one, other}

	var continued []ports.Job
	for range 2 {
		work := uow.NewWork(now.Add(time.Hour), env.IDs, localLease)
		work.Continue(single, one, ports.Job{Platform: env.Platform.ID, Step: transaction.StepRefund, Due: now, Attempts: 2})
		work.Continue(double, one, ports.Job{Platform: env.Platform.ID, Step: transaction.StepRefund, Due: now, Attempts: 2})
		work.Continue(double, other, ports.Job{Platform: env.Platform.ID, Step: transaction.StepRefund, Due: now, Attempts: 2})
		continued = append(continued, work.FailedJobs()...)
	}

	for i, j := range continued[:3] {
		if j.Lease != 5 || len(j.Subjects) != 1 || j.ID != continued[i+3].ID || j.ID.Version() != 7 || j.ID.Time() != single.ID.Time() {
			t.Errorf("%+v, and again %+v", j, continued[i+3])
		}
	}
	if continued[0].ID != single.ID || continued[1].ID == continued[2].ID || continued[1].ID == double.ID {
		t.Errorf("the ids are %s, %s and %s", continued[0].ID, continued[1].ID, continued[2].ID)
	}
}

// replies is a unit of work that records rail replies and accepts everything else.
type replies struct {
	*postgres.Unit
	saved []ports.RailReply
}

func (r *replies) CreateTransactions(context.Context, []transaction.Transaction) error { return nil }
func (r *replies) UpdateTransactions(context.Context, []transaction.Transaction) error { return nil }
func (r *replies) Emit(context.Context, []event.Event) error                           { return nil }
func (r *replies) AddJobs(context.Context, []ports.Job) error                          { return nil }
func (r *replies) Post(context.Context, []ledger.Posting) error                        { return nil }

func (r *replies) SaveRailReplies(_ context.Context, saved []ports.RailReply) error {
	r.saved = append(r.saved, saved...)
	return nil
}

func TestWork_RecordsRailReplies(t *testing.T) {
	t.Parallel()
	// Replies are saved, except replies without a call, and Done of which the partner says no more.
	reply := func(call ports.RailCall, v ports.Verdict) ports.RailReply {
		return ports.RailReply{Call: call, Outcome: ports.Outcome{Verdict: v}}
	}
	work, tx := uow.NewWork(apptest.Noon, nil, 0), &replies{}
	work.RecordReply(reply(ports.CallSend, ports.Done))
	work.RecordReply(reply(ports.CallSend, ports.Waiting))
	work.RecordReply(reply(ports.CallNone, ports.Refused))
	work.RecordReply(reply(ports.CallRefund, ports.Refused))
	work.RecordReply(ports.RailReply{Call: ports.CallSend, Outcome: ports.Outcome{Verdict: ports.Done, PartnerID: "TRX-1"}})
	work.RecordReply(ports.RailReply{Call: ports.CallStatus, Outcome: ports.Outcome{Verdict: ports.Done, PartnerID: "TRX-1"}})

	if err := work.Write(t.Context(), tx); err != nil {
		t.Fatal(err)
	}

	if len(tx.saved) != 3 || tx.saved[0].Verdict != ports.Waiting || tx.saved[1].Call != ports.CallRefund || tx.saved[2].PartnerID != "TRX-1" {
		t.Errorf("saved %+v", tx.saved)
	}
}
