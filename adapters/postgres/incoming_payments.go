package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// readIncomingPaymentParties uses the primary keys of internal_accounts, customers and
// external_accounts.
const readIncomingPaymentParties = `
	SELECT k.n, i.id, i.customer_id, i.currency, i.account_type, i.status, i.created_at, i.updated_at, i.reference, i.instructions,
		c.platform_customer_id, c.status, c.customer_type, c.deleted_at,
		e.id, e.customer_id, e.currency, e.account_type, e.status, e.fields, e.deleted_at
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS k(platform_id, internal_id, external_id, n)
	LEFT JOIN internal_accounts i ON i.platform_id = k.platform_id AND i.id = k.internal_id
	LEFT JOIN customers c ON c.platform_id = i.platform_id AND c.id = i.customer_id
	LEFT JOIN external_accounts e ON e.platform_id = k.platform_id AND e.id = k.external_id`

// IncomingPaymentParties loads the receiving accounts with their owners, and the paying
// accounts.
func (u *Unit) IncomingPaymentParties(ctx context.Context, keys []ports.IncomingPaymentKey) ([]transaction.IncomingParties, error) {
	found := make([]transaction.IncomingParties, len(keys))
	args := schema.Arrays(keys, func(k *ports.IncomingPaymentKey) []any { return []any{&k.Platform, &k.To, &k.From} })
	err := u.query(ctx, readIncomingPaymentParties, args, func(rows pgx.Rows) error {
		var (
			at                                              int
			internalID, ownerID, externalID, payerID        pgtype.UUID
			currency, kind, status, reference, instructions *string
			created, updated, ownerGone, externalGone       time.Time
			platformCustomerID, ownerStatus, ownerType      *string
			externalCurrency, externalType, externalStatus  *string
			fields                                          []byte
		)
		if err := rows.Scan(&at, &internalID, &ownerID, &currency, &kind, &status, &created, &updated, &reference, &instructions,
			&platformCustomerID, &ownerStatus, &ownerType, &ownerGone,
			&externalID, &payerID, &externalCurrency, &externalType, &externalStatus, &fields, &externalGone); err != nil {
			return err
		}
		parties, platform := &found[at-1], keys[at-1].Platform
		if internalID.Valid {
			parties.To = &account.Internal{Platform: platform, Currency: money.Currency(*currency), Type: account.InternalType(*kind),
				Status: account.InternalStatus(*status), Reference: *reference, CreatedAt: created, UpdatedAt: updated}
			parties.To.ID.SetUUID(internalID.Bytes)
			parties.To.Customer.SetUUID(ownerID.Bytes)
			var err error
			if parties.To.Instructions, err = openInstructions(ctx, u.db.sealed, sealed.Row{Platform: platform.UUID(), ID: internalID.Bytes},
				[]byte(*instructions)); err != nil {
				return err
			}
		}
		if platformCustomerID != nil {
			parties.Owner = &customer.Customer{Platform: platform, PlatformCustomerID: *platformCustomerID,
				Status: customer.Status(*ownerStatus), Type: customer.Type(*ownerType), DeletedAt: ownerGone}
			parties.Owner.ID.SetUUID(ownerID.Bytes)
		}
		if externalID.Valid && externalGone.IsZero() {
			parties.From = &account.External{Platform: platform, Currency: money.Currency(*externalCurrency),
				Type: account.Type(*externalType), Status: account.Status(*externalStatus)}
			parties.From.ID.SetUUID(externalID.Bytes)
			parties.From.Customer.SetUUID(payerID.Bytes)
			row := sealed.Row{Platform: platform.UUID(), ID: externalID.Bytes}
			return u.db.sealed.OpenJSON(ctx, row, sealed.ExternalAccountsFields, fields, &parties.From.Fields)
		}
		return nil
	})
	return found, err
}
