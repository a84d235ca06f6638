package postgres

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/screening"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// storedDocument is the document of a column.
type storedDocument struct {
	column string // with its table
	portstest.Document
}

// documentOf is the document of a column of a table. edit changes the row with everything set; it may be nil.
func documentOf[T any](table *schema.Table[T], column string, edit func(*T)) storedDocument {
	return storedDocument{table.Name + "." + column, portstest.Document{
		Encode: func() (string, error) {
			row := new(T)
			portstest.Fill(row, "row")
			if edit != nil {
				edit(row)
			}
			return encodeField(table.Columns(row), column)
		},
		Recode: func(text string) (string, error) {
			row := new(T)
			if err := decodeField(table.Columns(row), column, text); err != nil {
				return "", err
			}
			return encodeField(table.Columns(row), column)
		}}}
}

func encodeField(columns schema.Columns, name string) (string, error) {
	switch field := columns.Field(name).(type) {
	case *sealedField:
		text, err := field.seal(nil, &DB{}, field.row(columns)) // without a cipher, what is stored is the plain text
		return string(text), err
	case pgtype.TextValuer:
		text, err := field.TextValue()
		return text.String, err
	case driver.Valuer:
		text, err := field.Value()
		return fmt.Sprint(text), err
	default:
		return "", fmt.Errorf("%T is no document", field)
	}
}

func decodeField(columns schema.Columns, name, text string) error {
	switch field := columns.Field(name).(type) {
	case *sealedField:
		return field.open(nil, &DB{}, field.row(columns), []byte(text))
	case pgtype.TextScanner:
		return field.ScanText(pgtype.Text{String: text, Valid: true})
	case pgtype.BytesScanner:
		return field.ScanBytes([]byte(text))
	default:
		return fmt.Errorf("%T is no document", field)
	}
}

var storedDocuments = []storedDocument{
	documentOf(agentAttempts, "reasons", nil),
	documentOf(agents, "policy", nil),
	documentOf(bankOrders, "details", nil),
	documentOf(beneficialOwners, "details", nil),
	documentOf(importChunks, "rows", nil),
	documentOf(importErrors, "fields", nil),
	documentOf(customers, "details", nil),
	documentOf(documents, "details", nil),
	documentOf(externalAccounts, "fields", nil),
	documentOf(externalAccounts, "beneficiary", nil),
	documentOf(internalAccounts, "instructions", nil),
	documentOf(lookups, "requested_fields", nil),
	documentOf(lookups, "receiver_info", nil),
	documentOf(waitingMails, "content", nil),
	documentOf(platforms, "currencies", nil),
	documentOf(platforms, "embedded_wallets", func(p *platform.Platform) { p.Wallets.CodeLifetime = 10 * time.Minute }),
	documentOf(quotes, "instructions", nil),
	documentOf(receiptPayers, "account", nil),
	documentOf(reconciliations, "matches", nil),
	documentOf(reconciliations, "breaks", nil),
	documentOf(screeningHits, "details", nil),
	documentOf(transactions, "details", func(t *transaction.Transaction) { t.Quote.SetUUID(uuid.Nil) }), // its description is in the document
	documentOf(verificationReviews, "details", nil),
	documentOf(verifications, "details", nil),
	documentOf(walletCredentials, "identity", nil),
	{"rail_connections.settings", portstest.Document{
		Encode: func() (string, error) {
			var c rail.Connection
			portstest.Fill(&c, "connection")
			text, err := writeConnectionSettings(c)
			return string(text), err
		},
		Recode: func(text string) (string, error) {
			var c rail.Connection
			if err := readConnectionSettings([]byte(text), &c); err != nil {
				return "", err
			}
			written, err := writeConnectionSettings(c)
			return string(written), err
		}}},
	{"sanctions_entries.content", portstest.Document{
		Encode: func() (string, error) {
			var e screening.Entry
			portstest.Fill(&e, "entry")
			text, err := json.Marshal(newEntryColumn(e))
			return string(text), err
		},
		Recode: func(text string) (string, error) {
			var c entryColumn
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				return "", err
			}
			written, err := json.Marshal(newEntryColumn(c.entry()))
			return string(written), err
		}}},
	{"rail_statements.balances", portstest.Document{
		Encode: func() (string, error) {
			balances := make([]ports.RailBalance, 1)
			portstest.Fill(&balances, "balances")
			text, err := json.Marshal(storedBalances(balances))
			return string(text), err
		},
		Recode: func(text string) (string, error) { return text, nil }}}, // read by SQL alone
}

func TestStoredDocuments_EachVersionIsRead(t *testing.T) {
	t.Parallel()
	// Each column of the type jsonb has the text of the highest version in testdata/documents, and every version is read.
	for _, d := range storedDocuments {
		t.Run(d.column, func(t *testing.T) {
			t.Parallel()
			portstest.CheckDocument(t, filepath.Join("testdata", "documents"), d.column, d.Document)
		})
	}
}

func TestStoredDocuments_HaveEveryColumnOfJSON(t *testing.T) {
	t.Parallel()
	// Each column of the type jsonb is among the documents whose texts are kept.
	tables, err := os.ReadFile(filepath.Join("..", "..", "migrations", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]string{"bitcoin_events.body": "the connector of Bitcoin reads it soon after it was written"}
	table, found := "", 0
	for line := range strings.Lines(string(tables)) {
		if match := regexp.MustCompile(`^CREATE TABLE (\S+)`).FindStringSubmatch(line); match != nil {
			table = match[1]
		}
		match := regexp.MustCompile(`^    (\w+) jsonb`).FindStringSubmatch(line)
		if match == nil {
			continue
		}
		found++
		column := table + "." + match[1]
		if others[column] == "" && !slices.ContainsFunc(storedDocuments, func(d storedDocument) bool { return d.column == column }) {
			t.Errorf("%s is not among the stored documents", column)
		}
	}
	if found < 15 {
		t.Errorf("%d columns of the type jsonb found: the test reads the schema wrongly", found)
	}
}
