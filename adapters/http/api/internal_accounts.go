package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/accounts"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// InternalAccounts holds the use cases of the internal account operations.
type InternalAccounts interface {
	ListInternal(ctx context.Context, platformID ident.Platform, owner accounts.Owner,
		f ports.InternalAccountFilter) (ports.Page[account.WithBalance], error)
	ListInternalForAgent(ctx context.Context, caller platform.Principal,
		f ports.InternalAccountFilter) (ports.Page[account.WithBalance], error)
}

type internalAccountBody struct {
	ID                  httpapi.ID[ident.InternalAccount] `json:"id" doc:"Id of the account."`
	CustomerID          httpapi.ID[ident.Customer]        `json:"customerId,omitzero" doc:"Customer who owns the account. Omitted for accounts of the platform."`
	Type                string                            `json:"type" enum:"INTERNAL_FIAT,INTERNAL_CRYPTO,EMBEDDED_WALLET" doc:"Type of account. An EMBEDDED_WALLET is held under the customer's own keys."`
	Status              string                            `json:"status" enum:"PENDING,ACTIVE,CLOSED,FROZEN" doc:"Status of the account. Only ACTIVE accounts can send and receive." example:"ACTIVE"`
	Balance             currencyAmount                    `json:"balance" doc:"Available balance."`
	TotalBalance        currencyAmount                    `json:"totalBalance" doc:"Balance with what is held. Nothing is: a payment takes its whole amount when it is made, and returns it if it fails. So it is always the balance."`
	FundingInstructions []paymentInstructions             `json:"fundingPaymentInstructions" doc:"Instructions to fund the account, at any time and with any amount. They do not change. Empty for embedded wallets and for currencies without funding instructions."`
	PrivateEnabled      *bool                             `json:"privateEnabled,omitempty" doc:"Embedded wallets only: whether the wallet is private on the blockchain."`
	CreatedAt           httpapi.Time                      `json:"createdAt" doc:"Time the account was opened."`
	UpdatedAt           httpapi.Time                      `json:"updatedAt" doc:"Time of the last change other than of the balance."`
}

func renderInternalAccount(a account.WithBalance) internalAccountBody {
	return newInternalAccountBody(a, false)
}

// newInternalAccountBody renders an account for a response or a webhook.
func newInternalAccountBody(a account.WithBalance, webhook bool) internalAccountBody {
	balance := renderAmount(money.Amount{Minor: a.Balance, Currency: a.Currency})
	body := internalAccountBody{
		ID: httpapi.NewID(a.ID), CustomerID: httpapi.NewID(a.Customer), Type: string(a.Type), Status: string(a.Status),
		Balance: balance, TotalBalance: balance,
		FundingInstructions: renderInstructions(a.Instructions, webhook),
		CreatedAt:           httpapi.NewTime(a.CreatedAt), UpdatedAt: httpapi.NewTime(a.UpdatedAt),
	}
	if body.FundingInstructions == nil {
		body.FundingInstructions = []paymentInstructions{} // an empty list, not null
	}
	if a.Type == account.EmbeddedWallet {
		body.PrivateEnabled = &a.PrivateEnabled
	}
	return body
}

// platformInternalAccountListResponse lists all internal accounts of the platform.
type platformInternalAccountListResponse struct {
	Data []internalAccountBody `json:"data" doc:"Accounts, newest first."`
}

// InternalAccountFilter narrows both lists.
type InternalAccountFilter struct {
	Currency httpapi.Currency `query:"currency" doc:"Currency of the account."`
	Type     string           `query:"type" enum:"INTERNAL_FIAT,INTERNAL_CRYPTO,EMBEDDED_WALLET" doc:"Type of account."`
}

func (in InternalAccountFilter) filter() ports.InternalAccountFilter {
	return ports.InternalAccountFilter{Currency: money.Currency(in.Currency), Type: account.InternalType(in.Type)}
}

const internalAccountsDescription = "There is one account per currency of the platform. It is opened when its owner is created, or when " +
	"the platform adds the currency. " +
	"Use `fundingPaymentInstructions` to fund it; the memo of a bank payment must contain the `reference`, which never changes. "

func registerInternalAccounts(a *httpapi.API, service InternalAccounts) {
	type listParams struct {
		httpapi.Paging
		InternalAccountFilter
		CustomerID httpapi.ID[ident.Customer] `query:"customerId" doc:"Customer who owns the account."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listCustomerInternalAccounts", Path: "/customers/internal-accounts", Tag: tagInternal,
		Summary:    "List internal accounts of customers",
		Permission: platform.View, Description: internalAccountsDescription + "Newest first.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[account.WithBalance], error) {
		filter := in.filter()
		filter.Paging, filter.Customer = page, in.CustomerID.Value
		return service.ListInternal(ctx, call.Principal.Platform, accounts.OwnedByCustomers, filter)
	}, renderInternalAccount, func(a account.WithBalance) ident.InternalAccount { return a.ID })

	httpapi.Get(a, httpapi.Operation{
		ID: "listPlatformInternalAccounts", Path: "/platform/internal-accounts", Tag: tagInternal, Summary: "List internal accounts of the " +
			"platform",
		Permission: platform.View, Description: internalAccountsDescription + "Not paginated.",
	}, func(ctx context.Context, call httpapi.Call, in *InternalAccountFilter) (ports.Page[account.WithBalance], error) {
		filter := in.filter()
		filter.Limit = len(money.Currencies()) // at most one account per currency
		return service.ListInternal(ctx, call.Principal.Platform, accounts.OwnedByPlatform, filter)
	}, func(p ports.Page[account.WithBalance]) platformInternalAccountListResponse {
		return platformInternalAccountListResponse{renderList(p.Items, renderInternalAccount)}
	})
}

func registerAgentInternalAccounts(a *httpapi.API, service InternalAccounts) {
	type internalParams struct {
		httpapi.Paging
		InternalAccountFilter
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "agentListInternalAccounts", Path: "/agents/me/internal-accounts", Tag: tagForAgents, Summary: "List internal accounts as an agent",
		Agent: true, AgentPermissions: []platform.Permission{mayViewTransactions}, Experimental: true,
		Description: "Lists the internal accounts of the agent's customer with which the policy lets it pay, newest first.",
	}, func(ctx context.Context, call httpapi.Call, in *internalParams, page ports.Paging) (ports.Page[account.WithBalance], error) {
		filter := in.filter()
		filter.Paging = page
		return service.ListInternalForAgent(ctx, call.Principal, filter)
	}, renderInternalAccount, func(a account.WithBalance) ident.InternalAccount { return a.ID })
}
