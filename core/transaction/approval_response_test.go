package transaction_test

import (
	"testing"
	"time"

	"causeway/core/transaction"
)

func TestTransaction_ApprovalResponded(t *testing.T) {
	t.Parallel()
	// Each response leads to one state and reason. An approval must have the mandatory fields,
	// and the message of a rejection is stored.
	later := noon.Add(time.Second)
	name := map[string]string{"FULL_NAME": "Ana Silva"}
	for what, test := range map[string]struct {
		answer transaction.ApprovalResponse
		state  transaction.IncomingState
		reason transaction.FailureReason
		note   string
	}{
		"yes":                 {transaction.ApprovalResponse{Status: 200, Receiver: name}, transaction.Credited, "", ""},
		"yes, of nobody":      {transaction.ApprovalResponse{Status: 200}, transaction.Declined, transaction.MissingPayeeData, "the answer lacks mandatory facts about the receiver: FULL_NAME"},
		"a moment":            {transaction.ApprovalResponse{Status: 202}, transaction.ApprovalPending, "", ""},
		"asked before":        {transaction.ApprovalResponse{Status: 409}, transaction.ApprovalPending, "", ""},
		"no":                  {transaction.ApprovalResponse{Status: 403, Note: "not her"}, transaction.Declined, transaction.PayRequestFailed, "not her"},
		"who is it":           {transaction.ApprovalResponse{Status: 422, RequiredFields: []string{"BIRTH_DATE", "TAX_ID"}}, transaction.Declined, transaction.PayRequestFailed, "more has to be known of the sender: BIRTH_DATE, TAX_ID"},
		"who is it, in words": {transaction.ApprovalResponse{Status: 422, Note: "unknown"}, transaction.Declined, transaction.PayRequestFailed, "unknown"},
		"something else":      {transaction.ApprovalResponse{Status: 204, Receiver: name}, transaction.Declined, transaction.ApprovalWebhookError, ""},
		"a mistake":           {transaction.ApprovalResponse{Status: 500}, transaction.Declined, transaction.ApprovalWebhookError, ""},
		"nothing":             {transaction.ApprovalResponse{Note: "no connection"}, transaction.Declined, transaction.ApprovalWebhookError, "no connection"},
	} {
		asked := newIncoming().RequestApproval(transaction.Approval{Requested: []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true}, {Name: "EMAIL"}}}, nil, noon).Transaction

		d, err := asked.ApprovalResponded(test.answer, later)

		got := d.Transaction
		if err != nil || got.IncomingState() != test.state || got.State.Reason != test.reason || got.Approval.Note != test.note {
			t.Errorf("%s: %s for %q (%q), %v", what, got.IncomingState(), got.State.Reason, got.Approval.Note, err)
		}
		if (len(d.Postings) > 0) != (test.state == transaction.Credited) {
			t.Errorf("%s: posts %+v", what, d.Postings)
		}
	}
}
