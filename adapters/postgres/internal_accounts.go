package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
)

// insertInternals leaves accounts that exist as they are; it rides on
// internal_account_one_per_owner_and_currency.
const insertInternals = `
	INSERT INTO internal_accounts (platform_id, id, customer_id, currency, account_type, status, created_at, updated_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::timestamptz[])
	ON CONFLICT DO NOTHING`

// OpenInternalAccounts opens those that are missing.
func (u *unit) OpenInternalAccounts(_ context.Context, accounts []account.Internal) error {
	if len(accounts) == 0 {
		return nil
	}
	n := len(accounts)
	platforms, ids, customers := make([]uuid.UUID, n), make([]uuid.UUID, n), make([]uuid.NullUUID, n)
	currencies, types, statuses := make([]string, n), make([]string, n), make([]string, n)
	created, updated := make([]time.Time, n), make([]time.Time, n)
	for i, a := range accounts {
		platforms[i], ids[i], customers[i] = a.Platform.UUID(), a.ID.UUID(), nullID(a.Customer.UUID())
		currencies[i], types[i], statuses[i] = string(a.Currency), string(a.Type), string(a.Status)
		created[i], updated[i] = a.CreatedAt, a.UpdatedAt
	}
	u.write(insertInternals, platforms, ids, customers, currencies, types, statuses, created, updated)
	return nil
}

// readInternal rides on internal_account_one_per_owner_and_currency.
const readInternal = `
	SELECT id, account_type, status, created_at, updated_at FROM internal_accounts
	WHERE platform_id = $1 AND coalesce(customer_id, '00000000-0000-0000-0000-000000000000') = $2 AND currency = $3`

// InternalAccount finds an account by its owner (a zero customer: the platform
// itself) and currency.
func (u *unit) InternalAccount(ctx context.Context, p ident.Platform, c ident.Customer, currency money.Currency) (account.Internal, bool, error) {
	a := account.Internal{Platform: p, Customer: c, Currency: currency}
	found := false
	err := u.read(ctx, readInternal, []any{p.UUID(), c.UUID(), string(currency)}, func(rows pgx.Rows) error {
		var id uuid.UUID
		var kind, status string
		if err := rows.Scan(&id, &kind, &status, &a.CreatedAt, &a.UpdatedAt); err != nil {
			return err
		}
		ident.Set(&a.ID, id)
		a.Type, a.Status = account.InternalType(kind), account.InternalStatus(status)
		a.CreatedAt, a.UpdatedAt = a.CreatedAt.UTC(), a.UpdatedAt.UTC()
		found = true
		return nil
	})
	return a, found, err
}
