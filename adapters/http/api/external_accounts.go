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

// Accounts are the use cases behind the external account operations.
type Accounts interface {
	Create(ctx context.Context, who platform.Principal, claim *ports.Claim, r accounts.Request) (account.External, error)
	Get(ctx context.Context, who platform.Principal, of accounts.Owner, id ident.ExternalAccount) (account.External, error)
	List(ctx context.Context, who platform.Principal, of accounts.Owner, f ports.AccountFilter) (ports.Page[account.External], error)
	Delete(ctx context.Context, who platform.Principal, of accounts.Owner, id ident.ExternalAccount) error
}

type externalAccountBody struct {
	ID                httpapi.ID[ident.ExternalAccount]  `json:"id" doc:"The account."`
	CustomerID        httpapi.ID[ident.Customer]         `json:"customerId,omitzero" doc:"Who owns it; left out for the platform's own."`
	Status            string                             `json:"status" enum:"PENDING,ACTIVE,UNDER_REVIEW,INACTIVE" doc:"Only an ACTIVE account sends or receives." example:"ACTIVE"`
	Currency          httpapi.Currency                   `json:"currency" doc:"The currency it holds." example:"BTC"`
	PlatformAccountID string                             `json:"platformAccountId,omitempty" doc:"Your own id of the account."`
	DefaultUMADeposit bool                               `json:"defaultUmaDepositAccount,omitempty" doc:"Whether payments to the customer's UMA address go here."`
	Verification      string                             `json:"beneficiaryVerificationStatus,omitempty" enum:"MATCHED,PARTIAL_MATCH,NOT_MATCHED,UNSUPPORTED,CHECKED_BY_RECEIVING_FI,PENDING" doc:"What the receiving side said of the beneficiary's name; left out where none was asked. UNSUPPORTED: it cannot be asked. CHECKED_BY_RECEIVING_FI: the receiving bank checks when the payment comes."`
	VerifiedData      *verifiedData                      `json:"beneficiaryVerifiedData,omitempty" doc:"The name as the receiving side knows it, where it says so."`
	AccountInfo       httpapi.Union[accountInfoAnswered] `json:"accountInfo" doc:"The account itself."`
}

type verifiedData struct {
	FullName string `json:"fullName,omitempty" doc:"The owner's name." example:"Ana Silva"`
}

func externalAccountOf(a account.External) externalAccountBody {
	body := externalAccountBody{
		ID: httpapi.WriteID(a.ID), CustomerID: httpapi.WriteID(a.Customer), Status: string(a.Status), Currency: httpapi.Currency(a.Currency),
		PlatformAccountID: a.PlatformAccountID, DefaultUMADeposit: a.DefaultUMADeposit, Verification: string(a.Verification),
		AccountInfo: httpapi.WriteUnion[accountInfoAnswered](accountInfo(a)),
	}
	if a.VerifiedName != "" {
		body.VerifiedData = &verifiedData{a.VerifiedName}
	}
	return body
}

func accountPage(p ports.Page[account.External]) httpapi.Page[externalAccountBody] {
	return pageOf(p, externalAccountOf, func(a account.External) string { return a.ID.String() })
}

// accountsWanted is the part of the list that is asked for.
func accountsWanted(in httpapi.Paging, currency httpapi.Currency) (ports.AccountFilter, error) {
	after, err := httpapi.CursorID[ident.ExternalAccount](in.Cursor)
	return ports.AccountFilter{Paging: ports.Paging{Limit: in.Limit, After: after.UUID()}, Currency: money.Currency(currency)}, err
}

// oneAccount names an account in a path.
type oneAccount struct {
	ExternalAccountID httpapi.ID[ident.ExternalAccount] `path:"externalAccountId" doc:"The account."`
}

const aboutAccounts = "Once registered, the account can be named in any number of quotes. Everything that is wrong with it is listed at once, check digits included; " +
	"the beneficiary's name is checked with the receiving side where that is possible. An account cannot be changed: delete it and register it again."

func registerExternalAccounts(a *httpapi.API, use Accounts) {
	registerCustomerAccounts(a, use)
	registerPlatformAccounts(a, use)
}

func registerCustomerAccounts(a *httpapi.API, use Accounts) {
	type create struct{ Body customerAccountRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createCustomerExternalAccount", Path: "/customers/external-accounts", Tag: tagAccounts, Summary: "Register a customer's account",
		Permission: platform.Manage, Status: 201, Description: aboutAccounts,
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict, fault.InvalidBankAccount},
	}, func(ctx context.Context, call httpapi.Call, in *create) (account.External, error) {
		return use.Create(ctx, call.Principal, call.Claim, in.Body.request())
	}, externalAccountOf)

	type wanted struct {
		httpapi.Paging
		Currency   httpapi.Currency           `query:"currency" doc:"In this currency."`
		CustomerID httpapi.ID[ident.Customer] `query:"customerId" doc:"Of this customer."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listCustomerExternalAccounts", Path: "/customers/external-accounts", Tag: tagAccounts, Summary: "List customers' accounts",
		Permission: platform.View, Description: "The newest first, of all customers or of one. Deleted accounts are left out.",
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[account.External], error) {
		filter, err := accountsWanted(in.Paging, in.Currency)
		if err != nil {
			return ports.Page[account.External]{}, err
		}
		filter.Customer = in.CustomerID.Value
		return use.List(ctx, call.Principal, accounts.OfCustomers, filter)
	}, accountPage)

	httpapi.Get(a, httpapi.Operation{
		ID: "getCustomerExternalAccountById", Path: "/customers/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Get a customer's account",
		Permission: platform.View, Description: "One account of a customer.", Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, get(use, accounts.OfCustomers), externalAccountOf)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteCustomerExternalAccountById", Path: "/customers/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Delete a customer's account",
		Permission: platform.Manage, Description: aboutDeletion, Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, remove(use, accounts.OfCustomers), nothing)
}

const aboutDeletion = "The account can no longer be named in quotes. What was quoted to it before goes on."

func registerPlatformAccounts(a *httpapi.API, use Accounts) {
	type create struct{ Body platformAccountRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createPlatformExternalAccount", Path: "/platform/external-accounts", Tag: tagAccounts, Summary: "Register an account of the platform",
		Permission: platform.Manage, Status: 201, Description: aboutAccounts,
		Errors: []fault.Code{fault.Conflict, fault.InvalidBankAccount},
	}, func(ctx context.Context, call httpapi.Call, in *create) (account.External, error) {
		return use.Create(ctx, call.Principal, call.Claim, in.Body.request())
	}, externalAccountOf)

	type wanted struct {
		httpapi.Paging
		Currency httpapi.Currency `query:"currency" doc:"In this currency."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listPlatformExternalAccounts", Path: "/platform/external-accounts", Tag: tagAccounts, Summary: "List the platform's accounts",
		Permission: platform.View, Description: "The newest first. Deleted accounts are left out.",
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[account.External], error) {
		filter, err := accountsWanted(in.Paging, in.Currency)
		if err != nil {
			return ports.Page[account.External]{}, err
		}
		return use.List(ctx, call.Principal, accounts.OfPlatform, filter)
	}, accountPage)

	httpapi.Get(a, httpapi.Operation{
		ID: "getPlatformExternalAccountById", Path: "/platform/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Get an account of the platform",
		Permission: platform.View, Description: "One account of the platform itself.", Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, get(use, accounts.OfPlatform), externalAccountOf)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deletePlatformExternalAccountById", Path: "/platform/external-accounts/{externalAccountId}", Tag: tagAccounts, Summary: "Delete an account of the platform",
		Permission: platform.Manage, Description: aboutDeletion, Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, remove(use, accounts.OfPlatform), nothing)
}

func get(use Accounts, of accounts.Owner) httpapi.Handler[oneAccount, account.External] {
	return func(ctx context.Context, call httpapi.Call, in *oneAccount) (account.External, error) {
		return use.Get(ctx, call.Principal, of, in.ExternalAccountID.Value)
	}
}

func remove(use Accounts, of accounts.Owner) httpapi.Handler[oneAccount, struct{}] {
	return func(ctx context.Context, call httpapi.Call, in *oneAccount) (struct{}, error) {
		return struct{}{}, use.Delete(ctx, call.Principal, of, in.ExternalAccountID.Value)
	}
}
