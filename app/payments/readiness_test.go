package payments_test

import (
	"slices"
	"testing"

	"causeway/app/payments"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// customerStates are what a customer can become, as assignments of its row, with the fault of a new
// payment.
var customerStates = map[string]struct {
	set  string
	code fault.Code
}{
	"unverified": {"status = 'UNVERIFIED'", fault.UserNotReady},
	"pending":    {"status = 'PENDING'", fault.UserNotReady},
	"rejected":   {"status = 'REJECTED'", fault.UserNotReady},
	"deleted":    {"deleted_at = now()", fault.CustomerDeleted},
}

// setCustomers gives all customers of the environment a state.
func (e *env) setCustomers(t *testing.T, assignment string) {
	t.Helper()
	if err := e.Exec("UPDATE customers SET " + assignment); err != nil {
		t.Fatal(err)
	}
}

func TestReadiness_NewPaymentsAreRefused(t *testing.T) {
	t.Parallel()
	// Nothing that moves money can begin for a customer who is not approved or is deleted, whichever
	// side it is on: no posting and no transaction results.
	for name, state := range customerStates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newIdleEnv(t)
			p := env.Platform.ID
			dollars, bank, wallet := env.account(env.Customer.ID, "USD", 100_00), env.NewBankAccount("123456789"), env.NewWallet("spark1good")
			euros, own := env.account(env.Customer.ID, "EUR", 0), env.account(ident.Customer{}, "USD", 100_00)
			open := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10_00, quote.Destination{External: wallet.ID})
			balances := map[string]int64{"rails/WIRE USD": 200_00, dollars.LedgerPath() + " USD": -100_00, own.LedgerPath() + " USD": -100_00}
			transactions := env.QueryStrings("SELECT id::text FROM transactions")
			env.setCustomers(t, state.set)
			newQuote := func(from quote.Source, to quote.Destination) error {
				_, err := env.CreateQuote(t.Context(), quote.Request{Platform: p, Source: from, Destination: to, Side: quote.Sending, Amount: 10_00},
					nil)
				return err
			}
			deletedIs := func(code fault.Code) fault.Code {
				if state.code == fault.CustomerDeleted {
					return code
				}
				return state.code
			}

			for what, c := range map[string]struct {
				do   func() error
				want fault.Code
			}{
				"quote just in time": {func() error {
					return newQuote(quote.Source{Customer: env.Customer.ID, Currency: "USD"}, quote.Destination{External: wallet.ID})
				}, deletedIs(fault.UserNotFound)},
				"quote from a balance": {func() error {
					return newQuote(quote.Source{Internal: dollars.ID}, quote.Destination{External: wallet.ID})
				}, state.code},
				"quote from a bank account": {func() error {
					return newQuote(quote.Source{External: bank.ID},
						quote.Destination{External: wallet.ID})
				}, state.code},
				"quote of the platform to an account": {func() error {
					return newQuote(quote.Source{Internal: own.ID},
						quote.Destination{External: wallet.ID})
				}, state.code},
				"quote of the platform to a balance": {func() error {
					return newQuote(quote.Source{Internal: own.ID},
						quote.Destination{Internal: euros.ID})
				}, state.code},
				"quote executed at once": {func() error {
					_, err := env.CreateQuote(t.Context(), quote.Request{Platform: p, Source: quote.Source{Internal: dollars.ID},
						Destination: quote.Destination{External: wallet.ID},
						Side:        quote.Sending, Amount: 10_00, ExecuteImmediately: true}, nil)
					return err
				}, state.code},
				"execution": {func() error { _, err := env.ExecuteQuote(t.Context(), p, open.ID, nil); return err },
					deletedIs(fault.QuoteNotExecutable)},
				"transfer in": {func() error {
					_, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: p, From: bank.ID, To: dollars.ID, Amount: 10_00}, nil)
					return err
				}, state.code},
				"transfer out": {func() error {
					_, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: p, From: dollars.ID, To: bank.ID, Amount: 10_00}, nil)
					return err
				}, state.code},
				"sandbox fund": {func() error { _, err := env.Fund(t.Context(), p, dollars.ID, 10_00, nil); return err }, state.code},
				"UMA payment to the address": {func() error { _, err := env.SimulateUMAPayment(t.Context(), p, env.umaPayment(), nil); return err },
					deletedIs(fault.UserNotFound)},
				"UMA payment to the customer": {func() error {
					_, err := env.SimulateUMAPayment(t.Context(), p, payments.UMAPayment{Sender: "$bo@bank.example", Customer: env.Customer.ID,
						Currency: "USD", Amount: 10_00}, nil)
					return err
				}, state.code},
			} {
				if err := c.do(); !fault.Is(err, c.want) {
					t.Errorf("%s: %v, want %s", what, err, c.want)
				}
			}

			env.WantBalances(balances)
			if got := env.QueryStrings("SELECT id::text FROM transactions"); !slices.Equal(got, transactions) {
				t.Errorf("transactions %q, want %q", got, transactions)
			}
		})
	}
}

func TestReadiness_ReceivedMoneyIsNotCredited(t *testing.T) {
	t.Parallel()
	// Money that arrives for a customer who is not approved or is deleted is not credited: a payment for
	// a quote is refunded, and a deposit is held as unmatched funds.
	for name, state := range customerStates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			dollars := env.account(env.Customer.ID, "USD", 0)
			q := env.quote(t, "USD", 10_00, env.NewWallet("spark1good"))
			env.setCustomers(t, state.set)

			_, err := env.Receive(t.Context(), env.receipt(q, "RTP", 10_00), nil)
			_, deposited := env.Deposit(t.Context(), env.NewReceipt("ACH", dollars.Reference, money.Amount{Minor: 5_00, Currency: "USD"}),
				dollars.ID, nil)

			if err != nil {
				t.Fatal(err)
			}
			env.WaitForState(q.Transaction, "FAILED (refund COMPLETED)")
			if !fault.Is(deposited, state.code) {
				t.Errorf("deposited: %v, want %s", deposited, state.code)
			}
			env.WantBalances(map[string]int64{"rails/ACH USD": 5_00, "funding/unmatched USD": -5_00})
		})
	}
}

func TestReadiness_ApprovalOfIncomingPayment(t *testing.T) {
	t.Parallel()
	// A payment from another provider is not credited if its customer was rejected or deleted before the
	// platform approved it: the endpoint's approval ends it, and the platform's is refused.
	for name, state := range customerStates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			env.approvals.set(202, "")
			deferred := env.receiveUMA(t, env.umaPayment())
			env.waitForIncomingState(t, deferred.ID, transaction.ApprovalPending)
			env.approvals.setWith(200, func() error { return env.Exec("UPDATE customers SET " + state.set) })
			atOnce := env.receiveUMA(t, env.umaPayment())
			env.waitForStatus(atOnce.ID, transaction.Failed)

			_, err := env.Approve(t.Context(), env.Platform.ID, deferred.ID, nil, nil)

			if !fault.Is(err, state.code) {
				t.Errorf("approved: %v, want %s", err, state.code)
			}
			if got := env.Transaction(atOnce.ID); got.State.Reason != transaction.PayRequestFailed || got.Approval.Note == "" {
				t.Errorf("ended with %q, %q", got.State.Reason, got.Approval.Note)
			}
			env.WantBalances(nil)
			env.setCustomers(t, "status = '"+string(customer.Approved)+"', deleted_at = NULL")
			if _, err := env.Approve(t.Context(), env.Platform.ID, deferred.ID, nil, nil); err != nil {
				t.Errorf("approved once the customer is ready: %v", err)
			}
		})
	}
}
