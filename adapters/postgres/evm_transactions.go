package postgres

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
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
	if _, err := q.Exec(
		ctx, `INSERT INTO evm_wallets (chain_id, address, connection, next_nonce) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`,
		w.ChainID, w.Address, w.Connection); err != nil {
		return 0, err
	}
	var connection string
	var next uint64
	if _, err := q.row(ctx, `SELECT connection, next_nonce FROM evm_wallets WHERE chain_id = $1 AND address = $2 FOR UPDATE`,
		[]any{w.ChainID, w.Address},
		&connection, &next); err != nil {
		return 0, err
	}
	if connection != w.Connection {
		return 0, fmt.Errorf("the wallet 0x%x on chain %d belongs to the connection %s; give %s a seed of its own", w.Address, w.ChainID,
			connection, w.Connection)
	}
	return next, nil
}

// AddEVMTransaction locks the sender, so that its nonces and what it may spend are decided one after the other.
func (db *DB) AddEVMTransaction(ctx context.Context, w ports.EVMWallet, t ports.EVMTransaction,
	limit *ports.EVMSpendingLimit) (stored ports.EVMTransaction, added ports.EVMAddition, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		next, err := tx.lockEVMWallet(ctx, w)
		if err != nil {
			return err
		}
		existing, err := tx.evmTransactions(ctx, `connection = $1 AND purpose = $2 AND subject = $3`, w.Connection, t.Purpose, t.Subject)
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
		if _, err := tx.Exec(ctx, `UPDATE evm_wallets SET next_nonce = $3 WHERE chain_id = $1 AND address = $2`, w.ChainID, w.Address,
			max(next, t.Nonce+1)); err != nil {
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
	departures, err := storage.LeaveRailPayments(ctx, q.Tx, t.Connection,
		[]ports.RailPaymentKey{{Platform: t.Platform, ID: t.Subject, Kind: kind}}, now)
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
	_, err = q.row(ctx, `SELECT NOT EXISTS (SELECT FROM evm_transactions WHERE connection = $1 AND sender = $2 AND nonce = $3)`,
		[]any{t.Connection, t.Sender, t.Nonce}, &free)
	return free, err
}

// isWithin reports whether the limit covers what later nonces of the sender spend, and the transaction. Some of them can be
// confirmed already, if the node that was asked lags behind.
func (q evmQuerier) isWithin(ctx context.Context, t ports.EVMTransaction, limit *ports.EVMSpendingLimit) (bool, error) {
	if limit == nil {
		return true, nil
	}
	var spent *big.Int
	if _, err := q.row(
		ctx, `SELECT coalesce(sum(amount), 0) FROM evm_transactions WHERE connection = $1 AND sender = $2 AND nonce >= $3 AND currency = $4 AND state IN ('PENDING', 'CONFIRMED')`,
		[]any{t.Connection, t.Sender, limit.FromNonce, t.Currency}, &spent); err != nil {
		return false, err
	}
	return new(big.Int).Add(spent, t.Amount).Cmp(limit.Available) <= 0, nil
}

// evmTransactionRows is the table evm_transactions. A transaction that is in no block has no hash, block and fee.
var evmTransactionRows = schema.New("evm_transactions", []string{"connection", "sender", "nonce"},
	func(t *ports.EVMTransaction) schema.Columns {
		return schema.Columns{
			{Name: "connection", Field: &t.Connection}, {Name: "sender", Field: &t.Sender}, {Name: "nonce", Field: &t.Nonce},
			{Name: "path", Type: "bigint[]", Field: schema.Converted(
				func() []uint32 { return append([]uint32{}, t.Path...) },
				func(path []uint32) error {
					t.Path = append(t.Path, path...)
					return nil
				})},
			{Name: "purpose", Field: &t.Purpose}, {Name: "subject", Field: schema.Optional(&t.Subject)},
			{Name: "platform_id", Field: &t.Platform},
			{Name: "target", Field: &t.To}, {Name: "value", Field: bigOrZero(&t.Value)}, {Name: "data", Field: &t.Data},
			{Name: "gas_limit", Field: &t.GasLimit},
			{Name: "recipient", Field: &t.Recipient}, {Name: "currency", Field: &t.Currency}, {Name: "amount", Field: bigOrZero(&t.Amount)},
			{Name: "state", Field: &t.State}, {Name: "settled", Field: &t.Settled}, {Name: "hash", Field: schema.Optional(&t.Hash)},
			{Name: "block_number", Field: schema.Optional(&t.Block.Number)}, {Name: "block_hash", Field: schema.Optional(&t.Block.Hash)},
			{Name: "fee", Field: &t.Fee}, {Name: "version", Field: &t.Version}, {Name: "created_at", Field: &t.CreatedAt},
			{Name: "updated_at", Field: &t.UpdatedAt},
		}
	})

// evmAttemptColumns are those of evm_attempts but its key: that of the transaction, and a number.
func evmAttemptColumns(a *ports.EVMAttempt) schema.Columns {
	return schema.Columns{
		{Name: "hash", Field: &a.Hash}, {Name: "raw", Field: &a.Raw}, {Name: "max_fee", Field: bigOrZero(&a.MaxFee)},
		{Name: "max_priority_fee", Field: bigOrZero(&a.MaxPriorityFee)}, {Name: "created_at", Field: &a.At},
	}
}

var insertEVMTransaction = evmTransactionRows.Insert("")

func (q evmQuerier) insertEVMTransaction(ctx context.Context, t ports.EVMTransaction) error {
	batch := &pgx.Batch{}
	batch.Queue(insertEVMTransaction.SQL, evmTransactionRows.Columns(&t).Fields()...)
	for number, a := range t.Attempts {
		queueEVMAttempt(batch, t, number, a)
	}
	return q.Send(ctx, batch)
}

func queueEVMAttempt(batch *pgx.Batch, t ports.EVMTransaction, number int, a ports.EVMAttempt) {
	columns := evmAttemptColumns(&a)
	batch.Queue(`INSERT INTO evm_attempts (connection, sender, nonce, number, `+columns.Names("")+
		`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		append([]any{t.Connection, t.Sender, t.Nonce, number}, columns.Fields()...)...)
}

// EVMTransactions uses evm_transaction_subject_unique.
func (db *DB) EVMTransactions(ctx context.Context, connection string, purpose ports.EVMPurpose,
	subjects []uuid.UUID) ([]ports.EVMTransaction, error) {
	return db.readEVMTransactions(ctx, `connection = $1 AND purpose = $2 AND subject = ANY($3::uuid[])`, connection, purpose, subjects)
}

// PendingEVMTransactions uses evm_transactions_pending.
func (db *DB) PendingEVMTransactions(ctx context.Context, connection string, sender ports.EVMAddress, nonce uint64,
	limit int) ([]ports.EVMTransaction, error) {
	return db.readEVMTransactions(ctx, `connection = $1 AND state = 'PENDING' AND (sender, nonce) > ($2, $3) ORDER BY sender, nonce LIMIT $4`,
		connection, sender, nonce, limit)
}

// ConcludedEVMTransactions uses evm_transactions_by_block.
func (db *DB) ConcludedEVMTransactions(ctx context.Context, connection string, after uint64, limit int) ([]ports.EVMTransaction, error) {
	return db.readEVMTransactions(ctx, `connection = $1 AND block_number > $2 ORDER BY block_number, sender, nonce LIMIT $3`,
		connection, after, limit)
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
	err = q.Read(ctx, `SELECT `+evmTransactionRows.Names("t")+`, `+evmAttemptColumns(new(ports.EVMAttempt)).Names("a")+`
		FROM (SELECT * FROM evm_transactions WHERE `+condition+
		`) t JOIN evm_attempts a ON a.connection = t.connection AND a.sender = t.sender AND a.nonce = t.nonce
		ORDER BY t.sender, t.nonce, a.number`, args, func(rows pgx.Rows) error {
		var t ports.EVMTransaction
		var a ports.EVMAttempt
		if err := rows.Scan(append(evmTransactionRows.Columns(&t), evmAttemptColumns(&a)...).Fields()...); err != nil {
			return err
		}
		if last := len(found) - 1; last >= 0 && found[last].Sender == t.Sender && found[last].Nonce == t.Nonce {
			found[last].Attempts = append(found[last].Attempts, a)
			return nil
		}
		t.Attempts = []ports.EVMAttempt{a}
		found = append(found, t)
		return nil
	})
	return found, err
}

// AddEVMAttempt uses the primary key.
func (db *DB) AddEVMAttempt(ctx context.Context, t ports.EVMTransaction, a ports.EVMAttempt) (added bool, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		n, err := tx.Exec(
			ctx, `UPDATE evm_transactions SET version = version + 1 WHERE connection = $1 AND sender = $2 AND nonce = $3 AND version = $4 AND state = 'PENDING'`,
			t.Connection, t.Sender, t.Nonce, t.Version)
		if err != nil || n == 0 {
			return err
		}
		added = true
		batch := &pgx.Batch{}
		queueEVMAttempt(batch, t, len(t.Attempts), a)
		return tx.Send(ctx, batch)
	})
	return added && err == nil, err
}

// ConcludeEVMTransaction uses the primary key. It locks the row of the connection first, as AdvanceEVMChain does.
func (db *DB) ConcludeEVMTransaction(ctx context.Context, t ports.EVMTransaction, c ports.EVMConclusion) (concluded bool, err error) {
	err = db.evmTx(ctx, func(ctx context.Context, tx evmQuerier) error {
		var total *big.Int
		var reported int64
		if _, err := tx.row(ctx, `SELECT fee_wei, fee_gwei FROM evm_chains WHERE connection = $1 FOR UPDATE`, []any{t.Connection}, &total,
			&reported); err != nil {
			return err
		}
		n, err := tx.Exec(
			ctx, `UPDATE evm_transactions SET state = $5, settled = settled OR (state = 'CONFIRMED' AND $5 = 'PENDING'), hash = $6, block_number = $7, block_hash = $8,
				fee = $9, version = version + 1, updated_at = $10
			WHERE connection = $1 AND sender = $2 AND nonce = $3 AND version = $4`,
			append([]any{t.Connection, t.Sender, t.Nonce, t.Version, c.State}, minedColumns(c)...)...)
		if err != nil || n == 0 {
			return err
		}
		concluded = true
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
		if _, err := tx.Exec(ctx, `UPDATE evm_chains SET fee_wei = $2, fee_gwei = $3 WHERE connection = $1`, t.Connection, total,
			reported); err != nil {
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
		return []any{nil, nil, nil, nil, c.At}
	}
	return []any{c.Hash, c.Block.Number, c.Block.Hash, c.Fee, c.At}
}

// conclusionEvents returns what is to be reported of a conclusion: the fees that were not reported yet, if there are
// any, a transfer that differs, and that there is news. What a vanished block had cost is taken off the next fees.
func conclusionEvents(t ports.EVMTransaction, c ports.EVMConclusion, gwei int64) (events []ports.EVMEvent) {
	if c.Fee != nil && gwei > 0 {
		events = append(events, ports.EVMEvent{Kind: ports.EVMFee, Platform: t.Platform,
			PartnerID: fmt.Sprintf("fee:0x%x:0x%x", c.Hash, c.Block.Hash[:8]),
			Amount:    money.Amount{Minor: gwei, Currency: c.Native}, At: c.At, Memo: fmt.Sprintf("%s 0x%x", t.Purpose, c.Hash)})
	}
	if c.Differs != nil {
		events = append(events, ports.EVMEvent{Kind: ports.EVMDiffers, Platform: t.Platform, PartnerID: fmt.Sprintf("0x%x", c.Hash),
			Subject: t.Subject, At: c.At,
			Amount: money.Amount{Currency: t.Currency}, Memo: string(t.Purpose), Transfer: *c.Differs})
	}
	if c.Changed {
		events = append(events, ports.EVMEvent{Kind: ports.EVMChanged, Platform: t.Platform, Subject: t.Subject, At: c.At})
	}
	return events
}
