package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/ports"
)

// paymentAuthorizations is the table payment_authorizations.
var paymentAuthorizations = schema.New("payment_authorizations", []string{"platform_id", "transaction_id", "purpose"},
	func(a *transaction.PaymentAuthorization) schema.Columns {
		return schema.Columns{
			{Name: "platform_id", Field: &a.Platform}, {Name: "transaction_id", Field: &a.Transaction}, {Name: "purpose", Field: &a.Purpose},
			{Name: "customer_id", Field: &a.Customer}, {Name: "challenge_id", Field: &a.Challenge}, {Name: "factor", Field: &a.Factor},
			{Name: "exemption", Field: &a.Exemption}, {Name: "euro_cents", Field: &a.EuroCents}, {Name: "digest", Field: &a.Digest},
			{Name: "authorized_at", Field: &a.At},
		}
	})

var insertPaymentAuthorizations = paymentAuthorizations.InsertAll("ON CONFLICT DO NOTHING")

// SavePaymentAuthorizations implements payments.Tx.
func (u *Unit) SavePaymentAuthorizations(ctx context.Context, authorizations []transaction.PaymentAuthorization) error {
	return writeAll(ctx, u, insertPaymentAuthorizations, authorizations)
}

// PaymentAuthorizations uses the primary key.
func (u *Unit) PaymentAuthorizations(ctx context.Context, key ports.TransactionKey) ([]transaction.PaymentAuthorization, error) {
	return authorizationsOf(ctx, u.db, u.query, key.Platform, key.ID.UUID())
}

// PaymentAuthorizations uses the primary key.
func (db *DB) PaymentAuthorizations(ctx context.Context, key ports.TransactionKey) ([]transaction.PaymentAuthorization, error) {
	return authorizationsOf(ctx, db, db.read, key.Platform, key.ID.UUID())
}

func authorizationsOf(ctx context.Context, db *DB, read storage.Reader, p ident.Platform, ids ...uuid.UUID) (
	[]transaction.PaymentAuthorization, error) {
	return selectRows(ctx, db, read, paymentAuthorizations,
		`WHERE platform_id = $1 AND transaction_id = ANY ($2) ORDER BY authorized_at`, p, ids)
}

// LowValueUse uses payment_authorizations_by_customer.
func (u *Unit) LowValueUse(ctx context.Context, p ident.Platform, c ident.Customer) (used sca.LowValueUse, err error) {
	return used, u.query(ctx, `
		WITH proof AS (
			SELECT authorized_at AS at FROM payment_authorizations WHERE platform_id = $1 AND customer_id = $2 AND exemption = ''
			ORDER BY authorized_at DESC LIMIT 1)
		SELECT count(*), coalesce(sum(euro_cents), 0)::bigint, (SELECT at FROM proof) FROM payment_authorizations
		WHERE platform_id = $1 AND customer_id = $2 AND exemption = 'LOW_VALUE'
			AND authorized_at > coalesce((SELECT at FROM proof), '-infinity')`, []any{p, c}, func(rows pgx.Rows) error {
		return rows.Scan(&used.Payments, &used.Total, schema.Time(&used.Since))
	})
}

// LatestSCAChallenge is that of Unit.
func (db *DB) LatestSCAChallenge(ctx context.Context, p ident.Platform, id ident.Customer, purpose sca.Purpose,
	subject sca.Digest) (sca.Challenge, bool, error) {
	return selectRow(ctx, db, db.read, scaChallenges,
		`WHERE platform_id = $1 AND customer_id = $2 AND purpose = $3 AND subject = $4 ORDER BY id DESC LIMIT 1`, p, id, purpose, subject[:])
}
