package console

import (
	"strings"

	"causeway/core/ident"
)

// objectPage is the page of things of a type: Name says what they are, and Path comes before the id.
type objectPage struct{ Name, Path string }

// objectPages are the pages of what has an id, by the type in it.
var objectPages = map[string]objectPage{
	ident.Transaction{}.Prefix():     {"Payment", "/payments/"},
	ident.Customer{}.Prefix():        {"Customer", "/customers/"},
	ident.Verification{}.Prefix():    {"Verification", "/reviews/"},
	ident.AgentAction{}.Prefix():     {"Payment of an agent", "/agent-approvals/"},
	ident.Receipt{}.Prefix():         {"Unmatched funds", "/unmatched/"},
	ident.Receivable{}.Prefix():      {"Receivable", "/receivables/"},
	ident.Break{}.Prefix():           {"Break", "/breaks/"},
	ident.Reconciliation{}.Prefix():  {"Statement", "/reconciliations/"},
	ident.Posting{}.Prefix():         {"Posting", "/postings/"},
	ident.Proposal{}.Prefix():        {"Proposal", "/proposals/"},
	ident.Webhook{}.Prefix():         {"Webhook", "/webhooks/"},
	ident.Token{}.Prefix():           {"Token", "/tokens?id="},
	ident.RequestLog{}.Prefix():      {"Request", "/requests/"},
	ident.ExternalAccount{}.Prefix(): {"Payments of the external account", paymentsOf("", ident.ExternalAccount{}.Prefix()+":")},
	ident.InternalAccount{}.Prefix(): {"Payments of the account", paymentsOf("", ident.InternalAccount{}.Prefix()+":")},
}

// objectLink returns the page of what a text such as Customer:<uuid> names; empty if it has none.
func objectLink(base, object string) string {
	kind, id, _ := strings.Cut(object, ":")
	if page, has := objectPages[kind]; has && base != "" {
		return base + page.Path + id
	}
	return ""
}
