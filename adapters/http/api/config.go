package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/platforms"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// Platforms holds the use cases of the configuration and token operations.
type Platforms interface {
	Settings(ctx context.Context, platformID ident.Platform) (platform.Platform, error)
	UpdateSettings(ctx context.Context, platformID ident.Platform, by platform.Author, change platform.Change) (platform.Platform, error)

	CreateToken(ctx context.Context, platformID ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest, name string,
		permissions []platform.Permission) (platforms.IssuedToken, error)
	Token(ctx context.Context, platformID ident.Platform, id ident.Token) (platforms.IssuedToken, error)
	Tokens(ctx context.Context, platformID ident.Platform, f ports.TokenFilter) (ports.Page[platform.Token], error)
	DeleteToken(ctx context.Context, platformID ident.Platform, by platform.Author, id ident.Token) error
}

type platformConfigBody struct {
	ID                              httpapi.ID[ident.Platform] `json:"id" doc:"Id of the platform."`
	UMADomain                       string                     `json:"umaDomain" doc:"Domain of the customers' UMA addresses." example:"uma.example.com"`
	ProxyUMASubdomain               string                     `json:"proxyUmaSubdomain,omitempty" doc:"Subdomain of the service that serves umaDomain, if configured."`
	WebhookEndpoint                 string                     `json:"webhookEndpoint,omitempty" doc:"URL that events are sent to. Omitted if none is set." example:"https://example.com/webhooks"`
	InvitationURL                   string                     `json:"invitationUrl,omitempty" doc:"Page for invitations; the code of an invitation follows it. Omitted if none is set." example:"https://example.com/invitations"`
	WebhookSignatures               []webhookSignature         `json:"webhookSignatures" doc:"Signatures that webhooks carry."`
	SupportedCurrencies             []platformCurrencyConfig   `json:"supportedCurrencies" doc:"Currencies that the platform uses."`
	KYCRedirectOrigins              []string                   `json:"kycRedirectOrigins,omitempty" doc:"Origins to which a customer may return from a verification link (redirectUri). Omitted if there are none: then a link of a production platform cannot have a redirectUri, and one of a sandbox platform any." example:"[\"https://example.com\"]"`
	EmbeddedWallets                 *embeddedWalletConfig      `json:"embeddedWalletConfig,omitempty" doc:"Settings for the embedded wallets of customers. Omitted if none are set: then the defaults hold."`
	FeeConfigs                      []feeConfig                `json:"feeConfigs,omitempty" doc:"Fees that you charge beside those of the service, at most one for each type and currency. Omitted if there are none."`
	LightningAddresses              bool                       `json:"lightningAddressesEnabled,omitempty" doc:"Whether wallets that say nothing about their owners may pay your customers, by Lightning address. Omitted if they may not."`
	IsRegulatedFinancialInstitution bool                       `json:"isRegulatedFinancialInstitution" doc:"Whether the platform verifies its customers itself. Only the operator of the service can change it."`
	CreatedAt                       httpapi.Time               `json:"createdAt" doc:"Time the platform was created."`
	UpdatedAt                       httpapi.Time               `json:"updatedAt" doc:"Time of the last change."`
}

// platformCurrencyConfig holds the settings of one currency, in requests and responses.
type platformCurrencyConfig struct {
	CurrencyCode               httpapi.Currency              `json:"currencyCode" doc:"Currency code." example:"USD"`
	MinAmount                  httpapi.Minor                 `json:"minAmount" doc:"Minimum amount of a payment or transfer, in the smallest unit." example:"100"`
	MaxAmount                  httpapi.Minor                 `json:"maxAmount" doc:"Maximum amount of a payment, in the smallest unit." example:"1000000000"`
	RequiredCounterpartyFields []counterpartyFieldDefinition `json:"requiredCounterpartyFields" doc:"Information required about the counterparty of a payment. Send [] for none."`
	EnabledTransactionTypes    []string                      `json:"enabledTransactionTypes" enum:"OUTGOING,INCOMING" minItems:"1" doc:"Directions in which the currency is used: quotes and transfers out need OUTGOING, transfers in and incoming payments INCOMING."`
	ProviderCustomerFields     []customerInfoFieldName       `json:"providerRequiredCustomerFields,omitempty" readOnly:"true" doc:"Information that a customer must have before it uses the currency: without it, a quote is refused with MISSING_MANDATORY_USER_INFO. BIRTH_DATE and NATIONALITY are required of individuals only. Omitted if none."`
	ProviderCounterpartyFields []customerInfoFieldName       `json:"providerRequiredCounterpartyCustomerFields,omitempty" readOnly:"true" doc:"Information required about the counterparty. Omitted if none."`
}

// feeConfig is a fee of the platform, in requests and responses.
type feeConfig struct {
	FeeType        string           `json:"feeType" enum:"CROSS_CURRENCY_TRANSACTION" doc:"Payments that have the fee. CROSS_CURRENCY_TRANSACTION: quotes whose receiving currency is not the sending one."`
	SourceCurrency httpapi.Currency `json:"sourceCurrency" doc:"Sending currency of these payments." example:"USD"`
	VariableFeeBps int64            `json:"variableFeeBps" minimum:"0" maximum:"10000" doc:"Part of the amount that is sent, in basis points: 25 is 0.25 %." example:"25"`
	FixedFee       fixedFee         `json:"fixedFee" doc:"Fixed part."`
}

// fixedFee is the fixed part of a fee of the platform.
type fixedFee struct {
	Amount   httpapi.Minor    `json:"amount" minimum:"0" doc:"Amount in the smallest unit of the currency." example:"50"`
	Currency httpapi.Currency `json:"currency" doc:"The sending currency." example:"USD"`
}

func platformFee(fixed fixedFee, basisPoints int64) platform.Fee {
	return platform.Fee{Fixed: money.Amount{Minor: int64(fixed.Amount), Currency: money.Currency(fixed.Currency)}, BasisPoints: basisPoints}
}

type counterpartyFieldDefinition struct {
	Name      customerInfoFieldName `json:"name" doc:"Name of the field." example:"FULL_NAME"`
	Mandatory bool                  `json:"mandatory" doc:"Whether a payment without this field is refused."`
}

// webhookSignature is one of platform.WebhookSignatureNames.
type webhookSignature string

// Schema returns the enum of names.
func (webhookSignature) Schema(huma.Registry) *huma.Schema {
	return enumSchema(platform.WebhookSignatureNames)
}

// customerInfoFieldName is one of platform.CounterpartyFieldNames.
type customerInfoFieldName string

// Schema returns the enum of names.
func (customerInfoFieldName) Schema(huma.Registry) *huma.Schema {
	return enumSchema(platform.CounterpartyFieldNames)
}

func renderPlatformConfig(p platform.Platform) platformConfigBody {
	body := platformConfigBody{
		ID: httpapi.NewID(p.ID), UMADomain: p.UMADomain, ProxyUMASubdomain: p.UMASubdomain, WebhookEndpoint: p.WebhookEndpoint,
		InvitationURL: p.InvitationURL, LightningAddresses: p.LightningAddresses,
		SupportedCurrencies: make([]platformCurrencyConfig, len(p.Currencies)), KYCRedirectOrigins: p.KYCRedirectOrigins,
		EmbeddedWallets: renderWallets(p), IsRegulatedFinancialInstitution: p.Regulated,
		CreatedAt: httpapi.NewTime(p.CreatedAt), UpdatedAt: httpapi.NewTime(p.UpdatedAt),
	}
	for _, name := range p.WebhookSignatures.Names() {
		body.WebhookSignatures = append(body.WebhookSignatures, webhookSignature(name))
	}
	for _, c := range p.Fees {
		body.FeeConfigs = append(body.FeeConfigs, feeConfig{string(c.Type), httpapi.Currency(c.Source), c.Fee.BasisPoints,
			fixedFee{minor(c.Fee.Fixed.Minor), httpapi.Currency(c.Fee.Fixed.Currency)}})
	}
	for i, c := range p.Currencies {
		settings := platformCurrencyConfig{
			CurrencyCode: httpapi.Currency(c.Code), MinAmount: minor(c.MinAmount), MaxAmount: minor(c.MaxAmount),
			RequiredCounterpartyFields: make([]counterpartyFieldDefinition, len(c.RequiredCounterpartyFields)),
			EnabledTransactionTypes:    c.Directions,
		}
		for _, name := range customer.RequiredFields(c.Code) {
			settings.ProviderCustomerFields = append(settings.ProviderCustomerFields, customerInfoFieldName(name))
		}
		for j, f := range c.RequiredCounterpartyFields {
			settings.RequiredCounterpartyFields[j] = counterpartyFieldDefinition{customerInfoFieldName(f.Name), f.Mandatory}
		}
		body.SupportedCurrencies[i] = settings
	}
	return body
}

type platformConfigUpdateRequest struct {
	UMADomain           *string                     `json:"umaDomain,omitempty" doc:"Domain of the customers' UMA addresses." example:"uma.example.com"`
	WebhookEndpoint     httpapi.Optional[string]    `json:"webhookEndpoint,omitempty" doc:"URL that events are sent to. It must use https; sandbox platforms may also use http, and private addresses where the operator of the service allows them. Another private, loopback or link-local address is refused. A TEST event is sent to a new URL. Send null or \"\" to stop sending events." example:"https://example.com/webhooks"`
	InvitationURL       httpapi.Optional[string]    `json:"invitationUrl,omitempty" doc:"Page for invitations: a slash and the code of an invitation follow it. It must use https; sandbox platforms may also use http. Existing invitations keep their URL. Send null or \"\" for none." example:"https://example.com/invitations"`
	LightningAddresses  *bool                       `json:"lightningAddressesEnabled,omitempty" doc:"Whether wallets that say nothing about their owners may pay your customers, by Lightning address. Default: false."`
	WebhookSignatures   *[]webhookSignature         `json:"webhookSignatures,omitempty" minItems:"1" doc:"Signatures that webhooks carry. Leave out those that your endpoint does not verify. ECDSA_P256_SHA256: the header Service-Webhook-Signature. HMAC_SHA256 and ED25519: v1 and v1a of Standard Webhooks, in the header webhook-signature; HMAC_SHA256 needs a secret (POST /webhook-secrets). A webhook without any other signature has that of ECDSA_P256_SHA256."`
	SupportedCurrencies *[]platformCurrencyConfig   `json:"supportedCurrencies,omitempty" doc:"All currencies that the platform uses. The list replaces the previous one."`
	KYCRedirectOrigins  *[]string                   `json:"kycRedirectOrigins,omitempty" maxItems:"20" doc:"Origins to which a customer may return from a verification link: scheme, host and port, such as https://example.com or, for tests, http://localhost:3000. http is allowed for localhost only. The list replaces the previous one, also for links that exist. Send [] for none: then a link of a production platform cannot have a redirectUri, and one of a sandbox platform any." example:"[\"https://example.com\"]"`
	EmbeddedWallets     *embeddedWalletConfigUpdate `json:"embeddedWalletConfig,omitempty" doc:"Settings for the embedded wallets of customers. Those that are not sent do not change; null sets the default of one."`
	FeeConfigs          *[]feeConfig                `json:"feeConfigs,omitempty" maxItems:"100" doc:"Fees that you charge beside those of the service. Each replaces your fee of the same type and currency, and one whose parts are both zero ends it; the others stay. New quotes have the fee at once, or within ten seconds in another process of the service."`
}

// embeddedWalletConfig holds the settings for embedded wallets in responses.
type embeddedWalletConfig struct {
	AppName                 string   `json:"appName,omitempty" maxLength:"255" doc:"Name of the app in e-mails. Omitted if none is set: then it is the name of the platform." example:"Acme Wallet"`
	OTPLength               int      `json:"otpLength" minimum:"4" maximum:"12" doc:"Length of one-time codes, in characters." example:"6"`
	Alphanumeric            bool     `json:"alphanumeric" doc:"Whether one-time codes have capital letters too."`
	ExpirationSeconds       int      `json:"expirationSeconds" minimum:"1" maximum:"86400" doc:"Validity of a one-time code, in seconds." example:"300"`
	SendFromEmailAddress    string   `json:"sendFromEmailAddress,omitempty" format:"email" maxLength:"255" doc:"Sender address of e-mails. Omitted if none is set: then it is that of the service." example:"wallet@example.com"`
	SendFromEmailSenderName string   `json:"sendFromEmailSenderName" maxLength:"255" doc:"Sender name of e-mails." example:"Notifications"`
	ReplyToEmailAddress     string   `json:"replyToEmailAddress,omitempty" format:"email" maxLength:"255" doc:"Reply-to address of e-mails. Omitted if none is set." example:"support@example.com"`
	LogoURL                 string   `json:"logoUrl,omitempty" format:"uri" maxLength:"512" doc:"URL of the logo in e-mails. Omitted if none is set." example:"https://example.com/logo.png"`
	PasskeyRPID             string   `json:"passkeyRpId,omitempty" doc:"Relying party id of passkeys (WebAuthn). Omitted if none is set." example:"example.com"`
	PasskeyOrigins          []string `json:"passkeyOrigins,omitempty" doc:"Pages and apps that may use passkeys. Omitted if there are none." example:"[\"https://app.example.com\"]"`
	OAuthClientIDs          []string `json:"oauthClientIds,omitempty" doc:"Audiences of ID tokens that are accepted. Omitted if there are none." example:"[\"1234-abcd.apps.googleusercontent.com\"]"`
}

func renderWallets(p platform.Platform) *embeddedWalletConfig {
	w := p.Wallets
	if w == nil {
		return nil
	}
	return &embeddedWalletConfig{
		AppName: w.AppName, OTPLength: p.WalletSettings().CodeLength, Alphanumeric: w.AlphanumericCodes,
		ExpirationSeconds:    int(w.CodeLifetime / time.Second),
		SendFromEmailAddress: w.FromAddress, SendFromEmailSenderName: w.FromName, ReplyToEmailAddress: w.ReplyTo, LogoURL: w.LogoURL,
		PasskeyRPID: w.PasskeyRPID, PasskeyOrigins: w.PasskeyOrigins, OAuthClientIDs: w.OAuthClientIDs,
	}
}

// embeddedWalletConfigUpdate holds the settings for embedded wallets in requests.
type embeddedWalletConfigUpdate struct {
	AppName                 httpapi.Optional[string]   `json:"appName,omitempty" maxLength:"255" doc:"Name of the app in e-mails. Default: the name of the platform." example:"Acme Wallet"`
	OTPLength               httpapi.Optional[int]      `json:"otpLength,omitempty" minimum:"4" maximum:"12" doc:"Length of one-time codes, in characters. Default: 6, which is the minimum on production platforms." example:"6"`
	Alphanumeric            httpapi.Optional[bool]     `json:"alphanumeric,omitempty" doc:"Whether one-time codes have capital letters too. Default: false."`
	ExpirationSeconds       httpapi.Optional[int]      `json:"expirationSeconds,omitempty" minimum:"1" maximum:"86400" doc:"Validity of a one-time code, in seconds. Default: 300." example:"300"`
	SendFromEmailAddress    httpapi.Optional[string]   `json:"sendFromEmailAddress,omitempty" format:"email" maxLength:"255" doc:"Sender address of e-mails. The mail server of the service must be allowed to send for its domain. Default: that of the service." example:"wallet@example.com"`
	SendFromEmailSenderName httpapi.Optional[string]   `json:"sendFromEmailSenderName,omitempty" maxLength:"255" doc:"Sender name of e-mails. Default: Notifications." example:"Notifications"`
	ReplyToEmailAddress     httpapi.Optional[string]   `json:"replyToEmailAddress,omitempty" format:"email" maxLength:"255" doc:"Reply-to address of e-mails. Default: none." example:"support@example.com"`
	LogoURL                 httpapi.Optional[string]   `json:"logoUrl,omitempty" format:"uri" maxLength:"512" doc:"URL of the logo in e-mails, https: a PNG image of 340 by 124 pixels. Default: none." example:"https://example.com/logo.png"`
	PasskeyRPID             httpapi.Optional[string]   `json:"passkeyRpId,omitempty" maxLength:"253" doc:"Relying party id of passkeys (WebAuthn): the domain of your app; sandbox platforms may use localhost. Passkeys of another domain stop working. Default: none. Passkeys need it and passkeyOrigins." example:"example.com"`
	PasskeyOrigins          httpapi.Optional[[]string] `json:"passkeyOrigins,omitempty" doc:"Pages and apps that may use passkeys: origins whose host is passkeyRpId or below it, https (sandbox platforms may use http://localhost), or android:apk-key-hash: and the hash of an app's certificate; at most 20. The list replaces the previous one." example:"[\"https://app.example.com\"]"`
	OAuthClientIDs          httpapi.Optional[[]string] `json:"oauthClientIds,omitempty" doc:"Audiences of ID tokens that are accepted: the client ids of your app at the providers; at most 20. The list replaces the previous one." example:"[\"1234-abcd.apps.googleusercontent.com\"]"`
}

func (c embeddedWalletConfigUpdate) change() *platform.WalletsChange {
	text := func(o httpapi.Optional[string]) *string {
		return httpapi.MapOptional(o, func(text string) string { return text })
	}
	texts := func(o httpapi.Optional[[]string]) *[]string {
		return httpapi.MapOptional(o, func(texts []string) []string { return texts })
	}
	return &platform.WalletsChange{
		AppName: text(c.AppName), FromAddress: text(c.SendFromEmailAddress), FromName: text(c.SendFromEmailSenderName),
		ReplyTo: text(c.ReplyToEmailAddress), LogoURL: text(c.LogoURL),
		CodeLength:        httpapi.MapOptional(c.OTPLength, func(n int) int { return n }),
		AlphanumericCodes: httpapi.MapOptional(c.Alphanumeric, func(yes bool) bool { return yes }),
		CodeLifetime:      httpapi.MapOptional(c.ExpirationSeconds, func(n int) time.Duration { return time.Duration(n) * time.Second }),
		PasskeyRPID:       text(c.PasskeyRPID), PasskeyOrigins: texts(c.PasskeyOrigins), OAuthClientIDs: texts(c.OAuthClientIDs),
	}
}

// Resolve reports what core finds invalid. Whether http and private addresses are allowed depends on the
// platform and the service; the use case checks it.
func (c platformConfigUpdateRequest) Resolve(huma.Context) []error {
	change := c.change()
	change.AllowPrivateWebhooks = true
	_, _, err := platform.Platform{Environment: platform.Sandbox}.Apply(change, time.Time{})
	return httpapi.FieldErrors(err)
}

func (c platformConfigUpdateRequest) change() platform.Change {
	text := func(o httpapi.Optional[string]) *string {
		return httpapi.MapOptional(o, func(text string) string { return text })
	}
	change := platform.Change{UMADomain: c.UMADomain, WebhookEndpoint: text(c.WebhookEndpoint), InvitationURL: text(c.InvitationURL),
		LightningAddresses: c.LightningAddresses, KYCRedirectOrigins: c.KYCRedirectOrigins}
	if c.WebhookSignatures != nil {
		names := toStrings(*c.WebhookSignatures)
		change.WebhookSignatures = &names
	}
	if c.EmbeddedWallets != nil {
		change.Wallets = c.EmbeddedWallets.change()
	}
	if c.FeeConfigs != nil {
		fees := make([]platform.FeeConfig, len(*c.FeeConfigs))
		for i, f := range *c.FeeConfigs {
			fees[i] = platform.FeeConfig{Type: platform.FeeType(f.FeeType), Source: money.Currency(f.SourceCurrency),
				Fee: platformFee(f.FixedFee, f.VariableFeeBps)}
		}
		change.Fees = &fees
	}
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

func registerConfig(a *httpapi.API, service Platforms) {
	httpapi.Get(a, httpapi.Operation{
		ID: "getPlatformConfig", Path: "/config", Tag: tagConfig, Summary: "Get the platform configuration", Permission: platform.View,
		Description: "Returns the settings of the platform that the token belongs to.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (platform.Platform, error) {
		return service.Settings(ctx, call.Principal.Platform)
	}, renderPlatformConfig)

	type updateInput struct{ Body platformConfigUpdateRequest }
	httpapi.Patch(a, httpapi.Operation{
		ID: "updatePlatformConfig", Path: "/config", Tag: tagConfig, Summary: "Update the platform configuration", Permission: platform.Manage,
		Description: "Changes only the settings that are sent. For each new currency the platform gets an internal account at once, and each " +
			"of its customers gets one shortly after. No two production platforms have the same umaDomain.",
		Errors: []fault.Code{fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *updateInput) (platform.Platform, error) {
		return service.UpdateSettings(ctx, call.Principal.Platform, call.Author(), in.Body.change())
	}, renderPlatformConfig)
}
