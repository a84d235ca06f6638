package postgres

import (
	"context"
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
	"causeway/core/transaction"
	"causeway/ports"
)

// readParties uses the primary keys of customers, external_accounts and
// internal_accounts. Deleted accounts are filtered afterwards, so that the planner does
// not choose a partial index. OFFSET 0 makes it look customers up by both columns of the key: of a
// plain join it applies one afterwards while there are few, and the plan is kept when there are many.
const readParties = `
	SELECT k.n, c.id, c.platform_customer_id, c.status, c.customer_type, c.deleted_at, c.held_at, c.details,
		fe.id, fe.customer_id, fe.currency, fe.account_type, fe.fields, NULL::jsonb, fe.rails, fe.status, fe.created_at, fe.deleted_at,
		te.id, te.customer_id, te.currency, te.account_type, te.fields, te.beneficiary, te.rails, te.status, te.created_at, te.deleted_at,
		fi.id, fi.customer_id, fi.currency, fi.account_type, fi.status,
		ti.id, ti.customer_id, ti.currency, ti.account_type, ti.status,
		o.id, o.status, o.customer_type, o.deleted_at
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[])
		WITH ORDINALITY AS k(platform_id, customer_id, from_external, to_external, from_internal, to_internal, n)
	LEFT JOIN external_accounts fe ON fe.platform_id = k.platform_id AND fe.id = k.from_external
	LEFT JOIN external_accounts te ON te.platform_id = k.platform_id AND te.id = k.to_external
	LEFT JOIN internal_accounts fi ON fi.platform_id = k.platform_id AND fi.id = k.from_internal
	LEFT JOIN internal_accounts ti ON ti.platform_id = k.platform_id AND ti.id = k.to_internal
	LEFT JOIN LATERAL (SELECT * FROM customers WHERE platform_id = k.platform_id
		AND id = CASE WHEN k.customer_id IS NOT NULL THEN k.customer_id WHEN fi.customer_id IS NOT NULL THEN fi.customer_id
			WHEN fe.customer_id IS NOT NULL THEN fe.customer_id WHEN ti.customer_id IS NOT NULL THEN ti.customer_id ELSE te.customer_id END OFFSET 0) c ON true
	LEFT JOIN LATERAL (SELECT * FROM customers WHERE platform_id = k.platform_id
		AND id = CASE WHEN ti.customer_id IS NOT NULL THEN ti.customer_id ELSE te.customer_id END OFFSET 0) o ON o.id IS DISTINCT FROM c.id`

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
		var o customerState
		columns := append([]any{&position}, c.scanTargets()...)
		columns = append(append(columns, fe.scanTargets()...), te.scanTargets()...)
		columns = append(append(append(columns, fi.scanTargets()...), ti.scanTargets()...), o.scanTargets()...)
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		platform, parties := keys[position-1].Platform, &found[position-1]
		parties.Owner, parties.FromInternal, parties.ToInternal = o.read(), fi.account(platform), ti.account(platform)
		var customerErr, fromErr, toErr error
		parties.Customer, customerErr = c.customer(ctx, u.db, platform)
		parties.FromExternal, fromErr = fe.account(ctx, u.db, platform)
		parties.ToExternal, toErr = te.account(ctx, u.db, platform)
		return errors.Join(customerErr, fromErr, toErr)
	})
	return found, err
}

// customerOfTransaction joins the customer c of a transaction t, by its whole key as in readParties.
const customerOfTransaction = `
	LEFT JOIN LATERAL (SELECT * FROM customers WHERE platform_id = t.platform_id AND id = t.customer_id OFFSET 0) c ON true`

// partyStateColumns are the columns that partyStates reads, of a transaction t, its customer c and
// partyStateTables, which use primary keys. An account that was deleted has no status.
const partyStateColumns = `
	c.id, c.status, c.customer_type, c.deleted_at, o.id, o.status, o.customer_type, o.deleted_at, fi.status, ti.status,
	CASE WHEN fe.deleted_at IS NULL THEN fe.status END, CASE WHEN te.deleted_at IS NULL THEN te.status END`

// As in readParties, OFFSET 0 makes the planner look rows up by the whole key.
const partyStateTables = `
	LEFT JOIN LATERAL (SELECT * FROM internal_accounts WHERE platform_id = t.platform_id AND id = t.source_internal OFFSET 0) fi ON true
	LEFT JOIN LATERAL (SELECT * FROM internal_accounts WHERE platform_id = t.platform_id AND id = t.destination_internal OFFSET 0) ti ON true
	LEFT JOIN LATERAL (SELECT * FROM external_accounts WHERE platform_id = t.platform_id AND id = t.source_external OFFSET 0) fe ON true
	LEFT JOIN LATERAL (SELECT * FROM external_accounts WHERE platform_id = t.platform_id AND id = t.destination_external OFFSET 0) te ON true
	LEFT JOIN LATERAL (SELECT * FROM customers WHERE platform_id = t.platform_id
		AND id = CASE WHEN ti.customer_id IS NOT NULL THEN ti.customer_id ELSE te.customer_id END OFFSET 0) o ON o.id IS DISTINCT FROM t.customer_id`

// partyStates holds partyStateColumns.
type partyStates struct {
	customer, owner          customerState
	fromInternal, toInternal *string
	fromExternal, toExternal *string
}

type customerState struct {
	id           pgtype.UUID
	status, kind *string
	deletedAt    *time.Time
}

func (s *partyStates) scanTargets() []any {
	return append(append(s.customer.scanTargets(), s.owner.scanTargets()...), &s.fromInternal, &s.toInternal, &s.fromExternal, &s.toExternal)
}

func (s *customerState) scanTargets() []any { return []any{&s.id, &s.status, &s.kind, &s.deletedAt} }

func (s *partyStates) parties() transaction.Parties {
	internal := func(status *string) *account.Internal {
		if status == nil {
			return nil
		}
		return &account.Internal{Status: account.InternalStatus(*status)}
	}
	external := func(status *string) *account.External {
		if status == nil {
			return nil
		}
		return &account.External{Status: account.Status(*status)}
	}
	return transaction.Parties{Customer: s.customer.read(), Owner: s.owner.read(), FromInternal: internal(s.fromInternal), ToInternal: internal(s.toInternal),
		FromExternal: external(s.fromExternal), ToExternal: external(s.toExternal)}
}

func (s customerState) read() *customer.Customer {
	if !s.id.Valid {
		return nil
	}
	c := &customer.Customer{Status: customer.Status(*s.status), Type: customer.Type(*s.kind), DeletedAt: timeOrZero(s.deletedAt)}
	c.ID.SetUUID(s.id.Bytes)
	return c
}

// readTransactionParties uses primary keys.
const readTransactionParties = `
	SELECT ` + partyStateColumns + ` FROM transactions t` + customerOfTransaction + partyStateTables + `
	WHERE t.platform_id = $1 AND t.id = $2`

// TransactionParties reads the present parties of a transaction.
func (u *unit) TransactionParties(ctx context.Context, key ports.TransactionKey) (transaction.Parties, error) {
	var states partyStates
	err := u.query(ctx, readTransactionParties, []any{pgID(key.Platform.UUID()), pgID(key.ID.UUID())}, func(rows pgx.Rows) error {
		return rows.Scan(states.scanTargets()...)
	})
	return states.parties(), err
}

// partyCustomer holds the columns of a LEFT JOIN with customers.
type partyCustomer struct {
	id                               pgtype.UUID
	platformCustomerID, status, kind *string
	deletedAt, heldAt                *time.Time
	details                          []byte
}

func (r *partyCustomer) scanTargets() []any {
	return []any{&r.id, &r.platformCustomerID, &r.status, &r.kind, &r.deletedAt, &r.heldAt, &r.details}
}

// customer returns the customer with what is in its details.
func (r *partyCustomer) customer(ctx context.Context, db *DB, p ident.Platform) (*customer.Customer, error) {
	if !r.id.Valid {
		return nil, nil //nolint:nilnil // no customer is an answer
	}
	row := customerRow{PlatformID: p.UUID(), ID: r.id.Bytes, PlatformCustomerID: *r.platformCustomerID, Status: *r.status, Type: *r.kind, DeletedAt: r.deletedAt, HeldAt: r.heldAt}
	if err := db.openJSON(ctx, row.sealedRow(), customersDetails, r.details, &row.Details); err != nil {
		return nil, err
	}
	return new(row.customer()), nil
}

// partyExternal holds the columns of a LEFT JOIN with external_accounts.
type partyExternal struct {
	id, owner              pgtype.UUID
	currency, kind, status *string
	fields, beneficiary    []byte // the beneficiary only of an account that is paid to
	rails                  []string
	createdAt, deletedAt   *time.Time
}

func (r *partyExternal) scanTargets() []any {
	return []any{&r.id, &r.owner, &r.currency, &r.kind, &r.fields, &r.beneficiary, &r.rails, &r.status, &r.createdAt, &r.deletedAt}
}

func (r *partyExternal) account(ctx context.Context, db *DB, p ident.Platform) (*account.External, error) {
	if !r.id.Valid || r.deletedAt != nil {
		return nil, nil //nolint:nilnil // no account is an answer
	}
	a := &account.External{Platform: p, Currency: money.Currency(*r.currency), Type: account.Type(*r.kind), Status: account.Status(*r.status),
		CreatedAt: timeOrZero(r.createdAt)}
	a.ID.SetUUID(r.id.Bytes)
	a.Customer.SetUUID(r.owner.Bytes)
	for _, rail := range r.rails {
		a.Rails = append(a.Rails, corridor.Rail(rail))
	}
	return a, db.openPayee(ctx, a, r.fields, r.beneficiary)
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
	a.ID.SetUUID(r.id.Bytes)
	a.Customer.SetUUID(r.owner.Bytes)
	return a
}
