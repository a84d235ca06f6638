package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

const insertQuotes = `
	INSERT INTO quotes (platform_id, id, transaction_id, side, locked_amount, fees, fee_fixed, fee_variable, fee_fraction,
		rate, market_rate, rounding_sent, rounding_received, network, reference, instructions, description, purpose, expires_at, created_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[],
		$10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
		$19::timestamptz[], $20::timestamptz[])
	ON CONFLICT (platform_id, id) DO NOTHING`

const insertTransactions = `
	INSERT INTO transactions (platform_id, id, quote_id, customer_id, direction, status, refund_status, stage, failure_reason,
		source_external, source_internal, destination_external, destination_internal, source_rail, source_account, destination_rail, destination_account, receipt_id,
		sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at,
		settled_at, source_uma, destination_uma, reference, details, agent_id, usage_day, usage_given_back, payee_seal)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
		$10::uuid[], $11::uuid[], $12::uuid[], $13::uuid[], $14::text[], $15::text[], $16::text[], $17::text[], $18::uuid[],
		$19::text[], $20::bigint[], $21::text[], $22::bigint[], $23::timestamptz[], $24::timestamptz[],
		$25::timestamptz[], $26::text[], $27::text[], $28::text[], $29::text[], $30::uuid[], $31::date[], $32::boolean[], $33::text[])
	ON CONFLICT (platform_id, id) DO NOTHING`

func (u *unit) CreateQuotes(ctx context.Context, quotes []quote.Quote, transactions []transaction.Transaction) error {
	if err := u.insertQuotes(quotes); err != nil {
		return err
	}
	return u.insertTransactions(ctx, transactions)
}

// CreateTransactions stores transactions without a quote.
func (u *unit) CreateTransactions(ctx context.Context, transactions []transaction.Transaction) error {
	if len(transactions) == 0 {
		return nil
	}
	return u.insertTransactions(ctx, transactions)
}

func (u *unit) insertQuotes(quotes []quote.Quote) error {
	n := len(quotes)
	platforms, ids, transactions := make(idArray, n), make(idArray, n), make(idArray, n)
	sides, locked := make([]string, n), make([]int64, n)
	fees, fixed, variable, fraction := make([]int64, n), make([]int64, n), make([]int64, n), make([]string, n)
	rates, markets, sent, received := make([]string, n), make([]string, n), make([]int64, n), make([]int64, n)
	networks, references, ways := make([]string, n), make([]string, n), make([]string, n)
	descriptions, purposes := make([]string, n), make([]string, n)
	expires, created := make(timeArray, n), make(timeArray, n)
	for i := range quotes {
		q := &quotes[i]
		text, err := storedInstructions(q)
		if err != nil {
			return err
		}
		platforms[i], ids[i], transactions[i] = pgID(q.Platform.UUID()), pgID(q.ID.UUID()), pgID(q.Transaction.UUID())
		sides[i], locked[i] = string(q.Side), q.LockedAmount
		fees[i], fixed[i], variable[i], fraction[i] = q.Pricing.Fees, q.Pricing.FixedFee, q.Pricing.VariableFee, q.Pricing.FeeRate.String()
		rates[i], markets[i] = q.Pricing.Rate.String(), q.Pricing.Market.String()
		sent[i], received[i] = q.Pricing.RoundingSent, q.Pricing.RoundingReceived
		networks[i], references[i], ways[i] = q.Source.Network, q.Reference, string(text)
		descriptions[i], purposes[i] = q.Description, q.Purpose
		expires[i], created[i] = pgTime(q.ExpiresAt), pgTime(q.CreatedAt)
	}
	u.queueExec(insertQuotes, platforms, ids, transactions, sides, locked, fees, fixed, variable, fraction,
		rates, markets, sent, received, networks, references, ways, descriptions, purposes, expires, created)
	return nil
}

// storedInstructions returns the column of a quote. How to pay with a wallet follows from the payload,
// which the transaction has: it is encrypted there, because it can name the address of a person.
func storedInstructions(q *quote.Quote) ([]byte, error) {
	if transaction.IsSigned(q.Instructions) {
		return nil, nil
	}
	return json.Marshal(q.Instructions)
}

func (u *unit) insertTransactions(ctx context.Context, transactions []transaction.Transaction) error {
	n := len(transactions)
	platforms, ids, quotes, customers := make(idArray, n), make(idArray, n), make(idArray, n), make(idArray, n)
	directions, statuses, refunds, reached, reasons := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	fromExternal, fromInternal := make(idArray, n), make(idArray, n)
	toExternal, toInternal := make(idArray, n), make(idArray, n)
	sourceRails, sourceAccounts := make([]string, n), make([]string, n)
	destinationRails, destinationAccounts, receipts := make([]string, n), make([]string, n), make(idArray, n)
	sentIn, sent, receivedIn, received := make([]string, n), make([]int64, n), make([]string, n), make([]int64, n)
	created, updated, settled := make(timeArray, n), make(timeArray, n), make(timeArray, n)
	fromUMA, toUMA, references, details := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	agents, usageDays, givenBack, payees := make(idArray, n), make(dayArray, n), make(boolArray, n), make([]string, n)
	for i := range transactions {
		t := &transactions[i]
		platforms[i], ids[i], quotes[i], customers[i] = pgID(t.Platform.UUID()), pgID(t.ID.UUID()), pgID(t.Quote.UUID()), pgID(t.Customer.UUID())
		directions[i], statuses[i], refunds[i] = string(t.Type), string(t.State.Status), string(t.State.Refund)
		reached[i], reasons[i] = string(t.State.Stage), string(t.State.Reason)
		fromExternal[i], fromInternal[i] = pgID(t.Source.ExternalAccount.UUID()), pgID(t.Source.InternalAccount.UUID())
		toExternal[i], toInternal[i] = pgID(t.Destination.ExternalAccount.UUID()), pgID(t.Destination.InternalAccount.UUID())
		sourceRails[i], sourceAccounts[i] = string(t.SourceRail), t.SourceAccount
		destinationRails[i], destinationAccounts[i], receipts[i] = string(t.DestinationRail), t.DestinationAccount, pgID(t.Receipt.UUID())
		sentIn[i], sent[i] = string(t.Pricing.Sent.Currency), t.Pricing.Sent.Minor
		receivedIn[i], received[i] = string(t.Pricing.Received.Currency), t.Pricing.Received.Minor
		created[i], updated[i], settled[i] = pgTime(t.CreatedAt), pgTime(t.UpdatedAt), pgTime(t.SettledAt)
		fromUMA[i], toUMA[i] = t.Source.UMA, t.Destination.UMA
		agents[i] = pgID(t.Agent.UUID())
		usageDays[i], givenBack[i] = pgAgentUsage(t.AgentUsage)
		if t.Quote.IsZero() {
			references[i] = t.Reference // otherwise the quote has it
		}
		var err error
		if details[i], err = u.db.writeDetails(ctx, t); err != nil {
			return err
		}
		if payees[i], err = u.db.sealDigest(ctx, t.Payee); err != nil {
			return err
		}
	}
	u.queueExec(insertTransactions, platforms, ids, quotes, customers, directions, statuses, refunds, reached, reasons,
		fromExternal, fromInternal, toExternal, toInternal, sourceRails, sourceAccounts, destinationRails, destinationAccounts, receipts, sentIn, sent, receivedIn, received, created, updated,
		settled, fromUMA, toUMA, references, details, agents, usageDays, givenBack, payees)
	return nil
}

// quoteColumns are the columns that scanQuote reads.
const quoteColumns = transactionColumns + `, q.side, q.locked_amount, q.purpose`

func scanQuote(ctx context.Context, db *DB, rows pgx.Rows, more ...any) (ports.QuoteState, error) {
	var side, purpose string
	var locked int64
	t, err := scanTransaction(ctx, db, rows, append([]any{&side, &locked, &purpose}, more...)...)
	return ports.QuoteState{Transaction: t, Quote: quote.Quote{
		ID: t.Quote, Platform: t.Platform, Transaction: t.ID, Customer: t.Customer, Source: t.Source, Destination: t.Destination,
		Side: quote.Side(side), LockedAmount: locked, Pricing: t.Pricing, Reference: t.Reference, Instructions: t.Instructions,
		Description: t.Description, Purpose: purpose, DestinationRail: t.DestinationRail, Counterparty: t.Counterparty, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt,
	}}, err
}

// readQuote uses the primary keys of quotes, transactions and customers.
const readQuote = `
	SELECT ` + quoteColumns + `
	FROM quotes q
	JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id` + customerOfTransaction + `
	WHERE q.platform_id = $1 AND q.id = $2`

// Quote reads a quote and its transaction.
func (db *DB) Quote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error) {
	found := ports.QuoteState{}
	rows, err := db.pool.Query(ctx, readQuote, pgx.QueryExecModeCacheStatement, p.UUID(), id.UUID())
	if err == nil {
		err = forEachRow(rows, func(rows pgx.Rows) (err error) {
			found, err = scanQuote(ctx, db, rows)
			return err
		})
	}
	if err == nil && found.Quote.ID.IsZero() {
		err = fault.New(fault.QuoteNotFound, "There is no quote %s.", id)
	}
	return found.Quote, found.Transaction, err
}

// readQuotes uses the primary keys of quotes, transactions and customers.
const readQuotes = `
	SELECT ` + quoteColumns + `
	FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	JOIN quotes q ON q.platform_id = k.platform_id AND q.id = k.id
	JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id` + customerOfTransaction

// QuotesByKey implements ports.AgentPaymentReader. It does not read the parties.
func (db *DB) QuotesByKey(ctx context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error) {
	found := make(map[ports.QuoteKey]ports.QuoteState, len(keys))
	platforms, ids := quoteKeyArrays(keys)
	rows, err := db.pool.Query(ctx, readQuotes, pgx.QueryExecModeCacheStatement, platforms, ids)
	if err != nil {
		return nil, err
	}
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		state, err := scanQuote(ctx, db, rows)
		found[ports.QuoteKey{Platform: state.Quote.Platform, ID: state.Quote.ID}] = state
		return err
	})
}

func quoteKeyArrays(keys []ports.QuoteKey) (platforms, ids idArray) {
	for _, k := range keys {
		platforms, ids = append(platforms, pgID(k.Platform.UUID())), append(ids, pgID(k.ID.UUID()))
	}
	return platforms, ids
}

// lockQuotes uses the primary keys of quotes, transactions and their parties. Rows
// are locked in the order of their keys, as lockTransactions does.
const lockQuotes = `
	WITH wanted AS (
		SELECT q.platform_id, q.transaction_id AS id FROM quotes q JOIN unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) USING (platform_id, id)),
	locked AS MATERIALIZED (
		SELECT t.* FROM transactions t JOIN wanted USING (platform_id, id)
		ORDER BY t.platform_id, t.id FOR UPDATE OF t)
	SELECT ` + quoteColumns + `,` + partyStateColumns + ` FROM locked t
	JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id` + partyStateTables

func (u *unit) LockQuotes(ctx context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error) {
	found := make(map[ports.QuoteKey]ports.QuoteState, len(keys))
	platforms, ids := quoteKeyArrays(keys)
	err := u.query(ctx, lockQuotes, []any{platforms, ids}, func(rows pgx.Rows) error {
		var parties partyStates
		state, err := scanQuote(ctx, u.db, rows, parties.scanTargets()...)
		state.Parties = parties.parties()
		found[ports.QuoteKey{Platform: state.Quote.Platform, ID: state.Quote.ID}] = state
		return err
	})
	return found, err
}
