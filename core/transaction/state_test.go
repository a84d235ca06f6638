package transaction_test

import (
	"testing"

	"causeway/core/fault"
	"causeway/core/transaction"
)

// allowed is the machine once more, written by hand from the rules: what is not
// here must be refused.
var allowed = map[transaction.Status]map[transaction.RefundStatus]map[transaction.Happening]string{
	transaction.Pending: {transaction.NoRefund: {
		transaction.Fund: "PROCESSING", transaction.FundWrong: "FAILED (refund PENDING)",
		transaction.FundLate: "EXPIRED (refund PENDING)", transaction.Expire: "EXPIRED",
	}},
	transaction.Processing: {transaction.NoRefund: {
		transaction.Deliver: "COMPLETED", transaction.Refuse: "FAILED (refund PENDING)", transaction.Cancel: "FAILED (refund PENDING)",
	}},
	transaction.Completed: {transaction.NoRefund: {transaction.Return: "FAILED (refund PENDING)"}},
	transaction.Failed: {transaction.RefundPending: {
		transaction.PayRefund: "FAILED (refund COMPLETED)", transaction.LoseRefund: "FAILED (refund FAILED)",
	}},
	transaction.Expired: {
		transaction.NoRefund: {transaction.FundLate: "EXPIRED (refund PENDING)"},
		transaction.RefundPending: {
			transaction.PayRefund: "EXPIRED (refund COMPLETED)", transaction.LoseRefund: "EXPIRED (refund FAILED)",
		},
	},
}

func TestEveryPairOfStateAndHappening(t *testing.T) {
	t.Parallel()
	// Whatever happens in whatever state either leads where the rules say, or is
	// refused as a conflict and changes nothing.
	statuses := []transaction.Status{transaction.Pending, transaction.Processing, transaction.Completed, transaction.Failed, transaction.Expired}
	refunds := []transaction.RefundStatus{transaction.NoRefund, transaction.RefundPending, transaction.RefundCompleted, transaction.RefundNotPaid}
	for _, status := range statuses {
		for _, refund := range refunds {
			for _, h := range transaction.Happenings {
				from := transaction.State{Status: status, Refund: refund}
				got, err := from.Next(h, transaction.CounterpartyPostFailed)
				want, may := allowed[status][refund][h]
				switch {
				case may && (err != nil || got.String() != want):
					t.Errorf("%s, %s: got %s, %v; want %s", from, h, got, err, want)
				case !may && (!fault.Is(err, fault.Conflict) || got != from):
					t.Errorf("%s, %s: got %s, %v; want a conflict that changes nothing", from, h, got, err)
				}
			}
		}
	}
}

func TestReasonIsKeptWhereItFails(t *testing.T) {
	t.Parallel()
	// The reason comes with the failure and stays through the refund.
	state := transaction.Initial
	for _, h := range []transaction.Happening{transaction.Fund, transaction.Refuse, transaction.PayRefund} {
		next, err := state.Next(h, transaction.CounterpartyPostFailed)
		if err != nil {
			t.Fatal(err)
		}
		if state = next; (state.Status == transaction.Failed) != (state.Reason == transaction.CounterpartyPostFailed) {
			t.Fatalf("after %s the reason is %q", h, state.Reason)
		}
	}
}
