package payments_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// umaPayment is a payment of 12.50 dollars from another provider to Ana.
func (env *env) umaPayment() payments.UMAPayment {
	return payments.UMAPayment{Sender: "$Bo.Berg@bank.example", Receiver: env.Customer.UMAAddress, Currency: "USD", Amount: 12_50}
}

func (env *env) receiveUMA(t testing.TB, in payments.UMAPayment) transaction.Transaction {
	t.Helper()
	payment, err := env.SimulateUMAPayment(t.Context(), env.Platform.ID, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return payment
}

// creditedBalances are the balances after the payment is credited.
func (env *env) creditedBalances() map[string]int64 {
	return map[string]int64{"customers/" + env.dollars.ID.String() + " USD": -12_50, "rails/UMA USD": 12_50}
}

func TestApproval_EndpointResponse(t *testing.T) {
	t.Parallel()
	// The platform gets one request, with the facts about the sender and the required facts about
	// the receiver. Its response ends the payment, with its reason and note. Only an approval credits
	// the account.
	for what, test := range map[string]struct {
		status int
		body   string
		want   transaction.Status
		reason transaction.FailureReason
		note   string
	}{
		"yes": {200, "", transaction.Completed, "", ""},
		"yes, with facts": {200, `{"receiverCustomerInfo": {"BIRTH_DATE": "1990-01-02", "TAX_ID": 7, "SHOE_SIZE": "9", "EMAIL": null}}`,
			transaction.Completed, "", ""},
		"no": {403, `{"code": 1, "message": "no", "reason": "not her"}`, transaction.Failed, transaction.PayRequestFailed,
			"not her"},
		"no, without reason": {403, `<html>`, transaction.Failed, transaction.PayRequestFailed, ""},
		"more facts needed": {422, `{"requiredFields": ["TAX_ID", {"name": "NATIONALITY"}]}`, transaction.Failed, transaction.PayRequestFailed,
			"more facts about the sender are required: TAX_ID, NATIONALITY"},
		"server error": {500, `{"message": "oh no"}`, transaction.Failed, transaction.ApprovalWebhookError, "oh no"},
		"a redirect":   {302, "", transaction.Failed, transaction.ApprovalWebhookError, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			env.approvals.set(test.status, test.body)

			payment := env.receiveUMA(t, env.umaPayment())
			final := env.waitForStatus(payment.ID, test.want)

			if payment.State != transaction.Initial || payment.Source.UMA != "$bo.berg@bank.example" ||
				payment.Destination.UMA != env.Customer.UMAAddress ||
				payment.Destination.InternalAccount != env.dollars.ID || payment.Counterparty["FULL_NAME"] != "Bo Berg" ||
				len(payment.Counterparty) != 1 {
				t.Errorf("%+v", payment)
			}
			if final.State.Reason != test.reason || final.Approval.Note != test.note {
				t.Errorf("state %s, reason %q, note %q", final.State, final.State.Reason, final.Approval.Note)
			}
			requests := env.approvals.all()
			if len(requests) != 1 || requests[0].ID != payment.Approval.Webhook || requests[0].Name != event.IncomingPaymentPending ||
				requests[0].Subject != payment.ID.UUID() {
				t.Errorf("requested %+v", requests)
			}
			if want := []transaction.InfoField{{Name: "BIRTH_DATE"}}; len(final.Approval.Requested) != 1 || final.Approval.Requested[0] != want[0] {
				t.Errorf("requested %v, want %v", final.Approval.Requested, want)
			}
			balances, emitted := env.creditedBalances(), "INCOMING_PAYMENT.COMPLETED"
			if test.want == transaction.Failed {
				balances, emitted = nil, "INCOMING_PAYMENT.FAILED"
			}
			env.WantBalances(balances)
			env.wantIncomingEvents(t, payment.ID, emitted)
			if what == "yes, with facts" && (final.Approval.Receiver["BIRTH_DATE"] != "1990-01-02" || final.Approval.Receiver["TAX_ID"] != "7" ||
				len(final.Approval.Receiver) != 2) {
				t.Errorf("stored facts about the receiver: %v", final.Approval.Receiver)
			}
			if n := env.CountJobs(transaction.StepRequestApproval) + env.CountJobs(transaction.StepTimeOut); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}

func TestApproval_NoResponse(t *testing.T) {
	t.Parallel()
	// Without a response or an endpoint the payment fails.
	for what, outcome := range map[string]struct {
		response ports.WebhookResponse
		err      error
	}{
		"timeout":       {response: ports.WebhookResponse{Outcome: event.TimedOut}},
		"no connection": {response: ports.WebhookResponse{Outcome: event.Unreachable}},
		"no endpoint":   {err: fault.New(fault.WebhookEndpointNotSet, "none")},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			env.approvals.respond = func(event.Event) (ports.WebhookResponse, error) { return outcome.response, outcome.err }

			failed := env.waitForStatus(env.receiveUMA(t, env.umaPayment()).ID, transaction.Failed)

			if failed.State.Reason != transaction.ApprovalWebhookError || failed.Approval.Note == "" {
				t.Errorf("%+v, %+v", failed.State, failed.Approval)
			}
			env.WantBalances(nil)
		})
	}
}

func TestApproval_RequestThatCouldNotBeSentIsRepeated(t *testing.T) {
	t.Parallel()
	// If the service cannot send the request, the payment stays pending and the request is repeated
	// under the same id, until the platform responds.
	env := newReceivingEnv(t)
	var calls atomic.Int32
	env.approvals.respond = func(event.Event) (ports.WebhookResponse, error) {
		if calls.Add(1) <= 2 {
			return ports.WebhookResponse{Outcome: event.InternalError}, errors.New("the keys cannot be read")
		}
		return ports.WebhookResponse{Outcome: event.Accepted, StatusCode: 200}, nil
	}

	payment := env.receiveUMA(t, env.umaPayment())
	for n := int32(1); n <= 2; n++ {
		for calls.Load() < n {
			time.Sleep(time.Millisecond)
		}
		if found := env.Transaction(payment.ID); found.IncomingState() != transaction.ApprovalRequested {
			t.Fatalf("after call %d the payment is %s", n, found.State)
		}
		env.Clock.Advance(time.Minute)
	}
	env.waitForStatus(payment.ID, transaction.Completed)

	for _, request := range env.approvals.all() {
		if request.ID != payment.Approval.Webhook {
			t.Errorf("requested under %s and %s", request.ID, payment.Approval.Webhook)
		}
	}
	env.wantIncomingEvents(t, payment.ID, "INCOMING_PAYMENT.COMPLETED")
	env.WantBalances(env.creditedBalances())
}

// unavailableStore is a store whose next units of work fail.
type unavailableStore struct {
	payments.Store
	failures atomic.Int32
}

func (s *unavailableStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	if s.failures.Add(-1) >= 0 {
		return errors.New("the database is not available")
	}
	return s.Store.DoUnit(ctx, fn)
}

func TestApproval_ResponseThatCouldNotBeStoredIsKept(t *testing.T) {
	t.Parallel()
	// If the response of the platform arrives but cannot be recorded or committed, it is used in the
	// next attempt and the platform is not asked again: it would respond that it has decided.
	for what, fails := range map[string]func(*unavailableStore) error{
		"recording": func(*unavailableStore) error { return errors.New("the delivery cannot be recorded") },
		"commit":    func(store *unavailableStore) error { store.failures.Store(2); return nil },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newIdleEnv(t)
			env.dollars = env.NewInternalAccount(env.Customer.ID, "USD", 0)
			store := &unavailableStore{Store: env.Store}
			env.Service = newService(env.Env, store, env.approvals)
			env.Run(env.Service.Run)
			var calls atomic.Int32
			env.approvals.respond = func(event.Event) (ports.WebhookResponse, error) {
				if calls.Add(1) > 1 {
					return ports.WebhookResponse{Outcome: event.Duplicate, StatusCode: 409}, nil
				}
				return ports.WebhookResponse{Outcome: event.Accepted, StatusCode: 200, Response: `{"receiverCustomerInfo": {"TAX_ID": "7"}}`},
					fails(store)
			}

			payment := env.receiveUMA(t, env.umaPayment())
			for env.CountJobs(transaction.StepRequestApproval) > 0 {
				env.Clock.Advance(time.Minute)
				time.Sleep(10 * time.Millisecond)
			}

			completed := env.waitForStatus(payment.ID, transaction.Completed)
			if calls.Load() != 1 || completed.Approval.Receiver["TAX_ID"] != "7" {
				t.Errorf("%d requests, %+v", calls.Load(), completed.Approval)
			}
			env.WantBalances(env.creditedBalances())
		})
	}
}

func TestApproval_RequiresMandatoryFields(t *testing.T) {
	t.Parallel()
	// A payment to a customer without a known name needs that name in the response or the approval.
	env := newReceivingEnv(t)
	cy := env.NewCustomer("cy", func(c *customer.Customer) { c.FullName = "" })
	pay := func() ident.Transaction {
		return env.receiveUMA(t, payments.UMAPayment{Sender: "$bo@bank.example", Customer: cy.ID, Currency: "USD", Amount: 1_00}).ID
	}

	env.approvals.set(200, `{}`)
	failed := env.waitForStatus(pay(), transaction.Failed)
	env.approvals.set(200, `{"receiverCustomerInfo": {"FULL_NAME": "Cy Young"}}`)
	completed := env.waitForStatus(pay(), transaction.Completed)
	env.approvals.set(202, ``)
	waiting := env.waitForIncomingState(t, pay(), transaction.ApprovalPending)
	_, err := env.Approve(t.Context(), env.Platform.ID, waiting.ID, nil, nil)
	apptest.WantFault(t, "without the name", err, fault.InvalidInput, "receiverCustomerInfo.FULL_NAME")
	approved, err := env.Approve(t.Context(), env.Platform.ID, waiting.ID, map[string]string{"FULL_NAME": "Cy Young"}, nil)

	if failed.State.Reason != transaction.MissingPayeeData || completed.Approval.Receiver["FULL_NAME"] != "Cy Young" {
		t.Errorf("%+v, %+v", failed.State, completed.Approval)
	}
	if err != nil || approved.State.Status != transaction.Completed {
		t.Errorf("%+v, %v", approved.State, err)
	}
	// The account in dollars is opened by the payment.
	env.WantBalances(map[string]int64{approved.DestinationAccount + " USD": -2_00, "rails/UMA USD": 2_00})
}

func TestApproval_DecidedLater(t *testing.T) {
	t.Parallel()
	// After 202 the payment waits five seconds for the platform. It is approved or rejected once, by
	// any process, or it times out.
	for what, decide := range map[string]func(*testing.T, *env, *payments.Service,
		ident.Transaction) (transaction.Status, transaction.FailureReason){
		"approved elsewhere": func(t *testing.T, env *env, other *payments.Service,
			id ident.Transaction) (transaction.Status, transaction.FailureReason) {
			if _, err := other.Approve(t.Context(), env.Platform.ID, id, nil, nil); err != nil {
				t.Error(err)
			}
			return transaction.Completed, ""
		},
		"rejected": func(t *testing.T, env *env, _ *payments.Service, id ident.Transaction) (transaction.Status, transaction.FailureReason) {
			rejected, err := env.Reject(t.Context(), env.Platform.ID, id, "not today", nil)
			if err != nil || rejected.Approval.Note != "not today" {
				t.Errorf("%+v, %v", rejected, err)
			}
			return transaction.Failed, transaction.PayRequestFailed
		},
		"not decided": func(_ *testing.T, env *env, _ *payments.Service, _ ident.Transaction) (transaction.Status, transaction.FailureReason) {
			env.Clock.Advance(5 * time.Second)
			return transaction.Failed, transaction.ApprovalTimedOut
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			other := newService(env.Env, env.Store, env.approvals)
			env.approvals.set(202, `{}`)
			payment := env.waitForIncomingState(t, env.receiveUMA(t, env.umaPayment()).ID, transaction.ApprovalPending)
			if until := apptest.Noon.Add(5 * time.Second); !payment.Approval.Deadline.Equal(until) || payment.State != transaction.Initial {
				t.Errorf("deadline %s, state %s", payment.Approval.Deadline, payment.State)
			}

			status, reason := decide(t, env, other, payment.ID)

			final := env.waitForStatus(payment.ID, status)
			if final.State.Reason != reason {
				t.Errorf("state %s, reason %q, want %q", final.State, final.State.Reason, reason)
			}
			balances := map[string]int64(nil)
			if status == transaction.Completed {
				balances = env.creditedBalances()
			}
			env.WantBalances(balances)
			_, err := env.Approve(t.Context(), env.Platform.ID, payment.ID, nil, nil)
			apptest.WantFault(t, "approved again", err, fault.TransactionNotPendingPlatformApproval)
			_, err = env.Reject(t.Context(), env.Platform.ID, payment.ID, "", nil)
			apptest.WantFault(t, "rejected again", err, fault.TransactionNotPendingPlatformApproval)
		})
	}
}

func TestApprove_PlatformsOwnTransaction(t *testing.T) {
	t.Parallel()
	// A deposit into an account of the platform itself, which has no customer, waits for no approval.
	env := newReceivingEnv(t)
	own, err := env.Fund(t.Context(), env.Platform.ID, env.NewInternalAccount(ident.Customer{}, "USDC", 0).ID, 5_000_000, nil)
	if err != nil {
		t.Fatal(err)
	}

	_, err = env.Approve(t.Context(), env.Platform.ID, own.Transaction.ID, nil, nil)

	apptest.WantFault(t, "approved", err, fault.TransactionNotPendingPlatformApproval)
}

func TestApproval_LostResponseIsRequestedAgain(t *testing.T) {
	t.Parallel()
	// If the process stops between the request and the recording of the response, the request is
	// repeated under the same id, and the payment is credited once. An endpoint that returns 409 gets
	// time to decide.
	env := newReceivingEnv(t)
	first := true
	env.approvals.respond = func(event.Event) (ports.WebhookResponse, error) {
		if first {
			first = false
			return ports.WebhookResponse{}, errors.New("the process died")
		}
		return ports.WebhookResponse{Outcome: event.Duplicate, StatusCode: 409}, nil
	}
	payment := env.receiveUMA(t, env.umaPayment())

	env.waitForRetry(t)
	env.waitForIncomingState(t, payment.ID, transaction.ApprovalPending)
	if _, err := env.Approve(t.Context(), env.Platform.ID, payment.ID, nil, nil); err != nil {
		t.Fatal(err)
	}

	requests := env.approvals.all()
	for _, request := range requests { // a third one if the clock advanced before the second request
		if request.ID != requests[0].ID || request.Subject != requests[0].Subject {
			t.Errorf("requested %+v", requests)
		}
	}
	env.WantBalances(env.creditedBalances())
	env.wantIncomingEvents(t, payment.ID, "INCOMING_PAYMENT.COMPLETED")
}

// waitForRetry advances the clock until a second request was sent.
func (env *env) waitForRetry(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), apptest.WaitTimeout)
	defer cancel()
	for len(env.approvals.all()) < 2 {
		if ctx.Err() != nil {
			t.Fatal("the request for approval was not repeated")
		}
		if env.CountJobs(transaction.StepRequestApproval) == 1 {
			env.Clock.Advance(100 * time.Millisecond)
		}
	}
}

func TestApproval_DecisionBeforeEndpointResponse(t *testing.T) {
	t.Parallel()
	// An approval by the platform counts before the response of its endpoint, which is then ignored.
	env := newReceivingEnv(t)
	env.approvals.respond = func(e event.Event) (ports.WebhookResponse, error) {
		var id ident.Transaction
		id.SetUUID(e.Subject)
		if _, err := env.Approve(context.Background(), env.Platform.ID, id, nil, nil); err != nil {
			t.Error(err)
		}
		return ports.WebhookResponse{Outcome: event.Refused, StatusCode: 403}, nil
	}

	payment := env.receiveUMA(t, env.umaPayment())

	env.waitForStatus(payment.ID, transaction.Completed)
	env.WantBalances(env.creditedBalances())
	env.wantIncomingEvents(t, payment.ID, "INCOMING_PAYMENT.COMPLETED")
}

func TestReceiveUMA_Refused(t *testing.T) {
	t.Parallel()
	// An invalid payment is rejected with every invalid field, without a request, and nothing is
	// stored.
	env := newReceivingEnv(t)
	bo := env.NewCustomer("bo", func(c *customer.Customer) { c.Status = customer.Pending })
	deleted := env.NewCustomer("deleted", func(c *customer.Customer) { c.DeletedAt = apptest.Noon })
	change := func(f func(*payments.UMAPayment)) payments.UMAPayment {
		in := env.umaPayment()
		f(&in)
		return in
	}

	for what, test := range map[string]struct {
		in     payments.UMAPayment
		code   fault.Code
		fields []string
	}{
		"every field": {payments.UMAPayment{Sender: "bo", Currency: "???", Amount: -1}, fault.InvalidInput,
			[]string{"senderUmaAddress", "receiverUmaAddress", "receivingCurrencyCode", "receivingCurrencyAmount"}},
		"unknown receiver": {change(func(p *payments.UMAPayment) { p.Receiver = "$unknown@uma.test" }), fault.UserNotFound, nil},
		"unknown customer": {change(func(p *payments.UMAPayment) {
			p.Receiver, p.Customer = "", ident.NewCustomer(env.IDs.New, apptest.Noon)
		}), fault.UserNotFound, nil},
		"two receivers":   {change(func(p *payments.UMAPayment) { p.Customer = bo.ID }), fault.InvalidInput, []string{"receiverUmaAddress"}},
		"not ready":       {change(func(p *payments.UMAPayment) { p.Receiver = bo.UMAAddress }), fault.UserNotReady, nil},
		"deleted":         {change(func(p *payments.UMAPayment) { p.Receiver, p.Customer = "", deleted.ID }), fault.CustomerDeleted, nil},
		"to oneself":      {change(func(p *payments.UMAPayment) { p.Sender = env.Customer.UMAAddress }), fault.SelfPayment, nil},
		"unused currency": {change(func(p *payments.UMAPayment) { p.Currency = "MXN" }), fault.InvalidCurrency, nil},
		"too little":      {change(func(p *payments.UMAPayment) { p.Amount = 99 }), fault.AmountOutOfRange, nil},
		"too much":        {change(func(p *payments.UMAPayment) { p.Amount = 1_000_000_001 }), fault.AmountOutOfRange, nil},
	} {
		_, err := env.SimulateUMAPayment(t.Context(), env.Platform.ID, test.in, nil)
		apptest.WantFault(t, what, err, test.code, test.fields...)
	}

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		p, err := tx.LockPlatform(ctx, env.Platform.ID)
		p.WebhookEndpoint = ""
		return errors.Join(err, tx.UpdatePlatform(ctx, p))
	})
	_, err := env.SimulateUMAPayment(t.Context(), env.Platform.ID, env.umaPayment(), nil)
	apptest.WantFault(t, "no webhook endpoint", err, fault.WebhookEndpointNotSet)
	_, err = env.Approve(t.Context(), env.Platform.ID, ident.NewTransaction(env.IDs.New, apptest.Noon), nil, nil)
	apptest.WantFault(t, "unknown transaction", err, fault.TransactionNotFound)
	if n := env.CountJobs(transaction.StepRequestApproval); n != 0 || len(env.approvals.all()) > 0 {
		t.Errorf("%d jobs, requests %v", n, env.approvals.all())
	}
}

func TestApproval_ByListener(t *testing.T) {
	t.Parallel()
	// A payment whose request was relayed to a listener waits for the answer, which decides as the response of an endpoint does, and
	// once. Without an answer in time the payment fails as without a response, and a late answer is refused.
	for what, test := range map[string]struct {
		status int
		body   string
		want   transaction.Status
		reason transaction.FailureReason
		note   string
	}{
		"yes":       {200, `{"receiverCustomerInfo": {"BIRTH_DATE": "1990-01-02"}}`, transaction.Completed, "", ""},
		"no":        {403, `{"reason": "not her"}`, transaction.Failed, transaction.PayRequestFailed, "not her"},
		"error":     {500, "", transaction.Failed, transaction.ApprovalWebhookError, ""},
		"later":     {202, "", transaction.Failed, transaction.ApprovalTimedOut, ""},
		"no answer": {0, "", transaction.Failed, transaction.ApprovalWebhookError, "the listener did not respond"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			env.approvals.respond = func(event.Event) (ports.WebhookResponse, error) { return ports.WebhookResponse{Relayed: true}, nil }
			payment := env.receiveUMA(t, env.umaPayment())
			for env.CountJobs(transaction.StepTimeOut) == 0 {
				time.Sleep(time.Millisecond)
			}
			answer := func() error {
				_, err := env.AnswerApproval(t.Context(), env.Platform.ID, payment.ID, test.status, test.body, nil)
				return err
			}

			if found := env.Transaction(payment.ID); found.IncomingState() != transaction.ApprovalRequested {
				t.Fatalf("before the answer the payment is %s", found.State)
			}
			if test.status != 0 {
				if err := answer(); err != nil {
					t.Fatal(err)
				}
			}
			env.Clock.Advance(event.Timeout)
			ended := env.waitForStatus(payment.ID, test.want)

			if ended.State.Reason != test.reason || ended.Approval.Note != test.note {
				t.Errorf("%+v, %+v", ended.State, ended.Approval)
			}
			apptest.WantFault(t, "an answer afterwards", answer(), fault.TransactionNotPendingPlatformApproval)
			if n := len(env.approvals.all()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}
