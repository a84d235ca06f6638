package postgres

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// Rows of the first platform, of three. More than a total counts.
var manyTransactions = flag.Int("list-transactions", 40_000, "transactions of the first platform in TestLists")

const manyCustomers = 12_000

// fillLists writes transactions of one second each, and customers with accounts, of three
// platforms. Transaction n belongs to customer n % 1000 of its platform, or to the platform itself
// if that is 0, and to account n % 500; and an agent n % 500 started it.
const fillLists = `
CREATE FUNCTION pg_temp.test_id(platform int, n bigint, v7 boolean DEFAULT true) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
	SELECT (CASE WHEN v7 THEN lpad(to_hex((1773489600000 + n * 1000)::bigint), 12, '0') ELSE '000000000000' END || '7000' || '800' || platform::text || lpad(to_hex(n), 12, '0'))::uuid $$;
INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at)
SELECT pg_temp.test_id(p, 0, false), 'P', 'SANDBOX', true, '', '[]', now(), now() FROM generate_series(1, 3) p;
INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, region, uma_address, status, details, created_at, updated_at, deleted_at)
SELECT pg_temp.test_id(p, 0, false), pg_temp.test_id(p, n), 'customer-' || n %% %[2]d / 2, CASE WHEN n %% 1000 = 7 THEN 'BUSINESS' ELSE 'INDIVIDUAL' END, CASE WHEN n %% 1000 = 7 THEN 'DE' ELSE 'US' END, '$c' || n %% %[2]d / 2 || '@x', 'APPROVED', '{}', to_timestamp(1773489600 + n), to_timestamp(1773489600 + (n * 7919) %% 20000), CASE WHEN n %% 2 = 0 THEN now() END
FROM generate_series(1, 3) p, LATERAL generate_series(1, %[2]d / (p * p)) n;
INSERT INTO external_accounts (platform_id, id, customer_id, currency, account_type, fields, status, fingerprint, created_at, updated_at)
SELECT platform_id, id, CASE WHEN extract(epoch FROM created_at)::bigint %% 100 <> 0 THEN id END, 'USD', 'US_ACCOUNT', '{}', 'ACTIVE', id::text, created_at, now() FROM customers;
INSERT INTO internal_accounts (platform_id, id, customer_id, currency, account_type, status, created_at, updated_at, reference, instructions)
SELECT platform_id, id, id, 'USD', 'INTERNAL_FIAT', 'ACTIVE', created_at, now(), '', '' FROM customers;
INSERT INTO transactions (platform_id, id, customer_id, direction, status, refund_status, stage, failure_reason,
	source_external, source_internal, destination_external, source_rail, source_account, destination_rail, destination_account,
	sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details, agent_id, quote_id)
SELECT pg_temp.test_id(p, 0, false), pg_temp.test_id(p, n), CASE WHEN n %% 1000 <> 0 THEN pg_temp.test_id(p, n %% 1000) END, CASE WHEN n %% 10000 IN (5, 6) THEN 'INCOMING' ELSE 'OUTGOING' END,
	CASE n %% 10000 WHEN 1 THEN 'FAILED' WHEN 2 THEN 'EXPIRED' WHEN 3 THEN 'PENDING' WHEN 4 THEN 'PROCESSING' WHEN 5 THEN 'FAILED' ELSE 'COMPLETED' END, '', '', '',
	pg_temp.test_id(p, n %% 500), pg_temp.test_id(p, n %% 500), pg_temp.test_id(p, (n + 1) %% 500), '', '', '', '', 'USD', 1, 'USD', 1, to_timestamp(1773489600 + n), now(),
	'$s' || n %% 500 || '@x', '$s' || (n + 1) %% 500 || '@x', 'R' || n, '', pg_temp.test_id(p, n %% 500), CASE WHEN n %% 3 <> 0 THEN pg_temp.test_id(p, n) END
FROM generate_series(1, 3) p, LATERAL generate_series(1, %[1]d / (p * p)) n;
UPDATE transactions SET created_at = created_at + interval '1 day' WHERE id = pg_temp.test_id(2, 1);
INSERT INTO agent_actions (platform_id, id, agent_id, customer_id, action_type, status, quote_id, transaction_id, signature, reason, failure_code, created_at, updated_at)
SELECT platform_id, id, agent_id, agent_id, 'EXECUTE_QUOTE', CASE status WHEN 'COMPLETED' THEN 'APPROVED' ELSE 'PENDING_APPROVAL' END, id, CASE status WHEN 'COMPLETED' THEN id END, '', '', '', created_at, created_at FROM transactions;
INSERT INTO agent_attempts (platform_id, id, agent_id, customer_id, operation, decision, reasons, error, currency, amount, transaction_id, attempted_at)
SELECT platform_id, id, agent_id, agent_id, 'EXECUTE_QUOTE', 'ALLOWED', '[]', '', 'USD', 1, id, created_at FROM transactions;
INSERT INTO rail_payments (platform_id, id, kind, rail, country, connection, currency, amount, state, wait, reason, recorded_at)
SELECT platform_id, id, 'PAYOUT', 'SEPA', 'DE', 'bank', 'EUR', 1, CASE status WHEN 'PROCESSING' THEN 'REVIEW' ELSE 'DONE' END, CASE status WHEN 'PROCESSING' THEN 'LIMIT' ELSE '' END, '', created_at FROM transactions;
INSERT INTO tokens (platform_id, id, name, permissions, client_id, secret_hash, created_at, updated_at)
SELECT platform_id, id, 'T', '{VIEW}', platform_id::text || id, sha256(''), created_at, created_at FROM customers;
UPDATE customers SET status = 'PENDING', held_at = created_at, on_hold_at = created_at WHERE extract(epoch FROM created_at)::bigint %% 1000 = 0;
SELECT ledger_create_month_partitions('2026-03-14Z');
INSERT INTO ledger_postings (platform_id, id, seq, transaction_id, effective_at, recorded_at, kind, memo, digest)
SELECT pg_temp.test_id(p, 0, false), pg_temp.test_id(p, n), n, NULL, '2026-03-14Z', '2026-03-14Z', CASE n %% 3 WHEN 0 THEN 'unmatched_received' WHEN 1 THEN 'refund_failed' ELSE 'fee' END, '', sha256('')
FROM generate_series(1, 2) p, LATERAL generate_series(1, 6000) n;
ANALYZE;`

// statementOfData finds the statements that a test looks at.
var statementOfData = regexp.MustCompile(`platform_id|people|person_|sign_in_attempts`)

// tracedStatements records the statements of a pool.
type tracedStatements struct{ statements []pgx.TraceQueryStartData }

func (r *tracedStatements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if statementOfData.MatchString(data.SQL) { // not those of a new session
		r.statements = append(r.statements, data)
	}
	return ctx
}
func (r *tracedStatements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *tracedStatements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *tracedStatements) TraceBatchQuery(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	r.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: data.SQL, Args: data.Args})
}

func (r *tracedStatements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func statuses(s ...transaction.Status) []transaction.Status { return s }

// newListEnv returns a database with many rows, which SQL fills in, and a record of what its lists send.
func newListEnv(t *testing.T, fill string) (*DB, *tracedStatements) {
	t.Helper()
	url := pgtest.New(t)
	db, err := Open(t.Context(), Options{URL: url, AllPlatforms: true, MaxConnections: 2, MaxReadConnections: 1,
		Clock: portstest.NewFakeClock(time.Unix(1773489600+int64(*manyTransactions), 0))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if _, err := pgtest.Connect(t, url).Exec(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	trace := &tracedStatements{}
	config := db.readPool.Config()
	config.ConnConfig.Tracer = trace
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	traced := *db
	traced.readPool = pool
	return &traced, trace
}

func checkCounts(t *testing.T, db *DB) {
	// The counts by status are the totals of the lists since that time. The second platform has a transaction that was created a day
	// after its id.
	check := func(platform string, n int) (counts map[transaction.Status]int64) {
		t.Helper()
		var p ident.Platform
		p.SetUUID(uuid.MustParse(platform))
		ctx := ports.ForPlatform(t.Context(), p)
		since := time.Unix(1773489600+int64(n), 0)
		counts, err := db.CountTransactions(ctx, p, since)
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range transaction.Statuses {
			page, err := db.Transactions(ctx, p, ports.TransactionFilter{Paging: ports.Paging{Limit: 1},
				Statuses: []transaction.Status{status}, Created: period.Interval{From: since}})
			if got := counts[status]; err != nil || min(got, ports.MaxTotal) != page.Total ||
				(got > ports.MaxTotal) != page.TotalIsMinimum {
				t.Errorf("since %d: %d are %s, %v; the list has %d, a minimum: %t", n, got, status, err, page.Total, page.TotalIsMinimum)
			}
		}
		for _, of := range []ports.TransactionFilter{{Created: period.Interval{From: since, To: since.Add(exactFrom)}},
			{Created: period.Interval{To: since}}, {Created: period.Interval{To: since}, Type: transaction.Incoming}} {
			until, err := db.CountTransactionsByStatus(ctx, p, of)
			if err != nil || until.AreMinimum {
				t.Errorf("%+v: a minimum: %t, %v", of, until.AreMinimum, err)
			}
			for _, status := range transaction.Statuses {
				of.Paging, of.Statuses = ports.Paging{Limit: 1}, []transaction.Status{status}
				page, err := db.Transactions(ctx, p, of)
				if got := until.Counts[status]; err != nil || min(got, ports.MaxTotal) != page.Total ||
					(got > ports.MaxTotal) != page.TotalIsMinimum {
					t.Errorf("%+v: %d are %s, the list has %d, %v", of, got, status, page.Total, err)
				}
			}
		}
		all, err := db.CountTransactionsByStatus(ctx, p, ports.TransactionFilter{Created: period.Interval{From: since}})
		for _, status := range transaction.Statuses {
			of := status
			if err != nil || all.Counts[of] != counts[of] && !all.AreMinimum {
				t.Errorf("since %d: by status %d are %s, want %d, %v", n, all.Counts[of], status, counts[of], err)
			}
		}
		return counts
	}
	for _, n := range []int{0, 1, 9_999, 10_003, 30_000, *manyTransactions - 5, *manyTransactions + 1} {
		check("00000000-0000-7000-8001-000000000000", n)
	}
	var p ident.Platform
	p.SetUUID(uuid.MustParse("00000000-0000-7000-8001-000000000000"))
	days := []time.Time{time.Unix(1773489600, 0).Truncate(24 * time.Hour), time.Unix(1773489600, 0).AddDate(0, 0, -3)}
	byDay, err := db.CountTransactionsFrom(ports.ForPlatform(t.Context(), p), p, days,
		24*time.Hour)
	if err != nil || byDay[0][transaction.Completed] != ports.MaxTotal+1 || len(byDay[1]) > 0 {
		t.Errorf("by day: %v, %v", byDay, err)
	}
	for _, f := range []ports.TransactionFilter{{}, {Type: transaction.Outgoing}, {Amounts: ports.AmountFilter{Currency: "USD"}},
		{Type: transaction.Incoming, Amounts: ports.AmountFilter{Currency: "USD"}}} {
		counts, err := db.CountTransactionsByStatus(ports.ForPlatform(t.Context(), p), p, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range transaction.Statuses {
			of := f
			of.Paging, of.Statuses = ports.Paging{Limit: 1}, []transaction.Status{status}
			page, err := db.Transactions(ports.ForPlatform(t.Context(), p), p, of)
			if got := counts.Counts[of.Statuses[0]]; err != nil || min(got, ports.MaxTotal) != page.Total &&
				!page.TotalIsMinimum && !counts.AreMinimum {
				t.Errorf("%+v: %d are %s, the list has %d, %v", f, got, status, page.Total, err)
			}
		}
	}
	if late := check("00000000-0000-7000-8002-000000000000", 24*60*60); late[transaction.Failed] != 1 {
		t.Errorf("the transaction that was created late is not counted: %v", late)
	}
}

// testID returns the id of the first platform's row n.
func testID(n int64) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("%08x-%04x-7000-8001-%012x", (1773489600000+n*1000)>>16, (1773489600000+n*1000)&0xffff, n))
}

func TestLists_ManyRows(t *testing.T) {
	t.Parallel()
	// Lists of many rows read little, and say if their total was not counted to the end.
	db, trace := newListEnv(t, fmt.Sprintf(fillLists, *manyTransactions, manyCustomers))
	t.Run("ReadLittleByIndexes", func(t *testing.T) { checkListPlans(t, db, trace) })
	t.Run("TotalsAreExactUpToMaximum", func(t *testing.T) { checkTotals(t, db) })
	t.Run("CountsByStatus", func(t *testing.T) { checkCounts(t, db) })
}

func checkListPlans(t *testing.T, db *DB, trace *tracedStatements) {
	// With many rows of several platforms, every list and its total is read by an index: no table
	// is read sequentially, few rows are sorted, a page reads not much more than its rows and a
	// total at most maxCandidates, with their statuses. The generic plan, which does not know the arguments, is alike.
	const few = 1_000
	pageReads := 3_000 + *manyTransactions/250 // all transactions of an account
	var p ident.Platform
	p.SetUUID(uuid.MustParse("00000000-0000-7000-8001-000000000000"))
	ctx := ports.ForPlatform(t.Context(), p)
	var customer, rareCustomer ident.Customer
	customer.SetUUID(testID(7))
	rareCustomer.SetUUID(testID(10_001)) // without transactions
	var external ident.ExternalAccount
	external.SetUUID(testID(7))
	var internal ident.InternalAccount
	internal.SetUUID(testID(7))
	var a ident.Agent
	a.SetUUID(testID(7))
	var paid ident.Transaction
	paid.SetUUID(testID(20_000))
	at := func(n int) time.Time { return time.Unix(1773489600+int64(n), 0) }
	hour := period.Interval{From: at(20_000), To: at(23_600)}
	page := ports.Paging{Limit: 100}
	transactions := func(f ports.TransactionFilter) func() error {
		if f.Limit == 0 {
			f.Paging = page
		}
		return func() error { _, err := db.Transactions(ctx, p, f); return err }
	}
	quotes := func(f ports.QuoteFilter) func() error {
		f.Transactions.Paging = page
		return func() error { _, err := db.Quotes(ctx, p, f); return err }
	}
	customers := func(f ports.CustomerFilter) func() error {
		f.Paging = page
		return func() error { _, err := db.Customers(ctx, p, f); return err }
	}
	externals := func(f ports.ExternalAccountFilter) func() error {
		f.Paging = page
		return func() error { _, err := db.ExternalAccounts(ctx, p, f); return err }
	}
	internals := func(f ports.InternalAccountFilter) func() error {
		f.Paging = page
		return func() error { _, err := db.InternalAccounts(ctx, p, f); return err }
	}
	actions := func(f ports.AgentActionFilter) func() error {
		f.Paging = page
		return func() error { _, err := db.AgentActions(ctx, p, f); return err }
	}
	attempts := func(f ports.AgentAttemptFilter) func() error {
		f.Paging = page
		return func() error { _, err := db.AgentAttempts(ctx, p, f); return err }
	}
	for name, list := range map[string]func() error{
		"transactions":                  transactions(ports.TransactionFilter{}),
		"transactions, oldest first":    transactions(ports.TransactionFilter{Paging: ports.Paging{Limit: 100, Ascending: true}}),
		"transactions, a later page":    transactions(ports.TransactionFilter{Paging: ports.Paging{Limit: 100, After: testID(20_000)}}),
		"transactions of a customer":    transactions(ports.TransactionFilter{Customer: customer}),
		"transactions of nobody":        transactions(ports.TransactionFilter{Customer: rareCustomer}),
		"transactions by platform id":   transactions(ports.TransactionFilter{PlatformCustomerID: "customer-3"}),
		"transactions of the platform":  transactions(ports.TransactionFilter{PlatformOwned: true}),
		"transactions of an account":    transactions(ports.TransactionFilter{Account: external.String()}),
		"transactions of a balance":     transactions(ports.TransactionFilter{Account: internal.String()}),
		"transactions of an address":    transactions(ports.TransactionFilter{Account: "$s7@x"}),
		"transactions from an account":  transactions(ports.TransactionFilter{Sender: external.String()}),
		"transactions to an address":    transactions(ports.TransactionFilter{Receiver: "$s7@x", Customer: customer}),
		"transactions with a reference": transactions(ports.TransactionFilter{Reference: "R7", Type: transaction.Outgoing}),
		"transactions of a customer, type": transactions(ports.TransactionFilter{Customer: customer, Type: transaction.Outgoing,
			Statuses: statuses(transaction.Completed)}),
		"transactions of an hour": transactions(ports.TransactionFilter{Created: hour}),
		"completed transactions":  transactions(ports.TransactionFilter{Statuses: statuses(transaction.Completed)}),
		"completed, oldest first": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Completed),
			Paging: ports.Paging{Limit: 100, Ascending: true}}),
		"completed, a later page": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Completed),
			Paging: ports.Paging{Limit: 100, After: testID(20_000)}}),
		"failed transactions":  transactions(ports.TransactionFilter{Statuses: statuses(transaction.Failed)}),
		"expired transactions": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Expired)}),
		"pending transactions": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Pending)}),
		"processing, oldest first": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Processing),
			Paging: ports.Paging{Limit: 100, Ascending: true}}),
		"outgoing transactions": transactions(ports.TransactionFilter{Type: transaction.Outgoing}),
		"incoming transactions": transactions(ports.TransactionFilter{Type: transaction.Incoming}),
		"incoming, failed":      transactions(ports.TransactionFilter{Type: transaction.Incoming, Statuses: statuses(transaction.Failed)}),
		"incoming, expired":     transactions(ports.TransactionFilter{Type: transaction.Incoming, Statuses: statuses(transaction.Expired)}),
		"failed of an hour":     transactions(ports.TransactionFilter{Statuses: statuses(transaction.Failed), Created: hour}),
		"failed until": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Failed),
			Created: period.Interval{To: at(30_000)}}),
		"incoming since": transactions(ports.TransactionFilter{Type: transaction.Incoming,
			Created: period.Interval{From: at(100)}}),
		"incoming, failed, of an hour": transactions(ports.TransactionFilter{Type: transaction.Incoming, Statuses: statuses(transaction.Failed),
			Created: hour}),
		"completed of an hour": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Completed), Created: hour}),
		"failed of a customer": transactions(ports.TransactionFilter{Customer: customer, Statuses: statuses(transaction.Failed),
			Created: hour}),
		"failed of the platform": transactions(ports.TransactionFilter{PlatformOwned: true, Statuses: statuses(transaction.Failed)}),
		"failed of an account": transactions(ports.TransactionFilter{Account: external.String(), Statuses: statuses(transaction.Failed),
			Type: transaction.Incoming}),
		"completed or failed": transactions(ports.TransactionFilter{Statuses: statuses(transaction.Completed, transaction.Failed)}),
		"amounts of a currency": transactions(ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "USD", Min: 1, Max: 5},
			Statuses: statuses(transaction.Completed)}),
		"amounts of an hour": transactions(ports.TransactionFilter{Amounts: ports.AmountFilter{Currency: "USD", Min: 1},
			Type: transaction.Outgoing, Created: hour}),
		"amounts of a customer": transactions(ports.TransactionFilter{Customer: customer,
			Amounts: ports.AmountFilter{Currency: "EUR"}}),
		"quotes":                          quotes(ports.QuoteFilter{}),
		"completed quotes":                quotes(ports.QuoteFilter{Statuses: []quote.Status{quote.Completed}}),
		"failed quotes":                   quotes(ports.QuoteFilter{Statuses: []quote.Status{quote.Failed, quote.Expired}}),
		"quotes of a customer":            quotes(ports.QuoteFilter{Transactions: ports.TransactionFilter{Customer: customer}}),
		"quotes of an hour":               quotes(ports.QuoteFilter{Transactions: ports.TransactionFilter{Created: hour}}),
		"customers":                       customers(ports.CustomerFilter{}),
		"all customers":                   customers(ports.CustomerFilter{IncludeDeleted: true}),
		"deleted customers":               customers(ports.CustomerFilter{OnlyDeleted: true}),
		"customers by platform id":        customers(ports.CustomerFilter{PlatformCustomerID: "customer-3"}),
		"customers by any platform id":    customers(ports.CustomerFilter{PlatformCustomerID: "customer-3", IncludeDeleted: true}),
		"customers by address":            customers(ports.CustomerFilter{UMAAddress: "$c3@x", IncludeDeleted: true}),
		"customers of a region":           customers(ports.CustomerFilter{Region: "US", Created: hour}),
		"customers of a rare region":      customers(ports.CustomerFilter{Region: "DE"}),
		"customers of a rare type":        customers(ports.CustomerFilter{Type: "BUSINESS"}),
		"customers of a common type":      customers(ports.CustomerFilter{Type: "INDIVIDUAL"}),
		"customers changed in an hour":    customers(ports.CustomerFilter{Updated: period.Interval{From: at(5_000), To: at(5_100)}}),
		"customers changed since":         customers(ports.CustomerFilter{Updated: period.Interval{From: at(19_990)}}),
		"external accounts":               externals(ports.ExternalAccountFilter{Currency: "USD"}),
		"external accounts of a customer": externals(ports.ExternalAccountFilter{Customer: customer}),
		"external accounts of nobody":     externals(ports.ExternalAccountFilter{PlatformOwned: true}),
		"internal accounts":               internals(ports.InternalAccountFilter{Currency: "USD"}),
		"internal accounts of a customer": internals(ports.InternalAccountFilter{Customer: customer}),
		"balances of some owners": func() error {
			_, err := db.Readers().InternalAccountsOf(ctx, p, []ident.Customer{customer, rareCustomer, {}})
			return err
		},
		"unmatched funds": func() error {
			_, err := db.Unmatched(ctx, p, ports.UnmatchedFilter{Limit: 100})
			return err
		},
		"unmatched funds that wait": func() error {
			_, err := db.CountUnmatched(ctx, p, 50)
			return err
		},
		"list of unmatched funds that wait": func() error {
			_, err := db.Unmatched(ctx, p, ports.UnmatchedFilter{Limit: 100, Assigned: new(bool)})
			return err
		},
		"transactions of an agent":           transactions(ports.TransactionFilter{Agent: a}),
		"transactions of an agent, customer": transactions(ports.TransactionFilter{Agent: a, Customer: customer, Created: hour}),
		"actions":                            actions(ports.AgentActionFilter{}),
		"actions of an hour":                 actions(ports.AgentActionFilter{Created: hour}),
		"actions of an agent":                actions(ports.AgentActionFilter{Agent: a}),
		"actions of a customer":              actions(ports.AgentActionFilter{Customer: customer}),
		"actions that wait":                  actions(ports.AgentActionFilter{Status: agent.ActionPending}),
		"actions that wait of an agent":      actions(ports.AgentActionFilter{Status: agent.ActionPending, Agent: a}),
		"rejected actions":                   actions(ports.AgentActionFilter{Status: agent.ActionRejected, Agent: a}),
		"attempts":                           attempts(ports.AgentAttemptFilter{At: hour}),
		"attempts of an agent":               attempts(ports.AgentAttemptFilter{Agent: a, At: hour}),
		"refused attempts":                   attempts(ports.AgentAttemptFilter{Agent: a, Decision: agent.Refused}),
		"attempts at a payment":              attempts(ports.AgentAttemptFilter{Transaction: paid}),
		"tokens": func() error {
			_, err := db.Tokens(ctx, p, ports.TokenFilter{Paging: page})
			return err
		},
		"names of tokens": func() error {
			var token ident.Token
			token.SetUUID(testID(7))
			text := token.String()
			return db.Readers().NameTokens(ctx, p, &text)
		},
		"customers on hold": func() error {
			_, err := db.Readers().CustomersOnHold(ctx, p, 100)
			return err
		},
		"payments in review": func() error {
			_, err := db.Readers().RailPaymentsInReview(ctx, p, 100)
			return err
		},
		"reasons of actions": func() error {
			var action ident.AgentAction
			action.SetUUID(testID(20_000))
			_, err := db.Readers().ApprovalReasons(ctx, p, []ident.AgentAction{action})
			return err
		},
	} {
		trace.statements = nil
		if err := list(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sent := trace.statements
		if len(sent) == 0 || len(sent) > 2 {
			t.Fatalf("%s: %d statements, want a total and a page", name, len(sent))
		}
		for i := range sent {
			limit := float64(pageReads)
			if i < len(sent)-1 {
				limit = 2*maxCandidates + few // a row and its status
			}
			for kind, text := range explain(ctx, t, db.readPool, sent[i]) {
				var plans []struct{ Plan planNode }
				if err := json.Unmarshal([]byte(text), &plans); err != nil {
					t.Fatal(err)
				}
				read, faults := plans[0].Plan.check(few)
				if len(faults) > 0 || read > limit {
					t.Errorf("%s: %s reads %.0f rows, want at most %.0f; %q\n%s\n%s", name, kind, read, limit, faults, sent[i].SQL, text)
				}
			}
		}
	}
}

// explain returns the plan of a statement with what it read, and its generic plan.
func explain(ctx context.Context, t *testing.T, pool *pgxpool.Pool, statement pgx.TraceQueryStartData) map[string]string {
	t.Helper()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	var analyzed, generic string
	err = conn.QueryRow(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+statement.SQL,
		append([]any{pgx.QueryExecModeCacheDescribe}, statement.Args...)...).Scan(&analyzed)
	arguments := ""
	n := len(statement.Args)
	if n > 0 {
		if _, isMode := statement.Args[0].(pgx.QueryExecMode); isMode {
			n--
		}
	}
	if n > 0 {
		arguments = "(" + strings.Repeat("NULL, ", n-1) + "NULL)"
	}
	if err == nil {
		_, err = conn.Exec(ctx, "PREPARE list AS "+statement.SQL, pgx.QueryExecModeSimpleProtocol)
	}
	if err == nil {
		err = conn.QueryRow(ctx, "EXPLAIN (FORMAT JSON) EXECUTE list"+arguments, pgx.QueryExecModeSimpleProtocol).Scan(&generic)
	}
	if err == nil {
		_, err = conn.Exec(ctx, "DEALLOCATE list")
	}
	if err != nil {
		t.Fatalf("explain: %v\n%s", err, statement.SQL)
	}
	return map[string]string{"its plan": analyzed, "its generic plan": generic}
}

// planNode is a node of a plan.
type planNode struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Plans    []planNode
}

// check returns how many rows the node and those below it read from tables, and what is wrong
// with them.
func (n planNode) check(mostSorted float64) (read float64, faults []string) {
	for _, below := range n.Plans {
		more, found := below.check(mostSorted)
		read, faults = read+more, append(faults, found...)
		if strings.Contains(n.Type, "Sort") && below.Rows*below.Loops > mostSorted {
			faults = append(faults, fmt.Sprintf("sorts %.0f rows", below.Rows*below.Loops))
		}
	}
	if n.Relation != "" {
		read += (n.Rows + n.Removed) * n.Loops
	}
	if n.Type == "Seq Scan" && n.Relation != "platforms" {
		faults = append(faults, "reads all of "+n.Relation)
	}
	return read, faults
}

func checkTotals(t *testing.T, db *DB) {
	// A total is exact up to ports.MaxTotal; above, and where a filter leaves out too many rows to
	// count on, it is marked as a minimum.
	var p, small ident.Platform
	p.SetUUID(uuid.MustParse("00000000-0000-7000-8001-000000000000"))
	small.SetUUID(uuid.MustParse("00000000-0000-7000-8003-000000000000"))
	var customer ident.Customer
	customer.SetUUID(testID(7))
	for name, c := range map[string]struct {
		platform ident.Platform
		filter   ports.TransactionFilter
		total    int64
		minimum  bool
	}{
		"few": {small, ports.TransactionFilter{}, min(int64(*manyTransactions)/9, ports.MaxTotal),
			*manyTransactions/9 > ports.MaxTotal},
		"many":          {p, ports.TransactionFilter{}, ports.MaxTotal, true},
		"of a customer": {p, ports.TransactionFilter{Customer: customer}, int64(*manyTransactions) / 1000, false},
		"of a customer, completed": {p, ports.TransactionFilter{Customer: customer, Statuses: statuses(transaction.Completed)},
			int64(*manyTransactions) / 1000, false},
		"few, none of which match": {small,
			ports.TransactionFilter{Statuses: statuses(transaction.Expired), Type: transaction.Incoming}, 0, false},
		"many, few of which match": {p,
			ports.TransactionFilter{Statuses: statuses(transaction.Failed)}, 2 * (int64(*manyTransactions) / 10_000), false},
		"many, none of which match": {p,
			ports.TransactionFilter{Statuses: statuses(transaction.Expired), Type: transaction.Incoming}, 0, false},
		"many, of a type": {p, ports.TransactionFilter{Type: transaction.Incoming}, 2 * (int64(*manyTransactions) / 10_000), false},
		"of a type until": {p, ports.TransactionFilter{Type: transaction.Incoming,
			Created: period.Interval{To: time.Unix(1773489600+10_006, 0)}}, 3, false},
		"many, all of which match": {p, ports.TransactionFilter{Statuses: statuses(transaction.Completed)}, ports.MaxTotal, true},
		"both ends of an account":  {p, ports.TransactionFilter{Account: "$s7@x"}, 2 * (int64(*manyTransactions) / 500), false},
		"by the platform's own id": {p, ports.TransactionFilter{PlatformCustomerID: "customer-3"}, 2 * (int64(*manyTransactions) / 1000), false},
		"an hour": {p, ports.TransactionFilter{Created: period.Interval{From: time.Unix(1773489600+30_000, 0),
			To: time.Unix(1773489600+33_600, 0)}}, 3600, false},
	} {
		c.filter.Limit = 1
		page, err := db.Transactions(ports.ForPlatform(t.Context(), c.platform), c.platform, c.filter)
		if err != nil || page.Total != c.total || page.TotalIsMinimum != c.minimum {
			t.Errorf("%s: %d, a minimum: %t, %v; want %d, %t", name, page.Total, page.TotalIsMinimum, err, c.total, c.minimum)
		}
	}
	customers, err := db.Customers(ports.ForPlatform(t.Context(), p), p, ports.CustomerFilter{Paging: ports.Paging{Limit: 1},
		IncludeDeleted: true})
	if err != nil || customers.Total != ports.MaxTotal || !customers.TotalIsMinimum {
		t.Errorf("customers: %d, a minimum: %t, %v", customers.Total, customers.TotalIsMinimum, err)
	}
}
