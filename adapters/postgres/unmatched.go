package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// unmatchedColumns are the columns that scanUnmatched reads, of a posting p to
// funding/unmatched.
const unmatchedColumns = `
	p.id, p.kind, p.recorded_at, r.id, r.rail, r.source_account, r.partner_id, r.reference, r.currency, r.amount, r.received_at, r.refunded, r.funded_by,
	a.transaction_id, a.account_id, a.note, a.token_id, a.actor, a.assigned_at, a.proposal_id, a.approver_token_id, a.approver, a.person_id`

// unmatchedTables joins a posting p with its receipt r and its assignment a. If the refund
// of a transaction failed, the posting is the transaction's and the amount to refund is
// read in place of a receipt. Uses the primary keys.
const unmatchedTables = `
	CROSS JOIN LATERAL (
		SELECT f.id, f.rail, '' AS source_account, f.partner_id, f.reference, f.currency, f.amount, f.received_at, NULL::uuid AS refunded, NULL::uuid AS funded_by
		FROM unmatched_funds u
		JOIN receipts f ON f.platform_id = u.platform_id AND f.id = u.receipt_id
		WHERE u.platform_id = p.platform_id AND u.posting_id = p.id
		UNION ALL
		SELECT t.id, t.source_rail, t.source_account, '', coalesce(q.reference, t.reference), CASE WHEN t.funded_minor > 0 THEN t.funded_currency ELSE t.sent_currency END,
			CASE WHEN t.funded_minor > 0 THEN t.funded_minor ELSE t.sent_minor END, t.refund_at, t.id, t.receipt_id
		FROM transactions t
		LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
		WHERE t.platform_id = p.platform_id AND t.id = p.transaction_id
	) r
	LEFT JOIN unmatched_assignments a ON a.platform_id = p.platform_id AND a.posting_id = p.id`

// scanUnmatched reads unmatchedColumns.
func scanUnmatched(rows pgx.Rows, p ident.Platform) (u transaction.Unmatched, err error) {
	u.Receipt.Platform = p
	r, a := &u.Receipt, &transaction.Assignment{}
	if err := rows.Scan(&u.Posting, &u.Kind, &u.Since, &r.ID, &r.Rail, &u.SourceAccount, &r.PartnerID, &r.Reference, &r.Amount.Currency,
		&r.Amount.Minor, &r.At, &u.RefundOf, &u.FundedBy, &a.Transaction, &a.Account, schema.Optional(&a.Note), &a.By.Token,
		schema.Optional(&a.By.Actor), &a.At,
		&a.Approval.Proposal, &a.Approval.By.Token, schema.Optional(&a.Approval.By.Actor), &a.By.Person); err != nil {
		return u, err
	}
	if u.SourceAccount == "" {
		u.SourceAccount = u.Receipt.Rail.LedgerPath()
	}
	if !a.At.IsZero() {
		u.Assignment = a
	}
	return u, nil
}

var unmatchedFunds = schema.New("unmatched_funds", []string{"platform_id", "posting_id"}, func(f *ports.UnmatchedFunds) schema.Columns {
	return schema.Columns{{Name: "platform_id", Field: &f.Platform}, {Name: "posting_id", Field: &f.Posting},
		{Name: "receipt_id", Field: &f.Receipt}}
})

var insertUnmatched = unmatchedFunds.InsertAll("ON CONFLICT (platform_id, posting_id) DO NOTHING")

// SaveUnmatched stores the receipts of postings to funding/unmatched.
func (u *Unit) SaveUnmatched(ctx context.Context, funds []ports.UnmatchedFunds) error {
	return writeAll(ctx, u, insertUnmatched, funds)
}

// lockReceipt is held until the end of the unit of work that decides about a receipt. The
// assignment that it protects does not exist yet, so there is no row to lock.
const lockReceipt = `SELECT pg_advisory_xact_lock(uuid_hash_extended($1, 7))`

// selectUnmatched finds the postings of a receipt $2, or the one of a failed refund ($3) of
// the transaction with that id. Uses unmatched_funds_by_receipt and the primary keys.
const selectUnmatched = `
	SELECT ` + unmatchedColumns + `
	FROM (
		SELECT f.posting_id FROM unmatched_funds f WHERE f.platform_id = $1 AND f.receipt_id = $2 AND f.receipt_id IS NOT NULL
		UNION
		SELECT $3::uuid
	) w
	JOIN ledger_posting_ids x ON x.platform_id = $1 AND x.id = w.posting_id
	JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = x.seq AND p.recorded_at = x.recorded_at` + unmatchedTables + `
	WHERE r.id = $2 ORDER BY p.seq`

// LockUnmatched loads the unmatched funds of a receipt and locks them.
func (u *Unit) LockUnmatched(ctx context.Context, p ident.Platform,
	receipt ident.Receipt) (funds transaction.Unmatched, found bool, err error) {
	if err := u.query(ctx, lockReceipt, []any{receipt}, func(pgx.Rows) error { return nil }); err != nil {
		return funds, false, err
	}
	return readUnmatched(ctx, u.query, p, receipt)
}

// UnmatchedOf implements accounting.Store.
func (db *DB) UnmatchedOf(ctx context.Context, p ident.Platform, receipt ident.Receipt) (transaction.Unmatched, bool, error) {
	return readUnmatched(ctx, db.read, p, receipt)
}

func readUnmatched(ctx context.Context, query func(context.Context, string, []any, func(pgx.Rows) error) error, p ident.Platform,
	receipt ident.Receipt) (funds transaction.Unmatched, found bool, err error) {
	failedRefund := ledger.DerivedID(receipt.UUID(), ledger.KindRefundFailed, 0)
	err = query(ctx, selectUnmatched, []any{p, receipt, failedRefund}, func(rows pgx.Rows) (err error) {
		funds, err = scanUnmatched(rows, p)
		found = true
		return err
	})
	return funds, found, err
}

const insertAssignment = `
	INSERT INTO unmatched_assignments (platform_id, posting_id, receipt_id, transaction_id, account_id, note, token_id, actor, assigned_at, proposal_id, approver_token_id, approver,
		person_id)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

// AssignUnmatched stores a decision.
func (u *Unit) AssignUnmatched(_ context.Context, of transaction.Unmatched, a transaction.Assignment) error {
	u.queueExec(insertAssignment, of.Receipt.Platform, of.Posting, of.Receipt.ID, a.Transaction,
		a.Account, a.Note, a.By.Token, a.By.Actor, a.At, a.Approval.Proposal, a.Approval.By.Token, a.Approval.By.Actor, a.By.Person)
	if !a.Transaction.IsZero() {
		u.queueExec(assignReceiptPayer, of.Receipt.Platform, of.Receipt.ID, a.Transaction, a.Account)
	}
	return nil
}

// SaveRefundAgain implements accounting.Tx.
func (u *Unit) SaveRefundAgain(_ context.Context, of ports.TransactionKey, receipt ident.Receipt) error {
	u.queueExec(`INSERT INTO refunds_sent_again (platform_id, receipt_id, transaction_id) VALUES ($1, $2, $3)`, of.Platform, receipt, of.ID)
	return nil
}

// RefundSentAs implements payments.Tx. It uses the primary key.
func (u *Unit) RefundSentAs(ctx context.Context, p ident.Platform, receipt ident.Receipt) (id ident.Transaction, err error) {
	err = u.query(ctx, `SELECT transaction_id FROM refunds_sent_again WHERE platform_id = $1 AND receipt_id = $2`, []any{p, receipt},
		func(rows pgx.Rows) error { return rows.Scan(&id) })
	return id, err
}

// isUnassigned is the condition of postings p that nobody has assigned.
const isUnassigned = "NOT EXISTS (SELECT FROM unmatched_assignments w WHERE w.platform_id = p.platform_id AND w.posting_id = p.id)"

// countUnmatched uses the primary keys.
const countUnmatched = `
	SELECT count(*) FROM (SELECT FROM (SELECT platform_id, posting_id AS id FROM unmatched_waiting WHERE platform_id = $1) p
		WHERE ` + isUnassigned + ` LIMIT $2) AS waiting`

// CountUnmatched implements accounting.Store.
func (db *DB) CountUnmatched(ctx context.Context, p ident.Platform, atMost int) (n int, err error) {
	if err := db.readPool.QueryRow(ctx, countUnmatched, p, atMost).Scan(&n); err != nil {
		return 0, storage.ReadError(err)
	}
	return n, nil
}

// conditions collects the conditions of a list, with arguments numbered from $1.
type conditions struct {
	clauses []string
	args    []any
}

// add appends a clause in which each ? is the argument.
func (c *conditions) add(clause string, arg any) {
	c.args = append(c.args, arg)
	c.clauses = append(c.clauses, strings.ReplaceAll(clause, "?", fmt.Sprintf("$%d", len(c.args))))
}

func (c *conditions) where() string { return " WHERE " + strings.Join(c.clauses, " AND ") }

// Unmatched lists the postings of the two kinds, newest first or oldest first. Those that nobody has assigned are read from
// unmatched_waiting, the others by ledger_postings_by_rare_kind.
func (db *DB) Unmatched(ctx context.Context, p ident.Platform, f ports.UnmatchedFilter) (page ports.UnmatchedPage, err error) {
	filter, from := &conditions{}, "ledger_postings p"
	filter.add("p.platform_id = ?", p)
	order, compare := "DESC", "<"
	if f.Ascending {
		order, compare = "ASC", ">"
	}
	if f.After != uuid.Nil {
		var seq int64
		err := db.readPool.QueryRow(ctx, `SELECT seq FROM ledger_posting_ids WHERE platform_id = $1 AND id = $2`, pgx.QueryExecModeCacheStatement,
			p, f.After).Scan(&seq)
		if isNoRows(err) {
			return page, fault.Invalid(fault.Field{Field: "cursor", Message: "must be the nextCursor of the previous page; omit it for the first " +
				"page"})
		}
		if err != nil {
			return page, err
		}
		filter.add("p.seq "+compare+" ?", seq)
	}
	switch {
	case f.Assigned == nil:
		filter.clauses = append(filter.clauses, "p.kind IN ('unmatched_received', 'refund_failed')", ledgerdb.RareKindsCondition)
	case *f.Assigned:
		filter.clauses = append(filter.clauses, "p.kind IN ('unmatched_received', 'refund_failed')", ledgerdb.RareKindsCondition,
			"NOT "+isUnassigned)
	default:
		from = "(SELECT platform_id, seq, posting_id AS id, recorded_at FROM unmatched_waiting) p"
		filter.clauses = append(filter.clauses, isUnassigned)
	}
	rows, err := db.readPool.Query(
		ctx, fmt.Sprintf(`
			SELECT %s FROM (SELECT p.platform_id, p.seq, p.recorded_at FROM %s %s ORDER BY p.seq %s LIMIT %d) found
			JOIN ledger_postings p USING (platform_id, seq, recorded_at) %s ORDER BY p.seq %[4]s`,
			unmatchedColumns, from, filter.where(), order, f.Limit+1, unmatchedTables), filter.args...)
	if err != nil {
		return page, storage.ReadError(err)
	}
	if err := storage.ForEachRow(rows, func(rows pgx.Rows) error {
		funds, err := scanUnmatched(rows, p)
		page.Items = append(page.Items, funds)
		return err
	}); err != nil {
		return page, storage.ReadError(err)
	}
	if page.More = len(page.Items) > f.Limit; page.More {
		page.Items = page.Items[:f.Limit]
	}
	return page, nil
}

// readAssignment uses unmatched_assignments_by_transaction.
const readAssignment = `
	SELECT ` + unmatchedColumns + `
	FROM (SELECT p.* FROM unmatched_assignments w
		JOIN ledger_posting_ids x ON x.platform_id = w.platform_id AND x.id = w.posting_id
		JOIN ledger_postings p ON p.platform_id = x.platform_id AND p.seq = x.seq AND p.recorded_at = x.recorded_at
		WHERE w.platform_id = $1 AND w.transaction_id = $2) p` + unmatchedTables

// AssignmentOf reads the assignment of unmatched funds to a transaction.
func (db *DB) AssignmentOf(ctx context.Context, p ident.Platform,
	t ident.Transaction) (funds transaction.Unmatched, found bool, err error) {
	err = db.read(ctx, readAssignment, []any{p, t}, func(rows pgx.Rows) (err error) {
		funds, err = scanUnmatched(rows, p)
		found = true
		return err
	})
	return funds, found, err
}
