package postgres_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/period"
	"causeway/core/quote"
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
	// approval, its sender and its ledger accounts through updates.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	payment := newIncoming(c.platform.ID, ana.ID, ident.NewInternalAccount(generator.New, noon), "$bo@bank.example")
	payment.SentBy = ident.NewTransaction(generator.New, noon)
	for range 2 {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
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
	payment.SourceAccount, payment.DestinationAccount = "transit/internal", "rails/WIRE"
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
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
	out.Type, out.Source, out.Destination = transaction.Outgoing, out.Destination, transaction.Endpoint{UMA: "$bo@bank.example",
		Customer: ana.ID, Currency: "USD"}
	elsewhere := newIncoming(c.otherPlatform.ID, ident.Customer{}, account, "$bo@bank.example")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
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
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{payment}); err != nil {
			return err
		}
		return tx.DeleteExternalAccount(ctx, c.platform.ID, payer.ID, noon)
	})

	found, err := c.Collections(t.Context(), []ports.TransactionKey{{Platform: c.platform.ID, ID: payment.ID},
		{Platform: c.otherPlatform.ID, ID: payment.ID}})

	if err != nil || len(found) != 1 || found[0].Account.ID != payer.ID || found[0].Account.Identifier() != payer.Identifier() ||
		found[0].Transaction.ID != payment.ID {
		t.Fatalf("%+v, %v", found, err)
	}
}

func TestPayouts_IncludeBeneficiary(t *testing.T) {
	t.Parallel()
	// A payout is read with the whole account that it pays to: banks need the name and address of its owner.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	to := newWallet(c.platform, ana.ID, "x")
	to.Type, to.Currency, to.Fields = "EUR_ACCOUNT", "EUR", map[string]string{"iban": "DE89370400440532013000"}
	to.Beneficiary = &account.Beneficiary{Type: account.Business, LegalName: "Silva & Sons", Address: &party.Address{Line1: "1 Road",
		City: "Lisbon", PostalCode: "1000", Country: "PT"}}
	c.createAccounts(t, to)
	payment := newIncoming(c.platform.ID, ana.ID, ident.NewInternalAccount(generator.New, noon), "")
	payment.Destination.ExternalAccount = to.ID
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{payment})
	})

	found, err := c.Payouts(t.Context(), []ports.TransactionKey{{Platform: c.platform.ID, ID: payment.ID}})

	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if got := found[0].Account; got.ID != to.ID || got.Currency != "EUR" || !reflect.DeepEqual(got.Fields, to.Fields) ||
		!reflect.DeepEqual(got.Beneficiary, to.Beneficiary) {
		t.Errorf("paid to %+v, want %+v", got, to)
	}
}

// listed returns the ids of the transactions that a filter lists, newest first.
func (c *retentionEnv) listed(t *testing.T, f ports.TransactionFilter) (ids []uuid.UUID) {
	t.Helper()
	f.Limit = 100
	page, err := c.Transactions(t.Context(), c.platform.ID, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range page.Items {
		ids = append(ids, found.ID.UUID())
	}
	if page.Total != int64(len(ids)) || page.TotalIsMinimum {
		t.Errorf("%+v: total %d, a minimum: %t; %d listed", f, page.Total, page.TotalIsMinimum, len(ids))
	}
	return ids
}

func TestTransactions_ListByStatusFollowsEveryChange(t *testing.T) {
	t.Parallel()
	// A transaction is listed by its status and type after each change, in one list only, and in none
	// after it was deleted. A change that is rolled back does not move it.
	c := newRetentionEnv(t)
	statuses := []transaction.Status{transaction.Pending, transaction.Expired, transaction.Processing, transaction.Completed,
		transaction.Failed}
	_, id := c.insertQuote(t, noon, "")
	c.insertQuote(t, noon, "status = 'COMPLETED'")
	for _, now := range statuses {
		exec(t, c.owner, `UPDATE transactions SET status = $2, updated_at = now() WHERE id = $1`, id, string(now))
		tx, err := c.owner.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `UPDATE transactions SET status = 'PENDING' WHERE id = $1`, id); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, status := range statuses {
			for kind, matches := range map[transaction.Type]bool{"": true, transaction.Outgoing: true, transaction.Incoming: false} {
				ids := c.listed(t, ports.TransactionFilter{Statuses: []transaction.Status{status}, Type: kind})
				if got := slices.Contains(ids, id); got != (matches && status == now) {
					t.Errorf("%s, listed with the status %q and the type %q: %t", now, status, kind, got)
				}
			}
		}
		if ids := c.listed(t, ports.TransactionFilter{Type: transaction.Outgoing}); len(ids) != 2 || ids[1] != id && ids[0] != id {
			t.Errorf("%s: %v are listed by type, want both", now, ids)
		}
	}

	exec(t, c.owner, `DELETE FROM transactions WHERE id = $1`, id)

	if ids := c.listed(t, ports.TransactionFilter{Type: transaction.Outgoing}); len(ids) != 1 || ids[0] == id {
		t.Errorf("%v are listed after one of two was deleted", ids)
	}
	if n := c.count(t, "transaction_statuses"); n != 1 {
		t.Errorf("%d statuses of one transaction", n)
	}
}

func TestTransactions_CreatedLongAfterTimeInID(t *testing.T) {
	t.Parallel()
	// A transaction with the id of a payment or receipt of long ago, such as the receiving side of a
	// payment that an outage delayed, is listed by the time when it was created, whatever the other
	// filters, and not by the time in its id.
	c := newRetentionEnv(t)
	owner := uuid.New()
	add := func(idTime, createdAt time.Time) uuid.UUID {
		t.Helper()
		_, id := c.insertQuote(t, idTime, "")
		exec(t, c.owner, `UPDATE transactions SET created_at = $2, customer_id = $3 WHERE id = $1`, id, createdAt, owner)
		return id
	}
	usual := add(noon, noon)
	delayed := add(noon.Add(-3*time.Hour), noon)
	older := add(noon.Add(-48*time.Hour), noon.Add(time.Minute))
	slightly := add(noon.Add(-2*time.Hour), noon)
	add(noon.Add(-3*time.Hour), noon.Add(-3*time.Hour))
	add(noon.Add(-3*time.Hour), noon.Add(-time.Second)) // before the interval
	add(noon.Add(-3*time.Hour), noon.Add(time.Hour))    // after it
	want := []uuid.UUID{usual, slightly, delayed, older}
	interval := period.Interval{From: noon, To: noon.Add(time.Hour)}
	var customer ident.Customer
	customer.SetUUID(owner)
	for name, f := range map[string]ports.TransactionFilter{
		"all": {}, "by status": {Statuses: []transaction.Status{transaction.Expired}}, "by type": {Type: transaction.Outgoing},
		"by status and type":      {Statuses: []transaction.Status{transaction.Expired}, Type: transaction.Outgoing},
		"of a customer":           {Customer: customer},
		"of a customer by status": {Customer: customer, Statuses: []transaction.Status{transaction.Expired}},
	} {
		f.Created = interval
		if got := c.listed(t, f); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestTransactions_ByAmountsAndSeveralStatuses(t *testing.T) {
	t.Parallel()
	// Filters together list what matches all of them: any of several statuses, and an amount that is received or, by an outgoing
	// payment, sent in the currency. Both limits of an amount are included.
	c := newRetentionEnv(t)
	n := 0
	add := func(changes string) uuid.UUID {
		t.Helper()
		n++
		_, id := c.insertQuote(t, noon.Add(time.Duration(n)*time.Second), "received_minor = 400, received_currency = 'EUR', "+changes)
		return id
	}
	expired, failed := add("sent_minor = 500"), add("sent_minor = 500, status = 'FAILED'")
	large, incoming := add("sent_minor = 900, status = 'COMPLETED'"), add("sent_minor = 500, direction = 'INCOMING', status = 'COMPLETED'")
	exec(t, c.owner, `UPDATE transaction_statuses SET direction = 'INCOMING' WHERE id = $1`, incoming)
	all := []uuid.UUID{incoming, large, failed, expired}
	statuses := func(s ...transaction.Status) []transaction.Status { return s }
	for name, test := range map[string]struct {
		filter ports.TransactionFilter
		want   []uuid.UUID
	}{
		"statuses": {ports.TransactionFilter{Statuses: statuses(transaction.Failed, transaction.Completed)},
			[]uuid.UUID{incoming, large, failed}},
		"of a type": {ports.TransactionFilter{Statuses: statuses(transaction.Expired, transaction.Completed), Type: transaction.Outgoing},
			[]uuid.UUID{large, expired}},
		"received":     {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "EUR"}}, all},
		"sent":         {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "USD"}}, []uuid.UUID{large, failed, expired}},
		"other":        {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "MXN"}}, nil},
		"from":         {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "USD", Min: 501}}, []uuid.UUID{large}},
		"to":           {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "USD", Max: 500}}, []uuid.UUID{failed, expired}},
		"exactly":      {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "EUR", Min: 400, Max: 400}}, all},
		"of no amount": {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "EUR", Min: 401, Max: 900}}, nil},
		"all at a time": {ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "USD", Min: 500, Max: 500}, Type: transaction.Outgoing,
			Statuses: statuses(transaction.Failed, transaction.Pending), Created: period.Interval{From: noon, To: noon.Add(time.Minute)}},
			[]uuid.UUID{failed}},
	} {
		if got := c.listed(t, test.filter); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestQuotes_ListByTheirStatuses(t *testing.T) {
	t.Parallel()
	// Quotes are listed newest first by their own status: that of a payment which the bank returned is COMPLETED. Transactions
	// without a quote are not among them.
	c := newRetentionEnv(t)
	ids := map[quote.Status][]ident.Quote{}
	add := func(status quote.Status, changes string) {
		t.Helper()
		id, _ := c.insertQuote(t, noon.Add(time.Duration(len(ids[""]))*time.Second), changes)
		var added ident.Quote
		added.SetUUID(id)
		for _, of := range []quote.Status{"", status} {
			ids[of] = append([]ident.Quote{added}, ids[of]...)
		}
	}
	add(quote.Expired, "")
	add(quote.Completed, "status = 'COMPLETED'")
	add(quote.Failed, "status = 'FAILED'")
	add(quote.Completed, "status = 'FAILED', stage = 'DELIVERED'")
	add(quote.Pending, "status = 'PENDING', agent_id = id")
	c.insertQuote(t, noon, "quote_id = NULL, status = 'COMPLETED'")

	for _, status := range []quote.Status{"", quote.Pending, quote.Processing, quote.Completed, quote.Failed, quote.Expired} {
		filter := ports.QuoteFilter{Transactions: ports.TransactionFilter{Paging: ports.Paging{Limit: 10}}}
		if status != "" {
			filter.Statuses = []quote.Status{status}
		}
		page, err := c.Quotes(t.Context(), c.platform.ID, filter)
		var got []ident.Quote
		for _, found := range page.Items {
			got = append(got, found.Quote.ID)
			if is := quote.StatusOf(found.Transaction.State); status != "" && is != status {
				t.Errorf("a quote with the status %s among those with %s", is, status)
			}
		}
		if err != nil || !slices.Equal(got, ids[status]) || page.Total != int64(len(ids[status])) {
			t.Errorf("%q: %v of %d, %v; want %v", status, got, page.Total, err, ids[status])
		}
	}

	rest, err := c.Quotes(t.Context(), c.platform.ID, ports.QuoteFilter{Statuses: []quote.Status{quote.Completed, quote.Failed},
		Transactions: ports.TransactionFilter{Paging: ports.Paging{Limit: 2}}})
	if err != nil || !rest.More || len(rest.Items) != 2 || rest.Items[0].Quote.ID != ids[quote.Completed][0] ||
		rest.Items[1].Quote.ID != ids[quote.Failed][0] {
		t.Errorf("the first page: %+v, %v", rest, err)
	}
}
