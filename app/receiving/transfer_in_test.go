package receiving_test

import (
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/app/receiving"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
)

func TestTransferIn_RailOutcomes(t *testing.T) {
	t.Parallel()
	// A transfer is PENDING when it is made, and then the money is in the account, or the
	// transfer has failed and left no trace in the books.
	for suffix, want := range map[string]transaction.Status{"001": transaction.Completed, "002": transaction.Failed, "003": transaction.Failed,
		"004": transaction.Failed, "006": transaction.Completed} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			h := newIncomingEnv(t)
			bank := h.bank(t, h.ana.ID, "1234567"+suffix)

			made, err := h.TransferIn(t.Context(), h.principal(), receiving.TransferInRequest{From: bank.ID, To: h.dollars.ID, Amount: 125_50}, nil)

			if err != nil || made.State != transaction.Initial || made.Type != transaction.Incoming || !made.SettledAt.IsZero() {
				t.Fatalf("%+v, %v", made, err)
			}
			ended := h.waitForStatus(t, made.ID, want)
			books, told, reason := map[string]int64(nil), "INCOMING_PAYMENT.FAILED", transaction.QuoteExecutionFailed
			if want == transaction.Completed {
				books = map[string]int64{"customers/" + h.dollars.ID.String() + " USD": -125_50, "rails/ACH USD": 125_50}
				told, reason = "INCOMING_PAYMENT.COMPLETED", ""
			}
			h.wantTrialBalance(t, books)
			h.wantEvents(t, made.ID, told)
			if ended.State.Reason != reason || ended.SettledAt.IsZero() != (want == transaction.Failed) || ended.Source.ExternalAccount != bank.ID {
				t.Errorf("%+v", ended)
			}
			if n := h.jobCount(t, transaction.StepPull); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}

func TestTransferIn_StaysPending(t *testing.T) {
	t.Parallel()
	// With 005 the rail has nothing to say for thirty seconds, and then that it failed.
	h := newIncomingEnv(t)
	bank := h.bank(t, h.ana.ID, "1234567005")
	made, err := h.TransferIn(t.Context(), h.principal(), receiving.TransferInRequest{From: bank.ID, To: h.dollars.ID, Amount: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}

	h.clock.Advance(29 * time.Second)
	if got := h.read(t, made.ID); got.State.Status != transaction.Pending {
		t.Errorf("after 29 s it is %s", got.State)
	}
	h.clock.Advance(2 * time.Second)

	h.waitForStatus(t, made.ID, transaction.Failed)
	h.wantTrialBalance(t, nil)
}

func TestTransferIn_ResumedByAnotherProcess(t *testing.T) {
	t.Parallel()
	// A transfer whose process has died is done by another that finds it due.
	url := pgtest.New(t)
	dead := newIdleIncomingEnv(t, url)
	bank := dead.bank(t, dead.ana.ID, "1234567001")
	made, err := dead.TransferIn(t.Context(), dead.principal(), receiving.TransferInRequest{From: bank.ID, To: dead.dollars.ID, Amount: 7}, nil)
	if err != nil {
		t.Fatal(err)
	}

	go dead.Run(t.Context()) // a process that made nothing of its own since it started

	dead.waitForStatus(t, made.ID, transaction.Completed)
	dead.wantTrialBalance(t, map[string]int64{"customers/" + dead.dollars.ID.String() + " USD": -7, "rails/ACH USD": 7})
}

func TestTransferIn_Refused(t *testing.T) {
	t.Parallel()
	// Only from an account that can be debited, to an account of the same owner and
	// currency that can receive; nothing is kept of what is refused.
	h := newIncomingEnv(t)
	bank := h.bank(t, h.ana.ID, "1234567001")
	own := h.bank(t, ident.Customer{}, "7654321001")
	iban := h.register(t, account.External{Customer: h.ana.ID, Currency: "EUR", Type: "EUR_ACCOUNT", Fields: map[string]string{"iban": "DE89370400440532013000"}})
	euros := h.openAccount(t, h.newAccount(t, h.platform.ID, h.ana.ID, "EUR"))
	unknownBank, unknownAccount := ident.NewExternalAccount(h.ids.New, noon), ident.NewInternalAccount(h.ids.New, noon)

	for what, test := range map[string]struct {
		transfer receiving.TransferInRequest
		code     fault.Code
		fields   []string
	}{
		"nothing":         {receiving.TransferInRequest{From: bank.ID, To: h.dollars.ID}, fault.InvalidInput, []string{"amount"}},
		"no such bank":    {receiving.TransferInRequest{From: unknownBank, To: h.dollars.ID, Amount: 1}, fault.ExternalAccountNotFound, nil},
		"no such account": {receiving.TransferInRequest{From: bank.ID, To: unknownAccount, Amount: 1}, fault.InternalAccountNotFound, nil},
		"other currency":  {receiving.TransferInRequest{From: bank.ID, To: euros.ID, Amount: 1}, fault.InvalidCurrency, nil},
		"not pullable":    {receiving.TransferInRequest{From: iban.ID, To: euros.ID, Amount: 1}, fault.InvalidInput, []string{"source.accountId"}},
		"another owner's": {receiving.TransferInRequest{From: own.ID, To: h.dollars.ID, Amount: 1}, fault.InvalidInput, []string{"source.accountId"}},
	} {
		_, err := h.TransferIn(t.Context(), h.principal(), test.transfer, nil)
		wantFault(t, what, err, test.code, test.fields...)
	}
	if n := h.jobCount(t, transaction.StepPull); n != 0 {
		t.Errorf("%d jobs were made", n)
	}
}
