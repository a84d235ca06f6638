package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// readParties uses the primary keys of customers, external_accounts and
// internal_accounts. Deleted accounts are filtered afterwards, so that the planner does
// not choose a partial index. OFFSET 0 makes it look customers up by both columns of the key: of a
// plain join it applies one afterwards while there are few, and the plan is kept when there are many.
var readParties = `
	SELECT ` + partyCustomers.Names("c") + `, ` + ownersOfParties.Names("o") + `, ` + accountsPaidFrom.Names("fe") + `, ` +
	accountsPaidTo.Names("te") + `,
		` + partyInternals.Names("fi") + `, ` + partyInternals.Names("ti") + `, ` + payersOfPlatform.Names("p") + `, k.n,
		NOT p.regulated AND EXISTS (SELECT FROM end_user_terms)
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[])
		WITH ORDINALITY AS k(platform_id, customer_id, from_external, to_external, from_internal, to_internal, n)
	JOIN platforms p ON p.id = k.platform_id
	LEFT JOIN external_accounts fe ON fe.platform_id = k.platform_id AND fe.id = k.from_external
	LEFT JOIN external_accounts te ON te.platform_id = k.platform_id AND te.id = k.to_external
	LEFT JOIN internal_accounts fi ON fi.platform_id = k.platform_id AND fi.id = k.from_internal
	LEFT JOIN internal_accounts ti ON ti.platform_id = k.platform_id AND ti.id = k.to_internal
	LEFT JOIN LATERAL (SELECT * FROM customers WHERE platform_id = k.platform_id
		AND id = CASE WHEN k.customer_id IS NOT NULL THEN k.customer_id WHEN fi.customer_id IS NOT NULL THEN fi.customer_id
			WHEN fe.customer_id IS NOT NULL THEN fe.customer_id WHEN ti.customer_id IS NOT NULL THEN ti.customer_id ELSE te.customer_id END OFFSET 0) c ON true
	LEFT JOIN LATERAL (SELECT * FROM customers WHERE platform_id = k.platform_id
		AND id = CASE WHEN ti.customer_id IS NOT NULL THEN ti.customer_id ELSE te.customer_id END OFFSET 0) o ON o.id IS DISTINCT FROM c.id`

// What is read of the parties of a quote: the beneficiary only of an account that is paid to.
var (
	partyCustomers = customers.Only("platform_id", "id", "platform_customer_id", "status", "customer_type", "region", "deleted_at", "held_at",
		"details")
	ownersOfParties = customers.Only("id", "status", "customer_type", "deleted_at")
	accountsPaidTo  = externalAccounts.Only("platform_id", "id", "customer_id", "currency", "account_type", "fields", "rails", "status",
		"created_at", "deleted_at", "beneficiary", "ownership_type", "ownership", "trusted_at")
	accountsPaidFrom = externalAccounts.Only("platform_id", "id", "customer_id", "currency", "account_type", "fields", "rails", "status",
		"created_at", "deleted_at")
	// payersOfPlatform are the settings that say which customers authorise their payments.
	payersOfPlatform = platforms.Only("sca_regions", "sca_payments_since", "sca_exemptions")
	partyInternals   = internalAccounts.Only("platform_id", "id", "customer_id", "currency", "account_type", "status")
)

// Parties loads the customers and accounts on both sides of quotes.
func (u *Unit) Parties(ctx context.Context, keys []ports.PartyKey) ([]quote.Parties, error) {
	n := len(keys)
	platforms, customers := make([]ident.Platform, n), make([]ident.Customer, n)
	fromExternal, toExternal := make([]ident.ExternalAccount, n), make([]ident.ExternalAccount, n)
	fromInternal, toInternal := make([]ident.InternalAccount, n), make([]ident.InternalAccount, n)
	for i, k := range keys {
		platforms[i], customers[i], fromExternal[i], toExternal[i] = k.Platform, k.Customer, k.FromExternal, k.ToExternal
		fromInternal[i], toInternal[i] = k.FromInternal, k.ToInternal
	}
	found := make([]quote.Parties, n)
	args := []any{platforms, customers, fromExternal, toExternal, fromInternal, toInternal}
	err := u.query(ctx, readParties, args, func(rows pgx.Rows) error {
		var position int
		var needsConsent bool
		var c, owner customer.Customer
		var from, to account.External
		var fromInternal, toInternal account.Internal
		var on platform.Platform
		ofCustomer, ofFrom, ofTo := partyCustomers.Columns(&c), accountsPaidFrom.Columns(&from), accountsPaidTo.Columns(&to)
		all := slices.Concat(ofCustomer, ownersOfParties.Columns(&owner), ofFrom, ofTo,
			partyInternals.Columns(&fromInternal), partyInternals.Columns(&toInternal), payersOfPlatform.Columns(&on))
		if err := sealed.ScanStored(rows, all.Joined(), &position, &needsConsent); err != nil {
			return err
		}
		parties := quote.Parties{Customer: existing(&c, c.ID), Owner: existing(&owner, owner.ID),
			FromInternal: existing(&fromInternal, fromInternal.ID), ToInternal: existing(&toInternal, toInternal.ID),
			NeedsConsent: needsConsent, Protected: on.ProtectsPayments(c.Region), Exemptions: on.SCAExemptions}
		err := u.db.sealed.OpenColumns(ctx, ofCustomer)
		if from.DeletedAt.IsZero() {
			parties.FromExternal, err = existing(&from, from.ID), errors.Join(err, u.db.sealed.OpenColumns(ctx, ofFrom))
		}
		if to.DeletedAt.IsZero() {
			parties.ToExternal, err = existing(&to, to.ID), errors.Join(err, u.db.sealed.OpenColumns(ctx, ofTo))
		}
		found[position-1] = parties
		return err
	})
	return found, err
}

// existing returns a row that a join has found, and otherwise nil.
func existing[T any](row *T, id interface{ IsZero() bool }) *T {
	if id.IsZero() {
		return nil
	}
	return row
}

// customerOfTransaction joins the customer c of a transaction t, by its whole key as in readParties.
const customerOfTransaction = `
	LEFT JOIN LATERAL (SELECT * FROM customers WHERE platform_id = t.platform_id AND id = t.customer_id OFFSET 0) c ON true`

// partyStateColumns are the columns that partyStates reads, of a transaction t, its customer c and
// partyStateTables, which use primary keys. An account that was deleted has no status.
const partyStateColumns = `
	c.id, c.status, c.customer_type, c.region, c.deleted_at, o.id, o.status, o.customer_type, o.deleted_at, fi.status, ti.status,
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
	customer, owner          customer.Customer
	fromInternal, toInternal account.InternalStatus
	fromExternal, toExternal account.Status
}

func (s *partyStates) scanTargets() []any {
	c, o := &s.customer, &s.owner
	return []any{&c.ID, schema.Optional(&c.Status), schema.Optional(&c.Type), schema.Optional(&c.Region), &c.DeletedAt,
		&o.ID, schema.Optional(&o.Status), schema.Optional(&o.Type), &o.DeletedAt,
		schema.Optional(&s.fromInternal), schema.Optional(&s.toInternal), schema.Optional(&s.fromExternal), schema.Optional(&s.toExternal)}
}

func (s *partyStates) parties() transaction.Parties {
	internal := func(status account.InternalStatus) *account.Internal {
		if status == "" {
			return nil
		}
		return &account.Internal{Status: status}
	}
	external := func(status account.Status) *account.External {
		if status == "" {
			return nil
		}
		return &account.External{Status: status}
	}
	return transaction.Parties{Customer: existing(&s.customer, s.customer.ID), Owner: existing(&s.owner, s.owner.ID),
		FromInternal: internal(s.fromInternal), ToInternal: internal(s.toInternal),
		FromExternal: external(s.fromExternal), ToExternal: external(s.toExternal)}
}

// readTransactionParties uses primary keys.
const readTransactionParties = `
	SELECT ` + partyStateColumns + ` FROM transactions t` + customerOfTransaction + partyStateTables + `
	WHERE t.platform_id = $1 AND t.id = $2`

// TransactionParties reads the present parties of a transaction.
func (u *Unit) TransactionParties(ctx context.Context, key ports.TransactionKey) (transaction.Parties, error) {
	var states partyStates
	err := u.query(ctx, readTransactionParties, []any{key.Platform, key.ID}, func(rows pgx.Rows) error {
		return rows.Scan(states.scanTargets()...)
	})
	return states.parties(), err
}
