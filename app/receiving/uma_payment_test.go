package receiving_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/receiving"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// umaPayment is 12.50 dollars that somebody elsewhere pays Ana.
func (h *incomingEnv) umaPayment() receiving.UMAPayment {
	return receiving.UMAPayment{Sender: "$Bo.Berg@bank.example", Receiver: h.ana.UMAAddress, Currency: "USD", Amount: 12_50}
}

func (h *incomingEnv) receive(t testing.TB, in receiving.UMAPayment) transaction.Transaction {
	t.Helper()
	made, err := h.Receive(t.Context(), h.principal(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// creditedBalances is what the books hold once lunch is paid.
func (h *incomingEnv) creditedBalances() map[string]int64 {
	return map[string]int64{"customers/" + h.dollars.ID.String() + " USD": -12_50, "rails/UMA USD": 12_50}
}

func TestApproval_EndpointResponse(t *testing.T) {
	t.Parallel()
	// The platform is asked once, with what is known of the sender and what is wanted of
	// the receiver; its answer ends the payment, with its reason and its words, and the
	// account is credited for a yes alone.
	for what, test := range map[string]struct {
		status int
		body   string
		want   transaction.Status
		reason transaction.FailureReason
		note   string
	}{
		"yes":                {200, "", transaction.Completed, "", ""},
		"yes, with facts":    {200, `{"receiverCustomerInfo": {"BIRTH_DATE": "1990-01-02", "TAX_ID": 7, "SHOE_SIZE": "9", "EMAIL": null}}`, transaction.Completed, "", ""},
		"no":                 {403, `{"code": 1, "message": "no", "reason": "not her"}`, transaction.Failed, transaction.PayRequestFailed, "not her"},
		"no, without a word": {403, `<html>`, transaction.Failed, transaction.PayRequestFailed, ""},
		"who is it":          {422, `{"requiredFields": ["TAX_ID", {"name": "NATIONALITY"}]}`, transaction.Failed, transaction.PayRequestFailed, "more has to be known of the sender: TAX_ID, NATIONALITY"},
		"a mistake":          {500, `{"message": "oh no"}`, transaction.Failed, transaction.ApprovalWebhookError, "oh no"},
		"a redirect":         {302, "", transaction.Failed, transaction.ApprovalWebhookError, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newIncomingEnv(t)
			h.setResponse(test.status, test.body)

			made := h.receive(t, h.umaPayment())
			ended := h.waitForStatus(t, made.ID, test.want)

			if made.State != transaction.Initial || made.Source.UMA != "$bo.berg@bank.example" || made.Destination.UMA != h.ana.UMAAddress ||
				made.Destination.InternalAccount != h.dollars.ID || made.Counterparty["FULL_NAME"] != "Bo Berg" || len(made.Counterparty) != 1 {
				t.Errorf("%+v", made)
			}
			if ended.State.Reason != test.reason || ended.Approval.Note != test.note {
				t.Errorf("it is %s for %q: %q", ended.State, ended.State.Reason, ended.Approval.Note)
			}
			asked := h.sentApprovalRequests()
			if len(asked) != 1 || asked[0].ID != made.Approval.Webhook || asked[0].Name != event.IncomingPaymentPending || asked[0].Subject != made.ID.UUID() {
				t.Errorf("asked %+v", asked)
			}
			if want := []transaction.InfoField{{Name: "BIRTH_DATE"}}; len(ended.Approval.Requested) != 1 || ended.Approval.Requested[0] != want[0] {
				t.Errorf("requested %v, want %v", ended.Approval.Requested, want)
			}
			books, told := h.creditedBalances(), "INCOMING_PAYMENT.COMPLETED"
			if test.want == transaction.Failed {
				books, told = nil, "INCOMING_PAYMENT.FAILED"
			}
			h.wantTrialBalance(t, books)
			h.wantEvents(t, made.ID, told)
			if what == "yes, with facts" && (ended.Approval.Receiver["BIRTH_DATE"] != "1990-01-02" || ended.Approval.Receiver["TAX_ID"] != "7" || len(ended.Approval.Receiver) != 2) {
				t.Errorf("kept of the receiver: %v", ended.Approval.Receiver)
			}
			if n := h.jobCount(t, transaction.StepRequestApproval) + h.jobCount(t, transaction.StepTimeOut); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}

func TestApproval_NoResponse(t *testing.T) {
	t.Parallel()
	// Where nobody answers, or nobody can be asked any more, the payment fails.
	for what, outcome := range map[string]struct {
		answer ports.WebhookResponse
		err    error
	}{
		"no answer":       {answer: ports.WebhookResponse{Outcome: event.TimedOut}},
		"no connection":   {answer: ports.WebhookResponse{Outcome: event.Unreachable}},
		"no endpoint now": {err: fault.New(fault.WebhookEndpointNotSet, "none")},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newIncomingEnv(t)
			h.respond = func(event.Event) (ports.WebhookResponse, error) { return outcome.answer, outcome.err }

			failed := h.waitForStatus(t, h.receive(t, h.umaPayment()).ID, transaction.Failed)

			if failed.State.Reason != transaction.ApprovalWebhookError || failed.Approval.Note == "" {
				t.Errorf("%+v, %+v", failed.State, failed.Approval)
			}
			h.wantTrialBalance(t, nil)
		})
	}
}

func TestApproval_RequiresMandatoryFields(t *testing.T) {
	t.Parallel()
	// A customer whose name the service does not know is taken a payment for only with
	// that name, in the answer or in the approval.
	h := newIncomingEnv(t)
	cy := h.newCustomer("cy")
	h.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateCustomer(ctx, cy) })
	pay := func() ident.Transaction {
		return h.receive(t, receiving.UMAPayment{Sender: "$bo@bank.example", Customer: cy.ID, Currency: "USD", Amount: 1_00}).ID
	}

	h.setResponse(200, `{}`)
	failed := h.waitForStatus(t, pay(), transaction.Failed)
	h.setResponse(200, `{"receiverCustomerInfo": {"FULL_NAME": "Cy Young"}}`)
	completed := h.waitForStatus(t, pay(), transaction.Completed)
	h.setResponse(202, ``)
	waiting := h.waitForIncomingState(t, pay(), transaction.ApprovalPending)
	_, err := h.Approve(t.Context(), h.principal(), waiting.ID, nil, nil)
	wantFault(t, "without the name", err, fault.InvalidInput, "receiverCustomerInfo.FULL_NAME")
	approved, err := h.Approve(t.Context(), h.principal(), waiting.ID, map[string]string{"FULL_NAME": "Cy Young"}, nil)

	if failed.State.Reason != transaction.MissingPayeeData || completed.Approval.Receiver["FULL_NAME"] != "Cy Young" {
		t.Errorf("%+v, %+v", failed.State, completed.Approval)
	}
	if err != nil || approved.State.Status != transaction.Completed {
		t.Errorf("%+v, %v", approved.State, err)
	}
	// The account in dollars did not exist before.
	h.wantTrialBalance(t, map[string]int64{approved.DestinationAccount + " USD": -2_00, "rails/UMA USD": 2_00})
}

func TestApproval_DecidedLater(t *testing.T) {
	t.Parallel()
	// After 202 the payment waits for the platform, five seconds: approved or rejected in
	// time it ends so, by any process, once; and else it has timed out.
	for what, decide := range map[string]func(*testing.T, *incomingEnv, *incomingEnv, ident.Transaction) (transaction.Status, transaction.FailureReason){
		"approved elsewhere": func(t *testing.T, _, other *incomingEnv, id ident.Transaction) (transaction.Status, transaction.FailureReason) {
			if _, err := other.Approve(t.Context(), other.principal(), id, nil, nil); err != nil {
				t.Error(err)
			}
			return transaction.Completed, ""
		},
		"rejected": func(t *testing.T, h, _ *incomingEnv, id ident.Transaction) (transaction.Status, transaction.FailureReason) {
			rejected, err := h.Reject(t.Context(), h.principal(), id, "not today", nil)
			if err != nil || rejected.Approval.Note != "not today" {
				t.Errorf("%+v, %v", rejected, err)
			}
			return transaction.Failed, transaction.PayRequestFailed
		},
		"forgotten": func(_ *testing.T, h, _ *incomingEnv, _ ident.Transaction) (transaction.Status, transaction.FailureReason) {
			h.clock.Advance(5 * time.Second)
			return transaction.Failed, transaction.ApprovalTimedOut
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			url := pgtest.New(t)
			h, other := newIdleIncomingEnv(t, url), newIdleIncomingEnv(t, url)
			other.platform = h.platform
			h.startWorkers(t)
			h.setResponse(202, `{}`)
			made := h.waitForIncomingState(t, h.receive(t, h.umaPayment()).ID, transaction.ApprovalPending)
			if until := noon.Add(5 * time.Second); !made.Approval.Deadline.Equal(until) || made.State != transaction.Initial {
				t.Errorf("it waits until %s, %s", made.Approval.Deadline, made.State)
			}

			status, reason := decide(t, h, other, made.ID)

			ended := h.waitForStatus(t, made.ID, status)
			if ended.State.Reason != reason {
				t.Errorf("it is %s for %q, want %q", ended.State, ended.State.Reason, reason)
			}
			books := map[string]int64(nil)
			if status == transaction.Completed {
				books = h.creditedBalances()
			}
			h.wantTrialBalance(t, books)
			_, err := h.Approve(t.Context(), h.principal(), made.ID, nil, nil)
			wantFault(t, "approved again", err, fault.TransactionNotPendingPlatformApproval)
			_, err = h.Reject(t.Context(), h.principal(), made.ID, "", nil)
			wantFault(t, "rejected again", err, fault.TransactionNotPendingPlatformApproval)
		})
	}
}

func TestApproval_LostResponseIsRequestedAgain(t *testing.T) {
	t.Parallel()
	// When the process dies between the question and the writing of the answer, the same
	// question is asked again, under the same id, and the payment is credited once. An
	// endpoint that says it had the question is waited for.
	h := newIncomingEnv(t)
	first := true
	h.respond = func(event.Event) (ports.WebhookResponse, error) {
		if first {
			first = false
			return ports.WebhookResponse{}, errors.New("the process died")
		}
		return ports.WebhookResponse{Outcome: event.Duplicate, StatusCode: 409}, nil
	}
	made := h.receive(t, h.umaPayment())

	h.waitForRetry(t)
	h.waitForIncomingState(t, made.ID, transaction.ApprovalPending)
	if _, err := h.Approve(t.Context(), h.principal(), made.ID, nil, nil); err != nil {
		t.Fatal(err)
	}

	asked := h.sentApprovalRequests()
	for _, again := range asked { // once more if the clock was moved on before the second one came
		if again.ID != asked[0].ID || again.Subject != asked[0].Subject {
			t.Errorf("asked %+v", asked)
		}
	}
	h.wantTrialBalance(t, h.creditedBalances())
	h.wantEvents(t, made.ID, "INCOMING_PAYMENT.COMPLETED")
}

// waitForRetry moves the clock until a second question has gone out.
func (h *incomingEnv) waitForRetry(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for len(h.sentApprovalRequests()) < 2 {
		if ctx.Err() != nil {
			t.Fatal("the question was not asked again")
		}
		if h.jobCount(t, transaction.StepRequestApproval) == 1 {
			h.clock.Advance(100 * time.Millisecond)
		}
	}
}

func TestApproval_DecisionBeforeEndpointResponse(t *testing.T) {
	t.Parallel()
	// A platform that approves while its endpoint is still answering has decided; what the
	// endpoint says then counts no more.
	h := newIncomingEnv(t)
	h.respond = func(e event.Event) (ports.WebhookResponse, error) {
		var id ident.Transaction
		ident.SetUUID(&id, e.Subject)
		if _, err := h.Approve(context.Background(), h.principal(), id, nil, nil); err != nil {
			t.Error(err)
		}
		return ports.WebhookResponse{Outcome: event.Refused, StatusCode: 403}, nil
	}

	made := h.receive(t, h.umaPayment())

	h.waitForStatus(t, made.ID, transaction.Completed)
	h.wantTrialBalance(t, h.creditedBalances())
	h.wantEvents(t, made.ID, "INCOMING_PAYMENT.COMPLETED")
}

func TestReceiveUMA_Refused(t *testing.T) {
	t.Parallel()
	// Nobody is asked about a payment that cannot be: every bad field is named at once,
	// and nothing is kept.
	h := newIncomingEnv(t)
	bo := h.newCustomer("bo")
	bo.Status = customer.Pending
	gone := h.newCustomer("gone")
	gone.DeletedAt = noon
	h.do(t, func(ctx context.Context, tx ports.Tx) error {
		return errors.Join(tx.CreateCustomer(ctx, bo), tx.CreateCustomer(ctx, gone))
	})
	real, viewer := h.principal(), h.principal()
	real.Environment = platform.Production
	viewer.Permissions = []platform.Permission{platform.View}
	change := func(f func(*receiving.UMAPayment)) receiving.UMAPayment {
		in := h.umaPayment()
		f(&in)
		return in
	}

	for what, test := range map[string]struct {
		who    platform.Principal
		in     receiving.UMAPayment
		code   fault.Code
		fields []string
	}{
		"everything": {h.principal(), receiving.UMAPayment{Sender: "bo", Currency: "???", Amount: -1}, fault.InvalidInput,
			[]string{"senderUmaAddress", "receiverUmaAddress", "receivingCurrencyCode", "receivingCurrencyAmount"}},
		"production":       {real, h.umaPayment(), fault.Forbidden, nil},
		"nobody":           {h.principal(), change(func(p *receiving.UMAPayment) { p.Receiver = "$nobody@uma.test" }), fault.UserNotFound, nil},
		"no such customer": {h.principal(), change(func(p *receiving.UMAPayment) { p.Receiver, p.Customer = "", ident.NewCustomer(h.ids.New, noon) }), fault.UserNotFound, nil},
		"two people":       {h.principal(), change(func(p *receiving.UMAPayment) { p.Customer = bo.ID }), fault.InvalidInput, []string{"receiverUmaAddress"}},
		"not ready":        {h.principal(), change(func(p *receiving.UMAPayment) { p.Receiver = bo.UMAAddress }), fault.UserNotReady, nil},
		"deleted":          {h.principal(), change(func(p *receiving.UMAPayment) { p.Receiver, p.Customer = "", gone.ID }), fault.CustomerDeleted, nil},
		"oneself":          {h.principal(), change(func(p *receiving.UMAPayment) { p.Sender = h.ana.UMAAddress }), fault.SelfPayment, nil},
		"not used here":    {h.principal(), change(func(p *receiving.UMAPayment) { p.Currency = "MXN" }), fault.InvalidCurrency, nil},
		"too little":       {h.principal(), change(func(p *receiving.UMAPayment) { p.Amount = 99 }), fault.AmountOutOfRange, nil},
		"too much":         {h.principal(), change(func(p *receiving.UMAPayment) { p.Amount = 1_000_000_001 }), fault.AmountOutOfRange, nil},
	} {
		_, err := h.Receive(t.Context(), test.who, test.in, nil)
		wantFault(t, what, err, test.code, test.fields...)
	}

	h.do(t, func(ctx context.Context, tx ports.Tx) error {
		p, err := tx.LockPlatform(ctx, h.platform.ID)
		p.WebhookEndpoint = ""
		return errors.Join(err, tx.UpdatePlatform(ctx, p))
	})
	_, err := h.Receive(t.Context(), h.principal(), h.umaPayment(), nil)
	wantFault(t, "nobody to ask", err, fault.WebhookEndpointNotSet)
	_, err = h.Approve(t.Context(), viewer, ident.NewTransaction(h.ids.New, noon), nil, nil)
	wantFault(t, "a viewer approves", err, fault.Forbidden)
	_, err = h.Approve(t.Context(), h.principal(), ident.NewTransaction(h.ids.New, noon), nil, nil)
	wantFault(t, "approve nothing", err, fault.TransactionNotFound)
	if n := h.jobCount(t, transaction.StepRequestApproval); n != 0 || len(h.sentApprovalRequests()) > 0 {
		t.Errorf("%d jobs, asked %v", n, h.sentApprovalRequests())
	}
}
