package transaction_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
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
		{transaction.StepRefund, []transaction.Transaction{{State: transaction.State{Status: transaction.Failed,
			Refund: transaction.RefundPending}}}, false},
		{transaction.StepSendBack, nil, false},
		{transaction.StepCheckCollection, []transaction.Transaction{final}, true},
		{transaction.StepCheckCollection, []transaction.Transaction{{State: transaction.State{Status: transaction.Processing}}}, false},
		{transaction.StepCallAgain, []transaction.Transaction{{State: transaction.State{Status: transaction.Processing}}}, true},
	} {
		if got := c.step.CanDiscard(c.subjects); got != c.want {
			t.Errorf("%s with %v: %t, want %t", c.step, c.subjects, got, c.want)
		}
	}
}

func TestStep_MovesCoins(t *testing.T) {
	t.Parallel()
	// Coins of wallets move in the steps of wallets, and in a refund of a payment from a wallet.
	wallet := transaction.Transaction{Type: transaction.Outgoing, SourceAccount: "wallets/x"}
	for step, want := range map[transaction.Step][2]bool{transaction.StepDebitWallet: {true, true}, transaction.StepCreditWallet: {true, true},
		transaction.StepSettleWallet: {true, true}, transaction.StepRefund: {true, false}, transaction.StepDeliver: {}} {
		if got := [2]bool{step.MovesCoins(wallet), step.MovesCoins(transaction.Transaction{Type: transaction.Incoming})}; got != want {
			t.Errorf("%s: %v, want %v", step, got, want)
		}
	}
}

func TestTransaction_RailSteps(t *testing.T) {
	t.Parallel()
	// Of a payment in any state it is known about which steps a rail can have news.
	var bank ident.ExternalAccount
	var balance ident.InternalAccount
	bank.SetUUID(uuid.UUID{1})
	balance.SetUUID(uuid.UUID{2})
	pulled, inside := transaction.Endpoint{ExternalAccount: bank}, transaction.Endpoint{InternalAccount: balance}
	state := func(status transaction.Status, stage transaction.Stage, refund transaction.RefundStatus) transaction.State {
		return transaction.State{Status: status, Stage: stage, Refund: refund}
	}
	toBank := transaction.Transaction{Type: transaction.Outgoing, Source: inside, Destination: pulled, DestinationRail: "ACH"}
	for name, c := range map[string]struct {
		t     transaction.Transaction
		state transaction.State
		want  []transaction.Step
	}{
		"quote that is not paid": {transaction.Transaction{Type: transaction.Outgoing, Destination: pulled}, transaction.Initial, nil},
		"transfer out":           {toBank, transaction.TransferInitial, []transaction.Step{transaction.StepDeliver}},
		"payout in transit":      {toBank, state(transaction.Processing, transaction.Converted, ""), []transaction.Step{transaction.StepDeliver}},
		"delivered": {toBank, state(transaction.Completed, transaction.Delivered, ""),
			[]transaction.Step{transaction.StepCheckReturn}},
		"refund owed": {toBank, state(transaction.Failed, transaction.Converted, transaction.RefundPending),
			[]transaction.Step{transaction.StepRefund}},
		"refunded": {toBank, state(transaction.Failed, transaction.Converted, transaction.RefundCompleted), nil},
		"to a customer of the platform": {transaction.Transaction{Type: transaction.Outgoing, Source: inside,
			DestinationAccount: ledger.TransitInternal},
			state(transaction.Completed, transaction.Delivered, ""), nil},
		"to a balance": {transaction.Transaction{Type: transaction.Outgoing, Destination: inside},
			state(transaction.Completed, transaction.Delivered, ""), nil},
		"to a wallet": {transaction.Transaction{Type: transaction.Outgoing, Destination: inside, DestinationRail: "LAYER2"},
			state(transaction.Processing, transaction.Converted, ""), nil},
		"refund of a wallet": {transaction.Transaction{Type: transaction.Outgoing, Source: inside, SourceAccount: "wallets/" + balance.String(),
			Destination: pulled},
			state(transaction.Failed, transaction.Converted, transaction.RefundPending), nil},
		"collecting": {transaction.Transaction{Type: transaction.Outgoing, Source: pulled, Destination: pulled},
			state(transaction.Processing, "", ""),
			[]transaction.Step{transaction.StepCollect}},
		"collected, in transit": {transaction.Transaction{Type: transaction.Outgoing, Source: pulled, Destination: pulled},
			state(transaction.Processing, transaction.Converted, ""), []transaction.Step{transaction.StepDeliver, transaction.StepCheckCollection}},
		"collected, delivered": {transaction.Transaction{Type: transaction.Outgoing, Source: pulled, Destination: pulled},
			state(transaction.Completed, transaction.Delivered, ""), []transaction.Step{transaction.StepCheckReturn,
				transaction.StepCheckCollection}},
		"collected, refunded": {transaction.Transaction{Type: transaction.Outgoing, Source: pulled, Destination: pulled},
			state(transaction.Failed, transaction.Converted, transaction.RefundCompleted), []transaction.Step{transaction.StepCheckCollection}},
		"not collected": {transaction.Transaction{Type: transaction.Outgoing, Source: pulled, Destination: pulled},
			state(transaction.Failed, "", ""), nil},
		"transfer in": {transaction.Transaction{Type: transaction.Incoming, Source: pulled, Destination: inside}, transaction.Initial,
			[]transaction.Step{transaction.StepPull}},
		"transferred in": {transaction.Transaction{Type: transaction.Incoming, Source: pulled, Destination: inside},
			state(transaction.Completed, transaction.Delivered, ""), []transaction.Step{transaction.StepCheckCollection}},
		"not transferred in": {transaction.Transaction{Type: transaction.Incoming, Source: pulled, Destination: inside},
			state(transaction.Failed, "", ""), nil},
		"deposit": {transaction.Transaction{Type: transaction.Incoming, Destination: inside},
			state(transaction.Completed, transaction.Delivered, ""), nil},
	} {
		c.t.State = c.state
		if got := c.t.RailSteps(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
