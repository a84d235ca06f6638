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

// stateColumns are what standing reads, of transactions t.
const stateColumns = `t.id, t.status, t.refund_status, t.stage, t.failure_reason, t.direction,
	t.source_internal IS NOT NULL, t.source_external IS NOT NULL, t.destination_internal IS NOT NULL,
	t.sent_currency <> t.received_currency`

// stateRow is where a transaction stands, and by which way.
type stateRow struct {
	id    uuid.UUID
	state transaction.State
	shape transaction.Flow
}

func scanState(rows pgx.Rows, more ...any) (stateRow, error) {
	var s stateRow
	var balance, pull bool
	err := rows.Scan(append([]any{&s.id, &s.state.Status, &s.state.Refund, &s.state.Stage, &s.state.Reason, &s.shape.Type,
		&balance, &pull, &s.shape.Internal, &s.shape.Converts}, more...)...)
	switch {
	case balance:
		s.shape.Funding = transaction.Balance
	case pull:
		s.shape.Funding = transaction.Pull
	default:
		s.shape.Funding = transaction.JustInTime
	}
	return s, err
}

// readStates uses the primary key of transactions.
const readStates = `
	SELECT ` + stateColumns + `
	FROM unnest($2::uuid[]) AS k(id) JOIN transactions t ON t.platform_id = $1 AND t.id = k.id`

var errNoTransaction = errors.New("has postings, and is not there")

// CheckTransactionStates holds what was posted for transactions of a platform against their present
// states: nil, or what is wrong, for each.
func (db *DB) CheckTransactionStates(ctx context.Context, platform ident.Platform, stories []ports.TransactionKinds) ([]error, error) {
	ids := make([]uuid.UUID, len(stories))
	for i, s := range stories {
		ids[i] = s.Transaction.UUID()
	}
	standings := make(map[uuid.UUID]stateRow, len(stories))
	rows, err := db.pool.Query(ctx, readStates, pgx.QueryExecModeCacheStatement, platform.UUID(), ids)
	if err != nil {
		return nil, err
	}
	if err := forEachRow(rows, func(rows pgx.Rows) error {
		found, err := scanState(rows)
		standings[found.id] = found
		return err
	}); err != nil {
		return nil, fmt.Errorf("read the states of transactions: %w", err)
	}
	wrong := make([]error, len(stories))
	for i, s := range stories {
		if found, ok := standings[s.Transaction.UUID()]; ok {
			wrong[i] = found.shape.CheckKinds(found.state, s.Kinds)
		} else {
			wrong[i] = errNoTransaction
		}
	}
	return wrong, nil
}

// readPostedFlags uses the primary key of transactions and, for each of the step, on
// ledger_postings_by_transaction. State and postings are those of one moment.
const readPostedFlags = `
	SELECT ` + stateColumns + `, t.platform_id,
		EXISTS (SELECT FROM ledger_postings p WHERE p.platform_id = t.platform_id AND p.transaction_id = t.id)
	FROM transactions t WHERE (t.platform_id, t.id) > ($1, $2)
	ORDER BY t.platform_id, t.id LIMIT $3`

// EachTransactionWithoutPostings goes through every transaction for which nothing was posted, step by step.
func (db *DB) EachTransactionWithoutPostings(ctx context.Context, visit func(ports.TransactionKey, transaction.Flow, transaction.State) error) error {
	const step = 1000
	var platform, id uuid.UUID
	for {
		n := 0
		rows, err := db.pool.Query(ctx, readPostedFlags, pgx.QueryExecModeCacheStatement, platform, id, step)
		if err != nil {
			return err
		}
		err = forEachRow(rows, func(rows pgx.Rows) error {
			n++
			var posted bool
			found, err := scanState(rows, &platform, &posted)
			if id = found.id; err != nil || posted {
				return err
			}
			var key ports.TransactionKey
			ident.SetUUID(&key.Platform, platform)
			ident.SetUUID(&key.ID, id)
			return visit(key, found.shape, found.state)
		})
		if err != nil {
			return fmt.Errorf("read transactions that nothing was posted for: %w", err)
		}
		if n < step {
			return nil
		}
	}
}

// readPlatformOfTransaction uses the primary key of transactions, once for each platform: only
// people ask this.
const readPlatformOfTransaction = `
	SELECT p.id FROM platforms p
	WHERE EXISTS (SELECT FROM transactions t WHERE t.platform_id = p.id AND t.id = $1)`

// PlatformOfTransaction finds the platform of a transaction, or answers TRANSACTION_NOT_FOUND.
func (db *DB) PlatformOfTransaction(ctx context.Context, id ident.Transaction) (ident.Platform, error) {
	var found uuid.UUID
	err := db.pool.QueryRow(ctx, readPlatformOfTransaction, pgx.QueryExecModeCacheStatement, id.UUID()).Scan(&found)
	if isNoRows(err) {
		err = fault.New(fault.TransactionNotFound, "There is no %s here. Check the id, and whether this is the right database.", id)
	}
	var owner ident.Platform
	ident.SetUUID(&owner, found)
	return owner, err
}
