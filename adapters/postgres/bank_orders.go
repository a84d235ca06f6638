package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/money"
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

// insertBankOrders uses the primary key. A payment that was moved takes its order to another connection, unless it is in a file. The order is that of every process, so that none waits for another in a circle.
const insertBankOrders = `
	INSERT INTO bank_orders (platform_id, id, subject_id, kind, connection, rail, batch, currency, amount, end_to_end_id, key, details, state, queued_at, updated_at)
	SELECT platform_id, id, subject_id, kind, connection, rail, batch, currency, amount, end_to_end_id, key, details, 'QUEUED', queued_at, queued_at FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
		$10::text[], $11::text[], $12::text[], $13::timestamptz[])
		AS o(platform_id, id, subject_id, kind, connection, rail, batch, currency, amount, end_to_end_id, key, details, queued_at) ORDER BY 1, 2
	ON CONFLICT (platform_id, id) DO UPDATE SET connection = excluded.connection, rail = excluded.rail, batch = excluded.batch, currency = excluded.currency,
		amount = excluded.amount, end_to_end_id = excluded.end_to_end_id, key = excluded.key, details = excluded.details, queued_at = excluded.queued_at, updated_at = excluded.updated_at
	WHERE bank_orders.state = 'QUEUED' AND bank_orders.connection <> excluded.connection`

// AddBankOrders implements ports.BankOrders.
func (db *DB) AddBankOrders(ctx context.Context, orders []bankorder.Order) ([]bankorder.Order, error) {
	if len(orders) == 0 {
		return nil, nil
	}
	var (
		platforms, ids, subjects                                           idArray
		kinds, connections, rails, batches, currencies, names, keys, texts []string
		amounts                                                            []int64
		queued                                                             timeArray
		wanted                                                             []ports.BankOrderKey
	)
	for _, o := range orders {
		row := sealedRow{o.Platform.UUID(), o.ID}
		details := bankOrderDetails{Name: o.Counterparty.Name, Business: o.Counterparty.Business, Fields: o.Counterparty.Fields, Remittance: o.Remittance,
			Address: (*bankOrderAddress)(o.Counterparty.Address)}
		text, err := db.sealJSONText(ctx, row, bankOrdersDetails, details)
		if err != nil {
			return nil, err
		}
		platforms, ids, subjects = append(platforms, pgID(row.platform)), append(ids, pgID(o.ID)), append(subjects, pgID(o.Subject))
		kinds, connections, rails = append(kinds, string(o.Kind)), append(connections, o.Connection), append(rails, string(o.Rail))
		batches, currencies, amounts = append(batches, o.Batch), append(currencies, string(o.Amount.Currency)), append(amounts, o.Amount.Minor)
		names, keys, texts, queued = append(names, o.EndToEndID), append(keys, o.Key), append(texts, text), append(queued, pgTime(o.QueuedAt))
		wanted = append(wanted, ports.BankOrderKey{Platform: o.Platform, ID: o.ID})
	}
	if _, err := db.pool.Exec(ctx, insertBankOrders, platforms, ids, subjects, kinds, connections, rails, batches, currencies, amounts, names, keys, texts, queued); err != nil {
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

const bankOrderColumns = `o.platform_id, o.id, o.subject_id, o.kind, o.connection, o.rail, o.batch, o.currency, o.amount, o.end_to_end_id, o.key, o.details,
	o.state, o.file_number, o.file_position, o.partner_id, o.code, o.reason, o.queued_at, o.accepted_at, o.settled_at, o.returned_at, o.return_id`

// BankOrdersByKey uses the primary key.
func (db *DB) BankOrdersByKey(ctx context.Context, keys []ports.BankOrderKey) (map[ports.BankOrderKey]bankorder.Order, error) {
	platforms, ids := make(idArray, len(keys)), make(idArray, len(keys))
	for i, key := range keys {
		platforms[i], ids[i] = pgID(key.Platform.UUID()), pgID(key.ID)
	}
	rows, err := db.pool.Query(ctx, `SELECT `+bankOrderColumns+` FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) JOIN bank_orders o USING (platform_id, id)`, platforms, ids)
	if err != nil {
		return nil, err
	}
	orders := make(map[ports.BankOrderKey]bankorder.Order, len(keys))
	return orders, forEachRow(rows, func(rows pgx.Rows) error {
		o, err := db.scanBankOrder(ctx, rows)
		orders[ports.BankOrderKey{Platform: o.Platform, ID: o.ID}] = o
		return err
	})
}

func (db *DB) scanBankOrder(ctx context.Context, rows pgx.Rows) (o bankorder.Order, err error) {
	var (
		platform, id, subject        pgtype.UUID
		details, reason              string
		file                         *int64
		position                     *int
		accepted, settled, returned  *time.Time
		kind, rail, currency, status string
	)
	if err := rows.Scan(&platform, &id, &subject, &kind, &o.Connection, &rail, &o.Batch, &currency, &o.Amount.Minor, &o.EndToEndID, &o.Key, &details,
		&status, &file, &position, &o.PartnerID, &o.Code, &reason, &o.QueuedAt, &accepted, &settled, &returned, &o.ReturnID); err != nil {
		return o, err
	}
	o.Platform.SetUUID(platform.Bytes)
	o.ID, o.Subject, o.Kind, o.Rail, o.State = id.Bytes, subject.Bytes, bankorder.Kind(kind), corridor.Rail(rail), bankorder.State(status)
	o.Amount.Currency, o.QueuedAt = money.Currency(currency), o.QueuedAt.UTC()
	o.AcceptedAt, o.SettledAt, o.ReturnedAt = timeOrZero(accepted), timeOrZero(settled), timeOrZero(returned)
	if file != nil && position != nil {
		o.File, o.Position = *file, *position
	}
	row := sealedRow{platform.Bytes, o.ID}
	var plain bankOrderDetails
	if err := db.openJSON(ctx, row, bankOrdersDetails, []byte(details), &plain); err != nil {
		return o, err
	}
	o.Counterparty = bankorder.Counterparty{Name: plain.Name, Business: plain.Business, Fields: plain.Fields, Address: (*party.Address)(plain.Address)}
	o.Remittance = plain.Remittance
	o.Text, err = db.openText(ctx, row, bankOrdersReason, reason)
	return o, err
}

// changedBankOrders uses bank_orders_by_news.
const changedBankOrders = `SELECT platform_id, subject_id, news FROM bank_orders WHERE connection = $1 AND news > 0 AND news > $2 ORDER BY news LIMIT $3`

// ChangedBankOrders implements ports.BankOrders.
func (db *DB) ChangedBankOrders(ctx context.Context, connection string, after int64, limit int) ([]ports.RailSubject, int64, error) {
	rows, err := db.pool.Query(ctx, changedBankOrders, connection, after, limit)
	if err != nil {
		return nil, 0, err
	}
	var changed []ports.RailSubject
	last := after
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var platform, subject pgtype.UUID
		if err := rows.Scan(&platform, &subject, &last); err != nil {
			return err
		}
		s := ports.RailSubject{Subject: subject.Bytes}
		s.Platform.SetUUID(platform.Bytes)
		changed = append(changed, s)
		return nil
	})
	return changed, last, err
}

// TakeBankLease implements ports.BankFiles.
func (db *DB) TakeBankLease(ctx context.Context, connection string, holder uuid.UUID, now, until time.Time) (ports.BankLease, bool, error) {
	lease := ports.BankLease{Connection: connection}
	err := db.pool.QueryRow(ctx, `
		INSERT INTO bank_connections AS c (connection, fence, holder, leased_until) VALUES ($1, 1, $2, $4)
		ON CONFLICT (connection) DO UPDATE SET leased_until = $4, holder = $2, fence = c.fence + CASE WHEN c.holder = $2 THEN 0 ELSE 1 END
		WHERE c.holder = $2 OR c.leased_until <= $3
		RETURNING fence, news`, connection, pgID(holder), now, until).Scan(&lease.Fence, &lease.News)
	if isNoRows(err) {
		return lease, false, nil
	}
	return lease, err == nil, err
}

// underBankLease runs a change in a transaction that holds the row of the connection, if the lease is still held.
func (db *DB) underBankLease(ctx context.Context, lease ports.BankLease, change func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		var fence int64
		if err := tx.QueryRow(ctx, `SELECT fence FROM bank_connections WHERE connection = $1 FOR UPDATE`, lease.Connection).Scan(&fence); err != nil && !isNoRows(err) {
			return err
		}
		if fence != lease.Fence || fence == 0 {
			return ports.ErrBankLeaseLost
		}
		return change(tx)
	})
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
func (db *DB) SettleDueBankOrders(ctx context.Context, lease ports.BankLease, now time.Time, limit int) (n int, err error) {
	passed := 0
	err = db.underBankLease(ctx, lease, func(tx pgx.Tx) error {
		for files := 1; files > 0 && n == 0 && passed < maxSettledFiles; passed++ {
			if err := tx.QueryRow(ctx, settleDueBankOrders, lease.Connection, now, limit).Scan(&files, &n); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
