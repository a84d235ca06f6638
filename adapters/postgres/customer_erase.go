package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/customer"
	"causeway/core/ident"
)

// eraseTransactions uses transactions_by_customer and the primary keys. A UMA address keeps its host,
// so that the kind of the payment remains.
const eraseTransactions = `
	WITH batch AS MATERIALIZED (
		SELECT id FROM transactions WHERE platform_id = $1 AND customer_id = $2 AND id > $3 ORDER BY id LIMIT $4),
	erased AS (
		UPDATE transactions t SET details = '', source_uma = regexp_replace(source_uma, '^[^@]+', '$erased'), destination_uma = regexp_replace(destination_uma, '^[^@]+', '$erased')
		FROM batch b WHERE t.platform_id = $1 AND t.id = b.id RETURNING t.quote_id),
	quoted AS (
		UPDATE quotes q SET description = '' FROM erased e WHERE q.platform_id = $1 AND q.id = e.quote_id)
	SELECT count(*), max(id::text)::uuid FROM batch`

// EraseTransactionsOf implements ports.CustomerWriter.
func (u *unit) EraseTransactionsOf(ctx context.Context, p ident.Platform, id ident.Customer, after ident.Transaction, limit int) (n int, last ident.Transaction, err error) {
	args := []any{pgID(p.UUID()), pgID(id.UUID()), pgtype.UUID{Bytes: after.UUID(), Valid: true}, limit}
	err = u.query(ctx, eraseTransactions, args, func(rows pgx.Rows) error {
		var found pgtype.UUID
		err := rows.Scan(&n, &found)
		ident.SetUUID(&last, uuid.UUID(found.Bytes))
		return err
	})
	return n, last, err
}

// eraseRecords delete the rows of a customer by its id. They use the indexes by customer.
var eraseRecords = []struct {
	sql   string
	count func(*customer.Erased) *int
}{
	{`DELETE FROM external_accounts WHERE platform_id = $1 AND customer_id = $2`, func(e *customer.Erased) *int { return &e.ExternalAccounts }},
	{`DELETE FROM verifications WHERE platform_id = $1 AND customer_id = $2`, func(e *customer.Erased) *int { return &e.Verifications }},
	{`DELETE FROM beneficial_owners WHERE platform_id = $1 AND customer_id = $2`, func(e *customer.Erased) *int { return &e.BeneficialOwners }},
	{`DELETE FROM kyc_links WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`UPDATE verification_reviews SET details = 'null' WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM screening_hits WHERE platform_id = $1 AND customer_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`DELETE FROM invitations WHERE platform_id = $1 AND inviter_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`UPDATE invitations SET invitee_uma = regexp_replace(invitee_uma, '^[^@]+', '$erased'), first_name = '' WHERE invitee_platform_id = $1 AND invitee_id = $2`, func(*customer.Erased) *int { return new(int) }},
	{`UPDATE internal_accounts SET instructions = '' WHERE platform_id = $1 AND ` + internalOwner + ` = $2`, func(*customer.Erased) *int { return new(int) }},
}

// EraseRecordsOf implements ports.CustomerWriter.
func (u *unit) EraseRecordsOf(ctx context.Context, p ident.Platform, id ident.Customer) (erased customer.Erased, err error) {
	for _, record := range eraseRecords {
		err := u.query(ctx, fmt.Sprintf(`WITH gone AS (%s RETURNING 1) SELECT count(*) FROM gone`, record.sql), []any{pgID(p.UUID()), pgID(id.UUID())},
			func(rows pgx.Rows) error { return rows.Scan(record.count(&erased)) })
		if err != nil {
			return erased, err
		}
	}
	return erased, nil
}
