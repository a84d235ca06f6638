package evm

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// NextNonce returns the nonce of the next transaction of a sender: at least the given one, which is that of the chain. A sender
// belongs to one connection of a chain. It uses the primary key.
func (s *Store) NextNonce(ctx context.Context, w Wallet, atLeast uint64) (nonce uint64, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		next, err := tx.lockWallet(ctx, w)
		nonce = max(next, atLeast)
		return err
	})
	return nonce, err
}

// lockWallet returns the next nonce of a sender, which stays until the transaction ends.
func (q querier) lockWallet(ctx context.Context, w Wallet) (uint64, error) {
	connection, next, err := q.lockRow(ctx, w)
	switch {
	case err != nil || connection == w.Connection:
		return next, err
	case w.Embedded:
		return next, q.takeOver(ctx, w, connection)
	}
	return 0, fmt.Errorf("the wallet 0x%x on chain %d belongs to the connection %s; give %s a seed of its own", w.Address, w.ChainID,
		connection, w.Connection)
}

// lockRow returns the connection and the next nonce of a sender.
func (q querier) lockRow(ctx context.Context, w Wallet) (connection string, next uint64, err error) {
	if _, err := q.Exec(
		ctx, `INSERT INTO evm_wallets (chain_id, address, connection, next_nonce) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`,
		w.ChainID, w.Address, w.Connection); err != nil {
		return "", 0, err
	}
	_, err = q.row(ctx, `SELECT connection, next_nonce FROM evm_wallets WHERE chain_id = $1 AND address = $2 FOR UPDATE`,
		[]any{w.ChainID, w.Address}, &connection, &next)
	return connection, next, err
}

// AddTransaction stores a transaction with its first attempt, with which a payout or refund has left. It returns Added, or why it
// did nothing: the one that the same purpose and subject have already, a nonce that is taken, too little money, or a payment that
// may not leave. It locks the sender, so that its nonces and what it may spend are decided one after the other.
func (s *Store) AddTransaction(ctx context.Context, w Wallet, t Transaction,
	limit *SpendingLimit) (stored Transaction, added Addition, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		next, err := tx.lockWallet(ctx, w)
		if err != nil {
			return err
		}
		existing, err := tx.existing(ctx, w, t)
		switch {
		case err != nil:
			return err
		case len(existing) > 0:
			stored, added = existing[0], Exists
			return nil
		}
		if free, err := tx.isFreeNonce(ctx, t, next); err != nil || !free {
			added = NonceTaken
			return err
		}
		if t.needsTurn() {
			if has, err := tx.hasTurn(ctx, w, t, s.db.Now()); err != nil || !has {
				added = NoTurn
				return err
			}
		}
		if enough, err := tx.isWithin(ctx, t, limit); err != nil || !enough {
			added = TooLittle
			return err
		}
		if added, err = tx.leave(ctx, w, t, s.db.Now()); err != nil || added != Added {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE evm_wallets SET next_nonce = $3 WHERE chain_id = $1 AND address = $2`, w.ChainID, w.Address,
			max(next, t.Nonce+1)); err != nil {
			return err
		}
		stored = t
		return tx.insertTransaction(ctx, t)
	})
	return stored, added, err
}

// existing returns the transaction that the purpose and subject of one have already. A payment of an embedded wallet can have one of the
// connection of wallets before this one: that is the payment too. It uses evm_transaction_subject_unique.
func (q querier) existing(ctx context.Context, w Wallet, t Transaction) ([]Transaction, error) {
	if !t.isOfWallet() {
		return q.transactions(ctx, `connection = $1 AND purpose = $2 AND subject = $3`, w.Connection, t.Purpose, t.Subject)
	}
	if _, err := q.Exec(ctx, `SELECT pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 20))`, t.Subject); err != nil {
		return nil, err
	}
	return q.ofAnyConnection(ctx, w.Connection, t.Purpose, t.Subject)
}

// ofAnyConnection returns the transactions of a purpose and subject, that of a connection first.
func (q querier) ofAnyConnection(ctx context.Context, connection string, purpose Purpose, subject uuid.UUID) ([]Transaction, error) {
	const condition = `connection = ANY($1::text || ARRAY(SELECT c.connection FROM evm_chains c)) AND purpose = $2 AND subject = $3`
	found, err := q.transactions(ctx, condition, connection, purpose, subject)
	if own := slices.IndexFunc(found, func(f Transaction) bool { return f.Connection == connection }); own > 0 {
		found[0], found[own] = found[own], found[0]
	}
	return found, err
}

// OfAnyConnection returns the transactions of a purpose and subject, that of a connection first. There is at most one of a payment from or
// to an embedded wallet. It uses evm_transaction_subject_unique.
func (s *Store) OfAnyConnection(ctx context.Context, connection string, purpose Purpose,
	subject uuid.UUID) (found []Transaction, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) (err error) {
		found, err = tx.ofAnyConnection(ctx, connection, purpose, subject)
		return err
	})
	return found, err
}

// paymentKinds are the payments of connections that transactions are for; the others move nothing of a customer.
var paymentKinds = map[Purpose]rail.Kind{Payout: rail.Payout, Refund: rail.Refund}

// leave asks whether the payment of a transaction may leave, and returns Added if so.
func (q querier) leave(ctx context.Context, w Wallet, t Transaction, now time.Time) (Addition, error) {
	kind, isPayment := paymentKinds[t.Purpose]
	switch {
	case t.isAtWallet():
		paused, err := storage.AnyPaused(ctx, q.Tx, w.Connection, string(w.Rail))
		if err == nil && !paused { // a process may not know yet that it is deleted
			paused, err = storage.IsDeleted(ctx, q.Tx, w.Connection)
		}
		if err != nil || paused {
			return Held, err
		}
		return Added, nil
	case !isPayment:
		return Added, nil
	}
	departures, err := storage.LeaveRailPayments(ctx, q.Tx, t.Connection,
		[]ports.RailPaymentKey{{Platform: t.Platform, ID: t.Subject, Kind: kind}}, now)
	switch {
	case err != nil:
		return "", err
	case departures[0].MayBeSent():
		return Added, nil
	case departures[0].IsHeld():
		return Held, nil
	}
	return Withdrawn, nil
}

// isFreeNonce reports whether a transaction may have its nonce: a later one than all, or one to be filled that none has.
func (q querier) isFreeNonce(ctx context.Context, t Transaction, next uint64) (free bool, err error) {
	if t.Purpose != Fill || t.Nonce >= next {
		return t.Nonce >= next, nil
	}
	_, err = q.row(ctx, `SELECT NOT EXISTS (SELECT FROM evm_transactions WHERE connection = $1 AND sender = $2 AND nonce = $3)`,
		[]any{t.Connection, t.Sender, t.Nonce}, &free)
	return free, err
}

// isWithin reports whether the limit covers what later nonces of the sender spend, and the transaction. Some of them can be
// confirmed already, if the node that was asked lags behind.
func (q querier) isWithin(ctx context.Context, t Transaction, limit *SpendingLimit) (bool, error) {
	if limit == nil {
		return true, nil
	}
	var spent *big.Int
	if _, err := q.row(
		ctx, `SELECT coalesce(sum(amount), 0) FROM evm_transactions WHERE connection = $1 AND sender = $2 AND nonce >= $3 AND currency = $4 AND state IN ('PENDING', 'CONFIRMED') AND purpose <> 'WALLET_DEBIT'`,
		[]any{t.Connection, t.Sender, limit.FromNonce, t.Currency}, &spent); err != nil {
		return false, err
	}
	return new(big.Int).Add(spent, t.Amount).Cmp(limit.Available) <= 0, nil
}

// transactionTable is the table evm_transactions. A transaction that is in no block has no hash, block and fee.
var transactionTable = schema.New("evm_transactions", []string{"connection", "sender", "nonce"},
	func(t *Transaction) schema.Columns {
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

// attemptColumns are those of evm_attempts but its key: that of the transaction, and a number.
func attemptColumns(a *Attempt) schema.Columns {
	return schema.Columns{
		{Name: "hash", Field: &a.Hash}, {Name: "raw", Field: &a.Raw}, {Name: "max_fee", Field: bigOrZero(&a.MaxFee)},
		{Name: "max_priority_fee", Field: bigOrZero(&a.MaxPriorityFee)}, {Name: "created_at", Field: &a.At},
	}
}

var insertTransaction = transactionTable.Insert("")

func (q querier) insertTransaction(ctx context.Context, t Transaction) error {
	batch := &pgx.Batch{}
	batch.Queue(insertTransaction.SQL, transactionTable.Columns(&t).Fields()...)
	for number, a := range t.Attempts {
		queueAttempt(batch, t, number, a)
	}
	return q.Send(ctx, batch)
}

func queueAttempt(batch *pgx.Batch, t Transaction, number int, a Attempt) {
	columns := attemptColumns(&a)
	batch.Queue(`INSERT INTO evm_attempts (connection, sender, nonce, number, `+columns.Names("")+
		`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		append([]any{t.Connection, t.Sender, t.Nonce, number}, columns.Fields()...)...)
}

// Transactions returns those of the subjects, in no order. It uses evm_transaction_subject_unique.
func (s *Store) Transactions(ctx context.Context, connection string, purpose Purpose,
	subjects []uuid.UUID) ([]Transaction, error) {
	return s.readTransactions(ctx, `connection = $1 AND purpose = $2 AND subject = ANY($3::uuid[])`, connection, purpose, subjects)
}

// PendingTransactions returns those that are not concluded after a sender and a nonce, in their order, at most limit. It uses
// evm_transactions_pending.
func (s *Store) PendingTransactions(ctx context.Context, connection string, sender eth.Address, nonce uint64,
	limit int) ([]Transaction, error) {
	return s.readTransactions(ctx, `connection = $1 AND state = 'PENDING' AND (sender, nonce) > ($2, $3) ORDER BY sender, nonce LIMIT $4`,
		connection, sender, nonce, limit)
}

// ConcludedTransactions returns those that were concluded by a block after one, at most limit. It uses evm_transactions_by_block.
func (s *Store) ConcludedTransactions(ctx context.Context, connection string, after uint64, limit int) ([]Transaction, error) {
	return s.readTransactions(ctx, `connection = $1 AND block_number > $2 ORDER BY block_number, sender, nonce LIMIT $3`,
		connection, after, limit)
}

// storedHashes uses evm_transactions_pending, evm_transactions_by_block and the primary key of the attempts.
const storedHashes = `
	SELECT a.hash FROM (
		SELECT sender, nonce FROM evm_transactions WHERE connection = $1 AND state = 'PENDING'
		UNION ALL
		SELECT sender, nonce FROM evm_transactions WHERE connection = $1 AND block_number BETWEEN $2 AND $3) t
	JOIN evm_attempts a ON a.connection = $1 AND a.sender = t.sender AND a.nonce = t.nonce WHERE a.hash = ANY($4::bytea[])`

// StoredHashes returns those of the hashes, of transactions in a range of blocks, that attempts have: of transactions that are not
// concluded, or were by a block of the range.
func (s *Store) StoredHashes(ctx context.Context, connection string, blocks Range, hashes []eth.Hash) (stored []eth.Hash, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		stored, err = storage.Collect(ctx, tx.Read, storedHashes, []any{connection, blocks.From, blocks.To, hashes},
			func(rows pgx.Rows, h *eth.Hash) error { return rows.Scan(h) })
		return err
	})
	return stored, err
}

// unknownTransfers uses the primary key.
const unknownTransfers = `
	SELECT w.n FROM unnest($2::bytea[], $3::bytea[], $4::text[], $5::bigint[], $6::timestamptz[]) WITH ORDINALITY w (sender, recipient, currency, amount, made, n)
	WHERE EXISTS (SELECT FROM evm_events e WHERE e.connection = $1 AND e.payer = w.recipient AND e.currency = w.currency AND e.amount = w.amount AND e.at >= w.made
		AND (e.kind = 'UNKNOWN' OR e.kind = 'MOVED' AND e.subject = (SELECT a.account_id FROM evm_addresses a WHERE a.connection = $1 AND a.address = w.sender)))`

// UnknownTransfers returns which of some transactions were to transfer what has left without a record since their payments were made, or a
// little before by another clock.
func (s *Store) UnknownTransfers(ctx context.Context, connection string, wanted []WantedTransfer) (found []bool, err error) {
	senders, recipients := make([]eth.Address, len(wanted)), make([]eth.Address, len(wanted))
	currencies, amounts, made := make([]money.Currency, len(wanted)), make([]int64, len(wanted)), make([]time.Time, len(wanted))
	for i, w := range wanted {
		senders[i], recipients[i], currencies[i] = w.payer(), w.Recipient, w.Currency
		amounts[i], made[i] = amountOf(w.Amount, w.Currency).Minor, w.Made.Add(-outOfStep)
	}
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		numbers, err := storage.Collect(ctx, tx.Read, unknownTransfers, []any{connection, senders, recipients, currencies, amounts, made},
			func(rows pgx.Rows, n *int) error { return rows.Scan(n) })
		found = make([]bool, len(wanted))
		for _, n := range numbers {
			found[n-1] = true
		}
		return err
	})
	return found, err
}

// KnowsNonces reports whether transactions are stored with all nonces of a sender that are used in blocks after a position, which were not
// read yet, and before the next one of the chain. It uses the primary key.
func (s *Store) KnowsNonces(ctx context.Context, connection string, sender eth.Address, position, next uint64) (known bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		_, err := tx.row(ctx, `SELECT count(t.nonce) = $4::bigint - r.first FROM (
				SELECT coalesce(max(nonce) + 1, 0) AS first FROM (
					SELECT nonce FROM evm_transactions WHERE connection = $1 AND sender = $2 AND nonce < $4 AND block_number <= $3 ORDER BY nonce DESC LIMIT 1) l) r
			LEFT JOIN evm_transactions t ON t.connection = $1 AND t.sender = $2 AND t.nonce >= r.first AND t.nonce < $4 AND t.state <> 'LOST'
			GROUP BY r.first`, []any{connection, sender, position, next}, &known)
		return err
	})
	return known, err
}

// madeAt returns when the payment of an id was made, or what its id was derived from; zero if the id does not say.
func madeAt(id uuid.UUID) (at time.Time) {
	const timeOrdered, derivedWithTime = 7, 8
	switch id.Version() {
	case derivedWithTime: // as of transaction.CounterpartID
		id[6] = id[6]&0x0f | timeOrdered<<4
		fallthrough
	case timeOrdered:
		at = time.Unix(id.Time().UnixTime())
	default:
	}
	return at
}

// earlier returns the earlier one of two times, of those that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (s *Store) readTransactions(ctx context.Context, condition string, args ...any) (found []Transaction, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) (err error) {
		found, err = tx.transactions(ctx, condition, args...)
		return err
	})
	return found, err
}

// transactions reads transactions with their attempts, oldest first.
func (q querier) transactions(ctx context.Context, condition string, args ...any) (found []Transaction, err error) {
	err = q.Read(ctx, `SELECT `+transactionTable.Names("t")+`, `+attemptColumns(new(Attempt)).Names("a")+`
		FROM (SELECT * FROM evm_transactions WHERE `+condition+
		`) t JOIN evm_attempts a ON a.connection = t.connection AND a.sender = t.sender AND a.nonce = t.nonce
		ORDER BY t.sender, t.nonce, t.connection, a.number`, args, func(rows pgx.Rows) error {
		var t Transaction
		var a Attempt
		if err := rows.Scan(append(transactionTable.Columns(&t), attemptColumns(&a)...).Fields()...); err != nil {
			return err
		}
		if last := len(found) - 1; last >= 0 && found[last].Connection == t.Connection && found[last].Sender == t.Sender &&
			found[last].Nonce == t.Nonce {
			found[last].Attempts = append(found[last].Attempts, a)
			return nil
		}
		t.Attempts = []Attempt{a}
		found = append(found, t)
		return nil
	})
	return found, err
}

// AddAttempt stores another signed version. It returns false if the transaction has changed. It uses the primary key.
func (s *Store) AddAttempt(ctx context.Context, t Transaction, a Attempt) (added bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
		n, err := tx.Exec(
			ctx, `UPDATE evm_transactions SET version = version + 1 WHERE connection = $1 AND sender = $2 AND nonce = $3 AND version = $4 AND state = 'PENDING'`,
			t.Connection, t.Sender, t.Nonce, t.Version)
		if err != nil || n == 0 {
			return err
		}
		added = true
		batch := &pgx.Batch{}
		queueAttempt(batch, t, len(t.Attempts), a)
		return tx.Send(ctx, batch)
	})
	return added && err == nil, err
}

// Conclude stores how a transaction has ended or, if the state is Pending, that its block vanished. It returns false if the
// transaction has changed. It uses the primary key. It locks the row of the connection first, as Advance does.
func (s *Store) Conclude(ctx context.Context, t Transaction, c Conclusion) (concluded bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx querier) error {
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
		if err := tx.changeHoldings(ctx, t.Connection, c.Holdings); err != nil {
			return err
		}
		return tx.addEvents(ctx, t.Connection, events, c.At)
	})
	return concluded && err == nil, err
}

var weiPerGwei = big.NewInt(1_000_000_000)

// minedColumns are the columns of a transaction that is in a block, or NULL for one that is not.
func minedColumns(c Conclusion) []any {
	if c.Fee == nil {
		return []any{nil, nil, nil, nil, c.At}
	}
	return []any{c.Hash, c.Block.Number, c.Block.Hash, c.Fee, c.At}
}

// conclusionEvents returns what is to be reported of a conclusion: the fees that were not reported yet, if there are
// any, a transfer that differs, and that there is news. What a vanished block had cost is taken off the next fees.
func conclusionEvents(t Transaction, c Conclusion, gwei int64) (events []Event) {
	if c.Fee != nil && gwei > 0 {
		events = append(events, Event{Kind: Fee, Platform: t.Platform,
			PartnerID: fmt.Sprintf("fee:0x%x:0x%x", c.Hash, c.Block.Hash[:8]),
			Amount:    money.Amount{Minor: gwei, Currency: c.Native}, At: c.At, Memo: fmt.Sprintf("%s 0x%x", t.Purpose, c.Hash)})
	}
	if c.Differs != nil {
		events = append(events, Event{Kind: Differs, Platform: t.Platform, PartnerID: fmt.Sprintf("0x%x", c.Hash),
			Subject: t.Subject, At: c.At,
			Amount: money.Amount{Currency: t.Currency}, Memo: string(t.Purpose), Transfer: *c.Differs})
	}
	if t.Settled && t.isOfWallet() && (c.State == Reverted || c.State == Lost) {
		undone := Event{Kind: Undone, Platform: t.Platform, PartnerID: "undone:" + t.Subject.String(), Subject: t.Subject,
			Amount: amountOf(t.Amount, t.Currency), Payer: t.payer(), At: c.At, Memo: string(t.Purpose)}
		if isMadeAgain(t.Subject) {
			undone.Reference = eth.FormatAddress(t.Recipient)
		}
		events = append(events, undone)
	}
	if c.Changed {
		events = append(events, Event{Kind: Changed, Platform: t.Platform, Subject: t.Subject, At: c.At})
	}
	return events
}
