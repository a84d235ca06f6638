package bitcoin

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// Wallet returns the state of a wallet; zero before the first lease. It uses the primary key.
func (s *Store) Wallet(ctx context.Context, connection string) (w Wallet, err error) {
	found, err := storage.ReadRow(
		ctx, s.db.Read, `SELECT created_at, scanned_block, scanned_height, best_block, coalesce(rescan_height, -1), references_until
		FROM bitcoin_wallets WHERE connection = $1`, []any{connection}, &w.CreatedAt, &w.ScannedBlock, &w.ScannedHeight, &w.Best, &w.RescanHeight,
		&w.ReferencesUntil)
	if err == nil && !found {
		w.RescanHeight = -1
	}
	return w, err
}

const addressColumns = `SELECT platform_id, address, reference, known_at, imported_at, checked_at FROM bitcoin_addresses WHERE connection = $1`

// Addresses returns the known ones of some addresses. It uses bitcoin_addresses_by_address.
func (s *Store) Addresses(ctx context.Context, connection string, addresses []string) ([]Address, error) {
	return s.addresses(ctx, addressColumns+` AND address = ANY ($2::text[])`, connection, addresses)
}

// AddressesToImport returns addresses that the wallet does not watch. It uses bitcoin_addresses_to_import.
func (s *Store) AddressesToImport(ctx context.Context, connection string, limit int) ([]Address, error) {
	return s.addresses(ctx, addressColumns+` AND imported_at IS NULL ORDER BY address LIMIT $2`, connection, limit)
}

// AddressesToCheck returns imported addresses, those first that were not checked for the longest time. It uses
// bitcoin_addresses_to_check.
func (s *Store) AddressesToCheck(ctx context.Context, connection string, limit int) ([]Address, error) {
	return s.addresses(ctx, addressColumns+` AND imported_at IS NOT NULL ORDER BY checked_at LIMIT $2`, connection, limit)
}

func (s *Store) addresses(ctx context.Context, sql string, args ...any) ([]Address, error) {
	return storage.Collect(ctx, s.db.Read, sql, args, func(rows pgx.Rows, a *Address) error {
		return rows.Scan(&a.Platform, &a.Address, &a.Reference, &a.KnownAt, &a.ImportedAt, &a.CheckedAt)
	})
}

// addPayment uses the primary key.
const addPayment = `
	INSERT INTO bitcoin_payments (platform_id, connection, id, kind, address, satoshis, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`

// AddPayments keeps payments and returns them as they were kept at first, in the same order.
func (s *Store) AddPayments(ctx context.Context, connection string, payments []Payment) ([]Payment, error) {
	keys := make([]ports.RailPaymentKey, len(payments))
	batch := &pgx.Batch{}
	for i, p := range payments {
		keys[i] = p.RailPaymentKey
		batch.Queue(addPayment, p.Platform, connection, p.ID, p.Kind, p.Address, p.Satoshis, p.CreatedAt)
	}
	if err := s.db.Send(ctx, batch); err != nil {
		return nil, err
	}
	found, err := s.Payments(ctx, connection, keys)
	if err != nil {
		return nil, err
	}
	kept := map[ports.RailPaymentKey]Payment{}
	for _, p := range found {
		kept[p.RailPaymentKey] = p
	}
	ordered := make([]Payment, len(payments))
	for i, key := range keys {
		ordered[i] = kept[key]
	}
	return ordered, nil
}

const paymentColumns = `SELECT p.platform_id, p.id, p.kind, p.address, p.satoshis, p.created_at, coalesce(p.batch, 0), coalesce(b.status, ''), coalesce(b.txid, '')`

// selectPayments uses the primary keys.
const selectPayments = paymentColumns + `
	FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS k(platform_id, id, kind)
	JOIN bitcoin_payments p ON p.platform_id = k.platform_id AND p.connection = $1 AND p.id = k.id AND p.kind = k.kind
	LEFT JOIN bitcoin_batches b ON b.connection = p.connection AND b.number = p.batch`

// Payments returns the known ones of some payments.
func (s *Store) Payments(ctx context.Context, connection string, keys []ports.RailPaymentKey) ([]Payment, error) {
	return s.payments(ctx, selectPayments, append([]any{connection}, storage.RailKeyColumns(keys)...)...)
}

// unsignedPayments uses bitcoin_payments_unsigned (ids begin with the time), the primary key of rail_payments and that of
// rail_controls.
const unsignedPayments = `
	SELECT platform_id, id, kind, address, satoshis, created_at, 0::bigint, '', '' FROM bitcoin_payments b
	WHERE connection = $1 AND batch IS NULL AND EXISTS (
		SELECT FROM rail_payments p WHERE p.platform_id = b.platform_id AND p.id = b.id AND p.connection = b.connection
			AND (p.kind = b.kind OR b.kind = 'REFUND' AND p.kind = 'SEND_BACK') AND p.state IN ('HANDED_OVER', 'SENT')
			AND NOT EXISTS (SELECT FROM unnest(ARRAY[p.connection, p.rail]) AS n(name) CROSS JOIN LATERAL (
				SELECT paused FROM rail_controls c WHERE c.name = n.name ORDER BY c.id DESC LIMIT 1) AS latest WHERE paused))
	ORDER BY id LIMIT $2`

// UnsignedPayments returns payments without a batch that may leave now, oldest first: not those that are held by a pause, or are no
// longer payments of the connection.
func (s *Store) UnsignedPayments(ctx context.Context, connection string, limit int) ([]Payment, error) {
	return s.payments(ctx, unsignedPayments, connection, limit)
}

func (s *Store) payments(ctx context.Context, sql string, args ...any) ([]Payment, error) {
	return storage.Collect(ctx, s.db.Read, sql, args, func(rows pgx.Rows, p *Payment) error {
		return rows.Scan(&p.Platform, &p.ID, &p.Kind, &p.Address, &p.Satoshis, &p.CreatedAt, &p.Batch, &p.Status, &p.TxID)
	})
}

// OpenBatches returns batches that are sent or confirmed, oldest first, with their payments. It uses bitcoin_batches_open,
// bitcoin_payments_by_batch and bitcoin_transaction_version_once.
func (s *Store) OpenBatches(ctx context.Context, connection string, limit int) ([]Batch, error) {
	batches, err := storage.Collect(ctx, s.db.Read, `SELECT number, status, created_at, since, txid FROM bitcoin_batches
		WHERE connection = $1 AND status IN ('SENT', 'CONFIRMED') ORDER BY number LIMIT $2`, []any{connection, limit},
		func(rows pgx.Rows, b *Batch) error {
			return rows.Scan(&b.Number, &b.Status, &b.CreatedAt, &b.Since, &b.TxID)
		})
	if err != nil || len(batches) == 0 {
		return nil, err
	}
	var numbers []int64
	index := map[int64]int{}
	for i, b := range batches {
		index[b.Number] = i
		numbers = append(numbers, b.Number)
	}
	payments, err := s.payments(ctx,
		paymentColumns+` FROM bitcoin_payments p JOIN bitcoin_batches b ON b.connection = p.connection AND b.number = p.batch
		WHERE p.connection = $1 AND p.batch = ANY ($2::bigint[]) ORDER BY p.batch, p.id`, connection, numbers)
	if err != nil {
		return nil, err
	}
	for _, p := range payments {
		b := &batches[index[p.Batch]]
		b.Payments = append(b.Payments, p)
	}
	return batches, s.db.Read(ctx, `SELECT batch, txid, raw, fee, created_at FROM bitcoin_transactions
		WHERE connection = $1 AND batch = ANY ($2::bigint[]) ORDER BY batch, version`, []any{connection, numbers}, func(rows pgx.Rows) error {
		var number int64
		var v Version
		err := rows.Scan(&number, &v.TxID, &v.Raw, &v.Fee, &v.CreatedAt)
		b := &batches[index[number]]
		b.Versions = append(b.Versions, v)
		return err
	})
}

const depositColumns = `SELECT d.txid, d.vout, d.address, d.satoshis, d.block, d.height, d.status, d.occurrence`

// Deposits returns the known ones of some outputs. It uses the primary key.
func (s *Store) Deposits(ctx context.Context, connection string, outputs []Output) ([]Deposit, error) {
	keys := schema.Arrays(outputs, func(o *Output) []any { return []any{&o.TxID, &o.Vout} })
	return s.deposits(ctx, depositColumns+` FROM unnest($2::text[], $3::bigint[]) AS k(txid, vout)
		JOIN bitcoin_deposits d ON d.connection = $1 AND d.txid = k.txid AND d.vout = k.vout`, append([]any{connection}, keys...)...)
}

// StoredTransactions returns those of the ids that versions of batches have. It uses the primary key.
func (s *Store) StoredTransactions(ctx context.Context, connection string, txids []string) ([]string, error) {
	return storage.Collect(ctx, s.db.Read, `SELECT txid FROM bitcoin_transactions WHERE connection = $1 AND txid = ANY($2::text[])`,
		[]any{connection, txids}, func(rows pgx.Rows, id *string) error { return rows.Scan(id) })
}

// RecentDeposits returns deposits that are not reversed, in blocks from a height on. It uses bitcoin_deposits_by_height.
func (s *Store) RecentDeposits(ctx context.Context, connection string, height int64, limit int) ([]Deposit, error) {
	return s.deposits(ctx, depositColumns+` FROM bitcoin_deposits d
		WHERE d.connection = $1 AND d.height >= $2 AND d.status <> 'REVERSED' ORDER BY d.height LIMIT $3`, connection, height, limit)
}

func (s *Store) deposits(ctx context.Context, sql string, args ...any) ([]Deposit, error) {
	return storage.Collect(ctx, s.db.Read, sql, args, func(rows pgx.Rows, d *Deposit) error {
		return rows.Scan(&d.TxID, &d.Vout, &d.Address, &d.Satoshis, &d.Block, &d.Height, &d.Status, &d.Occurrence)
	})
}

// OldRows are what is needed no more after a time: events that were read, and the transactions and coins of batches that are final. They
// are found by bitcoin_events_by_created_at and bitcoin_batches_by_end.
func OldRows(before time.Time) []storage.OldRows {
	return []storage.OldRows{
		eventTables.OldRows(before),
		{Table: "bitcoin_inputs", Before: before, Delete: `DELETE FROM bitcoin_inputs WHERE (connection, outpoint) IN (
			SELECT i.connection, i.outpoint FROM bitcoin_batches b
			JOIN bitcoin_inputs i ON i.connection = b.connection AND i.batch = b.number WHERE b.ended_at < $1 LIMIT $2)`},
		{Table: "bitcoin_transactions", Before: before, Delete: `DELETE FROM bitcoin_transactions WHERE (connection, txid) IN (
			SELECT t.connection, t.txid FROM bitcoin_batches b
			JOIN bitcoin_transactions t ON t.connection = b.connection AND t.batch = b.number WHERE b.ended_at < $1 LIMIT $2)`},
	}
}
