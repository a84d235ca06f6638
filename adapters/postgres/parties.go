package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// readParties rides on the primary keys of customers and external_accounts; what is
// deleted is left out afterwards, so that no index of living rows is tempting.
const readParties = `
	SELECT k.n, c.id, c.platform_customer_id, c.status, c.customer_type, c.deleted_at,
		e.id, e.customer_id, e.currency, e.account_type, e.fields, e.rails, e.status, e.created_at, e.deleted_at
	FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS k(platform_id, customer_id, external_id, n)
	LEFT JOIN customers c ON c.platform_id = k.platform_id AND c.id = k.customer_id
	LEFT JOIN external_accounts e ON e.platform_id = k.platform_id AND e.id = k.external_id`

// Parties loads what a quote needs to know of its two sides, and no more.
func (u *unit) Parties(ctx context.Context, keys []ports.PartyKey) ([]ports.Parties, error) {
	n := len(keys)
	platforms, customers, externals := make(idArray, n), make(idArray, n), make(idArray, n)
	for i, k := range keys {
		platforms[i], customers[i], externals[i] = pgID(k.Platform.UUID()), pgID(k.Customer.UUID()), pgID(k.External.UUID())
	}
	found := make([]ports.Parties, n)
	err := u.read(ctx, readParties, []any{platforms, customers, externals}, func(rows pgx.Rows) error {
		var (
			at                                    int
			customerID, externalID, ownerID       pgtype.UUID
			platformCustomerID, status, kind      *string
			currency, accountType, externalStatus *string
			fields                                []byte
			rails                                 []string
			created, customerGone, externalGone   *time.Time
		)
		if err := rows.Scan(&at, &customerID, &platformCustomerID, &status, &kind, &customerGone,
			&externalID, &ownerID, &currency, &accountType, &fields, &rails, &externalStatus, &created, &externalGone); err != nil {
			return err
		}
		parties := &found[at-1]
		if customerID.Valid && customerGone == nil {
			c := &customer.Customer{Platform: keys[at-1].Platform, PlatformCustomerID: *platformCustomerID,
				Status: customer.Status(*status), Type: customer.Type(*kind)}
			ident.Set(&c.ID, customerID.Bytes)
			parties.Customer = c
		}
		if externalID.Valid && externalGone == nil {
			a := &account.External{Platform: keys[at-1].Platform, Currency: money.Currency(*currency),
				Type: account.Type(*accountType), Status: account.Status(*externalStatus), CreatedAt: moment(created)}
			ident.Set(&a.ID, externalID.Bytes)
			ident.Set(&a.Customer, ownerID.Bytes)
			for _, rail := range rails {
				a.Rails = append(a.Rails, corridor.Rail(rail))
			}
			parties.External = a
			return json.Unmarshal(fields, &a.Fields)
		}
		return nil
	})
	return found, err
}
