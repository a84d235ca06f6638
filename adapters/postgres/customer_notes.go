package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/customer"
	"causeway/core/ident"
)

// customerNotes is the table customer_notes.
var customerNotes = schema.New("customer_notes", keyOfPlatform, func(n *customer.Note) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &n.Platform}, {Name: "id", Field: &n.ID}, {Name: "customer_id", Field: &n.Customer},
		{Name: "person_id", Field: &n.Person}, {Name: "author", Field: &n.Author}, sealed.Text(sealed.CustomerNotesContent, &n.Content),
		{Name: "created_at", Field: &n.CreatedAt},
	}
})

var insertCustomerNote = customerNotes.Insert("")

// AddCustomerNote implements notes.Tx.
func (u *Unit) AddCustomerNote(ctx context.Context, n customer.Note) error {
	return writeNow(ctx, u, insertCustomerNote, n, nil)
}

// CustomerNotes implements notes.Store. It uses customer_notes_by_customer.
func (db *DB) CustomerNotes(ctx context.Context, p ident.Platform, of ident.Customer, limit int) ([]customer.Note, error) {
	return selectRows(ctx, db, db.read, customerNotes, `WHERE platform_id = $1 AND customer_id = $2 ORDER BY id DESC LIMIT $3`, p, of, limit)
}
