package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// Platforms are the use cases behind the configuration and token operations.
type Platforms interface {
	Settings(ctx context.Context, who platform.Principal) (platform.Platform, error)
	UpdateSettings(ctx context.Context, who platform.Principal, change platform.Change) (platform.Platform, error)

	CreateToken(ctx context.Context, who platform.Principal, claim *ports.IdempotentRequest, name string, permissions []platform.Permission) (platforms.IssuedToken, error)
	Token(ctx context.Context, who platform.Principal, id ident.Token) (platforms.IssuedToken, error)
	Tokens(ctx context.Context, who platform.Principal, f ports.TokenFilter) (ports.Page[platform.Token], error)
	DeleteToken(ctx context.Context, who platform.Principal, id ident.Token) error
}

type platformConfigBody struct {
	ID                              httpapi.ID[ident.Platform] `json:"id" doc:"The platform."`
	UMADomain                       string                     `json:"umaDomain" doc:"The host name of the customers' UMA addresses." example:"uma.example.com"`
	ProxyUMASubdomain               string                     `json:"proxyUmaSubdomain,omitempty" doc:"The subdomain of the service that answers for umaDomain, where one is set up."`
	WebhookEndpoint                 string                     `json:"webhookEndpoint,omitempty" doc:"Where events are sent to; left out while none is set." example:"https://example.com/webhooks"`
	SupportedCurrencies             []platformCurrencyConfig   `json:"supportedCurrencies" doc:"The currencies the platform uses."`
	IsRegulatedFinancialInstitution bool                       `json:"isRegulatedFinancialInstitution" doc:"Whether the platform answers for its customers' identity itself. Only the operator of the service changes it."`
	CreatedAt                       httpapi.Time               `json:"createdAt" doc:"When the platform was made."`
	UpdatedAt                       httpapi.Time               `json:"updatedAt" doc:"When a setting last changed."`
}

// platformCurrencyConfig are the settings of one currency, in requests and answers.
type platformCurrencyConfig struct {
	CurrencyCode               httpapi.Currency              `json:"currencyCode" doc:"The currency." example:"USD"`
	MinAmount                  httpapi.Minor                 `json:"minAmount" doc:"The least a payment may be, in the smallest unit." example:"100"`
	MaxAmount                  httpapi.Minor                 `json:"maxAmount" doc:"The most a payment may be, in the smallest unit." example:"1000000000"`
	RequiredCounterpartyFields []counterpartyFieldDefinition `json:"requiredCounterpartyFields" doc:"What must be known of the other side of a payment. Send [] for nothing."`
	EnabledTransactionTypes    []string                      `json:"enabledTransactionTypes" enum:"OUTGOING,INCOMING" minItems:"1" doc:"The directions in which the currency is used."`
	ProviderCustomerFields     []customerInfoFieldName       `json:"providerRequiredCustomerFields,omitempty" readOnly:"true" doc:"What a customer must have told before using the currency; left out when that is nothing."`
	ProviderCounterpartyFields []customerInfoFieldName       `json:"providerRequiredCounterpartyCustomerFields,omitempty" readOnly:"true" doc:"What must be known of the other side's customer; left out when that is nothing."`
}

type counterpartyFieldDefinition struct {
	Name      customerInfoFieldName `json:"name" doc:"The piece of information." example:"FULL_NAME"`
	Mandatory bool                  `json:"mandatory" doc:"Whether a payment without it is refused."`
}

// customerInfoFieldName is one of platform.FieldNames.
type customerInfoFieldName string

// Schema lists the names.
func (customerInfoFieldName) Schema(huma.Registry) *huma.Schema {
	return enumSchema(platform.CounterpartyFieldNames)
}

func renderPlatformConfig(p platform.Platform) platformConfigBody {
	body := platformConfigBody{
		ID: httpapi.NewID(p.ID), UMADomain: p.UMADomain, ProxyUMASubdomain: p.UMASubdomain, WebhookEndpoint: p.WebhookEndpoint,
		SupportedCurrencies: make([]platformCurrencyConfig, len(p.Currencies)), IsRegulatedFinancialInstitution: p.Regulated,
		CreatedAt: httpapi.NewTime(p.CreatedAt), UpdatedAt: httpapi.NewTime(p.UpdatedAt),
	}
	for i, c := range p.Currencies {
		settings := platformCurrencyConfig{
			CurrencyCode: httpapi.Currency(c.Code), MinAmount: minor(c.MinAmount), MaxAmount: minor(c.MaxAmount),
			RequiredCounterpartyFields: make([]counterpartyFieldDefinition, len(c.RequiredCounterpartyFields)),
			EnabledTransactionTypes:    c.Directions,
		}
		for j, f := range c.RequiredCounterpartyFields {
			settings.RequiredCounterpartyFields[j] = counterpartyFieldDefinition{customerInfoFieldName(f.Name), f.Mandatory}
		}
		body.SupportedCurrencies[i] = settings
	}
	return body
}

type platformConfigUpdateRequest struct {
	UMADomain           *string                   `json:"umaDomain,omitempty" doc:"The host name of the customers' UMA addresses." example:"uma.example.com"`
	WebhookEndpoint     *string                   `json:"webhookEndpoint,omitempty" doc:"Where events are sent to: https, and in the sandbox also http and addresses on your own machine. Setting another one sends a TEST event there. Send \"\" to have no events sent." example:"https://example.com/webhooks"`
	SupportedCurrencies *[]platformCurrencyConfig `json:"supportedCurrencies,omitempty" doc:"All the currencies the platform uses: the list replaces the one before."`
	EmbeddedWallets     *embeddedWalletConfig     `json:"embeddedWalletConfig,omitempty" doc:"Not available yet: a request with it is refused with 501, so that nobody takes it for set."`
}

// embeddedWalletConfig is described ahead, so that whoever prepares for it knows its form.
type embeddedWalletConfig struct {
	AppName                 string `json:"appName,omitempty" maxLength:"255" doc:"What messages call the app."`
	OTPLength               int    `json:"otpLength,omitempty" minimum:"4" maximum:"12" default:"6" doc:"How many characters a one-time password has."`
	Alphanumeric            bool   `json:"alphanumeric,omitempty" doc:"Whether one-time passwords have letters too."`
	ExpirationSeconds       int    `json:"expirationSeconds,omitempty" minimum:"1" maximum:"86400" default:"300" doc:"How long a one-time password is good for."`
	SendFromEmailAddress    string `json:"sendFromEmailAddress,omitempty" format:"email" maxLength:"255" doc:"Who messages come from."`
	SendFromEmailSenderName string `json:"sendFromEmailSenderName,omitempty" maxLength:"255" default:"Notifications" doc:"The name they come from."`
	ReplyToEmailAddress     string `json:"replyToEmailAddress,omitempty" format:"email" maxLength:"255" doc:"Where answers go."`
	LogoURL                 string `json:"logoUrl,omitempty" format:"uri" maxLength:"512" doc:"The logo in messages: PNG, 340 by 124 pixels."`
}

// Resolve asks core what else is wrong. Whether plain http will do depends on the
// platform, and is left to the change itself.
func (c platformConfigUpdateRequest) Resolve(huma.Context) []error {
	_, _, err := platform.Platform{Environment: platform.Sandbox}.Apply(c.change(), time.Time{})
	return httpapi.FieldErrors(err)
}

func (c platformConfigUpdateRequest) change() platform.Change {
	change := platform.Change{UMADomain: c.UMADomain, WebhookEndpoint: c.WebhookEndpoint}
	if c.SupportedCurrencies == nil {
		return change
	}
	currencies := make([]platform.Currency, len(*c.SupportedCurrencies))
	for i, settings := range *c.SupportedCurrencies {
		currencies[i] = platform.Currency{
			Code: money.Currency(settings.CurrencyCode), MinAmount: int64(settings.MinAmount), MaxAmount: int64(settings.MaxAmount),
			Directions: settings.EnabledTransactionTypes,
		}
		for _, f := range settings.RequiredCounterpartyFields {
			currencies[i].RequiredCounterpartyFields = append(currencies[i].RequiredCounterpartyFields,
				platform.CounterpartyField{Name: string(f.Name), Mandatory: f.Mandatory})
		}
	}
	change.Currencies = &currencies
	return change
}

func registerConfig(a *httpapi.API, settings Platforms) {
	httpapi.Get(a, httpapi.Operation{
		ID: "getPlatformConfig", Path: "/config", Tag: tagConfig, Summary: "Get the configuration", Permission: platform.View,
		Description: "The settings of the platform that the token belongs to.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (platform.Platform, error) {
		return settings.Settings(ctx, call.Principal)
	}, renderPlatformConfig)

	type change struct{ Body platformConfigUpdateRequest }
	httpapi.Patch(a, httpapi.Operation{
		ID: "updatePlatformConfig", Path: "/config", Tag: tagConfig, Summary: "Change the configuration", Permission: platform.Manage,
		Description: "Changes the settings given and leaves the others as they are. For every currency that is new the platform gets an internal account of its own at once, and each of its customers gets one soon after.",
		Errors:      []fault.Code{fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *change) (platform.Platform, error) {
		if in.Body.EmbeddedWallets != nil {
			return platform.Platform{}, fault.New(fault.NotImplemented, "Embedded wallets are not available yet. Leave embeddedWalletConfig out.")
		}
		return settings.UpdateSettings(ctx, call.Principal, in.Body.change())
	}, renderPlatformConfig)
}
