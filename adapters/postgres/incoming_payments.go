package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lookup"
	"causeway/core/money"
	"causeway/ports"
)

// readIncomingPaymentParties rides on the primary keys of internal_accounts, customers and
// external_accounts.
const readIncomingPaymentParties = `
	SELECT k.n, i.id, i.customer_id, i.currency, i.account_type, i.status, i.created_at, i.updated_at, i.reference, i.instructions,
		c.platform_customer_id, c.status, c.customer_type, c.deleted_at,
		e.id, e.customer_id, e.currency, e.account_type, e.status, e.fields, e.deleted_at
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS k(platform_id, internal_id, external_id, n)
	LEFT JOIN internal_accounts i ON i.platform_id = k.platform_id AND i.id = k.internal_id
	LEFT JOIN customers c ON c.platform_id = i.platform_id AND c.id = i.customer_id
	LEFT JOIN external_accounts e ON e.platform_id = k.platform_id AND e.id = k.external_id`

// IncomingPaymentParties loads what has to be known of those who receive and pay.
func (u *unit) IncomingPaymentParties(ctx context.Context, keys []ports.IncomingPaymentKey) ([]ports.IncomingPaymentParties, error) {
	n := len(keys)
	platforms, internals, externals := make(idArray, n), make(idArray, n), make(idArray, n)
	for i, k := range keys {
		platforms[i], internals[i], externals[i] = pgID(k.Platform.UUID()), pgID(k.To.UUID()), pgID(k.From.UUID())
	}
	found := make([]ports.IncomingPaymentParties, n)
	err := u.query(ctx, readIncomingPaymentParties, []any{platforms, internals, externals}, func(rows pgx.Rows) error {
		var (
			at                                             int
			internalID, ownerID, externalID, payerID       pgtype.UUID
			currency, kind, status, reference, ways        *string
			created, updated, ownerGone, externalGone      *time.Time
			platformCustomerID, ownerStatus, ownerType     *string
			externalCurrency, externalType, externalStatus *string
			fields                                         []byte
		)
		if err := rows.Scan(&at, &internalID, &ownerID, &currency, &kind, &status, &created, &updated, &reference, &ways,
			&platformCustomerID, &ownerStatus, &ownerType, &ownerGone,
			&externalID, &payerID, &externalCurrency, &externalType, &externalStatus, &fields, &externalGone); err != nil {
			return err
		}
		parties, platform := &found[at-1], keys[at-1].Platform
		if internalID.Valid {
			parties.To = &account.Internal{Platform: platform, Currency: money.Currency(*currency), Type: account.InternalType(*kind),
				Status: account.InternalStatus(*status), Reference: *reference, CreatedAt: timeOrZero(created), UpdatedAt: timeOrZero(updated)}
			ident.SetUUID(&parties.To.ID, internalID.Bytes)
			ident.SetUUID(&parties.To.Customer, ownerID.Bytes)
			if *ways != "" {
				if err := json.Unmarshal([]byte(*ways), &parties.To.Instructions); err != nil {
					return err
				}
			}
		}
		if platformCustomerID != nil {
			parties.Owner = &customer.Customer{Platform: platform, PlatformCustomerID: *platformCustomerID,
				Status: customer.Status(*ownerStatus), Type: customer.Type(*ownerType), DeletedAt: timeOrZero(ownerGone)}
			ident.SetUUID(&parties.Owner.ID, ownerID.Bytes)
		}
		if externalID.Valid && externalGone == nil {
			parties.From = &account.External{Platform: platform, Currency: money.Currency(*externalCurrency),
				Type: account.Type(*externalType), Status: account.Status(*externalStatus)}
			ident.SetUUID(&parties.From.ID, externalID.Bytes)
			ident.SetUUID(&parties.From.Customer, payerID.Bytes)
			return json.Unmarshal(fields, &parties.From.Fields)
		}
		return nil
	})
	return found, err
}

const insertLookup = `
	INSERT INTO lookups (platform_id, id, customer_id, sender_uma, receiver_uma, external_id, fields, currencies, requested_fields, expires_at, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

func (u *unit) CreateLookup(_ context.Context, l lookup.Lookup) error {
	fields, err := json.Marshal(l.Fields)
	if err != nil {
		return err
	}
	facts, err := json.Marshal(l.Facts)
	if err != nil {
		return err
	}
	currencies := make([]string, len(l.Currencies))
	for i, c := range l.Currencies {
		currencies[i] = string(c)
	}
	u.queueExec(insertLookup, pgID(l.Platform.UUID()), pgID(l.ID.UUID()), pgID(l.Customer.UUID()), l.SenderUMA, l.ReceiverUMA,
		pgID(l.External.UUID()), string(fields), currencies, string(facts), l.ExpiresAt, l.CreatedAt)
	return nil
}

// DeleteLookups deletes some of those made before the moment, and says how many. It
// rides on lookups_by_age.
func (db *DB) DeleteLookups(ctx context.Context, before time.Time) (int64, error) {
	done, err := db.pool.Exec(ctx, `
		DELETE FROM lookups WHERE ctid IN (SELECT ctid FROM lookups WHERE created_at < $1 LIMIT 10000)`, before)
	return done.RowsAffected(), err
}

// Lookup rides on the primary key.
func (db *DB) Lookup(ctx context.Context, p ident.Platform, id ident.Lookup) (lookup.Lookup, error) {
	l := lookup.Lookup{ID: id, Platform: p}
	var customerID, externalID pgtype.UUID
	var fields, facts string
	var currencies []string
	err := db.pool.QueryRow(ctx, `
		SELECT customer_id, sender_uma, receiver_uma, external_id, fields, currencies, requested_fields, expires_at, created_at
		FROM lookups WHERE platform_id = $1 AND id = $2 AND expires_at > $3`, pgx.QueryExecModeCacheStatement, p.UUID(), id.UUID(), db.clock.Now()).
		Scan(&customerID, &l.SenderUMA, &l.ReceiverUMA, &externalID, &fields, &currencies, &facts, &l.ExpiresAt, &l.CreatedAt)
	if isNoRows(err) {
		return l, fault.New(fault.LookupRequestNotFound, "There is no lookup %s, or it has expired. Look the receiver up again and use its lookupId.", id)
	}
	if err != nil {
		return l, err
	}
	ident.SetUUID(&l.Customer, customerID.Bytes)
	ident.SetUUID(&l.External, externalID.Bytes)
	l.ExpiresAt, l.CreatedAt = l.ExpiresAt.UTC(), l.CreatedAt.UTC()
	for _, c := range currencies {
		l.Currencies = append(l.Currencies, money.Currency(c))
	}
	if facts != "" {
		err = json.Unmarshal([]byte(facts), &l.Facts)
	}
	return l, errors.Join(err, json.Unmarshal([]byte(fields), &l.Fields))
}
