package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

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

// Transactions uses the primary key, or the index of the customer or account of the filter.
// All of them end with the id, which orders the list.
func (db *DB) Transactions(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error) {
	var page ports.Page[transaction.Transaction]
	filter := &conditions{}
	filter.add("t.platform_id = ?", p.UUID())
	if !addTransactionFilter(filter, f) {
		return page, nil
	}
	if err := db.pool.QueryRow(ctx, `SELECT count(*) FROM `+countTables(f)+filter.where(), filter.args...).Scan(&page.Total); err != nil {
		return page, err
	}
	order := "DESC"
	if f.Ascending {
		order = "ASC"
		filter.add("t.id > ?", f.After)
	} else if f.After != uuid.Nil {
		filter.add("t.id < ?", f.After)
	}
	rows, err := db.pool.Query(ctx, fmt.Sprintf(`SELECT %s FROM %s %s ORDER BY t.id %s LIMIT %d`,
		transactionColumns, transactionTables, filter.where(), order, f.Limit+1), filter.args...)
	if err != nil {
		return page, err
	}
	if err := forEachRow(rows, func(rows pgx.Rows) error {
		t, err := scanTransaction(rows)
		page.Items = append(page.Items, t)
		return err
	}); err != nil {
		return page, err
	}
	if len(page.Items) > f.Limit {
		page.Items, page.More = page.Items[:f.Limit], true
	}
	return page, nil
}

// countTables returns only the tables that the filter needs.
func countTables(f ports.TransactionFilter) string {
	if f.PlatformCustomerID != "" {
		return transactionTables
	}
	return "transactions t"
}

// addTransactionFilter adds the conditions of a filter; it returns false if nothing can match.
func addTransactionFilter(c *conditions, f ports.TransactionFilter) bool {
	if !f.Customer.IsZero() {
		c.add("t.customer_id = ?", f.Customer.UUID())
	}
	if f.PlatformOwned {
		c.clauses = append(c.clauses, "t.customer_id IS NULL")
	}
	if f.PlatformCustomerID != "" {
		c.add("c.platform_customer_id = ?", f.PlatformCustomerID)
	}
	if f.Reference != "" {
		c.add(hasReference, f.Reference)
	}
	if f.Status != "" {
		c.add("t.status = ?", string(f.Status))
	}
	if f.Type != "" {
		c.add("t.direction = ?", string(f.Type))
	}
	if !f.Created.From.IsZero() {
		c.add("t.created_at >= ?", f.Created.From)
	}
	if !f.Created.To.IsZero() {
		c.add("t.created_at < ?", f.Created.To)
	}
	return addAccountCondition(c, f.Account, "source", "destination") && addAccountCondition(c, f.Sender, "source") && addAccountCondition(c, f.Receiver, "destination")
}

// hasReference uses quote_reference_unique and transactions_by_reference; $1 is
// the platform.
const hasReference = `t.id IN (
	SELECT transaction_id FROM quotes WHERE platform_id = $1 AND reference = ? AND reference <> ''
	UNION ALL
	SELECT id FROM transactions WHERE platform_id = $1 AND reference = ? AND reference <> '')`

// addAccountCondition adds the condition that one of the ends is the account or the UMA
// address. It returns false if the text is neither.
func addAccountCondition(c *conditions, text string, ends ...string) bool {
	if text == "" {
		return true
	}
	var condition string
	var value any
	if external, err := ident.ParseExternalAccount(text); err == nil {
		condition, value = "t.%s_external = ?", external.UUID()
	} else if internal, err := ident.ParseInternalAccount(text); err == nil {
		condition, value = "t.%s_internal = ?", internal.UUID()
	} else if strings.HasPrefix(text, "$") {
		// The second condition allows the use of the partial indexes.
		condition, value = "t.%[1]s_uma = ? AND t.%[1]s_uma <> ''", strings.ToLower(text)
	} else {
		return false
	}
	either := make([]string, len(ends))
	for i, end := range ends {
		either[i] = fmt.Sprintf(condition, end)
	}
	c.add("("+strings.Join(either, " OR ")+")", value)
	return true
}
