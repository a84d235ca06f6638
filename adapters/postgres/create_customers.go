package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// sealedCustomers are new customers with their accounts, and the columns of both with what is encrypted.
type sealedCustomers struct {
	customers []customer.Customer
	columns   []schema.Columns
	accounts  []account.Internal
	ofAccount []schema.Columns
}

func (s *sealedCustomers) Len() int { return len(s.customers) }

// SealCustomers implements customers.Store.
func (db *DB) SealCustomers(ctx context.Context, created []customer.Customer, accounts []account.Internal) (ports.SealedCustomers, error) {
	s := &sealedCustomers{customers: created, accounts: accounts}
	var err error
	if s.columns, err = sealed.AllToWrite(ctx, db.sealed, insertCustomers, created); err != nil {
		return nil, err
	}
	s.ofAccount, err = sealed.AllToWrite(ctx, db.sealed, insertInternalAccounts, accounts)
	return s, err
}

var errNotSealed = errors.New("the customers are not from SealCustomers of this store")

// CreateCustomers inserts many customers with one statement, and the accounts of those that were
// inserted with another.
func (u *Unit) CreateCustomers(ctx context.Context, customers ports.SealedCustomers) (map[ident.Customer]*fault.Error, error) {
	sealed, ok := customers.(*sealedCustomers)
	if !ok {
		return nil, errNotSealed
	}
	if len(sealed.customers) == 0 {
		return nil, nil
	}
	created := make(map[ident.Customer]bool, len(sealed.customers))
	if err := u.query(ctx, insertCustomers.SQL, schema.ArraysOf(sealed.columns), func(rows pgx.Rows) error {
		var id ident.Customer
		err := rows.Scan(&id)
		created[id] = true
		return err
	}); err != nil {
		return nil, err
	}
	var accounts []schema.Columns
	for i, a := range sealed.accounts {
		if created[a.Customer] {
			accounts = append(accounts, sealed.ofAccount[i])
		}
	}
	if len(accounts) > 0 {
		u.queueExec(insertInternalAccounts.SQL, schema.ArraysOf(accounts)...)
	}
	refused := make(map[ident.Customer]customer.Customer)
	for _, c := range sealed.customers {
		if !created[c.ID] {
			refused[c.ID] = c
		}
	}
	return u.refusals(ctx, refused)
}

// usedCustomerIDs uses customer_platform_id_unique_while_active.
const usedCustomerIDs = `SELECT platform_customer_id FROM customers WHERE platform_id = $1 AND platform_customer_id = ANY($2) AND deleted_at IS NULL`

// refusals returns why customers were not created: their platformCustomerId is in use, or else
// their UMA address is.
func (u *Unit) refusals(ctx context.Context, refused map[ident.Customer]customer.Customer) (map[ident.Customer]*fault.Error, error) {
	faults := make(map[ident.Customer]*fault.Error, len(refused))
	if len(refused) == 0 {
		return faults, nil
	}
	var platform ident.Platform
	ids := make([]string, 0, len(refused))
	for _, c := range refused {
		platform, ids = c.Platform, append(ids, c.PlatformCustomerID)
	}
	used := make(map[string]bool, len(ids))
	if err := u.query(ctx, usedCustomerIDs, []any{platform, ids}, func(rows pgx.Rows) error {
		var id string
		err := rows.Scan(&id)
		used[id] = true
		return err
	}); err != nil {
		return nil, err
	}
	for id, c := range refused {
		constraint := "customer_uma_address_unique_while_active"
		if used[c.PlatformCustomerID] {
			constraint = "customer_platform_id_unique_while_active"
		}
		faults[id] = constraintFaults[constraint]()
	}
	return faults, nil
}
