package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/uma"
	"causeway/ports"
)

// umaInvoices is the table uma_invoices.
var umaInvoices = schema.New("uma_invoices", keyOfPlatform, func(k *uma.KeptInvoice) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &k.Platform}, {Name: "id", Field: &k.ID},
		{Name: "issuer", Field: schema.Converted(func() string { return k.Issuer() }, func(string) error { return nil })},
		{Name: "invoice_id", Field: &k.Invoice.ID},
		sealed.ConvertedText(sealed.UMAInvoicesContent, func() string { return k.Text }, func(text string) {
			k.Text = text
			if read, err := uma.ParseInvoice(text); err == nil { // it was checked before it was stored
				k.Invoice = read.Invoice
			}
		}),
		{Name: "receiver_id", Field: &k.To}, {Name: "sender_id", Field: &k.From}, {Name: "amount", Field: &k.Amount},
		{Name: "currency", Field: &k.Currency}, {Name: "transaction_id", Field: &k.Payment}, {Name: "asked_until", Field: &k.AskedUntil},
		{Name: "delivery", Field: &k.Delivery.Status}, {Name: "delivery_reason", Field: &k.Delivery.Reason},
		{Name: "expires_at", Field: &k.ExpiresAt},
		{Name: "created_at", Field: &k.CreatedAt},
	}
})

var (
	// insertUMAInvoice returns the id of the row that has the invoice.
	insertUMAInvoice = umaInvoices.Insert(`ON CONFLICT (platform_id, issuer, invoice_id)
		DO UPDATE SET sender_id = coalesce(uma_invoices.sender_id, EXCLUDED.sender_id) RETURNING id`)
	payUMAInvoice     = umaInvoices.Update("sender_id", "transaction_id", "asked_until")
	deliverUMAInvoice = umaInvoices.Update("delivery", "delivery_reason")
)

func noUMAInvoice(id ident.UMAInvoice) error {
	return fault.New(fault.NotFound, "There is no UMA invoice %s, or it was deleted after its expiry.", id)
}

// AddUMAInvoice relies on uma_invoice_once.
func (u *Unit) AddUMAInvoice(ctx context.Context, k uma.KeptInvoice) (ident.UMAInvoice, error) {
	columns, err := sealed.ToWrite(ctx, u.db.sealed, insertUMAInvoice, &k)
	if err != nil {
		return k.ID, err
	}
	added, err := queryValues[ident.UMAInvoice](ctx, u.query, insertUMAInvoice.SQL, columns.Fields()...)
	if err != nil {
		return k.ID, err
	}
	return added[0], nil
}

// LockUMAInvoice uses the primary key.
func (u *Unit) LockUMAInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (uma.KeptInvoice, error) {
	return lockByID(ctx, u, umaInvoices, noUMAInvoice(id), p, id)
}

// PayUMAInvoice uses the primary key.
func (u *Unit) PayUMAInvoice(ctx context.Context, k uma.KeptInvoice) error {
	return writeNow(ctx, u, payUMAInvoice, k, nil)
}

// DeliverUMAInvoice uses the primary key.
func (u *Unit) DeliverUMAInvoice(ctx context.Context, k uma.KeptInvoice) error {
	return writeNow(ctx, u, deliverUMAInvoice, k, noUMAInvoice(k.ID))
}

// UMAInvoice uses the primary key.
func (db *DB) UMAInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (uma.KeptInvoice, error) {
	return readByID(ctx, db, umaInvoices, noUMAInvoice(id), p, id)
}

// UMAInvoiceOf uses uma_invoice_once.
func (db *DB) UMAInvoiceOf(ctx context.Context, p ident.Platform, issuer string, id uuid.UUID) (uma.KeptInvoice, bool, error) {
	return selectRow(ctx, db, db.read, umaInvoices, `WHERE platform_id = $1 AND issuer = $2 AND invoice_id = $3`, p, issuer, id)
}

// UMAInvoices uses the primary key, uma_invoices_by_receiver or uma_invoices_by_sender.
func (db *DB) UMAInvoices(ctx context.Context, p ident.Platform, f ports.UMAInvoiceFilter) (ports.Page[uma.KeptInvoice], error) {
	l := newList("uma_invoices", p)
	if !f.To.IsZero() {
		l.byIndex("receiver_id = ?", f.To)
	}
	if !f.From.IsZero() {
		l.byIndex("sender_id = ?", f.From)
	}
	return selectPage(ctx, db, l, f.Paging, umaInvoices)
}

// CountUMAInvoices uses uma_invoices_by_sender.
func (u *Unit) CountUMAInvoices(ctx context.Context, p ident.Platform, from ident.Customer, site string, now time.Time, most int) (
	byOne, all int, err error) {
	err = u.query(ctx, `SELECT count(*) FILTER (WHERE host = $3 OR host LIKE '%.' || $3), count(*) FROM (
		SELECT split_part(issuer, ':', 1) AS host FROM uma_invoices
		WHERE platform_id = $1 AND sender_id = $2 AND receiver_id IS NULL AND transaction_id IS NULL AND expires_at > $4 LIMIT $5) AS asked`,
		[]any{p, from, site, now, most}, func(rows pgx.Rows) error { return rows.Scan(&byOne, &all) })
	return byOne, all, err
}

// CountWalletPayments uses transactions_by_customer.
func (u *Unit) CountWalletPayments(ctx context.Context, p ident.Platform, to ident.Customer, since time.Time) (int, error) {
	counted, err := queryValues[int](ctx, u.query, `SELECT count(*) FROM transactions WHERE platform_id = $1 AND customer_id = $2 AND id >= $3
		AND direction = 'INCOMING' AND status = 'PENDING' AND quote_id IS NOT NULL AND source_uma = ''`, p, to, idAt(since))
	if err != nil {
		return 0, err
	}
	return counted[0], nil
}
