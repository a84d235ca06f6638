package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/storage"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ledger"
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

// evidenceColumns are the columns that scanEvidence reads: of a transaction, without what is long or sealed, and
// of its quote, its accounts and its receipt.
var evidenceColumns = strings.NewReplacer("coalesce(c.platform_customer_id, '')", "''", "q.instructions", "''", "q.description", "''",
	"t.details", "''").Replace(transactionColumns) + `,
	q.id IS NOT NULL, c.deleted_at IS NOT NULL, coalesce(c.region, ''), ` + payersOfPlatform.Names("p") + `, fi.id, fi.customer_id,
		fi.account_type, fi.currency, ti.id, ti.customer_id, ti.account_type, ti.currency,
	fe.id, fe.customer_id, te.id, te.customer_id, r.id, r.rail, r.reference, r.currency, r.amount, r.received_at,
	CASE WHEN t.refund_status = 'COMPLETED' AND t.source_internal IS NULL THEN ARRAY(SELECT a.id FROM internal_accounts a
		WHERE a.platform_id = t.platform_id AND ` + strings.ReplaceAll(internalOwner, "customer_id", "a.customer_id") + ` = ` +
	strings.ReplaceAll(internalOwner, "customer_id", "t.customer_id") + `
		AND a.currency = CASE WHEN t.funded_minor > 0 THEN t.funded_currency ELSE t.sent_currency END) END`

// readEvidence uses the primary keys and, for a refund, internal_account_owner_currency_type_unique.
var readEvidence = `
	SELECT ` + evidenceColumns + `
	FROM unnest($2::uuid[]) AS k(id) JOIN transactions t ON t.platform_id = $1 AND t.id = k.id
	JOIN platforms p ON p.id = t.platform_id
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id
	LEFT JOIN internal_accounts fi ON fi.platform_id = t.platform_id AND fi.id = t.source_internal
	LEFT JOIN internal_accounts ti ON ti.platform_id = t.platform_id AND ti.id = t.destination_internal
	LEFT JOIN external_accounts fe ON fe.platform_id = t.platform_id AND fe.id = t.source_external
	LEFT JOIN external_accounts te ON te.platform_id = t.platform_id AND te.id = t.destination_external
	LEFT JOIN receipts r ON r.platform_id = t.platform_id AND r.id = t.receipt_id`

var errNoTransaction = errors.New("has postings but does not exist")

// CheckTransactions compares the postings of transactions with the transactions as they are now. It
// returns nil or an error for each.
func (db *DB) CheckTransactions(ctx context.Context, of ident.Platform, transactions []ports.PostedTransaction) ([]error, error) {
	ids, positions := make([]uuid.UUID, len(transactions)), make(map[ident.Transaction]int, len(transactions))
	errs := make([]error, len(transactions))
	for i, t := range transactions {
		ids[i], errs[i] = t.Transaction.UUID(), errNoTransaction
		positions[t.Transaction] = i
	}
	authorized, err := authorizationsOf(ctx, db, db.read, of, ids...)
	if err != nil {
		return nil, err
	}
	authorizations := map[ident.Transaction][]transaction.PaymentAuthorization{}
	for _, a := range authorized {
		authorizations[a.Transaction] = append(authorizations[a.Transaction], a)
	}
	rows, err := db.pool.Query(ctx, readEvidence, pgx.QueryExecModeCacheStatement, of.UUID(), ids)
	if err != nil {
		return nil, err
	}
	if err := storage.ForEachRow(rows, func(rows pgx.Rows) error {
		t, evidence, err := scanEvidence(ctx, db, rows)
		if err != nil {
			return err
		}
		i := positions[t.ID]
		evidence.Posted, evidence.Authorizations = transactions[i].Postings, authorizations[t.ID]
		errs[i] = t.CheckEvidence(evidence)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read transactions: %w", err)
	}
	return errs, nil
}

// evidenceAccount holds the columns of a LEFT JOIN with internal or external accounts.
type evidenceAccount struct {
	id, owner      pgtype.UUID
	kind, currency pgtype.Text
}

func (a evidenceAccount) internal() *account.Internal {
	if !a.id.Valid {
		return nil
	}
	found := &account.Internal{Type: account.InternalType(a.kind.String), Currency: money.Currency(a.currency.String)}
	found.ID.SetUUID(a.id.Bytes)
	found.Customer.SetUUID(a.owner.Bytes)
	return found
}

func (a evidenceAccount) external() *account.External {
	if !a.id.Valid {
		return nil
	}
	found := &account.External{}
	found.ID.SetUUID(a.id.Bytes)
	found.Customer.SetUUID(a.owner.Bytes)
	return found
}

func scanEvidence(ctx context.Context, db *DB, rows pgx.Rows) (t transaction.Transaction, e transaction.Evidence, err error) {
	var fromInternal, toInternal, fromExternal, toExternal evidenceAccount
	var receipt pgtype.UUID
	var rail, reference, currency pgtype.Text
	var amount pgtype.Int8
	var received pgtype.Timestamptz
	var refundAccounts []uuid.UUID
	var region string
	var on platform.Platform
	t, err = scanTransaction(ctx, db, rows, slices.Concat([]any{&e.HasQuote, &e.CustomerDeleted, &region},
		payersOfPlatform.Columns(&on).Fields(),
		[]any{&fromInternal.id, &fromInternal.owner, &fromInternal.kind, &fromInternal.currency, &toInternal.id, &toInternal.owner,
			&toInternal.kind, &toInternal.currency,
			&fromExternal.id, &fromExternal.owner, &toExternal.id, &toExternal.owner, &receipt, &rail, &reference, &currency, &amount,
			&received, &refundAccounts})...)
	if on.ProtectsPayments(region) {
		e.ProtectedSince = on.SCAPaymentsSince
	}
	e.FromInternal, e.ToInternal, e.FromExternal, e.ToExternal = fromInternal.internal(), toInternal.internal(), fromExternal.external(),
		toExternal.external()
	if receipt.Valid {
		e.Receipt = &transaction.Receipt{Platform: t.Platform, Rail: corridor.Rail(rail.String), Reference: reference.String,
			Amount: money.Amount{Minor: amount.Int64, Currency: money.Currency(currency.String)}, At: received.Time.UTC()}
		e.Receipt.ID.SetUUID(receipt.Bytes)
	}
	for _, id := range refundAccounts {
		var opened ident.InternalAccount
		opened.SetUUID(id)
		e.RefundAccounts = append(e.RefundAccounts, ledger.InternalAccount(opened, t.Customer, false))
	}
	return t, e, err
}

// readPostedFlags uses the primary key of transactions and, for each row,
// ledger_postings_by_transaction. State and postings are read in one snapshot.
const readPostedFlags = `
	SELECT ` + stateColumns + `, t.platform_id,
		EXISTS (SELECT FROM ledger_postings p WHERE p.platform_id = t.platform_id AND p.transaction_id = t.id)
	FROM transactions t WHERE (t.platform_id, t.id) > ($1, $2) AND t.platform_id <= $4
	ORDER BY t.platform_id, t.id LIMIT $3`

// EachTransactionWithoutPostings calls visit for every transaction without postings, of one platform or,
// if it is zero, of all. It reads in batches.
func (db *DB) EachTransactionWithoutPostings(ctx context.Context, of ident.Platform, visit func(ports.TransactionKey, transaction.Flow,
	transaction.State) error) error {
	const batchSize = 1000
	var id uuid.UUID
	platform, lastPlatform := platformRange(of)
	for {
		n := 0
		rows, err := db.pool.Query(ctx, readPostedFlags, pgx.QueryExecModeCacheStatement, platform, id, batchSize, lastPlatform)
		if err != nil {
			return err
		}
		err = storage.ForEachRow(rows, func(rows pgx.Rows) error {
			n++
			var posted bool
			row, err := scanState(rows, &platform, &posted)
			if id = row.id; err != nil || posted {
				return err
			}
			var key ports.TransactionKey
			key.Platform.SetUUID(platform)
			key.ID.SetUUID(id)
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
	owner.SetUUID(platform)
	return owner, err
}
