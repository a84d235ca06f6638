package postgres_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

var rateOne, _ = money.ParseRate("1")

// newIncoming returns an incoming UMA payment that waits for approval.
func newIncoming(p ident.Platform, c ident.Customer, to ident.InternalAccount, from string) transaction.Transaction {
	amount := money.Amount{Minor: 12_50, Currency: "USD"}
	t := transaction.Transaction{
		ID: ident.NewTransaction(generator.New, noon), Platform: p, Customer: c, PlatformCustomerID: "ana",
		Type: transaction.Incoming, State: transaction.Initial,
		Source:      transaction.Endpoint{UMA: from, Customer: c, Currency: amount.Currency},
		Destination: transaction.Endpoint{InternalAccount: to, Customer: c, Currency: amount.Currency},
		SourceRail:  "UMA", SourceAccount: "rails/UMA", DestinationAccount: "customers/" + to.String(),
		Pricing:   transaction.Pricing{Sent: amount, Received: amount, Rate: rateOne, Market: rateOne},
		Reference: "REF-" + from, Description: "lunch", Counterparty: map[string]string{"FULL_NAME": "Bo Berg"},
		Approval: &transaction.Approval{Webhook: ident.NewWebhook(generator.New, noon),
			Requested: []transaction.InfoField{{Name: "NATIONALITY", Mandatory: true}}},
		CreatedAt: noon, UpdatedAt: noon,
	}
	return t
}

func TestCreateTransactions_WithoutQuoteRoundTrip(t *testing.T) {
	t.Parallel()
	// A transaction without a quote is read as it was written, is created once, and keeps its
	// approval through updates.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	payment := newIncoming(c.platform.ID, ana.ID, ident.NewInternalAccount(generator.New, noon), "$bo@bank.example")
	for range 2 {
		c.mustDo(t, func(ctx context.Context, tx ports.Tx) error {
			return tx.CreateTransactions(ctx, []transaction.Transaction{payment})
		})
	}

	read, err := c.Transaction(t.Context(), c.platform.ID, payment.ID)
	if err != nil || !reflect.DeepEqual(read, payment) {
		t.Fatalf("%v\nread    %+v\nwritten %+v", err, read, payment)
	}

	approval := *payment.Approval
	approval.Deadline, approval.Receiver, approval.Note = noon.Add(5*time.Second), map[string]string{"NATIONALITY": "SE"}, "not him"
	payment.Approval, payment.UpdatedAt = &approval, noon.Add(time.Second)
	c.mustDo(t, func(ctx context.Context, tx ports.Tx) error {
		return tx.UpdateTransactions(ctx, []transaction.Transaction{payment})
	})
	if read, err = c.Transaction(t.Context(), c.platform.ID, payment.ID); err != nil || !reflect.DeepEqual(read, payment) {
		t.Fatalf("%v\nread    %+v\nwritten %+v", err, read, payment)
	}
}

func TestTransactions_ByUMAAddressAndReference(t *testing.T) {
	t.Parallel()
	// A UMA address, in any letter case, finds the transactions from and to it, and a reference
	// finds a transaction without a quote.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	account := ident.NewInternalAccount(generator.New, noon)
	in := newIncoming(c.platform.ID, ana.ID, account, "$bo@bank.example")
	out := newIncoming(c.platform.ID, ana.ID, account, "")
	out.Type, out.Source, out.Destination = transaction.Outgoing, out.Destination, transaction.Endpoint{UMA: "$bo@bank.example", Customer: ana.ID, Currency: "USD"}
	elsewhere := newIncoming(c.otherPlatform.ID, ident.Customer{}, account, "$bo@bank.example")
	c.mustDo(t, func(ctx context.Context, tx ports.Tx) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{in, out, elsewhere})
	})

	both, first, second := []ident.Transaction{out.ID, in.ID}, []ident.Transaction{in.ID}, []ident.Transaction{out.ID}
	for name, test := range map[string]struct {
		filter ports.TransactionFilter
		want   []ident.Transaction
	}{
		"either end":       {ports.TransactionFilter{Account: "$bo@bank.example"}, both},
		"in capitals":      {ports.TransactionFilter{Account: "$Bo@Bank.example"}, both},
		"sender":           {ports.TransactionFilter{Sender: "$bo@bank.example"}, first},
		"receiver":         {ports.TransactionFilter{Receiver: "$bo@bank.example"}, second},
		"an account":       {ports.TransactionFilter{Account: account.String()}, both},
		"somebody else":    {ports.TransactionFilter{Account: "$cy@bank.example"}, nil},
		"no address":       {ports.TransactionFilter{Account: "bo"}, nil},
		"reference":        {ports.TransactionFilter{Reference: in.Reference}, first},
		"a customer's too": {ports.TransactionFilter{Reference: in.Reference, PlatformCustomerID: "ana"}, first},
		"other reference":  {ports.TransactionFilter{Reference: "REF"}, nil},
	} {
		test.filter.Limit = 10
		page, err := c.Transactions(t.Context(), c.platform.ID, test.filter)
		var got []ident.Transaction
		for _, found := range page.Items {
			got = append(got, found.ID)
		}
		if err != nil || !reflect.DeepEqual(got, test.want) || page.Total != int64(len(test.want)) {
			t.Errorf("%s: %v of %d, %v; want %v", name, got, page.Total, err, test.want)
		}
	}
}

func TestCollections_IncludeSourceAccount(t *testing.T) {
	t.Parallel()
	// A transaction paid from an external account is read with the account, even after the
	// account was deleted; unknown transactions are left out.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	payer := newWallet(c.platform, ana.ID, "spark1")
	c.createAccounts(t, payer)
	payment := newIncoming(c.platform.ID, ana.ID, ident.NewInternalAccount(generator.New, noon), "")
	payment.Source.ExternalAccount = payer.ID
	c.mustDo(t, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{payment}); err != nil {
			return err
		}
		return tx.DeleteExternalAccount(ctx, c.platform.ID, payer.ID, noon)
	})

	found, err := c.Collections(t.Context(), []ports.TransactionKey{{Platform: c.platform.ID, ID: payment.ID}, {Platform: c.otherPlatform.ID, ID: payment.ID}})

	if err != nil || len(found) != 1 || found[0].Account.ID != payer.ID || found[0].Account.Identifier() != payer.Identifier() ||
		found[0].Transaction.ID != payment.ID {
		t.Fatalf("%+v, %v", found, err)
	}
}
