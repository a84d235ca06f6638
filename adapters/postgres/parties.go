package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/ports"
)

// readParties uses the primary keys of customers, external_accounts and
// internal_accounts. Deleted rows are filtered afterwards, so that the planner does
// not choose a partial index.
const readParties = `
	SELECT k.n, c.id, c.platform_customer_id, c.status, c.customer_type, c.deleted_at,
		fe.id, fe.customer_id, fe.currency, fe.account_type, fe.fields, fe.rails, fe.status, fe.created_at, fe.deleted_at,
		te.id, te.customer_id, te.currency, te.account_type, te.fields, te.rails, te.status, te.created_at, te.deleted_at,
		fi.id, fi.customer_id, fi.currency, fi.account_type, fi.status,
		ti.id, ti.customer_id, ti.currency, ti.account_type, ti.status
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[])
		WITH ORDINALITY AS k(platform_id, customer_id, from_external, to_external, from_internal, to_internal, n)
	LEFT JOIN external_accounts fe ON fe.platform_id = k.platform_id AND fe.id = k.from_external
	LEFT JOIN external_accounts te ON te.platform_id = k.platform_id AND te.id = k.to_external
	LEFT JOIN internal_accounts fi ON fi.platform_id = k.platform_id AND fi.id = k.from_internal
	LEFT JOIN internal_accounts ti ON ti.platform_id = k.platform_id AND ti.id = k.to_internal
	LEFT JOIN customers c ON c.platform_id = k.platform_id
		AND c.id = coalesce(k.customer_id, fi.customer_id, fe.customer_id, ti.customer_id, te.customer_id)`

// Parties loads the customers and accounts on both sides of quotes.
func (u *unit) Parties(ctx context.Context, keys []ports.PartyKey) ([]quote.Parties, error) {
	n := len(keys)
	platforms, customers := make(idArray, n), make(idArray, n)
	fromExternal, toExternal, fromInternal, toInternal := make(idArray, n), make(idArray, n), make(idArray, n), make(idArray, n)
	for i, k := range keys {
		platforms[i], customers[i] = pgID(k.Platform.UUID()), pgID(k.Customer.UUID())
		fromExternal[i], toExternal[i] = pgID(k.FromExternal.UUID()), pgID(k.ToExternal.UUID())
		fromInternal[i], toInternal[i] = pgID(k.FromInternal.UUID()), pgID(k.ToInternal.UUID())
	}
	found := make([]quote.Parties, n)
	args := []any{platforms, customers, fromExternal, toExternal, fromInternal, toInternal}
	err := u.query(ctx, readParties, args, func(rows pgx.Rows) error {
		var position int
		var c partyCustomer
		var fe, te partyExternal
		var fi, ti partyInternal
		columns := append([]any{&position}, c.scanTargets()...)
		columns = append(append(columns, fe.scanTargets()...), te.scanTargets()...)
		if err := rows.Scan(append(append(columns, fi.scanTargets()...), ti.scanTargets()...)...); err != nil {
			return err
		}
		platform, parties := keys[position-1].Platform, &found[position-1]
		parties.Customer = c.customer(platform)
		parties.FromInternal, parties.ToInternal = fi.account(platform), ti.account(platform)
		var fromErr, toErr error
		parties.FromExternal, fromErr = fe.account(platform)
		parties.ToExternal, toErr = te.account(platform)
		return errors.Join(fromErr, toErr)
	})
	return found, err
}

// partyCustomer holds the columns of a LEFT JOIN with customers.
type partyCustomer struct {
	id                               pgtype.UUID
	platformCustomerID, status, kind *string
	deletedAt                        *time.Time
}

func (r *partyCustomer) scanTargets() []any {
	return []any{&r.id, &r.platformCustomerID, &r.status, &r.kind, &r.deletedAt}
}

func (r *partyCustomer) customer(p ident.Platform) *customer.Customer {
	if !r.id.Valid || r.deletedAt != nil {
		return nil
	}
	c := &customer.Customer{Platform: p, PlatformCustomerID: *r.platformCustomerID, Status: customer.Status(*r.status), Type: customer.Type(*r.kind)}
	ident.SetUUID(&c.ID, r.id.Bytes)
	return c
}

// partyExternal holds the columns of a LEFT JOIN with external_accounts.
type partyExternal struct {
	id, owner              pgtype.UUID
	currency, kind, status *string
	fields                 []byte
	rails                  []string
	createdAt, deletedAt   *time.Time
}

func (r *partyExternal) scanTargets() []any {
	return []any{&r.id, &r.owner, &r.currency, &r.kind, &r.fields, &r.rails, &r.status, &r.createdAt, &r.deletedAt}
}

func (r *partyExternal) account(p ident.Platform) (*account.External, error) {
	if !r.id.Valid || r.deletedAt != nil {
		return nil, nil //nolint:nilnil // no account is an answer
	}
	a := &account.External{Platform: p, Currency: money.Currency(*r.currency), Type: account.Type(*r.kind), Status: account.Status(*r.status),
		CreatedAt: timeOrZero(r.createdAt)}
	ident.SetUUID(&a.ID, r.id.Bytes)
	ident.SetUUID(&a.Customer, r.owner.Bytes)
	for _, rail := range r.rails {
		a.Rails = append(a.Rails, corridor.Rail(rail))
	}
	return a, json.Unmarshal(r.fields, &a.Fields)
}

// partyInternal holds the columns of a LEFT JOIN with internal_accounts.
type partyInternal struct {
	id, owner              pgtype.UUID
	currency, kind, status *string
}

func (r *partyInternal) scanTargets() []any {
	return []any{&r.id, &r.owner, &r.currency, &r.kind, &r.status}
}

func (r *partyInternal) account(p ident.Platform) *account.Internal {
	if !r.id.Valid {
		return nil
	}
	a := &account.Internal{Platform: p, Currency: money.Currency(*r.currency), Type: account.InternalType(*r.kind), Status: account.InternalStatus(*r.status)}
	ident.SetUUID(&a.ID, r.id.Bytes)
	ident.SetUUID(&a.Customer, r.owner.Bytes)
	return a
}
