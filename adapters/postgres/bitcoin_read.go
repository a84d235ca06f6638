package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// BitcoinWallet implements ports.BitcoinStore. Uses the primary key.
func (db *DB) BitcoinWallet(ctx context.Context, connection string) (w ports.BitcoinWallet, err error) {
	found, err := storage.ReadRow(
		ctx, db.read, `SELECT created_at, scanned_block, scanned_height, best_block, coalesce(rescan_height, -1), references_until
		FROM bitcoin_wallets WHERE connection = $1`, []any{connection}, &w.CreatedAt, &w.ScannedBlock, &w.ScannedHeight, &w.Best, &w.RescanHeight,
		&w.ReferencesUntil)
	if err == nil && !found {
		w.RescanHeight = -1
	}
	return w, err
}

const bitcoinAddressColumns = `SELECT platform_id, address, reference, known_at, imported_at, checked_at FROM bitcoin_addresses WHERE connection = $1`

// BitcoinAddresses implements ports.BitcoinStore. Uses bitcoin_addresses_by_address.
func (db *DB) BitcoinAddresses(ctx context.Context, connection string, addresses []string) ([]ports.BitcoinAddress, error) {
	return db.bitcoinAddresses(ctx, bitcoinAddressColumns+` AND address = ANY ($2::text[])`, connection, addresses)
}

// BitcoinAddressesToImport implements ports.BitcoinStore. Uses bitcoin_addresses_to_import.
func (db *DB) BitcoinAddressesToImport(ctx context.Context, connection string, limit int) ([]ports.BitcoinAddress, error) {
	return db.bitcoinAddresses(ctx, bitcoinAddressColumns+` AND imported_at IS NULL ORDER BY address LIMIT $2`, connection, limit)
}

// BitcoinAddressesToCheck implements ports.BitcoinStore. Uses bitcoin_addresses_to_check.
func (db *DB) BitcoinAddressesToCheck(ctx context.Context, connection string, limit int) ([]ports.BitcoinAddress, error) {
	return db.bitcoinAddresses(ctx, bitcoinAddressColumns+` AND imported_at IS NOT NULL ORDER BY checked_at LIMIT $2`, connection, limit)
}

func (db *DB) bitcoinAddresses(ctx context.Context, sql string, args ...any) ([]ports.BitcoinAddress, error) {
	return storage.Collect(ctx, db.read, sql, args, func(rows pgx.Rows, a *ports.BitcoinAddress) error {
		return rows.Scan(&a.Platform, &a.Address, &a.Reference, &a.KnownAt, &a.ImportedAt, &a.CheckedAt)
	})
}

// addBitcoinPayment uses the primary key.
const addBitcoinPayment = `
	INSERT INTO bitcoin_payments (platform_id, connection, id, kind, address, satoshis, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`

// AddBitcoinPayments implements ports.BitcoinStore.
func (db *DB) AddBitcoinPayments(ctx context.Context, connection string, payments []ports.BitcoinPayment) ([]ports.BitcoinPayment, error) {
	keys := make([]ports.RailPaymentKey, len(payments))
	batch := &pgx.Batch{}
	for i, p := range payments {
		keys[i] = p.RailPaymentKey
		batch.Queue(addBitcoinPayment, p.Platform, connection, p.ID, p.Kind, p.Address, p.Satoshis, p.CreatedAt)
	}
	if err := db.storage.Send(ctx, batch); err != nil {
		return nil, err
	}
	found, err := db.BitcoinPayments(ctx, connection, keys)
	if err != nil {
		return nil, err
	}
	kept := map[ports.RailPaymentKey]ports.BitcoinPayment{}
	for _, p := range found {
		kept[p.RailPaymentKey] = p
	}
	ordered := make([]ports.BitcoinPayment, len(payments))
	for i, key := range keys {
		ordered[i] = kept[key]
	}
	return ordered, nil
}

const bitcoinPaymentColumns = `SELECT p.platform_id, p.id, p.kind, p.address, p.satoshis, p.created_at, coalesce(p.batch, 0), coalesce(b.status, ''), coalesce(b.txid, '')`

// selectBitcoinPayments uses the primary keys.
const selectBitcoinPayments = bitcoinPaymentColumns + `
	FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS k(platform_id, id, kind)
	JOIN bitcoin_payments p ON p.platform_id = k.platform_id AND p.connection = $1 AND p.id = k.id AND p.kind = k.kind
	LEFT JOIN bitcoin_batches b ON b.connection = p.connection AND b.number = p.batch`

// BitcoinPayments implements ports.BitcoinStore.
func (db *DB) BitcoinPayments(ctx context.Context, connection string, keys []ports.RailPaymentKey) ([]ports.BitcoinPayment, error) {
	return db.bitcoinPayments(ctx, selectBitcoinPayments, append([]any{connection}, storage.RailKeyColumns(keys)...)...)
}

// unsignedBitcoinPayments uses bitcoin_payments_unsigned (ids begin with the time), the primary key of rail_payments and that of
// rail_controls.
const unsignedBitcoinPayments = `
	SELECT platform_id, id, kind, address, satoshis, created_at, 0::bigint, '', '' FROM bitcoin_payments b
	WHERE connection = $1 AND batch IS NULL AND EXISTS (
		SELECT FROM rail_payments p WHERE p.platform_id = b.platform_id AND p.id = b.id AND p.connection = b.connection
			AND (p.kind = b.kind OR b.kind = 'REFUND' AND p.kind = 'SEND_BACK') AND p.state IN ('HANDED_OVER', 'SENT')
			AND NOT EXISTS (SELECT FROM unnest(ARRAY[p.connection, p.rail]) AS n(name) CROSS JOIN LATERAL (
				SELECT paused FROM rail_controls c WHERE c.name = n.name ORDER BY c.id DESC LIMIT 1) AS latest WHERE paused))
	ORDER BY id LIMIT $2`

// UnsignedBitcoinPayments implements ports.BitcoinStore.
func (db *DB) UnsignedBitcoinPayments(ctx context.Context, connection string, limit int) ([]ports.BitcoinPayment, error) {
	return db.bitcoinPayments(ctx, unsignedBitcoinPayments, connection, limit)
}

func (db *DB) bitcoinPayments(ctx context.Context, sql string, args ...any) ([]ports.BitcoinPayment, error) {
	return storage.Collect(ctx, db.read, sql, args, func(rows pgx.Rows, p *ports.BitcoinPayment) error {
		return rows.Scan(&p.Platform, &p.ID, &p.Kind, &p.Address, &p.Satoshis, &p.CreatedAt, &p.Batch, &p.Status, &p.TxID)
	})
}

// OpenBitcoinBatches implements ports.BitcoinStore. Uses bitcoin_batches_open, bitcoin_payments_by_batch and
// bitcoin_transaction_version_once.
func (db *DB) OpenBitcoinBatches(ctx context.Context, connection string, limit int) ([]ports.BitcoinBatch, error) {
	batches, err := storage.Collect(ctx, db.read, `SELECT number, status, created_at, since, txid FROM bitcoin_batches
		WHERE connection = $1 AND status IN ('SENT', 'CONFIRMED') ORDER BY number LIMIT $2`, []any{connection, limit},
		func(rows pgx.Rows, b *ports.BitcoinBatch) error {
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
	payments, err := db.bitcoinPayments(ctx,
		bitcoinPaymentColumns+` FROM bitcoin_payments p JOIN bitcoin_batches b ON b.connection = p.connection AND b.number = p.batch
		WHERE p.connection = $1 AND p.batch = ANY ($2::bigint[]) ORDER BY p.batch, p.id`, connection, numbers)
	if err != nil {
		return nil, err
	}
	for _, p := range payments {
		b := &batches[index[p.Batch]]
		b.Payments = append(b.Payments, p)
	}
	return batches, db.read(ctx, `SELECT batch, txid, raw, fee, created_at FROM bitcoin_transactions
		WHERE connection = $1 AND batch = ANY ($2::bigint[]) ORDER BY batch, version`, []any{connection, numbers}, func(rows pgx.Rows) error {
		var number int64
		var v ports.BitcoinVersion
		err := rows.Scan(&number, &v.TxID, &v.Raw, &v.Fee, &v.CreatedAt)
		b := &batches[index[number]]
		b.Versions = append(b.Versions, v)
		return err
	})
}

const bitcoinDepositColumns = `SELECT d.txid, d.vout, d.address, d.satoshis, d.block, d.height, d.status, d.occurrence`

// BitcoinDeposits implements ports.BitcoinStore. Uses the primary key.
func (db *DB) BitcoinDeposits(ctx context.Context, connection string, outputs []ports.BitcoinOutput) ([]ports.BitcoinDeposit, error) {
	keys := schema.Arrays(outputs, func(o *ports.BitcoinOutput) []any { return []any{&o.TxID, &o.Vout} })
	return db.bitcoinDeposits(ctx, bitcoinDepositColumns+` FROM unnest($2::text[], $3::bigint[]) AS k(txid, vout)
		JOIN bitcoin_deposits d ON d.connection = $1 AND d.txid = k.txid AND d.vout = k.vout`, append([]any{connection}, keys...)...)
}

// RecentBitcoinDeposits implements ports.BitcoinStore. Uses bitcoin_deposits_by_height.
func (db *DB) RecentBitcoinDeposits(ctx context.Context, connection string, height int64, limit int) ([]ports.BitcoinDeposit, error) {
	return db.bitcoinDeposits(ctx, bitcoinDepositColumns+` FROM bitcoin_deposits d
		WHERE d.connection = $1 AND d.height >= $2 AND d.status <> 'REVERSED' ORDER BY d.height LIMIT $3`, connection, height, limit)
}

func (db *DB) bitcoinDeposits(ctx context.Context, sql string, args ...any) ([]ports.BitcoinDeposit, error) {
	return storage.Collect(ctx, db.read, sql, args, func(rows pgx.Rows, d *ports.BitcoinDeposit) error {
		return rows.Scan(&d.TxID, &d.Vout, &d.Address, &d.Satoshis, &d.Block, &d.Height, &d.Status, &d.Occurrence)
	})
}

// BitcoinEvents implements ports.BitcoinStore. Uses the primary keys.
func (db *DB) BitcoinEvents(ctx context.Context, connection string, after int64, limit int) ([]ports.BitcoinEvent, error) {
	if _, err := db.exec(ctx, `UPDATE bitcoin_wallets SET read_event = $2 WHERE connection = $1 AND read_event < $2`, connection,
		after); err != nil {
		return nil, err
	}
	return storage.Collect(
		ctx, db.read, `SELECT number, kind, partner_id, body FROM bitcoin_events WHERE connection = $1 AND number > $2 ORDER BY number LIMIT $3`,
		[]any{connection, after, limit}, func(rows pgx.Rows, e *ports.BitcoinEvent) error {
			var body bitcoinEventBody
			err := rows.Scan(&e.Number, &e.Kind, &e.PartnerID, &body)
			e.Platform.SetUUID(body.Platform)
			e.Receipt, e.Reference, e.Satoshis, e.Subject, e.Text, e.At = body.Receipt, body.Reference, body.Satoshis, body.Subject,
				body.Text, body.At.UTC()
			return err
		})
}

// deleteOldBitcoin deletes what is needed no more: events that were read, and the transactions and coins of batches
// that are final. Uses bitcoin_events_by_created_at and bitcoin_batches_by_end.
func (db *DB) deleteOldBitcoin(ctx context.Context, before time.Time, deleted func(table string, rows int)) error {
	for _, table := range []struct{ name, sql string }{
		{"bitcoin_events", `DELETE FROM bitcoin_events WHERE (connection, number) IN (SELECT e.connection, e.number FROM bitcoin_events e
			JOIN bitcoin_wallets w ON w.connection = e.connection AND e.number <= w.read_event WHERE e.created_at < $1 LIMIT $2)`},
		{"bitcoin_inputs", `DELETE FROM bitcoin_inputs WHERE (connection, outpoint) IN (SELECT i.connection, i.outpoint FROM bitcoin_batches b
			JOIN bitcoin_inputs i ON i.connection = b.connection AND i.batch = b.number WHERE b.ended_at < $1 LIMIT $2)`},
		{"bitcoin_transactions", `DELETE FROM bitcoin_transactions WHERE (connection, txid) IN (SELECT t.connection, t.txid FROM bitcoin_batches b
			JOIN bitcoin_transactions t ON t.connection = b.connection AND t.batch = b.number WHERE b.ended_at < $1 LIMIT $2)`},
	} {
		if err := db.deleteInBatches(ctx, table.name, table.sql, before, deleted); err != nil {
			return err
		}
	}
	return nil
}
