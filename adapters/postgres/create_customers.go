package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// sealedCustomers are the arguments of insertCustomers, and of insertInternalAccounts.
type sealedCustomers struct {
	customers []customer.Customer
	columns   []any
	accounts  internalAccountColumns
}

func (s *sealedCustomers) Len() int { return len(s.customers) }

// SealCustomers implements ports.CustomerImportReader.
func (db *DB) SealCustomers(ctx context.Context, customers []customer.Customer, accounts []account.Internal) (ports.SealedCustomers, error) {
	n := len(customers)
	platforms, ids := make(idArray, n), make(idArray, n)
	platformIDs, types, regions, currencies := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	emails, addresses, statuses, details := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	created, updated := make(timeArray, n), make(timeArray, n)
	for i, c := range customers {
		row, err := newCustomerRow(ctx, db, c)
		if err != nil {
			return nil, err
		}
		platforms[i], ids[i], platformIDs[i], types[i] = pgID(row.PlatformID), pgID(row.ID), row.PlatformCustomerID, row.Type
		regions[i], currencies[i], emails[i], addresses[i] = row.Region, strings.Join(row.Currencies, ","), row.Email, row.UMAAddress
		statuses[i], details[i], created[i], updated[i] = row.Status, string(row.StoredDetails), pgTime(row.CreatedAt), pgTime(row.UpdatedAt)
	}
	sealed, err := db.internalAccountColumns(ctx, accounts)
	return &sealedCustomers{customers: customers, accounts: sealed,
		columns: []any{platforms, ids, platformIDs, types, regions, currencies, emails, addresses, statuses, details, created, updated}}, err
}

// insertCustomers leaves out customers that violate a unique index, also one that another session is
// inserting.
const insertCustomers = `
	INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, region, currencies, email, uma_address, status, details, created_at, updated_at)
	SELECT platform_id, id, platform_customer_id, customer_type, region, string_to_array(currencies, ','), email, uma_address, status, details::jsonb, created_at, updated_at
	FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::timestamptz[], $12::timestamptz[])
		AS c(platform_id, id, platform_customer_id, customer_type, region, currencies, email, uma_address, status, details, created_at, updated_at)
	ON CONFLICT DO NOTHING RETURNING id`

var errNotSealed = errors.New("the customers are not from SealCustomers of this store")

// CreateCustomers inserts many customers with one statement, and the accounts of those that were
// inserted with another.
func (u *unit) CreateCustomers(ctx context.Context, customers ports.SealedCustomers) (map[ident.Customer]*fault.Error, error) {
	sealed, ok := customers.(*sealedCustomers)
	if !ok {
		return nil, errNotSealed
	}
	if len(sealed.customers) == 0 {
		return nil, nil
	}
	created := make(map[uuid.UUID]bool, len(sealed.customers))
	if err := u.query(ctx, insertCustomers, sealed.columns, func(rows pgx.Rows) error {
		var id uuid.UUID
		err := rows.Scan((*[16]byte)(&id))
		created[id] = true
		return err
	}); err != nil {
		return nil, err
	}
	u.insertInternalAccounts(sealed.accounts.of(created))
	refused := make(map[ident.Customer]customer.Customer)
	for _, c := range sealed.customers {
		if !created[c.ID.UUID()] {
			refused[c.ID] = c
		}
	}
	return u.refusals(ctx, refused)
}

// usedCustomerIDs uses customer_platform_id_unique_while_active.
const usedCustomerIDs = `SELECT platform_customer_id FROM customers WHERE platform_id = $1 AND platform_customer_id = ANY($2) AND deleted_at IS NULL`

// refusals returns why customers were not created: their platformCustomerId is in use, or else
// their UMA address is.
func (u *unit) refusals(ctx context.Context, refused map[ident.Customer]customer.Customer) (map[ident.Customer]*fault.Error, error) {
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
	if err := u.query(ctx, usedCustomerIDs, []any{pgID(platform.UUID()), ids}, func(rows pgx.Rows) error {
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
