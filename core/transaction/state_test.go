package transaction_test

import (
	"testing"

	"causeway/core/fault"
	"causeway/core/transaction"
)

// allowed is a second copy of the state machine, written by hand from the specification. Transitions
// that are not listed must be refused. Each key is a state and whether funds have moved in it.
var allowed = map[string]map[transaction.Event]string{
	"PENDING, nothing moved": {
		transaction.Fund: "PROCESSING", transaction.FundWrongAmount: "FAILED (refund PENDING)",
		transaction.FundRefused: "FAILED (refund PENDING)", transaction.FundLate: "EXPIRED (refund PENDING)", transaction.Expire: "EXPIRED",
		transaction.Execute: "PROCESSING", transaction.Collect: "PROCESSING", transaction.Challenge: "PENDING_AUTHORIZATION",
	},
	"PENDING_AUTHORIZATION, nothing moved": {
		transaction.FundWrongAmount: "FAILED (refund PENDING)", transaction.FundRefused: "FAILED (refund PENDING)",
		transaction.FundLate: "EXPIRED (refund PENDING)", transaction.Authorize: "PENDING", transaction.LapseAuthorization: "FAILED",
		transaction.Execute: "PROCESSING", transaction.Collect: "PROCESSING",
	},
	"PENDING, moved": {
		transaction.Submit: "PROCESSING", transaction.Refuse: "FAILED (refund PENDING)", transaction.Cancel: "FAILED (refund PENDING)",
	},
	"PROCESSING, nothing moved": {transaction.Fund: "PROCESSING", transaction.FailCollection: "FAILED"},
	"PROCESSING, moved": {
		transaction.Deliver: "COMPLETED", transaction.Refuse: "FAILED (refund PENDING)", transaction.Cancel: "FAILED (refund PENDING)",
	},
	"COMPLETED, moved":               {transaction.Return: "FAILED (refund PENDING)"},
	"FAILED (refund PENDING), moved": {transaction.PayRefund: "FAILED (refund COMPLETED)", transaction.FailRefund: "FAILED (refund FAILED)"},
	"EXPIRED, nothing moved": {
		transaction.Fund: "PROCESSING", transaction.FundWrongAmount: "FAILED (refund PENDING)",
		transaction.FundRefused: "FAILED (refund PENDING)", transaction.FundLate: "EXPIRED (refund PENDING)",
	},
	"EXPIRED (refund PENDING), moved": {
		transaction.PayRefund: "EXPIRED (refund COMPLETED)", transaction.FailRefund: "EXPIRED (refund FAILED)",
	},
}

func TestState_EveryTransition(t *testing.T) {
	t.Parallel()
	// Every event in every state either leads to the specified state, or is refused with a conflict and
	// changes nothing.
	statuses := []transaction.Status{transaction.Pending, transaction.PendingAuthorization, transaction.Processing,
		transaction.Completed, transaction.Failed,
		transaction.Expired}
	refunds := []transaction.RefundStatus{transaction.NoRefund, transaction.RefundPending, transaction.RefundCompleted,
		transaction.RefundUnpaid}
	stages := map[transaction.Stage]string{transaction.NoFundsMoved: "nothing moved", transaction.Received: "moved",
		transaction.Converted: "moved", transaction.Delivered: "moved"}
	for _, status := range statuses {
		for _, refund := range refunds {
			for stage, moved := range stages {
				from := transaction.State{Status: status, Refund: refund, Stage: stage}
				for _, event := range transaction.Events {
					got, err := from.Next(event, transaction.CounterpartyPostFailed)
					want, ok := allowed[from.String()+", "+moved][event]
					switch {
					case ok && (err != nil || got.String() != want):
						t.Errorf("%s (%s), %s: got %s, %v; want %s", from, moved, event, got, err, want)
					case !ok && (!fault.Is(err, fault.Conflict) || got != from):
						t.Errorf("%s (%s), %s: got %s, %v; want a conflict that changes nothing", from, moved, event, got, err)
					}
				}
			}
		}
	}
}

func TestState_KeepsFailureReason(t *testing.T) {
	t.Parallel()
	// The reason is set when the transaction fails, and is kept through the refund.
	state := transaction.Initial
	for _, event := range []transaction.Event{transaction.Fund, transaction.Refuse, transaction.PayRefund} {
		next, err := state.Next(event, transaction.CounterpartyPostFailed)
		if err != nil {
			t.Fatal(err)
		}
		if state = next; (state.Status == transaction.Failed) != (state.Reason == transaction.CounterpartyPostFailed) {
			t.Fatalf("after %s the reason is %q", event, state.Reason)
		}
	}
}
