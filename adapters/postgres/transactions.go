package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// transactions is the table transactions. A transaction that is read must have a Refund, an AgentUsage and a LimitUsage, as of
// paymentScan.
var transactions = schema.New("transactions", keyOfPlatform, func(t *transaction.Transaction) schema.Columns {
	refund, usage, limited, reference := t.Refund, t.AgentUsage, t.LimitUsage, &t.Reference
	if refund == nil {
		refund = &transaction.Refund{}
	}
	if usage == nil {
		usage = &transaction.AgentUsage{}
	}
	if limited == nil {
		limited = &transaction.LimitUsage{}
	}
	if !t.Quote.IsZero() {
		reference = new(string) // the quote has it
	}
	return schema.Columns{
		{Name: "platform_id", Field: &t.Platform}, {Name: "id", Field: &t.ID}, {Name: "quote_id", Field: &t.Quote},
		{Name: "customer_id", Field: &t.Customer},
		{Name: "direction", Field: &t.Type}, {Name: "status", Field: &t.State.Status}, {Name: "refund_status", Field: &t.State.Refund},
		{Name: "stage", Field: &t.State.Stage}, {Name: "failure_reason", Field: &t.State.Reason},
		{Name: "source_external", Field: &t.Source.ExternalAccount}, {Name: "source_internal", Field: &t.Source.InternalAccount},
		{Name: "destination_external", Field: &t.Destination.ExternalAccount},
		{Name: "destination_internal", Field: &t.Destination.InternalAccount},
		{Name: "source_rail", Field: &t.SourceRail}, {Name: "source_account", Field: &t.SourceAccount},
		{Name: "destination_rail", Field: &t.DestinationRail}, {Name: "destination_account", Field: &t.DestinationAccount},
		{Name: "receipt_id", Field: &t.Receipt},
		{Name: "sent_currency", Field: &t.Pricing.Sent.Currency}, {Name: "sent_minor", Field: &t.Pricing.Sent.Minor},
		{Name: "received_currency", Field: &t.Pricing.Received.Currency}, {Name: "received_minor", Field: &t.Pricing.Received.Minor},
		{Name: "funded_currency", Field: &t.Funded.Currency}, {Name: "funded_minor", Field: &t.Funded.Minor},
		{Name: "refund_reason", Field: &refund.Reason}, {Name: "refund_at", Field: &refund.InitiatedAt},
		{Name: "refund_settled_at", Field: &refund.SettledAt}, {Name: "refund_again", Field: schema.Optional(&refund.Again)},
		{Name: "created_at", Field: &t.CreatedAt}, {Name: "updated_at", Field: &t.UpdatedAt}, {Name: "settled_at", Field: &t.SettledAt},
		{Name: "expected_settlement_at", Field: &t.ExpectedSettlementAt}, {Name: "traceparent", Field: schema.Optional(&t.Trace)},
		{Name: "receipt_confirmed_at", Field: &t.ReceiptConfirmedAt}, {Name: "payer_authorization", Field: schema.Optional(&t.Authorization)},
		{Name: "rail_selection", Field: schema.Optional(&t.RailSelection)}, {Name: "in_review", Field: schema.Optional(&t.InReview)},
		{Name: "source_uma", Field: &t.Source.UMA}, {Name: "destination_uma", Field: &t.Destination.UMA}, {Name: "reference", Field: reference},
		{Name: "agent_id", Field: &t.Agent}, {Name: "usage_day", Type: "date", Field: schema.Day(&usage.Day)},
		{Name: "usage_given_back", Type: "boolean", Field: schema.Converted(
			func() *bool {
				if t.AgentUsage == nil {
					return nil
				}
				return &usage.GivenBack
			},
			func(givenBack *bool) error {
				usage.GivenBack = givenBack != nil && *givenBack
				return nil
			})},
		{Name: "limit_day", Type: "date", Field: schema.Day(&limited.Day)},
		{Name: "limit_scopes", Type: "text", Field: schema.Converted(
			func() *string {
				if t.LimitUsage == nil {
					return nil
				}
				return new(joinScopes(limited.Scopes))
			},
			func(scopes *string) error {
				if limited.Scopes = nil; scopes != nil {
					limited.Scopes = splitScopes(*scopes)
				}
				return nil
			})},
		sealed.KeyedHash("payee_seal", func() string { return t.Payee }, func(stored string) { t.Payee = stored }),
		sealed.JSON(sealed.TransactionsDetails, func() *detailsColumn { return newDetailsColumn(t) }, func(c *detailsColumn) { c.read(t) }),
	}
})

var (
	insertTransactions = transactions.InsertAll("ON CONFLICT (platform_id, id) DO NOTHING")

	changingColumns = []string{"status", "refund_status", "stage", "failure_reason", "funded_currency", "funded_minor",
		"refund_reason", "refund_at", "refund_settled_at", "refund_again", "updated_at", "settled_at",
		"source_rail", "source_account", "destination_account", "receipt_id", "usage_day", "usage_given_back",
		"limit_day", "limit_scopes", "expected_settlement_at", "traceparent", "payer_authorization", "in_review"}

	// updateTransactions uses the primary key and changes no indexed column, like updateTransactionsAndDetails.
	updateTransactions           = transactions.UpdateAll(changingColumns...)
	updateTransactionsAndDetails = transactions.UpdateAll(append(changingColumns, "details")...)
	updateReceiptConfirmed       = transactions.Update("receipt_confirmed_at")
)

var (
	// transactionColumns are the columns that scanTransaction reads, of a transaction t, its quote q and its customer c.
	transactionColumns = transactions.Names("t") + ", " + quotes.Names("q") + ", coalesce(c.platform_customer_id, '')"

	// columnsWithoutInstructions are the same without the payment instructions, which are long and not needed for decisions.
	columnsWithoutInstructions = strings.Replace(transactionColumns, "q.instructions", "''", 1)
)

const transactionTables = `
	transactions t
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id` + customerOfTransaction

// scanTransaction reads transactionColumns, and what more is selected after them. If the details cannot be decrypted, it returns
// the rest with the error.
func scanTransaction(ctx context.Context, db *DB, rows pgx.Rows, more ...any) (transaction.Transaction, error) {
	t, _, err := scanPayment(ctx, db, rows, more...)
	return t, err
}

// scanPayment is scanTransaction that returns the columns of the quote too.
func scanPayment(ctx context.Context, db *DB, rows pgx.Rows, more ...any) (transaction.Transaction, quote.Quote, error) {
	s := paymentScans.Get().(*paymentScan)
	t, q, err := s.scan(ctx, db, rows, more...)
	s.clear()
	paymentScans.Put(s)
	return t, q, err
}

// paymentScan holds what a row is scanned into, so that the columns are not listed again for each of the many rows.
type paymentScan struct {
	transaction transaction.Transaction
	refund      transaction.Refund
	usage       transaction.AgentUsage
	limited     transaction.LimitUsage
	quote       quote.Quote

	columns                 schema.Columns
	idOfQuote               int // its position in columns
	withQuote, withoutQuote []any
}

var paymentScans = sync.Pool{New: func() any { return newPaymentScan() }}

func newPaymentScan() *paymentScan {
	s := &paymentScan{}
	s.clear()
	ofTransaction, ofQuote := transactions.Columns(&s.transaction), quotes.Columns(&s.quote)
	s.columns, s.idOfQuote = slices.Concat(ofTransaction, ofQuote), len(ofTransaction)+slices.Index(keyOfPlatform, "id")
	s.withQuote = append(s.columns.Fields(), &s.transaction.PlatformCustomerID)
	sealed.ReadStored(s.withQuote)
	s.withoutQuote = slices.Clone(s.withQuote)
	clear(s.withoutQuote[len(ofTransaction):len(s.columns)])
	return s
}

func (s *paymentScan) clear() {
	s.refund, s.usage, s.limited, s.quote = transaction.Refund{}, transaction.AgentUsage{}, transaction.LimitUsage{}, quote.Quote{}
	s.transaction = transaction.Transaction{Refund: &s.refund, AgentUsage: &s.usage, LimitUsage: &s.limited}
}

func (s *paymentScan) scan(ctx context.Context, db *DB, rows pgx.Rows, more ...any) (transaction.Transaction, quote.Quote, error) {
	targets, hasQuote := s.withQuote, rows.RawValues()[s.idOfQuote] != nil
	if !hasQuote {
		targets = s.withoutQuote
	}
	if err := rows.Scan(append(targets, more...)...); err != nil {
		return transaction.Transaction{}, quote.Quote{}, err
	}
	unreadable := db.sealed.OpenColumns(ctx, s.columns)
	t, q := s.transaction, s.quote
	pricing := transaction.AtPar(t.Pricing.Sent)
	if hasQuote {
		if !q.ExpiredEarlyAt.IsZero() {
			q.ExpiresAt = q.ExpiredEarlyAt
		}
		pricing, t.Reference, t.ExpiresAt, t.Source.Network = q.Pricing, q.Reference, q.ExpiresAt, q.Source.Network
		t.Instructions, t.Description, t.Purpose = q.Instructions, q.Description, q.Purpose
	}
	pricing.Sent, pricing.Received = t.Pricing.Sent, t.Pricing.Received
	t.Pricing = pricing
	t.Source.Customer, t.Source.Currency = t.Customer, t.Pricing.Sent.Currency
	t.Destination.Customer, t.Destination.Currency = t.Customer, t.Pricing.Received.Currency
	if t.Type == transaction.Outgoing {
		t.Destination.Currency = t.ReceiverAmount().Currency
	}
	if t.AgentUsage = nil; s.usage.Day != "" {
		t.AgentUsage = new(s.usage)
	}
	if t.LimitUsage = nil; s.limited.Day != "" {
		t.LimitUsage = new(s.limited)
	}
	if t.Refund = nil; t.State.Refund != transaction.NoRefund {
		t.Refund = new(s.refund)
		t.Refund.Reference, t.Refund.Amount = transaction.RefundReference(t.ID, t.Reference), t.Refundable()
	}
	if t.Payload != "" {
		t.Instructions = transaction.SigningInstructions(t.Payload)
	}
	if unreadable != nil {
		return t, q, unreadable
	}
	return t, q, db.checkPayee(ctx, &t)
}

// lockTransactions uses the primary keys of transactions, quotes and customers.
// Rows are locked in the order of their keys, so that two batches cannot deadlock.
var lockTransactions = `
	WITH locked AS MATERIALIZED (
		SELECT t.* FROM transactions t
		JOIN unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id) USING (platform_id, id)
		ORDER BY t.platform_id, t.id FOR UPDATE OF t)
	SELECT ` + transactionColumns + ` FROM locked t
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id`

// LockTransactions implements uow.Tx.
func (u *Unit) LockTransactions(ctx context.Context,
	keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	return transactionsByKey(ctx, u.db, u.query, lockTransactions, keys)
}

// TransactionsByKey implements payments.Store.
func (db *DB) TransactionsByKey(ctx context.Context,
	keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	return transactionsByKey(ctx, db, db.read, readTransactions, keys)
}

func transactionsByKey(ctx context.Context, db *DB, read storage.Reader, query string,
	keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	found := make(map[ports.TransactionKey]transaction.Transaction, len(keys))
	platforms, ids := keyArrays(keys)
	return found, read(ctx, query, []any{platforms, ids}, func(rows pgx.Rows) error {
		t, err := scanTransaction(ctx, db, rows)
		found[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = t
		return err
	})
}

// keyArrays returns the keys in their order, each once.
func keyArrays(keys []ports.TransactionKey) (platforms []ident.Platform, ids []ident.Transaction) {
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, func(a, b ports.TransactionKey) int {
		return cmp.Or(a.Platform.Compare(b.Platform), a.ID.Compare(b.ID))
	})
	for _, k := range slices.Compact(sorted) {
		platforms, ids = append(platforms, k.Platform), append(ids, k.ID)
	}
	return platforms, ids
}

// UpdateTransactions writes the details, which are encrypted, of those only whose details may have changed.
func (u *Unit) UpdateTransactions(ctx context.Context, changed []transaction.Transaction) error {
	var withDetails, others []transaction.Transaction
	for _, t := range changed {
		if detailsChange(t) {
			withDetails = append(withDetails, t)
		} else {
			others = append(others, t)
		}
	}
	if err := writeAll(ctx, u, updateTransactions, others); err != nil {
		return err
	}
	return writeAll(ctx, u, updateTransactionsAndDetails, withDetails)
}

// detailsChange reports whether the details of a transaction may have changed since it was created: they have an approval, what its
// partner has said about it, or who has sent the money.
func detailsChange(t transaction.Transaction) bool {
	return t.Approval != nil || t.Rejection != (transaction.Rejection{}) || t.Originator != nil || t.SourceHash != "" ||
		t.DestinationHash != ""
}

// ConfirmReceipt implements payments.Tx.
func (u *Unit) ConfirmReceipt(ctx context.Context, t transaction.Transaction) error {
	return write(ctx, u, updateReceiptConfirmed, t)
}

// readTransactions uses the primary keys of transactions, quotes and customers.
var readTransactions = `
	SELECT ` + columnsWithoutInstructions + transactionsByKeys

const transactionsByKeys = `
	FROM unnest($1::uuid[], $2::uuid[]) AS k(platform_id, id)
	JOIN transactions t ON t.platform_id = k.platform_id AND t.id = k.id
	LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id`
