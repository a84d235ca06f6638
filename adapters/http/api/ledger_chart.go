package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	booksapp "causeway/app/books"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/proposal"
)

// GLAccount is the account of the general ledger of something.
type GLAccount struct {
	Code string `json:"glCode" doc:"Code of the account in the general ledger, by the mapping of the platform." example:"1100"`
	Name string `json:"glName" doc:"Name of the account in the general ledger." example:"Funds at payment partners"`
}

func renderGLAccount(a books.GLAccount) GLAccount { return GLAccount{a.Code, a.Name} }

type chartAccountBody struct {
	Path        string `json:"path" doc:"Path of the account. The last part of a group of built-in accounts is a placeholder in angle brackets." example:"expense/office-rent"`
	Class       string `json:"class" enum:"asset,liability,equity,income,expense,trading" doc:"Class of the account, which follows from its path."`
	NoOverdraft bool   `json:"noOverdraft" doc:"Whether the account cannot be overdrawn."`
	Description string `json:"description,omitempty" doc:"What the account holds." example:"Offices in Lisbon and Porto"`
	GLAccount
	Added *addedAccountBody `json:"added,omitempty" doc:"Latest change of an account that was added. Omitted for built-in accounts."`
}

type addedAccountBody struct {
	Name    string `json:"name" doc:"Name of the account." example:"Office rent"`
	Retired bool   `json:"retired" doc:"Whether the account was retired: it takes no new manual postings."`
	ChangeRecord
}

func renderChartAccount(a booksapp.ChartAccount) chartAccountBody {
	body := chartAccountBody{Path: a.Path, Class: string(a.Class), NoOverdraft: a.NoOverdraft, Description: a.Description,
		GLAccount: renderGLAccount(a.GL)}
	if a.Added != nil {
		body.Added = &addedAccountBody{a.Added.Name, a.Added.Retired, renderChange(a.Added.Version, a.Added.At, a.Added.By,
			a.Added.Approval, a.Added.Note)}
	}
	return body
}

type chartResponse struct {
	Data []chartAccountBody `json:"data" doc:"Built-in accounts and groups of accounts, followed by the accounts that were added, by path."`
}

type chartAccountCreateRequest struct {
	Path        string `json:"path" minLength:"1" maxLength:"60" doc:"asset/, liability/, equity/, income/ or expense/, and a name of small letters, digits and hyphens. It cannot change." example:"expense/office-rent"`
	Name        string `json:"name" minLength:"1" maxLength:"100" doc:"Name of the account." example:"Office rent"`
	Description string `json:"description,omitempty" maxLength:"500" doc:"What the account holds." example:"Offices in Lisbon and Porto"`
	Note        string `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change."`
}

// Resolve reports what core finds invalid, so that it is listed with fields that are missing.
func (r chartAccountCreateRequest) Resolve(huma.Context) []error {
	return httpapi.FieldErrors(fault.Invalid(books.AddedAccount{Path: r.Path, Name: r.Name, Description: r.Description}.Check()...))
}

type chartAccountUpdateRequest struct {
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"Name of the account." example:"Office rent and utilities"`
	Description *string `json:"description,omitempty" maxLength:"500" doc:"What the account holds."`
	Retired     *bool   `json:"retired,omitempty" doc:"true: the account takes no new manual postings. false: it takes them again."`
	Note        string  `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change." example:"The office was closed."`
}

func registerLedgerChart(a *httpapi.API, service Books) {
	type listParams struct{ httpapi.ReportFormat }
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getLedgerChart", Path: "/ledger/chart", Tag: tagLedger, Summary: "Get the chart of accounts", Permission: platform.View,
		Description: "Returns the built-in chart of accounts and the accounts that were added, each with its account of the general ledger in " +
			"currencies that have none of their own. " +
			"Every account exists in every currency, from its first posting on.",
	}, func(ctx context.Context, call httpapi.Call, _ *listParams) ([]booksapp.ChartAccount, error) {
		return service.Chart(ctx, call.Principal.Platform)
	}, func(chart []booksapp.ChartAccount) chartResponse {
		list := chartResponse{Data: make([]chartAccountBody, len(chart))}
		for i, account := range chart {
			list.Data[i] = renderChartAccount(account)
		}
		return list
	}, func(chart []booksapp.ChartAccount) accounting.Table {
		return accounting.Table{Header: booksapp.ChartColumns, Rows: booksapp.ChartRows(chart)}
	})

	type addInput struct{ Body chartAccountCreateRequest }
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "addLedgerAccount", Path: "/ledger/chart", Tag: tagLedger, Summary: "Add an account to the chart", Permission: platform.Manage,
		Description: "Adds an account for manual postings: adjustments and opening balances. Accounts are never deleted; retire those that are " +
			"no longer used. A platform can add 500.",
	}, 201, chartAccountBody{}), func(ctx context.Context, call httpapi.Call, in *addInput) (proposal.Outcome[booksapp.ChartAccount], error) {
		return service.AddAccount(ctx, call.Principal.Platform, booksChange(call, in.Body.Note), call.IdempotentRequest,
			books.AddedAccount{Path: in.Body.Path, Name: in.Body.Name, Description: in.Body.Description})
	}, renderOutcome(201, renderChartAccount))

	type changeInput struct {
		Account string `path:"account" maxLength:"60" doc:"Path of the account. Encode the / as %2F." example:"expense/office-rent"`
		Body    chartAccountUpdateRequest
	}
	httpapi.Patch(a, withFourEyes(httpapi.Operation{
		ID: "changeLedgerAccount", Path: "/ledger/chart/{account}", Tag: tagLedger, Summary: "Change an account of the chart",
		Permission:  platform.Manage,
		Description: "Changes the name or description of an account that was added, or retires it. Its postings and balances stay.",
		Errors:      []fault.Code{fault.NotFound},
	}, 200, chartAccountBody{}), func(ctx context.Context, call httpapi.Call,
		in *changeInput) (proposal.Outcome[booksapp.ChartAccount], error) {
		return service.ChangeAccount(ctx, call.Principal.Platform, booksChange(call, in.Body.Note), in.Account,
			booksapp.AccountChange{Name: in.Body.Name, Description: in.Body.Description, Retired: in.Body.Retired})
	}, renderOutcome(200, renderChartAccount))
}
