package postgres_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/ports"
)

func TestExternalAccount_RoundTrip(t *testing.T) {
	t.Parallel()
	// An account is read as it was written: a customer's bank account with its beneficiary, and
	// the platform's own wallet.
	c := newEnv(t)
	owner := newCustomer(c.platform, "owner")
	c.createCustomers(t, owner)
	bank := account.External{
		ID: ident.NewExternalAccount(generator.New, noon), Platform: c.platform.ID, Customer: owner.ID, PlatformAccountID: "mine",
		Currency: "COP", Type: "COP_ACCOUNT", Fields: map[string]string{"bankName": "Banco 'Uno'", "accountNumber": "123"},
		Beneficiary: &account.Beneficiary{
			Type: account.Individual, FullName: "José Ñandú", LegalName: "L", BirthDate: "1980-01-02", Nationality: "CO", Email: "j@example.com",
			PhoneNumber: "+573001234567", CountryOfResidence: "CO", Address: &party.Address{Line1: "1", City: "B", State: "C",
				PostalCode: "2", Country: "CO"},
			RegistrationNumber: "R", TaxID: "T", DocumentType: "CC", DocumentNumber: "99",
		},
		Rails: []corridor.Rail{"BANK_TRANSFER", "MOBILE_MONEY"}, Status: account.UnderReview, DefaultUMADeposit: true,
		Verification: account.PartialMatch, VerifiedName: "Jose Nandu", CreatedAt: noon, UpdatedAt: noon.Add(time.Second),
	}
	wallet := newWallet(c.platform, ident.Customer{}, "spark1own")
	c.createAccounts(t, bank, wallet)

	for _, written := range []account.External{bank, wallet} {
		read, err := c.ExternalAccount(t.Context(), c.platform.ID, written.ID)
		if err != nil || !reflect.DeepEqual(read, written) {
			t.Errorf("read %+v, %v\nwant %+v", read, err, written)
		}
	}
}

func TestCreateExternalAccount_DuplicateConflicts(t *testing.T) {
	t.Parallel()
	// The same account twice for one owner is a conflict until it is deleted; other owners may
	// register it too.
	c := newEnv(t)
	ana, bea := newCustomer(c.platform, "ana"), newCustomer(c.platform, "bea")
	c.createCustomers(t, ana, bea)
	first := newWallet(c.platform, ana.ID, "spark1a")
	own := newWallet(c.platform, ident.Customer{}, "spark1a")
	c.createAccounts(t, first, own, newWallet(c.platform, bea.ID, "spark1a"), newWallet(c.otherPlatform, ident.Customer{}, "spark1a"))
	create := func(a account.External) error {
		return c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateExternalAccount(ctx, a) })
	}
	remove := func(id ident.ExternalAccount) error {
		return c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
			return tx.DeleteExternalAccount(ctx, c.platform.ID, id, noon)
		})
	}

	for name, again := range map[string]account.External{
		"a customer's":   newWallet(c.platform, ana.ID, "spark1a"),
		"the platform's": newWallet(c.platform, ident.Customer{}, "spark1a"),
	} {
		if err := create(again); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s account again: %v, want CONFLICT", name, err)
		}
	}

	if err := remove(first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ExternalAccount(t.Context(), c.platform.ID, first.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("a deleted account: %v", err)
	}
	if err := remove(first.ID); !fault.Is(err, fault.ExternalAccountNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if err := create(newWallet(c.platform, ana.ID, "spark1a")); err != nil {
		t.Errorf("registered again after it was deleted: %v", err)
	}
}

func TestCreateExternalAccount_NewDefaultReplacesOld(t *testing.T) {
	t.Parallel()
	// A customer has at most one default account for UMA deposits: the last one registered as
	// such. Accounts of other customers do not change.
	c := newEnv(t)
	ana, bea := newCustomer(c.platform, "ana"), newCustomer(c.platform, "bea")
	c.createCustomers(t, ana, bea)
	wallet := func(owner ident.Customer, address string, isDefault bool) account.External {
		a := newWallet(c.platform, owner, address)
		a.DefaultUMADeposit = isDefault
		return a
	}
	old, others, plain, next := wallet(ana.ID, "s1", true), wallet(bea.ID, "s1", true), wallet(ana.ID, "s2", false), wallet(ana.ID, "s3", true)
	c.createAccounts(t, old, others, plain, next)

	for name, test := range map[string]struct {
		id   ident.ExternalAccount
		want bool
	}{"the old one": {old.ID, false}, "the new one": {next.ID, true}, "one that never was": {plain.ID, false},
		"another customer's": {others.ID, true}} {
		read, err := c.ExternalAccount(t.Context(), c.platform.ID, test.id)
		if err != nil || read.DefaultUMADeposit != test.want {
			t.Errorf("%s: default %v, %v", name, read.DefaultUMADeposit, err)
		}
	}
}

func TestExternalAccounts_List(t *testing.T) {
	t.Parallel()
	// Lists separate customers' accounts from the platform's, exclude deleted ones, and page
	// through a thousand.
	c := newEnv(t)
	ana, bea := newCustomer(c.platform, "ana"), newCustomer(c.platform, "bea")
	c.createCustomers(t, ana, bea)
	var ofAna []account.External
	for i := range 1000 {
		ofAna = append(ofAna, newWallet(c.platform, ana.ID, numberedName("s", i)))
	}
	ofBea, gone, own := newWallet(c.platform, bea.ID, "s"), newWallet(c.platform, bea.ID, "gone"), newWallet(c.platform, ident.Customer{}, "s")
	dollars := newWallet(c.platform, bea.ID, "usdb")
	dollars.Currency = "USDB"
	c.createAccounts(t, append(ofAna, ofBea, gone, own, dollars, newWallet(c.otherPlatform, ident.Customer{}, "s"))...)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteExternalAccount(ctx, c.platform.ID, gone.ID, noon)
	})
	list := func(f ports.ExternalAccountFilter) func(ports.Paging) (ports.Page[account.External], error) {
		return func(p ports.Paging) (ports.Page[account.External], error) {
			f.Paging = p
			return c.ExternalAccounts(t.Context(), c.platform.ID, f)
		}
	}
	id := func(a account.External) uuid.UUID { return a.ID.UUID() }
	idsOf := func(accounts ...account.External) (ids []uuid.UUID) {
		for _, a := range accounts {
			ids = append(ids, id(a))
		}
		return ids
	}

	for name, test := range map[string]struct {
		filter ports.ExternalAccountFilter
		want   []uuid.UUID
	}{
		"all customers'":        {ports.ExternalAccountFilter{}, idsOf(append(slices.Clone(ofAna), ofBea, dollars)...)},
		"one customer's":        {ports.ExternalAccountFilter{Customer: ana.ID}, idsOf(ofAna...)},
		"another customer's":    {ports.ExternalAccountFilter{Customer: bea.ID}, idsOf(ofBea, dollars)},
		"in one currency":       {ports.ExternalAccountFilter{Currency: "USDB"}, idsOf(dollars)},
		"the platform's own":    {ports.ExternalAccountFilter{PlatformOwned: true}, idsOf(own)},
		"own in a currency":     {ports.ExternalAccountFilter{PlatformOwned: true, Currency: "USDB"}, nil},
		"an unknown customer's": {ports.ExternalAccountFilter{Customer: ident.NewCustomer(generator.New, noon)}, nil},
	} {
		for _, ascending := range []bool{true, false} {
			want := slices.Clone(test.want)
			if !ascending {
				slices.Reverse(want)
			}
			order, totals := readAllPages(t, ports.Paging{Limit: 99, Ascending: ascending}, list(test.filter), id)
			if !slices.Equal(order, want) || !totals[int64(len(want))] || len(totals) != 1 {
				t.Errorf("%s, ascending %v: %d accounts, totals %v; want %d", name, ascending, len(order), totals, len(want))
			}
		}
	}
}

func TestCreateExternalAccount_ConcurrentDefaultsLeaveOne(t *testing.T) {
	t.Parallel()
	// Concurrent registrations of defaults all succeed, and the customer has one at the end.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	var all sync.WaitGroup
	for n := range 6 {
		a := newWallet(c.platform, ana.ID, fmt.Sprint("spark1", n))
		a.DefaultUMADeposit = true
		all.Go(func() {
			if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateExternalAccount(ctx, a) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	page, err := c.ExternalAccounts(t.Context(), c.platform.ID, ports.ExternalAccountFilter{Paging: ports.Paging{Limit: 10}, Customer: ana.ID})
	if err != nil || len(page.Items) != 6 {
		t.Fatalf("%d accounts, %v", len(page.Items), err)
	}
	defaults := 0
	for _, a := range page.Items {
		if a.DefaultUMADeposit {
			defaults++
		}
	}
	if defaults != 1 {
		t.Errorf("%d defaults, want one", defaults)
	}
}
