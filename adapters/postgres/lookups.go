package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
)

// lookups is the table lookups.
var lookups = schema.New("lookups", keyOfPlatform, func(l *quote.Lookup) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &l.Platform}, {Name: "id", Field: &l.ID}, {Name: "customer_id", Field: &l.Customer},
		{Name: "sender_uma", Field: &l.SenderUMA}, {Name: "receiver_uma", Field: &l.ReceiverUMA}, {Name: "external_id", Field: &l.External},
		{Name: "requested_fields", Type: "jsonb", Field: jsonList(&l.Fields, newInfoField, infoField)},
		{Name: "currencies", Type: "text[]", Field: schema.Array(&l.Currencies)},
		sealed.JSON(sealed.LookupsReceiverInfo,
			func() map[string]string {
				if l.Facts == nil {
					return map[string]string{}
				}
				return l.Facts
			},
			func(facts map[string]string) {
				if len(facts) > 0 {
					l.Facts = facts
				}
			}),
		{Name: "uma_receiver", Type: "jsonb", Field: schema.JSON(
			func() *umaReceiverColumn { return newUMAReceiverColumn(l.UMA) },
			func(column *umaReceiverColumn) { l.UMA = column.receiver() })},
		{Name: "uma_invoice_id", Field: &l.Invoice}, {Name: "uma_invoice_minor", Field: schema.Optional(&l.InvoiceAmount)},
		{Name: "expires_at", Field: &l.ExpiresAt}, {Name: "created_at", Field: &l.CreatedAt},
	}
})

var insertLookup = lookups.Insert("")

// CreateLookup inserts one lookup.
func (u *Unit) CreateLookup(ctx context.Context, l quote.Lookup) error {
	return writeNow(ctx, u, insertLookup, l, nil)
}

// Lookup uses the primary key.
func (db *DB) Lookup(ctx context.Context, p ident.Platform, id ident.Lookup) (quote.Lookup, error) {
	none := fault.New(fault.LookupRequestNotFound,
		"There is no lookup %s, or it has expired. Look the receiver up again and use its lookupId.", id)
	return selectExisting(ctx, db, db.read, lookups, none, `WHERE platform_id = $1 AND id = $2 AND expires_at > $3`, p, id, db.clock.Now())
}
