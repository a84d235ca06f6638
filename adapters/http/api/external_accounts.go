package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/accounts"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// ExternalAccounts are the use cases behind the external account operations.
type ExternalAccounts interface {
	Create(ctx context.Context, who platform.Principal, claim *ports.IdempotentRequest, r accounts.Request) (account.External, error)
	Get(ctx context.Context, who platform.Principal, of accounts.Owner, id ident.ExternalAccount) (account.External, error)
	List(ctx context.Context, who platform.Principal, of accounts.Owner, f ports.ExternalAccountFilter) (ports.Page[account.External], error)
	Delete(ctx context.Context, who platform.Principal, of accounts.Owner, id ident.ExternalAccount) error
}

type externalAccountBody struct {
	ID                httpapi.ID[ident.ExternalAccount] `json:"id" doc:"The account."`
	CustomerID        httpapi.ID[ident.Customer]        `json:"customerId,omitzero" doc:"Who owns it; left out for the platform's own."`
	Status            string                            `json:"status" enum:"PENDING,ACTIVE,UNDER_REVIEW,INACTIVE" doc:"Only an ACTIVE account sends or receives." example:"ACTIVE"`
	Currency          httpapi.Currency                  `json:"currency" doc:"The currency it holds." example:"BTC"`
	PlatformAccountID string                            `json:"platformAccountId,omitempty" doc:"Your own id of the account."`
	DefaultUMADeposit bool                              `json:"defaultUmaDepositAccount,omitempty" doc:"Whether payments to the customer's UMA address go here."`
	Verification      string                            `json:"beneficiaryVerificationStatus,omitempty" enum:"MATCHED,PARTIAL_MATCH,NOT_MATCHED,UNSUPPORTED,CHECKED_BY_RECEIVING_FI,PENDING" doc:"What the receiving side said of the beneficiary's name; left out where none was asked. UNSUPPORTED: it cannot be asked. CHECKED_BY_RECEIVING_FI: the receiving bank checks when the payment comes."`
	VerifiedData      *beneficiaryVerifiedData          `json:"beneficiaryVerifiedData,omitempty" doc:"The name as the receiving side knows it, where it says so."`
	AccountInfo       httpapi.Union[accountInfoOutput]  `json:"accountInfo" doc:"The account itself."`
}

type beneficiaryVerifiedData struct {
	FullName string `json:"fullName,omitempty" doc:"The owner's name." example:"Ana Silva"`
}

func renderExternalAccount(a account.External) externalAccountBody {
	body := externalAccountBody{
		ID: httpapi.NewID(a.ID), CustomerID: httpapi.NewID(a.Customer), Status: string(a.Status), Currency: httpapi.Currency(a.Currency),
		PlatformAccountID: a.PlatformAccountID, DefaultUMADeposit: a.DefaultUMADeposit, Verification: string(a.Verification),
		AccountInfo: httpapi.NewUnion[accountInfoOutput](renderAccountInfo(a)),
	}
	if a.VerifiedName != "" {
		body.VerifiedData = &beneficiaryVerifiedData{a.VerifiedName}
	}
	return body
}

func renderExternalAccountPage(p ports.Page[account.External]) httpapi.Page[externalAccountBody] {
	return renderPage(p, renderExternalAccount, func(a account.External) string { return a.ID.String() })
}

// externalAccountFilter is the part of the list that is asked for.
func externalAccountFilter(in httpapi.Paging, currency httpapi.Currency) (ports.ExternalAccountFilter, error) {
	after, err := httpapi.CursorID[ident.ExternalAccount](in.Cursor)
	return ports.ExternalAccountFilter{Paging: ports.Paging{Limit: in.Limit, After: after.UUID()}, Currency: money.Currency(currency)}, err
}

// externalAccountParams names an account in a path.
type externalAccountParams struct {
	ExternalAccountID httpapi.ID[ident.ExternalAccount] `path:"externalAccountId" doc:"The account."`
}

const externalAccountsDescription = "Once registered, the account can be named in any number of quotes. Everything that is wrong with it is listed at once, check digits included; " +
	"the beneficiary's name is checked with the receiving side where that is possible. An account cannot be changed: delete it and register it again."

func registerExternalAccounts(a *httpapi.API, use ExternalAccounts) {
	registerCustomerAccounts(a, use)
	registerPlatformAccounts(a, use)
}

func registerCustomerAccounts(a *httpapi.API, use ExternalAccounts) {
	type create struct{ Body externalAccountCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createCustomerExternalAccount", Path: "/customers/external-accounts", Tag: tagAccounts, Summary: "Register a customer's account",
		Permission: platform.Manage, Status: 201, Description: externalAccountsDescription,
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict, fault.InvalidBankAccount},
	}, func(ctx context.Context, call httpapi.Call, in *create) (account.External, error) {
		return use.Create(ctx, call.Principal, call.IdempotentRequest, in.Body.request())
	}, renderExternalAccount)

	type wanted struct {
		httpapi.Paging
		Currency   httpapi.Currency           `query:"currency" doc:"In this currency."`
		CustomerID httpapi.ID[ident.Customer] `query:"customerId" doc:"Of this customer."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listCustomerExternalAccounts", Path: "/customers/external-accounts", Tag: tagAccounts, Summary: "List customers' accounts",
		Permission: platform.View, Description: "The newest first, of all customers or of one. Deleted accounts are left out.",
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[account.External], error) {
		filter, err := externalAccountFilter(in.Paging, in.Currency)
		if err != nil {
			return ports.Page[account.External]{}, err
		}
		filter.Customer = in.CustomerID.Value
		return use.List(ctx, call.Principal, accounts.OwnedByCustomers, filter)
	}, renderExternalAccountPage)

	httpapi.Get(a, httpapi.Operation{
		ID: "getCustomerExternalAccountById", Path: "/customers/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Get a customer's account",
		Permission: platform.View, Description: "One account of a customer.", Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, getExternalAccount(use, accounts.OwnedByCustomers), renderExternalAccount)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteCustomerExternalAccountById", Path: "/customers/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Delete a customer's account",
		Permission: platform.Manage, Description: accountDeletionDescription, Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, deleteExternalAccount(use, accounts.OwnedByCustomers), renderNoBody)
}

const accountDeletionDescription = "The account can no longer be named in quotes. What was quoted to it before goes on."

func registerPlatformAccounts(a *httpapi.API, use ExternalAccounts) {
	type create struct {
		Body platformExternalAccountCreateRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "createPlatformExternalAccount", Path: "/platform/external-accounts", Tag: tagAccounts, Summary: "Register an account of the platform",
		Permission: platform.Manage, Status: 201, Description: externalAccountsDescription,
		Errors: []fault.Code{fault.Conflict, fault.InvalidBankAccount},
	}, func(ctx context.Context, call httpapi.Call, in *create) (account.External, error) {
		return use.Create(ctx, call.Principal, call.IdempotentRequest, in.Body.request())
	}, renderExternalAccount)

	type wanted struct {
		httpapi.Paging
		Currency httpapi.Currency `query:"currency" doc:"In this currency."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listPlatformExternalAccounts", Path: "/platform/external-accounts", Tag: tagAccounts, Summary: "List the platform's accounts",
		Permission: platform.View, Description: "The newest first. Deleted accounts are left out.",
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[account.External], error) {
		filter, err := externalAccountFilter(in.Paging, in.Currency)
		if err != nil {
			return ports.Page[account.External]{}, err
		}
		return use.List(ctx, call.Principal, accounts.OwnedByPlatform, filter)
	}, renderExternalAccountPage)

	httpapi.Get(a, httpapi.Operation{
		ID: "getPlatformExternalAccountById", Path: "/platform/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Get an account of the platform",
		Permission: platform.View, Description: "One account of the platform itself.", Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, getExternalAccount(use, accounts.OwnedByPlatform), renderExternalAccount)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deletePlatformExternalAccountById", Path: "/platform/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Delete an account of the platform",
		Permission: platform.Manage, Description: accountDeletionDescription, Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, deleteExternalAccount(use, accounts.OwnedByPlatform), renderNoBody)
}

func getExternalAccount(use ExternalAccounts, of accounts.Owner) httpapi.Handler[externalAccountParams, account.External] {
	return func(ctx context.Context, call httpapi.Call, in *externalAccountParams) (account.External, error) {
		return use.Get(ctx, call.Principal, of, in.ExternalAccountID.Value)
	}
}

func deleteExternalAccount(use ExternalAccounts, of accounts.Owner) httpapi.Handler[externalAccountParams, struct{}] {
	return func(ctx context.Context, call httpapi.Call, in *externalAccountParams) (struct{}, error) {
		return struct{}{}, use.Delete(ctx, call.Principal, of, in.ExternalAccountID.Value)
	}
}
