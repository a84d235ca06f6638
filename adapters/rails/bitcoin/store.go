package bitcoin

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/feed"
	"causeway/ports"
)

// Store keeps what the service knows of wallets. Each method is one atomic step.
type Store struct {
	*feed.Store
	db      *storage.DB
	wallets *storage.Leases
}

// eventTables are where events are.
var eventTables = feed.Tables{Events: "bitcoin_events", Connections: "bitcoin_wallets"}

// NewStore returns the store of the wallets of all connections.
func NewStore(db *storage.DB) *Store {
	return &Store{feed.NewStore(db, eventTables), db,
		db.Leases(storage.LeasedTable{Name: "bitcoin_wallets", Fence: "lease", CreatedAt: "created_at"})}
}

// Lease gives one process the right to change a wallet, or returns false if another has it. The first call creates the wallet.
func (s *Store) Lease(ctx context.Context, connection string, length time.Duration) (ports.Lease, bool, error) {
	return s.wallets.Take(ctx, connection, length)
}

// Release ends a lease.
func (s *Store) Release(ctx context.Context, lease ports.Lease) error {
	return s.wallets.Release(ctx, lease)
}

// Save writes all of the changes or none. It returns ports.ErrLeaseLost if the lease is no longer the present one, and another error
// if a payment is in a batch already, or a coin in another batch. The payments of a new batch have left then; it returns ErrHeld
// if one may not. Those of a batch that is released have not left. The row of the wallet is locked first, so that batches and
// events are numbered in the order of their commits.
func (s *Store) Save(ctx context.Context, lease ports.Lease, changes Changes) error {
	return s.db.InTx(ctx, func(tx storage.Tx) error {
		c := save{tx: tx, connection: lease.Name, changes: changes}
		if err := s.wallets.Lock(ctx, tx, lease, `last_batch`, &c.lastBatch); err != nil {
			return err
		}
		for _, step := range []func(context.Context) error{c.position, c.addresses, c.deposits, c.newBatch, c.replacement, c.batch} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return s.Add(ctx, tx, lease.Name, changes.Events, changes.At)
	})
}

// save is one call of Save.
type save struct {
	tx         storage.Tx
	connection string
	changes    Changes
	lastBatch  int64
}

func (s *save) exec(ctx context.Context, sql string, args ...any) error {
	_, err := s.tx.Exec(ctx, sql, args...)
	return err
}

func (s *save) position(ctx context.Context) error {
	p := s.changes.Position
	if p == nil {
		return nil
	}
	return s.exec(ctx, `UPDATE bitcoin_wallets SET scanned_block = $2, scanned_height = $3, best_block = $4,
		rescan_height = nullif($5::bigint, -1), references_until = $6 WHERE connection = $1`,
		s.connection, p.ScannedBlock, p.ScannedHeight, p.Best, max(p.RescanHeight, -1), p.ReferencesUntil)
}

// saveAddress uses the primary key. The earliest time at which an address may have been shown counts.
const saveAddress = `
	INSERT INTO bitcoin_addresses AS a (platform_id, connection, address, reference, known_at, imported_at, checked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
	ON CONFLICT (platform_id, connection, address) DO UPDATE SET known_at = least(a.known_at, excluded.known_at),
		imported_at = excluded.imported_at, checked_at = excluded.checked_at`

func (s *save) addresses(ctx context.Context) error {
	batch := &pgx.Batch{}
	for _, a := range s.changes.Addresses {
		batch.Queue(saveAddress, a.Platform, s.connection, a.Address, a.Reference, a.KnownAt, a.ImportedAt, a.CheckedAt)
	}
	return s.tx.Send(ctx, batch)
}

// saveDeposit uses the primary key.
const saveDeposit = `
	INSERT INTO bitcoin_deposits (connection, txid, vout, address, satoshis, block, height, status, occurrence) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
	ON CONFLICT (connection, txid, vout) DO UPDATE SET block = excluded.block, height = excluded.height, status = excluded.status, occurrence = excluded.occurrence`

func (s *save) deposits(ctx context.Context) error {
	batch := &pgx.Batch{}
	for _, d := range s.changes.Deposits {
		batch.Queue(saveDeposit, s.connection, d.TxID, d.Vout, d.Address, d.Satoshis, d.Block, d.Height, d.Status, d.Occurrence)
	}
	return s.tx.Send(ctx, batch)
}

func (s *save) newBatch(ctx context.Context) error {
	b := s.changes.NewBatch
	if b == nil {
		return nil
	}
	keys := make([]ports.RailPaymentKey, len(b.Payments))
	for i, p := range b.Payments {
		keys[i] = p.RailPaymentKey
	}
	if err := s.leave(ctx, keys); err != nil {
		return err
	}
	number := s.lastBatch + 1
	if err := s.exec(ctx, `UPDATE bitcoin_wallets SET last_batch = $2 WHERE connection = $1`, s.connection, number); err != nil {
		return err
	}
	if err := s.exec(ctx, `INSERT INTO bitcoin_batches (connection, number, status, created_at, since) VALUES ($1, $2, $3, $4, $5)`,
		s.connection, number, Sent, s.changes.At, b.Since); err != nil {
		return err
	}
	taken, err := s.tx.Exec(
		ctx, `UPDATE bitcoin_payments p SET batch = $2 FROM unnest($3::uuid[], $4::uuid[], $5::text[]) AS k(platform_id, id, kind)
		WHERE p.connection = $1 AND p.platform_id = k.platform_id AND p.id = k.id AND p.kind = k.kind AND p.batch IS NULL`,
		append([]any{s.connection, number}, storage.RailKeyColumns(keys)...)...)
	if err != nil {
		return err
	}
	if int(taken) != len(b.Payments) {
		return fmt.Errorf("%d of the %d payments of a batch of wallet %s are in another one", len(b.Payments)-int(taken),
			len(b.Payments), s.connection)
	}
	return s.version(ctx, number, 0, b.Versions[0])
}

// leave asks whether the payments of a new batch may leave. It returns ErrBitcoinHeld if one may not.
func (s *save) leave(ctx context.Context, keys []ports.RailPaymentKey) error {
	departures, err := storage.LeaveRailPayments(ctx, s.tx, s.connection, keys, s.changes.At)
	if err != nil {
		return err
	}
	for i, departure := range departures {
		if !departure.MayBeSent() {
			return fmt.Errorf("%s %s of %s: %w", keys[i].Kind, keys[i].ID, s.connection, ErrHeld)
		}
	}
	return nil
}

// stay records that the payments of a batch that is released have not left.
func (s *save) stay(ctx context.Context, batch int64) error {
	keys, err := storage.Collect(ctx, s.tx.Read, `SELECT platform_id, id, kind FROM bitcoin_payments WHERE connection = $1 AND batch = $2`,
		[]any{s.connection, batch},
		func(rows pgx.Rows, k *ports.RailPaymentKey) error { return rows.Scan(&k.Platform, &k.ID, &k.Kind) })
	if err != nil {
		return err
	}
	return storage.RailPaymentsNotTaken(ctx, s.tx, s.connection, keys, s.changes.At)
}

func (s *save) replacement(ctx context.Context) error {
	if r := s.changes.Replacement; r != nil {
		return s.version(ctx, r.Batch, r.Number, r.Version)
	}
	return nil
}

func (s *save) version(ctx context.Context, batch int64, number int, v Version) error {
	if err := s.exec(
		ctx, `INSERT INTO bitcoin_transactions (connection, txid, batch, version, raw, fee, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		s.connection, v.TxID, batch, number, v.Raw, v.Fee, s.changes.At); err != nil {
		return err
	}
	outpoints := make([]string, len(v.Inputs))
	for i, input := range v.Inputs {
		outpoints[i] = input.TxID + ":" + strconv.FormatInt(input.Vout, 10)
	}
	// A further version spends the coins of the first one too.
	known, err := s.inputsOf(ctx, batch, outpoints)
	if err != nil {
		return err
	}
	added, err := s.tx.Exec(
		ctx, `INSERT INTO bitcoin_inputs (connection, outpoint, batch) SELECT $1, o, $2 FROM unnest($3::text[]) AS o ON CONFLICT DO NOTHING`,
		s.connection, batch, outpoints)
	if err == nil && int(added)+known != len(outpoints) {
		err = fmt.Errorf("a coin of transaction %s belongs to another batch of wallet %s", v.TxID, s.connection)
	}
	return err
}

func (s *save) inputsOf(ctx context.Context, batch int64, outpoints []string) (n int, err error) {
	_, err = storage.ReadRow(
		ctx, s.tx.Read, `SELECT count(*) FROM bitcoin_inputs WHERE connection = $1 AND outpoint = ANY ($2::text[]) AND batch = $3`,
		[]any{s.connection, outpoints, batch}, &n)
	return n, err
}

func (s *save) batch(ctx context.Context) error {
	b := s.changes.Batch
	if b == nil {
		return nil
	}
	var ended time.Time
	if b.Status == Final || b.Status == Released {
		ended = s.changes.At
	}
	if err := s.exec(ctx, `UPDATE bitcoin_batches SET status = $3, txid = $4, ended_at = $5 WHERE connection = $1 AND number = $2`,
		s.connection, b.Batch, b.Status, b.TxID, ended); err != nil || b.Status != Released {
		return err
	}
	if err := s.stay(ctx, b.Batch); err != nil {
		return err
	}
	if err := s.exec(ctx, `UPDATE bitcoin_payments SET batch = NULL WHERE connection = $1 AND batch = $2`, s.connection, b.Batch); err != nil {
		return err
	}
	return s.exec(ctx, `DELETE FROM bitcoin_inputs WHERE connection = $1 AND batch = $2`, s.connection, b.Batch)
}
