package payments_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

const cancelledAndRefunded = "FAILED (refund COMPLETED)"

func TestCancel_BeforeThePayoutLeaves(t *testing.T) {
	t.Parallel()
	// A payout that has not left is cancelled wherever it waits, any number of times. It never leaves, and the payer has the money again.
	for name, before := range waitingPayouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newRecallEnv(t)
			e.pay("in-1", 50_00)
			before(e)

			for range 2 {
				cancelled, err := e.CancelTransaction(t.Context(), e.Platform.ID, e.quoted.Transaction, "changed their mind", nil)
				if err != nil || !cancelled.IsCancelled() || cancelled.Refund == nil ||
					cancelled.Refund.Reason != transaction.RefundCancellation || cancelled.Refund.Amount.Minor != 50_00 {
					t.Fatalf("%+v, %v", cancelled, err)
				}
			}
			for _, name := range []string{"bank", "ACH"} {
				_ = e.Store.SaveRailPause(t.Context(), ports.RailPause{Name: name, By: "ana", Note: "test", At: e.Clock.Now()})
			}
			e.settle(ports.Outcome{Verdict: ports.Done})

			if payout := "PAYOUT " + e.quoted.Transaction.UUID().String(); e.adapter.left[payout] || len(e.adapter.left) != 1 {
				t.Errorf("%v left, want only the refund", e.adapter.left)
			}
			if e.state() != cancelledAndRefunded {
				t.Errorf("the payment is %s", e.state())
			}
			e.WantBalances(nil)
			e.checkLedger(t)
		})
	}
}

func TestCancel_AfterThePayoutLeft(t *testing.T) {
	t.Parallel()
	// A payout that has left cannot be cancelled, before and after it is delivered, and goes on as if nobody had tried.
	e := newRecallEnv(t)
	e.pay("in-1", 50_00)
	e.runDue(t)

	for range 2 {
		_, err := e.CancelTransaction(t.Context(), e.Platform.ID, e.quoted.Transaction, "", nil)
		if !fault.Is(err, fault.TransactionNotCancellable) {
			t.Errorf("%v, want TRANSACTION_NOT_CANCELLABLE", err)
		}
		e.settle(ports.Outcome{Verdict: ports.Done})
	}

	if e.state() != "COMPLETED" || len(e.adapter.left) != 1 {
		t.Errorf("the payment is %s, and %v left", e.state(), e.adapter.left)
	}
	e.checkLedger(t)
}

func TestCancel_WhileThePayoutLeaves(t *testing.T) {
	t.Parallel()
	// Of a cancellation and a departure at the same time one wins: the payout is cancelled and does not leave, or leaves and is delivered.
	for range 8 {
		e := newRecallEnv(t)
		e.pay("in-1", 50_00)
		var running sync.WaitGroup
		var refused error
		running.Go(func() {
			_, refused = e.CancelTransaction(context.Background(), e.Platform.ID, e.quoted.Transaction, "", nil)
		})
		e.runDue(t)
		running.Wait()
		e.settle(ports.Outcome{Verdict: ports.Done})

		left := e.adapter.left["PAYOUT "+e.quoted.Transaction.UUID().String()]
		switch {
		case refused == nil && (left || e.state() != cancelledAndRefunded):
			t.Errorf("it was cancelled, is %s, and has left: %t", e.state(), left)
		case refused != nil && (!fault.Is(refused, fault.TransactionNotCancellable) || !left || e.state() != "COMPLETED"):
			t.Errorf("%v, it is %s, and has left: %t", refused, e.state(), left)
		}
		e.checkLedger(t)
	}
}

func TestCancel_Sandbox(t *testing.T) {
	t.Parallel()
	// In the sandbox a payment that is pending for a while can be cancelled until it ends: a payout, a transfer, and a collection. One that
	// was delivered cannot, nor can what no bank carries.
	env := newEnv(t)
	slow, other := env.NewBankAccount("1234567005"), env.NewBankAccount("000123456")
	dollars := env.account(env.Customer.ID, "USD", 100_00)
	out := func(to account.External, minor int64) transaction.Transaction {
		t.Helper()
		created, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: dollars.ID, To: to.ID,
			Amount: minor}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return created
	}
	in, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: slow.ID, To: dollars.ID,
		Amount: 50_00}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wallet := quote.Destination{External: env.NewWallet("spark1good").ID}
	collected := env.execute(t, env.quoteFrom(t, quote.Source{External: slow.ID}, 40_00, wallet))

	sent := out(slow, 60_00)
	for _, of := range []transaction.Transaction{sent, in, env.Transaction(collected.Quote.Transaction)} {
		cancelled, err := env.CancelTransaction(t.Context(), env.Platform.ID, of.ID, "", nil)
		if err != nil || cancelled.State.Status != transaction.Failed || !cancelled.IsCancelled() {
			t.Fatalf("%+v, %v", cancelled, err)
		}
	}
	env.WaitForState(sent.ID, cancelledAndRefunded)
	env.Clock.Advance(time.Minute)

	done := out(other, 10_00)
	env.waitForStatus(done.ID, transaction.Completed)
	unpaid := env.quote(t, "USD", 20_00, other)
	for _, of := range []transaction.Transaction{done, env.Transaction(unpaid.Transaction)} {
		if _, err := env.CancelTransaction(t.Context(), env.Platform.ID, of.ID, "", nil); !fault.Is(err, fault.TransactionNotCancellable) {
			t.Errorf("%s: %v, want TRANSACTION_NOT_CANCELLABLE", of.State, err)
		}
	}
	env.WantBalances(map[string]int64{"customers/" + dollars.ID.String() + " USD": -90_00, "rails/WIRE USD": 100_00, "rails/RTP USD": -10_00})
	env.checkLedger(t)
}

func TestCancel_WhileAWalletIsDebited(t *testing.T) {
	t.Parallel()
	// What a wallet pays to a bank account cannot be cancelled while its chain carries the money, and can once it has arrived.
	env := newWalletEnv(t)
	var arrived atomic.Bool
	env.Chain.OnDebit = func(_ context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
		o := ports.Outcome{Verdict: ports.Waiting, RetryAt: env.Clock.Now().Add(time.Second)}
		if arrived.Load() {
			o = ports.Outcome{Verdict: ports.Done}
		}
		return slices.Repeat([]ports.Outcome{o}, len(transfers))
	}
	q := env.walletQuote(t, quote.Destination{External: env.NewBankAccount("1234567003").ID})
	env.mustExecuteSigned(t, q)

	if _, err := env.CancelTransaction(t.Context(), env.Platform.ID, q.Transaction, "", nil); !fault.Is(err, fault.TransactionNotCancellable) {
		t.Errorf("%v, want TRANSACTION_NOT_CANCELLABLE", err)
	}
	arrived.Store(true)
	env.Clock.Advance(time.Second)
	env.WaitForNoJobs(transaction.StepDebitWallet)
	cancelled, err := env.CancelTransaction(t.Context(), env.Platform.ID, q.Transaction, "", nil)
	if err != nil || !cancelled.IsCancelled() {
		t.Fatalf("%+v, %v", cancelled, err)
	}
	env.WaitForState(q.Transaction, cancelledAndRefunded)
	env.WantBalances(map[string]int64{"rails/WIRE USDB": 100_000_000, env.wallet.LedgerPath() + " USDB": -100_000_000})
}

func TestCancel_OnlyBankTransfers(t *testing.T) {
	t.Parallel()
	// What a chain carries, or nobody outside, is refused with 400.
	env := newEnv(t)
	dollars, euros := env.account(env.Customer.ID, "USD", 100_00), env.NewInternalAccount(env.Customer.ID, "EUR", 0)
	inside := env.execute(t, env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10_00, quote.Destination{Internal: euros.ID}))
	wallet := quote.Destination{External: env.NewWallet("spark1good").ID}
	onChain := env.execute(t, env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10_00, wallet))

	for _, of := range []quote.WithStatus{inside, onChain} {
		if _, err := env.CancelTransaction(t.Context(), env.Platform.ID, of.Quote.Transaction, "", nil); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%v, want INVALID_INPUT", err)
		}
	}
}
