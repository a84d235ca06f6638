package transaction_test

import (
	"testing"

	"causeway/core/fault"
	"causeway/core/transaction"
)

// allowed is the machine once more, written by hand from the rules: what is not
// here must be refused. Each line is a state, and whether money has moved in it.
var allowed = map[string]map[transaction.Event]string{
	"PENDING, nothing moved": {
		transaction.Fund: "PROCESSING", transaction.FundWrongAmount: "FAILED (refund PENDING)",
		transaction.FundLate: "EXPIRED (refund PENDING)", transaction.Expire: "EXPIRED",
		transaction.Execute: "PROCESSING", transaction.Collect: "PROCESSING",
	},
	"PENDING, moved":            {transaction.Submit: "PROCESSING", transaction.Refuse: "FAILED (refund PENDING)"},
	"PROCESSING, nothing moved": {transaction.Fund: "PROCESSING", transaction.FailCollection: "FAILED"},
	"PROCESSING, moved": {
		transaction.Deliver: "COMPLETED", transaction.Refuse: "FAILED (refund PENDING)", transaction.Cancel: "FAILED (refund PENDING)",
	},
	"COMPLETED, moved":               {transaction.Return: "FAILED (refund PENDING)"},
	"FAILED (refund PENDING), moved": {transaction.PayRefund: "FAILED (refund COMPLETED)", transaction.FailRefund: "FAILED (refund FAILED)"},
	"EXPIRED, nothing moved":         {transaction.FundLate: "EXPIRED (refund PENDING)"},
	"EXPIRED (refund PENDING), moved": {
		transaction.PayRefund: "EXPIRED (refund COMPLETED)", transaction.FailRefund: "EXPIRED (refund FAILED)",
	},
}

func TestState_EveryTransition(t *testing.T) {
	t.Parallel()
	// Whatever happens in whatever state either leads where the rules say, or is
	// refused as a conflict and changes nothing.
	statuses := []transaction.Status{transaction.Pending, transaction.Processing, transaction.Completed, transaction.Failed, transaction.Expired}
	refunds := []transaction.RefundStatus{transaction.NoRefund, transaction.RefundPending, transaction.RefundCompleted, transaction.RefundUnpaid}
	stages := map[transaction.Stage]string{transaction.NoFundsMoved: "nothing moved", transaction.Received: "moved",
		transaction.Converted: "moved", transaction.Delivered: "moved"}
	for _, status := range statuses {
		for _, refund := range refunds {
			for stage, moved := range stages {
				from := transaction.State{Status: status, Refund: refund, Stage: stage}
				for _, h := range transaction.Events {
					got, err := from.Next(h, transaction.CounterpartyPostFailed)
					want, may := allowed[from.String()+", "+moved][h]
					switch {
					case may && (err != nil || got.String() != want):
						t.Errorf("%s (%s), %s: got %s, %v; want %s", from, moved, h, got, err, want)
					case !may && (!fault.Is(err, fault.Conflict) || got != from):
						t.Errorf("%s (%s), %s: got %s, %v; want a conflict that changes nothing", from, moved, h, got, err)
					}
				}
			}
		}
	}
}

func TestState_KeepsFailureReason(t *testing.T) {
	t.Parallel()
	// The reason comes with the failure and stays through the refund.
	state := transaction.Initial
	for _, h := range []transaction.Event{transaction.Fund, transaction.Refuse, transaction.PayRefund} {
		next, err := state.Next(h, transaction.CounterpartyPostFailed)
		if err != nil {
			t.Fatal(err)
		}
		if state = next; (state.Status == transaction.Failed) != (state.Reason == transaction.CounterpartyPostFailed) {
			t.Fatalf("after %s the reason is %q", h, state.Reason)
		}
	}
}
