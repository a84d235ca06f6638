package payments_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/settlement"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

func TestReceive_OnRamp(t *testing.T) {
	t.Parallel()
	// A payment of the exact amount is converted and delivered. The ledger has the dollars at the
	// rail, the fee as income, and the position in both currencies.
	env := newEnv(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))

	got, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil)
	if err != nil || got.State.Status != transaction.Processing {
		t.Fatalf("%s, %v", got.State, err)
	}
	done := env.WaitForState(q.Transaction, "COMPLETED")

	if done.SettledAt.IsZero() || done.Funded != (money.Amount{Minor: 10050, Currency: "USD"}) {
		t.Errorf("settled %s, funded %s", done.SettledAt, done.Funded)
	}
	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	env.WantBalances(map[string]int64{
		"rails/RTP USD": 10050, "income/fees USD": -q.Pricing.Fees, "fx/position USD": -(10050 - q.Pricing.Fees),
		"fx/position BTC": q.Pricing.Received.Minor, "chains/LAYER2 BTC": -q.Pricing.Received.Minor,
	})
	if n := env.CountJobs(transaction.StepDeliver); n != 0 {
		t.Errorf("%d delivery jobs are left", n)
	}
}

func TestReceive_OffRamp(t *testing.T) {
	t.Parallel()
	// USDC on a chain is converted to dollars at a bank. The remainder of less than a cent is
	// rounding income of the service.
	env := newEnv(t)
	q := env.quote(t, "USDC", 25_123_456, env.NewBankAccount("000123456"))

	if _, err := env.Receive(t.Context(), env.receipt(q, "ALTCHAIN", 25_123_456), nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Transaction, "COMPLETED")

	p := q.Pricing
	want := map[string]int64{
		"chains/ALTCHAIN USDC": 25_123_456, "income/fees USDC": -p.Fees, "fx/position USDC": -(p.Sent.Minor - p.Fees - p.RoundingSent),
		"fx/position USD": p.Received.Minor, "rails/RTP USD": -p.Received.Minor,
	}
	if p.RoundingSent > 0 {
		want["income/rounding USDC"] = -p.RoundingSent
	}
	env.WantBalances(want)
}

func TestReceive_JustInTimeWithinOneCurrency(t *testing.T) {
	t.Parallel()
	// Dollars that are paid in just in time are paid out, or credited, as dollars: at the rate 1, less
	// the corridor's fees. A payout that is refused is refunded in full.
	for name, c := range map[string]struct {
		to       func(*env) quote.Destination
		state    string
		received string // the account that has the received amount, if it is not refunded
	}{
		"to a bank account": {func(e *env) quote.Destination { return quote.Destination{External: e.NewBankAccount("000123456").ID} },
			"COMPLETED", "rails/RTP USD"},
		"refused": {func(e *env) quote.Destination { return quote.Destination{External: e.NewBankAccount("000123004").ID} },
			"FAILED (refund COMPLETED)", ""},
		"to a balance": {func(e *env) quote.Destination {
			return quote.Destination{Internal: e.account(e.Customer.ID, "USD", 0).ID}
		}, "COMPLETED", "balance"},
	} {
		for side, amount := range map[quote.Side]int64{quote.Sending: 10050, quote.Receiving: 9950} {
			t.Run(name+" "+string(side), func(t *testing.T) {
				t.Parallel()
				env := newEnv(t)
				to := c.to(env)
				created, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID,
					Source:      quote.Source{Customer: env.Customer.ID, Currency: "USD"},
					Destination: to, Side: side, Amount: amount}, nil)
				if err != nil {
					t.Fatal(err)
				}
				p := created.Quote.Pricing
				if p.Rate.String() != "1" || p.Fees == 0 || p.Sent.Minor-p.Fees != p.Received.Minor || p.RoundingSent != 0 || p.RoundingReceived != 0 {
					t.Fatalf("priced %+v", p)
				}

				if _, err := env.Receive(t.Context(), env.receipt(created.Quote, "RTP", p.Sent.Minor), nil); err != nil {
					t.Fatal(err)
				}
				env.WaitForState(created.Quote.Transaction, c.state)

				want := map[string]int64{}
				if c.received != "" {
					want = map[string]int64{"rails/RTP USD": p.Sent.Minor, "income/fees USD": -p.Fees}
				}
				switch c.received {
				case "balance":
					want["customers/"+to.Internal.String()+" USD"] = -p.Received.Minor
				case "rails/RTP USD":
					want["rails/RTP USD"] -= p.Received.Minor
				}
				env.WantBalances(want)
			})
		}
	}
}

func TestCreateQuote_WithinOneCurrencyFromAccount(t *testing.T) {
	t.Parallel()
	// From an account to an account, a payment within one currency is a transfer and not a quote.
	env := newEnv(t)
	dollars := env.account(env.Customer.ID, "USD", 10050)
	_, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: dollars.ID},
		Destination: quote.Destination{External: env.NewBankAccount("000123456").ID}, Side: quote.Sending, Amount: 10050}, nil)
	if !fault.Is(err, fault.InvalidCurrency) || !strings.Contains(err.Error(), "/transfer-out") {
		t.Errorf("got %v", err)
	}
}

func TestCreateQuote_FundingInUnsupportedCurrency(t *testing.T) {
	t.Parallel()
	// What is funded just in time is in a currency of the platform, and the refusal lists these. An account that holds
	// another one still pays.
	env := newEnv(t)
	wallet := env.NewWallet("spark1good")
	_, err := env.CreateQuote(t.Context(), env.QuoteRequest("EUR", 100_50, wallet), nil)
	f, _ := fault.As(err)
	if f == nil || f.Code != fault.InvalidCurrency || f.Reason != "Not supported by the platform" ||
		!strings.Contains(f.Message, "[BTC USD USDB USDC]") {
		t.Fatalf("funding in euros: %v", err)
	}
	euros := env.account(env.Customer.ID, "EUR", 100_50)
	env.quoteFrom(t, quote.Source{Internal: euros.ID}, 100_50, quote.Destination{External: wallet.ID})

	changed := env.Platform
	changed.Currencies = append(slices.Clone(changed.Currencies), platform.Currency{Code: "EUR", MinAmount: 1, MaxAmount: 1_000_000_00,
		Directions: []string{"OUTGOING"}})
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePlatform(ctx, changed) })
	env.Service.Prices.Invalidate()
	if _, err := env.CreateQuote(t.Context(), env.QuoteRequest("EUR", 100_50, wallet), nil); err != nil {
		t.Errorf("after the currency was added: %v", err)
	}
}

func TestReceive_WrongPaymentIsRefunded(t *testing.T) {
	t.Parallel()
	// A payment of the wrong amount or currency, or after the quote has expired, is refunded in
	// full, and no balance is left in transit.
	for name, c := range map[string]struct {
		wait   time.Duration
		minor  int64
		rail   corridor.Rail
		in     money.Currency
		state  string
		reason transaction.FailureReason
		events []string
	}{
		"too little": {0, 10049, "RTP", "USD", "FAILED (refund COMPLETED)", transaction.FundingAmountMismatch,
			[]string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"too much": {0, 10051, "RTP", "USD", "FAILED (refund COMPLETED)", transaction.FundingAmountMismatch,
			[]string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"another currency": {0, 10050, "SEPA_INSTANT", "EUR", "FAILED (refund COMPLETED)", transaction.FundingAmountMismatch,
			[]string{"PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED"}},
		"too late": {time.Hour, 10050, "RTP", "USD", "EXPIRED (refund COMPLETED)", "",
			[]string{"PENDING", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
			env.Clock.Advance(c.wait)
			receipt := env.receipt(q, c.rail, c.minor)
			receipt.Amount.Currency = c.in

			if _, err := env.Receive(t.Context(), receipt, nil); err != nil {
				t.Fatal(err)
			}
			done := env.WaitForState(q.Transaction, c.state)

			if done.State.Reason != c.reason || done.Refund.Amount != receipt.Amount || done.Refund.SettledAt.IsZero() {
				t.Errorf("reason %q, refund %+v", done.State.Reason, done.Refund)
			}
			env.WantBalances(map[string]int64{})
			if c.wait == 0 { // otherwise the quote may expire before the payment is received
				env.wantOutgoingEvents(q.Transaction, c.events...)
			}
		})
	}
}

func TestReceive_ConcurrentPaymentsFundOnce(t *testing.T) {
	t.Parallel()
	// Of a hundred concurrent payments for one reference, one funds the quote and the others are
	// sent back. The balances add up to the unit.
	env := newEnv(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
	var all sync.WaitGroup
	for range 100 {
		receipt := env.receipt(q, "RTP", 10050)
		all.Go(func() {
			if _, err := env.Receive(t.Context(), receipt, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	env.WaitForState(q.Transaction, "COMPLETED")
	env.WaitForNoJobs(transaction.StepSendBack)

	env.WantBalances(map[string]int64{
		"rails/RTP USD": 10050, "income/fees USD": -q.Pricing.Fees, "fx/position USD": -(10050 - q.Pricing.Fees),
		"fx/position BTC": q.Pricing.Received.Minor, "chains/LAYER2 BTC": -q.Pricing.Received.Minor,
	})
}

func TestReceive_SameReceiptIsIdempotent(t *testing.T) {
	t.Parallel()
	// A payment that the partner reports ten times, with another time each, is received once.
	env := newEnv(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
	first := env.receipt(q, "RTP", 10050)
	var all sync.WaitGroup
	for i := range 10 {
		receipt := env.receipt(q, "RTP", 10050)
		receipt.PartnerID, receipt.At = first.PartnerID, first.At.Add(time.Duration(i)*time.Second)
		all.Go(func() {
			if _, err := env.Receive(t.Context(), receipt, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	env.WaitForState(q.Transaction, "COMPLETED")

	env.WantBalances(map[string]int64{
		"rails/RTP USD": 10050, "income/fees USD": -q.Pricing.Fees, "fx/position USD": -(10050 - q.Pricing.Fees),
		"fx/position BTC": q.Pricing.Received.Minor, "chains/LAYER2 BTC": -q.Pricing.Received.Minor,
	})
}

func TestReceive_UnknownReferenceIsUnmatched(t *testing.T) {
	t.Parallel()
	// A payment with an unknown reference returns REFERENCE_NOT_FOUND and is posted as unmatched
	// funds, until an operator assigns it.
	env := newEnv(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))
	q.Reference = "UNKNOWN"

	_, err := env.Receive(t.Context(), env.receipt(q, "RTP", 777), nil)

	if !fault.Is(err, fault.ReferenceNotFound) || !strings.Contains(err.Error(), "unmatched") {
		t.Fatalf("got %v", err)
	}
	env.WantBalances(map[string]int64{"rails/RTP USD": 777, "funding/unmatched USD": -777})
}

func TestQuote_ExpiresWithoutPayment(t *testing.T) {
	t.Parallel()
	// A quote that is not paid in time expires, with one event.
	env := newEnv(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1good"))

	env.Clock.Advance(q.ExpiresAt.Sub(apptest.Noon))
	env.WaitForState(q.Transaction, "EXPIRED")

	env.wantOutgoingEvents(q.Transaction, "PENDING", "EXPIRED")
	env.WantBalances(map[string]int64{})
}

func TestDeliver_RailReplies(t *testing.T) {
	t.Parallel()
	// The digits of the beneficiary's account select the outcome of the rail. A payment that is not
	// delivered is refunded in full, including fees.
	for suffix, c := range map[string]struct {
		state  string
		reason transaction.FailureReason
		events []string
		want   map[string]int64 // the balances; nil if all are zero
	}{
		"002": {"FAILED (refund COMPLETED)", transaction.QuoteExecutionFailed, []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING",
			"REFUND_COMPLETED"}, nil},
		"004": {"FAILED (refund COMPLETED)", transaction.CounterpartyPostFailed, []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING",
			"REFUND_COMPLETED"}, nil},
		"005": {"FAILED (refund COMPLETED)", transaction.PayoutReturned, []string{"PENDING", "PROCESSING", "COMPLETED", "FAILED",
			"REFUND_PENDING", "REFUND_COMPLETED"}, nil},
		"006": {"FAILED (refund COMPLETED)", transaction.UserCancellation, []string{"PENDING", "PROCESSING", "FAILED", "REFUND_PENDING",
			"REFUND_COMPLETED"}, nil},
		"007": {"FAILED (refund FAILED)", transaction.CounterpartyPostFailed, []string{"PENDING", "PROCESSING", "FAILED",
			"REFUND_PENDING", "REFUND_FAILED"},
			map[string]int64{"rails/RTP USD": 10050, "funding/unmatched USD": -10050}},
	} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			q := env.quote(t, "USD", 10050, env.NewWallet("spark1"+suffix))

			if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil); err != nil {
				t.Fatal(err)
			}
			if suffix == "005" {
				env.WaitForState(q.Transaction, "COMPLETED")
				env.Clock.Advance(time.Hour)
			}
			done := env.WaitForState(q.Transaction, c.state)

			if done.State.Reason != c.reason {
				t.Errorf("reason %q, want %q", done.State.Reason, c.reason)
			}
			env.wantOutgoingEvents(q.Transaction, c.events...)
			env.WantBalances(c.want)
		})
	}
}

func TestDeliver_SlowPayoutCompletesLater(t *testing.T) {
	t.Parallel()
	// A payout that takes the rail six minutes is checked again after that time, and completes.
	env := newEnv(t)
	q := env.quote(t, "USD", 10050, env.NewWallet("spark1003"))

	if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil); err != nil {
		t.Fatal(err)
	}
	env.Clock.Advance(5 * time.Minute)
	if got := env.WaitForState(q.Transaction, "PROCESSING"); !got.SettledAt.IsZero() {
		t.Fatal("settled too early")
	}
	env.Clock.Advance(2 * time.Minute)

	env.WaitForState(q.Transaction, "COMPLETED")
}

func TestDeliver_ExpectedSettlement(t *testing.T) {
	t.Parallel()
	// A payout that does not settle at once names the day by the schedule of its rail, until the partner says another.
	// That is announced to nobody, and stays when the payout has settled.
	env := newEnv(t)
	partner := env.Clock.Now().Add(30 * time.Hour)
	said := make(chan time.Time, 3) // by the partner, at each call
	said <- time.Time{}
	said <- partner
	said <- time.Time{}
	env.Rail.OnSend = func(context.Context, []ports.Payout) []ports.Outcome {
		select {
		case at := <-said:
			return []ports.Outcome{{Verdict: ports.Waiting, RetryAt: env.Clock.Now().Add(time.Hour), ExpectedAt: at}}
		default:
			return []ports.Outcome{{Verdict: ports.Done}}
		}
	}
	to := env.NewBankAccount("000123001")
	q := env.quote(t, "USD", 10050, to)

	if _, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10050), nil); err != nil {
		t.Fatal(err)
	}

	byRail := env.Timetable().SettlesAt(settlement.DefaultFor(env.transaction(t, q.Transaction).DestinationRail), apptest.Noon)
	for calls, want := range []time.Time{byRail, partner, partner} {
		timeout := time.After(apptest.WaitTimeout)
		for len(said) > 2-calls || !env.transaction(t, q.Transaction).ExpectedSettlementAt.Equal(want) {
			if err := env.RunDue(ports.ForAllPlatforms(t.Context())); err != nil {
				t.Fatal(err)
			}
			select {
			case <-timeout:
				t.Fatalf("after %d calls it is expected to settle at %s, want %s", calls+1, env.transaction(t, q.Transaction).ExpectedSettlementAt,
					want)
			case <-time.After(time.Millisecond):
			}
		}
		env.Clock.Advance(time.Hour)
	}
	done := env.WaitForState(q.Transaction, "COMPLETED")
	if !done.ExpectedSettlementAt.Equal(partner) {
		t.Errorf("expected to settle at %s after the settlement, want %s", done.ExpectedSettlementAt, partner)
	}
	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
}

func TestRefund_CryptoGoesToCustomerAccount(t *testing.T) {
	t.Parallel()
	// Crypto of the wrong amount is not sent back on the chain. It is credited to the customer's
	// internal account in that currency.
	env := newEnv(t)
	q := env.quote(t, "USDC", 25_000_000, env.NewBankAccount("000123456"))

	if _, err := env.Receive(t.Context(), env.receipt(q, "ALTCHAIN", 24_000_000), nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Transaction, "FAILED (refund COMPLETED)")

	var id string
	if err := env.Store.Pool().QueryRow(t.Context(), `SELECT id::text FROM internal_accounts WHERE customer_id = $1 AND currency = 'USDC'`,
		env.Customer.ID.UUID()).Scan(&id); err != nil {
		t.Fatal(err)
	}
	env.WantBalances(map[string]int64{"chains/ALTCHAIN USDC": 24_000_000, "customers/InternalAccount:" + id + " USDC": -24_000_000})
	if _, err := ledger.FindChartLine("customers/InternalAccount:" + id); err != nil {
		t.Error(err)
	}
}

func TestRefund_WalletStablecoinCanBeSpent(t *testing.T) {
	t.Parallel()
	// The stablecoin of embedded wallets is not refunded to the wallet, which cannot pay without its
	// owner's signature, but to a crypto account beside it, from which it is paid out.
	env := newEnv(t)
	wallet := env.account(env.Customer.ID, "USDB", 0)
	q := env.quote(t, "USDB", 25_000_000, env.NewBankAccount("000123456"))

	if _, err := env.Receive(t.Context(), env.receipt(q, "LAYER2", 24_000_000), nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Transaction, "FAILED (refund COMPLETED)")
	if _, err := env.Receive(t.Context(), env.receipt(q, "LAYER2", 1_000_000), nil); err != nil { // surplus
		t.Fatal(err)
	}
	env.WaitForNoJobs(transaction.StepSendBack)

	owned, err := env.Store.InternalAccountsOf(t.Context(), env.Platform.ID, []ident.Customer{env.Customer.ID})
	i := slices.IndexFunc(owned[env.Customer.ID], func(a account.Internal) bool { return a.Currency == "USDB" && a.ID != wallet.ID })
	if err != nil || i < 0 {
		t.Fatalf("accounts %+v, %v", owned, err)
	}
	refunded := owned[env.Customer.ID][i]
	env.WantBalances(map[string]int64{"chains/LAYER2 USDB": 25_000_000, refunded.LedgerPath() + " USDB": -25_000_000})
	to := env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: "USDB", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2}})
	sent, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: refunded.ID, To: to.ID,
		Amount: 25_000_000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	env.WaitForState(sent.ID, "COMPLETED")
}

func TestSendBack_SurplusCryptoGoesToCustomerAccount(t *testing.T) {
	t.Parallel()
	// A second crypto payment for a quote that was paid is also credited to the customer's internal
	// account, and an event reports the new balance.
	env := newEnv(t)
	tokens := env.account(env.Customer.ID, "USDC", 0)
	q := env.quote(t, "USDC", 25_000_000, env.NewBankAccount("000123456"))
	if _, err := env.Receive(t.Context(), env.receipt(q, "ALTCHAIN", 25_000_000), nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForState(q.Transaction, "COMPLETED")
	events := env.Events.About(q.Transaction.UUID())

	if _, err := env.Receive(t.Context(), env.receipt(q, "ALTCHAIN", 7_000_000), nil); err != nil {
		t.Fatal(err)
	}
	env.WaitForNoJobs(transaction.StepSendBack)

	if after := env.Events.About(q.Transaction.UUID()); len(after) != len(events) {
		t.Errorf("%d events, and %d after the second payment", len(events), len(after))
	}
	env.wantNotifiedBalances(t, tokens, 7_000_000)
	p := q.Pricing
	env.WantBalances(map[string]int64{
		"chains/ALTCHAIN USDC": 32_000_000, tokens.LedgerPath() + " USDC": -7_000_000, "income/fees USDC": -p.Fees,
		"income/rounding USDC": -p.RoundingSent,
		"fx/position USDC":     -(25_000_000 - p.Fees - p.RoundingSent), "fx/position USD": p.Received.Minor, "rails/RTP USD": -p.Received.Minor,
	})
}

func (e *env) transaction(t testing.TB, id ident.Transaction) transaction.Transaction {
	t.Helper()
	found, err := e.GetTransaction(ports.ForAllPlatforms(t.Context()), e.Platform.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
