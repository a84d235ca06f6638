package api

import (
	"context"
	"slices"

	httpapi "causeway/adapters/http"
	"causeway/app/receivers"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// Receivers holds the use cases of lookups and fee estimates.
type Receivers interface {
	LookupUMAAddress(ctx context.Context, p ident.Platform, address string, sender receivers.Sender) (receivers.LookupResult, error)
	LookupExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount,
		sender receivers.Sender) (receivers.LookupResult, error)
	Providers(ctx context.Context, p ident.Platform, environment platform.Environment,
		query receivers.ProviderFilter) (ports.Page[ports.Provider], error)
	EstimateWithdrawalFee(ctx context.Context, p ident.Platform, w receivers.Withdrawal) (receivers.WithdrawalCost, error)
}

type receiverLookupResponse struct {
	LookupID            httpapi.ID[ident.Lookup]          `json:"lookupId" doc:"Id of the lookup, for a quote to a UMA address. Valid for 10 minutes."`
	SupportedCurrencies []receivingCurrency               `json:"supportedCurrencies" doc:"Currencies that the receiver accepts, preferred currency first."`
	RequiredFields      []customerInfoField               `json:"requiredPayerDataFields" doc:"Information about the sender that the receiving institution requires and the service does not have. Send it as senderCustomerInfo of the quote."`
	ReceiverUMAAddress  string                            `json:"receiverUmaAddress,omitempty" doc:"UMA address that was looked up." example:"$success.eur@sandbox.uma.test"`
	AccountID           httpapi.ID[ident.ExternalAccount] `json:"accountId,omitzero" doc:"Id of the account that was looked up."`
	UMAInvoice          *lookedUpInvoice                  `json:"umaInvoice,omitempty" doc:"UMA invoice that was looked up."`
}

type lookedUpInvoice struct {
	ID        httpapi.ID[ident.UMAInvoice] `json:"id" doc:"Id of the invoice."`
	Amount    currencyAmount               `json:"amount" doc:"Amount that the quote has to lock, with the side RECEIVING."`
	ExpiresAt httpapi.Time                 `json:"expiresAt" doc:"Time from which the invoice can no longer be paid."`
}

type receivingCurrency struct {
	Currency     currency        `json:"currency" doc:"Currency to receive."`
	ExchangeRate httpapi.Decimal `json:"estimatedExchangeRate" doc:"Estimated rate: smallest units of the receiving currency per smallest unit of the sender's first currency. A quote locks the rate."`
	Min          httpapi.Minor   `json:"min" minimum:"1" doc:"Minimum amount received, in the smallest unit of the currency."`
	Max          httpapi.Minor   `json:"max" minimum:"1" doc:"Maximum amount received, in the smallest unit of the currency."`
}

func renderLookup(a receivers.LookupResult) receiverLookupResponse {
	body := receiverLookupResponse{LookupID: httpapi.NewID(a.ID), RequiredFields: renderInfoFields(a.Fields),
		ReceiverUMAAddress: a.ReceiverUMA,
		AccountID:          httpapi.NewID(a.External), SupportedCurrencies: make([]receivingCurrency, len(a.Currencies))}
	if i := a.Invoice; i != nil {
		body.UMAInvoice = &lookedUpInvoice{httpapi.NewID(a.Lookup.Invoice), renderAmount(money.Amount{Minor: i.Amount, Currency: i.Currency}),
			httpapi.NewTime(i.ExpiresAt)}
	}
	if body.RequiredFields == nil {
		body.RequiredFields = []customerInfoField{} // an empty list, not null
	}
	for i, p := range a.Currencies {
		body.SupportedCurrencies[i] = receivingCurrency{renderCurrency(p.Currency), httpapi.Decimal{Rate: p.Rate}, minor(p.Min), minor(p.Max)}
	}
	return body
}

// LookupSender is the sender of a lookup.
type LookupSender struct {
	SenderUMAAddress string                     `query:"senderUmaAddress" doc:"UMA address of the sending customer. Required unless customerId is given." example:"$ana@uma.example.com"`
	CustomerID       httpapi.ID[ident.Customer] `query:"customerId" doc:"Id of the sending customer. Required unless senderUmaAddress is given."`
}

func (s LookupSender) sender() receivers.Sender {
	return receivers.Sender{UMA: s.SenderUMAAddress, Customer: s.CustomerID.Value}
}

type umaProviderBody struct {
	Name       string     `json:"name" doc:"Display name." example:"Sandbox Provider"`
	Domain     string     `json:"domain" doc:"Domain of the provider's UMA addresses." example:"sandbox.uma.test"`
	Regions    []string   `json:"supportedRegions" doc:"Countries that the provider serves: ISO 3166-1 alpha-2 codes."`
	Currencies []currency `json:"supportedCurrencies" doc:"Currencies that can be received."`
	LogoURL    string     `json:"logoUrl,omitempty" format:"uri" doc:"URL of the logo."`
	LEI        string     `json:"lei,omitempty" doc:"Legal Entity Identifier."`
	Allowed    bool       `json:"allowListStatus" doc:"Whether payments to the provider are allowed. False if it is blocked."`
}

func renderUMAProvider(p ports.Provider) umaProviderBody {
	body := umaProviderBody{Name: p.Name, Domain: p.Domain, Regions: slices.Clone(p.Regions), Currencies: make([]currency, len(p.Currencies)),
		LogoURL: p.LogoURL, LEI: p.LEI, Allowed: p.Allowed}
	if body.Regions == nil {
		body.Regions = []string{} // an empty list, not null
	}
	for i, c := range p.Currencies {
		body.Currencies[i] = renderCurrency(c)
	}
	return body
}

type estimateCryptoWithdrawalFeeRequest struct {
	InternalAccountID  httpapi.ID[ident.InternalAccount] `json:"internalAccountId" doc:"Id of the internal account to withdraw from."`
	Currency           httpapi.Currency                  `json:"currency" doc:"Currency to withdraw; the currency of the account." example:"USDC"`
	CryptoNetwork      string                            `json:"cryptoNetwork" enum:"SOLANA,ETHEREUM,BASE,POLYGON,PLASMA,TRON,SPARK,LIGHTNING,BITCOIN" doc:"Blockchain of the withdrawal." example:"BASE"`
	Amount             httpapi.Minor                     `json:"amount" minimum:"1" maximum:"9000000000000000" doc:"Amount, in the smallest unit of the currency." example:"1000000"`
	DestinationAddress string                            `json:"destinationAddress" minLength:"1" maxLength:"4096" doc:"Address to withdraw to." example:"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"`
}

type cryptoWithdrawalFeeEstimate struct {
	NetworkFee      int64         `json:"networkFee" doc:"Estimated blockchain fee, in the smallest unit of networkFeeAsset. The service pays it; it is not part of the other amounts." example:"130000000000000"`
	NetworkFeeAsset string        `json:"networkFeeAsset" doc:"Asset of the blockchain fee." example:"ETH"`
	ApplicationFee  httpapi.Minor `json:"applicationFee" doc:"Fee of the service, in the smallest unit of the currency." example:"0"`
	TotalFee        httpapi.Minor `json:"totalFee" doc:"Total fee deducted from the amount, in the smallest unit of the currency." example:"0"`
	NetAmount       httpapi.Minor `json:"netAmount" doc:"Amount received after totalFee, in the smallest unit of the currency." example:"1000000"`
}

func registerReceivers(a *httpapi.API, service Receivers) {
	refusals := []fault.Code{fault.UserNotFound, fault.UserNotReady, fault.CustomerDeleted, fault.InvalidReceiver, fault.AmountOutOfRange,
		fault.InvalidCurrency, fault.QuoteRequestFailed}
	type umaParams struct {
		Receiver string `path:"receiverUmaAddress" maxLength:"3000" doc:"UMA address of the receiver. Encode the $ as %24. Or a UMA invoice (uma1…)." example:"$success.eur@sandbox.uma.test"`
		LookupSender
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "lookupUma", Path: "/receiver/uma/{receiverUmaAddress}", Tag: tagReceivers, Summary: "Look up a UMA address",
		Permission: platform.View,
		Description: "Returns the currencies that the person accepts, with estimated rates, and the information required about the sender. " +
			"Rates are estimates from the sender's first currency. Use the `lookupId` in a quote to the address.\n\n" +
			"Of a UMA invoice, it returns who is paid and how much. Pay it with a quote from an account to `receiverUmaAddress` that locks its " +
			"amount, with the side RECEIVING. Each invoice is paid once: 409 `CONFLICT` if it was paid, or has another quote.\n\n" +
			"The sandbox has the addresses `$success.usd`, `$success.eur`, `$success.mxn`, `$pending.long.usd` and `$fail.compliance.usd` at its " +
			"own domain, and those of your customers.",
		Errors: append(slices.Clone(refusals), fault.InvalidUMAAddress, fault.UMANotFound, fault.SelfPayment, fault.Conflict,
			fault.LnurlpRequestFailed, fault.NoCompatibleUMAVersion, fault.CounterpartyPubkeyFetchError, fault.NotImplemented),
	}, func(ctx context.Context, call httpapi.Call, in *umaParams) (receivers.LookupResult, error) {
		return service.LookupUMAAddress(ctx, call.Principal.Platform, in.Receiver, in.sender())
	}, renderLookup)

	type accountParams struct {
		AccountID httpapi.ID[ident.ExternalAccount] `path:"accountId" doc:"Id of the account to pay."`
		LookupSender
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "lookupExternalAccount", Path: "/receiver/external-account/{accountId}", Tag: tagReceivers, Summary: "Look up an external account",
		Permission:  platform.View,
		Description: "Returns the estimated rate of a payment to an external account, and the minimum and maximum amounts.",
		Errors:      append(slices.Clone(refusals), fault.ExternalAccountNotFound),
	}, func(ctx context.Context, call httpapi.Call, in *accountParams) (receivers.LookupResult, error) {
		return service.LookupExternalAccount(ctx, call.Principal.Platform, in.AccountID.Value, in.sender())
	}, renderLookup)

	type listParams struct {
		httpapi.Paging
		SortOrder    string           `query:"sortOrder" enum:"asc,desc" default:"desc" doc:"Sort order by domain."`
		CountryCode  httpapi.Country  `query:"countryCode" doc:"Country that the provider serves."`
		CurrencyCode httpapi.Currency `query:"currencyCode" doc:"Currency that can be received."`
		Blocked      bool             `query:"hasBlockedProviders" default:"true" doc:"Whether to include blocked providers."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getAvailableUmaProviders", Path: "/uma-providers", Tag: tagReceivers, Summary: "List UMA providers", Permission: platform.View,
		Description: "Returns the providers whose UMA addresses can be paid, by domain.", Errors: []fault.Code{fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *listParams) (ports.Page[ports.Provider], error) {
		return service.Providers(ctx, call.Principal.Platform, call.Principal.Environment, receivers.ProviderFilter{Limit: in.Limit,
			After:     in.Cursor.ID,
			Ascending: in.SortOrder == "asc",
			Country:   string(in.CountryCode), Currency: money.Currency(in.CurrencyCode), AllowedOnly: !in.Blocked})
	}, func(p ports.Page[ports.Provider]) httpapi.Page[umaProviderBody] {
		return httpapi.RenderPage(p, renderUMAProvider, func(p ports.Provider) string { return p.Domain })
	})

	type estimateInput struct {
		Body estimateCryptoWithdrawalFeeRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "estimateCryptoWithdrawalFee", Path: "/crypto/estimate-withdrawal-fee", Tag: tagReceivers, Summary: "Estimate a withdrawal fee",
		Permission: platform.View,
		Description: "Estimates the cost of sending crypto from an internal account to an address. No money moves. `amount` equals `totalFee` " +
			"plus `netAmount`.",
		Errors: []fault.Code{fault.InternalAccountNotFound, fault.AmountOutOfRange},
	}, func(ctx context.Context, call httpapi.Call, in *estimateInput) (receivers.WithdrawalCost, error) {
		chain := corridor.RailNamed(in.Body.CryptoNetwork) // an unknown one is refused by the use case
		return service.EstimateWithdrawalFee(ctx, call.Principal.Platform, receivers.Withdrawal{From: in.Body.InternalAccountID.Value,
			Currency: money.Currency(in.Body.Currency),
			Chain:    chain, Amount: int64(in.Body.Amount), Address: in.Body.DestinationAddress})
	}, func(c receivers.WithdrawalCost) cryptoWithdrawalFeeEstimate {
		return cryptoWithdrawalFeeEstimate{c.NetworkFee, c.NetworkFeeAsset, minor(c.ApplicationFee), minor(c.Total), minor(c.Net)}
	})
}
