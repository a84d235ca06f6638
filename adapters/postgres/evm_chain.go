package postgres

import (
	"context"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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
	return pgx.BeginFunc(ctx, db.pool.Pool, func(tx pgx.Tx) error { return fn(ctx, evmQuerier{tx}) })
}

// evmQuerier runs prepared statements.
type evmQuerier struct{ tx pgx.Tx }

func (q evmQuerier) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := q.tx.Exec(ctx, sql, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	return tag.RowsAffected(), err
}

func (q evmQuerier) row(ctx context.Context, sql string, args ...any) pgx.Row {
	return q.tx.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
}

func (q evmQuerier) each(ctx context.Context, scan func(pgx.Rows) error, sql string, args ...any) error {
	rows, err := q.tx.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	if err != nil {
		return err
	}
	return forEachRow(rows, scan)
}

// pgBig returns an amount of any size as text for a numeric column; nil is zero.
func pgBig(n *big.Int) string {
	if n == nil {
		return "0"
	}
	return n.String()
}

// bigOf returns the amount of a numeric column, read as text.
func bigOf(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

// OpenEVMChain uses the primary key.
func (db *DB) OpenEVMChain(ctx context.Context, initial ports.EVMChain) (state ports.EVMChain, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		if _, err := tx.exec(ctx, `
			INSERT INTO evm_chains (connection, chain_id, wallet, position, position_hash, created_at) VALUES ($1, $2::text::numeric, $3, $4, $5, $6)
			ON CONFLICT DO NOTHING`, initial.Connection, pgUint(initial.ChainID), initial.Wallet[:], int64(initial.Position), initial.PositionHash[:], pgTime(db.clock.Now())); err != nil {
			return err
		}
		// The block at which the reading begins is where a reorganisation ends.
		if _, err := tx.exec(ctx, `INSERT INTO evm_blocks (connection, number, hash) SELECT connection, position, position_hash FROM evm_chains
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
	var chainID string
	var wallet, hash []byte
	var position int64
	err = q.row(ctx, `SELECT chain_id::text, wallet, position, position_hash FROM evm_chains WHERE connection = $1`, connection).Scan(&chainID, &wallet, &position, &hash)
	if isNoRows(err) {
		return state, false, nil
	}
	if err != nil {
		return state, false, err
	}
	return ports.EVMChain{Connection: connection, ChainID: bigOf(chainID).Uint64(), Wallet: ports.EVMAddress(wallet),
		Position: uint64(position), PositionHash: ports.EVMHash(hash)}, true, nil
}

func pgUint(n uint64) string { return new(big.Int).SetUint64(n).String() }

// AdvanceEVMChain locks the row of the connection, so that events are numbered in the order of their commits.
func (db *DB) AdvanceEVMChain(ctx context.Context, a ports.EVMAdvance) (advanced bool, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		n, err := tx.exec(ctx, `UPDATE evm_chains SET position = $4, position_hash = $5 WHERE connection = $1 AND position = $2 AND position_hash = $3`,
			a.Connection, int64(a.From.Number), a.From.Hash[:], int64(a.To.Number), a.To.Hash[:])
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
	if _, err := q.exec(ctx, `DELETE FROM evm_blocks WHERE connection = $1 AND number >= $2`, a.Connection, int64(a.To.Number)); err != nil {
		return err
	}
	if _, err := q.exec(ctx, `INSERT INTO evm_blocks (connection, number, hash) VALUES ($1, $2, $3)`, a.Connection, int64(a.To.Number), a.To.Hash[:]); err != nil {
		return err
	}
	if _, err := q.exec(ctx, `DELETE FROM evm_blocks WHERE connection = $1 AND number <=
		(SELECT number FROM evm_blocks WHERE connection = $1 ORDER BY number DESC OFFSET $2 LIMIT 1)`, a.Connection, int64(keptEVMBlocks)); err != nil {
		return err
	}
	// Uses evm_addresses_of_quotes.
	if _, err := q.exec(ctx, `DELETE FROM evm_addresses a WHERE connection = $1 AND address IN
		(SELECT address FROM evm_addresses WHERE connection = $1 AND reference NOT LIKE 'FUND-%' AND created_at < $2 ORDER BY created_at LIMIT $3)
		AND NOT EXISTS (SELECT FROM evm_holdings h WHERE h.connection = $1 AND h.address = a.address AND h.received <> h.sent)`,
		a.Connection, pgTime(a.At.Add(-keptEVMAddresses)), int64(maxDeletedEVMRows)); err != nil {
		return err
	}
	// Uses evm_deposits_by_block.
	_, err := q.exec(ctx, `DELETE FROM evm_deposits WHERE connection = $1 AND partner_id IN
		(SELECT partner_id FROM evm_deposits WHERE connection = $1 AND block_number < $2 AND NOT oversized ORDER BY block_number LIMIT $3)`,
		a.Connection, int64(a.To.Number)-keptEVMDeposits, int64(maxDeletedEVMRows))
	return err
}

func (q evmQuerier) reverseEVMDeposit(ctx context.Context, connection string, d ports.EVMDeposit) error {
	n, err := q.exec(ctx, `UPDATE evm_deposits SET reversed = true WHERE connection = $1 AND partner_id = $2 AND NOT reversed`, connection, d.PartnerID)
	if err != nil || n == 0 {
		return err
	}
	return q.changeEVMHoldings(ctx, connection, []ports.EVMHolding{{Address: d.Address, Currency: d.Currency, Received: new(big.Int).Neg(d.Amount), Sent: new(big.Int)}})
}

func (q evmQuerier) addEVMDeposits(ctx context.Context, connection string, deposits []ports.EVMDeposit) error {
	batch := &pgx.Batch{}
	var holdings []ports.EVMHolding
	for _, d := range deposits {
		batch.Queue(`INSERT INTO evm_deposits (connection, partner_id, platform_id, reference, address, transaction_hash, log_index, block_number, block_hash,
			received_at, currency, amount, payer, oversized) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text::numeric, $13, $14)`,
			connection, d.PartnerID, pgID(d.Platform.UUID()), d.Reference, d.Address[:], d.Transaction[:], int64(d.LogIndex), int64(d.Block.Number), d.Block.Hash[:],
			pgTime(d.At), string(d.Currency), pgBig(d.Amount), d.Payer[:], d.Oversized)
		holdings = append(holdings, ports.EVMHolding{Address: d.Address, Currency: d.Currency, Received: d.Amount, Sent: new(big.Int)})
	}
	if err := q.send(ctx, batch); err != nil {
		return err
	}
	return q.changeEVMHoldings(ctx, connection, holdings)
}

// send sends statements in one round trip.
func (q evmQuerier) send(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	if err := prepare(ctx, q.tx.Conn(), batch); err != nil {
		return err
	}
	return q.tx.SendBatch(ctx, batch).Close()
}

// changeEVMHoldings adds to what addresses received and sent. They are no longer claimed.
func (q evmQuerier) changeEVMHoldings(ctx context.Context, connection string, changes []ports.EVMHolding) error {
	batch := &pgx.Batch{}
	for _, c := range changes {
		batch.Queue(`INSERT INTO evm_holdings AS h (connection, currency, address, received, sent) VALUES ($1, $2, $3, $4::text::numeric, $5::text::numeric)
			ON CONFLICT (connection, currency, address) DO UPDATE SET received = h.received + excluded.received, sent = h.sent + excluded.sent, claimed_at = NULL`,
			connection, string(c.Currency), c.Address[:], pgBig(c.Received), pgBig(c.Sent))
	}
	return q.send(ctx, batch)
}

// addEVMEvents numbers events. The row of the connection must be locked.
func (q evmQuerier) addEVMEvents(ctx context.Context, connection string, events []ports.EVMEvent, now time.Time) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	if err := q.row(ctx, `UPDATE evm_chains SET event_number = event_number + $2 WHERE connection = $1 RETURNING event_number`, connection, int64(len(events))).Scan(&last); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i, e := range events {
		batch.Queue(`INSERT INTO evm_events (connection, number, kind, platform_id, partner_id, receipt, subject, reference, currency, amount, payer, at, memo, created_at, sent, arrived, taken)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::text::numeric, $16::text::numeric, $17::text::numeric)`,
			connection, last-int64(len(events)-1-i), string(e.Kind), pgID(e.Platform.UUID()), e.PartnerID, e.Receipt, pgID(e.Subject), e.Reference,
			string(e.Amount.Currency), e.Amount.Minor, e.Payer[:], pgTime(e.At), e.Memo, pgTime(now), pgBig(e.Transfer.Sent), pgBig(e.Transfer.Arrived), pgBig(e.Transfer.Taken))
	}
	return q.send(ctx, batch)
}

// EVMBlocks uses the primary key.
func (db *DB) EVMBlocks(ctx context.Context, connection string) (blocks []ports.EVMBlock, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		return tx.each(ctx, func(rows pgx.Rows) error {
			var number int64
			var hash []byte
			if err := rows.Scan(&number, &hash); err != nil {
				return err
			}
			blocks = append(blocks, ports.EVMBlock{Number: uint64(number), Hash: ports.EVMHash(hash)})
			return nil
		}, `SELECT number, hash FROM evm_blocks WHERE connection = $1 ORDER BY number DESC`, connection)
	})
	return blocks, err
}

const evmDepositColumns = `partner_id, platform_id, reference, address, transaction_hash, log_index, block_number, block_hash, received_at, currency, amount::text, payer, reversed, oversized`

// EVMDepositsAfter uses evm_deposits_by_block.
func (db *DB) EVMDepositsAfter(ctx context.Context, connection string, block uint64, limit int) ([]ports.EVMDeposit, error) {
	return db.evmDeposits(ctx, `SELECT `+evmDepositColumns+` FROM evm_deposits WHERE connection = $1 AND block_number > $2 AND NOT reversed
		ORDER BY block_number, partner_id LIMIT $3`, connection, int64(block), int64(limit))
}

// EVMDepositsOf uses evm_deposits_by_transaction.
func (db *DB) EVMDepositsOf(ctx context.Context, connection string, transactions []ports.EVMHash) ([]ports.EVMDeposit, error) {
	hashes := make([][]byte, len(transactions))
	for i := range transactions {
		hashes[i] = transactions[i][:]
	}
	return db.evmDeposits(ctx, `SELECT `+evmDepositColumns+` FROM evm_deposits WHERE connection = $1 AND transaction_hash = ANY($2::bytea[])`, connection, hashes)
}

// OversizedEVMDeposits uses evm_deposits_oversized.
func (db *DB) OversizedEVMDeposits(ctx context.Context, connection string, limit int) ([]ports.EVMDeposit, error) {
	return db.evmDeposits(ctx, `SELECT `+evmDepositColumns+` FROM evm_deposits WHERE connection = $1 AND oversized AND NOT reversed
		ORDER BY block_number DESC LIMIT $2`, connection, int64(limit))
}

func (db *DB) evmDeposits(ctx context.Context, sql string, args ...any) (deposits []ports.EVMDeposit, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		deposits = nil
		return tx.each(ctx, func(rows pgx.Rows) error {
			var d ports.EVMDeposit
			var platform uuid.UUID
			var address, hash, blockHash, payer []byte
			var logIndex, block int64
			var currency, amount string
			if err := rows.Scan(&d.PartnerID, &platform, &d.Reference, &address, &hash, &logIndex, &block, &blockHash, &d.At, &currency, &amount, &payer, &d.Reversed, &d.Oversized); err != nil {
				return err
			}
			d.Platform.SetUUID(platform)
			d.Address, d.Transaction, d.Payer = ports.EVMAddress(address), ports.EVMHash(hash), ports.EVMAddress(payer)
			d.LogIndex, d.Block = uint64(logIndex), ports.EVMBlock{Number: uint64(block), Hash: ports.EVMHash(blockHash)}
			d.At, d.Currency, d.Amount = d.At.UTC(), money.Currency(currency), bigOf(amount)
			deposits = append(deposits, d)
			return nil
		}, sql, args...)
	})
	return deposits, err
}

// EVMEvents uses the primary key.
func (db *DB) EVMEvents(ctx context.Context, connection string, after int64, limit int) (events []ports.EVMEvent, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		if _, err := tx.exec(ctx, `DELETE FROM evm_events WHERE connection = $1 AND number IN
			(SELECT number FROM evm_events WHERE connection = $1 AND number <= $2 ORDER BY number LIMIT $3)`, connection, after-keptEVMEvents, int64(maxDeletedEVMRows)); err != nil {
			return err
		}
		return tx.each(ctx, func(rows pgx.Rows) error {
			var e ports.EVMEvent
			var kind, currency, sent, arrived, taken string
			var platform, subject uuid.NullUUID
			var payer []byte
			if err := rows.Scan(&e.Number, &kind, &platform, &e.PartnerID, &e.Receipt, &subject, &e.Reference, &currency, &e.Amount.Minor, &payer, &e.At, &e.Memo,
				&sent, &arrived, &taken); err != nil {
				return err
			}
			if ports.EVMEventKind(kind) == ports.EVMDiffers {
				e.Transfer = ports.EVMTransfer{Sent: bigOf(sent), Arrived: bigOf(arrived), Taken: bigOf(taken)}
			}
			e.Platform.SetUUID(platform.UUID)
			e.Kind, e.Subject, e.Amount.Currency = ports.EVMEventKind(kind), subject.UUID, money.Currency(currency)
			e.Payer, e.At = ports.EVMAddress(payer), e.At.UTC()
			events = append(events, e)
			return nil
		}, `SELECT number, kind, platform_id, partner_id, receipt, subject, reference, currency, amount, payer, at, memo, sent::text, arrived::text, taken::text FROM evm_events
			WHERE connection = $1 AND number > $2 ORDER BY number LIMIT $3`, connection, after, int64(limit))
	})
	return events, err
}

// ClaimEVMHoldings uses evm_holdings_of_some_money.
func (db *DB) ClaimEVMHoldings(ctx context.Context, connection string, currency money.Currency, atLeast *big.Int, since time.Time, limit int) (holdings []ports.EVMHolding, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		return tx.each(ctx, scanEVMHolding(&holdings), `
			UPDATE evm_holdings h SET claimed_at = $6 FROM (
				SELECT connection, currency, address FROM evm_holdings
				WHERE connection = $1 AND currency = $2 AND received <> sent AND received - sent >= $3::text::numeric AND (claimed_at IS NULL OR claimed_at < $4)
				ORDER BY claimed_at NULLS FIRST LIMIT $5 FOR UPDATE SKIP LOCKED) k
			WHERE h.connection = k.connection AND h.currency = k.currency AND h.address = k.address
			RETURNING h.currency, h.address, h.received::text, h.sent::text`, connection, string(currency), pgBig(atLeast), pgTime(since), int64(limit), pgTime(db.clock.Now()))
	})
	return holdings, err
}

// EVMHoldings uses the primary key.
func (db *DB) EVMHoldings(ctx context.Context, connection string, after ports.EVMHolding, limit int) (holdings []ports.EVMHolding, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		return tx.each(ctx, scanEVMHolding(&holdings), `SELECT currency, address, received::text, sent::text FROM evm_holdings
			WHERE connection = $1 AND (currency, address) > ($2, $3) AND received <> sent ORDER BY currency, address LIMIT $4`,
			connection, string(after.Currency), after.Address[:], int64(limit))
	})
	return holdings, err
}

func scanEVMHolding(holdings *[]ports.EVMHolding) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var currency, received, sent string
		var address []byte
		if err := rows.Scan(&currency, &address, &received, &sent); err != nil {
			return err
		}
		*holdings = append(*holdings, ports.EVMHolding{Address: ports.EVMAddress(address), Currency: money.Currency(currency), Received: bigOf(received), Sent: bigOf(sent)})
		return nil
	}
}
