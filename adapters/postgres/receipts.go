package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// receipts is the table receipts.
var receipts = schema.New("receipts", keyOfPlatform, func(r *transaction.Receipt) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "id", Field: &r.ID}, {Name: "rail", Field: &r.Rail},
		{Name: "partner_id", Field: &r.PartnerID},
		{Name: "reference", Field: &r.Reference}, {Name: "currency", Field: &r.Amount.Currency}, {Name: "amount", Field: &r.Amount.Minor},
		{Name: "received_at", Field: &r.At},
	}
})

// insertReceipts uses the primary key and receipts_by_partner_id.
var insertReceipts = receipts.InsertAll("ON CONFLICT DO NOTHING RETURNING id")

// readReceiptIDs uses receipts_by_partner_id.
const readReceiptIDs = `
	SELECT k.n, r.id FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS k(platform_id, rail, partner_id, n)
	JOIN receipts r ON r.platform_id = k.platform_id AND r.rail = k.rail AND r.partner_id = k.partner_id`

// lockTransactionsByReference finds transactions by quote_reference_unique and locks them in the
// order of their keys, so that two batches cannot deadlock.
var lockTransactionsByReference = `
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
func (u *Unit) SaveReceipts(ctx context.Context, receipts []transaction.Receipt) ([]ports.SavedReceipt, error) {
	fresh, err := u.insertReceipts(ctx, receipts)
	if err != nil {
		return nil, err
	}
	var platforms []ident.Platform
	var references []string
	for _, r := range receipts {
		if r.Reference != "" {
			platforms, references = append(platforms, r.Platform), append(references, r.Reference)
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
	taken, err := u.savedReceipts(ctx, receipts, fresh)
	if err != nil {
		return nil, err
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

// insertReceipts queues the insertion of receipts, which fills in the ids of those that are new. It
// inserts in the order of their keys, so that two batches with the same receipts cannot deadlock.
func (u *Unit) insertReceipts(ctx context.Context, receipts []transaction.Receipt) (fresh map[ident.Receipt]bool, err error) {
	fresh = make(map[ident.Receipt]bool, len(receipts))
	sorted := slices.Clone(receipts)
	slices.SortStableFunc(sorted, func(a, b transaction.Receipt) int {
		return cmp.Or(a.Platform.Compare(b.Platform), strings.Compare(string(a.Rail), string(b.Rail)), strings.Compare(a.PartnerID, b.PartnerID))
	})
	return fresh, queueQueryAll(ctx, u, insertReceipts, sorted, func(rows pgx.Rows) error {
		var id ident.Receipt
		err := rows.Scan(&id)
		fresh[id] = true
		return err
	})
}

// savedReceipts returns for each receipt whether it is new, and its stored id.
func (u *Unit) savedReceipts(ctx context.Context, receipts []transaction.Receipt,
	fresh map[ident.Receipt]bool) ([]ports.SavedReceipt, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	saved, stored := make([]ports.SavedReceipt, len(receipts)), make(map[partnerKey]ident.Receipt, len(receipts))
	for i, r := range receipts {
		key := partnerKey{r.Platform, r.Rail, r.PartnerID}
		if _, repeated := stored[key]; !repeated && fresh[r.ID] {
			stored[key], saved[i].IsNew = r.ID, true
		}
		saved[i].ID = stored[key]
	}
	return saved, u.readReceiptIDs(ctx, receipts, saved)
}

// readReceiptIDs fills in the ids of receipts that were stored before. There are seldom any.
func (u *Unit) readReceiptIDs(ctx context.Context, receipts []transaction.Receipt, saved []ports.SavedReceipt) error {
	var keys receiptKeys
	var missing []int
	for i, r := range receipts {
		if saved[i].ID.IsZero() {
			keys.add(r.Platform, r.Rail, r.PartnerID)
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return u.query(ctx, readReceiptIDs, keys.args(), func(rows pgx.Rows) error {
		var position int
		var id ident.Receipt
		err := rows.Scan(&position, &id)
		if err == nil {
			saved[missing[position-1]].ID = id
		}
		return err
	})
}

// receiptKeys are arguments of statements that look receipts up by receipts_by_partner_id.
type receiptKeys struct {
	platforms []ident.Platform
	rails     []corridor.Rail
	partners  []string
}

func (k *receiptKeys) add(p ident.Platform, rail corridor.Rail, partnerID string) {
	k.platforms, k.rails, k.partners = append(k.platforms, p), append(k.rails, rail), append(k.partners, partnerID)
}

func (k *receiptKeys) args() []any { return []any{k.platforms, k.rails, k.partners} }

// Receipts uses the primary key.
func (db *DB) Receipts(ctx context.Context, p ident.Platform, ids []ident.Receipt) ([]transaction.Receipt, error) {
	return selectRows(ctx, db, db.read, receipts, `WHERE platform_id = $1 AND id = ANY($2::uuid[]) ORDER BY id`, p,
		slices.SortedFunc(slices.Values(ids), ident.Receipt.Compare))
}

// receiptsByPartnerID uses receipts_by_partner_id.
var receiptsByPartnerID = `
	SELECT ` + receipts.Names("r") + `
	FROM unnest($1::uuid[], $2::text[], $3::text[]) AS k(platform_id, rail, partner_id)
	JOIN receipts r ON r.platform_id = k.platform_id AND r.rail = k.rail AND r.partner_id = k.partner_id`

// ReceiptsByPartnerID implements payments.PartnerReceipts.
func (db *DB) ReceiptsByPartnerID(ctx context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]transaction.Receipt, error) {
	var wanted receiptKeys
	for _, key := range keys {
		wanted.add(key.Platform, key.Rail, key.PartnerID)
	}
	rows, err := queryTable(ctx, db, db.read, receipts, receiptsByPartnerID, wanted.args()...)
	if err != nil {
		return nil, err
	}
	found := make(map[ports.RailReceiptKey]transaction.Receipt, len(keys))
	for _, r := range rows {
		found[ports.RailReceiptKey{Platform: r.Platform, Rail: r.Rail, PartnerID: r.PartnerID}] = r
	}
	return found, nil
}

// readTransactionsByReference uses quote_reference_unique and the primary keys.
var readTransactionsByReference = `
	SELECT ` + columnsWithoutInstructions + `
	FROM unnest($1::uuid[], $2::text[]) AS k(platform_id, reference)
	JOIN quotes q ON q.platform_id = k.platform_id AND q.reference = k.reference AND q.reference <> ''
	JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id`

// TransactionsByReference finds transactions by the references of payments.
func (db *DB) TransactionsByReference(ctx context.Context,
	keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error) {
	return transactionsByReference(ctx, db, db.read, keys)
}

// TransactionsByReference is that of DB in the unit of work.
func (u *Unit) TransactionsByReference(ctx context.Context,
	keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error) {
	return transactionsByReference(ctx, u.db, u.query, keys)
}

func transactionsByReference(ctx context.Context, db *DB, query storage.Reader,
	keys []ports.ReferenceKey) (map[ports.ReferenceKey]transaction.Transaction, error) {
	platforms, references := make([]ident.Platform, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		platforms[i], references[i] = k.Platform, k.Reference
	}
	found := make(map[ports.ReferenceKey]transaction.Transaction, len(keys))
	return found, query(ctx, readTransactionsByReference, []any{platforms, references}, func(rows pgx.Rows) error {
		t, err := scanTransaction(ctx, db, rows)
		found[ports.ReferenceKey{Platform: t.Platform, Reference: t.Reference}] = t
		return err
	})
}

// readTransaction uses the primary key.
var readTransaction = `SELECT ` + transactionColumns + ` FROM ` + transactionTables + ` WHERE t.platform_id = $1 AND t.id = $2`

// Transaction implements payments.Store.
func (db *DB) Transaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error) {
	_, t, err := db.TransactionWithQuote(ctx, p, id)
	return t, err
}

// TransactionWithQuote implements accounting.Store.
func (db *DB) TransactionWithQuote(ctx context.Context, p ident.Platform,
	id ident.Transaction) (quote.Quote, transaction.Transaction, error) {
	var found ports.QuoteState
	missing := error(fault.New(fault.TransactionNotFound, "There is no transaction %s.", id))
	err := db.read(ctx, readTransaction, []any{p, id}, func(rows pgx.Rows) (err error) {
		found, err = scanQuote(ctx, db, rows)
		missing = nil
		return err
	})
	return found.Quote, found.Transaction, cmp.Or(err, missing)
}
