package payments_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestExecute_FromAccount(t *testing.T) {
	t.Parallel()
	// An account pays when the quote is executed: what it held at the bank leaves by
	// the rail of the payout, less fee and exchange.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 50_000)
	q := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: env.NewWallet("spark1good").ID})

	if got := env.execute(t, q); got.Status != quote.Processing || q.Reference != "" || q.Instructions != nil {
		t.Errorf("%s, %+v", got.Status, q)
	}
	env.WaitForState(q.Transaction, "COMPLETED")

	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	env.wantNotifiedBalances(t, dollars, 50_000-10050)
	env.WantBalances(map[string]int64{
		"rails/WIRE USD": 50_000, dollars.LedgerPath() + " USD": -(50_000 - 10050), "income/fees USD": -q.Pricing.Fees,
		"fx/position USD": -(10050 - q.Pricing.Fees), "fx/position BTC": q.Pricing.Received.Minor, "chains/LAYER2 BTC": -q.Pricing.Received.Minor,
	})
	if _, err := env.ExecuteQuote(t.Context(), env.Platform.ID, q.ID, nil); !fault.Is(err, fault.QuoteAlreadyExecuted) {
		t.Errorf("executed again: %v", err)
	}
}

func TestExecute_FromPlatformAccount(t *testing.T) {
	t.Parallel()
	// The platform's own balance pays bitcoin to a customer's wallet, and the payment
	// is the customer's.
	env := newEnv(t)
	dollars := env.account(ident.Customer{}, "USD", 500)
	q := env.quoteFrom(t, quote.Source{Internal: dollars.ID, Customer: env.Customer.ID}, 500, quote.Destination{External: env.NewWallet("spark1good").ID})

	env.execute(t, q)
	done := env.WaitForState(q.Transaction, "COMPLETED")

	if done.Customer != env.Customer.ID || done.PlatformCustomerID != "ana" {
		t.Errorf("customer %s %q", done.Customer, done.PlatformCustomerID)
	}
}

func TestExecute_InternalPayment(t *testing.T) {
	t.Parallel()
	// From one account to another it is exchanged and has arrived; nothing is
	// delivered, and no bank can return it.
	env := newEnv(t)
	dollars, euros := env.account(env.Customer.ID, "USD", 10050), env.account(env.Customer.ID, "EUR", 0)
	q := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{Internal: euros.ID})

	if got := env.execute(t, q); got.Status != quote.Completed {
		t.Fatal(got.Status)
	}

	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	p := q.Pricing
	env.wantNotifiedBalances(t, dollars, 0)
	env.wantNotifiedBalances(t, euros, p.Received.Minor)
	want := map[string]int64{
		"rails/WIRE USD": 10050, "income/fees USD": -p.Fees, "fx/position USD": -(p.Sent.Minor - p.Fees - p.RoundingSent),
		"fx/position EUR": p.Received.Minor, euros.LedgerPath() + " EUR": -p.Received.Minor,
	}
	if p.RoundingSent > 0 {
		want["income/rounding USD"] = -p.RoundingSent
	}
	env.WantBalances(want)
}

func TestReceive_JustInTimeToAccount(t *testing.T) {
	t.Parallel()
	// Dollars that a payer sends just in time become bitcoin on the customer's account.
	env := newEnv(t)
	bitcoin := env.account(env.Customer.ID, "BTC", 0)
	q := env.quoteFrom(t, quote.Source{Customer: env.Customer.ID, Currency: "USD"}, 10050, quote.Destination{Internal: bitcoin.ID})

	got, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil)

	if err != nil || got.State.Status != transaction.Completed {
		t.Fatalf("%s, %v", got.State, err)
	}
	env.WantBalances(map[string]int64{
		"rails/RTP USD": 10050, "income/fees USD": -q.Pricing.Fees, "fx/position USD": -(10050 - q.Pricing.Fees),
		"fx/position BTC": q.Pricing.Received.Minor, bitcoin.LedgerPath() + " BTC": -q.Pricing.Received.Minor,
	})
}

func TestExecute_DestinationAccountFull(t *testing.T) {
	t.Parallel()
	// What would not fit into the account that receives is not exchanged: a quote that an
	// account pays stays as it is, and what a payer sent is kept as unmatched.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 10050)
	euros, bitcoin := env.account(env.Customer.ID, "EUR", account.MaxBalance-1), env.account(env.Customer.ID, "BTC", account.MaxBalance-1)
	prefunded := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{Internal: euros.ID})
	justInTime := env.quoteFrom(t, quote.Source{Customer: env.Customer.ID, Currency: "USD"}, 10050, quote.Destination{Internal: bitcoin.ID})

	_, err := env.ExecuteQuote(t.Context(), env.Platform.ID, prefunded.ID, nil)
	if !fault.Is(err, fault.AmountOutOfRange) {
		t.Errorf("executed: %v", err)
	}
	receipt := env.receipt(justInTime, "RTP", 10050)
	if _, err := env.Receive(t.Context(), receipt, nil); !fault.Is(err, fault.AmountOutOfRange) {
		t.Errorf("paid: %v", err)
	}
	if _, err := env.Receive(t.Context(), receipt, nil); err != nil { // reported twice
		t.Error(err)
	}

	for _, q := range []quote.Quote{prefunded, justInTime} {
		if got, err := env.GetTransaction(t.Context(), env.Platform.ID, q.Transaction); err != nil || got.State != transaction.Initial {
			t.Errorf("%s, %v", got.State, err)
		}
	}
	env.WantBalances(map[string]int64{
		"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -10050, "rails/RTP USD": 10050, "funding/unmatched USD": -10050,
		"rails/WIRE EUR": account.MaxBalance - 1, euros.LedgerPath() + " EUR": 1 - account.MaxBalance,
		"rails/WIRE BTC": account.MaxBalance - 1, bitcoin.LedgerPath() + " BTC": 1 - account.MaxBalance,
	})
}

func TestExecute_CollectsFromBankAccount(t *testing.T) {
	t.Parallel()
	// Execution collects the funds from the customer's bank, and their arrival continues the
	// payment. If the collection fails, the payment fails, without a refund.
	env := newEnv(t)
	wallet := quote.Destination{External: env.NewWallet("spark1good").ID}
	good := env.quoteFrom(t, quote.Source{External: env.NewBankAccount("000123456").ID}, 10050, wallet)
	bad := env.quoteFrom(t, quote.Source{External: env.NewBankAccount("000123002").ID}, 10050, wallet)

	env.execute(t, good)
	env.execute(t, bad)
	env.WaitForState(good.Transaction, "COMPLETED")
	failed := env.WaitForState(bad.Transaction, "FAILED")

	if failed.State.Reason != transaction.QuoteExecutionFailed || failed.Refund != nil {
		t.Errorf("%q, %+v", failed.State.Reason, failed.Refund)
	}
	env.wantOutgoingEvents(good.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	env.wantOutgoingEvents(bad.Transaction, "PENDING", "PROCESSING", "FAILED")
	env.WantBalances(map[string]int64{
		"rails/ACH USD": 10050, "income/fees USD": -good.Pricing.Fees, "fx/position USD": -(10050 - good.Pricing.Fees),
		"fx/position BTC": good.Pricing.Received.Minor, "chains/LAYER2 BTC": -good.Pricing.Received.Minor,
	})
}

func TestRefund_FailedPayoutToAccount(t *testing.T) {
	t.Parallel()
	// A payout that fails, or comes back, is refunded to the account that paid; where
	// the refund fails too, people must look after the money.
	for suffix, c := range map[string]struct{ state, left string }{
		"002": {"FAILED (refund COMPLETED)", ""},
		"005": {"FAILED (refund COMPLETED)", ""},
		"006": {"FAILED (refund COMPLETED)", ""},
		"007": {"FAILED (refund FAILED)", "funding/unmatched USD"},
	} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			dollars := env.account(env.Customer.ID, "USD", 10050)
			q := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: env.NewWallet("spark1" + suffix).ID})

			env.execute(t, q)
			if suffix == "005" {
				env.WaitForState(q.Transaction, "COMPLETED")
				env.Clock.Advance(time.Hour)
			}
			env.WaitForState(q.Transaction, c.state)

			if c.left == "" {
				c.left = dollars.LedgerPath() + " USD"
				env.wantNotifiedBalances(t, dollars, 0, 10050)
			} else {
				env.wantNotifiedBalances(t, dollars, 0)
			}
			env.WantBalances(map[string]int64{"rails/WIRE USD": 10050, c.left: -10050})
		})
	}
}

func TestTransferOut(t *testing.T) {
	t.Parallel()
	// A transfer leaves in its own currency, without a fee; its account number picks
	// what the rail does with it.
	const whole = "FAILED (refund COMPLETED)"
	for suffix, c := range map[string]struct {
		state  string
		wait   time.Duration
		events []string
	}{
		"456": {"COMPLETED", 0, []string{"PENDING", "PROCESSING", "COMPLETED"}},
		"002": {whole, 0, []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"003": {whole, 0, []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"004": {whole, 0, []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"005": {whole, time.Minute, []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"006": {"COMPLETED", 0, []string{"PENDING", "PROCESSING", "COMPLETED"}}, // the ends of quotes mean nothing here
	} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			dollars := env.account(env.Customer.ID, "USD", 10050)
			bank := env.NewBankAccount("000123" + suffix)

			made, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: dollars.ID, To: bank.ID, Amount: 5000}, nil)
			if err != nil || made.State.Status != transaction.Pending {
				t.Fatalf("%s, %v", made.State, err)
			}
			if c.wait > 0 {
				env.WaitForState(made.ID, "PENDING")
				env.Clock.Advance(c.wait)
			}
			env.WaitForState(made.ID, c.state)

			env.wantOutgoingEvents(made.ID, c.events...)
			want := map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -10050}
			if c.state == "COMPLETED" {
				want = map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -5050, "rails/RTP USD": -5000}
			}
			env.WantBalances(want)
		})
	}
}

func TestTransferOutWithID_IsIdempotent(t *testing.T) {
	t.Parallel()
	// Repeated and concurrent requests with one id make one transfer.
	env := newEnv(t)
	dollars, bank := env.account(env.Customer.ID, "USD", 10050), env.NewBankAccount("000123456")
	id := ident.NewTransaction(env.IDs.New, apptest.Noon)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := env.TransferOutWithID(t.Context(), id, transaction.TransferOut{Platform: env.Platform.ID, From: dollars.ID, To: bank.ID, Amount: 1000}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	env.WaitForState(id, "COMPLETED")

	env.WantBalances(map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -9050, "rails/RTP USD": -1000})
}

func TestExecute_ConcurrentCallsExecuteOnce(t *testing.T) {
	t.Parallel()
	// Two hundred calls at the same time execute a quote once.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 10050)
	q := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: env.NewWallet("spark1good").ID})
	var ran atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			switch _, err := env.ExecuteQuote(t.Context(), env.Platform.ID, q.ID, nil); {
			case err == nil:
				ran.Add(1)
			case !fault.Is(err, fault.QuoteAlreadyExecuted):
				t.Error(err)
			}
		})
	}
	all.Wait()
	env.WaitForState(q.Transaction, "COMPLETED")

	if ran.Load() != 1 {
		t.Errorf("executed %d times", ran.Load())
	}
	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	env.WantBalances(map[string]int64{
		"rails/WIRE USD": 10050, "income/fees USD": -q.Pricing.Fees, "fx/position USD": -(10050 - q.Pricing.Fees),
		"fx/position BTC": q.Pricing.Received.Minor, "chains/LAYER2 BTC": -q.Pricing.Received.Minor,
	})
}

func TestExecute_ConcurrentNeverOverdraws(t *testing.T) {
	t.Parallel()
	// A thousand payouts at once from an account that can bear five hundred: exactly
	// those complete, the others say why not, and can be executed after a deposit.
	const asked, borne, each = 1000, 500, 1000
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", borne*each)
	wallet := quote.Destination{External: env.NewWallet("spark1good").ID}
	var all sync.WaitGroup
	var mu sync.Mutex
	var paid, short []quote.Quote
	for range asked {
		all.Go(func() {
			made, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: dollars.ID}, Destination: wallet,
				Side: quote.Sending, Amount: each}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = env.ExecuteQuote(t.Context(), env.Platform.ID, made.Quote.ID, nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				paid = append(paid, made.Quote)
			case fault.Is(err, fault.InsufficientBalance):
				short = append(short, made.Quote)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(paid) != borne || len(short) != asked-borne {
		t.Fatalf("%d paid and %d did not", len(paid), len(short))
	}
	var received, fees int64
	for _, q := range paid {
		env.WaitForState(q.Transaction, "COMPLETED")
		received, fees = received+q.Pricing.Received.Minor, fees+q.Pricing.Fees
	}

	env.WaitForState(short[0].Transaction, "PENDING")
	env.WantBalances(map[string]int64{
		"rails/WIRE USD": borne * each, "income/fees USD": -fees, "fx/position USD": -(borne*each - fees),
		"fx/position BTC": received, "chains/LAYER2 BTC": -received,
	})
}

func TestCreateQuote_ExecuteImmediately(t *testing.T) {
	t.Parallel()
	// A quote can be executed as it is made. One that the account cannot bear says so,
	// moves nothing, and expires.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 10050)
	request := quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: dollars.ID}, Destination: quote.Destination{External: env.NewWallet("spark1good").ID},
		Side: quote.Sending, Amount: 10050, ExecuteImmediately: true}

	made, err := env.CreateQuote(t.Context(), request, nil)
	if err != nil || made.Status != quote.Processing {
		t.Fatalf("%s, %v", made.Status, err)
	}
	_, again := env.CreateQuote(t.Context(), request, nil)

	if !fault.Is(again, fault.InsufficientBalance) {
		t.Errorf("with nothing left: %v", again)
	}
	env.WaitForState(made.Quote.Transaction, "COMPLETED")
}

func TestExecute_Refused(t *testing.T) {
	t.Parallel()
	// Each refusal says what is wrong, and moves nothing.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 10050)
	wallet := env.NewWallet("spark1good")
	late := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: wallet.ID})
	realtime := env.quote(t, "USD", 10050, wallet)
	elsewhere := ident.NewPlatform(env.IDs.New, apptest.Noon)

	_, unpaid := env.ExecuteQuote(t.Context(), env.Platform.ID, realtime.ID, nil)
	_, foreign := env.ExecuteQuote(t.Context(), elsewhere, late.ID, nil)
	env.Clock.Advance(late.ExpiresAt.Sub(apptest.Noon))
	_, expired := env.ExecuteQuote(t.Context(), env.Platform.ID, late.ID, nil)
	env.WaitForState(late.Transaction, "EXPIRED")

	if !fault.Is(unpaid, fault.QuoteNotExecutable) || !fault.Is(foreign, fault.QuoteNotFound) || !fault.Is(expired, fault.QuoteExpired) {
		t.Error(errors.Join(unpaid, foreign, expired))
	}
	env.WantBalances(map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -10050})
}

func TestExecute_ToUMAAddress(t *testing.T) {
	t.Parallel()
	// A person is paid in their currency, or in the payer's own without a fee; their
	// provider may take its time, or refuse, and then the account has its money back.
	for address, c := range map[string]struct {
		currency money.Currency
		wait     time.Duration
		state    string
	}{
		"$success.eur@sandbox.uma.test":         {"EUR", 0, "COMPLETED"},
		"$success.usd@sandbox.uma.test":         {"USD", 0, "COMPLETED"},
		"$pending.long.usd@sandbox.uma.test":    {"USD", 7 * time.Minute, "COMPLETED"},
		"$fail.compliance.usd@sandbox.uma.test": {"USD", 0, "FAILED (refund COMPLETED)"},
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			dollars := env.account(env.Customer.ID, "USD", 10050)
			lookup := quote.Lookup{ID: ident.NewLookup(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: env.Customer.ID, SenderUMA: "$ana@uma.test",
				ReceiverUMA: address, Currencies: []money.Currency{c.currency}, CreatedAt: apptest.Noon, ExpiresAt: apptest.Noon.Add(quote.LookupValidity)}
			if err := env.Store.Do(t.Context(), func(ctx context.Context, tx ports.Tx) error { return tx.CreateLookup(ctx, lookup) }); err != nil {
				t.Fatal(err)
			}
			made, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: dollars.ID},
				Destination: quote.Destination{UMA: address}, Lookup: lookup.ID, Side: quote.Sending, Amount: 10050}, nil)
			if err != nil {
				t.Fatal(err)
			}

			env.execute(t, made.Quote)
			if c.wait > 0 {
				env.WaitForState(made.Quote.Transaction, "PROCESSING")
				env.Clock.Advance(c.wait)
			}
			env.WaitForState(made.Quote.Transaction, c.state)

			want := map[string]int64{"rails/WIRE USD": 10050, "rails/UMA " + string(c.currency): -made.Quote.Pricing.Received.Minor}
			switch {
			case c.state != "COMPLETED":
				want = map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -10050}
			case c.currency != "USD":
				p := made.Quote.Pricing
				want["income/fees USD"], want["fx/position USD"], want["fx/position EUR"] = -p.Fees, -(p.Sent.Minor - p.Fees - p.RoundingSent), p.Received.Minor
				if p.RoundingSent > 0 {
					want["income/rounding USD"] = -p.RoundingSent
				}
			}
			env.WantBalances(want)
		})
	}
}
