package postgres

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// insertReceipts uses the primary key.
const insertReceipts = `
	INSERT INTO receipts (platform_id, id, rail, partner_id, reference, currency, amount, received_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::timestamptz[])
	ON CONFLICT (platform_id, id) DO NOTHING
	RETURNING id`

// lockTransactionsByReference finds transactions by quote_reference_unique and locks them in the
// order of their keys, so that two batches cannot deadlock.
const lockTransactionsByReference = `
	WITH wanted AS (
		SELECT q.platform_id, q.transaction_id AS id FROM quotes q
		JOIN unnest($1::uuid[], $2::text[]) AS k(platform_id, reference) USING (platform_id, reference)
		WHERE q.reference <> ''),
	locked AS MATERIALIZED (
		SELECT t.* FROM transactions t JOIN wanted USING (platform_id, id)
		ORDER BY t.platform_id, t.id FOR UPDATE OF t)
	SELECT ` + transactionColumns + ` FROM locked t
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id`

// SaveReceipts stores receipts and locks the transactions that they pay for.
func (u *unit) SaveReceipts(ctx context.Context, receipts []transaction.Receipt) ([]ports.SavedReceipt, error) {
	fresh, err := u.insertReceipts(ctx, receipts)
	if err != nil {
		return nil, err
	}
	var platforms idArray
	var references []string
	for _, r := range receipts {
		if r.Reference != "" {
			platforms, references = append(platforms, pgID(r.Platform.UUID())), append(references, r.Reference)
		}
	}
	found := make(map[ports.ReferenceKey]*transaction.Transaction, len(receipts))
	if len(references) > 0 {
		if err := u.query(ctx, lockTransactionsByReference, []any{platforms, references}, func(rows pgx.Rows) error {
			t, err := scanTransaction(rows)
			found[ports.ReferenceKey{Platform: t.Platform, Reference: t.Reference}] = &t
			return err
		}); err != nil {
			return nil, err
		}
	}
	taken := make([]ports.SavedReceipt, len(receipts))
	for i, r := range receipts {
		taken[i] = ports.SavedReceipt{IsNew: fresh[r.ID], Transaction: found[ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference}]}
		fresh[r.ID] = false // a second notification in the same batch is not new
	}
	return taken, nil
}

// insertReceipts inserts in the order of the ids, so that two batches with the same receipts
// cannot deadlock.
func (u *unit) insertReceipts(ctx context.Context, receipts []transaction.Receipt) (map[ident.Receipt]bool, error) {
	sorted := slices.Clone(receipts)
	slices.SortFunc(sorted, func(a, b transaction.Receipt) int { return a.ID.Compare(b.ID) })
	n := len(sorted)
	platforms, ids := make(idArray, n), make(idArray, n)
	rails, partners, references := make([]string, n), make([]string, n), make([]string, n)
	currencies, amounts, moments := make([]string, n), make([]int64, n), make(timeArray, n)
	byID := make(map[uuid.UUID]ident.Receipt, n)
	for i, r := range sorted {
		platforms[i], ids[i] = pgID(r.Platform.UUID()), pgID(r.ID.UUID())
		rails[i], partners[i], references[i] = string(r.Rail), r.PartnerID, r.Reference
		currencies[i], amounts[i], moments[i] = string(r.Amount.Currency), r.Amount.Minor, pgTime(r.At)
		byID[r.ID.UUID()] = r.ID
	}
	fresh := make(map[ident.Receipt]bool, n)
	err := u.query(ctx, insertReceipts, []any{platforms, ids, rails, partners, references, currencies, amounts, moments}, func(rows pgx.Rows) error {
		var id pgtype.UUID
		err := rows.Scan(&id)
		fresh[byID[id.Bytes]] = true
		return err
	})
	return fresh, err
}

// Receipts uses the primary key.
func (db *DB) Receipts(ctx context.Context, p ident.Platform, ids []ident.Receipt) ([]transaction.Receipt, error) {
	wanted := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		wanted[i] = id.UUID()
	}
	slices.SortFunc(wanted, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	rows, err := db.pool.Query(ctx, `
		SELECT id, rail, partner_id, reference, currency, amount, received_at
		FROM receipts WHERE platform_id = $1 AND id = ANY($2) ORDER BY id`, pgx.QueryExecModeCacheStatement, p.UUID(), wanted)
	if err != nil {
		return nil, err
	}
	var found []transaction.Receipt
	err = forEachRow(rows, func(rows pgx.Rows) error {
		r := transaction.Receipt{Platform: p}
		var id uuid.UUID
		var currency string
		if err := rows.Scan(&id, &r.Rail, &r.PartnerID, &r.Reference, &currency, &r.Amount.Minor, &r.At); err != nil {
			return err
		}
		ident.SetUUID(&r.ID, id)
		r.Amount.Currency, r.At = money.Currency(currency), r.At.UTC()
		found = append(found, r)
		return nil
	})
	return found, err
}

// readTransactionsByReference uses quote_reference_unique and the primary keys.
var readTransactionsByReference = `
	SELECT ` + columnsWithoutInstructions + `
	FROM unnest($1::uuid[], $2::text[]) AS k(platform_id, reference)
	JOIN quotes q ON q.platform_id = k.platform_id AND q.reference = k.reference AND q.reference <> ''
	JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id`

// TransactionsByReference finds transactions by the references of payments.
func (db *DB) TransactionsByReference(ctx context.Context, keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error) {
	platforms, references := make(idArray, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		platforms[i], references[i] = pgID(k.Platform.UUID()), k.Reference
	}
	rows, err := db.pool.Query(ctx, readTransactionsByReference, pgx.QueryExecModeCacheStatement, platforms, references)
	if err != nil {
		return nil, err
	}
	found := make(map[ports.ReferenceKey]transaction.Transaction, len(keys))
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		t, err := scanTransaction(rows)
		found[ports.ReferenceKey{Platform: t.Platform, Reference: t.Reference}] = t
		return err
	})
}

// Transaction uses the primary key.
func (db *DB) Transaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error) {
	return db.queryTransaction(ctx, fault.New(fault.TransactionNotFound, "There is no transaction %s.", id),
		`SELECT `+transactionColumns+` FROM `+transactionTables+` WHERE t.platform_id = $1 AND t.id = $2`, p.UUID(), id.UUID())
}

func (db *DB) queryTransaction(ctx context.Context, none error, query string, args ...any) (transaction.Transaction, error) {
	rows, err := db.pool.Query(ctx, query, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
	if err != nil {
		return transaction.Transaction{}, err
	}
	found, missing := transaction.Transaction{}, none
	err = forEachRow(rows, func(rows pgx.Rows) (err error) {
		found, err = scanTransaction(rows)
		missing = nil
		return err
	})
	if err == nil {
		err = missing
	}
	return found, err
}
