package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/core/customer"
	"causeway/core/fault"
)

// endUserTerms is the table end_user_terms.
var endUserTerms = schema.New("end_user_terms", []string{"version"}, func(t *customer.EndUserTerms) schema.Columns {
	return schema.Columns{
		{Name: "version", Field: &t.Version}, {Name: "url", Field: &t.URL}, {Name: "set_at", Field: &t.SetAt},
		{Name: "actor", Field: &t.Actor}, {Name: "person_id", Field: &t.Person},
	}
})

var insertEndUserTerms = endUserTerms.Insert("ON CONFLICT DO NOTHING")

// EndUserTerms implements customers.Store. There are few versions.
func (db *DB) EndUserTerms(ctx context.Context) ([]customer.EndUserTerms, error) {
	return selectRows(ctx, db, db.read, endUserTerms, "ORDER BY set_at, version")
}

// EndUserTerms implements customers.Tx.
func (u *Unit) EndUserTerms(ctx context.Context) ([]customer.EndUserTerms, error) {
	return selectRows(ctx, u.db, u.query, endUserTerms, "ORDER BY set_at, version")
}

// CreateEndUserTerms implements customers.Tx.
func (u *Unit) CreateEndUserTerms(ctx context.Context, t customer.EndUserTerms) error {
	return writeNow(ctx, u, insertEndUserTerms, t, fault.New(fault.Conflict, "The version %q exists. Choose another name for new terms.",
		t.Version))
}
