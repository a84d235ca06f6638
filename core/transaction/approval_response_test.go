package transaction_test

import (
	"testing"
	"time"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/transaction"
)

func TestTransaction_ApprovalResponded(t *testing.T) {
	t.Parallel()
	// Each response leads to one state with one reason, and so does a missing response. An approval must
	// have the mandatory facts, and the note of a rejection is kept.
	later := noon.Add(time.Second)
	receiver := map[string]string{"FULL_NAME": "Ana Silva"}
	for name, test := range map[string]struct {
		response transaction.ApprovalResponse
		state    transaction.IncomingState
		reason   transaction.FailureReason
		note     string
	}{
		"approved": {transaction.ApprovalResponse{Status: 200, Receiver: receiver}, transaction.Credited, "", ""},
		"approved without a mandatory fact": {transaction.ApprovalResponse{Status: 200}, transaction.Declined, transaction.MissingPayeeData,
			"the response lacks mandatory facts about the receiver: FULL_NAME"},
		"acknowledged":     {transaction.ApprovalResponse{Status: 202}, transaction.ApprovalPending, "", ""},
		"requested before": {transaction.ApprovalResponse{Status: 409}, transaction.ApprovalPending, "", ""},
		"rejected": {transaction.ApprovalResponse{Status: 403, Note: "not her"}, transaction.Declined,
			transaction.PayRequestFailed, "not her"},
		"rejected with required fields": {transaction.ApprovalResponse{Status: 422, RequiredFields: []string{"BIRTH_DATE", "TAX_ID"}},
			transaction.Declined, transaction.PayRequestFailed, "more facts about the sender are required: BIRTH_DATE, TAX_ID"},
		"rejected as incomplete with a note": {transaction.ApprovalResponse{Status: 422, Note: "unknown"}, transaction.Declined,
			transaction.PayRequestFailed, "unknown"},
		"another status": {transaction.ApprovalResponse{Status: 204, Receiver: receiver}, transaction.Declined,
			transaction.ApprovalWebhookError, ""},
		"a server error": {transaction.ApprovalResponse{Status: 500}, transaction.Declined,
			transaction.ApprovalWebhookError, ""},
		"no response": {transaction.ApprovalResponse{Note: "no connection"}, transaction.Declined,
			transaction.ApprovalWebhookError, "no connection"},
	} {
		requested := newIncoming().RequestApproval(transaction.Approval{Requested: []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true},
			{Name: "EMAIL"}}}, nil, noon).Transaction

		d, err := requested.ApprovalResponded(test.response, readyCustomer, later)

		got := d.Transaction
		if err != nil || got.IncomingState() != test.state || got.State.Reason != test.reason || got.Approval.Note != test.note {
			t.Errorf("%s: %s for %q (%q), %v", name, got.IncomingState(), got.State.Reason, got.Approval.Note, err)
		}
		if (len(d.Postings) > 0) != (test.state == transaction.Credited) {
			t.Errorf("%s: postings %+v", name, d.Postings)
		}
	}
}

func TestTransaction_ApprovalRespondedForCustomerNotReady(t *testing.T) {
	t.Parallel()
	// The approval of a payment to a customer who was deleted or rejected since ends it without crediting
	// the account; that of the platform itself is refused.
	for name, test := range map[string]struct {
		owner customer.Customer
		want  fault.Code
	}{
		"rejected": {customer.Customer{Status: customer.Rejected}, fault.UserNotReady},
		"pending":  {customer.Customer{Status: customer.Pending}, fault.UserNotReady},
		"deleted":  {customer.Customer{Status: customer.Approved, DeletedAt: noon}, fault.CustomerDeleted},
	} {
		requested := newIncoming().RequestApproval(transaction.Approval{}, nil, noon).Transaction

		d, err := requested.ApprovalResponded(transaction.ApprovalResponse{Status: 200}, test.owner, noon.Add(time.Second))
		_, refused := requested.Approved(nil, test.owner, noon.Add(time.Second))

		if got := d.Transaction; err != nil || got.IncomingState() != transaction.Declined || got.State.Reason != transaction.PayRequestFailed ||
			got.Approval.Note == "" || len(d.Postings) > 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if !fault.Is(refused, test.want) {
			t.Errorf("%s: approved with %v, want %s", name, refused, test.want)
		}
	}
}
