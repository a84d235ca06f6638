package postgres

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

var _ ports.PartnerReceipts = (*DB)(nil)

// insertReceipts uses the primary key and receipts_by_partner_id.
const insertReceipts = `
	INSERT INTO receipts (platform_id, id, rail, partner_id, reference, currency, amount, received_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::timestamptz[])
	ON CONFLICT DO NOTHING
	RETURNING id`

// readReceiptIDs uses receipts_by_partner_id.
const readReceiptIDs = `
	SELECT k.n, r.id FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS k(platform_id, rail, partner_id, n)
	JOIN receipts r ON r.platform_id = k.platform_id AND r.rail = k.rail AND r.partner_id = k.partner_id`

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
	SELECT ` + transactionColumns + `,` + partyStateColumns + ` FROM locked t
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id` + partyStateTables

// SaveReceipts stores receipts and locks the transactions that they pay for.
func (u *unit) SaveReceipts(ctx context.Context, receipts []transaction.Receipt) ([]ports.SavedReceipt, error) {
	taken, err := u.insertReceipts(ctx, receipts)
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
	found := make(map[ports.ReferenceKey]ports.SavedReceipt, len(receipts))
	if len(references) > 0 {
		if err := u.query(ctx, lockTransactionsByReference, []any{platforms, references}, func(rows pgx.Rows) error {
			var parties partyStates
			t, err := scanTransaction(ctx, u.db, rows, parties.scanTargets()...)
			found[ports.ReferenceKey{Platform: t.Platform, Reference: t.Reference}] = ports.SavedReceipt{Transaction: &t, Parties: parties.parties()}
			return err
		}); err != nil {
			return nil, err
		}
	}
	for i, r := range receipts {
		paid := found[ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference}]
		taken[i].Transaction, taken[i].Parties = paid.Transaction, paid.Parties
	}
	return taken, nil
}

// partnerKey is what a receipt is unique by.
type partnerKey struct {
	platform  ident.Platform
	rail      corridor.Rail
	partnerID string
}

// insertReceipts inserts receipts and returns for each whether it is new, and its stored id. It
// inserts in the order of their keys, so that two batches with the same receipts cannot deadlock.
func (u *unit) insertReceipts(ctx context.Context, receipts []transaction.Receipt) ([]ports.SavedReceipt, error) {
	order := make([]int, len(receipts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := receipts[i], receipts[j]
		return cmp.Or(a.Platform.Compare(b.Platform), strings.Compare(string(a.Rail), string(b.Rail)), strings.Compare(a.PartnerID, b.PartnerID))
	})
	n := len(receipts)
	platforms, ids := make(idArray, n), make(idArray, n)
	rails, partners, references := make([]string, n), make([]string, n), make([]string, n)
	currencies, amounts, moments := make([]string, n), make([]int64, n), make(timeArray, n)
	for at, i := range order {
		r := receipts[i]
		platforms[at], ids[at] = pgID(r.Platform.UUID()), pgID(r.ID.UUID())
		rails[at], partners[at], references[at] = string(r.Rail), r.PartnerID, r.Reference
		currencies[at], amounts[at], moments[at] = string(r.Amount.Currency), r.Amount.Minor, pgTime(r.At)
	}
	fresh := make(map[uuid.UUID]bool, n)
	err := u.query(ctx, insertReceipts, []any{platforms, ids, rails, partners, references, currencies, amounts, moments}, func(rows pgx.Rows) error {
		var id pgtype.UUID
		err := rows.Scan(&id)
		fresh[id.Bytes] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	saved, stored := make([]ports.SavedReceipt, n), make(map[partnerKey]ident.Receipt, n)
	for _, i := range order {
		r := receipts[i]
		key := partnerKey{r.Platform, r.Rail, r.PartnerID}
		if _, repeated := stored[key]; !repeated && fresh[r.ID.UUID()] {
			stored[key], saved[i].IsNew = r.ID, true
		}
		saved[i].ID = stored[key]
	}
	return saved, u.readReceiptIDs(ctx, receipts, saved)
}

// readReceiptIDs fills in the ids of receipts that were stored before. There are seldom any.
func (u *unit) readReceiptIDs(ctx context.Context, receipts []transaction.Receipt, saved []ports.SavedReceipt) error {
	var platforms idArray
	var rails, partners []string
	var missing []int
	for i, r := range receipts {
		if saved[i].ID.IsZero() {
			platforms, rails, partners = append(platforms, pgID(r.Platform.UUID())), append(rails, string(r.Rail)), append(partners, r.PartnerID)
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return u.query(ctx, readReceiptIDs, []any{platforms, rails, partners}, func(rows pgx.Rows) error {
		var position int
		var id pgtype.UUID
		if err := rows.Scan(&position, &id); err != nil {
			return err
		}
		saved[missing[position-1]].ID.SetUUID(id.Bytes)
		return nil
	})
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
		r.ID.SetUUID(id)
		r.Amount.Currency, r.At = money.Currency(currency), r.At.UTC()
		found = append(found, r)
		return nil
	})
	return found, err
}

// receiptsByPartnerID uses receipts_by_partner_id.
const receiptsByPartnerID = `
	SELECT r.platform_id, r.id, r.rail, r.partner_id, r.reference, r.currency, r.amount, r.received_at
	FROM unnest($1::uuid[], $2::text[], $3::text[]) AS k(platform_id, rail, partner_id)
	JOIN receipts r ON r.platform_id = k.platform_id AND r.rail = k.rail AND r.partner_id = k.partner_id`

// ReceiptsByPartnerID implements ports.PartnerReceipts.
func (db *DB) ReceiptsByPartnerID(ctx context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]transaction.Receipt, error) {
	platforms, rails, partners := make(idArray, len(keys)), make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		platforms[i], rails[i], partners[i] = pgID(key.Platform.UUID()), string(key.Rail), key.PartnerID
	}
	rows, err := db.pool.Query(ctx, receiptsByPartnerID, pgx.QueryExecModeCacheStatement, platforms, rails, partners)
	if err != nil {
		return nil, err
	}
	found := make(map[ports.RailReceiptKey]transaction.Receipt, len(keys))
	err = forEachRow(rows, func(rows pgx.Rows) error {
		var r transaction.Receipt
		var platform, id uuid.UUID
		if err := rows.Scan(&platform, &id, &r.Rail, &r.PartnerID, &r.Reference, &r.Amount.Currency, &r.Amount.Minor, &r.At); err != nil {
			return err
		}
		r.Platform.SetUUID(platform)
		r.ID.SetUUID(id)
		r.At = r.At.UTC()
		found[ports.RailReceiptKey{Platform: r.Platform, Rail: r.Rail, PartnerID: r.PartnerID}] = r
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
		t, err := scanTransaction(ctx, db, rows)
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
		found, err = scanTransaction(ctx, db, rows)
		missing = nil
		return err
	})
	if err == nil {
		err = missing
	}
	return found, err
}
