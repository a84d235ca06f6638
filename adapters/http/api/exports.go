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

// Exports are the use cases behind exports of the books and statements.
type Exports interface {
	Export(p ident.Platform, r exports.Request) (exports.Document, error)
	Statement(ctx context.Context, p ident.Platform, r exports.StatementRequest) (exports.Document, error)
}

// EffectivePeriod is a part of time by when things took effect.
type EffectivePeriod struct {
	From httpapi.Time `query:"from" doc:"What took effect at this moment or later. Without it, from the beginning."`
	To   httpapi.Time `query:"to" doc:"What took effect before this moment: the first one that does not belong to the period any more. Without it, up to now."`
}

func (p EffectivePeriod) interval() period.Interval {
	return period.Interval{From: p.From.Time, To: p.To.Time}
}

func registerExports(a *httpapi.API, use Exports) {
	type wanted struct {
		EffectivePeriod
		Format   string           `query:"format" required:"true" enum:"csv,hledger,ledger,beancount,camt053" doc:"csv: one entry a line (RFC 4180). hledger, ledger, beancount: a journal for that program, which checks every balance. camt053: bank statements after ISO 20022 (camt.053.001.08), one an account, of fiat currencies."`
		AsOf     httpapi.Time     `query:"asOf" doc:"The books as they had been recorded by the end of this moment. Without it, now. The moment that stands in the file always gives the same file again."`
		Account  string           `query:"account" doc:"Only what touches accounts at this path." example:"rails/ACH"`
		Currency httpapi.Currency `query:"currency" doc:"Only what is in this currency."`
	}
	httpapi.GetFile(a, httpapi.Operation{
		ID: "exportLedger", Path: "/ledger/export", Tag: tagExports, Summary: "Export the books", Permission: platform.View,
		Description: "Streams the entries of the books in the order in which they were recorded, from one snapshot, of any size. " +
			"A failure before the first byte is answered like any other; after that the connection breaks, so a file that came whole is whole. " +
			"Journals bring balances at `from` forward, and end with the balance of every account for the program to check; debits are above zero there, and credits below. " +
			"A memo that a spreadsheet would take for a formula has an apostrophe in front.",
		Errors: []fault.Code{fault.RateLimited, fault.MonthArchived},
	}, []string{"text/csv", "text/plain", "application/xml"}, func(ctx context.Context, call httpapi.Call, in *wanted) (httpapi.File, error) {
		document, err := use.Export(call.Principal.Platform, exports.Request{
			Format: exports.Format(in.Format), AsOf: in.AsOf.Time,
			LedgerFilter: ports.LedgerFilter{Interval: in.interval(), Path: in.Account, Currency: money.Currency(in.Currency)},
		})
		return renderFile(document), err
	})

	type statement struct {
		CustomerID httpapi.ID[ident.Customer] `path:"customerId" doc:"The customer."`
		EffectivePeriod
		AccountID httpapi.ID[ident.InternalAccount] `query:"accountId" doc:"Of this internal account. Give this or currency."`
		Currency  httpapi.Currency                  `query:"currency" doc:"Of the customer's account in this currency. Give this or accountId."`
		Format    string                            `query:"format" enum:"html,pdf" default:"html" doc:"html is a page of its own, for screens and for print."`
	}
	httpapi.GetFile(a, httpapi.Operation{
		ID: "getCustomerStatement", Path: "/customers/{customerId}/statement", Tag: tagExports, Summary: "Get an account statement", Permission: platform.View,
		Description: "A statement for the customer: the balance at `from`, every movement with date, description, counterparty, amount and balance after it, and the balance at `to`. Times are UTC. " +
			"A pdf holds up to 20,000 movements and prints Latin, Cyrillic and Greek letters; others appear as a box. html has no such limits.",
		Errors: []fault.Code{fault.UserNotFound, fault.InternalAccountNotFound, fault.RateLimited, fault.MonthArchived},
	}, []string{"text/html", "application/pdf"}, func(ctx context.Context, call httpapi.Call, in *statement) (httpapi.File, error) {
		document, err := use.Statement(ctx, call.Principal.Platform, exports.StatementRequest{
			Customer: in.CustomerID.Value, Account: in.AccountID.Value, Currency: money.Currency(in.Currency),
			Interval: in.interval(), Format: exports.StatementFormat(in.Format),
		})
		return renderFile(document), err
	})
}

func renderFile(d exports.Document) httpapi.File {
	return httpapi.File{Name: d.Name, ContentType: d.ContentType, Policy: d.ContentSecurityPolicy, Write: d.Write}
}
