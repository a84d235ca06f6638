package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// transactionColumns are the columns that scanTransaction reads, of a transaction t, its quote q
// and its customer c.
const transactionColumns = `
	t.platform_id, t.id, t.quote_id, t.customer_id, coalesce(c.platform_customer_id, ''), t.direction,
	t.status, t.refund_status, t.stage, t.failure_reason,
	t.source_external, t.source_internal, t.destination_external, t.destination_internal,
	t.source_rail, t.source_account, t.destination_rail, t.destination_account, t.receipt_id, t.sent_currency, t.sent_minor, t.received_currency, t.received_minor,
	t.funded_currency, t.funded_minor, t.refund_reason, t.refund_at, t.refund_settled_at,
	t.created_at, t.updated_at, t.settled_at, t.expected_settlement_at, t.agent_id, t.usage_day, t.usage_given_back,
	coalesce(q.fees, 0), coalesce(q.fee_fixed, 0), coalesce(q.fee_variable, 0), coalesce(q.fee_fraction, '0'),
	coalesce(q.rate, '1'), coalesce(q.market_rate, '1'), coalesce(q.rounding_sent, 0), coalesce(q.rounding_received, 0),
	coalesce(q.network, ''), coalesce(q.reference, t.reference), coalesce(q.instructions, ''), coalesce(q.description, ''),
	q.expires_at, t.source_uma, t.destination_uma, t.details, t.payee_seal`

// columnsWithoutInstructions are the same without the payment instructions, which are long and
// not needed for decisions.
var columnsWithoutInstructions = strings.Replace(transactionColumns, "coalesce(q.instructions, '')", "''", 1)

const transactionTables = `
	transactions t
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id` + customerOfTransaction

func scanTransaction(ctx context.Context, db *DB, rows pgx.Rows, more ...any) (transaction.Transaction, error) {
	var (
		t                                                         transaction.Transaction
		platformID, id, quoteID, customerID, receiptID            pgtype.UUID
		agentID                                                   pgtype.UUID
		usageDay                                                  pgtype.Date
		givenBack                                                 pgtype.Bool
		fromExternal, fromInternal, toExternal, toInternal        pgtype.UUID
		sentIn, receivedIn, fundedIn                              string
		refundReason, feeFraction, rate, market, ways             string
		network, details                                          string
		refundAt, refundSettledAt, settledAt, expectedAt, expires pgtype.Timestamptz
		fundedMinor                                               int64
		direction, status, refundStatus, reached, failReason      string
	)
	if err := rows.Scan(append([]any{&platformID, &id, &quoteID, &customerID, &t.PlatformCustomerID, &direction,
		&status, &refundStatus, &reached, &failReason,
		&fromExternal, &fromInternal, &toExternal, &toInternal,
		&t.SourceRail, &t.SourceAccount, &t.DestinationRail, &t.DestinationAccount, &receiptID, &sentIn, &t.Pricing.Sent.Minor, &receivedIn, &t.Pricing.Received.Minor,
		&fundedIn, &fundedMinor, &refundReason, &refundAt, &refundSettledAt,
		&t.CreatedAt, &t.UpdatedAt, &settledAt, &expectedAt, &agentID, &usageDay, &givenBack,
		&t.Pricing.Fees, &t.Pricing.FixedFee, &t.Pricing.VariableFee, &feeFraction,
		&rate, &market, &t.Pricing.RoundingSent, &t.Pricing.RoundingReceived,
		&network, &t.Reference, &ways, &t.Description, &expires,
		&t.Source.UMA, &t.Destination.UMA, &details, &t.Payee}, more...)...); err != nil {
		return t, err
	}
	t.Platform.SetUUID(platformID.Bytes)
	t.ID.SetUUID(id.Bytes)
	t.Quote.SetUUID(quoteID.Bytes)
	t.Customer.SetUUID(customerID.Bytes)
	t.Receipt.SetUUID(receiptID.Bytes)
	t.Agent.SetUUID(agentID.Bytes)
	if usageDay.Valid {
		t.AgentUsage = &transaction.AgentUsage{Day: usageDay.Time.Format(time.DateOnly), GivenBack: givenBack.Bool}
	}
	t.Type = transaction.Type(direction)
	t.State = transaction.State{Status: transaction.Status(status), Refund: transaction.RefundStatus(refundStatus),
		Stage: transaction.Stage(reached), Reason: transaction.FailureReason(failReason)}
	t.Pricing.Sent.Currency, t.Pricing.Received.Currency = money.Currency(sentIn), money.Currency(receivedIn)
	t.Funded = money.Amount{Minor: fundedMinor, Currency: money.Currency(fundedIn)}
	t.Source.Customer, t.Source.Currency, t.Source.Network = t.Customer, t.Pricing.Sent.Currency, network
	t.Source.ExternalAccount.SetUUID(fromExternal.Bytes)
	t.Source.InternalAccount.SetUUID(fromInternal.Bytes)
	t.Destination.Customer, t.Destination.Currency = t.Customer, t.Pricing.Received.Currency
	t.Destination.ExternalAccount.SetUUID(toExternal.Bytes)
	t.Destination.InternalAccount.SetUUID(toInternal.Bytes)
	t.CreatedAt, t.UpdatedAt = t.CreatedAt.UTC(), t.UpdatedAt.UTC()
	t.SettledAt, t.ExpiresAt, t.ExpectedSettlementAt = settledAt.Time.UTC(), expires.Time.UTC(), expectedAt.Time.UTC()
	if t.State.Refund != transaction.NoRefund {
		t.Refund = &transaction.Refund{Reference: transaction.RefundReference(t.ID, t.Reference), Amount: t.Refundable(),
			Reason: transaction.RefundReason(refundReason), InitiatedAt: refundAt.Time.UTC(), SettledAt: refundSettledAt.Time.UTC()}
	}
	if err := db.readDetails(ctx, &t, details); err != nil {
		return t, err
	}
	if err := parsePricing(&t, rate, market, feeFraction, ways); err != nil {
		return t, err
	}
	if err := db.checkPayee(ctx, &t); err != nil {
		return t, err
	}
	if t.Payload != "" {
		t.Instructions = transaction.SigningInstructions(t.Payload)
	}
	return t, nil
}

func parsePricing(t *transaction.Transaction, rate, market, feeFraction, ways string) (err error) {
	if t.Pricing.Rate, err = money.ParseRate(rate); err != nil {
		return fmt.Errorf("rate of %s: %w", t.ID, err)
	}
	if t.Pricing.Market, err = money.ParseRate(market); err != nil {
		return fmt.Errorf("market rate of %s: %w", t.ID, err)
	}
	if t.Pricing.FeeRate, err = money.ParseFraction(feeFraction); err != nil {
		return fmt.Errorf("fee of %s: %w", t.ID, err)
	}
	if ways != "" {
		if err = json.Unmarshal([]byte(ways), &t.Instructions); err != nil {
			return fmt.Errorf("instructions of %s: %w", t.ID, err)
		}
	}
	return nil
}

// lockTransactions uses the primary keys of transactions, quotes and customers.
// Rows are locked in the order of their keys, so that two batches cannot deadlock.
const lockTransactions = `
	WITH locked AS MATERIALIZED (
		SELECT t.* FROM transactions t
		JOIN unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) USING (platform_id, id)
		ORDER BY t.platform_id, t.id FOR UPDATE OF t)
	SELECT ` + transactionColumns + ` FROM locked t
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id`

func (u *unit) LockTransactions(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	found := make(map[ports.TransactionKey]transaction.Transaction, len(keys))
	platforms, ids := keyArrays(keys)
	err := u.query(ctx, lockTransactions, []any{platforms, ids}, func(rows pgx.Rows) error {
		t, err := scanTransaction(ctx, u.db, rows)
		found[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = t
		return err
	})
	return found, err
}

func keyArrays(keys []ports.TransactionKey) (platforms, ids idArray) {
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, func(a, b ports.TransactionKey) int {
		if c := a.Platform.Compare(b.Platform); c != 0 {
			return c
		}
		return a.ID.Compare(b.ID)
	})
	for _, k := range slices.Compact(sorted) {
		platforms, ids = append(platforms, pgID(k.Platform.UUID())), append(ids, pgID(k.ID.UUID()))
	}
	return platforms, ids
}

// updateTransactions uses the primary key and changes no indexed column.
const updateTransactions = `
	UPDATE transactions t SET status = n.status, refund_status = n.refund_status, stage = n.stage,
		failure_reason = n.failure_reason, funded_currency = n.funded_currency, funded_minor = n.funded_minor,
		refund_reason = n.refund_reason, refund_at = n.refund_at, refund_settled_at = n.refund_settled_at,
		updated_at = n.updated_at, settled_at = n.settled_at, source_rail = n.source_rail, source_account = n.source_account,
		destination_account = n.destination_account, receipt_id = n.receipt_id, usage_day = n.usage_day, usage_given_back = n.usage_given_back,
		expected_settlement_at = n.expected_settlement_at
	FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
		$9::text[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::text[], $15::text[], $16::uuid[], $17::date[], $18::boolean[], $19::text[], $20::timestamptz[])
		AS n(platform_id, id, status, refund_status, stage, failure_reason, funded_currency, funded_minor,
			refund_reason, refund_at, refund_settled_at, updated_at, settled_at, source_rail, source_account, receipt_id, usage_day, usage_given_back, destination_account, expected_settlement_at)
	WHERE t.platform_id = n.platform_id AND t.id = n.id`

func (u *unit) UpdateTransactions(ctx context.Context, transactions []transaction.Transaction) error {
	if len(transactions) == 0 {
		return nil
	}
	n := len(transactions)
	platforms, ids := make(idArray, n), make(idArray, n)
	status, refund, reached, reason := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	fundedIn, fundedMinor, refundReason := make([]string, n), make([]int64, n), make([]string, n)
	sourceRails, sourceAccounts, receipts := make([]string, n), make([]string, n), make(idArray, n)
	destinationAccounts := make([]string, n)
	refundAt, refundSettled, updated, settled, expected := make(timeArray, n), make(timeArray, n), make(timeArray, n), make(timeArray, n), make(timeArray, n)
	usageDays, givenBack := make(dayArray, n), make(boolArray, n)
	for i := range transactions {
		t := &transactions[i]
		platforms[i], ids[i] = pgID(t.Platform.UUID()), pgID(t.ID.UUID())
		status[i], refund[i] = string(t.State.Status), string(t.State.Refund)
		reached[i], reason[i] = string(t.State.Stage), string(t.State.Reason)
		fundedIn[i], fundedMinor[i] = string(t.Funded.Currency), t.Funded.Minor
		if t.Refund != nil {
			refundReason[i], refundAt[i], refundSettled[i] = string(t.Refund.Reason), pgTime(t.Refund.InitiatedAt), pgTime(t.Refund.SettledAt)
		}
		updated[i], settled[i], expected[i] = pgTime(t.UpdatedAt), pgTime(t.SettledAt), pgTime(t.ExpectedSettlementAt)
		sourceRails[i], sourceAccounts[i], receipts[i] = string(t.SourceRail), t.SourceAccount, pgID(t.Receipt.UUID())
		usageDays[i], givenBack[i] = pgAgentUsage(t.AgentUsage)
		destinationAccounts[i] = t.DestinationAccount
	}
	u.queueExec(updateTransactions, platforms, ids, status, refund, reached, reason, fundedIn, fundedMinor,
		refundReason, refundAt, refundSettled, updated, settled, sourceRails, sourceAccounts, receipts, usageDays, givenBack, destinationAccounts, expected)
	return u.updateDetails(ctx, transactions)
}

func (db *DB) TransactionsByKey(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	found := make(map[ports.TransactionKey]transaction.Transaction, len(keys))
	platforms, ids := keyArrays(keys)
	rows, err := db.pool.Query(ctx, readTransactions, pgx.QueryExecModeCacheStatement, platforms, ids)
	if err != nil {
		return nil, err
	}
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		t, err := scanTransaction(ctx, db, rows)
		found[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = t
		return err
	})
}

// readTransactions uses the primary keys of transactions, quotes and customers.
var readTransactions = `
	SELECT ` + columnsWithoutInstructions + `
	FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	JOIN transactions t ON t.platform_id = k.platform_id AND t.id = k.id
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id`
