package postgres

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// NextEVMNonce uses the primary key.
func (db *DB) NextEVMNonce(ctx context.Context, w ports.EVMWallet, atLeast uint64) (nonce uint64, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		next, err := tx.lockEVMWallet(ctx, w)
		nonce = max(next, atLeast)
		return err
	})
	return nonce, err
}

// lockEVMWallet returns the next nonce of a sender, which stays until the transaction ends.
func (q evmQuerier) lockEVMWallet(ctx context.Context, w ports.EVMWallet) (uint64, error) {
	if _, err := q.exec(ctx, `INSERT INTO evm_wallets (chain_id, address, connection, next_nonce) VALUES ($1::text::numeric, $2, $3, 0) ON CONFLICT DO NOTHING`,
		pgUint(w.ChainID), w.Address[:], w.Connection); err != nil {
		return 0, err
	}
	var connection string
	var next int64
	if err := q.row(ctx, `SELECT connection, next_nonce FROM evm_wallets WHERE chain_id = $1::text::numeric AND address = $2 FOR UPDATE`, pgUint(w.ChainID), w.Address[:]).
		Scan(&connection, &next); err != nil {
		return 0, err
	}
	if connection != w.Connection {
		return 0, fmt.Errorf("the wallet 0x%x on chain %d belongs to the connection %s; give %s a seed of its own", w.Address, w.ChainID, connection, w.Connection)
	}
	return uint64(next), nil
}

// AddEVMTransaction locks the sender, so that its nonces and what it may spend are decided one after the other.
func (db *DB) AddEVMTransaction(ctx context.Context, w ports.EVMWallet, t ports.EVMTransaction, limit *ports.EVMSpendingLimit) (stored ports.EVMTransaction, added ports.EVMAddition, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		next, err := tx.lockEVMWallet(ctx, w)
		if err != nil {
			return err
		}
		existing, err := tx.evmTransactions(ctx, `connection = $1 AND purpose = $2 AND subject = $3`, w.Connection, string(t.Purpose), pgID(t.Subject))
		switch {
		case err != nil:
			return err
		case len(existing) > 0:
			stored, added = existing[0], ports.EVMExists
			return nil
		}
		if free, err := tx.isFreeNonce(ctx, t, next); err != nil || !free {
			added = ports.EVMNonceTaken
			return err
		}
		if enough, err := tx.isWithin(ctx, t, limit); err != nil || !enough {
			added = ports.EVMTooLittle
			return err
		}
		if added, err = tx.leaveEVM(ctx, t, db.clock.Now()); err != nil || added != ports.EVMAdded {
			return err
		}
		if _, err := tx.exec(ctx, `UPDATE evm_wallets SET next_nonce = $3 WHERE chain_id = $1::text::numeric AND address = $2`, pgUint(w.ChainID), w.Address[:], int64(max(next, t.Nonce+1))); err != nil {
			return err
		}
		stored = t
		return tx.insertEVMTransaction(ctx, t)
	})
	return stored, added, err
}

// evmPayments are the payments of connections that transactions are for; the others move nothing of a customer.
var evmPayments = map[ports.EVMPurpose]rail.Kind{ports.EVMPayout: rail.Payout, ports.EVMRefund: rail.Refund}

// leaveEVM asks whether the payment of a transaction may leave, and returns EVMAdded if so.
func (q evmQuerier) leaveEVM(ctx context.Context, t ports.EVMTransaction, now time.Time) (ports.EVMAddition, error) {
	kind, isPayment := evmPayments[t.Purpose]
	if !isPayment {
		return ports.EVMAdded, nil
	}
	departures, err := leaveRailPayments(ctx, q.tx, t.Connection, []ports.RailPaymentKey{{Platform: t.Platform, ID: t.Subject, Kind: kind}}, now)
	switch {
	case err != nil:
		return "", err
	case departures[0].MayBeSent():
		return ports.EVMAdded, nil
	case departures[0].IsHeld():
		return ports.EVMHeld, nil
	}
	return ports.EVMWithdrawn, nil
}

// isFreeNonce reports whether a transaction may have its nonce: a later one than all, or one to be filled that none has.
func (q evmQuerier) isFreeNonce(ctx context.Context, t ports.EVMTransaction, next uint64) (free bool, err error) {
	if t.Purpose != ports.EVMFill || t.Nonce >= next {
		return t.Nonce >= next, nil
	}
	err = q.row(ctx, `SELECT NOT EXISTS (SELECT FROM evm_transactions WHERE connection = $1 AND sender = $2 AND nonce = $3)`, t.Connection, t.Sender[:], int64(t.Nonce)).Scan(&free)
	return free, err
}

// isWithin reports whether the limit covers what later nonces of the sender spend, and the transaction. Some of them can be
// confirmed already, if the node that was asked lags behind.
func (q evmQuerier) isWithin(ctx context.Context, t ports.EVMTransaction, limit *ports.EVMSpendingLimit) (bool, error) {
	if limit == nil {
		return true, nil
	}
	var spent string
	if err := q.row(ctx, `SELECT coalesce(sum(amount), 0)::text FROM evm_transactions WHERE connection = $1 AND sender = $2 AND nonce >= $3 AND currency = $4 AND state IN ('PENDING', 'CONFIRMED')`,
		t.Connection, t.Sender[:], int64(limit.FromNonce), string(t.Currency)).Scan(&spent); err != nil {
		return false, err
	}
	return new(big.Int).Add(bigOf(spent), t.Amount).Cmp(limit.Available) <= 0, nil
}

func (q evmQuerier) insertEVMTransaction(ctx context.Context, t ports.EVMTransaction) error {
	path := make([]int64, len(t.Path))
	for i, index := range t.Path {
		path[i] = int64(index)
	}
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO evm_transactions (connection, sender, nonce, path, purpose, subject, platform_id, target, value, data, gas_limit, recipient, currency, amount,
			state, version, created_at, updated_at)
		VALUES ($1, $2, $3, $4::bigint[], $5, $6, $7, $8, $9::text::numeric, $10, $11, $12, $13, $14::text::numeric, $15, $16, $17, $18)`,
		t.Connection, t.Sender[:], int64(t.Nonce), path, string(t.Purpose), pgID(t.Subject), pgID(t.Platform.UUID()), t.To[:], pgBig(t.Value), t.Data, int64(t.GasLimit),
		t.Recipient[:], string(t.Currency), pgBig(t.Amount), string(t.State), int32(t.Version), pgTime(t.CreatedAt), pgTime(t.UpdatedAt))
	for number, a := range t.Attempts {
		queueEVMAttempt(batch, t, number, a)
	}
	return q.send(ctx, batch)
}

func queueEVMAttempt(batch *pgx.Batch, t ports.EVMTransaction, number int, a ports.EVMAttempt) {
	batch.Queue(`INSERT INTO evm_attempts (connection, sender, nonce, number, hash, raw, max_fee, max_priority_fee, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7::text::numeric, $8::text::numeric, $9)`,
		t.Connection, t.Sender[:], int64(t.Nonce), int32(number), a.Hash[:], a.Raw, pgBig(a.MaxFee), pgBig(a.MaxPriorityFee), pgTime(a.At))
}

// EVMTransactions uses evm_transaction_subject_unique.
func (db *DB) EVMTransactions(ctx context.Context, connection string, purpose ports.EVMPurpose, subjects []uuid.UUID) ([]ports.EVMTransaction, error) {
	return db.readEVMTransactions(ctx, `connection = $1 AND purpose = $2 AND subject = ANY($3::uuid[])`, connection, string(purpose), pgIDs(subjects))
}

// PendingEVMTransactions uses evm_transactions_pending.
func (db *DB) PendingEVMTransactions(ctx context.Context, connection string, sender ports.EVMAddress, nonce uint64, limit int) ([]ports.EVMTransaction, error) {
	return db.readEVMTransactions(ctx, `connection = $1 AND state = 'PENDING' AND (sender, nonce) > ($2, $3) ORDER BY sender, nonce LIMIT $4`,
		connection, sender[:], int64(nonce), int64(limit))
}

// ConcludedEVMTransactions uses evm_transactions_by_block.
func (db *DB) ConcludedEVMTransactions(ctx context.Context, connection string, after uint64, limit int) ([]ports.EVMTransaction, error) {
	return db.readEVMTransactions(ctx, `connection = $1 AND block_number > $2 ORDER BY block_number, sender, nonce LIMIT $3`, connection, int64(after), int64(limit))
}

func (db *DB) readEVMTransactions(ctx context.Context, condition string, args ...any) (found []ports.EVMTransaction, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) (err error) {
		found, err = tx.evmTransactions(ctx, condition, args...)
		return err
	})
	return found, err
}

// evmTransactions reads transactions with their attempts, oldest first.
func (q evmQuerier) evmTransactions(ctx context.Context, condition string, args ...any) (found []ports.EVMTransaction, err error) {
	err = q.each(ctx, func(rows pgx.Rows) error {
		t, a, err := scanEVMTransaction(rows)
		if err != nil {
			return err
		}
		if last := len(found) - 1; last >= 0 && found[last].Sender == t.Sender && found[last].Nonce == t.Nonce {
			found[last].Attempts = append(found[last].Attempts, a)
			return nil
		}
		t.Attempts = []ports.EVMAttempt{a}
		found = append(found, t)
		return nil
	}, `SELECT t.connection, t.sender, t.nonce, t.path, t.purpose, t.subject, t.platform_id, t.target, t.value::text, t.data, t.gas_limit, t.recipient, t.currency, t.amount::text,
			t.state, t.settled, t.hash, t.block_number, t.block_hash, t.fee::text, t.version, t.created_at, t.updated_at,
			a.hash, a.raw, a.max_fee::text, a.max_priority_fee::text, a.created_at
		FROM (SELECT * FROM evm_transactions WHERE `+condition+`) t JOIN evm_attempts a ON a.connection = t.connection AND a.sender = t.sender AND a.nonce = t.nonce
		ORDER BY t.sender, t.nonce, a.number`, args...)
	return found, err
}

func scanEVMTransaction(rows pgx.Rows) (t ports.EVMTransaction, a ports.EVMAttempt, err error) {
	var sender, target, recipient, hash, blockHash, attempt []byte
	var nonce, gas int64
	var path []int64
	var purpose, value, currency, amount, state, maxFee, maxPriority string
	var platform uuid.NullUUID
	var block *int64
	var fee *string
	if err := rows.Scan(&t.Connection, &sender, &nonce, &path, &purpose, &t.Subject, &platform, &target, &value, &t.Data, &gas, &recipient, &currency, &amount,
		&state, &t.Settled, &hash, &block, &blockHash, &fee, &t.Version, &t.CreatedAt, &t.UpdatedAt,
		&attempt, &a.Raw, &maxFee, &maxPriority, &a.At); err != nil {
		return t, a, err
	}
	for _, index := range path {
		t.Path = append(t.Path, uint32(index))
	}
	t.Platform.SetUUID(platform.UUID)
	t.Sender, t.To, t.Recipient = ports.EVMAddress(sender), ports.EVMAddress(target), ports.EVMAddress(recipient)
	t.Nonce, t.GasLimit, t.Purpose, t.State = uint64(nonce), uint64(gas), ports.EVMPurpose(purpose), ports.EVMState(state)
	t.Value, t.Currency, t.Amount = bigOf(value), money.Currency(currency), bigOf(amount)
	t.CreatedAt, t.UpdatedAt, a.At = t.CreatedAt.UTC(), t.UpdatedAt.UTC(), a.At.UTC()
	if block != nil {
		t.Hash, t.Block, t.Fee = ports.EVMHash(hash), ports.EVMBlock{Number: uint64(*block), Hash: ports.EVMHash(blockHash)}, bigOf(*fee)
	}
	a.Hash, a.MaxFee, a.MaxPriorityFee = ports.EVMHash(attempt), bigOf(maxFee), bigOf(maxPriority)
	return t, a, nil
}

// AddEVMAttempt uses the primary key.
func (db *DB) AddEVMAttempt(ctx context.Context, t ports.EVMTransaction, a ports.EVMAttempt) (added bool, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		n, err := tx.exec(ctx, `UPDATE evm_transactions SET version = version + 1 WHERE connection = $1 AND sender = $2 AND nonce = $3 AND version = $4 AND state = 'PENDING'`,
			t.Connection, t.Sender[:], int64(t.Nonce), int32(t.Version))
		if err != nil || n == 0 {
			return err
		}
		added = true
		batch := &pgx.Batch{}
		queueEVMAttempt(batch, t, len(t.Attempts), a)
		return tx.send(ctx, batch)
	})
	return added && err == nil, err
}

// ConcludeEVMTransaction uses the primary key. It locks the row of the connection first, as AdvanceEVMChain does.
func (db *DB) ConcludeEVMTransaction(ctx context.Context, t ports.EVMTransaction, c ports.EVMConclusion) (concluded bool, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		var totalText string
		var reported int64
		if err := tx.row(ctx, `SELECT fee_wei::text, fee_gwei FROM evm_chains WHERE connection = $1 FOR UPDATE`, t.Connection).Scan(&totalText, &reported); err != nil {
			return err
		}
		n, err := tx.exec(ctx, `UPDATE evm_transactions SET state = $5, settled = settled OR (state = 'CONFIRMED' AND $5 = 'PENDING'), hash = $6, block_number = $7, block_hash = $8,
				fee = $9::text::numeric, version = version + 1, updated_at = $10
			WHERE connection = $1 AND sender = $2 AND nonce = $3 AND version = $4`, append([]any{t.Connection, t.Sender[:], int64(t.Nonce), int32(t.Version), string(c.State)}, minedColumns(c)...)...)
		if err != nil || n == 0 {
			return err
		}
		concluded = true
		total := bigOf(totalText)
		if t.Fee != nil {
			total.Sub(total, t.Fee) // its block vanished
		}
		if c.Fee != nil {
			total.Add(total, c.Fee)
		}
		events := conclusionEvents(t, c, new(big.Int).Div(total, weiPerGwei).Int64()-reported)
		for _, e := range events {
			reported += e.Amount.Minor
		}
		if _, err := tx.exec(ctx, `UPDATE evm_chains SET fee_wei = $2::text::numeric, fee_gwei = $3 WHERE connection = $1`, t.Connection, total.String(), reported); err != nil {
			return err
		}
		if err := tx.changeEVMHoldings(ctx, t.Connection, c.Holdings); err != nil {
			return err
		}
		return tx.addEVMEvents(ctx, t.Connection, events, c.At)
	})
	return concluded && err == nil, err
}

var weiPerGwei = big.NewInt(1_000_000_000)

// minedColumns are the columns of a transaction that is in a block, or NULL for one that is not.
func minedColumns(c ports.EVMConclusion) []any {
	if c.Fee == nil {
		return []any{[]byte(nil), (*int64)(nil), []byte(nil), (*string)(nil), pgTime(c.At)}
	}
	block, fee := int64(c.Block.Number), c.Fee.String()
	return []any{c.Hash[:], &block, c.Block.Hash[:], &fee, pgTime(c.At)}
}

// conclusionEvents returns what is to be reported of a conclusion: the fees that were not reported yet, if there are
// any, a transfer that differs, and that there is news. What a vanished block had cost is taken off the next fees.
func conclusionEvents(t ports.EVMTransaction, c ports.EVMConclusion, gwei int64) (events []ports.EVMEvent) {
	if c.Fee != nil && gwei > 0 {
		events = append(events, ports.EVMEvent{Kind: ports.EVMFee, Platform: t.Platform, PartnerID: fmt.Sprintf("fee:0x%x:0x%x", c.Hash, c.Block.Hash[:8]),
			Amount: money.Amount{Minor: gwei, Currency: c.Native}, At: c.At, Memo: fmt.Sprintf("%s 0x%x", t.Purpose, c.Hash)})
	}
	if c.Differs != nil {
		events = append(events, ports.EVMEvent{Kind: ports.EVMDiffers, Platform: t.Platform, PartnerID: fmt.Sprintf("0x%x", c.Hash), Subject: t.Subject, At: c.At,
			Amount: money.Amount{Currency: t.Currency}, Memo: string(t.Purpose), Transfer: *c.Differs})
	}
	if c.Changed {
		events = append(events, ports.EVMEvent{Kind: ports.EVMChanged, Platform: t.Platform, Subject: t.Subject, At: c.At})
	}
	return events
}
