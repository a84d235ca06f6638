package payments_test

import (
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
)

func TestTransferIn_RailOutcomes(t *testing.T) {
	t.Parallel()
	// A transfer starts as PENDING. Then the account is credited, or the transfer fails without
	// postings.
	for suffix, want := range map[string]transaction.Status{"001": transaction.Completed, "002": transaction.Failed, "003": transaction.Failed,
		"004": transaction.Failed, "006": transaction.Completed} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			env := newReceivingEnv(t)
			bank := env.NewBankAccount("1234567" + suffix)

			transfer, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: bank.ID, To: env.dollars.ID,
				Amount: 125_50}, nil)

			if err != nil || transfer.State != transaction.Initial || transfer.Type != transaction.Incoming || !transfer.SettledAt.IsZero() {
				t.Fatalf("%+v, %v", transfer, err)
			}
			final := env.waitForStatus(transfer.ID, want)
			balances, emitted, reason := map[string]int64(nil), "INCOMING_PAYMENT.FAILED", transaction.CollectionFailed
			if want == transaction.Completed {
				balances = map[string]int64{"customers/" + env.dollars.ID.String() + " USD": -125_50, "rails/ACH USD": 125_50}
				emitted, reason = "INCOMING_PAYMENT.COMPLETED", ""
			}
			env.WantBalances(balances)
			env.wantIncomingEvents(t, transfer.ID, emitted)
			if final.State.Reason != reason || final.SettledAt.IsZero() != (want == transaction.Failed) || final.Source.ExternalAccount != bank.ID {
				t.Errorf("%+v", final)
			}
			if n := env.CountJobs(transaction.StepPull); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}

func TestTransferIn_StaysPending(t *testing.T) {
	t.Parallel()
	// With 005 the rail has no outcome for thirty seconds, and then fails.
	env := newReceivingEnv(t)
	bank := env.NewBankAccount("1234567005")
	transfer, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: bank.ID,
		To: env.dollars.ID, Amount: 100}, nil)
	if err != nil {
		t.Fatal(err)
	}

	env.Clock.Advance(29 * time.Second)
	if got := env.Transaction(transfer.ID); got.State.Status != transaction.Pending {
		t.Errorf("after 29 s the state is %s", got.State)
	}
	env.Clock.Advance(2 * time.Second)

	env.waitForStatus(transfer.ID, transaction.Failed)
	env.WantBalances(nil)
}

func TestTransferIn_ResumedByAnotherProcess(t *testing.T) {
	t.Parallel()
	// A transfer whose process has stopped is completed by another process.
	env := newIdleEnv(t)
	env.dollars = env.NewInternalAccount(env.Customer.ID, "USD", 0)
	bank := env.NewBankAccount("1234567001")
	transfer, err := env.TransferIn(t.Context(), transaction.TransferIn{Platform: env.Platform.ID, From: bank.ID,
		To: env.dollars.ID, Amount: 107}, nil)
	if err != nil {
		t.Fatal(err)
	}

	go env.Service.Run(t.Context()) // a process that has stored no jobs of its own

	env.waitForStatus(transfer.ID, transaction.Completed)
	env.WantBalances(map[string]int64{"customers/" + env.dollars.ID.String() + " USD": -107, "rails/ACH USD": 107})
}

func TestTransferIn_Refused(t *testing.T) {
	t.Parallel()
	// A transfer in must be from an account that can be debited, to an account of the same owner and
	// currency that can receive. Nothing is stored of a refused transfer.
	env := newReceivingEnv(t)
	bank := env.NewBankAccount("1234567001")
	own := env.NewExternalAccount(account.External{Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": "7654321001", "routingNumber": "021000021"}})
	iban := env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: "EUR", Type: "EUR_ACCOUNT",
		Fields: map[string]string{"iban": "DE89370400440532013000"}})
	euros := env.NewInternalAccount(env.Customer.ID, "EUR", 0)
	unknownBank, unknownAccount := ident.NewExternalAccount(env.IDs.New, apptest.Noon), ident.NewInternalAccount(env.IDs.New, apptest.Noon)

	for what, test := range map[string]struct {
		transfer transaction.TransferIn
		code     fault.Code
		fields   []string
	}{
		"zero":            {transaction.TransferIn{From: bank.ID, To: env.dollars.ID}, fault.InvalidInput, []string{"amount"}},
		"unknown bank":    {transaction.TransferIn{From: unknownBank, To: env.dollars.ID, Amount: 1}, fault.ExternalAccountNotFound, nil},
		"unknown account": {transaction.TransferIn{From: bank.ID, To: unknownAccount, Amount: 1}, fault.InternalAccountNotFound, nil},
		"other currency":  {transaction.TransferIn{From: bank.ID, To: euros.ID, Amount: 1}, fault.InvalidCurrency, nil},
		"not pullable":    {transaction.TransferIn{From: iban.ID, To: euros.ID, Amount: 1}, fault.InvalidInput, []string{"source.accountId"}},
		"another owner's": {transaction.TransferIn{From: own.ID, To: env.dollars.ID, Amount: 1}, fault.InvalidInput,
			[]string{"source.accountId"}},
	} {
		test.transfer.Platform = env.Platform.ID
		_, err := env.TransferIn(t.Context(), test.transfer, nil)
		apptest.WantFault(t, what, err, test.code, test.fields...)
	}
	if n := env.CountJobs(transaction.StepPull); n != 0 {
		t.Errorf("%d jobs were stored", n)
	}
}
