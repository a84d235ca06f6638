package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/account"
	"causeway/ports"
)

// The chapters of the description.
const (
	tagConfig       = "Platform configuration"
	tagTokens       = "API tokens"
	tagCustomers    = "Customers"
	tagAccounts     = "External accounts"
	tagInternal     = "Internal accounts"
	tagRates        = "Rates"
	tagReceivers    = "Receivers"
	tagQuotes       = "Quotes"
	tagTransfers    = "Transfers"
	tagTransactions = "Transactions"
	tagLedger       = "Ledger"
	tagSandbox      = "Sandbox"
	tagWebhooks     = "Webhooks"
	tagExports      = "Exports and statements"
)

// idPattern is what an identifier of a type looks like.
func idPattern(prefix string) string {
	return "^" + prefix + ":[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
}

// schemaName turns a type of account into the name of a schema: US_ACCOUNT is
// UsAccount.
func schemaName(t account.Type) string {
	var name strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(string(t)), "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

// currencyCodes lists the currencies an account of the type can hold.
func currencyCodes(t account.TypeSpec) []string {
	list := make([]string, len(t.Currencies))
	for i, c := range t.Currencies {
		list[i] = string(c)
	}
	return list
}

func stringListSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}
}

// renderPage renders one part of a list.
func renderPage[Item, Body any](p ports.Page[Item], body func(Item) Body, id func(Item) string) httpapi.Page[Body] {
	bodies := make([]Body, len(p.Items))
	for i, item := range p.Items {
		bodies[i] = body(item)
	}
	var last httpapi.Cursor
	if len(p.Items) > 0 {
		last.ID = id(p.Items[len(p.Items)-1])
	}
	return httpapi.NewPage(bodies, p.More, last, p.Total)
}

// enumSchema is a text from a table of core.
func enumSchema(values []string) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, value)
	}
	return schema
}
