package transaction_test

import (
	"testing"

	"causeway/core/transaction"
)

func TestStep_CanDiscard(t *testing.T) {
	t.Parallel()
	// A job can be discarded when all its transactions are final. One that is pending, in progress or
	// to be refunded would be stranded, and so would a receipt that must be sent back.
	final := transaction.Transaction{State: transaction.State{Status: transaction.Completed, Stage: transaction.Delivered}}
	refunded := transaction.Transaction{State: transaction.State{Status: transaction.Failed, Refund: transaction.RefundCompleted}}
	for _, c := range []struct {
		step     transaction.Step
		subjects []transaction.Transaction
		want     bool
	}{
		{transaction.StepCheckReturn, []transaction.Transaction{final, refunded}, true},
		{transaction.StepForward, []transaction.Transaction{final}, true},
		{transaction.StepDeliver, nil, true},
		{transaction.StepDeliver, []transaction.Transaction{final, {State: transaction.State{Status: transaction.Processing}}}, false},
		{transaction.StepExpire, []transaction.Transaction{{State: transaction.Initial}}, false},
		{transaction.StepRefund, []transaction.Transaction{{State: transaction.State{Status: transaction.Failed, Refund: transaction.RefundPending}}}, false},
		{transaction.StepSendBack, nil, false},
	} {
		if got := c.step.CanDiscard(c.subjects); got != c.want {
			t.Errorf("%s with %v: %t, want %t", c.step, c.subjects, got, c.want)
		}
	}
}
