package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/search"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

type env struct {
	*apptest.Env
	*search.Service
	t *testing.T
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := apptest.New(t)
	return &env{e, search.New(e.Store, e.Clock, e.IDs), t}
}

// pay stores a payment of a customer.
func (e *env) pay(c customer.Customer, edit func(*transaction.Transaction)) transaction.Transaction {
	now := e.Clock.Now()
	paid := transaction.Transaction{ID: ident.NewTransaction(e.IDs.New, now), Platform: c.Platform, Customer: c.ID,
		PlatformCustomerID: c.PlatformCustomerID, Type: transaction.Outgoing, State: transaction.State{Status: transaction.Completed},
		Source:     transaction.Endpoint{Customer: c.ID, Currency: money.USD},
		SourceRail: "ACH", SourceAccount: ledger.Rail("ACH"), DestinationAccount: ledger.Rail("ACH"),
		Pricing: transaction.AtPar(money.Amount{Minor: 1_00, Currency: money.USD}), CreatedAt: now, UpdatedAt: now}
	edit(&paid)
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{paid})
	})
	return paid
}

// index makes the keys of everything that is queued.
func (e *env) index() {
	e.t.Helper()
	if err := e.Index(ports.ForAllPlatforms(e.t.Context())); err != nil {
		e.t.Fatal(err)
	}
}

// want checks what a text finds: kinds and ids, with the name by which each was found.
func (e *env) want(text string, personal bool, want ...string) {
	e.t.Helper()
	found, err := e.Find(ports.ForPlatform(e.t.Context(), e.Platform.ID), e.Platform.ID, text, personal)
	if err != nil {
		e.t.Fatal(err)
	}
	got := slices.Clone(found.Hits)
	for _, p := range found.Payments {
		for _, item := range p.Items {
			got = append(got, string(p.By)+" "+item.ID.String())
		}
	}
	for _, c := range found.Customers {
		for _, item := range c.Items {
			got = append(got, string(c.By)+" "+item.ID.String())
		}
	}
	for _, a := range found.Accounts {
		got = append(got, "NUMBER "+a.ID.String())
	}
	if found.NotSearched {
		got = append(got, "NOT SEARCHED")
	}
	if !slices.Equal(got, want) {
		e.t.Errorf("%q finds\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFind_ByEveryName(t *testing.T) {
	t.Parallel()
	// A text finds what it names, in every way: an id of any kind, a reference, an amount that was sent or received, the id of a partner,
	// an own id, a UMA address, a name and a number of an account. Of another platform nothing is found.
	env := newEnv(t)
	ana := env.NewCustomer("kunde-7", func(c *customer.Customer) { c.FullName = "Ana María Núñez" })
	bank := env.NewExternalAccount(account.External{Customer: ana.ID, Currency: "EUR", Type: "EUR_ACCOUNT",
		Fields: map[string]string{"iban": "DE89370400440532013000"}, Rails: []corridor.Rail{corridor.SEPA}})
	first := env.pay(ana, func(p *transaction.Transaction) { p.Reference = "RENT-1" })
	second := env.pay(ana, func(p *transaction.Transaction) {
		p.Reference = "RENT-1"
		p.Pricing = transaction.Pricing{Sent: money.Amount{Minor: 12_50, Currency: "EUR"}, Received: money.Amount{Minor: 13_00, Currency: "USD"}}
	})
	receipt := env.NewReceipt(corridor.Lightning, "x", money.Amount{Minor: 5, Currency: "BTC"})
	deposit := env.pay(ana, func(p *transaction.Transaction) {
		p.ID, p.Type = receipt.DepositID(), transaction.Incoming
		p.Pricing = transaction.AtPar(money.Amount{Minor: 13_00, Currency: "USD"})
	})
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt})
		return err
	})
	if err := env.Exec(fmt.Sprintf("INSERT INTO rail_replies (platform_id, subject_id, replied_at, call, verdict, reason, accepted, partner_id) "+
		"VALUES ('%s', '%s', now(), 'SEND', 'WAITING', '', true, '0xabc123')", env.Platform.ID.UUID(), first.ID.UUID())); err != nil {
		t.Fatal(err)
	}
	env.index()

	env.want(first.ID.String(), false, first.ID.String())
	env.want(first.ID.UUID().String(), false, first.ID.String())
	env.want(strings.ReplaceAll(first.ID.UUID().String(), "-", ""), true, first.ID.String())
	env.want(ana.ID.String(), false, ana.ID.String())
	env.want(bank.ID.String(), false, bank.ID.String())
	env.want("RENT-1", true, "REFERENCE "+second.ID.String(), "REFERENCE "+first.ID.String())
	env.want("rent-1", true, "REFERENCE "+second.ID.String(), "REFERENCE "+first.ID.String())
	env.want("12.50 EUR", true, "AMOUNT "+second.ID.String())
	env.want("12,50 eur", true, "AMOUNT "+second.ID.String())
	env.want("13.00", true, "AMOUNT "+deposit.ID.String(), "AMOUNT "+second.ID.String())
	env.want("usd 13", true, "AMOUNT "+deposit.ID.String(), "AMOUNT "+second.ID.String())
	env.want("1.00 USD", true, "AMOUNT "+first.ID.String())
	env.want("0xABC123", true, "PARTNER_ID "+first.ID.String())
	env.want(receipt.PartnerID, true, "PARTNER_ID "+deposit.ID.String())
	env.want("kunde-7", true, "PLATFORM_ID "+ana.ID.String())
	env.want(strings.ToUpper(ana.UMAAddress), true, "UMA "+ana.ID.String())
	env.want("nunez ANA", true, "NAME "+ana.ID.String())
	env.want("Núñez Ana Pérez", true)
	env.want("nunez ANA", false, "NOT SEARCHED")
	env.want("3000", true, "NUMBER "+bank.ID.String())
	env.want("de89 3704 0044 0532 0130 00", true, "NUMBER "+bank.ID.String())
	env.want("3000", false, "NOT SEARCHED")
	token := env.NewPrincipal(env.Platform).Token
	env.want(token.String(), false, token.String())
	env.want("", true)
	env.want(uuid.NewString(), true)
	other := env.NewPlatform().ID
	for _, text := range []string{"RENT-1", "nunez", "3000", "0xabc123", "kunde-7", "12.50 EUR", first.ID.String()} {
		found, err := env.Find(ports.ForPlatform(t.Context(), other), other, text, true)
		if err != nil || len(found.Hits)+len(found.Payments)+len(found.Customers)+len(found.Accounts) > 0 {
			t.Errorf("another platform finds %s: %+v, %v", text, found, err)
		}
	}
}

func TestIndex_FollowsChanges(t *testing.T) {
	t.Parallel()
	// What changes loses its keys at once and has new ones after the next run, which may be repeated. What was deleted is found, what was
	// erased is not, and leaves no key.
	env := newEnv(t)
	bob := env.NewCustomer("bob", func(c *customer.Customer) { c.FullName = "Bob Ortega" })
	account := env.NewExternalAccount(account.External{Customer: bob.ID, Currency: "USD", Type: account.USAccount,
		Fields: map[string]string{"accountNumber": "000987654", "routingNumber": "021000021"}})
	env.index()
	env.index()
	env.want("bob ortega", true, "NAME "+bob.ID.String())

	bob.FullName, bob.UpdatedAt = "Roberto Ortega", bob.UpdatedAt.Add(1)
	bob.UpdatedAt = env.Clock.Now().Add(1e9)
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateCustomer(ctx, bob) })
	env.want("ortega", true)
	env.index()
	env.want("bob", true, "PLATFORM_ID "+bob.ID.String())
	env.want("roberto ORTEGA", true, "NAME "+bob.ID.String())

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteExternalAccount(ctx, env.Platform.ID, account.ID, env.Clock.Now().Add(1e9))
	})
	env.index()
	env.want("7654", true, "NUMBER "+account.ID.String())

	bob.FullName, bob.ErasedAt, bob.UpdatedAt = "", env.Clock.Now(), bob.UpdatedAt.Add(1e9)
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateCustomer(ctx, bob) })
	if err := env.Exec(fmt.Sprintf("DELETE FROM external_accounts WHERE id = '%s'", account.ID.UUID())); err != nil {
		t.Fatal(err)
	}
	keys := func() string {
		return strings.Join(env.QueryStrings("SELECT count(*)::text FROM search_keys WHERE object_id = ANY($1)",
			[]uuid.UUID{bob.ID.UUID(), account.ID.UUID()}), "")
	}
	if n := keys(); n != "0" {
		t.Errorf("%s keys are left at once", n)
	}
	env.index()
	if n := keys(); n != "0" {
		t.Errorf("%s keys are left", n)
	}
}

func TestIndex_OfEverythingThatWasThereBefore(t *testing.T) {
	t.Parallel()
	// A row of the queue for all of a kind makes the keys of all that exist, in parts, and then is gone.
	env := newEnv(t)
	for i := range 7 {
		env.NewCustomer(fmt.Sprintf("c-%d", i), func(c *customer.Customer) { c.FullName = "Existing Customer" })
	}
	platform := env.Platform.ID.UUID().String()
	if err := env.Exec("DELETE FROM search_queue", fmt.Sprintf("INSERT INTO search_queue SELECT '%s', k, "+
		"'00000000-0000-0000-0000-000000000000', now() FROM unnest(ARRAY['CUSTOMERS', 'EXTERNAL_ACCOUNTS']) k", platform)); err != nil {
		t.Fatal(err)
	}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		taken, err := tx.TakeSearchQueue(ctx, 10)
		if err != nil || len(taken) != 2 || !taken[0].IsAll {
			t.Fatalf("%+v, %v", taken, err)
		}
		return tx.QueueAllForSearch(ctx, taken[0], 3)
	})
	queued := env.QueryStrings("SELECT kind FROM search_queue ORDER BY 1")
	if !slices.Equal(queued, []string{"CUSTOMER", "CUSTOMER", "CUSTOMER", "CUSTOMERS"}) {
		t.Errorf("queued %q", queued)
	}
	env.index()
	found, err := env.Find(ports.ForPlatform(t.Context(), env.Platform.ID), env.Platform.ID, "existing", true)
	if err != nil || len(found.Customers) != 1 || len(found.Customers[0].Items) != 7 {
		t.Errorf("%+v, %v", found, err)
	}
	if left := env.QueryStrings("SELECT kind FROM search_queue"); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}
