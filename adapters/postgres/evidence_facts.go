package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// transactionFields are the columns of a transaction t and of its quote q that never change.
var transactionFields = inOrder(
	"t.quote_id", "t.customer_id", "t.agent_id", "t.direction", "t.source_external", "t.source_internal", "t.destination_external",
	"t.destination_internal",
	"t.destination_rail", "t.sent_currency", "t.sent_minor", "t.received_currency", "t.received_minor", "t.reference", "t.created_at",
	"q.side", "q.locked_amount", "q.fees", "q.fee_fixed", "q.fee_variable", "q.fee_fraction", "q.rate", "q.market_rate", "q.rounding_sent",
	"q.rounding_received", "q.platform_fees", "q.platform_fee_fixed", "q.platform_fee_bps",
	"q.network", "q.reference", "q.instructions", "q.purpose", "q.expires_at", "q.created_at",
)

var receiptFields = inOrder("t.rail", "t.partner_id", "t.reference", "t.currency", "t.amount", "t.received_at")

// inOrder returns columns in the order of the names of their fields, in which they are hashed.
func inOrder(columns ...string) []string {
	slices.SortFunc(columns, func(a, b string) int { return strings.Compare(fieldName(a), fieldName(b)) })
	return columns
}

// byID is the key of the facts of payments.
var byID = queuedFact{key: []keyColumn{{"id", "uuid"}}}

// The facts of payments, by the primary keys. The names of their fields are not read with each row.
var (
	readTransactionFacts = `SELECT t.id::text, NULL::text[], ` + fieldValues(transactionFields) + `, false, false
	FROM transactions t LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	WHERE t.platform_id = $1 AND t.id = ANY ($2::text[]::uuid[])`

	readReceiptFacts = `SELECT t.id::text, NULL::text[], ` + fieldValues(receiptFields) + `, false, false
	FROM receipts t WHERE t.platform_id = $1 AND t.id = ANY ($2::text[]::uuid[])`

	// The texts of transactions; the encrypted ones are opened by the caller.
	readTextFacts = `SELECT t.id::text, NULL::text[],
		ARRAY[t.details, q.description, t.source_uma, t.destination_uma],
		t.details = '' AND coalesce(q.description, '') = '' AND t.source_uma ~ '^($|\$erased@)' AND t.destination_uma ~ '^($|\$erased@)', c.deleted_at IS NOT NULL
	FROM transactions t LEFT JOIN quotes q ON q.platform_id = t.platform_id AND q.id = t.quote_id
	LEFT JOIN customers c ON c.platform_id = t.platform_id AND c.id = t.customer_id
	WHERE t.platform_id = $1 AND t.id = ANY ($2::text[]::uuid[])`
)

var (
	transactionNames = fieldNames(transactionFields)
	receiptNames     = fieldNames(receiptFields)
	textNames        = []string{"details", "description", "source_uma", "destination_uma"}
)

func fieldNames(columns []string) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = fieldName(c)
	}
	return names
}

// fieldName is the name of the field of a column. A column of a quote is named with its table.
func fieldName(column string) string {
	return strings.NewReplacer("t.", "", "q.", "quote.").Replace(column)
}

// fieldValues is an array of the values of columns as text.
func fieldValues(columns []string) string {
	return "ARRAY[" + strings.Join(columns, "::text, ") + "::text]"
}

// factValues are the values of the fields of a row. Its memory is used again for the next row.
type factValues []pgtype.Text

// SetDimensions implements pgtype.ArraySetter.
func (v *factValues) SetDimensions(dimensions []pgtype.ArrayDimension) error {
	n := 0
	if len(dimensions) > 0 {
		n = int(dimensions[0].Length)
	}
	*v = slices.Grow((*v)[:0], n)[:n]
	return nil
}

// ScanIndex implements pgtype.ArraySetter.
func (v *factValues) ScanIndex(i int) any { return &(*v)[i] }

// ScanIndexType implements pgtype.ArraySetter.
func (v *factValues) ScanIndexType() any { return new(pgtype.Text) }

// textFormats makes the text of values independent of the settings of a session.
const textFormats = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1`

// readFacts reads facts as they are stored. The session has textFormats.
func (db *DB) readFacts(ctx context.Context, tx pgx.Tx, p ident.Platform, kind ledger.FactKind,
	subjects []string) (map[string]ports.StoredFact, error) {
	var statement string
	var names []string // unless they are read
	var keys []any
	switch kind {
	case ledger.FactTransaction:
		statement, names, keys = readTransactionFacts, transactionNames, byID.keysOf(subjects)
	case ledger.FactTexts:
		statement, names, keys = readTextFacts, textNames, byID.keysOf(subjects)
	case ledger.FactReceipt:
		statement, names, keys = readReceiptFacts, receiptNames, byID.keysOf(subjects)
	default:
		f, known := queuedFactOf(kind)
		if !known {
			return nil, fmt.Errorf("facts of the kind %q are unknown; a later version has sealed them", kind)
		}
		statement, keys = f.query(), f.keysOf(subjects)
	}
	found := make(map[string]ports.StoredFact, len(subjects))
	var noKey error
	var values factValues
	var row []ledger.Field
	return found, queryRows(ctx, tx, statement, append([]any{pgID(p.UUID())}, keys...), func(rows pgx.Rows) error {
		var subject string
		var fact ports.StoredFact
		if err := rows.Scan(&subject, &fact.Names, &values, &fact.Erased, &fact.OfDeleted); err != nil {
			return err
		}
		if fact.Names == nil {
			fact.Names = names
		}
		row = row[:0]
		for i, name := range fact.Names {
			row = append(row, ledger.Field{Name: name, Value: values[i].String})
		}
		fields := row
		if kind == ledger.FactTexts {
			var opened []ledger.Field
			err := noKey
			if noKey == nil || fields[0].Value == "" {
				opened, err = db.openTextFields(ctx, p, subject, fields)
			}
			switch fact.NoKey = errors.Is(err, sealed.ErrNoCipher) || errors.Is(err, ports.ErrNoMasterKey); {
			case fact.NoKey:
				noKey = err // the next texts are not tried
				fact.Unreadable = err
				found[subject] = fact
				return nil
			case errors.Is(err, ports.ErrCannotDecrypt):
				fact.Unreadable = err
				found[subject] = fact
				return nil
			case err != nil:
				return err
			}
			fields, fact.Names = opened, textFieldNames(opened)
		}
		fact.Fact = ledger.NewFact(p, kind, subject, fields)
		found[subject] = fact
		return nil
	})
}

// openTextFields replaces the details of a transaction, which are encrypted and have parts that change, by its texts.
func (db *DB) openTextFields(ctx context.Context, p ident.Platform, subject string, fields []ledger.Field) ([]ledger.Field, error) {
	id, err := uuid.Parse(subject)
	if err != nil {
		return nil, err
	}
	t := transaction.Transaction{Platform: p}
	t.ID.SetUUID(id)
	if stored := fields[0].Value; stored != "" {
		var details *detailsColumn
		row := sealed.Row{Platform: p.UUID(), ID: id}
		if err := db.sealed.OpenJSON(ctx, row, sealed.TransactionsDetails, []byte(stored), &details); err != nil {
			return nil, err
		}
		details.read(&t)
	}
	texts := []ledger.Field{{Name: "payload", Value: t.Payload}}
	// The description of a transaction without a quote is in its details.
	for _, f := range fields[1:] {
		if f.Name == "description" && f.Value == "" {
			f.Value = t.Description
		}
		texts = append(texts, f)
	}
	for name, values := range map[string]map[string]string{"counterparty": t.Counterparty, "payer": t.Payer} {
		text := []byte{}
		if len(values) > 0 {
			if text, err = json.Marshal(values); err != nil { // in the order of the keys
				return nil, err
			}
		}
		texts = append(texts, ledger.Field{Name: name, Value: string(text)})
	}
	return texts, nil
}

func textFieldNames(fields []ledger.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
