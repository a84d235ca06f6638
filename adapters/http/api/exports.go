package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/exports"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ports"
)

// Exports holds the use cases of ledger exports and account statements.
type Exports interface {
	Export(p ident.Platform, r exports.Request) (exports.Document, error)
	Statement(ctx context.Context, p ident.Platform, r exports.StatementRequest) (exports.Document, error)
}

// EffectivePeriod is a half-open interval of effective time.
type EffectivePeriod struct {
	From httpapi.Time `query:"from" doc:"Start of the period, by effective time, inclusive. Defaults to the first posting."`
	To   httpapi.Time `query:"to" doc:"End of the period, by effective time, exclusive. Defaults to now."`
}

func (p EffectivePeriod) interval() period.Interval {
	return period.Interval{From: p.From.Time, To: p.To.Time}
}

func registerExports(a *httpapi.API, service Exports) {
	type exportParams struct {
		EffectivePeriod
		Format   string           `query:"format" required:"true" enum:"csv,hledger,ledger,beancount,camt053" doc:"Format of the file. csv: one entry per line (RFC 4180). hledger, ledger, beancount: a journal for that program, with balance assertions. camt053: ISO 20022 bank statements (camt.053.001.08), one per account and day with entries, fiat currencies only."`
		AsOf     httpapi.Time     `query:"asOf" doc:"Recorded time: include postings recorded by the end of this time. Defaults to now. The file states the time; exporting with that time returns the same file."`
		Account  string           `query:"account" doc:"Path of a ledger account: include only entries on it." example:"rails/ACH"`
		Currency httpapi.Currency `query:"currency" doc:"Currency: include only entries in it."`
		Names    bool             `query:"names" doc:"Whether accounts of customers have their present names: in csv, further columns; in journals, a level of the account name; in camt053, the owner. If a customer is renamed or erased, a later export as of the same time differs in the name."`
	}
	httpapi.GetFile(a, httpapi.Operation{
		ID: "exportLedger", Path: "/ledger/export", Tag: tagExports, Summary: "Export the ledger", Permission: platform.View,
		Description: "Streams the entries of the ledger in recording order, up to one posting. " +
			"A platform downloads one export or statement at a time, unless the operator allows more. " +
			"A large export takes up to 30 minutes, unless the operator sets another limit; camt053 takes the longest, because it reads each " +
			"account on its own. " +
			"If the export fails midway, the connection is closed, so a complete response is a complete file. " +
			"Journals start with the balances at `from` and end with balance assertions for every account; debits are positive and credits " +
			"negative. " +
			"In csv, a memo that a spreadsheet would interpret as a formula is prefixed with an apostrophe.",
		Errors: []fault.Code{fault.RateLimited, fault.MonthArchived},
	}, []string{"text/csv", "text/plain", "application/xml"}, func(ctx context.Context, call httpapi.Call,
		in *exportParams) (httpapi.File, error) {
		document, err := service.Export(call.Principal.Platform, exports.Request{
			Format: exports.Format(in.Format), AsOf: in.AsOf.Time,
			LedgerFilter: ports.LedgerFilter{Interval: in.interval(), Path: in.Account, Currency: money.Currency(in.Currency)}, Names: in.Names,
		})
		return renderFile(document), err
	})

	type statementParams struct {
		CustomerID httpapi.ID[ident.Customer] `path:"customerId" doc:"Id of the customer."`
		EffectivePeriod
		AccountID httpapi.ID[ident.InternalAccount] `query:"accountId" doc:"Id of the internal account. Required unless currency is given."`
		Currency  httpapi.Currency                  `query:"currency" doc:"Currency of the customer's account. Required unless accountId is given."`
		Format    string                            `query:"format" enum:"html,pdf" default:"html" doc:"Format of the statement: a self-contained HTML page, or a PDF."`
	}
	httpapi.GetFile(a, httpapi.Operation{
		ID: "getCustomerStatement", Path: "/customers/{customerId}/statement", Tag: tagExports, Summary: "Get an account statement",
		Permission: platform.View,
		Description: "Returns an account statement: the opening balance, every transaction with id, date, description, counterparty, rate, " +
			"amount received, amount and resulting balance, and the closing balance. Times are UTC. " +
			"Money in and out count a refunded payment with what is left of it. " +
			"A PDF holds up to 20,000 transactions and prints Latin, Cyrillic and Greek letters only; HTML has no such limits.",
		Errors: []fault.Code{fault.UserNotFound, fault.InternalAccountNotFound, fault.RateLimited, fault.MonthArchived},
	}, []string{"text/html", "application/pdf"}, func(ctx context.Context, call httpapi.Call, in *statementParams) (httpapi.File, error) {
		document, err := service.Statement(ctx, call.Principal.Platform, exports.StatementRequest{
			Customer: in.CustomerID.Value, Account: in.AccountID.Value, Currency: money.Currency(in.Currency),
			Interval: in.interval(), Format: exports.StatementFormat(in.Format),
		})
		return renderFile(document), err
	})
}

func renderFile(d exports.Document) httpapi.File {
	return httpapi.File{Name: d.Name, ContentType: d.ContentType, Policy: d.ContentSecurityPolicy, Write: d.Write}
}
