package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// Transactions uses the primary key, or the index of the reference, account, agent, customer or exact amount of the
// filter; and transaction_statuses if it has a status or a type only.
func (db *DB) Transactions(ctx context.Context, p ident.Platform,
	f ports.TransactionFilter) (page ports.Page[transaction.Transaction], err error) {
	l, ok := newTransactionList(p, f)
	if !ok {
		return page, nil
	}
	return selectPageOf(ctx, db, l, f.Paging, transactionColumns, func(rows pgx.Rows) (transaction.Transaction, error) {
		return scanTransaction(ctx, db, rows)
	})
}

// Quotes uses the indexes of Transactions.
func (db *DB) Quotes(ctx context.Context, p ident.Platform, f ports.QuoteFilter) (page ports.Page[ports.QuoteState], err error) {
	l, ok := newQuoteList(p, f)
	if !ok {
		return page, nil
	}
	return selectPageOf(ctx, db, l, f.Transactions.Paging, transactionColumns, func(rows pgx.Rows) (ports.QuoteState, error) {
		return scanQuote(ctx, db, rows)
	})
}

// newQuoteList returns the list of the transactions with a quote that match a filter; false if nothing can match. A transaction is
// created with its quote, so both have one order.
func newQuoteList(p ident.Platform, f ports.QuoteFilter) (list, bool) {
	of := f.Transactions
	of.Type, of.Statuses = "", nil
	for _, status := range f.Statuses {
		of.Type, of.Statuses = transaction.Outgoing, append(of.Statuses, transaction.Status(status))
		if status == quote.Completed {
			of.Statuses = append(of.Statuses, transaction.Failed)
		}
	}
	slices.Sort(of.Statuses)
	of.Statuses = slices.Compact(of.Statuses)
	l, ok := newTransactionList(p, of)
	if len(f.Statuses) > 0 {
		l.where("CASE WHEN t.status = ? AND t.stage = ? THEN ? ELSE t.status END IN (?)", // as quote.StatusOf
			string(transaction.Failed), string(transaction.Delivered), string(quote.Completed), bun.List(f.Statuses))
	}
	l.where("t.quote_id IS NOT NULL")
	return l, ok
}

// newTransactionList returns the list of a filter; false if nothing can match. The first of the
// indexed filters selects by its index.
func newTransactionList(p ident.Platform, f ports.TransactionFilter) (list, bool) {
	l := newJoinedList("transactions AS t", "t", p)
	l.details = "LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id " +
		"LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id"
	var indexed [][]condition
	if f.Reference != "" {
		indexed = append(indexed, []condition{{hasReference, formattable([]any{p, f.Reference, p, f.Reference})}})
	}
	for _, account := range []struct {
		text string
		ends []string
	}{{f.Sender, []string{"source"}}, {f.Receiver, []string{"destination"}}, {f.Account, []string{"source", "destination"}}} {
		if account.text == "" {
			continue
		}
		filter, ok := accountFilter(account.text, account.ends)
		if !ok {
			return list{}, false
		}
		indexed = append(indexed, filter)
	}
	if !f.Agent.IsZero() {
		indexed = append(indexed, []condition{{"t.agent_id = ?", []any{f.Agent.UUID()}}})
	}
	if !f.Customer.IsZero() {
		indexed = append(indexed, []condition{{"t.customer_id = ?", []any{f.Customer.UUID()}}})
	}
	if f.PlatformCustomerID != "" {
		// The further condition allows the use of the partial index customers_by_platform_customer_id.
		owners := condition{"SELECT c.id FROM customers c WHERE c.platform_id = ? AND c.platform_customer_id <> '' AND " +
			"c.platform_customer_id = ?", []any{p.UUID(), f.PlatformCustomerID}}
		if len(indexed) > 0 {
			l.where("t.customer_id IN ("+owners.text+")", owners.args...)
		} else {
			l.owners = owners
			indexed = append(indexed, []condition{{text: "t.customer_id = o.id"}})
		}
	}
	if isOneAmount(f.Amounts) { // by transactions_by_received_amount and transactions_by_sent
		amount := []any{f.Amounts.Min, bun.List(f.Amounts.Currencies)}
		if f.Amounts.Currency != "" {
			amount[1] = bun.List([]money.Currency{f.Amounts.Currency})
		}
		indexed = append(indexed, []condition{{"t.received_minor = ? AND t.received_currency IN (?)", amount},
			condition{"t.sent_minor = ? AND t.sent_currency IN (?)", amount}.and("t.direction = 'OUTGOING'").
				and("NOT (t.received_minor = ? AND t.received_currency IN (?))", amount...)})
	}
	if f.PlatformOwned {
		indexed = append(indexed, []condition{{text: "t.customer_id IS NULL"}})
	}
	for i, filter := range indexed {
		if i == 0 {
			l.alternatives = filter
		} else {
			l.filter = append(l.filter, joined(filter, " OR "))
		}
	}
	// Amounts are read of the rows themselves: millions of rows are read in their order ten times as fast as by their statuses.
	if len(indexed) == 0 && (len(f.Statuses) > 0 || f.Type != "") && f.Amounts.Currency == "" {
		l.byStatus(p, f.Statuses, f.Type)
	} else {
		if len(f.Statuses) > 0 {
			l.where("t.status IN (?)", bun.List(f.Statuses))
		}
		l.whereEqual("direction", string(f.Type))
	}
	l.whereAmounts(f.Amounts)
	if !f.Created.IsUnbounded() {
		l.createdLateIn(p, f.Created)
	}
	return l, true
}

// isOneAmount reports whether a filter selects a single amount, which indexes find.
func isOneAmount(f ports.AmountFilter) bool {
	return (f.Currency != "" || len(f.Currencies) > 0) && f.Min > 0 && f.Min == f.Max
}

// whereAmounts limits the list to transactions of a currency and, in it, of an amount. What was sent is that of outgoing ones
// only: nobody is shown what was sent to a customer.
func (l *list) whereAmounts(f ports.AmountFilter) {
	if f.Currency == "" || isOneAmount(f) {
		return
	}
	side := func(name string) condition {
		c := condition{"? = ?", []any{bun.Ident("t." + name + "_currency"), string(f.Currency)}}
		if f.Min > 0 {
			c = c.and("? >= ?", bun.Ident("t."+name+"_minor"), f.Min)
		}
		if f.Max > 0 {
			c = c.and("? <= ?", bun.Ident("t."+name+"_minor"), f.Max)
		}
		return c
	}
	sent := side("sent").and("t.direction = ?", string(transaction.Outgoing))
	l.filter = append(l.filter, joined([]condition{side("received"), sent}, " OR "))
}

// byStatus selects transactions by the primary key of transaction_statuses; no status and an empty type are any.
func (l *list) byStatus(p ident.Platform, statuses []transaction.Status, kind transaction.Type) {
	types := []transaction.Type{kind}
	if len(statuses) == 0 {
		statuses = transaction.Statuses
	}
	if kind == "" {
		types = []transaction.Type{transaction.Outgoing, transaction.Incoming}
	}
	// OFFSET 0: row by row, by the primary key.
	const row = " CROSS JOIN LATERAL (SELECT * FROM transactions x WHERE x.platform_id = s.platform_id AND x.id = s.id OFFSET 0) AS t"
	details := l.details
	*l = newJoinedList("transaction_statuses AS s", "s", p)
	l.row, l.details = row, details
	for _, s := range statuses {
		for _, t := range types {
			l.alternatives = append(l.alternatives, condition{"s.status = ? AND s.direction = ?", []any{string(s), string(t)}})
		}
	}
}

// maxDerivedDelay is that of the index transactions_created_late: more than usually passes between the
// time in a derived id, which is that of a payment or a receipt, and the creation of the transaction.
const maxDerivedDelay = 2 * time.Hour

// createdLate are the transactions of an interval that were created longer after the time in their id,
// such as the deposits of unmatched funds, and payments that an outage delayed.
const createdLate = `ANY (ARRAY(SELECT late.id FROM transactions late
	WHERE late.platform_id = ? AND late.created_at - uuid_v7_time(late.id) > interval '2 hours' AND late.created_at >= ?))`

// createdLateIn limits the list of transactions to those that were created in the interval, and what is read to their ids.
func (l *list) createdLateIn(p ident.Platform, created period.Interval) {
	if !created.From.IsZero() {
		l.where("t.created_at >= ?", created.From)
	}
	if !created.To.IsZero() {
		l.where("t.created_at < ?", created.To)
	}
	_, highest := idsCreatedIn(created)
	id := bun.Ident(l.id())
	if created.From.IsZero() {
		l.byIndex("? <= ?", id, highest)
		return
	}
	lowest := idAt(created.From.Add(-idMargin - maxDerivedDelay))
	var limited []condition
	for _, alternative := range l.orAll() {
		limited = append(limited, alternative.and("? BETWEEN ? AND ?", id, lowest, highest),
			alternative.and("? < ? AND ? = "+createdLate, id, lowest, id, p, created.From))
	}
	l.alternatives = limited
}

// hasReference uses quote_reference_unique and transactions_by_reference.
const hasReference = `t.id IN (
	SELECT transaction_id FROM quotes WHERE platform_id = ? AND reference = ? AND reference <> ''
	UNION ALL
	SELECT id FROM transactions WHERE platform_id = ? AND reference = ? AND reference <> '')`

// accountFilter returns the filter for transactions of which one of the ends is the account or
// the UMA address. It returns false if the text is neither.
func accountFilter(text string, ends []string) (filter []condition, ok bool) {
	var is string
	var value any
	if external, err := ident.ParseExternalAccount(text); err == nil {
		is, value = "t.%[1]s_external = ?", external.UUID()
	} else if internal, err := ident.ParseInternalAccount(text); err == nil {
		is, value = "t.%[1]s_internal = ?", internal.UUID()
	} else if strings.HasPrefix(text, "$") {
		// The second condition allows the use of the partial indexes.
		is, value = "t.%[1]s_uma = ? AND t.%[1]s_uma <> ''", strings.ToLower(text)
	} else {
		return nil, false
	}
	for i, end := range ends {
		alternative := condition{fmt.Sprintf(is, end), []any{value}}
		if i > 0 { // not those of the first alternative again
			alternative = alternative.and("("+fmt.Sprintf(is, ends[0])+") IS NOT TRUE", value)
		}
		filter = append(filter, alternative)
	}
	return filter, true
}
