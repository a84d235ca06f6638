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

func TestTransferInEndsAsTheAccountAsks(t *testing.T) {
	t.Parallel()
	// A transfer is PENDING when it is made, and then the money is in the account, or the
	// transfer has failed and left no trace in the books.
	for suffix, want := range map[string]transaction.Status{"001": transaction.Completed, "002": transaction.Failed, "003": transaction.Failed,
		"004": transaction.Failed, "006": transaction.Completed} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			bank := h.bank(t, h.ana.ID, "1234567"+suffix)

			made, err := h.TransferIn(t.Context(), h.who(), receiving.Transfer{From: bank.ID, To: h.dollars.ID, Amount: 125_50}, nil)

			if err != nil || made.State != transaction.Initial || made.Type != transaction.Incoming || !made.SettledAt.IsZero() {
				t.Fatalf("%+v, %v", made, err)
			}
			ended := h.until(t, made.ID, want)
			books, told, reason := map[string]int64(nil), "INCOMING_PAYMENT.FAILED", transaction.QuoteExecutionFailed
			if want == transaction.Completed {
				books = map[string]int64{"customers/" + h.dollars.ID.String() + " USD": -125_50, "rails/ACH USD": 125_50}
				told, reason = "INCOMING_PAYMENT.COMPLETED", ""
			}
			h.wantBooks(t, books)
			h.wantTold(t, made.ID, told)
			if ended.State.Reason != reason || ended.SettledAt.IsZero() != (want == transaction.Failed) || ended.Source.ExternalAccount != bank.ID {
				t.Errorf("%+v", ended)
			}
			if n := h.jobs(t, transaction.StepPull); n != 0 {
				t.Errorf("%d jobs are left", n)
			}
		})
	}
}

func TestTransferInStaysPendingForAWhile(t *testing.T) {
	t.Parallel()
	// With 005 the rail has nothing to say for thirty seconds, and then that it failed.
	h := newHouse(t)
	bank := h.bank(t, h.ana.ID, "1234567005")
	made, err := h.TransferIn(t.Context(), h.who(), receiving.Transfer{From: bank.ID, To: h.dollars.ID, Amount: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}

	h.clock.Move(29 * time.Second)
	if got := h.read(t, made.ID); got.State.Status != transaction.Pending {
		t.Errorf("after 29 s it is %s", got.State)
	}
	h.clock.Move(2 * time.Second)

	h.until(t, made.ID, transaction.Failed)
	h.wantBooks(t, nil)
}

func TestTransferInIsTakenUpByAnotherProcess(t *testing.T) {
	t.Parallel()
	// A transfer whose process has died is done by another that finds it due.
	url := pgtest.New(t)
	dead := furnish(t, url)
	bank := dead.bank(t, dead.ana.ID, "1234567001")
	made, err := dead.TransferIn(t.Context(), dead.who(), receiving.Transfer{From: bank.ID, To: dead.dollars.ID, Amount: 7}, nil)
	if err != nil {
		t.Fatal(err)
	}

	go dead.Run(t.Context()) // a process that made nothing of its own since it started

	dead.until(t, made.ID, transaction.Completed)
	dead.wantBooks(t, map[string]int64{"customers/" + dead.dollars.ID.String() + " USD": -7, "rails/ACH USD": 7})
}

func TestTransferInIsRefused(t *testing.T) {
	t.Parallel()
	// Only from an account that can be debited, to an account of the same owner and
	// currency that can receive; nothing is kept of what is refused.
	h := newHouse(t)
	bank := h.bank(t, h.ana.ID, "1234567001")
	own := h.bank(t, ident.Customer{}, "7654321001")
	iban := h.register(t, account.External{Customer: h.ana.ID, Currency: "EUR", Type: "EUR_ACCOUNT", Fields: map[string]string{"iban": "DE89370400440532013000"}})
	euros := h.open(t, h.account(t, h.platform.ID, h.ana.ID, "EUR"))
	unknownBank, unknownAccount := ident.NewExternalAccount(h.ids.New, noon), ident.NewInternalAccount(h.ids.New, noon)

	for what, test := range map[string]struct {
		transfer receiving.Transfer
		code     fault.Code
		fields   []string
	}{
		"nothing":         {receiving.Transfer{From: bank.ID, To: h.dollars.ID}, fault.InvalidInput, []string{"amount"}},
		"no such bank":    {receiving.Transfer{From: unknownBank, To: h.dollars.ID, Amount: 1}, fault.ExternalAccountNotFound, nil},
		"no such account": {receiving.Transfer{From: bank.ID, To: unknownAccount, Amount: 1}, fault.InternalAccountNotFound, nil},
		"other currency":  {receiving.Transfer{From: bank.ID, To: euros.ID, Amount: 1}, fault.InvalidCurrency, nil},
		"not pullable":    {receiving.Transfer{From: iban.ID, To: euros.ID, Amount: 1}, fault.InvalidInput, []string{"source.accountId"}},
		"another owner's": {receiving.Transfer{From: own.ID, To: h.dollars.ID, Amount: 1}, fault.InvalidInput, []string{"source.accountId"}},
	} {
		_, err := h.TransferIn(t.Context(), h.who(), test.transfer, nil)
		wantFault(t, what, err, test.code, test.fields...)
	}
	if n := h.jobs(t, transaction.StepPull); n != 0 {
		t.Errorf("%d jobs were made", n)
	}
}
