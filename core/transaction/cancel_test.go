package transaction_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ledger"
)

// toBank returns a transaction whose payout a bank carries.
func toBank(t transaction.Transaction) transaction.Transaction {
	t.DestinationRail, t.DestinationAccount = "ACH", "rails/ACH"
	t.Destination.ExternalAccount.SetUUID(external)
	return t
}

// pulled returns onRamp, paid by an external account that is debited.
func pulled() transaction.Transaction {
	t := onRamp()
	t.Source.ExternalAccount.SetUUID(uuid.UUID{15: 7})
	return t
}

func TestCancellable_WhatABankCarries(t *testing.T) {
	t.Parallel()
	// A payout is cancelled until it has ended, and a collection until it has; before that a quote expires. What is not on its way at a bank
	// is refused: also money that a wallet pays, as long as its chain carries it.
	balance := onRamp()
	balance.Source.InternalAccount.SetUUID(internal)
	balance.SourceAccount = ledger.CustomerAccount(balance.Source.InternalAccount)
	quoted, processing := transaction.Initial, transaction.State{Status: transaction.Processing}
	inTransit := transaction.State{Status: transaction.Processing, Stage: transaction.Converted}
	in := func(t transaction.Transaction, s transaction.State) transaction.Transaction {
		t.State = s
		return t
	}
	const payout, collection = rail.Payout, rail.Collection
	for name, test := range map[string]struct {
		of    transaction.Transaction
		stops rail.Kind
		code  fault.Code
	}{
		"quote that waits":               {in(toBank(onRamp()), quoted), "", fault.TransactionNotCancellable},
		"payout":                         {in(toBank(onRamp()), inTransit), payout, ""},
		"payout of an account":           {in(toBank(balance), inTransit), payout, ""},
		"transfer that has not left":     {in(toBank(balance), transaction.TransferInitial), payout, ""},
		"payout to a chain":              {in(onRamp(), inTransit), "", fault.InvalidInput},
		"collection":                     {in(toBank(pulled()), processing), collection, ""},
		"collection for a chain":         {in(pulled(), processing), collection, ""},
		"payout of what was collected":   {in(toBank(pulled()), inTransit), payout, ""},
		"collected for a chain":          {in(pulled(), inTransit), "", fault.InvalidInput},
		"wallet that waits to be signed": {in(toBank(fromWallet()), quoted), "", fault.TransactionNotCancellable},
		"wallet that is debited":         {in(toBank(fromWallet()), processing), "", fault.TransactionNotCancellable},
		"payout of a wallet":             {in(toBank(fromWallet()), inTransit), payout, ""},
		"payout of a wallet to a chain":  {in(fromWallet(), processing), "", fault.InvalidInput},
		"delivered": {in(toBank(onRamp()), transaction.State{Status: transaction.Completed, Stage: transaction.Delivered}), "",
			fault.TransactionNotCancellable},
		"transfer in":                     {incomingInState(transaction.AwaitingFunds), collection, ""},
		"transfer in that has failed":     {incomingInState(transaction.Declined), "", fault.TransactionNotCancellable},
		"deposit":                         {incomingInState(transaction.Credited), "", fault.InvalidInput},
		"payment that waits for approval": {incomingInState(transaction.ApprovalRequested), "", fault.InvalidInput},
	} {
		stops, err := test.of.Cancellable()
		if stops.Kind != test.stops || test.code == "" && err != nil || test.code != "" && !fault.Is(err, test.code) {
			t.Errorf("%s: stops a %q, %v", name, stops.Kind, err)
		}
	}
}

func TestCancellable_CanBeCancelled(t *testing.T) {
	t.Parallel()
	// Whatever pays, and whatever has happened: what is cancellable can be cancelled once its payment was stopped, and what is not is refused
	// with a fault of cancellations.
	var flows []transaction.Transaction
	for _, of := range []transaction.Transaction{onRamp(), pulled(), fromWallet(), incomingInState(transaction.AwaitingFunds)} {
		flows = append(flows, of, toBank(of))
	}
	account := onRamp()
	account.Source.InternalAccount.SetUUID(internal)
	account.SourceAccount = ledger.CustomerAccount(account.Source.InternalAccount)
	flows = append(flows, account, toBank(account), newPull().RequestFunds(noon).Transaction)
	cancelled := 0
	for _, of := range flows {
		for _, status := range transaction.Statuses {
			for _, stage := range []transaction.Stage{transaction.NoFundsMoved, transaction.Received, transaction.Converted, transaction.Delivered} {
				for _, refund := range []transaction.RefundStatus{transaction.NoRefund, transaction.RefundPending, transaction.RefundCompleted,
					transaction.RefundUnpaid} {
					of.State = transaction.State{Status: status, Stage: stage, Refund: refund}
					if _, err := of.Cancellable(); err != nil {
						if !fault.Is(err, fault.TransactionNotCancellable) && !fault.Is(err, fault.InvalidInput) {
							t.Errorf("%+v paid by %s: %v", of.State, of.Flow().Funding, err)
						}
						continue
					}
					cancelled++
					if d, err := of.Cancel(noon.Add(time.Minute)); err != nil || !d.Transaction.IsCancelled() {
						t.Errorf("%+v paid by %s: %v", of.State, of.Flow().Funding, err)
					}
				}
			}
		}
	}
	if cancelled == 0 {
		t.Error("nothing is cancellable")
	}
}
