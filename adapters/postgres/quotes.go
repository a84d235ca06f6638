package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// quotes is the table quotes.
var quotes = schema.New("quotes", keyOfPlatform, func(q *quote.Quote) schema.Columns {
	p := &q.Pricing
	return schema.Columns{
		{Name: "platform_id", Field: &q.Platform}, {Name: "id", Field: &q.ID}, {Name: "transaction_id", Field: &q.Transaction},
		{Name: "side", Field: &q.Side}, {Name: "locked_amount", Field: &q.LockedAmount},
		{Name: "fees", Field: &p.Fees}, {Name: "fee_fixed", Field: &p.FixedFee}, {Name: "fee_variable", Field: &p.VariableFee},
		{Name: "fee_fraction", Field: schema.Fraction(&p.FeeRate)}, {Name: "rate", Field: schema.Rate(&p.Rate)},
		{Name: "market_rate", Field: schema.Rate(&p.Market)},
		{Name: "platform_fees", Field: schema.Optional(&p.PlatformFees)},
		{Name: "platform_fee_fixed", Field: schema.Optional(&p.PlatformFixedFee)},
		{Name: "platform_fee_bps", Field: schema.Optional(&p.PlatformFeeBps)},
		{Name: "rounding_sent", Field: &p.RoundingSent}, {Name: "rounding_received", Field: &p.RoundingReceived},
		{Name: "network", Field: &q.Source.Network}, {Name: "reference", Field: &q.Reference},
		{Name: "instructions", Type: "text", Field: instructionsText{&q.Instructions}},
		{Name: "description", Field: &q.Description}, {Name: "purpose", Field: &q.Purpose},
		{Name: "expires_at", Field: &q.ExpiresAt}, {Name: "created_at", Field: &q.CreatedAt},
		{Name: "expired_early_at", Field: &q.ExpiredEarlyAt},
	}
})

var insertQuotes = quotes.InsertAll("ON CONFLICT (platform_id, id) DO NOTHING")

// instructionsText is the column instructions. How to pay with a wallet follows from the payload, which the transaction has: it
// is encrypted there, because it can name the address of a person.
type instructionsText struct{ instructions *[]account.Instruction }

// TextValue implements pgtype.TextValuer.
func (c instructionsText) TextValue() (pgtype.Text, error) {
	if transaction.IsSigned(*c.instructions) {
		return pgtype.Text{Valid: true}, nil
	}
	text, err := encodeInstructions(*c.instructions)
	return pgtype.Text{String: string(text), Valid: true}, err
}

// ScanText implements pgtype.TextScanner.
func (c instructionsText) ScanText(v pgtype.Text) (err error) {
	*c.instructions, err = decodeInstructions([]byte(v.String))
	return err
}

// CreateQuotes implements payments.Tx.
func (u *Unit) CreateQuotes(ctx context.Context, quotes []quote.Quote, transactions []transaction.Transaction) error {
	if err := writeAll(ctx, u, insertQuotes, quotes); err != nil {
		return err
	}
	return u.CreateTransactions(ctx, transactions)
}

// expireQuoteEarly uses the primary key.
var expireQuoteEarly = quotes.Update("expired_early_at")

// ExpireQuoteEarly implements payments.Tx.
func (u *Unit) ExpireQuoteEarly(ctx context.Context, p ident.Platform, id ident.Quote, at time.Time) error {
	return write(ctx, u, expireQuoteEarly, quote.Quote{Platform: p, ID: id, ExpiredEarlyAt: at})
}

// CreateTransactions stores transactions without a quote.
func (u *Unit) CreateTransactions(ctx context.Context, transactions []transaction.Transaction) error {
	return writeAll(ctx, u, insertTransactions, transactions)
}

func scanQuote(ctx context.Context, db *DB, rows pgx.Rows, more ...any) (ports.QuoteState, error) {
	t, q, err := scanPayment(ctx, db, rows, more...)
	q.Customer, q.Source, q.Destination, q.DestinationRail = t.Customer, t.Source, t.Destination, t.DestinationRail
	q.Pricing, q.Instructions, q.Counterparty, q.UMA, q.Remittance = t.Pricing, t.Instructions, t.Counterparty, t.UMA, t.Remittance
	return ports.QuoteState{Transaction: t, Quote: q}, err
}

// readQuote uses the primary keys of quotes, transactions and customers.
var readQuote = `
	SELECT ` + transactionColumns + `
	FROM quotes q
	JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id` + customerOfTransaction + `
	WHERE q.platform_id = $1 AND q.id = $2`

// Quote reads a quote and its transaction.
func (db *DB) Quote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quote, transaction.Transaction, error) {
	found := ports.QuoteState{}
	err := db.read(ctx, readQuote, []any{p, id}, func(rows pgx.Rows) (err error) {
		found, err = scanQuote(ctx, db, rows)
		return err
	})
	if err == nil && found.Quote.ID.IsZero() {
		err = fault.New(fault.QuoteNotFound, "There is no quote %s.", id)
	}
	return found.Quote, found.Transaction, err
}

// readQuotes uses the primary keys of quotes, transactions and customers.
var readQuotes = `
	SELECT ` + transactionColumns + `
	FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	JOIN quotes q ON q.platform_id = k.platform_id AND q.id = k.id
	JOIN transactions t ON t.platform_id = q.platform_id AND t.id = q.transaction_id` + customerOfTransaction

// QuotesByKey implements payments.Store. It does not read the parties.
func (db *DB) QuotesByKey(ctx context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error) {
	found := make(map[ports.QuoteKey]ports.QuoteState, len(keys))
	platforms, ids := quoteKeyArrays(keys)
	return found, db.read(ctx, readQuotes, []any{platforms, ids}, func(rows pgx.Rows) error {
		state, err := scanQuote(ctx, db, rows)
		found[ports.QuoteKey{Platform: state.Quote.Platform, ID: state.Quote.ID}] = state
		return err
	})
}

func quoteKeyArrays(keys []ports.QuoteKey) (platforms []ident.Platform, ids []ident.Quote) {
	for _, k := range keys {
		platforms, ids = append(platforms, k.Platform), append(ids, k.ID)
	}
	return platforms, ids
}

// lockQuotes uses the primary keys of quotes, transactions and their parties. Rows
// are locked in the order of their keys, as lockTransactions does.
var lockQuotes = `
	WITH wanted AS (
		SELECT q.platform_id, q.transaction_id AS id FROM quotes q JOIN unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) USING (platform_id, id)),
	locked AS MATERIALIZED (
		SELECT t.* FROM transactions t JOIN wanted USING (platform_id, id)
		ORDER BY t.platform_id, t.id FOR UPDATE OF t)
	SELECT ` + transactionColumns + `,` + partyStateColumns + ` FROM locked t
	JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id` + partyStateTables

func (u *Unit) LockQuotes(ctx context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error) {
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
