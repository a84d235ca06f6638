package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ports"
)

// transactionFilter is one condition of a list. Each of its alternatives uses an index that ends
// with the id, which orders the list, and no transaction matches two of them.
type transactionFilter []string

// and returns the filter with a further condition of each alternative.
func (f transactionFilter) and(condition string) transactionFilter {
	limited := make(transactionFilter, len(f))
	for i, alternative := range f {
		limited[i] = alternative + " AND " + condition
	}
	return limited
}

// condition returns the filter as one condition.
func (f transactionFilter) condition() string { return "(" + strings.Join(f, " OR ") + ")" }

// transactionList is a list of transactions: those that match one of the alternatives, which an
// index finds in order, and the conditions. $1 is the platform.
type transactionList struct {
	alternatives transactionFilter
	conditions   []string
	args         []any
	// owners selects the customers o whose transactions are listed; empty if the alternatives
	// do not need them.
	owners string
	// byStatus: the alternatives are those of transaction_statuses s.
	byStatus bool
}

// id returns the column that orders the list.
func (l *transactionList) id() string {
	if l.byStatus {
		return "s.id"
	}
	return "t.id"
}

// arg adds an argument and returns its placeholder.
func (l *transactionList) arg(value any) string {
	l.args = append(l.args, value)
	return fmt.Sprintf("$%d", len(l.args))
}

// Transactions uses the primary key, or the index of the reference, account, agent or customer of the
// filter; and transaction_statuses if it has a status or a type only.
func (db *DB) Transactions(ctx context.Context, p ident.Platform,
	f ports.TransactionFilter) (page ports.Page[transaction.Transaction], err error) {
	l, ok := newTransactionList(p, f)
	if !ok {
		return page, nil
	}
	var matching, read int64
	if err := db.readPool.QueryRow(ctx, l.count(), l.args...).Scan(&matching, &read); err != nil {
		return page, storage.ReadError(err)
	}
	statement := l.page(f.Paging) // adds its arguments
	rows, err := db.readPool.Query(ctx, statement, l.args...)
	if err != nil {
		return page, storage.ReadError(err)
	}
	if err := storage.ForEachRow(rows, func(rows pgx.Rows) error {
		t, err := scanTransaction(ctx, db, rows)
		page.Items = append(page.Items, t)
		return err
	}); err != nil {
		return page, storage.ReadError(err)
	}
	setTotal(&page, matching, read)
	if len(page.Items) > f.Limit {
		page.Items, page.More = page.Items[:f.Limit], true
	}
	return page, nil
}

// newTransactionList returns the list of a filter; false if nothing can match. The first of the
// indexed filters selects by its index.
func newTransactionList(p ident.Platform, f ports.TransactionFilter) (*transactionList, bool) {
	l := &transactionList{args: []any{p.UUID()}}
	var indexed []transactionFilter
	if f.Reference != "" {
		reference := l.arg(f.Reference)
		indexed = append(indexed, transactionFilter{strings.ReplaceAll(hasReference, "?", reference)})
	}
	for _, account := range []struct {
		text string
		ends []string
	}{{f.Sender, []string{"source"}}, {f.Receiver, []string{"destination"}}, {f.Account, []string{"source", "destination"}}} {
		if account.text == "" {
			continue
		}
		filter, ok := l.accountFilter(account.text, account.ends)
		if !ok {
			return nil, false
		}
		indexed = append(indexed, filter)
	}
	if !f.Agent.IsZero() {
		indexed = append(indexed, transactionFilter{"t.agent_id = " + l.arg(f.Agent.UUID())})
	}
	if !f.Customer.IsZero() {
		indexed = append(indexed, transactionFilter{"t.customer_id = " + l.arg(f.Customer.UUID())})
	}
	if f.PlatformCustomerID != "" {
		// The further condition allows the use of the partial index customers_by_platform_customer_id.
		owners := "SELECT c.id FROM customers c WHERE c.platform_id = $1 AND c.platform_customer_id <> '' AND c.platform_customer_id = " +
			l.arg(f.PlatformCustomerID)
		if len(indexed) > 0 {
			l.conditions = append(l.conditions, "t.customer_id IN ("+owners+")")
		} else {
			l.owners = owners
			indexed = append(indexed, transactionFilter{"t.customer_id = o.id"})
		}
	}
	if f.PlatformOwned {
		indexed = append(indexed, transactionFilter{"t.customer_id IS NULL"})
	}
	l.alternatives = transactionFilter{"true"}
	for i, filter := range indexed {
		if i == 0 {
			l.alternatives = filter
		} else {
			l.conditions = append(l.conditions, filter.condition())
		}
	}
	if len(indexed) == 0 && (f.Status != "" || f.Type != "") {
		l.selectByStatus(f.Status, f.Type)
		f.Status, f.Type = "", ""
	}
	l.addFurtherConditions(f)
	return l, true
}

// selectByStatus selects by the primary key of transaction_statuses; an empty status or type is any.
func (l *transactionList) selectByStatus(status transaction.Status, kind transaction.Type) {
	statuses, types := []transaction.Status{status}, []transaction.Type{kind}
	if status == "" {
		statuses = []transaction.Status{transaction.Pending, transaction.Processing, transaction.Completed, transaction.Failed,
			transaction.Expired}
	}
	if kind == "" {
		types = []transaction.Type{transaction.Outgoing, transaction.Incoming}
	}
	l.byStatus, l.alternatives = true, nil
	for _, s := range statuses {
		for _, t := range types {
			l.alternatives = append(l.alternatives, "s.status = "+l.arg(string(s))+" AND s.direction = "+l.arg(string(t)))
		}
	}
}

// addFurtherConditions adds the conditions on columns without an index.
func (l *transactionList) addFurtherConditions(f ports.TransactionFilter) {
	if f.Status != "" {
		l.conditions = append(l.conditions, "t.status = "+l.arg(string(f.Status)))
	}
	if f.Type != "" {
		l.conditions = append(l.conditions, "t.direction = "+l.arg(string(f.Type)))
	}
	if !f.Created.From.IsZero() {
		l.conditions = append(l.conditions, "t.created_at >= "+l.arg(f.Created.From))
	}
	if !f.Created.To.IsZero() {
		l.conditions = append(l.conditions, "t.created_at < "+l.arg(f.Created.To))
	}
	if !f.Created.IsUnbounded() {
		l.limitIDs(f.Created)
	}
}

// maxDerivedDelay is that of the index transactions_created_late: more than usually passes between the
// time in a derived id, which is that of a payment or a receipt, and the creation of the transaction.
const maxDerivedDelay = 2 * time.Hour

// createdLate are the transactions of an interval that were created longer after the time in their id,
// such as the deposits of unmatched funds, and payments that an outage delayed.
const createdLate = `%s = ANY (ARRAY(SELECT late.id FROM transactions late
	WHERE late.platform_id = $1 AND late.created_at - uuid_v7_time(late.id) > interval '2 hours' AND late.created_at >= %s))`

// limitIDs limits what is read to ids of transactions that were created in an interval.
func (l *transactionList) limitIDs(created period.Interval) {
	_, highest := idsCreatedIn(created)
	if created.From.IsZero() {
		l.alternatives = l.alternatives.and(l.id() + " <= " + l.arg(highest))
		return
	}
	lowest := idAt(created.From.Add(-idMargin - maxDerivedDelay))
	first, last, from := l.arg(lowest), l.arg(highest), l.arg(created.From)
	l.alternatives = append(l.alternatives.and(fmt.Sprintf("%[1]s >= %[2]s AND %[1]s <= %[3]s", l.id(), first, last)),
		l.alternatives.and(fmt.Sprintf("%s < %s AND "+createdLate, l.id(), first, l.id(), from))...)
}

// count returns the statement that counts the matching transactions and those that were read.
func (l *transactionList) count() string {
	if len(l.conditions) == 0 {
		return "SELECT count(*), 0 FROM (" + l.selectEach("true", "", "", ports.MaxTotal+1) + ") t"
	}
	return "SELECT count(*) FILTER (WHERE matches), count(*) FROM (" +
		l.selectEach("("+strings.Join(l.conditions, " AND ")+") AS matches", "", "DESC", maxCandidates+1) + ") t"
}

// page returns the statement that reads a page. It adds its arguments.
func (l *transactionList) page(p ports.Paging) string {
	order, condition := "DESC", ""
	if len(l.conditions) > 0 {
		condition = " AND " + strings.Join(l.conditions, " AND ")
	}
	if p.Ascending {
		order = "ASC"
		condition += " AND " + l.id() + " > " + l.arg(p.After)
	} else if p.After != uuid.Nil {
		condition += " AND " + l.id() + " < " + l.arg(p.After)
	}
	return fmt.Sprintf(`SELECT %s FROM (SELECT * FROM (%s) t ORDER BY t.id %s LIMIT %d) t
		LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
		LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id
		ORDER BY t.id %s`, transactionColumns, l.selectEach("t.*", condition, order, p.Limit+1), order, p.Limit+1, order)
}

// selectEach returns the statement that reads up to limit rows of each alternative, in an order
// of the ids unless it is empty.
func (l *transactionList) selectEach(columns, condition, order string, limit int) string {
	if order != "" {
		order = "ORDER BY " + l.id() + " " + order
	}
	from := "transactions t WHERE t.platform_id = $1"
	if l.byStatus {
		from = "transaction_statuses s WHERE s.platform_id = $1"
		if strings.Contains(columns+condition, "t.") { // OFFSET 0: row by row, by the primary key
			from = "transaction_statuses s CROSS JOIN LATERAL (SELECT * FROM transactions x WHERE x.platform_id = $1 AND x.id = s.id OFFSET 0) t " +
				"WHERE s.platform_id = $1"
		}
	}
	selects := make([]string, len(l.alternatives))
	for i, alternative := range l.alternatives {
		selects[i] = fmt.Sprintf("(SELECT %s FROM %s AND %s%s %s LIMIT %d)", columns, from, alternative, condition, order, limit)
	}
	each := strings.Join(selects, " UNION ALL ")
	if l.owners == "" {
		return each
	}
	return fmt.Sprintf("SELECT t.* FROM (%s) o CROSS JOIN LATERAL (%s) t", l.owners, each)
}

// hasReference uses quote_reference_unique and transactions_by_reference; $1 is
// the platform.
const hasReference = `t.id IN (
	SELECT transaction_id FROM quotes WHERE platform_id = $1 AND reference = ? AND reference <> ''
	UNION ALL
	SELECT id FROM transactions WHERE platform_id = $1 AND reference = ? AND reference <> '')`

// accountFilter returns the filter for transactions of which one of the ends is the account or
// the UMA address. It returns false if the text is neither.
func (l *transactionList) accountFilter(text string, ends []string) (filter transactionFilter, ok bool) {
	var condition string
	var value any
	if external, err := ident.ParseExternalAccount(text); err == nil {
		condition, value = "t.%[1]s_external = %[2]s", external.UUID()
	} else if internal, err := ident.ParseInternalAccount(text); err == nil {
		condition, value = "t.%[1]s_internal = %[2]s", internal.UUID()
	} else if strings.HasPrefix(text, "$") {
		// The second condition allows the use of the partial indexes.
		condition, value = "t.%[1]s_uma = %[2]s AND t.%[1]s_uma <> ''", strings.ToLower(text)
	} else {
		return nil, false
	}
	argument := l.arg(value)
	for i, end := range ends {
		alternative := fmt.Sprintf(condition, end, argument)
		if i > 0 { // not those of the first alternative again
			alternative += " AND (" + fmt.Sprintf(condition, ends[0], argument) + ") IS NOT TRUE"
		}
		filter = append(filter, alternative)
	}
	return filter, true
}
