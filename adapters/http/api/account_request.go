package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/accounts"
	"causeway/core/account"
	"causeway/core/ident"
)

type platformExternalAccountCreateRequest struct {
	Currency          string             `json:"currency" doc:"Currency of the account." example:"BTC"`
	PlatformAccountID string             `json:"platformAccountId,omitempty" maxLength:"255" doc:"Your id for the account."`
	Ownership         ownershipType      `json:"ownershipType,omitempty" doc:"Wallets only: FIRST_PARTY if it is the owner's of this account, THIRD_PARTY if it is somebody else's. If omitted, the travel rule is not applied to the wallet."`
	AccountInfo       accountInfoRequest `json:"accountInfo" doc:"Account details."`

	raw map[string]any
}

type externalAccountCreateRequest struct {
	CustomerID        httpapi.ID[ident.Customer] `json:"customerId,omitzero" doc:"Customer who owns the account. If omitted, the platform owns it or, if an agent registers it, the customer of the agent."`
	Currency          string                     `json:"currency" doc:"Currency of the account." example:"BTC"`
	PlatformAccountID string                     `json:"platformAccountId,omitempty" maxLength:"255" doc:"Your id for the account."`
	Ownership         ownershipType              `json:"ownershipType,omitempty" doc:"Wallets only: FIRST_PARTY if it is the owner's of this account, THIRD_PARTY if it is somebody else's. If omitted, the travel rule is not applied to the wallet."`
	AccountInfo       accountInfoRequest         `json:"accountInfo" doc:"Account details."`
	DefaultUMADeposit bool                       `json:"defaultUmaDepositAccount,omitempty" default:"false" doc:"Whether payments to the customer's UMA address go to this account. A customer has at most one such account; a new one replaces it."`

	raw map[string]any
}

func (r *platformExternalAccountCreateRequest) request() accounts.Request {
	return accounts.Request{PlatformAccountID: r.PlatformAccountID, Currency: r.Currency, Ownership: account.OwnershipType(r.Ownership),
		Info: r.AccountInfo.raw}
}

func (r *externalAccountCreateRequest) request() accounts.Request {
	return accounts.Request{
		Customer: r.CustomerID.Value, PlatformAccountID: r.PlatformAccountID, Currency: r.Currency,
		Ownership: account.OwnershipType(r.Ownership), Info: r.AccountInfo.raw, DefaultUMADeposit: r.DefaultUMADeposit,
	}
}

// UnmarshalJSON also keeps the raw object for Resolve.
func (r *platformExternalAccountCreateRequest) UnmarshalJSON(data []byte) error {
	type plain platformExternalAccountCreateRequest
	_ = json.Unmarshal(data, &r.raw) // a value that is not an object fails below
	return json.Unmarshal(data, (*plain)(r))
}

// UnmarshalJSON also keeps the raw object for Resolve.
func (r *externalAccountCreateRequest) UnmarshalJSON(data []byte) error {
	type plain externalAccountCreateRequest
	_ = json.Unmarshal(data, &r.raw)
	return json.Unmarshal(data, (*plain)(r))
}

// Resolve reports the invalid fields of the account beyond those the schema finds.
func (r *platformExternalAccountCreateRequest) Resolve(huma.Context) []error {
	return accountFieldErrors(r.raw, r.request())
}

// Resolve reports the invalid fields of the account beyond those the schema finds.
func (r *externalAccountCreateRequest) Resolve(huma.Context) []error {
	return accountFieldErrors(r.raw, r.request())
}

// accountFieldErrors validates the account if the rest of the request is invalid anyway,
// so that all errors are listed at once. Otherwise the use case validates it, because it
// knows which test values are accepted despite wrong check digits.
func accountFieldErrors(sent map[string]any, r accounts.Request) []error {
	if isWellFormed(sent) {
		return nil
	}
	newID := func(time.Time) uuid.UUID { return uuid.Max }
	_, err := account.Validate(account.CreateRequest{
		ID: ident.NewExternalAccount(newID, time.Time{}), Platform: placeholderPlatform.ID, Customer: ident.NewCustomer(newID, time.Time{}),
		PlatformAccountID: r.PlatformAccountID, Currency: r.Currency, Info: r.Info, DefaultUMADeposit: r.DefaultUMADeposit,
		Ownership: r.Ownership, AcceptsTestValue: func(string) bool { return true }, Now: time.Now(),
	})
	return httpapi.FieldErrors(err)
}

// isWellFormed reports whether the fields other than the account details match the schema.
func isWellFormed(sent map[string]any) bool {
	info, isObject := sent["accountInfo"].(map[string]any)
	_, hasCurrency := sent["currency"].(string)
	if !isObject || info == nil || !hasCurrency {
		return false
	}
	if owner, found := sent["customerId"]; found && owner != nil {
		text, _ := owner.(string)
		if _, err := ident.ParseCustomer(text); err != nil {
			return false
		}
	}
	if id, found := sent["platformAccountId"]; found && id != nil {
		if text, ok := id.(string); !ok || len([]rune(text)) > 255 {
			return false
		}
	}
	if isDefault, found := sent["defaultUmaDepositAccount"]; found && isDefault != nil {
		if _, ok := isDefault.(bool); !ok {
			return false
		}
	}
	return true
}

// accountInfoRequest is the account in a request. The schema validator accepts any
// object, because core reports more precise errors.
type accountInfoRequest struct{ raw map[string]any }

// UnmarshalJSON keeps the object. The schema validator reports any other value.
func (i *accountInfoRequest) UnmarshalJSON(data []byte) error {
	_ = json.Unmarshal(data, &i.raw)
	return nil
}

// Schema returns the union of account details.
func (accountInfoRequest) Schema(r huma.Registry) *huma.Schema {
	return httpapi.Union[accountInfoInput]{}.Schema(r)
}
