package bankfile

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

// Store keeps the payment orders and the files of connections to banks. Each method is one atomic step; those with a lease return
// ports.ErrLeaseLost, and change nothing, if it is no longer the present one.
type Store struct {
	db     *storage.DB
	files  *storage.Leases
	sealed sealed.Cipher
}

// NewStore returns the store of the orders and files of all connections. Names and accounts of payees are encrypted with the cipher,
// unless it is nil.
func NewStore(db *storage.DB, cipher ports.Cipher) *Store {
	return &Store{db, db.Leases(storage.LeasedTable{Name: "bank_connections", Fence: "fence"}), sealed.New(cipher)}
}

// Lease takes the lease on the files of a connection; false if another process has it.
func (s *Store) Lease(ctx context.Context, connection string, length time.Duration) (ports.Lease, bool, error) {
	return s.files.Take(ctx, connection, length)
}

// Renew extends a lease, also one that has ended and that nobody has taken.
func (s *Store) Renew(ctx context.Context, lease ports.Lease, length time.Duration) error {
	return s.files.Renew(ctx, lease, length)
}

// Release ends a lease.
func (s *Store) Release(ctx context.Context, lease ports.Lease) error {
	return s.files.Release(ctx, lease)
}

// OldRows are what is needed no more after a time: orders that have ended, with their corrections, files for banks without orders, files
// of banks, what was noticed in them, and how money received was named. They are found by bank_orders_ended, bank_files_by_delivery with
// bank_order_position_unique, bank_received_files_by_end, bank_notices_by_time and bank_receipt_names_by_time.
func OldRows(before time.Time) []storage.OldRows {
	return []storage.OldRows{
		{Table: "bank_orders", Before: before, Delete: `
			WITH old AS MATERIALIZED (
				SELECT o.platform_id, o.id FROM platforms p CROSS JOIN LATERAL (
					SELECT platform_id, id FROM bank_orders WHERE platform_id = p.id AND state IN ('SETTLED', 'REJECTED', 'RETURNED') AND updated_at < $1
					ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED) o LIMIT $2)
			DELETE FROM bank_orders o USING old WHERE o.platform_id = old.platform_id AND o.id = old.id`},
		{Table: "bank_files", Before: before, Delete: `DELETE FROM bank_files WHERE (connection, number) IN (SELECT connection, number FROM bank_files f
			WHERE delivered_at < $1 AND NOT EXISTS (SELECT FROM bank_orders o WHERE o.connection = f.connection AND o.file_number = f.number)
			ORDER BY delivered_at LIMIT $2)`},
		{Table: "bank_received_files", Before: before, Delete: `DELETE FROM bank_received_files WHERE (connection, number) IN (
			SELECT connection, number FROM bank_received_files WHERE ended_at < $1 ORDER BY ended_at LIMIT $2)`},
		{Table: "bank_notices", Before: before, Delete: `DELETE FROM bank_notices WHERE (connection, file, place, kind) IN (
			SELECT connection, file, place, kind FROM bank_notices WHERE noticed_at < $1 ORDER BY noticed_at LIMIT $2)`},
		{Table: "bank_receipt_names", Before: before, Delete: `DELETE FROM bank_receipt_names WHERE (connection, name, partner_id) IN (
			SELECT connection, name, partner_id FROM bank_receipt_names WHERE received_at < $1 ORDER BY received_at LIMIT $2)`},
	}
}

// keyOfOrder is the primary key of bank_orders.
var keyOfOrder = []string{"platform_id", "id"}

// orderDetails is the details column of bank_orders.
type orderDetails struct {
	Name       string            `json:"name"`
	Business   bool              `json:"business,omitempty"`
	Address    *orderAddress     `json:"address,omitempty"`
	Fields     map[string]string `json:"fields"`
	Remittance string            `json:"remittance,omitempty"`
	Addenda    string            `json:"addenda,omitempty"`
}

type orderAddress struct {
	Line1      string `json:"line1,omitempty"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city,omitempty"`
	State      string `json:"state,omitempty"`
	PostalCode string `json:"postalCode,omitempty"`
	Country    string `json:"country,omitempty"`
}

// ordersTable is the table bank_orders.
var ordersTable = schema.New("bank_orders", keyOfOrder, func(o *bankorder.Order) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &o.Platform}, {Name: "id", Field: &o.ID}, {Name: "subject_id", Field: &o.Subject},
		{Name: "kind", Field: &o.Kind},
		{Name: "connection", Field: &o.Connection}, {Name: "rail", Field: &o.Rail}, {Name: "batch", Field: &o.Batch},
		{Name: "currency", Field: &o.Amount.Currency}, {Name: "amount", Field: &o.Amount.Minor},
		{Name: "end_to_end_id", Field: &o.EndToEndID},
		{Name: "key", Field: &o.Key},
		sealed.JSON(sealed.BankOrdersDetails,
			func() orderDetails {
				c := o.Counterparty
				return orderDetails{Name: c.Name, Business: c.Business, Fields: c.Fields, Remittance: o.Remittance, Addenda: o.Addenda,
					Address: (*orderAddress)(c.Address)}
			},
			func(d orderDetails) {
				o.Counterparty = bankorder.Counterparty{Name: d.Name, Business: d.Business, Fields: d.Fields, Address: (*party.Address)(d.Address)}
				o.Remittance, o.Addenda = d.Remittance, d.Addenda
			}),
		{Name: "state", Field: &o.State}, {Name: "file_number", Field: schema.Optional(&o.File)},
		{Name: "file_position", Field: schema.Optional(&o.Position)},
		{Name: "partner_id", Field: &o.PartnerID}, {Name: "code", Field: &o.Code}, sealed.Text(sealed.BankOrdersReason, &o.Text),
		{Name: "queued_at", Field: &o.QueuedAt}, {Name: "accepted_at", Field: &o.AcceptedAt}, {Name: "settled_at", Field: &o.SettledAt},
		{Name: "returned_at", Field: &o.ReturnedAt}, {Name: "return_id", Field: &o.ReturnID},
	}
})

var orderColumnNames = ordersTable.Names("o")

// insertOrders uses the primary key. A payment that was moved takes its order to another connection, unless it is in a file.
// The order is that of every process, so that none waits for another in a circle.
var insertOrders = schema.New("bank_orders", keyOfOrder, func(o *bankorder.Order) schema.Columns {
	return append(ordersTable.Columns(o), schema.Column{Name: "updated_at", Field: &o.QueuedAt})
}).InsertAll(`ORDER BY platform_id, id
	ON CONFLICT (platform_id, id) DO UPDATE SET connection = excluded.connection, rail = excluded.rail, batch = excluded.batch, currency = excluded.currency,
		amount = excluded.amount, end_to_end_id = excluded.end_to_end_id, key = excluded.key, details = excluded.details, queued_at = excluded.queued_at, updated_at = excluded.updated_at
	WHERE bank_orders.state = 'QUEUED' AND bank_orders.connection <> excluded.connection`)

// AddOrders stores those orders that are not stored yet, as queued, and returns each as it is now. One that is queued for another
// connection is taken over: its payment was moved.
func (s *Store) AddOrders(ctx context.Context, orders []bankorder.Order) ([]bankorder.Order, error) {
	if len(orders) == 0 {
		return nil, nil
	}
	queued, wanted := make([]bankorder.Order, len(orders)), make([]OrderKey, len(orders))
	for i, o := range orders {
		wanted[i] = OrderKey{Platform: o.Platform, ID: o.ID}
		o.State = bankorder.Queued
		queued[i] = o
	}
	columns, err := sealed.AllToWrite(ctx, s.sealed, insertOrders, queued)
	if err != nil {
		return nil, err
	}
	if _, err := s.db.Exec(ctx, insertOrders.SQL, schema.ArraysOf(columns)...); err != nil {
		return nil, err
	}
	stored, err := s.OrdersByKey(ctx, wanted)
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

// OrdersByKey returns those orders that exist. It uses the primary key.
func (s *Store) OrdersByKey(ctx context.Context, keys []OrderKey) (map[OrderKey]bankorder.Order, error) {
	found, err := sealed.Query(ctx, s.sealed, s.db.Read, ordersTable, `SELECT `+orderColumnNames+
		` FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) JOIN bank_orders o USING (platform_id, id)`,
		schema.Arrays(keys, func(k *OrderKey) []any { return []any{&k.Platform, &k.ID} })...)
	orders := make(map[OrderKey]bankorder.Order, len(keys))
	for _, o := range found {
		orders[OrderKey{Platform: o.Platform, ID: o.ID}] = o
	}
	return orders, err
}

// changedOrders uses bank_orders_by_news.
const changedOrders = `SELECT platform_id, subject_id, news FROM bank_orders WHERE connection = $1 AND news > 0 AND news > $2 ORDER BY news LIMIT $3`

// ChangedOrders returns the subjects of orders that changed after a number, in order, at most limit, and the number of the last one.
func (s *Store) ChangedOrders(ctx context.Context, connection string, after int64, limit int) ([]ports.RailSubject, int64, error) {
	last := after
	changed, err := storage.Collect(ctx, s.db.Read, changedOrders, []any{connection, after, limit},
		func(rows pgx.Rows, s *ports.RailSubject) error { return rows.Scan(&s.Platform, &s.Subject, &last) })
	return changed, last, err
}

// settleDueOrders uses bank_files_settling and bank_orders_open_by_file. A file whose orders have all ended settles no more.
const settleDueOrders = `
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

// SettleDue settles at most limit orders whose file settles at a time, and returns how many it has settled: zero if none is due. Files
// whose orders have all ended by reports are passed over.
func (s *Store) SettleDue(ctx context.Context, lease ports.Lease, now time.Time, limit int) (n int, err error) {
	passed := 0
	err = s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		for files := 1; files > 0 && n == 0 && passed < maxSettledFiles; passed++ {
			if _, err := storage.ReadRow(ctx, tx.Read, settleDueOrders, []any{lease.Name, now, limit}, &files, &n); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
