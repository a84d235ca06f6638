package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/account"
)

// The tags of the operations.
const (
	tagConfig       = "Platform configuration"
	tagTokens       = "API tokens"
	tagCustomers    = "Customers"
	tagInvitations  = "Invitations"
	tagVerification = "Verification"
	tagDocuments    = "Documents"
	tagAccounts     = "External accounts"
	tagInternal     = "Internal accounts"
	tagWallets      = "Wallets"
	tagAgents       = "Agents"
	tagForAgents    = "Operations for agents"
	tagRates        = "Rates"
	tagReceivers    = "Receivers"
	tagQuotes       = "Quotes"
	tagTransfers    = "Transfers"
	tagTransactions = "Transactions"
	tagLedger       = "Ledger"
	tagSandbox      = "Sandbox"
	tagRequestLogs  = "Request logs"
	tagWebhooks     = "Webhooks"
	tagExports      = "Exports and statements"
)

// idPattern returns the pattern of ids with a prefix.
func idPattern(prefix string) string {
	return "^" + prefix + ":[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
}

// schemaName returns the schema name of an account type: US_ACCOUNT becomes UsAccount.
func schemaName(t account.Type) string {
	var name strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(string(t)), "_") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

func stringListSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}}
}

// renderList renders a list that is not paginated. It is never null.
func renderList[Item, Body any](items []Item, body func(Item) Body) []Body {
	bodies := make([]Body, len(items))
	for i, item := range items {
		bodies[i] = body(item)
	}
	return bodies
}

// codeList returns values as a list in Markdown: `A`, `B` or `C`.
func codeList(values ...string) string {
	last := len(values) - 1
	list := "`" + strings.Join(values[:last], "`, `") + "`"
	return list + " or `" + values[last] + "`"
}

// enumSchema returns the schema of a string that is one of the values.
func enumSchema[T ~string](values []T) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, string(value))
	}
	return schema
}
