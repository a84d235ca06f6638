package postgres_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/ports"
)

func TestAccountHolders_WithEncryptedNames(t *testing.T) {
	t.Parallel()
	// The holders of accounts are found with their names, also deleted ones; an erased customer has no
	// name. Accounts of the platform, of other platforms and unknown ones have no holder. Without names
	// nothing is decrypted.
	c := newEnv(t)
	db := openEncrypting(t, c)
	person, business, deleted, erased := newCustomer(c.platform, "c-1"), newCustomer(c.platform, "c-2"), newCustomer(c.platform, "c-3"),
		newCustomer(c.platform, "c-4")
	person.Type, person.FullName = customer.Individual, "Ana Secreta"
	business.Type, business.Business = customer.Business, &customer.BusinessInfo{LegalName: "Secreto S.A."}
	deleted.Type, deleted.FullName, deleted.DeletedAt = customer.Individual, "Ben Secreto", noon.Add(time.Hour)
	erased.Type, erased.FullName = customer.Individual, "Eva Secreta"
	open := func(owner ident.Customer) account.Internal {
		opened, err := account.NewInternal(ident.NewInternalAccount(generator.New, noon), c.platform.ID, owner, "USD", noon)
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	accounts := []account.Internal{open(person.ID), open(business.ID), open(deleted.ID), open(erased.ID), open(ident.Customer{})}
	err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		for _, created := range []customer.Customer{person, business, deleted, erased} {
			if err := tx.CreateCustomer(ctx, created); err != nil {
				return err
			}
		}
		for _, changed := range []customer.Customer{deleted, erased.Erase(noon)} {
			if err := tx.UpdateCustomer(ctx, changed); err != nil {
				return err
			}
		}
		return tx.OpenInternalAccounts(ctx, accounts)
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := []ident.InternalAccount{ident.NewInternalAccount(generator.New, noon)}
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	want := map[ident.InternalAccount]ports.AccountHolder{
		accounts[0].ID: {Customer: person.ID, Type: customer.Individual, Name: "Ana Secreta"},
		accounts[1].ID: {Customer: business.ID, Type: customer.Business, Name: "Secreto S.A."},
		accounts[2].ID: {Customer: deleted.ID, Type: customer.Individual, Name: "Ben Secreto"},
		accounts[3].ID: {Customer: erased.ID, Type: customer.Individual},
	}

	if got, err := db.AccountHolders(t.Context(), c.platform.ID, ids, true); err != nil || !maps.Equal(got, want) {
		t.Errorf("with names: %v, %v\nwant %v", got, err, want)
	}
	for id, holder := range want {
		holder.Name = ""
		want[id] = holder
	}
	if got, err := c.AccountHolders(t.Context(), c.platform.ID, ids, false); err != nil || !maps.Equal(got, want) {
		t.Errorf("without names, and without the key: %v, %v\nwant %v", got, err, want)
	}
	if got, err := c.AccountHolders(t.Context(), c.platform.ID, ids, true); err == nil {
		t.Errorf("with names, and without the key: %v", got)
	}
	var other ident.Platform
	other.SetUUID(generator.New(noon))
	if got, err := db.AccountHolders(t.Context(), other, ids, true); err != nil || len(got) > 0 {
		t.Errorf("of another platform: %v, %v", got, err)
	}
}
