package payments_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// checkLedger reports what the ledger check finds.
func (e *env) checkLedger(t *testing.T) {
	t.Helper()
	for _, f := range audittest.Check(t, e.Env).Findings {
		t.Errorf("the ledger check finds: %+v", f)
	}
}

func wantConflict(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("%s: %v, want CONFLICT", what, err)
	}
}

func TestExpireQuote_LatePaymentIsRefunded(t *testing.T) {
	t.Parallel()
	// A quote expires now, for good: the quote says so, what is paid afterwards comes back as late, and its own expiry changes
	// nothing. Other quotes stay.
	env := newReceivingEnv(t)
	defer env.checkLedger(t)
	wallet := env.NewWallet("spark1good")
	q, other := env.quote(t, "USD", 10050, wallet), env.quote(t, "USD", 10050, wallet)
	env.Clock.Advance(time.Second)

	expired, err := env.ExpireQuote(t.Context(), env.Platform.ID, q.ID, nil)

	if err != nil || expired.Status != quote.Expired || !expired.Quote.ExpiresAt.Equal(env.Clock.Now()) {
		t.Fatalf("%v, %+v", err, expired)
	}
	read, err := env.GetQuote(t.Context(), env.Platform.ID, q.ID)
	if err != nil || read.Status != quote.Expired || !read.Quote.ExpiresAt.Equal(env.Clock.Now()) {
		t.Errorf("read %v, %+v", err, read)
	}
	_, err = env.ExpireQuote(t.Context(), env.Platform.ID, q.ID, nil)
	wantConflict(t, "again", err)
	env.Clock.Advance(time.Second)
	if _, err := env.SimulatePayment(t.Context(), env.Platform.ID, payments.SendRequest{Quote: q.ID, Currency: "USD"}, nil); err != nil {
		t.Fatal(err)
	}
	late := env.WaitForState(q.Transaction, "EXPIRED (refund COMPLETED)")
	if late.Refund.Reason != transaction.RefundTimeout {
		t.Errorf("refunded because of %s", late.Refund.Reason)
	}
	if got := env.Transaction(other.Transaction); got.State != transaction.Initial {
		t.Errorf("the other quote is %s", got.State)
	}
	env.Clock.Advance(time.Hour)
	env.WaitForState(other.Transaction, "EXPIRED")
	env.wantOutgoingEvents(q.Transaction, "PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED")
	_, err = env.ExpireQuote(t.Context(), env.Platform.ID, ident.NewQuote(env.IDs.New, env.Clock.Now()), nil)
	if !fault.Is(err, fault.QuoteNotFound) {
		t.Errorf("an unknown quote: %v", err)
	}
}

func TestExpireQuote_PaidFirst(t *testing.T) {
	t.Parallel()
	// A quote that was paid does not expire.
	env := newReceivingEnv(t)
	defer env.checkLedger(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
	if _, err := env.SimulatePayment(t.Context(), env.Platform.ID, payments.SendRequest{Quote: q.ID, Currency: "USD"}, nil); err != nil {
		t.Fatal(err)
	}

	_, err := env.ExpireQuote(t.Context(), env.Platform.ID, q.ID, nil)

	wantConflict(t, "a paid quote", err)
	env.WaitForState(q.Transaction, "COMPLETED")
}

func TestSettleNow_EndsTheWaiting(t *testing.T) {
	t.Parallel()
	// A slow payout completes at once, and a slow collection fails, as both would after their delays. The jobs that wait for
	// them find them settled. What waits for nothing is a conflict.
	env := newReceivingEnv(t)
	defer env.checkLedger(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1003"))
	if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil); err != nil {
		t.Fatal(err)
	}
	_, err := env.SettleNow(t.Context(), env.Platform.ID, ident.NewTransaction(env.IDs.New, env.Clock.Now()), nil)
	if !fault.Is(err, fault.TransactionNotFound) {
		t.Errorf("an unknown transaction: %v", err)
	}
	transfer, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: env.NewBankAccount("1234567005").ID,
		To: env.dollars.ID, Amount: 100}, nil)
	if err != nil {
		t.Fatal(err)
	}

	settled, err := env.SettleNow(t.Context(), env.Platform.ID, q.Transaction, nil)
	if err != nil || settled.State.Status != transaction.Completed || settled.SettledAt.IsZero() {
		t.Errorf("%v, %s", err, settled.State)
	}
	failed, err := env.SettleNow(t.Context(), env.Platform.ID, transfer.ID, nil)
	if err != nil || failed.State.Status != transaction.Failed {
		t.Errorf("%v, %s", err, failed.State)
	}

	for _, id := range []ident.Transaction{q.Transaction, transfer.ID} {
		_, err = env.SettleNow(t.Context(), env.Platform.ID, id, nil)
		wantConflict(t, "again", err)
	}
	waiting := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
	_, err = env.SettleNow(t.Context(), env.Platform.ID, waiting.Transaction, nil)
	wantConflict(t, "an unpaid quote", err)
	env.Clock.Advance(10 * time.Minute)
	env.WaitForNoJobs(transaction.StepDeliver)
	env.WaitForNoJobs(transaction.StepPull)
	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	env.wantIncomingEvents(t, transfer.ID, "INCOMING_PAYMENT.FAILED")
}

func TestReturnNow_AnyPayout(t *testing.T) {
	t.Parallel()
	// A payout of a quote and a transfer out are returned although no test value asks for it, and refunded; only once, and not
	// before they are completed.
	env := newReceivingEnv(t)
	defer env.checkLedger(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
	_, err := env.ReturnNow(t.Context(), env.Platform.ID, q.Transaction, nil)
	wantConflict(t, "an unpaid quote", err)
	if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil); err != nil {
		t.Fatal(err)
	}
	from := env.account(ident.Customer{}, "USD", 100_00)
	transfer, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: from.ID, To: env.newOwnBank().ID,
		Amount: 25_00}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []ident.Transaction{q.Transaction, transfer.ID} {
		env.WaitForState(id, "COMPLETED")

		returned, err := env.ReturnNow(t.Context(), env.Platform.ID, id, nil)

		if err != nil || returned.State.Status != transaction.Failed {
			t.Fatalf("%v, %s", err, returned.State)
		}
		env.WaitForState(id, "FAILED (refund COMPLETED)")
		_, err = env.ReturnNow(t.Context(), env.Platform.ID, id, nil)
		wantConflict(t, "again", err)
	}
	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
}

func TestTakeBackNow_OpensReceivable(t *testing.T) {
	t.Parallel()
	// A collection is taken back although no test value asks for it: the customer owes it. Only once, not before it has ended,
	// and not what was never collected.
	env := newReceivingEnv(t)
	defer env.checkLedger(t)
	pull := func(number string) transaction.Transaction {
		transfer, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: env.NewBankAccount(number).ID,
			To: env.dollars.ID, Amount: 25_00}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return transfer
	}
	done, slow := pull("1234567001"), pull("1234567005")
	env.waitForStatus(done.ID, transaction.Completed)
	_, err := env.TakeBackNow(t.Context(), env.Platform.ID, slow.ID, nil)
	wantConflict(t, "a collection that is not done", err)

	if _, err := env.TakeBackNow(t.Context(), env.Platform.ID, done.ID, nil); err != nil {
		t.Fatal(err)
	}

	if owed := env.wantReceivable(t, done.ID); owed.Amount.Minor != 25_00 {
		t.Errorf("owed %+v", owed)
	}
	_, err = env.TakeBackNow(t.Context(), env.Platform.ID, done.ID, nil)
	wantConflict(t, "again", err)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
	_, err = env.TakeBackNow(t.Context(), env.Platform.ID, q.Transaction, nil)
	wantConflict(t, "a payment that was not collected", err)
}

func TestSandboxTime_RepeatedAfterACrash(t *testing.T) {
	t.Parallel()
	// Whatever call to the database fails while a payment is moved on, the request that is repeated with its key moves it, once: what it
	// has changed, the reply of the rail and the response are one commit.
	type move func(*payments.Service, context.Context, ident.Platform, ident.Transaction, *ports.IdempotentRequest) (transaction.Transaction,
		error)
	for name, c := range map[string]struct {
		begin func(*interruptedEnv, testing.TB) ident.Transaction
		ended bool // the payment has to end first
		move  move
		want  transaction.Status
	}{
		"settle":    {(*interruptedEnv).beginPull, false, (*payments.Service).SettleNow, transaction.Completed},
		"return":    {(*interruptedEnv).beginPayout, true, (*payments.Service).ReturnNow, transaction.Failed},
		"take back": {(*interruptedEnv).beginPull, true, (*payments.Service).TakeBackNow, transaction.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newInterruptedEnv(t)
			store := &interruptedStore{Store: env.Store}
			interrupted := newService(env.Env, store, env.approvals)
			for n := 1; ; n++ {
				id := c.begin(env, t)
				if c.ended {
					env.runJobs(t, env.Service)
				}
				request := apptest.IdempotentRequest(env.Admin, fmt.Sprint("request ", n), func(result any) string {
					return string(result.(transaction.Transaction).State.Status)
				})
				store.arm(n, errors.New("unexpected EOF"))

				moved, err := c.move(interrupted, t.Context(), env.Platform.ID, id, request)
				if err != nil {
					moved, err = c.move(env.Service, t.Context(), env.Platform.ID, id, request)
				}

				if err != nil || moved.State.Status != c.want {
					t.Fatalf("after call %d failed: %s, %v", n, moved.State, err)
				}
				stored, err := env.Store.StoredResponses(t.Context(), []ports.IdempotencyKey{request.IdempotencyKey()})
				if err != nil || stored[0] == nil || string(stored[0].Body) != string(c.want) {
					t.Fatalf("after call %d failed: the response is %+v, %v", n, stored[0], err)
				}
				if name == "take back" {
					env.wantReceivable(t, id)
					replies, err := env.Store.RailReplies(t.Context(), env.Platform.ID, id.UUID(), 100)
					if err != nil || len(replies) != 1 || replies[0].Verdict != ports.Returned {
						t.Errorf("after call %d failed: replies %+v, %v", n, replies, err)
					}
				}
				if !store.interrupted() {
					if n < 5 {
						t.Errorf("only %d calls were made", n)
					}
					break
				}
			}
			env.runJobs(t, env.Service)
			env.checkLedger(t)
		})
	}
}
