package payments_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/limits"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// limitedEnv is an environment whose Customer has 1,000 dollars, and where no payment sends more than 60 dollars and no customer more than
// 100 on a day.
type limitedEnv struct {
	*env
	t    *testing.T
	from account.Internal
	// bank takes money, and refusing does not.
	bank, refusing account.External
}

func newLimitedEnv(t *testing.T) *limitedEnv {
	t.Helper()
	e := newLimits(t, newEnv(t))
	e.from, e.bank, e.refusing = e.account(e.Customer.ID, "USD", 1000_00), e.NewBankAccount("1234567001"), e.NewBankAccount("000123004")
	return e
}

// newLimits sets the limits of an environment.
func newLimits(t *testing.T, of *env) *limitedEnv {
	t.Helper()
	e := &limitedEnv{env: of, t: t}
	e.set("", 60_00, 0)
	e.set(limit.EachCustomer, 0, 100_00)
	return e
}

// set sets a limit of dollars as an operator does, and lets this process know.
func (e *limitedEnv) set(customer string, perPayment, daily int64) {
	e.t.Helper()
	if _, err := e.operator().Set(e.t.Context(), e.action(), limit.Input{Currency: "USD", Customer: customer, PerPayment: &perPayment,
		Daily: &daily}); err != nil {
		e.t.Fatal(err)
	}
	e.Prices.Invalidate()
}

func (e *limitedEnv) operator() *limits.Service {
	return limits.New(limits.Config{Store: e.Store, Clock: e.Clock})
}

func (e *limitedEnv) action() platform.OperatorAction {
	now := e.Clock.Now()
	return platform.OperatorAction{ID: e.IDs.New(now), Platform: e.Platform.ID, Kind: platform.OperatorSetLimit, Actor: "ana", At: now}
}

func (e *limitedEnv) transferOut(to account.External, minor int64) (transaction.Transaction, error) {
	e.t.Helper()
	return e.TransferOut(e.t.Context(), transaction.TransferOut{Platform: e.Platform.ID, From: e.from.ID, To: to.ID, Amount: minor}, nil)
}

// wantSent checks what the customer has sent today, and that the ledger check agrees with the counters.
func (e *limitedEnv) wantSent(transactions, minor int64) {
	e.t.Helper()
	headroom, err := e.operator().Headroom(e.t.Context(), e.Platform.ID, e.Customer.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, h := range headroom {
		if want := (limit.Count{Transactions: transactions, Sent: minor}); h.Customer == limit.EachCustomer && h.Sent != want {
			e.t.Errorf("sent %+v, want %+v", h.Sent, want)
		}
	}
	e.checkLedger(e.t)
}

func (e *limitedEnv) wantFault(what string, err error, code fault.Code) {
	e.t.Helper()
	if !fault.Is(err, code) {
		e.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestLimits_TransferOut(t *testing.T) {
	t.Parallel()
	// Transfers are refused above the size and above what is left of the day; one that fails gives its amount back. The next day begins
	// anew.
	e := newLimitedEnv(t)
	_, err := e.transferOut(e.bank, 60_01)
	e.wantFault("too much at once", err, fault.TransactionSizeLimitExceeded)
	first, err := e.transferOut(e.bank, 60_00)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.transferOut(e.bank, 40_01)
	e.wantFault("too much on the day", err, fault.DailyVolumeLimitExceeded)
	failing, err := e.transferOut(e.refusing, 40_00)
	if err != nil {
		t.Fatal(err)
	}
	e.waitForStatus(first.ID, transaction.Completed)
	e.waitForStatus(failing.ID, transaction.Failed)
	e.wantSent(1, 60_00)
	if _, err = e.transferOut(e.bank, 40_00); err != nil {
		t.Error(err)
	}
	e.wantSent(2, 100_00)
	e.Clock.Advance(24 * time.Hour)
	if _, err = e.transferOut(e.bank, 60_00); err != nil {
		t.Errorf("on the next day: %v", err)
	}
	e.wantSent(1, 60_00)
}

func TestLimits_ExecuteQuote(t *testing.T) {
	t.Parallel()
	// A quote above a limit is not made, and takes nothing from it. What was left then may be gone when it is executed: it can be executed
	// later, and is counted once however often that is repeated.
	e := newLimitedEnv(t)
	to := quote.Destination{External: e.NewWallet("spark1good").ID}
	ask := func(minor int64) (quote.WithStatus, error) {
		return e.CreateQuote(t.Context(), quote.Request{Platform: e.Platform.ID, Source: quote.Source{Internal: e.from.ID}, Destination: to,
			Side: quote.Sending, Amount: minor}, nil)
	}
	_, err := ask(60_01)
	e.wantFault("quote that is too large", err, fault.TransactionSizeLimitExceeded)
	first, second := e.quoteFrom(t, quote.Source{Internal: e.from.ID}, 60_00, to), e.quoteFrom(t, quote.Source{Internal: e.from.ID}, 50_00, to)
	e.wantSent(0, 0)
	e.execute(t, first)
	_, err = e.ExecuteQuote(t.Context(), e.Platform.ID, first.ID, nil)
	e.wantFault("again", err, fault.QuoteAlreadyExecuted)
	_, err = e.ExecuteQuote(t.Context(), e.Platform.ID, second.ID, nil)
	e.wantFault("second", err, fault.DailyVolumeLimitExceeded)
	_, err = ask(50_00)
	e.wantFault("quote above what is left", err, fault.DailyVolumeLimitExceeded)
	e.waitForStatus(first.Transaction, transaction.Completed)
	e.wantSent(1, 60_00)

	e.set(limit.EachCustomer, 0, 110_00)
	e.execute(t, second)
	e.waitForStatus(second.Transaction, transaction.Completed)
	e.wantSent(2, 110_00)
}

func TestLimits_JustInTimeFundsAreRefunded(t *testing.T) {
	t.Parallel()
	// Money that arrives for a quote when the limit is used up is refunded in full, with the reason. The other payment is not touched.
	e := newLimitedEnv(t)
	to := e.NewWallet("spark1good")
	first, second := e.quote(t, "USD", 60_00, to), e.quote(t, "USD", 60_00, to)
	if _, err := e.Receive(t.Context(), e.receipt(first, "RTP", 60_00), nil); err != nil {
		t.Fatal(err)
	}
	receipt := e.receipt(second, "RTP", 60_00)
	for range 2 { // reported twice
		refused, err := e.Receive(t.Context(), receipt, nil)
		if err != nil || refused.State.Status != transaction.Failed || refused.State.Reason != transaction.LimitExceeded {
			t.Errorf("%s %s, %v", refused.State, refused.State.Reason, err)
		}
	}
	e.WaitForState(first.Transaction, "COMPLETED")
	refunded := e.WaitForState(second.Transaction, "FAILED (refund COMPLETED)")
	if refunded.Refund.Amount != second.Pricing.Sent || refunded.LimitUsage != nil {
		t.Errorf("refund %+v, usage %+v", refunded.Refund, refunded.LimitUsage)
	}
	e.wantSent(1, 60_00)
}

func TestLimits_ClearedLimitCountsToTheEndOfTheDay(t *testing.T) {
	t.Parallel()
	// What is sent between the end of a limit and its return on the same day counts, and payments of others do not.
	e := newLimitedEnv(t)
	if _, err := e.transferOut(e.bank, 50_00); err != nil {
		t.Fatal(err)
	}
	if _, err := e.operator().Clear(t.Context(), e.action(), limit.Input{Currency: "USD", Customer: limit.EachCustomer}); err != nil {
		t.Fatal(err)
	}
	e.Prices.Invalidate()
	if _, err := e.transferOut(e.bank, 60_00); err != nil {
		t.Errorf("without the limit: %v", err)
	}
	e.set(limit.EachCustomer, 0, 115_00)
	_, err := e.transferOut(e.bank, 5_01)
	e.wantFault("with the limit again", err, fault.DailyVolumeLimitExceeded)
	other := e.NewCustomer("ben")
	theirs := e.account(other.ID, "USD", 100_00)
	bank := e.bank
	bank.Customer = other.ID
	if _, err := e.TransferOut(t.Context(), transaction.TransferOut{Platform: e.Platform.ID, From: theirs.ID,
		To:     e.NewExternalAccount(bank).ID,
		Amount: 60_00}, nil); err != nil {
		t.Errorf("another customer: %v", err)
	}
	e.wantSent(2, 110_00)
}

func TestLimits_AgentsAreLimitedToo(t *testing.T) {
	t.Parallel()
	// The limits of the platform hold for payments of agents, beside their policies; a preview says so and counts nothing.
	a := newAgentEnv(t, newEnv(t))
	e := newLimits(t, a.env)
	q := a.agentQuote(60_00)
	if _, err := a.AgentTransferOut(t.Context(), a.caller, a.out(50_00), nil); err != nil {
		t.Fatal(err)
	}
	out := a.out(50_01)
	_, err := a.AgentTransferOut(t.Context(), a.caller, out, nil)
	e.wantFault("transfer", err, fault.DailyVolumeLimitExceeded)
	_, err = a.ExecuteAgentQuote(t.Context(), a.caller, q.ID, payments.Signature{}, nil)
	e.wantFault("quote", err, fault.DailyVolumeLimitExceeded)
	a.wantUsage(1, 50_00)
	e.wantSent(1, 50_00)
}

func TestLimits_PlatformsWithoutLimitsReadNoCounters(t *testing.T) {
	t.Parallel()
	// A platform without limits runs no further statement: none touches the counters, which here cannot be read.
	e := newEnv(t)
	if err := e.Exec("DROP TABLE limit_usage"); err != nil {
		t.Fatal(err)
	}
	from := e.account(e.Customer.ID, "USD", 100_00)
	for _, bank := range []string{"1234567001", "000123004"} {
		sent, err := e.TransferOut(t.Context(), transaction.TransferOut{Platform: e.Platform.ID, From: from.ID, To: e.NewBankAccount(bank).ID,
			Amount: 10_00}, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.WaitForTransaction(sent.ID, "ended", func(t transaction.Transaction) bool {
			return t.State.Status == transaction.Completed || t.State.Status == transaction.Failed
		})
	}
	q := e.quoteFrom(t, quote.Source{Internal: from.ID}, 10_00, quote.Destination{External: e.NewWallet("spark1good").ID})
	e.execute(t, q)
	e.WaitForState(q.Transaction, "COMPLETED")
}

func TestLimits_PlatformPaysCustomer(t *testing.T) {
	t.Parallel()
	// What the platform pays a customer from its own account is a payment of that customer, and counts for it. A customer without a region
	// counts in each.
	e := newLimitedEnv(t)
	e.from = e.account(ident.Customer{}, "USD", 1000_00)
	region, daily := "DE", int64(50_00)
	if _, err := e.operator().Set(t.Context(), e.action(), limit.Input{Currency: "USD", Region: region, Daily: &daily}); err != nil {
		t.Fatal(err)
	}
	e.Prices.Invalidate()
	if _, err := e.transferOut(e.bank, 40_00); err != nil {
		t.Fatal(err)
	}
	e.wantSent(1, 40_00)
	_, err := e.transferOut(e.bank, 20_00)
	e.wantFault("above that of every region", err, fault.DailyVolumeLimitExceeded)
}

func TestLimits_OperatorNamesWhatExists(t *testing.T) {
	t.Parallel()
	// A limit of a customer who does not exist is refused, and so is the end of one that there is not.
	e := newLimitedEnv(t)
	unknown := limit.Input{Currency: "USD", Customer: ident.NewCustomer(e.IDs.New, e.Clock.Now()).String(), Daily: new(int64(1))}
	_, err := e.operator().Set(t.Context(), e.action(), unknown)
	e.wantFault("unknown customer", err, fault.UserNotFound)
	_, err = e.operator().Clear(t.Context(), e.action(), limit.Input{Currency: "EUR"})
	e.wantFault("no limit", err, fault.NotFound)
	headroom, err := e.operator().Headroom(t.Context(), e.Platform.ID, ident.Customer{})
	if err != nil || len(headroom) != 2 || headroom[1].Left != 100_00 {
		t.Errorf("%+v, %v", headroom, err)
	}
	var rules limit.Rules
	e.Do(func(ctx context.Context, tx *postgres.Unit) (err error) {
		rules, err = tx.LockLimitRules(ctx, e.Platform.ID)
		return err
	})
	if len(rules) != 2 {
		t.Errorf("%+v", rules)
	}
	before := len(e.QueryStrings(`SELECT id::text FROM operator_actions WHERE action = 'SET_LIMIT'`))
	if _, err = e.operator().Set(t.Context(), e.action(), limit.Input{Currency: "EUR", Daily: new(int64(70_00))}); err != nil {
		t.Fatal(err)
	}
	if _, err = e.operator().Set(t.Context(), e.action(), limit.Input{Currency: "EUR", Daily: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	recorded := e.QueryStrings(`SELECT concat(f ->> 'field', ' ', f ->> 'before', ' → ', f ->> 'after') FROM operator_actions,
		jsonb_array_elements(changes) f WHERE action = 'SET_LIMIT' ORDER BY id OFFSET $1`, before)
	if !slices.Equal(recorded, []string{"daily  → 70.00 EUR", "daily 70.00 EUR → "}) {
		t.Errorf("recorded %q", recorded)
	}
}
