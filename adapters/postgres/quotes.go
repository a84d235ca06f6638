package postgres

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
)

const insertQuotes = `
	INSERT INTO quotes (platform_id, id, transaction_id, side, locked_amount, fees, fee_fixed, fee_variable, fee_fraction,
		rate, market_rate, rounding_sent, rounding_received, network, reference, instructions, description, purpose, expires_at, created_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[],
		$10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[],
		$19::timestamptz[], $20::timestamptz[])
	ON CONFLICT (platform_id, id) DO NOTHING`

const insertTransactions = `
	INSERT INTO transactions (platform_id, id, quote_id, customer_id, direction, status, refund_status, reached, failure_reason,
		source_external, source_internal, destination_external, destination_internal, in_rail, out_rail,
		sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at,
		settled_at, source_uma, destination_uma, own_reference, details)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
		$10::uuid[], $11::uuid[], $12::uuid[], $13::uuid[], $14::text[], $15::text[],
		$16::text[], $17::bigint[], $18::text[], $19::bigint[], $20::timestamptz[], $21::timestamptz[],
		$22::timestamptz[], $23::text[], $24::text[], $25::text[], $26::text[])
	ON CONFLICT (platform_id, id) DO NOTHING`

func (u *unit) CreateQuotes(_ context.Context, quotes []quote.Quote, transactions []transaction.Transaction) error {
	if err := u.insertQuotes(quotes); err != nil {
		return err
	}
	return u.insertTransactions(transactions)
}

// CreateTransactions stores transactions that no quote has.
func (u *unit) CreateTransactions(_ context.Context, transactions []transaction.Transaction) error {
	if len(transactions) == 0 {
		return nil
	}
	return u.insertTransactions(transactions)
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
		text, err := json.Marshal(q.Instructions)
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
	u.write(insertQuotes, platforms, ids, transactions, sides, locked, fees, fixed, variable, fraction,
		rates, markets, sent, received, networks, references, ways, descriptions, purposes, expires, created)
	return nil
}

func (u *unit) insertTransactions(transactions []transaction.Transaction) error {
	n := len(transactions)
	platforms, ids, quotes, customers := make(idArray, n), make(idArray, n), make(idArray, n), make(idArray, n)
	directions, statuses, refunds, reached, reasons := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	fromExternal, fromInternal := make(idArray, n), make(idArray, n)
	toExternal, toInternal := make(idArray, n), make(idArray, n)
	in, out := make([]string, n), make([]string, n)
	sentIn, sent, receivedIn, received := make([]string, n), make([]int64, n), make([]string, n), make([]int64, n)
	created, updated, settled := make(timeArray, n), make(timeArray, n), make(timeArray, n)
	fromUMA, toUMA, references, details := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i := range transactions {
		t := &transactions[i]
		platforms[i], ids[i], quotes[i], customers[i] = pgID(t.Platform.UUID()), pgID(t.ID.UUID()), pgID(t.Quote.UUID()), pgID(t.Customer.UUID())
		directions[i], statuses[i], refunds[i] = string(t.Type), string(t.State.Status), string(t.State.Refund)
		reached[i], reasons[i] = string(t.State.Reached), string(t.State.Reason)
		fromExternal[i], fromInternal[i] = pgID(t.Source.ExternalAccount.UUID()), pgID(t.Source.InternalAccount.UUID())
		toExternal[i], toInternal[i] = pgID(t.Destination.ExternalAccount.UUID()), pgID(t.Destination.InternalAccount.UUID())
		in[i], out[i] = t.InRail, t.OutRail
		sentIn[i], sent[i] = string(t.Pricing.Sent.Currency), t.Pricing.Sent.Minor
		receivedIn[i], received[i] = string(t.Pricing.Received.Currency), t.Pricing.Received.Minor
		created[i], updated[i], settled[i] = pgTime(t.CreatedAt), pgTime(t.UpdatedAt), pgTime(t.SettledAt)
		fromUMA[i], toUMA[i] = t.Source.UMA, t.Destination.UMA
		if t.Quote.IsZero() {
			references[i] = t.Reference // a quote keeps its own
		}
		var err error
		if details[i], err = writeDetails(t); err != nil {
			return err
		}
	}
	u.write(insertTransactions, platforms, ids, quotes, customers, directions, statuses, refunds, reached, reasons,
		fromExternal, fromInternal, toExternal, toInternal, in, out, sentIn, sent, receivedIn, received, created, updated,
		settled, fromUMA, toUMA, references, details)
	return nil
}

// Quote rides on the primary keys of quotes and transactions.
func (db *DB) Quote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error) {
	q := quote.Quote{ID: id, Platform: p}
	var transactionID uuid.UUID
	var side string
	err := db.pool.QueryRow(ctx, `SELECT transaction_id, side, locked_amount, purpose FROM quotes WHERE platform_id = $1 AND id = $2`,
		pgx.QueryExecModeCacheStatement, p.UUID(), id.UUID()).Scan(&transactionID, &side, &q.LockedAmount, &q.Purpose)
	if isNone(err) {
		return q, transaction.Transaction{}, fault.New(fault.QuoteNotFound, "There is no quote %s.", id)
	}
	if err != nil {
		return q, transaction.Transaction{}, err
	}
	ident.Set(&q.Transaction, transactionID)
	t, err := db.Transaction(ctx, p, q.Transaction)
	if err != nil {
		return q, t, err
	}
	q.Side, q.Customer = quote.Side(side), t.Customer
	q.Source, q.Destination, q.Pricing = t.Source, t.Destination, t.Pricing
	q.Reference, q.Instructions, q.Description = t.Reference, t.Instructions, t.Description
	q.CreatedAt, q.ExpiresAt = t.CreatedAt, t.ExpiresAt
	return q, t, nil
}
