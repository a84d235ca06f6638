package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/quoting"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// Quotes are the use cases behind the quote and rate operations.
type Quotes interface {
	Create(ctx context.Context, r quote.Request, claim *ports.IdempotentRequest) (quote.WithStatus, error)
	Get(ctx context.Context, p ident.Platform, id ident.Quote) (quote.WithStatus, error)
	Rates(ctx context.Context, p ident.Platform, wanted quoting.RatesRequest) ([]quoting.CorridorRate, error)
}

type quoteRequest struct {
	LookupID             httpapi.ID[ident.Lookup]        `json:"lookupId,omitzero" doc:"The lookup of the receiver, from GET /receiver/uma/{receiverUmaAddress}; needed to pay a UMA address."`
	Source               httpapi.Union[quoteSource]      `json:"source" doc:"Where the money comes from."`
	Destination          httpapi.Union[quoteDestination] `json:"destination" doc:"Where the money goes to."`
	LockedCurrencySide   string                          `json:"lockedCurrencySide" enum:"SENDING,RECEIVING" doc:"Which side's amount is fixed: what is sent in all, fees included, or what arrives."`
	LockedCurrencyAmount httpapi.Minor                   `json:"lockedCurrencyAmount" minimum:"1" maximum:"9000000000000000" doc:"The fixed amount, in the smallest unit of that side's currency." example:"10050"`
	ImmediatelyExecute   bool                            `json:"immediatelyExecute,omitempty" doc:"Execute the quote as soon as it is made, at its rate. Needs a source that is an account. If it cannot be executed (INSUFFICIENT_BALANCE), no money moves." default:"false"`
	Description          string                          `json:"description,omitempty" maxLength:"500" doc:"A note of yours; it comes back on the transaction." example:"Savings plan, March"`
	PurposeOfPayment     string                          `json:"purposeOfPayment,omitempty" enum:"GIFT,SELF,GOODS_OR_SERVICES,EDUCATION,HEALTH_OR_MEDICAL,REAL_ESTATE_PURCHASE,TAX_PAYMENT,LOAN_PAYMENT,UTILITY_BILL,DONATION,TRAVEL,OTHER" doc:"Why the money is sent. Payments to accounts in India and Nigeria must say it."`
	SenderCustomerInfo   map[string]string               `json:"senderCustomerInfo,omitempty" doc:"Facts about the payer that the receiving side wants, by the names of the lookup's requiredPayerDataFields; the mandatory ones must be among them."`
}

// quoteSource is where the money of a quote comes from.
type quoteSource struct{}

func (quoteSource) Union() httpapi.UnionSpec {
	customer := httpapi.Field{Name: "customerId", Pattern: idPattern("Customer"), PatternDescription: "a customer id", Example: "Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"}
	payer, owner := customer, customer
	payer.Description = "Who pays. Leave it out to pay on behalf of your platform."
	owner.Description = "For whom an account of your platform pays. Of a customer's account it is the owner, and may be left out."
	return httpapi.UnionSpec{
		Description: "Who pays: an account, as soon as the quote is executed; or somebody who pays in just in time, in which case the quote tells how, " +
			"and runs when the payment arrives.",
		Discriminator: "sourceType",
		Branches: []httpapi.Branch{
			{
				Name: "AccountQuoteSource", Values: []string{"ACCOUNT"}, Marker: "accountId",
				Description: "An account pays: an internal account, or an external account that money can be collected from. `sourceType` may be left out.",
				Fields: []httpapi.Field{
					{Name: "accountId", Required: true, Pattern: accountPattern, PatternDescription: "an internal or external account id", Description: "The account that pays.", Example: "InternalAccount:0199f0a4-1c2d-7d3e-8f4a-5b6c7d8e9f03"},
					owner,
					{Name: "currency", Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case", Description: "May be left out: the account's own currency. Another one is refused."},
				},
			},
			{
				Name: "RealtimeFundingQuoteSource", Values: []string{"REALTIME_FUNDING"}, Marker: "currency",
				Description: "Paid just in time. `sourceType` may be left out.",
				Fields: []httpapi.Field{
					payer,
					{Name: "currency", Required: true, Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case", Description: "The currency to pay in.", Example: "USD"},
					{Name: "cryptoNetwork", Description: "The chain a stablecoin is paid on; without it the quote offers every chain.",
						Enum: []string{"SOLANA", "ETHEREUM", "BASE", "POLYGON", "TRON", "SPARK", "LIGHTNING", "BITCOIN"}},
				},
			},
		},
	}
}

// accountPattern is the shape of the id of any account.
const accountPattern = "^(Internal|External)Account:[0-9a-fA-F-]{36}$"

// quoteDestination is where the money of a quote goes to.
type quoteDestination struct{}

func (quoteDestination) Union() httpapi.UnionSpec {
	return httpapi.UnionSpec{
		Description:   "Who receives.",
		Discriminator: "destinationType",
		Branches: []httpapi.Branch{{
			Name: "AccountDestination", Values: []string{"ACCOUNT"}, Marker: "accountId",
			Description: "An internal or external account. `destinationType` may be left out.",
			Fields: []httpapi.Field{
				{Name: "accountId", Required: true, Pattern: accountPattern, PatternDescription: "an internal or external account id", Description: "The account to pay to.", Example: "ExternalAccount:0199f0a3-0d9a-7c2f-8a47-5b7f8f2f9c02"},
				{Name: "currency", Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case", Description: "May be left out: the account's own currency. Another one is refused."},
				{Name: "paymentRail", Enum: paymentRails(), Description: "The rail to pay out by. May be left out: the quickest one that takes the amount."},
			},
		}, {
			Name: "UmaAddressDestination", Values: []string{"UMA_ADDRESS"}, Marker: "umaAddress",
			Description: "A person at a UMA address. It needs a `lookupId`. `destinationType` may be left out.",
			Fields: []httpapi.Field{
				{Name: "umaAddress", Required: true, MaxLength: uma.MaxLength, Description: "The person to pay.", Example: "$success.usd@sandbox.uma.test"},
				{Name: "currency", Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case", Description: "What the person receives: one of the lookup's supportedCurrencies. May be left out where there is one."},
			},
		}},
	}
}

// paymentRails are the rails of banks, as callers name them.
func paymentRails() []string {
	var names []string
	for _, rail := range corridor.Rails() {
		if !rail.IsChain() {
			names = append(names, string(rail))
		}
	}
	return names
}

// networks are the chains as callers name them.
var networks = map[string]corridor.Rail{
	"SOLANA": corridor.Altchain, "ETHEREUM": corridor.Ethereum, "BASE": corridor.Base, "POLYGON": corridor.Polygon,
	"TRON": corridor.Tron, "SPARK": corridor.Layer2, "LIGHTNING": corridor.Lightning, "BITCOIN": "BITCOIN",
}

func (b quoteRequest) request(p ident.Platform) (quote.Request, error) {
	r := quote.Request{
		Platform: p, Side: quote.Side(b.LockedCurrencySide), Amount: int64(b.LockedCurrencyAmount),
		Description: b.Description, Purpose: b.PurposeOfPayment, ExecuteImmediately: b.ImmediatelyExecute,
		Lookup: b.LookupID.Value, Payer: b.SenderCustomerInfo,
		Source:      quote.Source{Currency: money.Currency(b.Source.Text("currency")), Network: string(networks[b.Source.Text("cryptoNetwork")])},
		Destination: quote.Destination{ExpectedCurrency: money.Currency(b.Destination.Text("currency")), Rail: corridor.Rail(b.Destination.Text("paymentRail"))},
	}
	var bad []fault.Field
	var err error
	if id := b.Source.Text("customerId"); id != "" {
		if r.Source.Customer, err = ident.ParseCustomer(id); err != nil {
			bad = append(bad, fault.Field{Field: "source.customerId", Message: "must be an id of the form Customer:<uuid>"})
		}
	}
	if b.Source.Branch() == "AccountQuoteSource" {
		r.Source.Internal, r.Source.External, err = parseAccount(b.Source.Text("accountId"))
		bad = append(bad, accountFieldError("source.accountId", err)...)
	}
	if b.Destination.Branch() == "UmaAddressDestination" {
		var ok bool
		if r.Destination.UMA, ok = uma.Parse(b.Destination.Text("umaAddress")); !ok {
			bad = append(bad, fault.Field{Field: "destination.umaAddress", Message: uma.Rule, Constraint: map[string]any{"pattern": uma.Pattern}})
		}
	} else {
		r.Destination.Internal, r.Destination.External, err = parseAccount(b.Destination.Text("accountId"))
		bad = append(bad, accountFieldError("destination.accountId", err)...)
	}
	if len(bad) > 0 {
		return r, fault.Invalid(bad...)
	}
	return r, nil
}

// parseAccount reads the id of an account of either kind.
func parseAccount(text string) (ident.InternalAccount, ident.ExternalAccount, error) {
	if internal, err := ident.ParseInternalAccount(text); err == nil {
		return internal, ident.ExternalAccount{}, nil
	}
	external, err := ident.ParseExternalAccount(text)
	return ident.InternalAccount{}, external, err
}

func accountFieldError(field string, err error) []fault.Field {
	if err == nil {
		return nil
	}
	return []fault.Field{{Field: field, Message: "must be an id of the form InternalAccount:<uuid> or ExternalAccount:<uuid>"}}
}

type quoteBody struct {
	ID                   httpapi.ID[ident.Quote]       `json:"id" doc:"The quote."`
	QuoteID              httpapi.ID[ident.Quote]       `json:"quoteId" doc:"The same as id."`
	Status               string                        `json:"status" enum:"PENDING,PROCESSING,COMPLETED,FAILED,EXPIRED" doc:"PENDING until paid; PROCESSING while the money is on its way; then COMPLETED or FAILED. EXPIRED when nobody paid in time."`
	CreatedAt            httpapi.Time                  `json:"createdAt" doc:"When it was made."`
	ExpiresAt            httpapi.Time                  `json:"expiresAt" doc:"Until when the rate is held and a payment is taken."`
	Source               paymentParty                  `json:"source" doc:"Where the money comes from."`
	Destination          paymentParty                  `json:"destination" doc:"Where the money goes to."`
	SendingCurrency      currency                      `json:"sendingCurrency" doc:"The currency that is paid."`
	ReceivingCurrency    currency                      `json:"receivingCurrency" doc:"The currency that arrives."`
	TotalSendingAmount   httpapi.Minor                 `json:"totalSendingAmount" doc:"All that is paid, fees included, in the smallest sending unit."`
	TotalReceivingAmount httpapi.Minor                 `json:"totalReceivingAmount" doc:"What arrives, in the smallest receiving unit: floor((totalSendingAmount - feesIncluded) × exchangeRate)."`
	ExchangeRate         httpapi.Decimal               `json:"exchangeRate" doc:"Smallest receiving units for one smallest sending unit, with all its digits. Where the receiving side is locked and one sending unit buys more than was asked for, it is the simplest rate that gives exactly the locked amount; rateDetails.serviceMultiplier keeps the market's."`
	FeesIncluded         httpapi.Minor                 `json:"feesIncluded" doc:"The part of totalSendingAmount that is fees."`
	PaymentInstructions  []paymentInstructions         `json:"paymentInstructions,omitempty" doc:"The ways to pay a quote that is funded just in time; paying any one of them runs it."`
	TransactionID        httpapi.ID[ident.Transaction] `json:"transactionId" doc:"The transaction of the quote; it is made with it."`
	Description          string                        `json:"description,omitempty" doc:"Your note."`
	Counterparty         map[string]string             `json:"counterpartyInformation,omitempty" doc:"What the receiving side tells about a person who is paid, by the names of the fields your platform asks for."`
	RateDetails          rateDetails                   `json:"rateDetails" doc:"What rate and fees are made of."`
}

type rateDetails struct {
	CounterpartyMultiplier   httpapi.Decimal `json:"counterpartyMultiplier" doc:"What the other side's conversion adds; 1 where there is none."`
	CounterpartyFixedFee     httpapi.Minor   `json:"counterpartyFixedFee" doc:"The other side's fee, in the smallest receiving unit."`
	ServiceMultiplier        httpapi.Decimal `json:"serviceMultiplier" doc:"The market rate the quote was made from."`
	ServiceFixedFee          httpapi.Minor   `json:"serviceFixedFee" doc:"The fixed part of the fee, in the smallest sending unit."`
	ServiceVariableFeeRate   httpapi.Decimal `json:"serviceVariableFeeRate" doc:"The variable part of the fee as a fraction of the sending amount: 0.003 is 0.3 %."`
	ServiceVariableFeeAmount httpapi.Minor   `json:"serviceVariableFeeAmount" doc:"The variable part of the fee, in the smallest sending unit."`
}

var unitRate = money.MustRate("1")

func renderRateDetails(p transaction.Pricing) rateDetails {
	return rateDetails{CounterpartyMultiplier: httpapi.Decimal{Rate: unitRate}, ServiceMultiplier: httpapi.Decimal{Rate: p.Market},
		ServiceFixedFee: minor(p.FixedFee), ServiceVariableFeeRate: httpapi.Decimal{Rate: p.FeeRate}, ServiceVariableFeeAmount: minor(p.VariableFee)}
}

func renderQuote(in quote.WithStatus) quoteBody {
	q := in.Quote
	return quoteBody{
		ID: httpapi.NewID(q.ID), QuoteID: httpapi.NewID(q.ID), Status: string(in.Status),
		CreatedAt: httpapi.NewTime(q.CreatedAt), ExpiresAt: httpapi.NewTime(q.ExpiresAt),
		Source: renderSource(q.Source), Destination: withPaymentRail(renderDestination(q.Destination), q.DestinationAccount),
		SendingCurrency: renderCurrency(q.Pricing.Sent.Currency), ReceivingCurrency: renderCurrency(q.Pricing.Received.Currency),
		TotalSendingAmount: minor(q.Pricing.Sent.Minor), TotalReceivingAmount: minor(q.Pricing.Received.Minor),
		ExchangeRate: httpapi.Decimal{Rate: q.Pricing.Rate}, FeesIncluded: minor(q.Pricing.Fees),
		PaymentInstructions: renderInstructions(q.Instructions, false), TransactionID: httpapi.NewID(q.Transaction),
		Description: q.Description, Counterparty: q.Counterparty, RateDetails: renderRateDetails(q.Pricing),
	}
}

func registerQuotes(a *httpapi.API, quotes Quotes, payments Payments) {
	type create struct{ Body quoteRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createQuote", Path: "/quotes", Tag: tagQuotes, Summary: "Create a quote", Status: 201, Permission: platform.Transact,
		Description: "Fixes a rate and fees for a while. A quote whose source is an account is paid by it when you execute the quote, before `expiresAt`. " +
			"One whose source is a currency is funded just in time: pay it by its `paymentInstructions`, with the exact amount and reference, before " +
			"`expiresAt`; the conversion then runs by itself.",
		Errors: []fault.Code{fault.UserNotFound, fault.UserNotReady, fault.InternalAccountNotFound, fault.ExternalAccountNotFound, fault.InvalidCurrency,
			fault.LookupRequestNotFound, fault.MissingMandatoryUserInfo, fault.AmountOutOfRange, fault.InsufficientBalance, fault.QuoteRequestFailed, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *create) (quote.WithStatus, error) {
		request, err := in.Body.request(call.Principal.Platform)
		if err != nil {
			return quote.WithStatus{}, err
		}
		return quotes.Create(ctx, request, call.IdempotentRequest)
	}, renderQuote)

	type one struct {
		QuoteID httpapi.ID[ident.Quote] `path:"quoteId" doc:"The quote."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getQuoteById", Path: "/quotes/{quoteId}", Tag: tagQuotes, Summary: "Get a quote", Permission: platform.View,
		Description: "The quote as it was made, and where it stands now.", Errors: []fault.Code{fault.QuoteNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (quote.WithStatus, error) {
		return quotes.Get(ctx, call.Principal.Platform, in.QuoteID.Value)
	}, renderQuote)

	type execute struct {
		QuoteID   httpapi.ID[ident.Quote] `path:"quoteId" doc:"The quote."`
		Signature string                  `header:"Service-Wallet-Signature" doc:"For quotes whose source is an embedded wallet."`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "executeQuote", Path: "/quotes/{quoteId}/execute", Tag: tagQuotes, Summary: "Execute a quote", Permission: platform.Transact,
		Description: "For quotes whose source is an account: the money leaves it at once, and the quote runs once however often it is executed. " +
			"When the account holds too little (`INSUFFICIENT_BALANCE`) nothing changes; fund it and execute again, before the quote expires. " +
			"A quote that is funded just in time runs when its payment arrives, and is refused here with `QUOTE_NOT_EXECUTABLE`.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.QuoteNotExecutable, fault.QuoteExpired, fault.QuoteAlreadyExecuted, fault.InsufficientBalance, fault.AmountOutOfRange},
	}, func(ctx context.Context, call httpapi.Call, in *execute) (quote.WithStatus, error) {
		return payments.Execute(ctx, call.Principal.Platform, in.QuoteID.Value, call.IdempotentRequest)
	}, renderQuote)
}
