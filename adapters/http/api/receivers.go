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

// Receivers are the use cases behind what can be asked before money moves.
type Receivers interface {
	LookupUMAAddress(ctx context.Context, who platform.Principal, address string, by receivers.Sender) (receivers.LookupResult, error)
	LookupExternalAccount(ctx context.Context, who platform.Principal, id ident.ExternalAccount, by receivers.Sender) (receivers.LookupResult, error)
	Providers(ctx context.Context, who platform.Principal, wanted receivers.ProviderFilter) (ports.Page[ports.Provider], error)
	EstimateWithdrawalFee(ctx context.Context, who platform.Principal, w receivers.Withdrawal) (receivers.WithdrawalCost, error)
}

type receiverLookupResponse struct {
	LookupID            httpapi.ID[ident.Lookup]          `json:"lookupId" doc:"The answer's id; a quote to a UMA address names it, within 10 minutes."`
	SupportedCurrencies []currencyPreference              `json:"supportedCurrencies" doc:"What the receiver can be paid in, the preferred one first."`
	RequiredFields      []customerInfoField               `json:"requiredPayerDataFields" doc:"The facts about the sender that the receiving side wants and the service does not have: send them as senderCustomerInfo of the quote."`
	ReceiverUMAAddress  string                            `json:"receiverUmaAddress,omitempty" doc:"The person asked about." example:"$success.eur@sandbox.uma.test"`
	AccountID           httpapi.ID[ident.ExternalAccount] `json:"accountId,omitzero" doc:"The account asked about."`
}

type currencyPreference struct {
	Currency     currency        `json:"currency" doc:"What the receiver is paid in."`
	ExchangeRate httpapi.Decimal `json:"estimatedExchangeRate" doc:"Smallest receiving units for one smallest unit of the sender's first currency, now. A quote fixes it."`
	Min          httpapi.Minor   `json:"min" minimum:"1" doc:"The least that can be received at once, in the smallest unit of the currency."`
	Max          httpapi.Minor   `json:"max" minimum:"1" doc:"The most that can be received at once, in the smallest unit of the currency."`
}

func renderLookup(a receivers.LookupResult) receiverLookupResponse {
	body := receiverLookupResponse{LookupID: httpapi.NewID(a.ID), RequiredFields: renderInfoFields(a.Fields), ReceiverUMAAddress: a.ReceiverUMA,
		AccountID: httpapi.NewID(a.External), SupportedCurrencies: make([]currencyPreference, len(a.Currencies))}
	if body.RequiredFields == nil {
		body.RequiredFields = []customerInfoField{} // an empty list, not null
	}
	for i, p := range a.Currencies {
		body.SupportedCurrencies[i] = currencyPreference{renderCurrency(p.Currency), httpapi.Decimal{Rate: p.Rate}, minor(p.Min), minor(p.Max)}
	}
	return body
}

// LookupSender says who wants to pay.
type LookupSender struct {
	SenderUMAAddress string                     `query:"senderUmaAddress" doc:"The address of the customer who wants to pay. Give this or customerId." example:"$ana@uma.example.com"`
	CustomerID       httpapi.ID[ident.Customer] `query:"customerId" doc:"The customer who wants to pay."`
}

func (s LookupSender) sender() receivers.Sender {
	return receivers.Sender{UMA: s.SenderUMAAddress, Customer: s.CustomerID.Value}
}

type umaProviderBody struct {
	Name       string     `json:"name" doc:"Name for people." example:"Sandbox Provider"`
	Domain     string     `json:"domain" doc:"Where its people have their addresses." example:"sandbox.uma.test"`
	Regions    []string   `json:"supportedRegions" doc:"The countries it serves, two letters each."`
	Currencies []currency `json:"supportedCurrencies" doc:"What its people can be paid in."`
	LogoURL    string     `json:"logoUrl,omitempty" format:"uri" doc:"Its logo."`
	LEI        string     `json:"lei,omitempty" doc:"Its Legal Entity Identifier."`
	Allowed    bool       `json:"allowListStatus" doc:"Whether its people can be paid; false when it is blocked."`
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
	InternalAccountID  httpapi.ID[ident.InternalAccount] `json:"internalAccountId" doc:"The account it would leave."`
	Currency           httpapi.Currency                  `json:"currency" doc:"What is withdrawn; the account holds it." example:"USDC"`
	CryptoNetwork      string                            `json:"cryptoNetwork" enum:"SOLANA,ETHEREUM,BASE,POLYGON,TRON,SPARK,LIGHTNING,BITCOIN" doc:"The chain it would go over." example:"BASE"`
	Amount             httpapi.Minor                     `json:"amount" minimum:"1" maximum:"9000000000000000" doc:"In the smallest unit of the currency." example:"1000000"`
	DestinationAddress string                            `json:"destinationAddress" minLength:"1" maxLength:"4096" doc:"Where it would go." example:"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"`
}

type estimateCryptoWithdrawalFeeResponse struct {
	NetworkFee      int64         `json:"networkFee" doc:"About what the chain takes, in the smallest unit of networkFeeAsset. The service pays it; it is in none of the other amounts." example:"130000000000000"`
	NetworkFeeAsset string        `json:"networkFeeAsset" doc:"What the chain is paid in." example:"ETH"`
	ApplicationFee  httpapi.Minor `json:"applicationFee" doc:"What the service takes, in the smallest unit of the currency." example:"0"`
	TotalFee        httpapi.Minor `json:"totalFee" doc:"What is taken from the amount in all." example:"0"`
	NetAmount       httpapi.Minor `json:"netAmount" doc:"What arrives: the amount without totalFee." example:"1000000"`
}

func registerReceivers(a *httpapi.API, e Receivers) {
	refusals := []fault.Code{fault.UserNotFound, fault.UserNotReady, fault.CustomerDeleted, fault.InvalidReceiver, fault.AmountOutOfRange,
		fault.InvalidCurrency, fault.QuoteRequestFailed}
	type person struct {
		Receiver string `path:"receiverUmaAddress" maxLength:"320" doc:"The person to be paid; write the $ as %24." example:"$success.eur@sandbox.uma.test"`
		LookupSender
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "lookupUma", Path: "/receiver/uma/{receiverUmaAddress}", Tag: tagReceivers, Summary: "Look a person up", Permission: platform.View,
		Description: "Says in which currencies the person at a UMA address is paid, about at what rate, and what has to be known of the sender. " +
			"Rates are estimates from the sender's first currency. A quote to the address names the `lookupId`.\n\n" +
			"In the sandbox there are `$success.usd`, `$success.eur`, `$success.mxn`, `$pending.long.usd` and `$fail.compliance.usd` at its own domain, and your own customers.",
		Errors: append(slices.Clone(refusals), fault.InvalidUMAAddress, fault.UMANotFound, fault.SelfPayment, fault.NotImplemented),
	}, func(ctx context.Context, call httpapi.Call, in *person) (receivers.LookupResult, error) {
		return e.LookupUMAAddress(ctx, call.Principal, in.Receiver, in.sender())
	}, renderLookup)

	type external struct {
		AccountID httpapi.ID[ident.ExternalAccount] `path:"accountId" doc:"The account to be paid."`
		LookupSender
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "lookupExternalAccount", Path: "/receiver/external-account/{accountId}", Tag: tagReceivers, Summary: "Look an external account up", Permission: platform.View,
		Description: "Says about at what rate an external account is paid, and the least and the most that it can receive at once.",
		Errors:      append(slices.Clone(refusals), fault.ExternalAccountNotFound),
	}, func(ctx context.Context, call httpapi.Call, in *external) (receivers.LookupResult, error) {
		return e.LookupExternalAccount(ctx, call.Principal, in.AccountID.Value, in.sender())
	}, renderLookup)

	type wanted struct {
		httpapi.Paging
		SortOrder    string           `query:"sortOrder" enum:"asc,desc" default:"desc" doc:"Order by domain."`
		CountryCode  httpapi.Country  `query:"countryCode" doc:"That serve this country."`
		CurrencyCode httpapi.Currency `query:"currencyCode" doc:"Whose people can be paid in this currency."`
		Blocked      bool             `query:"hasBlockedProviders" default:"true" doc:"Whether to show those that are blocked, too."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getAvailableUmaProviders", Path: "/uma-providers", Tag: tagReceivers, Summary: "List providers", Permission: platform.View,
		Description: "The providers at whom people can be paid by their UMA addresses.", Errors: []fault.Code{fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *wanted) (ports.Page[ports.Provider], error) {
		return e.Providers(ctx, call.Principal, receivers.ProviderFilter{Limit: in.Limit, After: in.Cursor.ID, Ascending: in.SortOrder == "asc",
			Country: string(in.CountryCode), Currency: money.Currency(in.CurrencyCode), AllowedOnly: !in.Blocked})
	}, func(p ports.Page[ports.Provider]) httpapi.Page[umaProviderBody] {
		return renderPage(p, renderUMAProvider, func(p ports.Provider) string { return p.Domain })
	})

	type withdrawal struct {
		Body estimateCryptoWithdrawalFeeRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "estimateCryptoWithdrawalFee", Path: "/crypto/estimate-withdrawal-fee", Tag: tagReceivers, Summary: "Estimate a withdrawal fee", Permission: platform.View,
		Description: "Says what it would cost to send crypto from an internal account to an address. Nothing is moved. `amount` is `totalFee` and `netAmount` together.",
		Errors:      []fault.Code{fault.InternalAccountNotFound, fault.AmountOutOfRange},
	}, func(ctx context.Context, call httpapi.Call, in *withdrawal) (receivers.WithdrawalCost, error) {
		chain, known := networks[in.Body.CryptoNetwork]
		if !known {
			chain = corridor.Rail(in.Body.CryptoNetwork) // refused as none of the currency's
		}
		return e.EstimateWithdrawalFee(ctx, call.Principal, receivers.Withdrawal{From: in.Body.InternalAccountID.Value, Currency: money.Currency(in.Body.Currency),
			Chain: chain, Amount: int64(in.Body.Amount), Address: in.Body.DestinationAddress})
	}, func(c receivers.WithdrawalCost) estimateCryptoWithdrawalFeeResponse {
		return estimateCryptoWithdrawalFeeResponse{c.NetworkFee, c.NetworkFeeAsset, minor(c.ApplicationFee), minor(c.Total), minor(c.Net)}
	})
}
