package postgres

import (
	"context"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/money"
	"causeway/ports"
)

var _ ports.EVMChainStore = (*DB)(nil)

const (
	// keptEVMBlocks is how many ends of ranges are kept: a reorganisation that is deeper is not recognised.
	keptEVMBlocks = 1000
	// keptEVMDeposits is how many blocks deposits are kept.
	keptEVMDeposits = 2_000_000
	// keptEVMAddresses is how long addresses of quotes are kept: a payer may use one again by mistake.
	keptEVMAddresses = 400 * 24 * time.Hour
	// keptEVMEvents is how many events are kept that were reported.
	keptEVMEvents = 10_000
	// maxDeletedEVMRows bounds each deletion.
	maxDeletedEVMRows = 1000
)

// evmTx runs fn in one transaction. A connection to a chain serves several platforms, so it sees the rows of all.
func (db *DB) evmTx(ctx context.Context, fn func(ctx context.Context, tx evmQuerier) error) error {
	ctx = ports.ForAllPlatforms(ctx)
	return db.inTx(ctx, func(tx storage.Tx) error { return fn(ctx, evmQuerier{tx}) })
}

// evmQuerier is a transaction about chains.
type evmQuerier struct{ storage.Tx }

// row reads the row of a query into targets. It returns false if there is none.
func (q evmQuerier) row(ctx context.Context, sql string, args []any, targets ...any) (found bool, err error) {
	return storage.ReadRow(ctx, q.Read, sql, args, targets...)
}

// bigOrZero is the field of an amount in a column that is never NULL: nil is zero.
func bigOrZero(n **big.Int) any {
	return schema.Converted(
		func() *big.Int { return valueOrZero(*n) },
		func(stored *big.Int) error {
			*n = stored
			return nil
		})
}

func valueOrZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// OpenEVMChain uses the primary key.
func (db *DB) OpenEVMChain(ctx context.Context, initial ports.EVMChain) (state ports.EVMChain, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		if _, err := tx.Exec(ctx, `
			INSERT INTO evm_chains (connection, chain_id, wallet, position, position_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, initial.Connection, initial.ChainID, initial.Wallet, initial.Position, initial.PositionHash,
			db.clock.Now()); err != nil {
			return err
		}
		// The block at which the reading begins is where a reorganisation ends.
		if _, err := tx.Exec(ctx, `INSERT INTO evm_blocks (connection, number, hash) SELECT connection, position, position_hash FROM evm_chains
			WHERE connection = $1 AND NOT EXISTS (SELECT FROM evm_blocks WHERE connection = $1)`, initial.Connection); err != nil {
			return err
		}
		var err error
		state, _, err = tx.evmChain(ctx, initial.Connection)
		return err
	})
	return state, err
}

// EVMChainOf uses the primary key.
func (db *DB) EVMChainOf(ctx context.Context, connection string) (state ports.EVMChain, found bool, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) (err error) {
		state, found, err = tx.evmChain(ctx, connection)
		return err
	})
	return state, found, err
}

func (q evmQuerier) evmChain(ctx context.Context, connection string) (state ports.EVMChain, found bool, err error) {
	found, err = q.row(ctx, `SELECT chain_id, wallet, position, position_hash FROM evm_chains WHERE connection = $1`, []any{connection},
		&state.ChainID, &state.Wallet, &state.Position, &state.PositionHash)
	if found {
		state.Connection = connection
	}
	return state, found, err
}

// AdvanceEVMChain locks the row of the connection, so that events are numbered in the order of their commits.
func (db *DB) AdvanceEVMChain(ctx context.Context, a ports.EVMAdvance) (advanced bool, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		n, err := tx.Exec(
			ctx, `UPDATE evm_chains SET position = $4, position_hash = $5 WHERE connection = $1 AND position = $2 AND position_hash = $3`,
			a.Connection, a.From.Number, a.From.Hash, a.To.Number, a.To.Hash)
		if err != nil || n == 0 {
			return err
		}
		advanced = true
		if err := tx.addEVMBlock(ctx, a); err != nil {
			return err
		}
		for _, d := range a.Reversed {
			if err := tx.reverseEVMDeposit(ctx, a.Connection, d); err != nil {
				return err
			}
		}
		if err := tx.addEVMDeposits(ctx, a.Connection, a.Deposits); err != nil {
			return err
		}
		return tx.addEVMEvents(ctx, a.Connection, a.Events, a.At)
	})
	return advanced && err == nil, err
}

// addEVMBlock stores the end of a range, and removes those that are no longer part of the chain or are too many.
func (q evmQuerier) addEVMBlock(ctx context.Context, a ports.EVMAdvance) error {
	if _, err := q.Exec(ctx, `DELETE FROM evm_blocks WHERE connection = $1 AND number >= $2`, a.Connection, a.To.Number); err != nil {
		return err
	}
	if _, err := q.Exec(ctx, `INSERT INTO evm_blocks (connection, number, hash) VALUES ($1, $2, $3)`, a.Connection, a.To.Number,
		a.To.Hash); err != nil {
		return err
	}
	if _, err := q.Exec(ctx, `DELETE FROM evm_blocks WHERE connection = $1 AND number <=
		(SELECT number FROM evm_blocks WHERE connection = $1 ORDER BY number DESC OFFSET $2 LIMIT 1)`, a.Connection, keptEVMBlocks); err != nil {
		return err
	}
	// Uses evm_addresses_of_quotes.
	if _, err := q.Exec(ctx, `DELETE FROM evm_addresses a WHERE connection = $1 AND address IN
		(SELECT address FROM evm_addresses WHERE connection = $1 AND reference NOT LIKE 'FUND-%' AND created_at < $2 ORDER BY created_at LIMIT $3)
		AND NOT EXISTS (SELECT FROM evm_holdings h WHERE h.connection = $1 AND h.address = a.address AND h.received <> h.sent)`,
		a.Connection, a.At.Add(-keptEVMAddresses), maxDeletedEVMRows); err != nil {
		return err
	}
	// Uses evm_deposits_by_block.
	_, err := q.Exec(ctx, `DELETE FROM evm_deposits WHERE connection = $1 AND partner_id IN
		(SELECT partner_id FROM evm_deposits WHERE connection = $1 AND block_number < $2 AND NOT oversized ORDER BY block_number LIMIT $3)`,
		a.Connection, int64(a.To.Number)-keptEVMDeposits, maxDeletedEVMRows)
	return err
}

func (q evmQuerier) reverseEVMDeposit(ctx context.Context, connection string, d ports.EVMDeposit) error {
	n, err := q.Exec(ctx, `UPDATE evm_deposits SET reversed = true WHERE connection = $1 AND partner_id = $2 AND NOT reversed`,
		connection, d.PartnerID)
	if err != nil || n == 0 {
		return err
	}
	return q.changeEVMHoldings(ctx, connection,
		[]ports.EVMHolding{{Address: d.Address, Currency: d.Currency, Received: new(big.Int).Neg(d.Amount), Sent: new(big.Int)}})
}

func (q evmQuerier) addEVMDeposits(ctx context.Context, connection string, deposits []ports.EVMDeposit) error {
	batch := &pgx.Batch{}
	var holdings []ports.EVMHolding
	for _, d := range deposits {
		batch.Queue(insertEVMDeposit.SQL, evmDeposits.Columns(&evmDepositRow{connection, d}).Fields()...)
		holdings = append(holdings, ports.EVMHolding{Address: d.Address, Currency: d.Currency, Received: d.Amount, Sent: new(big.Int)})
	}
	if err := q.Send(ctx, batch); err != nil {
		return err
	}
	return q.changeEVMHoldings(ctx, connection, holdings)
}

// changeEVMHoldings adds to what addresses received and sent. They are no longer claimed.
func (q evmQuerier) changeEVMHoldings(ctx context.Context, connection string, changes []ports.EVMHolding) error {
	batch := &pgx.Batch{}
	for _, c := range changes {
		batch.Queue(`INSERT INTO evm_holdings AS h (connection, currency, address, received, sent) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (connection, currency, address) DO UPDATE SET received = h.received + excluded.received, sent = h.sent + excluded.sent, claimed_at = NULL`,
			connection, c.Currency, c.Address, valueOrZero(c.Received), valueOrZero(c.Sent))
	}
	return q.Send(ctx, batch)
}

// addEVMEvents numbers events. The row of the connection must be locked.
func (q evmQuerier) addEVMEvents(ctx context.Context, connection string, events []ports.EVMEvent, now time.Time) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	if _, err := q.row(ctx, `UPDATE evm_chains SET event_number = event_number + $2 WHERE connection = $1 RETURNING event_number`,
		[]any{connection, len(events)}, &last); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i, e := range events {
		e.Number = last - int64(len(events)-1-i)
		batch.Queue(insertEVMEvent.SQL, evmEvents.Columns(&evmEventRow{e, connection, now}).Fields()...)
	}
	return q.Send(ctx, batch)
}

// EVMBlocks uses the primary key.
func (db *DB) EVMBlocks(ctx context.Context, connection string) (blocks []ports.EVMBlock, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		var err error
		blocks, err = storage.Collect(ctx, tx.Read, `SELECT number, hash FROM evm_blocks WHERE connection = $1 ORDER BY number DESC`,
			[]any{connection}, func(rows pgx.Rows, b *ports.EVMBlock) error { return rows.Scan(&b.Number, &b.Hash) })
		return err
	})
	return blocks, err
}

// evmDepositRow is a row of evm_deposits.
type evmDepositRow struct {
	connection string
	ports.EVMDeposit
}

// evmDeposits is the table evm_deposits.
var evmDeposits = schema.New("evm_deposits", []string{"connection", "partner_id"}, func(d *evmDepositRow) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &d.connection}, {Name: "partner_id", Field: &d.PartnerID}, {Name: "platform_id", Field: &d.Platform},
		{Name: "reference", Field: &d.Reference}, {Name: "address", Field: &d.Address}, {Name: "transaction_hash", Field: &d.Transaction},
		{Name: "log_index", Field: &d.LogIndex}, {Name: "block_number", Field: &d.Block.Number}, {Name: "block_hash", Field: &d.Block.Hash},
		{Name: "received_at", Field: &d.At}, {Name: "currency", Field: &d.Currency}, {Name: "amount", Field: bigOrZero(&d.Amount)},
		{Name: "payer", Field: &d.Payer}, {Name: "reversed", Field: &d.Reversed}, {Name: "oversized", Field: &d.Oversized},
	}
})

var insertEVMDeposit = evmDeposits.Insert("")

// EVMDepositsAfter uses evm_deposits_by_block.
func (db *DB) EVMDepositsAfter(ctx context.Context, connection string, block uint64, limit int) ([]ports.EVMDeposit, error) {
	return db.evmDeposits(ctx, `WHERE connection = $1 AND block_number > $2 AND NOT reversed
		ORDER BY block_number, partner_id LIMIT $3`, connection, block, limit)
}

// EVMDepositsOf uses evm_deposits_by_transaction.
func (db *DB) EVMDepositsOf(ctx context.Context, connection string, transactions []ports.EVMHash) ([]ports.EVMDeposit, error) {
	return db.evmDeposits(ctx, `WHERE connection = $1 AND transaction_hash = ANY($2::bytea[])`, connection, transactions)
}

// OversizedEVMDeposits uses evm_deposits_oversized.
func (db *DB) OversizedEVMDeposits(ctx context.Context, connection string, limit int) ([]ports.EVMDeposit, error) {
	return db.evmDeposits(ctx, `WHERE connection = $1 AND oversized AND NOT reversed
		ORDER BY block_number DESC LIMIT $2`, connection, limit)
}

func (db *DB) evmDeposits(ctx context.Context, rest string, args ...any) (deposits []ports.EVMDeposit, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		deposits = nil
		found, err := selectRows(ctx, db, tx.Read, evmDeposits, rest, args...)
		for _, d := range found {
			deposits = append(deposits, d.EVMDeposit)
		}
		return err
	})
	return deposits, err
}

// evmEventRow is a row of evm_events.
type evmEventRow struct {
	ports.EVMEvent
	connection string
	createdAt  time.Time
}

// evmEvents is the table evm_events.
var evmEvents = schema.New("evm_events", []string{"connection", "number"}, func(e *evmEventRow) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &e.connection}, {Name: "number", Field: &e.Number}, {Name: "kind", Field: &e.Kind},
		{Name: "platform_id", Field: &e.Platform}, {Name: "partner_id", Field: &e.PartnerID}, {Name: "receipt", Field: &e.Receipt},
		{Name: "subject", Field: schema.Optional(&e.Subject)}, {Name: "reference", Field: &e.Reference},
		{Name: "currency", Field: &e.Amount.Currency},
		{Name: "amount", Field: &e.Amount.Minor}, {Name: "payer", Field: &e.Payer}, {Name: "at", Field: &e.At},
		{Name: "memo", Field: &e.Memo},
		{Name: "created_at", Field: &e.createdAt}, {Name: "sent", Field: bigOrZero(&e.Transfer.Sent)},
		{Name: "arrived", Field: bigOrZero(&e.Transfer.Arrived)}, {Name: "taken", Field: bigOrZero(&e.Transfer.Taken)},
	}
})

var insertEVMEvent = evmEvents.Insert("")

// EVMEvents uses the primary key.
func (db *DB) EVMEvents(ctx context.Context, connection string, after int64, limit int) (events []ports.EVMEvent, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		if _, err := tx.Exec(ctx, `DELETE FROM evm_events WHERE connection = $1 AND number IN
			(SELECT number FROM evm_events WHERE connection = $1 AND number <= $2 ORDER BY number LIMIT $3)`, connection, after-keptEVMEvents,
			maxDeletedEVMRows); err != nil {
			return err
		}
		found, err := selectRows(ctx, db, tx.Read, evmEvents, `WHERE connection = $1 AND number > $2 ORDER BY number LIMIT $3`,
			connection, after, limit)
		for _, e := range found {
			if e.Kind != ports.EVMDiffers {
				e.Transfer = ports.EVMTransfer{}
			}
			events = append(events, e.EVMEvent)
		}
		return err
	})
	return events, err
}

// ClaimEVMHoldings uses evm_holdings_of_some_money.
func (db *DB) ClaimEVMHoldings(ctx context.Context, connection string, currency money.Currency, atLeast *big.Int, since time.Time,
	limit int) (holdings []ports.EVMHolding, err error) {
	return db.evmHoldings(ctx, `
		UPDATE evm_holdings h SET claimed_at = $6 FROM (
			SELECT connection, currency, address FROM evm_holdings
			WHERE connection = $1 AND currency = $2 AND received <> sent AND received - sent >= $3 AND (claimed_at IS NULL OR claimed_at < $4)
			ORDER BY claimed_at NULLS FIRST LIMIT $5 FOR UPDATE SKIP LOCKED) k
		WHERE h.connection = k.connection AND h.currency = k.currency AND h.address = k.address
		RETURNING h.currency, h.address, h.received, h.sent`, connection, currency, valueOrZero(atLeast), since, limit, db.clock.Now())
}

// EVMHoldings uses the primary key.
func (db *DB) EVMHoldings(ctx context.Context, connection string, after ports.EVMHolding,
	limit int) (holdings []ports.EVMHolding, err error) {
	return db.evmHoldings(ctx, `SELECT currency, address, received, sent FROM evm_holdings
		WHERE connection = $1 AND (currency, address) > ($2, $3) AND received <> sent ORDER BY currency, address LIMIT $4`,
		connection, after.Currency, after.Address, limit)
}

func (db *DB) evmHoldings(ctx context.Context, sql string, args ...any) (holdings []ports.EVMHolding, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) (err error) {
		holdings, err = storage.Collect(ctx, tx.Read, sql, args, func(rows pgx.Rows, h *ports.EVMHolding) error {
			return rows.Scan(&h.Currency, &h.Address, &h.Received, &h.Sent)
		})
		return err
	})
	return holdings, err
}
