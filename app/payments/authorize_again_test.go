package payments_test

import (
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestAuthorize_AnswerThatArrivesTwice(t *testing.T) {
	t.Parallel()
	// An answer that names its challenge counts once: the second time it neither answers the next challenge nor counts as a failure.
	e := newPayerEnv(t, sca.Exemptions{})
	coins := e.NewExternalAccount(account.External{Customer: e.payer.ID, Currency: "BTC", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2}})
	asked := e.ask(t, quote.Source{Customer: e.payer.ID, Currency: "USD"}, quote.Destination{External: coins.ID}, 10_000)
	first := asked.Challenge.ID
	if _, err := e.AuthorizeQuote(t.Context(), e.Platform.ID, asked.Quote.ID, first, right, nil); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		_, err := e.AuthorizeQuote(t.Context(), e.Platform.ID, asked.Quote.ID, first, wrong, nil)
		apptest.WantFault(t, "the same answer again", err, fault.Conflict)
	}
	if done, err := e.authorize(asked.Quote, right); err != nil || done.Status != quote.Pending {
		t.Errorf("the next challenge: %+v, %v", done, err)
	}
}

func TestAuthorize_PaymentsToThePlatform(t *testing.T) {
	t.Parallel()
	// Who pays the platform authorises a payout to it, also after a conversion, and not a transfer to an own account.
	e := newPayerEnv(t, sca.Exemptions{})
	ours := e.account(ident.Customer{}, money.USD, 0)
	asked := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{Internal: ours.ID}, 10_000)
	executed := e.execute(t, asked.Quote)
	if executed.Challenge == nil || executed.Challenge.Purpose != sca.Payout {
		t.Fatalf("executed %+v", executed)
	}
	if got := e.Transaction(asked.Quote.Transaction).AuthorizationWords(sca.Payout, nil, "Acme Pay"); got != "to pay 100.00 USD to Acme Pay" {
		t.Errorf("the payer reads %q", got)
	}
	if done, err := e.authorize(asked.Quote, right); err != nil || done.Status == quote.PendingAuthorization {
		t.Fatalf("authorised %+v, %v", done, err)
	}
	e.waitForStatus(asked.Quote.Transaction, transaction.Completed)
	e.checkLedger(t)
}

func TestAuthorize_ProcessesWithOtherClocks(t *testing.T) {
	t.Parallel()
	// What a process whose clock is behind exempts after a proof counts.
	e := newPayerEnv(t, sca.Exemptions{LowValue: true})
	pay := func() quote.Status {
		return e.execute(t, e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 10_00).Quote).Status
	}
	large := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 200_00)
	e.execute(t, large.Quote)
	if _, err := e.authorize(large.Quote, right); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(-time.Second)
	for n := range 6 {
		want := quote.Processing
		if n == 5 {
			want = quote.PendingAuthorization
		}
		if got := pay(); got != want {
			t.Errorf("small payment %d is %s, want %s", n, got, want)
		}
	}
}

func TestAuthorize_RefusedTransfersUseNoExemption(t *testing.T) {
	t.Parallel()
	// A transfer that the balance refuses takes nothing from what small payments may use, and leaves no exemption behind.
	e := newPayerEnv(t, sca.Exemptions{LowValue: true})
	all := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 1_000_00)
	e.execute(t, all.Quote)
	if _, err := e.authorize(all.Quote, right); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		_, err := e.TransferOut(t.Context(), transaction.TransferOut{Platform: e.Platform.ID, From: e.dollars.ID, To: e.bank.ID,
			Amount: 25_00}, nil)
		apptest.WantFault(t, "without balance", err, fault.InsufficientBalance)
	}
	if _, err := e.Fund(t.Context(), e.Platform.ID, e.dollars.ID, 20_00, nil); err != nil {
		t.Fatal(err)
	}
	if q := e.execute(t, e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 20_00).Quote); q.Status !=
		quote.Processing {
		t.Errorf("a small payment afterwards is %s", q.Status)
	}
	e.checkLedger(t)
}

func TestAuthorize_PaidBeforeTheProof(t *testing.T) {
	t.Parallel()
	// A proof that comes after the money says that the money goes back, and not that the quote has expired.
	e := newPayerEnv(t, sca.Exemptions{})
	paid := e.ask(t, quote.Source{Customer: e.payer.ID, Currency: "USD"}, quote.Destination{External: e.bank.ID}, 20_000)
	if _, err := e.Receive(t.Context(), e.receipt(paid.Quote, "RTP", 20_000), nil); err != nil {
		t.Fatal(err)
	}
	_, err := e.authorize(paid.Quote, right)
	apptest.WantFault(t, "after the money", err, fault.Conflict)
}

func TestAuthorize_WaitingPaymentsAreListed(t *testing.T) {
	t.Parallel()
	// A payment that waits for its payer is in the lists by type, is counted, and is no fault of the ledger, also if it ends so.
	e := newPayerEnv(t, sca.Exemptions{})
	asked := e.ask(t, quote.Source{Customer: e.payer.ID, Currency: "USD"}, quote.Destination{External: e.bank.ID}, 10_000)
	page, err := e.ListTransactions(t.Context(), e.Platform.ID, ports.TransactionFilter{Type: transaction.Outgoing,
		Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != asked.Quote.Transaction {
		t.Errorf("listed %+v, %v", page.Items, err)
	}
	wallet := e.NewInternalAccount(e.payer.ID, money.USDB, 50_000_000)
	fromWallet := e.ask(t, quote.Source{Internal: wallet.ID}, quote.Destination{External: e.bank.ID}, 10_000_000)
	if fromWallet.Status != quote.PendingAuthorization {
		t.Fatalf("from a wallet: %+v", fromWallet)
	}
	counts, err := e.Store.CountTransactions(t.Context(), e.Platform.ID, e.Clock.Now().Add(-time.Hour))
	if err != nil || counts[transaction.PendingAuthorization] != 2 {
		t.Errorf("counted %v, %v", counts, err)
	}
	e.checkLedger(t)
	e.Clock.Advance(fromWallet.Quote.ExpiresAt.Sub(e.Clock.Now()))
	e.waitForStatus(fromWallet.Quote.Transaction, transaction.Failed)
	e.checkLedger(t)
}
