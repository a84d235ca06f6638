package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/wallets"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// Wallets holds the use cases of embedded wallets. A method that returns a request to sign has changed
// nothing.
type Wallets interface {
	WalletCredentials
	WalletSessions
	UpdateAccount(ctx context.Context, principal platform.Principal, call wallet.Call, id ident.InternalAccount,
		change account.InternalChange) (account.WithBalance, *wallet.SignedRequest, error)
	Export(ctx context.Context, principal platform.Principal, call wallet.Call, idempotent *ports.IdempotentRequest, id ident.InternalAccount,
		client wallet.ClientKey) (wallets.Exported, *wallet.SignedRequest, error)
}

type internalAccountUpdateRequest struct {
	PrivateEnabled *bool `json:"privateEnabled,omitempty" doc:"Embedded wallets only: whether the wallet is private on the blockchain."`
}

// internalAccountExportResponse holds the words of a wallet.
type internalAccountExportResponse struct {
	ID          httpapi.ID[ident.InternalAccount] `json:"id" doc:"Id of the account."`
	Credentials string                            `json:"encryptedWalletCredentials" doc:"The words of the wallet, sealed to clientPublicKey: a JSON text, which the section on wallets describes." example:"{\"version\":\"v1.0.0\",\"data\":\"7b22\",\"dataSignature\":\"3045\",\"enclaveQuorumPublic\":\"04\"}"`
}

// InternalAccountPath has the id of an internal account.
type InternalAccountPath struct {
	ID httpapi.ID[ident.InternalAccount] `path:"id" doc:"Id of the account."`
}

func registerWallets(a *httpapi.API, service Wallets) {
	registerWalletCredentials(a, service)
	registerWalletSessions(a, service)

	type exportInput struct {
		InternalAccountPath
		Body clientKeyRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "exportInternalAccount", Path: "/internal-accounts/{id}/export", Tag: tagWallets, Summary: "Export a wallet",
		Permission: platform.Transact, SignedRetry: true,
		Description: "Returns the 24 words of an embedded wallet, which only the client can read: 202, then 200. With them the customer can " +
			"use the wallet without the service. Each export is recorded, and the customer is notified by e-mail.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.CustomerDeleted},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call, in *exportInput) (wallets.Exported, *wallet.SignedRequest, error) {
		client, err := wallet.ParseClientKey(in.Body.ClientPublicKey)
		if err != nil {
			return wallets.Exported{}, nil, err
		}
		return service.Export(ctx, call.Principal, call.Signed, call.IdempotentRequest, in.ID.Value, client)
	}), func(e wallets.Exported) internalAccountExportResponse {
		return internalAccountExportResponse{httpapi.NewID(e.Account), e.Encrypted}
	})

	type updateInput struct {
		InternalAccountPath
		Body internalAccountUpdateRequest
	}
	httpapi.Patch(a, httpapi.Operation{
		ID: "updateInternalAccount", Path: "/internal-accounts/{id}", Tag: tagInternal, Summary: "Update an internal account",
		Permission: platform.Transact, SignedRetry: true,
		Description: "Changes the settings that are sent and returns the account. Only embedded wallets have a setting, and their owner has to " +
			"sign its change: 202, then 200. A request without a setting returns the account at once.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.CustomerDeleted},
	}, httpapi.Signed(func(ctx context.Context, call httpapi.Call, in *updateInput) (account.WithBalance, *wallet.SignedRequest, error) {
		return service.UpdateAccount(ctx, call.Principal, call.Signed, in.ID.Value,
			account.InternalChange{PrivateEnabled: in.Body.PrivateEnabled})
	}), renderInternalAccount)
}
