package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

// CreateCustomers inserts many customers with one statement. It leaves out those that violate a
// unique index, also one that another session is inserting.
func (u *unit) CreateCustomers(ctx context.Context, customers []customer.Customer) (map[ident.Customer]*fault.Error, error) {
	if len(customers) == 0 {
		return nil, nil
	}
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	rows := make([]*customerRow, len(customers))
	refused := make(map[ident.Customer]customer.Customer)
	for i, c := range customers {
		row, err := newCustomerRow(ctx, u.db, c)
		if err != nil {
			return nil, err
		}
		rows[i], refused[c.ID] = row, c
	}
	var created []uuid.UUID
	if err := u.db.bun.NewInsert().Conn(u.sqlConn).Model(&rows).On("CONFLICT DO NOTHING").Returning("id").Scan(ctx, &created); err != nil && !isNoRows(err) {
		return nil, translate(err)
	}
	for _, id := range created {
		var createdID ident.Customer
		ident.SetUUID(&createdID, id)
		delete(refused, createdID)
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
