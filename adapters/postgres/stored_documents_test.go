package postgres

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/storagetest"
	"causeway/core/diff"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/screening"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

var storedDocuments = []storagetest.Document{
	storagetest.DocumentOf(agentAttempts, "reasons", nil),
	storagetest.DocumentOf(agents, "policy", nil),
	storagetest.DocumentOf(beneficialOwners, "details", nil),
	storagetest.DocumentOf(importChunks, "rows", nil),
	storagetest.DocumentOf(importErrors, "fields", nil),
	storagetest.DocumentOf(customers, "details", nil),
	storagetest.DocumentOf(customers, "contacts", nil),
	storagetest.DocumentOf(documents, "details", nil),
	storagetest.DocumentOf(externalAccounts, "fields", nil),
	storagetest.DocumentOf(externalAccounts, "beneficiary", nil),
	storagetest.DocumentOf(externalAccounts, "ownership", nil),
	storagetest.DocumentOf(internalAccounts, "instructions", nil),
	storagetest.DocumentOf(lookups, "requested_fields", nil),
	storagetest.DocumentOf(lookups, "receiver_info", nil),
	storagetest.DocumentOf(lookups, "uma_receiver", nil),
	storagetest.DocumentOf(umaKeys, "secrets", nil),
	storagetest.DocumentOf(umaChannels, "channels", nil),
	storagetest.DocumentOf(waitingMails, "content", nil),
	storagetest.DocumentOf(personFactors, "secrets", nil),
	storagetest.DocumentOf(platforms, "currencies", nil),
	storagetest.DocumentOf(platforms, "embedded_wallets", func(p *platform.Platform) { p.Wallets.CodeLifetime = 10 * time.Minute }),
	storagetest.DocumentOf(platforms, "fee_configs", nil),
	storagetest.DocumentOf(quotes, "instructions", nil),
	storagetest.DocumentOf(receiptPayers, "account", nil),
	storagetest.DocumentOf(reconciliations, "matches", nil),
	storagetest.DocumentOf(reconciliations, "breaks", nil),
	storagetest.DocumentOf(recurringAdjustments, "entries", nil),
	storagetest.DocumentOf(screeningHits, "details", nil),
	// The description of a quote is in the document.
	storagetest.DocumentOf(transactions, "details", func(t *transaction.Transaction) { t.Quote.SetUUID(uuid.Nil) }),
	storagetest.DocumentOf(vaspDirectories, "providers", nil),
	storagetest.DocumentOf(verificationReviews, "details", nil),
	storagetest.DocumentOf(verifications, "details", nil),
	storagetest.DocumentOf(walletCredentials, "identity", nil),
	{Column: "rail_connections.settings", Document: portstest.Document{
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
	{Column: "sanctions_entries.content", Document: portstest.Document{
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
	{Column: "operator_actions.changes", Document: portstest.Document{
		Encode: func() (string, error) {
			changes := make([]diff.Field, 1)
			portstest.Fill(&changes, "changes")
			return *storedChanges(changes), nil
		},
		Recode: func(text string) (string, error) {
			changes, err := readChanges([]byte(text))
			if err != nil {
				return "", err
			}
			return *storedChanges(changes), nil
		}}},
	{Column: "rail_statements.balances", Document: portstest.Document{
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
	storagetest.CheckDocuments(t, storedDocuments)
}

func TestStoredDocuments_HaveEveryColumnOfJSON(t *testing.T) {
	t.Parallel()
	// Each column of the type jsonb is among the documents whose texts are kept.
	tables, err := os.ReadFile(filepath.Join("..", "..", "migrations", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]string{"bitcoin_events.body": "the connector of Bitcoin reads it soon after it was written",
		"lightning_events.body": "the connector of Lightning reads it soon after it was written"}
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
		if others[column] == "" && !slices.ContainsFunc(storedDocuments, func(d storagetest.Document) bool { return d.Column == column }) {
			t.Errorf("%s is not among the stored documents", column)
		}
	}
	if found < 15 {
		t.Errorf("%d columns of the type jsonb found: the test reads the schema wrongly", found)
	}
}
