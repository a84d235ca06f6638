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

// InternalAccounts are the use cases behind the internal account operations.
type InternalAccounts interface {
	ListInternal(ctx context.Context, who platform.Principal, of accounts.Owner, f ports.InternalAccountFilter) (ports.Page[account.WithBalance], error)
	UpdateInternal(ctx context.Context, who platform.Principal, id ident.InternalAccount, change account.InternalChange) (account.WithBalance, error)
}

type internalAccountBody struct {
	ID                  httpapi.ID[ident.InternalAccount] `json:"id" doc:"The account."`
	CustomerID          httpapi.ID[ident.Customer]        `json:"customerId,omitzero" doc:"Who owns it; left out for the platform's own."`
	Type                string                            `json:"type" enum:"INTERNAL_FIAT,INTERNAL_CRYPTO,EMBEDDED_WALLET" doc:"EMBEDDED_WALLET: held under the customer's own keys."`
	Status              string                            `json:"status" enum:"PENDING,ACTIVE,CLOSED,FROZEN" doc:"Only an ACTIVE account sends or receives." example:"ACTIVE"`
	Balance             currencyAmount                    `json:"balance" doc:"What can be spent now."`
	FundingInstructions []paymentInstructions             `json:"fundingPaymentInstructions" doc:"The ways to pay in, at any time and with any amount: they stay the same. Empty for an embedded wallet, and for a currency that cannot be paid in."`
	PrivateEnabled      *bool                             `json:"privateEnabled,omitempty" doc:"Whether an embedded wallet is hidden from who reads the chain; other accounts do not have it."`
	CreatedAt           httpapi.Time                      `json:"createdAt" doc:"When it was opened."`
	UpdatedAt           httpapi.Time                      `json:"updatedAt" doc:"When it last changed, its balance aside."`
}

func renderInternalAccount(h account.WithBalance) internalAccountBody {
	return newInternalAccountBody(h, false)
}

// newInternalAccountBody renders an account for an answer or for a webhook.
func newInternalAccountBody(h account.WithBalance, webhook bool) internalAccountBody {
	body := internalAccountBody{
		ID: httpapi.NewID(h.ID), CustomerID: httpapi.NewID(h.Customer), Type: string(h.Type), Status: string(h.Status),
		Balance:             renderAmount(money.Amount{Minor: h.Balance, Currency: h.Currency}),
		FundingInstructions: renderInstructions(h.Instructions, webhook),
		CreatedAt:           httpapi.NewTime(h.CreatedAt), UpdatedAt: httpapi.NewTime(h.UpdatedAt),
	}
	if body.FundingInstructions == nil {
		body.FundingInstructions = []paymentInstructions{} // an empty list, not null
	}
	if h.Type == account.EmbeddedWallet {
		body.PrivateEnabled = new(bool) // none can be set yet
	}
	return body
}

// platformInternalAccountListResponse is all there are.
type platformInternalAccountListResponse struct {
	Data []internalAccountBody `json:"data" doc:"The accounts, the newest first."`
}

type internalAccountUpdateRequest struct {
	PrivateEnabled *bool `json:"privateEnabled,omitempty" doc:"Whether an embedded wallet is hidden from who reads the chain. No other account has it. Not available yet: refused with 501 for a wallet."`
}

// InternalAccountFilter narrows both lists.
type InternalAccountFilter struct {
	Currency httpapi.Currency `query:"currency" doc:"In this currency."`
	Type     string           `query:"type" enum:"INTERNAL_FIAT,INTERNAL_CRYPTO,EMBEDDED_WALLET" doc:"Of this type."`
}

func (in InternalAccountFilter) filter() ports.InternalAccountFilter {
	return ports.InternalAccountFilter{Currency: money.Currency(in.Currency), Type: account.InternalType(in.Type)}
}

const internalAccountsDescription = "There is one account for each currency of the platform: it is opened with its owner, or when the platform adds the currency. " +
	"`fundingPaymentInstructions` say how it is paid into; a bank payment names the account by the `reference` in its memo, which never changes. "

func registerInternalAccounts(a *httpapi.API, use InternalAccounts) {
	type ofCustomers struct {
		httpapi.Paging
		InternalAccountFilter
		CustomerID httpapi.ID[ident.Customer] `query:"customerId" doc:"Of this customer."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listCustomerInternalAccounts", Path: "/customers/internal-accounts", Tag: tagInternal, Summary: "List customers' balances",
		Permission: platform.View, Description: internalAccountsDescription + "The newest first, of all customers or of one.",
	}, func(ctx context.Context, call httpapi.Call, in *ofCustomers) (ports.Page[account.WithBalance], error) {
		filter := in.filter()
		after, err := httpapi.CursorID[ident.InternalAccount](in.Cursor)
		if err != nil {
			return ports.Page[account.WithBalance]{}, err
		}
		filter.Paging, filter.Customer = ports.Paging{Limit: in.Limit, After: after.UUID()}, in.CustomerID.Value
		return use.ListInternal(ctx, call.Principal, accounts.OwnedByCustomers, filter)
	}, func(p ports.Page[account.WithBalance]) httpapi.Page[internalAccountBody] {
		return renderPage(p, renderInternalAccount, func(h account.WithBalance) string { return h.ID.String() })
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "listPlatformInternalAccounts", Path: "/platform/internal-accounts", Tag: tagInternal, Summary: "List the platform's balances",
		Permission: platform.View, Description: internalAccountsDescription + "All of them at once.",
	}, func(ctx context.Context, call httpapi.Call, in *InternalAccountFilter) (ports.Page[account.WithBalance], error) {
		filter := in.filter()
		filter.Limit = len(money.Currencies()) // it has one account a currency, and no more
		return use.ListInternal(ctx, call.Principal, accounts.OwnedByPlatform, filter)
	}, func(p ports.Page[account.WithBalance]) platformInternalAccountListResponse {
		return platformInternalAccountListResponse{renderPage(p, renderInternalAccount, func(account.WithBalance) string { return "" }).Data}
	})

	type change struct {
		ID        httpapi.ID[ident.InternalAccount] `path:"id" doc:"The account."`
		Signature string                            `header:"Service-Wallet-Signature" doc:"The wallet's signature over the change."`
		RequestID string                            `header:"Request-Id" doc:"The challenge that was signed."`
		Body      internalAccountUpdateRequest
	}
	httpapi.Patch(a, httpapi.Operation{
		ID: "updateInternalAccount", Path: "/internal-accounts/{id}", Tag: tagInternal, Summary: "Change an internal account", Permission: platform.Transact,
		Description: "Changes the settings given and answers the account. The one setting there is belongs to embedded wallets.",
		Errors:      []fault.Code{fault.InternalAccountNotFound, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *change) (account.WithBalance, error) {
		return use.UpdateInternal(ctx, call.Principal, in.ID.Value, account.InternalChange{PrivateEnabled: in.Body.PrivateEnabled})
	}, renderInternalAccount)
}
