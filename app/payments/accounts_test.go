package payments_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lookup"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ledger"
	"causeway/ports"
)

// balance opens an account of a customer (zero: of the platform) and puts money in,
// by a rail.
func (h *house) balance(t testing.TB, owner ident.Customer, currency money.Currency, minor int64) account.Internal {
	t.Helper()
	opened, err := account.NewInternal(ident.NewInternalAccount(h.ids.New, noon), h.platform.ID, owner, currency, noon)
	if err != nil {
		t.Fatal(err)
	}
	header := ledger.Header{ID: uuid.New(), Platform: h.platform.ID, Effective: noon}
	arrival := ledger.Arrival{Partner: "rails/WIRE", To: quote.BookPath(opened), Amount: money.Amount{Minor: minor, Currency: currency}}
	if err := h.store.Do(t.Context(), func(ctx context.Context, tx ports.Tx) error {
		if minor > 0 {
			if err := tx.Post(ctx, []ledger.Posting{ledger.Deposit(header, arrival)}); err != nil {
				return err
			}
		}
		return tx.OpenInternalAccounts(ctx, []account.Internal{opened})
	}); err != nil {
		t.Fatal(err)
	}
	return opened
}

// prefunded asks for a quote that an account pays.
func (h *house) prefunded(t testing.TB, from quote.Source, amount int64, to quote.Destination) quote.Quote {
	t.Helper()
	made, err := h.quotes.Create(t.Context(), quote.Request{Platform: h.platform.ID, Source: from, Destination: to, Side: quote.Sending, Amount: amount}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.Quote
}

func (h *house) run(t testing.TB, q quote.Quote) quote.Quoted {
	t.Helper()
	got, err := h.Execute(t.Context(), h.platform.ID, q.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantBalances compares the balances that were told of an account, in order.
func (h *house) wantBalances(t testing.TB, of account.Internal, want ...int64) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var got []int64
	for _, e := range h.events {
		if held, ok := e.Resource.(account.Holding); ok && held.ID == of.ID && e.Name == event.InternalAccountBalanceUpdated {
			got = append(got, held.Balance)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("told the balances %v of %s, want %v", got, of.Currency, want)
	}
}

func TestAccountPaysOut(t *testing.T) {
	t.Parallel()
	// An account pays when the quote is executed: what it held at the bank leaves by
	// the rail of the payout, less fee and exchange.
	h := newHouse(t)
	dollars := h.balance(t, h.customer.ID, "USD", 50_000)
	q := h.prefunded(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: h.wallet(t, "spark1good").ID})

	if got := h.run(t, q); got.Status != quote.Processing || q.Reference != "" || q.Instructions != nil {
		t.Errorf("%s, %+v", got.Status, q)
	}
	h.until(t, q.Transaction, "COMPLETED")

	h.wantNames(t, q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	h.wantBalances(t, dollars, 50_000-10050)
	h.wantBooks(t, map[string]int64{
		"rails/WIRE USD": 50_000, quote.BookPath(dollars) + " USD": -(50_000 - 10050), "income/fees USD": -q.Pricing.Fees,
		"fx/position USD": -(10050 - q.Pricing.Fees), "fx/position BTC": q.Pricing.Received.Minor, "chains/LAYER2 BTC": -q.Pricing.Received.Minor,
	})
	if _, err := h.Execute(t.Context(), h.platform.ID, q.ID, nil); !fault.Is(err, fault.QuoteAlreadyExecuted) {
		t.Errorf("executed again: %v", err)
	}
}

func TestPlatformRewardsACustomer(t *testing.T) {
	t.Parallel()
	// The platform's own balance pays bitcoin to a customer's wallet, and the payment
	// is the customer's.
	h := newHouse(t)
	dollars := h.balance(t, ident.Customer{}, "USD", 500)
	q := h.prefunded(t, quote.Source{Internal: dollars.ID, Customer: h.customer.ID}, 500, quote.Destination{External: h.wallet(t, "spark1good").ID})

	h.run(t, q)
	done := h.until(t, q.Transaction, "COMPLETED")

	if done.Customer != h.customer.ID || done.PlatformCustomerID != "ana" {
		t.Errorf("customer %s %q", done.Customer, done.PlatformCustomerID)
	}
}

func TestMoneyStaysInTheHouse(t *testing.T) {
	t.Parallel()
	// From one account to another it is exchanged and has arrived; nothing is
	// delivered, and no bank can return it.
	h := newHouse(t)
	dollars, euros := h.balance(t, h.customer.ID, "USD", 10050), h.balance(t, h.customer.ID, "EUR", 0)
	q := h.prefunded(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{Internal: euros.ID})

	if got := h.run(t, q); got.Status != quote.Completed {
		t.Fatal(got.Status)
	}

	h.wantNames(t, q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	p := q.Pricing
	h.wantBalances(t, dollars, 0)
	h.wantBalances(t, euros, p.Received.Minor)
	want := map[string]int64{
		"rails/WIRE USD": 10050, "income/fees USD": -p.Fees, "fx/position USD": -(p.Sent.Minor - p.Fees - p.RoundingSent),
		"fx/position EUR": p.Received.Minor, quote.BookPath(euros) + " EUR": -p.Received.Minor,
	}
	if p.RoundingSent > 0 {
		want["income/rounding USD"] = -p.RoundingSent
	}
	h.wantBooks(t, want)
}

func TestPayerFundsAnAccount(t *testing.T) {
	t.Parallel()
	// Dollars that a payer sends just in time become bitcoin on the customer's account.
	h := newHouse(t)
	bitcoin := h.balance(t, h.customer.ID, "BTC", 0)
	q := h.prefunded(t, quote.Source{Customer: h.customer.ID, Currency: "USD"}, 10050, quote.Destination{Internal: bitcoin.ID})

	got, err := h.Receive(t.Context(), h.receipt(q, "rails/RTP", 10050), nil)

	if err != nil || got.State.Status != transaction.Completed {
		t.Fatalf("%s, %v", got.State, err)
	}
	h.wantBooks(t, map[string]int64{
		"rails/RTP USD": 10050, "income/fees USD": -q.Pricing.Fees, "fx/position USD": -(10050 - q.Pricing.Fees),
		"fx/position BTC": q.Pricing.Received.Minor, quote.BookPath(bitcoin) + " BTC": -q.Pricing.Received.Minor,
	})
}

func TestFullAccountTakesNothingIn(t *testing.T) {
	t.Parallel()
	// What would not fit into the account that receives is not exchanged: a quote that an
	// account pays stays as it is, and what a payer sent is kept as unmatched.
	h := newHouse(t)
	dollars := h.balance(t, h.customer.ID, "USD", 10050)
	euros, bitcoin := h.balance(t, h.customer.ID, "EUR", account.MostHeld-1), h.balance(t, h.customer.ID, "BTC", account.MostHeld-1)
	prefunded := h.prefunded(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{Internal: euros.ID})
	justInTime := h.prefunded(t, quote.Source{Customer: h.customer.ID, Currency: "USD"}, 10050, quote.Destination{Internal: bitcoin.ID})

	_, err := h.Execute(t.Context(), h.platform.ID, prefunded.ID, nil)
	if !fault.Is(err, fault.AmountOutOfRange) {
		t.Errorf("executed: %v", err)
	}
	receipt := h.receipt(justInTime, "rails/RTP", 10050)
	if _, err := h.Receive(t.Context(), receipt, nil); !fault.Is(err, fault.AmountOutOfRange) {
		t.Errorf("paid: %v", err)
	}
	if _, err := h.Receive(t.Context(), receipt, nil); err != nil { // told twice
		t.Error(err)
	}

	for _, q := range []quote.Quote{prefunded, justInTime} {
		if got, err := h.Get(t.Context(), h.platform.ID, q.Transaction); err != nil || got.State != transaction.Initial {
			t.Errorf("%s, %v", got.State, err)
		}
	}
	h.wantBooks(t, map[string]int64{
		"rails/WIRE USD": 10050, quote.BookPath(dollars) + " USD": -10050, "rails/RTP USD": 10050, "funding/unmatched USD": -10050,
		"rails/WIRE EUR": account.MostHeld - 1, quote.BookPath(euros) + " EUR": 1 - account.MostHeld,
		"rails/WIRE BTC": account.MostHeld - 1, quote.BookPath(bitcoin) + " BTC": 1 - account.MostHeld,
	})
}

func TestBankAccountPays(t *testing.T) {
	t.Parallel()
	// Money is collected from the customer's bank when the quote is executed, and goes
	// on when it is here. An account that gives nothing ends the payment, and nothing
	// has to go back.
	h := newHouse(t)
	wallet := quote.Destination{External: h.wallet(t, "spark1good").ID}
	good := h.prefunded(t, quote.Source{External: h.bank(t, "000123456").ID}, 10050, wallet)
	bad := h.prefunded(t, quote.Source{External: h.bank(t, "000123002").ID}, 10050, wallet)

	h.run(t, good)
	h.run(t, bad)
	h.until(t, good.Transaction, "COMPLETED")
	failed := h.until(t, bad.Transaction, "FAILED")

	if failed.State.Reason != transaction.QuoteExecutionFailed || failed.Refund != nil {
		t.Errorf("%q, %+v", failed.State.Reason, failed.Refund)
	}
	h.wantNames(t, good.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	h.wantNames(t, bad.Transaction, "PENDING", "PROCESSING", "FAILED")
	h.wantBooks(t, map[string]int64{
		"rails/ACH USD": 10050, "income/fees USD": -good.Pricing.Fees, "fx/position USD": -(10050 - good.Pricing.Fees),
		"fx/position BTC": good.Pricing.Received.Minor, "chains/LAYER2 BTC": -good.Pricing.Received.Minor,
	})
}

func TestAccountGetsBackWhatIsNotDelivered(t *testing.T) {
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
			h := newHouse(t)
			dollars := h.balance(t, h.customer.ID, "USD", 10050)
			q := h.prefunded(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: h.wallet(t, "spark1"+suffix).ID})

			h.run(t, q)
			if suffix == "005" {
				h.until(t, q.Transaction, "COMPLETED")
				h.clock.Move(time.Hour)
			}
			h.until(t, q.Transaction, c.state)

			if c.left == "" {
				c.left = quote.BookPath(dollars) + " USD"
				h.wantBalances(t, dollars, 0, 10050)
			} else {
				h.wantBalances(t, dollars, 0)
			}
			h.wantBooks(t, map[string]int64{"rails/WIRE USD": 10050, c.left: -10050})
		})
	}
}

func TestTransfersOut(t *testing.T) {
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
			h := newHouse(t)
			dollars := h.balance(t, h.customer.ID, "USD", 10050)
			bank := h.bank(t, "000123"+suffix)

			made, err := h.TransferOut(t.Context(), transfer.Out{Platform: h.platform.ID, From: dollars.ID, To: bank.ID, Amount: 5000}, nil)
			if err != nil || made.State.Status != transaction.Pending {
				t.Fatalf("%s, %v", made.State, err)
			}
			if c.wait > 0 {
				h.until(t, made.ID, "PENDING")
				h.clock.Move(c.wait)
			}
			h.until(t, made.ID, c.state)

			h.wantNames(t, made.ID, c.events...)
			want := map[string]int64{"rails/WIRE USD": 10050, quote.BookPath(dollars) + " USD": -10050}
			if c.state == "COMPLETED" {
				want = map[string]int64{"rails/WIRE USD": 10050, quote.BookPath(dollars) + " USD": -5050, "rails/RTP USD": -5000}
			}
			h.wantBooks(t, want)
		})
	}
}

func TestForwardIsOneTransfer(t *testing.T) {
	t.Parallel()
	// Asked again, also beside others, a transfer under a chosen id is made once.
	h := newHouse(t)
	dollars, bank := h.balance(t, h.customer.ID, "USD", 10050), h.bank(t, "000123456")
	id := ident.NewTransaction(h.ids.New, noon)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := h.Forward(t.Context(), id, transfer.Out{Platform: h.platform.ID, From: dollars.ID, To: bank.ID, Amount: 1000}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.until(t, id, "COMPLETED")

	h.wantBooks(t, map[string]int64{"rails/WIRE USD": 10050, quote.BookPath(dollars) + " USD": -9050, "rails/RTP USD": -1000})
}

func TestManyExecutesOfOneQuote(t *testing.T) {
	t.Parallel()
	// Two hundred calls at the same time execute a quote once.
	h := newHouse(t)
	dollars := h.balance(t, h.customer.ID, "USD", 10050)
	q := h.prefunded(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: h.wallet(t, "spark1good").ID})
	var ran atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			switch _, err := h.Execute(t.Context(), h.platform.ID, q.ID, nil); {
			case err == nil:
				ran.Add(1)
			case !fault.Is(err, fault.QuoteAlreadyExecuted):
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.until(t, q.Transaction, "COMPLETED")

	if ran.Load() != 1 {
		t.Errorf("executed %d times", ran.Load())
	}
	h.wantNames(t, q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	h.wantBooks(t, map[string]int64{
		"rails/WIRE USD": 10050, "income/fees USD": -q.Pricing.Fees, "fx/position USD": -(10050 - q.Pricing.Fees),
		"fx/position BTC": q.Pricing.Received.Minor, "chains/LAYER2 BTC": -q.Pricing.Received.Minor,
	})
}

func TestAccountNeverPaysMoreThanItHolds(t *testing.T) {
	t.Parallel()
	// A thousand payouts at once from an account that can bear five hundred: exactly
	// those complete, the others say why not, and can be executed after a deposit.
	const asked, borne, each = 1000, 500, 1000
	h := newHouse(t)
	dollars := h.balance(t, h.customer.ID, "USD", borne*each)
	wallet := quote.Destination{External: h.wallet(t, "spark1good").ID}
	var all sync.WaitGroup
	var mu sync.Mutex
	var paid, short []quote.Quote
	for range asked {
		all.Go(func() {
			made, err := h.quotes.Create(t.Context(), quote.Request{Platform: h.platform.ID, Source: quote.Source{Internal: dollars.ID}, Destination: wallet,
				Side: quote.Sending, Amount: each}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = h.Execute(t.Context(), h.platform.ID, made.Quote.ID, nil)
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
		h.until(t, q.Transaction, "COMPLETED")
		received, fees = received+q.Pricing.Received.Minor, fees+q.Pricing.Fees
	}

	h.until(t, short[0].Transaction, "PENDING")
	h.wantBooks(t, map[string]int64{
		"rails/WIRE USD": borne * each, "income/fees USD": -fees, "fx/position USD": -(borne*each - fees),
		"fx/position BTC": received, "chains/LAYER2 BTC": -received,
	})
}

func TestImmediateExecution(t *testing.T) {
	t.Parallel()
	// A quote can be executed as it is made. One that the account cannot bear says so,
	// moves nothing, and expires.
	h := newHouse(t)
	dollars := h.balance(t, h.customer.ID, "USD", 10050)
	request := quote.Request{Platform: h.platform.ID, Source: quote.Source{Internal: dollars.ID}, Destination: quote.Destination{External: h.wallet(t, "spark1good").ID},
		Side: quote.Sending, Amount: 10050, Immediately: true}

	made, err := h.quotes.Create(t.Context(), request, nil)
	if err != nil || made.Status != quote.Processing {
		t.Fatalf("%s, %v", made.Status, err)
	}
	_, again := h.quotes.Create(t.Context(), request, nil)

	if !fault.Is(again, fault.InsufficientBalance) {
		t.Errorf("with nothing left: %v", again)
	}
	h.until(t, made.Quote.Transaction, "COMPLETED")
}

func TestWhatCannotBeExecuted(t *testing.T) {
	t.Parallel()
	// Each refusal says what is wrong, and moves nothing.
	h := newHouse(t)
	dollars := h.balance(t, h.customer.ID, "USD", 10050)
	wallet := h.wallet(t, "spark1good")
	late := h.prefunded(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{External: wallet.ID})
	realtime := h.quote(t, "USD", 10050, wallet)
	elsewhere := ident.NewPlatform(h.ids.New, noon)

	_, unpaid := h.Execute(t.Context(), h.platform.ID, realtime.ID, nil)
	_, foreign := h.Execute(t.Context(), elsewhere, late.ID, nil)
	h.clock.Move(late.ExpiresAt.Sub(noon))
	_, expired := h.Execute(t.Context(), h.platform.ID, late.ID, nil)
	h.until(t, late.Transaction, "EXPIRED")

	if !fault.Is(unpaid, fault.QuoteNotExecutable) || !fault.Is(foreign, fault.QuoteNotFound) || !fault.Is(expired, fault.QuoteExpired) {
		t.Error(errors.Join(unpaid, foreign, expired))
	}
	h.wantBooks(t, map[string]int64{"rails/WIRE USD": 10050, quote.BookPath(dollars) + " USD": -10050})
}

func TestPeopleAtOtherProviders(t *testing.T) {
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
			h := newHouse(t)
			dollars := h.balance(t, h.customer.ID, "USD", 10050)
			told := lookup.Lookup{ID: ident.NewLookup(h.ids.New, noon), Platform: h.platform.ID, Customer: h.customer.ID, SenderUMA: "$ana@uma.test",
				ReceiverUMA: address, Currencies: []money.Currency{c.currency}, CreatedAt: noon, ExpiresAt: noon.Add(lookup.Validity)}
			if err := h.store.Do(t.Context(), func(ctx context.Context, tx ports.Tx) error { return tx.CreateLookup(ctx, told) }); err != nil {
				t.Fatal(err)
			}
			made, err := h.quotes.Create(t.Context(), quote.Request{Platform: h.platform.ID, Source: quote.Source{Internal: dollars.ID},
				Destination: quote.Destination{UMA: address}, Lookup: told.ID, Side: quote.Sending, Amount: 10050}, nil)
			if err != nil {
				t.Fatal(err)
			}

			h.run(t, made.Quote)
			if c.wait > 0 {
				h.until(t, made.Quote.Transaction, "PROCESSING")
				h.clock.Move(c.wait)
			}
			h.until(t, made.Quote.Transaction, c.state)

			want := map[string]int64{"rails/WIRE USD": 10050, "rails/UMA " + string(c.currency): -made.Quote.Pricing.Received.Minor}
			switch {
			case c.state != "COMPLETED":
				want = map[string]int64{"rails/WIRE USD": 10050, quote.BookPath(dollars) + " USD": -10050}
			case c.currency != "USD":
				p := made.Quote.Pricing
				want["income/fees USD"], want["fx/position USD"], want["fx/position EUR"] = -p.Fees, -(p.Sent.Minor - p.Fees - p.RoundingSent), p.Received.Minor
				if p.RoundingSent > 0 {
					want["income/rounding USD"] = -p.RoundingSent
				}
			}
			h.wantBooks(t, want)
		})
	}
}
