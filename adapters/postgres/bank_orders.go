package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/bankorder"
	"causeway/core/party"
	"causeway/ports"
)

var _ ports.BankFiles = (*DB)(nil)

// bankOrderDetails is the details column of bank_orders.
type bankOrderDetails struct {
	Name       string            `json:"name"`
	Business   bool              `json:"business,omitempty"`
	Address    *bankOrderAddress `json:"address,omitempty"`
	Fields     map[string]string `json:"fields"`
	Remittance string            `json:"remittance,omitempty"`
}

type bankOrderAddress struct {
	Line1      string `json:"line1,omitempty"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city,omitempty"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	Country    string `json:"country,omitempty"`
}

// bankOrders is the table bank_orders.
var bankOrders = schema.New("bank_orders", keyOfPlatform, func(o *bankorder.Order) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &o.Platform}, {Name: "id", Field: &o.ID}, {Name: "subject_id", Field: &o.Subject},
		{Name: "kind", Field: &o.Kind},
		{Name: "connection", Field: &o.Connection}, {Name: "rail", Field: &o.Rail}, {Name: "batch", Field: &o.Batch},
		{Name: "currency", Field: &o.Amount.Currency}, {Name: "amount", Field: &o.Amount.Minor},
		{Name: "end_to_end_id", Field: &o.EndToEndID},
		{Name: "key", Field: &o.Key},
		sealed.JSON(sealed.BankOrdersDetails,
			func() bankOrderDetails {
				c := o.Counterparty
				return bankOrderDetails{Name: c.Name, Business: c.Business, Fields: c.Fields, Remittance: o.Remittance,
					Address: (*bankOrderAddress)(c.Address)}
			},
			func(d bankOrderDetails) {
				o.Counterparty = bankorder.Counterparty{Name: d.Name, Business: d.Business, Fields: d.Fields, Address: (*party.Address)(d.Address)}
				o.Remittance = d.Remittance
			}),
		{Name: "state", Field: &o.State}, {Name: "file_number", Field: schema.Optional(&o.File)},
		{Name: "file_position", Field: schema.Optional(&o.Position)},
		{Name: "partner_id", Field: &o.PartnerID}, {Name: "code", Field: &o.Code}, sealed.Text(sealed.BankOrdersReason, &o.Text),
		{Name: "queued_at", Field: &o.QueuedAt}, {Name: "accepted_at", Field: &o.AcceptedAt}, {Name: "settled_at", Field: &o.SettledAt},
		{Name: "returned_at", Field: &o.ReturnedAt}, {Name: "return_id", Field: &o.ReturnID},
	}
})

var bankOrderColumns = bankOrders.Names("o")

// insertBankOrders uses the primary key. A payment that was moved takes its order to another connection, unless it is in a file.
// The order is that of every process, so that none waits for another in a circle.
var insertBankOrders = schema.New("bank_orders", keyOfPlatform, func(o *bankorder.Order) schema.Columns {
	return append(bankOrders.Columns(o), schema.Column{Name: "updated_at", Field: &o.QueuedAt})
}).InsertAll(`ORDER BY platform_id, id
	ON CONFLICT (platform_id, id) DO UPDATE SET connection = excluded.connection, rail = excluded.rail, batch = excluded.batch, currency = excluded.currency,
		amount = excluded.amount, end_to_end_id = excluded.end_to_end_id, key = excluded.key, details = excluded.details, queued_at = excluded.queued_at, updated_at = excluded.updated_at
	WHERE bank_orders.state = 'QUEUED' AND bank_orders.connection <> excluded.connection`)

// AddBankOrders implements ports.BankOrders.
func (db *DB) AddBankOrders(ctx context.Context, orders []bankorder.Order) ([]bankorder.Order, error) {
	if len(orders) == 0 {
		return nil, nil
	}
	queued, wanted := make([]bankorder.Order, len(orders)), make([]ports.BankOrderKey, len(orders))
	for i, o := range orders {
		wanted[i] = ports.BankOrderKey{Platform: o.Platform, ID: o.ID}
		o.State = bankorder.Queued
		queued[i] = o
	}
	columns, err := sealed.AllToWrite(ctx, db.sealed, insertBankOrders, queued)
	if err != nil {
		return nil, err
	}
	if _, err := db.exec(ctx, insertBankOrders.SQL, schema.ArraysOf(columns)...); err != nil {
		return nil, err
	}
	stored, err := db.BankOrdersByKey(ctx, wanted)
	if err != nil {
		return nil, err
	}
	result := make([]bankorder.Order, len(orders))
	for i, key := range wanted {
		order, found := stored[key]
		if !found {
			return nil, fmt.Errorf("order %s of platform %s is not stored", key.ID, key.Platform)
		}
		result[i] = order
	}
	return result, nil
}

// BankOrdersByKey uses the primary key.
func (db *DB) BankOrdersByKey(ctx context.Context, keys []ports.BankOrderKey) (map[ports.BankOrderKey]bankorder.Order, error) {
	found, err := queryTable(ctx, db, db.read, bankOrders, `SELECT `+bankOrderColumns+
		` FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) JOIN bank_orders o USING (platform_id, id)`,
		schema.Arrays(keys, func(k *ports.BankOrderKey) []any { return []any{&k.Platform, &k.ID} })...)
	orders := make(map[ports.BankOrderKey]bankorder.Order, len(keys))
	for _, o := range found {
		orders[ports.BankOrderKey{Platform: o.Platform, ID: o.ID}] = o
	}
	return orders, err
}

// changedBankOrders uses bank_orders_by_news.
const changedBankOrders = `SELECT platform_id, subject_id, news FROM bank_orders WHERE connection = $1 AND news > 0 AND news > $2 ORDER BY news LIMIT $3`

// ChangedBankOrders implements ports.BankOrders.
func (db *DB) ChangedBankOrders(ctx context.Context, connection string, after int64, limit int) ([]ports.RailSubject, int64, error) {
	last := after
	changed, err := storage.Collect(ctx, db.read, changedBankOrders, []any{connection, after, limit},
		func(rows pgx.Rows, s *ports.RailSubject) error { return rows.Scan(&s.Platform, &s.Subject, &last) })
	return changed, last, err
}

// leasedBankFiles are the leases on the files of connections.
var leasedBankFiles = storage.LeasedTable{Name: "bank_connections", Fence: "fence"}

// TakeBankLease implements ports.BankFiles.
func (db *DB) TakeBankLease(ctx context.Context, connection string, length time.Duration) (ports.Lease, bool, error) {
	return db.bankFiles.Take(ctx, connection, length)
}

// RenewBankLease implements ports.BankFiles.
func (db *DB) RenewBankLease(ctx context.Context, lease ports.Lease, length time.Duration) error {
	return db.bankFiles.Renew(ctx, lease, length)
}

// ReleaseBankLease implements ports.BankFiles.
func (db *DB) ReleaseBankLease(ctx context.Context, lease ports.Lease) error {
	return db.bankFiles.Release(ctx, lease)
}

// settleDueBankOrders uses bank_files_settling and bank_orders_open_by_file. A file whose orders have all ended settles no more.
const settleDueBankOrders = `
	WITH file AS (SELECT connection, number, settles_at FROM bank_files WHERE connection = $1 AND settles_at <= $2 ORDER BY settles_at, number LIMIT 1),
	due AS MATERIALIZED (
		SELECT o.platform_id, o.id, row_number() OVER (ORDER BY o.file_position) AS n FROM file f
		JOIN bank_orders o ON o.connection = f.connection AND o.file_number = f.number WHERE o.state IN ('IN_FILE', 'ACCEPTED', 'PENDING')
		ORDER BY o.file_position LIMIT $3),
	counted AS (UPDATE bank_connections c SET news = c.news + d.n FROM (SELECT count(*) AS n FROM due) d WHERE c.connection = $1 RETURNING c.news - d.n AS before),
	settled AS (
		UPDATE bank_orders o SET state = 'SETTLED', settled_at = f.settles_at, updated_at = $2, news = c.before + due.n
		FROM due, counted c, file f WHERE o.platform_id = due.platform_id AND o.id = due.id),
	ended AS (
		UPDATE bank_files b SET settles_at = NULL FROM file f WHERE b.connection = f.connection AND b.number = f.number AND (SELECT count(*) FROM due) < $3)
	SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM due)`

// maxSettledFiles bounds how many files without an open order are passed over at once.
const maxSettledFiles = 100

// SettleDueBankOrders implements ports.BankOrders. Files whose orders have all ended by reports are passed over.
func (db *DB) SettleDueBankOrders(ctx context.Context, lease ports.Lease, now time.Time, limit int) (n int, err error) {
	passed := 0
	err = db.bankFiles.Hold(ctx, lease, func(tx storage.Tx) error {
		for files := 1; files > 0 && n == 0 && passed < maxSettledFiles; passed++ {
			if _, err := storage.ReadRow(ctx, tx.Read, settleDueBankOrders, []any{lease.Name, now, limit}, &files, &n); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
