package api

import (
	"context"
	"strings"

	httpapi "causeway/adapters/http"
	"causeway/app/accounts"
	"causeway/core/account"
	"causeway/core/bitcoin"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/vasp"
	"causeway/ports"
)

// ExternalAccounts holds the use cases of the external account operations.
type ExternalAccounts interface {
	Create(ctx context.Context, principal platform.Principal, idempotent *ports.IdempotentRequest,
		r accounts.Request) (account.External, error)
	Get(ctx context.Context, platformID ident.Platform, owner accounts.Owner, id ident.ExternalAccount) (account.External, error)
	List(ctx context.Context, platformID ident.Platform, owner accounts.Owner,
		f ports.ExternalAccountFilter) (ports.Page[account.External], error)
	Delete(ctx context.Context, platformID ident.Platform, owner accounts.Owner, id ident.ExternalAccount) error
	Challenge(ctx context.Context, principal platform.Principal, owner accounts.Owner, idempotent *ports.IdempotentRequest,
		id ident.ExternalAccount, method account.ProofMethod) (accounts.IssuedChallenge, error)
	Verify(ctx context.Context, principal platform.Principal, owner accounts.Owner, idempotent *ports.IdempotentRequest,
		id ident.ExternalAccount, signature string, scheme bitcoin.MessageScheme) (account.External, error)
	VASPs(ctx context.Context) (vasp.Directory, error)
	StartTrust(ctx context.Context, t accounts.Trust, idempotent *ports.IdempotentRequest) (*sca.Asked, error)
	ConfirmTrust(ctx context.Context, t accounts.Trust, proof sca.Proof, idempotent *ports.IdempotentRequest) (trusted bool, err error)
	// An agent has the accounts of its customer.
	CreateForAgent(ctx context.Context, caller platform.Principal, idempotent *ports.IdempotentRequest,
		r accounts.Request) (account.External, error)
	GetForAgent(ctx context.Context, caller platform.Principal, id ident.ExternalAccount) (account.External, error)
	ListForAgent(ctx context.Context, caller platform.Principal, f ports.ExternalAccountFilter) (ports.Page[account.External], error)
	DeleteForAgent(ctx context.Context, caller platform.Principal, id ident.ExternalAccount) error
}

type externalAccountBody struct {
	ID                httpapi.ID[ident.ExternalAccount] `json:"id" doc:"Id of the account."`
	CustomerID        httpapi.ID[ident.Customer]        `json:"customerId,omitzero" doc:"Customer who owns the account. Omitted for accounts of the platform."`
	Status            string                            `json:"status" enum:"PENDING,ACTIVE,PENDING_OWNERSHIP_VERIFICATION,UNVERIFIED,UNDER_REVIEW,INACTIVE" doc:"Status of the account. Only ACTIVE accounts can send and receive any amount. A wallet that is PENDING_OWNERSHIP_VERIFICATION or UNVERIFIED can receive as much as the travel rule allows without a proof of its owner." example:"ACTIVE"`
	Currency          httpapi.Currency                  `json:"currency" doc:"Currency of the account." example:"BTC"`
	PlatformAccountID string                            `json:"platformAccountId,omitempty" doc:"Your id for the account."`
	Ownership         ownershipType                     `json:"ownershipType,omitempty" doc:"Whose the wallet is, if you have said so."`
	DefaultUMADeposit bool                              `json:"defaultUmaDepositAccount,omitempty" doc:"Whether payments to the customer's UMA address go to this account."`
	Verification      string                            `json:"beneficiaryVerificationStatus,omitempty" enum:"MATCHED,PARTIAL_MATCH,NOT_MATCHED,UNSUPPORTED,CHECKED_BY_RECEIVING_FI,PENDING" doc:"Result of checking the beneficiary's name with the receiving institution. Omitted if no check applies. UNSUPPORTED: the institution offers no check, or the check did not answer. CHECKED_BY_RECEIVING_FI: the institution checks the name when the payment arrives."`
	Reason            string                            `json:"beneficiaryVerificationReason,omitempty" doc:"Why the name was not checked although it should have been. Only in the response that registers the account."`
	VerifiedData      *beneficiaryVerifiedData          `json:"beneficiaryVerifiedData,omitempty" doc:"Beneficiary data returned by the receiving institution, if any."`
	AccountInfo       httpapi.Union[accountInfoOutput]  `json:"accountInfo" doc:"Account details."`
}

type beneficiaryVerifiedData struct {
	FullName string `json:"fullName,omitempty" doc:"Name of the account owner." example:"Ana Silva"`
}

func renderExternalAccount(a account.External) externalAccountBody {
	body := externalAccountBody{
		ID: httpapi.NewID(a.ID), CustomerID: httpapi.NewID(a.Customer), Status: string(a.Status), Currency: httpapi.Currency(a.Currency),
		PlatformAccountID: a.PlatformAccountID, Ownership: ownershipType(a.Ownership),
		DefaultUMADeposit: a.DefaultUMADeposit, Verification: string(a.Verification),
		Reason:      a.UnverifiedReason,
		AccountInfo: httpapi.NewUnion[accountInfoOutput](renderAccountInfo(a)),
	}
	if a.VerifiedName != "" {
		body.VerifiedData = &beneficiaryVerifiedData{a.VerifiedName}
	}
	return body
}

func renderExternalAccountPage(p ports.Page[account.External]) httpapi.Page[externalAccountBody] {
	return httpapi.RenderPage(p, renderExternalAccount, func(a account.External) string { return a.ID.String() })
}

// externalAccountFilter returns the filter of a list request.
func externalAccountFilter(in httpapi.Paging, currency httpapi.Currency) (ports.ExternalAccountFilter, error) {
	after, err := httpapi.CursorID[ident.ExternalAccount](in.Cursor)
	return ports.ExternalAccountFilter{Paging: ports.Paging{Limit: in.Limit, After: after.UUID()}, Currency: money.Currency(currency)}, err
}

// externalAccountParams holds the path parameters of one account.
type externalAccountParams struct {
	ExternalAccountID httpapi.ID[ident.ExternalAccount] `path:"externalAccountId" doc:"Id of the account."`
}

var externalAccountsDescription = "A registered account can be used in any number of quotes. All fields are validated and all errors are " +
	"listed at once; " +
	"the beneficiary's name is checked with the receiving institution where possible. An account cannot be changed: delete it and register " +
	"it again.\n\n" +
	"On a production platform the check digits of account identifiers must be right; in the sandbox only their format must. These test " +
	"numbers pass on both:\n\n" +
	testNumbers("US_ACCOUNT", "EUR_ACCOUNT", "GBP_ACCOUNT", "MXN_ACCOUNT", "BRL_ACCOUNT")

// testNumbers lists the examples of the required fields of account types, as Markdown.
func testNumbers(types ...account.Type) string {
	var list strings.Builder
	for _, name := range types {
		spec, _ := account.Spec(name)
		var fields []string
		for _, f := range spec.Fields {
			if f.Required {
				fields = append(fields, f.Name+" `"+f.Example+"`")
			}
		}
		list.WriteString("- `" + string(name) + "`: " + strings.Join(fields, ", ") + "\n")
	}
	return strings.TrimSuffix(list.String(), "\n")
}

func registerExternalAccounts(a *httpapi.API, service ExternalAccounts) {
	registerCustomerAccounts(a, service)
	registerPlatformAccounts(a, service)
	registerOwnership(a, service)
	registerVASPs(a, service)
}

func registerCustomerAccounts(a *httpapi.API, service ExternalAccounts) {
	type createInput struct{ Body externalAccountCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createCustomerExternalAccount", Path: "/customers/external-accounts", Tag: tagAccounts, Summary: "Register an external account of " +
			"a customer",
		Permission: platform.Manage, Status: 201, Description: externalAccountsDescription,
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.MissingMandatoryUserInfo, fault.Conflict, fault.InvalidBankAccount},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (account.External, error) {
		return service.Create(ctx, call.Principal, call.IdempotentRequest, in.Body.request())
	}, renderExternalAccount)

	type listParams struct {
		httpapi.Paging
		Currency   httpapi.Currency           `query:"currency" doc:"Currency of the account."`
		CustomerID httpapi.ID[ident.Customer] `query:"customerId" doc:"Customer who owns the account."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listCustomerExternalAccounts", Path: "/customers/external-accounts", Tag: tagAccounts,
		Summary:    "List external accounts of customers",
		Permission: platform.View, Description: "Newest first, without deleted accounts.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams) (ports.Page[account.External], error) {
		filter, err := externalAccountFilter(in.Paging, in.Currency)
		if err != nil {
			return ports.Page[account.External]{}, err
		}
		filter.Customer = in.CustomerID.Value
		return service.List(ctx, call.Principal.Platform, accounts.OwnedByCustomers, filter)
	}, renderExternalAccountPage)

	httpapi.Get(a, httpapi.Operation{
		ID: "getCustomerExternalAccountById", Path: "/customers/external-accounts/{externalAccountId}", Tag: tagAccounts,
		Summary:    "Get an external account of a customer",
		Permission: platform.View, Description: "Returns an external account of a customer.", Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, getExternalAccount(service, accounts.OwnedByCustomers), renderExternalAccount)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteCustomerExternalAccountById", Path: "/customers/external-accounts/{externalAccountId}", Tag: tagAccounts,
		Summary:    "Delete an external account of a customer",
		Permission: platform.Manage, Description: accountDeletionDescription +
			" An account that the customer trusts is not deleted.", Errors: []fault.Code{fault.ExternalAccountNotFound, fault.BeneficiaryTrusted},
	}, deleteExternalAccount(service, accounts.OwnedByCustomers), renderNoBody)
}

const accountDeletionDescription = "The account can no longer be used in new quotes. Quotes with it that have not run are refused when " +
	"they are executed, and refunded when they are paid; " +
	"payments on their way are delivered."

func registerPlatformAccounts(a *httpapi.API, service ExternalAccounts) {
	type createInput struct {
		Body platformExternalAccountCreateRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "createPlatformExternalAccount", Path: "/platform/external-accounts", Tag: tagAccounts, Summary: "Register an external account of " +
			"the platform",
		Permission: platform.Manage, Status: 201, Description: externalAccountsDescription,
		Errors: []fault.Code{fault.Conflict, fault.InvalidBankAccount},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (account.External, error) {
		return service.Create(ctx, call.Principal, call.IdempotentRequest, in.Body.request())
	}, renderExternalAccount)

	type listParams struct {
		httpapi.Paging
		Currency httpapi.Currency `query:"currency" doc:"Currency of the account."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listPlatformExternalAccounts", Path: "/platform/external-accounts", Tag: tagAccounts, Summary: "List external accounts of the " +
			"platform",
		Permission: platform.View, Description: "Newest first, without deleted accounts.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams) (ports.Page[account.External], error) {
		filter, err := externalAccountFilter(in.Paging, in.Currency)
		if err != nil {
			return ports.Page[account.External]{}, err
		}
		return service.List(ctx, call.Principal.Platform, accounts.OwnedByPlatform, filter)
	}, renderExternalAccountPage)

	httpapi.Get(a, httpapi.Operation{
		ID: "getPlatformExternalAccountById", Path: "/platform/external-accounts/{externalAccountId}", Tag: tagAccounts,
		Summary:    "Get an external account of the platform",
		Permission: platform.View, Description: "Returns an external account of the platform.",
		Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, getExternalAccount(service, accounts.OwnedByPlatform), renderExternalAccount)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deletePlatformExternalAccountById", Path: "/platform/external-accounts/{externalAccountId}", Tag: tagAccounts,
		Summary:    "Delete an external account of the platform",
		Permission: platform.Manage, Description: accountDeletionDescription, Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, deleteExternalAccount(service, accounts.OwnedByPlatform), renderNoBody)
}

func getExternalAccount(service ExternalAccounts, owner accounts.Owner) httpapi.Handler[externalAccountParams, account.External] {
	return func(ctx context.Context, call httpapi.Call, in *externalAccountParams) (account.External, error) {
		return service.Get(ctx, call.Principal.Platform, owner, in.ExternalAccountID.Value)
	}
}

func deleteExternalAccount(service ExternalAccounts, owner accounts.Owner) httpapi.Handler[externalAccountParams, struct{}] {
	return func(ctx context.Context, call httpapi.Call, in *externalAccountParams) (struct{}, error) {
		return struct{}{}, service.Delete(ctx, call.Principal.Platform, owner, in.ExternalAccountID.Value)
	}
}

func registerAgentExternalAccounts(a *httpapi.API, service ExternalAccounts) {
	readers := []platform.Permission{mayManageAccounts, mayCreateQuotes, mayCreateTransfers}
	type externalParams struct {
		httpapi.Paging
		Currency httpapi.Currency `query:"currency" doc:"Currency of the account."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "agentListExternalAccounts", Path: "/agents/me/external-accounts", Tag: tagForAgents, Summary: "List external accounts as an agent",
		Agent: true, AgentPermissions: readers, Experimental: true,
		Description: "Lists the external accounts of the agent's customer, newest first, without deleted accounts.",
	}, func(ctx context.Context, call httpapi.Call, in *externalParams) (ports.Page[account.External], error) {
		filter, err := externalAccountFilter(in.Paging, in.Currency)
		if err != nil {
			return ports.Page[account.External]{}, err
		}
		return service.ListForAgent(ctx, call.Principal, filter)
	}, renderExternalAccountPage)

	httpapi.Get(a, httpapi.Operation{
		ID: "agentGetExternalAccount", Path: "/agents/me/external-accounts/{externalAccountId}", Tag: tagForAgents,
		Summary: "Get an external account as an agent", Agent: true, AgentPermissions: readers, Experimental: true,
		Description: "Returns an external account of the agent's customer.", Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *externalAccountParams) (account.External, error) {
		return service.GetForAgent(ctx, call.Principal, in.ExternalAccountID.Value)
	}, renderExternalAccount)

	type createInput struct{ Body externalAccountCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "agentCreateExternalAccount", Path: "/agents/me/external-accounts", Tag: tagForAgents, Summary: "Register an external account as " +
			"an agent", Agent: true,
		AgentPermissions: []platform.Permission{mayManageAccounts}, AgentAttempt: true, Status: 201, Experimental: true,
		Description: "Registers an external account of the agent's customer, whose id may be omitted. An agent cannot set " +
			"defaultUmaDepositAccount. " + externalAccountsDescription,
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.MissingMandatoryUserInfo, fault.Conflict,
			fault.InvalidBankAccount},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (account.External, error) {
		return service.CreateForAgent(ctx, call.Principal, call.IdempotentRequest, in.Body.request())
	}, renderExternalAccount)

	httpapi.Delete(a, httpapi.Operation{
		ID: "agentDeleteExternalAccount", Path: "/agents/me/external-accounts/{externalAccountId}", Tag: tagForAgents,
		Summary: "Delete an external account as an agent", Agent: true,
		AgentPermissions: []platform.Permission{mayManageAccounts}, AgentAttempt: true, Experimental: true,
		Description: accountDeletionDescription, Errors: []fault.Code{fault.ExternalAccountNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *externalAccountParams) (struct{}, error) {
		return struct{}{}, service.DeleteForAgent(ctx, call.Principal, in.ExternalAccountID.Value)
	}, renderNoBody)
}
