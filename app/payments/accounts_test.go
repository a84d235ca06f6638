package payments_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestExecute_FromAccount(t *testing.T) {
	t.Parallel()
	// Executing a quote debits the internal account. The amount less the fee is converted and paid
	// out by the rail.
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
	// An account of the platform pays bitcoin to a customer's wallet, and the transaction belongs to
	// the customer.
	env := newEnv(t)
	dollars := env.account(ident.Customer{}, "USD", 500)
	q := env.quoteFrom(t, quote.Source{Internal: dollars.ID, Customer: env.Customer.ID}, 500,
		quote.Destination{External: env.NewWallet("spark1good").ID})

	env.execute(t, q)
	done := env.WaitForState(q.Transaction, "COMPLETED")

	if done.Customer != env.Customer.ID || done.PlatformCustomerID != "ana" {
		t.Errorf("customer %s %q", done.Customer, done.PlatformCustomerID)
	}
}

func TestExecute_InternalPayment(t *testing.T) {
	t.Parallel()
	// A quote from one internal account to another is converted and completed at once, without a
	// payout that could be returned.
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
	// Dollars that are paid in just in time are credited to the customer's account as bitcoin.
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
	// An amount beyond the maximum balance of the receiving account is not converted. A prefunded
	// quote does not change, and a payment for a just-in-time quote is held as unmatched funds.
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
	if _, err := env.Receive(t.Context(), receipt, nil); err != nil { // reported again
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
	// Executing a quote collects the funds from the customer's bank account, and they are paid out
	// once they are received. If they cannot be collected, the payment fails without a refund.
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
	// A payout that fails or is returned is refunded to the account that paid. If the refund fails
	// too, the amount is held as unmatched funds, for an operator to assign.
	for suffix, c := range map[string]struct{ state, account string }{
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

			if c.account == "" {
				c.account = dollars.LedgerPath() + " USD"
				env.wantNotifiedBalances(t, dollars, 0, 10050)
			} else {
				env.wantNotifiedBalances(t, dollars, 0)
			}
			env.WantBalances(map[string]int64{"rails/WIRE USD": 10050, c.account: -10050})
		})
	}
}

func TestTransferOut(t *testing.T) {
	t.Parallel()
	// A transfer is paid out in the currency of the account, without a fee. The digits of the
	// external account select the outcome of the rail.
	const refunded = "FAILED (refund COMPLETED)"
	for suffix, c := range map[string]struct {
		state  string
		wait   time.Duration
		events []string
	}{
		"456": {"COMPLETED", 0, []string{"PENDING", "PROCESSING", "COMPLETED"}},
		"002": {refunded, 0, []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"003": {refunded, 0, []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"004": {refunded, 0, []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"005": {refunded, time.Minute, []string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"006": {"COMPLETED", 0, []string{"PENDING", "PROCESSING", "COMPLETED"}}, // an outcome of quotes, not of transfers
	} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			dollars := env.account(env.Customer.ID, "USD", 10050)
			bank := env.NewBankAccount("000123" + suffix)

			created, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: dollars.ID, To: bank.ID,
				Amount: 5000}, nil)
			if err != nil || created.State.Status != transaction.Pending {
				t.Fatalf("%s, %v", created.State, err)
			}
			if c.wait > 0 {
				env.WaitForState(created.ID, "PENDING")
				env.Clock.Advance(c.wait)
			}
			env.WaitForState(created.ID, c.state)

			env.wantOutgoingEvents(created.ID, c.events...)
			want := map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -10050}
			if c.state == "COMPLETED" {
				want = map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -5050, "rails/RTP USD": -5000}
			}
			env.WantBalances(want)
		})
	}
}

func TestPlatformSettings_BindQuotesAndTransfers(t *testing.T) {
	t.Parallel()
	// A currency that the platform has enabled for incoming payments only cannot be sent by a quote or
	// a transfer. Its limits bind transfers as they bind quotes; a currency without settings has none.
	env := newEnv(t)
	changed := env.Platform
	changed.Currencies = []platform.Currency{{Code: "USD", MinAmount: 5_00, MaxAmount: 50_00, Directions: []string{"OUTGOING", "INCOMING"}},
		{Code: "EUR", MaxAmount: 1_000_000, Directions: []string{"INCOMING"}}}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePlatform(ctx, changed) })
	dollars, euros, pounds := env.account(env.Customer.ID, "USD", 100_00), env.account(env.Customer.ID, "EUR", 100_00),
		env.account(env.Customer.ID, "GBP", 100_00)
	bank, wallet := env.NewBankAccount("000123456"), env.NewWallet("spark1good")
	iban := env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: "EUR", Type: "EUR_ACCOUNT",
		Fields: map[string]string{"iban": "DE89370400440532013000"}, Rails: []corridor.Rail{corridor.SEPA}})
	sortCode := env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: "GBP", Type: "GBP_ACCOUNT",
		Fields: map[string]string{"sortCode": "200000", "accountNumber": "55779911"}, Rails: []corridor.Rail{corridor.FasterPayments}})
	quoteFrom := func(from quote.Source, minor int64) error {
		_, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: from,
			Destination: quote.Destination{External: wallet.ID}, Side: quote.Sending, Amount: minor}, nil)
		return err
	}
	out := func(from account.Internal, to account.External, minor int64) error {
		_, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: from.ID, To: to.ID, Amount: minor}, nil)
		return err
	}
	in := func(minor int64) error {
		_, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: bank.ID, To: dollars.ID, Amount: minor},
			nil)
		return err
	}

	for what, c := range map[string]struct {
		err  error
		code fault.Code
	}{
		"a quote from euros":              {quoteFrom(quote.Source{Internal: euros.ID}, 10_00), fault.InvalidCurrency},
		"a just-in-time quote from euros": {quoteFrom(quote.Source{Customer: env.Customer.ID, Currency: "EUR"}, 10_00), fault.InvalidCurrency},
		"a quote from dollars":            {quoteFrom(quote.Source{Internal: dollars.ID}, 10_00), ""},
		"a quote below the minimum":       {quoteFrom(quote.Source{Internal: dollars.ID}, 4_99), fault.AmountOutOfRange},
		"a quote from pounds":             {quoteFrom(quote.Source{Internal: pounds.ID}, 10_00), ""},
		"a transfer of euros":             {out(euros, iban, 10_00), fault.InvalidCurrency},
		"a transfer of dollars":           {out(dollars, bank, 5_00), ""},
		"a transfer below the minimum":    {out(dollars, bank, 4_99), fault.AmountOutOfRange},
		"a transfer above the maximum":    {out(dollars, bank, 50_01), fault.AmountOutOfRange},
		"a transfer of pounds":            {out(pounds, sortCode, 1), ""},
		"a transfer in":                   {in(50_00), ""},
		"a transfer in below the minimum": {in(4_99), fault.AmountOutOfRange},
		"a transfer in above the maximum": {in(50_01), fault.AmountOutOfRange},
	} {
		if c.code == "" && c.err != nil || c.code != "" && !fault.Is(c.err, c.code) {
			t.Errorf("%s: %v, want %q", what, c.err, c.code)
		}
	}
	if err := out(dollars, bank, 4_99); err == nil || !strings.Contains(err.Error(), "between 5.00 USD and 50.00 USD") {
		t.Errorf("the limits are not named: %v", err)
	}
}

func TestTransferOutWithID_IsIdempotent(t *testing.T) {
	t.Parallel()
	// Repeated and concurrent calls with the same id create one transfer.
	env := newEnv(t)
	dollars, bank := env.account(env.Customer.ID, "USD", 10050), env.NewBankAccount("000123456")
	id := ident.NewTransaction(env.IDs.New, apptest.Noon)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := env.TransferOutWithID(t.Context(), id, transaction.TransferOut{Platform: env.Platform.ID, From: dollars.ID, To: bank.ID,
				Amount: 1000}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	env.WaitForState(id, "COMPLETED")

	env.wantOutgoingEvents(id, "PENDING", "PROCESSING", "COMPLETED")
	env.WantBalances(map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -9050, "rails/RTP USD": -1000})
}

// staleStore finds no transaction by its key, as if all were committed just after the query.
type staleStore struct{ payments.Store }

func (staleStore) TransactionsByKey(context.Context, []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	return nil, nil
}

func TestTransferOutWithID_CommittedMeanwhileIsNotRepeated(t *testing.T) {
	t.Parallel()
	// A process that lost its lease and the one that has it now both look for the transfer before
	// either has committed it. The second one to commit changes nothing, and reports no event again.
	for name, later := range map[string]time.Duration{"at the same time": 0, "later": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newIdleEnv(t)
			dollars, bank := env.account(env.Customer.ID, "USD", 10050), env.NewBankAccount("000123456")
			out := transaction.TransferOut{Platform: env.Platform.ID, From: dollars.ID, To: bank.ID, Amount: 1000}
			id := ident.NewTransaction(env.IDs.New, apptest.Noon)
			stale := newService(env.Env, staleStore{env.Store}, env.approvals)

			for range 2 {
				if err := stale.TransferOutWithID(t.Context(), id, out); err != nil {
					t.Fatal(err)
				}
				env.Clock.Advance(later)
			}

			env.wantOutgoingEvents(id, "PENDING")
			env.wantNotifiedBalances(t, dollars, 9050)
			if n := env.CountJobs(transaction.StepDeliver); n != 1 {
				t.Errorf("%d jobs deliver the transfer, want 1", n)
			}
		})
	}
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
	// Of a thousand concurrent payouts from an account with funds for five hundred, exactly five
	// hundred complete. The others return INSUFFICIENT_BALANCE and stay pending.
	const payouts, affordable, each = 1000, 500, 1000
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", affordable*each)
	wallet := quote.Destination{External: env.NewWallet("spark1good").ID}
	var all sync.WaitGroup
	var mu sync.Mutex
	var paid, refused []quote.Quote
	for range payouts {
		all.Go(func() {
			created, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: dollars.ID},
				Destination: wallet,
				Side:        quote.Sending, Amount: each}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = env.ExecuteQuote(t.Context(), env.Platform.ID, created.Quote.ID, nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				paid = append(paid, created.Quote)
			case fault.Is(err, fault.InsufficientBalance):
				refused = append(refused, created.Quote)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(paid) != affordable || len(refused) != payouts-affordable {
		t.Fatalf("%d paid, %d refused", len(paid), len(refused))
	}
	var received, fees int64
	for _, q := range paid {
		env.WaitForState(q.Transaction, "COMPLETED")
		received, fees = received+q.Pricing.Received.Minor, fees+q.Pricing.Fees
	}

	env.WaitForState(refused[0].Transaction, "PENDING")
	env.WantBalances(map[string]int64{
		"rails/WIRE USD": affordable * each, "income/fees USD": -fees, "fx/position USD": -(affordable*each - fees),
		"fx/position BTC": received, "chains/LAYER2 BTC": -received,
	})
}

func TestCreateQuote_ExecuteImmediately(t *testing.T) {
	t.Parallel()
	// A quote can be executed when it is created. If the balance is too low, the execution returns
	// INSUFFICIENT_BALANCE.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 10050)
	request := quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: dollars.ID},
		Destination: quote.Destination{External: env.NewWallet("spark1good").ID},
		Side:        quote.Sending, Amount: 10050, ExecuteImmediately: true}

	created, err := env.CreateQuote(t.Context(), request, nil)
	if err != nil || created.Status != quote.Processing {
		t.Fatalf("%s, %v", created.Status, err)
	}
	_, err = env.CreateQuote(t.Context(), request, nil)

	if !fault.Is(err, fault.InsufficientBalance) {
		t.Errorf("with an empty account: %v", err)
	}
	env.WaitForState(created.Quote.Transaction, "COMPLETED")
}

func TestExecute_Refused(t *testing.T) {
	t.Parallel()
	// A quote that is funded just in time, belongs to another platform, or has expired is not
	// executed. Each case returns its own fault, and no balance changes.
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
	// A payment to a UMA address is in the receiver's currency, or in the payer's without a fee. The
	// receiver's provider may respond late, or refuse, and then the account is refunded.
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
			lookup := quote.Lookup{ID: ident.NewLookup(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: env.Customer.ID,
				SenderUMA:   "$ana@uma.test",
				ReceiverUMA: address, Currencies: []money.Currency{c.currency}, CreatedAt: apptest.Noon,
				ExpiresAt: apptest.Noon.Add(quote.LookupValidity)}
			if err := env.Store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				return tx.CreateLookup(ctx,
					lookup)
			}); err != nil {
				t.Fatal(err)
			}
			created, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: dollars.ID},
				Destination: quote.Destination{UMA: address}, Lookup: lookup.ID, Side: quote.Sending, Amount: 10050}, nil)
			if err != nil {
				t.Fatal(err)
			}

			env.execute(t, created.Quote)
			if c.wait > 0 {
				env.WaitForState(created.Quote.Transaction, "PROCESSING")
				env.Clock.Advance(c.wait)
			}
			env.WaitForState(created.Quote.Transaction, c.state)

			want := map[string]int64{"rails/WIRE USD": 10050, "rails/UMA " + string(c.currency): -created.Quote.Pricing.Received.Minor}
			switch {
			case c.state != "COMPLETED":
				want = map[string]int64{"rails/WIRE USD": 10050, dollars.LedgerPath() + " USD": -10050}
			case c.currency != "USD":
				p := created.Quote.Pricing
				want["income/fees USD"], want["fx/position USD"], want["fx/position EUR"] = -p.Fees, -(p.Sent.Minor - p.Fees - p.RoundingSent),
					p.Received.Minor
				if p.RoundingSent > 0 {
					want["income/rounding USD"] = -p.RoundingSent
				}
			}
			env.WantBalances(want)
		})
	}
}
