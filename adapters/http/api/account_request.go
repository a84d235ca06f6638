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
	Currency          string             `json:"currency" doc:"The currency the account holds." example:"BTC"`
	PlatformAccountID string             `json:"platformAccountId,omitempty" maxLength:"255" doc:"Your own id of the account."`
	AccountInfo       accountInfoRequest `json:"accountInfo" doc:"The account itself."`

	raw map[string]any
}

type externalAccountCreateRequest struct {
	CustomerID        httpapi.ID[ident.Customer] `json:"customerId,omitzero" doc:"Who owns the account. Left out: the platform itself."`
	Currency          string                     `json:"currency" doc:"The currency the account holds." example:"BTC"`
	PlatformAccountID string                     `json:"platformAccountId,omitempty" maxLength:"255" doc:"Your own id of the account."`
	AccountInfo       accountInfoRequest         `json:"accountInfo" doc:"The account itself."`
	DefaultUMADeposit bool                       `json:"defaultUmaDepositAccount,omitempty" default:"false" doc:"Whether payments to the customer's UMA address go to this account. A customer has one such account at most: a new one takes the place of the old."`

	raw map[string]any
}

func (r *platformExternalAccountCreateRequest) request() accounts.Request {
	return accounts.Request{PlatformAccountID: r.PlatformAccountID, Currency: r.Currency, Info: r.AccountInfo.raw}
}

func (r *externalAccountCreateRequest) request() accounts.Request {
	return accounts.Request{
		Customer: r.CustomerID.Value, PlatformAccountID: r.PlatformAccountID, Currency: r.Currency,
		Info: r.AccountInfo.raw, DefaultUMADeposit: r.DefaultUMADeposit,
	}
}

// UnmarshalJSON also keeps what was sent, for Resolve.
func (r *platformExternalAccountCreateRequest) UnmarshalJSON(data []byte) error {
	type plain platformExternalAccountCreateRequest
	_ = json.Unmarshal(data, &r.raw) // what is no object fails below
	return json.Unmarshal(data, (*plain)(r))
}

// UnmarshalJSON also keeps what was sent, for Resolve.
func (r *externalAccountCreateRequest) UnmarshalJSON(data []byte) error {
	type plain externalAccountCreateRequest
	_ = json.Unmarshal(data, &r.raw)
	return json.Unmarshal(data, (*plain)(r))
}

// Resolve lists what is wrong inside of an account beside what the schema finds.
func (r *platformExternalAccountCreateRequest) Resolve(huma.Context) []error {
	return accountFieldErrors(r.raw, r.request())
}

// Resolve lists what is wrong inside of an account beside what the schema finds.
func (r *externalAccountCreateRequest) Resolve(huma.Context) []error {
	return accountFieldErrors(r.raw, r.request())
}

// accountFieldErrors asks core about the account when the request is refused in any case for
// what stands around it. Otherwise the use case asks, and more exactly: it knows in
// which values wrong check digits do not matter.
func accountFieldErrors(sent map[string]any, r accounts.Request) []error {
	if isWellFormed(sent) {
		return nil
	}
	known := func(time.Time) uuid.UUID { return uuid.Max }
	_, err := account.Validate(account.CreateRequest{
		ID: ident.NewExternalAccount(known, time.Time{}), Platform: placeholderPlatform.ID, Customer: ident.NewCustomer(known, time.Time{}),
		PlatformAccountID: r.PlatformAccountID, Currency: r.Currency, Info: r.Info, DefaultUMADeposit: r.DefaultUMADeposit,
		AcceptsTestValue: func(string) bool { return true }, Now: time.Now(),
	})
	return httpapi.FieldErrors(err)
}

// isWellFormed tells whether everything around the account has the form that the
// schema asks for.
func isWellFormed(sent map[string]any) bool {
	info, isObject := sent["accountInfo"].(map[string]any)
	_, hasCurrency := sent["currency"].(string)
	if !isObject || info == nil || !hasCurrency {
		return false
	}
	if owner, given := sent["customerId"]; given && owner != nil {
		text, _ := owner.(string)
		if _, err := ident.ParseCustomer(text); err != nil {
			return false
		}
	}
	if own, given := sent["platformAccountId"]; given && own != nil {
		if text, ok := own.(string); !ok || len([]rune(text)) > 255 {
			return false
		}
	}
	if wish, given := sent["defaultUmaDepositAccount"]; given && wish != nil {
		if _, ok := wish.(bool); !ok {
			return false
		}
	}
	return true
}

// accountInfoRequest is the account in a request: any object for the validator,
// because core says more exactly what is wrong with it.
type accountInfoRequest struct{ raw map[string]any }

// UnmarshalJSON keeps the object. What is none is found by the validator.
func (i *accountInfoRequest) UnmarshalJSON(data []byte) error {
	_ = json.Unmarshal(data, &i.raw)
	return nil
}

// Schema publishes the forms.
func (accountInfoRequest) Schema(r huma.Registry) *huma.Schema {
	return httpapi.Union[accountInfoInput]{}.Schema(r)
}
