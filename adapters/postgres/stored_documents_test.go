package postgres

import (
	"cmp"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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
)

// storedDocument is the document of a column.
type storedDocument struct {
	column string // with its table
	// encode returns the text of a row in which everything is set, and recode that of a row that was read from a text.
	encode func() (string, error)
	recode func(text string) (string, error)
}

// documentOf is the document of a column of a table. edit changes the row with everything set; it may be nil.
func documentOf[T any](table *schema.Table[T], column string, edit func(*T)) storedDocument {
	return storedDocument{table.Name + "." + column,
		func() (string, error) {
			row := new(T)
			fill(reflect.ValueOf(row).Elem(), "row", 0)
			if edit != nil {
				edit(row)
			}
			return encodeField(table.Columns(row), column)
		},
		func(text string) (string, error) {
			row := new(T)
			if err := decodeField(table.Columns(row), column, text); err != nil {
				return "", err
			}
			return encodeField(table.Columns(row), column)
		}}
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

// fill sets everything in a value: texts to the name of their field, so that a text stored in the place of another is seen, and
// lists and maps to one item. After a field was renamed in Go, its value in the text of a version is renamed too.
func fill(v reflect.Value, name string, depth int) {
	if depth > 8 || !v.CanSet() {
		return
	}
	id := uuid.MustParse("019a0000-0000-7000-8000-000000000001")
	switch target := v.Addr().Interface().(type) {
	case interface{ SetUUID(uuid.UUID) }:
		target.SetUUID(id)
		return
	case *uuid.UUID:
		*target = id
		return
	case *time.Time:
		*target = time.Date(2026, 3, 14, 12, 30, 0, 123456000, time.UTC)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(len(name)))
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(name))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name, depth+1)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), name, depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, name, depth+1)
		fill(value, name, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Field(i).Name, depth+1)
		}
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
	{"rail_connections.settings",
		func() (string, error) {
			var c rail.Connection
			fill(reflect.ValueOf(&c).Elem(), "connection", 0)
			text, err := writeConnectionSettings(c)
			return string(text), err
		},
		func(text string) (string, error) {
			var c rail.Connection
			if err := readConnectionSettings([]byte(text), &c); err != nil {
				return "", err
			}
			written, err := writeConnectionSettings(c)
			return string(written), err
		}},
	{"sanctions_entries.content",
		func() (string, error) {
			var e screening.Entry
			fill(reflect.ValueOf(&e).Elem(), "entry", 0)
			text, err := json.Marshal(newEntryColumn(e))
			return string(text), err
		},
		func(text string) (string, error) {
			var c entryColumn
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				return "", err
			}
			written, err := json.Marshal(newEntryColumn(c.entry()))
			return string(written), err
		}},
	{"rail_statements.balances",
		func() (string, error) {
			balances := make([]ports.RailBalance, 1)
			fill(reflect.ValueOf(&balances).Elem(), "balances", 0)
			text, err := json.Marshal(storedBalances(balances))
			return string(text), err
		},
		func(text string) (string, error) { return text, nil }}, // read by SQL alone
}

func TestStoredDocuments_EachVersionIsRead(t *testing.T) {
	t.Parallel()
	// The text of a document, with everything set, is that of the highest version in testdata/documents, and every version is
	// read without loss: it is written again as it was, or as the highest version. If this fails because of a change, the texts
	// in databases are of the version before: add the new text as the next version, and read both.
	for _, d := range storedDocuments {
		t.Run(d.column, func(t *testing.T) {
			t.Parallel()
			got, err := d.encode()
			if err != nil {
				t.Fatal(err)
			}
			versions, _ := filepath.Glob(filepath.Join("testdata", "documents", d.column+".v*.json"))
			slices.SortFunc(versions, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
			if len(versions) == 0 {
				t.Fatalf("there is no version; the text is now\n%s", got)
			}
			for i, version := range versions {
				text, err := os.ReadFile(version)
				if err != nil {
					t.Fatal(err)
				}
				text = []byte(strings.TrimSpace(string(text)))
				if last := i == len(versions)-1; last && got != string(text) {
					t.Errorf("the text is no longer that of %s, but\n%s", version, got)
				}
				if again, err := d.recode(string(text)); err != nil || again != got && again != string(text) { // as it was if only fields are added
					t.Errorf("%s is read as %s, %v", version, again, err)
				}
			}
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
