package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// stateColumns are the columns that scanState reads, of transactions t.
const stateColumns = `t.id, t.status, t.refund_status, t.stage, t.failure_reason, t.direction,
	t.source_account LIKE 'wallets/%', t.source_internal IS NOT NULL, t.source_external IS NOT NULL,
	t.destination_internal IS NOT NULL AND t.destination_rail = '', t.destination_internal IS NOT NULL AND t.destination_rail <> '',
	t.sent_currency <> t.received_currency`

// stateRow is the state of a transaction and its flow.
type stateRow struct {
	id    uuid.UUID
	state transaction.State
	flow  transaction.Flow
}

func scanState(rows pgx.Rows, more ...any) (stateRow, error) {
	var s stateRow
	var wallet, balance, pull bool
	err := rows.Scan(append([]any{&s.id, &s.state.Status, &s.state.Refund, &s.state.Stage, &s.state.Reason, &s.flow.Type,
		&wallet, &balance, &pull, &s.flow.Internal, &s.flow.ToWallet, &s.flow.Converts}, more...)...)
	switch {
	case wallet:
		s.flow.Funding = transaction.Wallet
	case balance:
		s.flow.Funding = transaction.Balance
	case pull:
		s.flow.Funding = transaction.Pull
	default:
		s.flow.Funding = transaction.JustInTime
	}
	return s, err
}

// readStates uses the primary key of transactions.
const readStates = `
	SELECT ` + stateColumns + `
	FROM unnest($2::uuid[]) AS k(id) JOIN transactions t ON t.platform_id = $1 AND t.id = k.id`

var errNoTransaction = errors.New("has postings but does not exist")

// CheckTransactionStates compares the postings of transactions with their current states. It
// returns nil or an error for each.
func (db *DB) CheckTransactionStates(ctx context.Context, platform ident.Platform, transactions []ports.TransactionKinds) ([]error, error) {
	ids := make([]uuid.UUID, len(transactions))
	for i, s := range transactions {
		ids[i] = s.Transaction.UUID()
	}
	states := make(map[uuid.UUID]stateRow, len(transactions))
	rows, err := db.pool.Query(ctx, readStates, pgx.QueryExecModeCacheStatement, platform.UUID(), ids)
	if err != nil {
		return nil, err
	}
	if err := forEachRow(rows, func(rows pgx.Rows) error {
		row, err := scanState(rows)
		states[row.id] = row
		return err
	}); err != nil {
		return nil, fmt.Errorf("read the states of transactions: %w", err)
	}
	errs := make([]error, len(transactions))
	for i, s := range transactions {
		if row, ok := states[s.Transaction.UUID()]; ok {
			errs[i] = row.flow.CheckKinds(row.state, s.Kinds)
		} else {
			errs[i] = errNoTransaction
		}
	}
	return errs, nil
}

// readPostedFlags uses the primary key of transactions and, for each row,
// ledger_postings_by_transaction. State and postings are read in one snapshot.
const readPostedFlags = `
	SELECT ` + stateColumns + `, t.platform_id,
		EXISTS (SELECT FROM ledger_postings p WHERE p.platform_id = t.platform_id AND p.transaction_id = t.id)
	FROM transactions t WHERE (t.platform_id, t.id) > ($1, $2)
	ORDER BY t.platform_id, t.id LIMIT $3`

// EachTransactionWithoutPostings calls visit for every transaction without postings. It reads in
// batches.
func (db *DB) EachTransactionWithoutPostings(ctx context.Context, visit func(ports.TransactionKey, transaction.Flow, transaction.State) error) error {
	const batchSize = 1000
	var platform, id uuid.UUID
	for {
		n := 0
		rows, err := db.pool.Query(ctx, readPostedFlags, pgx.QueryExecModeCacheStatement, platform, id, batchSize)
		if err != nil {
			return err
		}
		err = forEachRow(rows, func(rows pgx.Rows) error {
			n++
			var posted bool
			row, err := scanState(rows, &platform, &posted)
			if id = row.id; err != nil || posted {
				return err
			}
			var key ports.TransactionKey
			ident.SetUUID(&key.Platform, platform)
			ident.SetUUID(&key.ID, id)
			return visit(key, row.flow, row.state)
		})
		if err != nil {
			return fmt.Errorf("read transactions without postings: %w", err)
		}
		if n < batchSize {
			return nil
		}
	}
}

// readPlatformOfTransaction uses the primary key of transactions, once for each platform;
// the query is rare.
const readPlatformOfTransaction = `
	SELECT p.id FROM platforms p
	WHERE EXISTS (SELECT FROM transactions t WHERE t.platform_id = p.id AND t.id = $1)`

// PlatformOfTransaction finds the platform of a transaction, or returns TRANSACTION_NOT_FOUND.
func (db *DB) PlatformOfTransaction(ctx context.Context, id ident.Transaction) (ident.Platform, error) {
	var platform uuid.UUID
	err := db.pool.QueryRow(ctx, readPlatformOfTransaction, pgx.QueryExecModeCacheStatement, id.UUID()).Scan(&platform)
	if isNoRows(err) {
		err = fault.New(fault.TransactionNotFound, "This database has no %s. Check the id and the database URL.", id)
	}
	var owner ident.Platform
	ident.SetUUID(&owner, platform)
	return owner, err
}
