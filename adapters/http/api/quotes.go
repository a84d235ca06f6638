package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/payments"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/ports"
)

// Quotes holds the use cases of the quote and rate operations.
type Quotes interface {
	CreateQuote(ctx context.Context, r quote.Request, idempotent *ports.IdempotentRequest) (quote.WithStatus, error)
	GetQuote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.WithStatus, error)
	ListQuotes(ctx context.Context, p ident.Platform, f ports.QuoteFilter) (ports.Page[quote.WithStatus], error)
	Rates(ctx context.Context, p ident.Platform, request payments.RatesRequest) ([]payments.CorridorRate, error)
}

type quoteRequest struct {
	LookupID             httpapi.ID[ident.Lookup]        `json:"lookupId,omitzero" doc:"Id of a receiver lookup, from GET /receiver/uma/{receiverUmaAddress}. Required to pay a UMA address."`
	Source               httpapi.Union[quoteSource]      `json:"source" doc:"Source of the funds."`
	Destination          httpapi.Union[quoteDestination] `json:"destination" doc:"Destination of the funds."`
	LockedCurrencySide   string                          `json:"lockedCurrencySide" enum:"SENDING,RECEIVING" doc:"Side whose amount is fixed: SENDING is the total sent including fees, RECEIVING is the amount received."`
	LockedCurrencyAmount httpapi.Minor                   `json:"lockedCurrencyAmount" minimum:"1" maximum:"9000000000000000" doc:"Fixed amount, in the smallest unit of that side's currency." example:"10050"`
	ImmediatelyExecute   bool                            `json:"immediatelyExecute,omitempty" doc:"Whether to execute the quote when it is created. The source must be an account. If execution fails (INSUFFICIENT_BALANCE), no money moves." default:"false"`
	Description          string                          `json:"description,omitempty" maxLength:"500" doc:"Your note. It is copied to the transaction." example:"Savings plan, March"`
	RemittanceInfo       string                          `json:"remittanceInformation,omitempty" maxLength:"80" doc:"What the beneficiary reads about the payment, on the rails that carry a text. Without it they carry your description." example:"Invoice 2026-0117"`
	PurposeOfPayment     string                          `json:"purposeOfPayment,omitempty" enum:"GIFT,SELF,GOODS_OR_SERVICES,EDUCATION,HEALTH_OR_MEDICAL,REAL_ESTATE_PURCHASE,TAX_PAYMENT,LOAN_PAYMENT,UTILITY_BILL,DONATION,TRAVEL,FAMILY_SUPPORT,SALARY_PAYMENT,OTHER" doc:"Purpose of the payment. Required for payments to accounts in India and Nigeria."`
	PlatformFeeOverride  *platformFeeOverride            `json:"platformFeeOverride,omitempty" doc:"Fee that you charge for this payment, in place of that of feeConfigs in your configuration. Zero charges none."`
	SCAFactor            string                          `json:"scaFactor,omitempty" enum:"SMS_OTP,TOTP,PASSKEY" doc:"Factor with which the payer will authorise the payment, if it has to. Defaults to the first that it has. TOTP is not accepted for payments."`
	SenderCustomerInfo   map[string]string               `json:"senderCustomerInfo,omitempty" doc:"Information about the payer for the receiving institution, keyed by the field names in the lookup's requiredPayerDataFields. Mandatory fields are required."`
}

type platformFeeOverride struct {
	FixedFee       fixedFee `json:"platformFixedFee" doc:"Fixed part, in the sending currency."`
	VariableFeeBps int64    `json:"platformVariableFeeBps" minimum:"0" maximum:"10000" doc:"Part of the amount that is sent, in basis points: 25 is 0.25 %." example:"25"`
}

// quoteSource is the union of quote sources.
type quoteSource struct{}

// Union returns the branches of a source.
func (quoteSource) Union() httpapi.UnionSpec {
	customer := httpapi.Field{Name: "customerId", Pattern: idPattern("Customer"), PatternDescription: "an id of the form Customer:<uuid>",
		Example: "Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"}
	payer, owner := customer, customer
	payer.Description = "Customer who pays. Omit it if your platform pays. For an agent it is its customer and may be omitted."
	owner.Description = "Customer that an account of your platform pays for. For a customer's account it is the owner and may be omitted."
	return httpapi.UnionSpec{
		Name: "QuoteSource",
		Description: "Source of the funds: an account, which pays when the quote is executed; or just-in-time funding, where the quote " +
			"contains payment instructions " +
			"and runs when the payment arrives.",
		Discriminator: "sourceType",
		Branches: []httpapi.Branch{
			{
				Name: "AccountQuoteSource", Values: []string{"ACCOUNT"}, Marker: "accountId",
				Description: "An internal account, or an external account that can be debited. Clients that do not send `sourceType` are accepted.",
				Fields: []httpapi.Field{
					{Name: "accountId", Required: true, Pattern: accountPattern, PatternDescription: accountForm,
						Description: "Id of the account that pays.", Example: "InternalAccount:0199f0a4-1c2d-7d3e-8f4a-5b6c7d8e9f03"},
					owner,
					{Name: "currency", Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case",
						Description: "Currency of the account. May be omitted; any other currency is refused."},
				},
			},
			{
				Name: "RealtimeFundingQuoteSource", Values: []string{"REALTIME_FUNDING"}, Marker: "currency",
				Description: "Just-in-time funding. Clients that do not send `sourceType` are accepted.",
				Fields: []httpapi.Field{
					payer,
					{Name: "currency", Required: true, Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case",
						Description: "Currency to pay in.", Example: "USD"},
					{Name: "cryptoNetwork", Description: "Blockchain to pay on. Required for a stablecoin that can be received on several: a quote " +
						"without it is 400 and lists them. May be omitted if there is only one; for bitcoin, the quote then offers each.",
						Enum: []string{"SOLANA", "ETHEREUM", "BASE", "POLYGON", "PLASMA", "TRON", "SPARK", "LIGHTNING", "BITCOIN"}},
				},
			},
		},
	}
}

// accountForm is the form of the id of an internal or external account.
const accountForm = "an id of the form InternalAccount:<uuid> or ExternalAccount:<uuid>"

// accountPattern matches the id of an internal or external account.
const accountPattern = "^(Internal|External)Account:[0-9a-fA-F-]{36}$"

// quoteDestination is the union of quote destinations.
type quoteDestination struct{}

// Union returns the branches of a destination.
func (quoteDestination) Union() httpapi.UnionSpec {
	return httpapi.UnionSpec{
		Name:          "QuoteDestination",
		Description:   "Destination of the funds.",
		Discriminator: "destinationType",
		Branches: []httpapi.Branch{{
			Name: "AccountDestination", Values: []string{"ACCOUNT"}, Marker: "accountId",
			Description: "An internal or external account. Clients that do not send `destinationType` are accepted.",
			Fields: []httpapi.Field{
				{Name: "accountId", Required: true, Pattern: accountPattern, PatternDescription: accountForm,
					Description: "Id of the account that receives.", Example: "ExternalAccount:0199f0a3-0d9a-7c2f-8a47-5b7f8f2f9c02"},
				{Name: "currency", Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case",
					Description: "Currency of the account. May be omitted; any other currency is refused."},
				{Name: "paymentRail", Enum: paymentRails(), Description: "Payment rail of the payout. Defaults to the fastest rail that supports the " +
					"amount."},
			},
		}, {
			Name: "UmaAddressDestination", Values: []string{"UMA_ADDRESS"}, Marker: "umaAddress",
			Description: "A person with a UMA address. Requires `lookupId`. Clients that do not send `destinationType` are accepted.",
			Fields: []httpapi.Field{
				{Name: "umaAddress", Required: true, MaxLength: customer.MaxUMAAddressLength, Description: "UMA address to pay.",
					Example: "$success.usd@sandbox.uma.test"},
				{Name: "currency", Pattern: "^[A-Z0-9]{3,5}$", PatternDescription: "a currency code in upper case",
					Description: "Currency to receive: one of the lookup's supportedCurrencies. May be omitted if there is only one."},
			},
		}},
	}
}

// paymentRails returns the names of the bank rails.
func paymentRails() []string {
	var names []string
	for _, rail := range corridor.Rails() {
		if !rail.IsChain() {
			names = append(names, string(rail))
		}
	}
	return names
}

func (b quoteRequest) request(p ident.Platform) (quote.Request, error) {
	r := quote.Request{
		Platform: p, Side: quote.Side(b.LockedCurrencySide), Amount: int64(b.LockedCurrencyAmount),
		Description: b.Description, Purpose: b.PurposeOfPayment, Remittance: b.RemittanceInfo, ExecuteImmediately: b.ImmediatelyExecute,
		Lookup: b.LookupID.Value, Payer: b.SenderCustomerInfo, Factor: sca.Factor(b.SCAFactor),
		Source: quote.Source{Currency: money.Currency(b.Source.Text("currency")),
			Network: string(corridor.RailNamed(b.Source.Text("cryptoNetwork")))},
		Destination: quote.Destination{ExpectedCurrency: money.Currency(b.Destination.Text("currency")),
			Rail: corridor.RailNamed(b.Destination.Text("paymentRail"))},
	}
	if o := b.PlatformFeeOverride; o != nil {
		r.PlatformFee = new(platformFee(o.FixedFee, o.VariableFeeBps))
	}
	var invalid []fault.Field
	var err error
	if id := b.Source.Text("customerId"); id != "" {
		if r.Source.Customer, err = ident.ParseCustomer(id); err != nil {
			invalid = append(invalid, fault.Field{Field: "source.customerId", Message: "must be an id of the form Customer:<uuid>"})
		}
	}
	if b.Source.Branch() == "AccountQuoteSource" {
		r.Source.Internal, r.Source.External, err = parseAccount(b.Source.Text("accountId"))
		invalid = append(invalid, accountFieldError("source.accountId", err)...)
	}
	if b.Destination.Branch() == "UmaAddressDestination" {
		var ok bool
		if r.Destination.UMA, ok = customer.ParseUMAAddress(b.Destination.Text("umaAddress")); !ok {
			invalid = append(invalid, fault.Field{Field: "destination.umaAddress", Message: customer.UMAAddressRule,
				Constraint: map[string]any{"pattern": customer.UMAAddressPattern}})
		}
	} else {
		r.Destination.Internal, r.Destination.External, err = parseAccount(b.Destination.Text("accountId"))
		invalid = append(invalid, accountFieldError("destination.accountId", err)...)
	}
	if len(invalid) > 0 {
		return r, fault.Invalid(invalid...)
	}
	return r, nil
}

// parseAccount parses the id of an internal or external account.
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
	return []fault.Field{{Field: field, Message: "must be " + accountForm}}
}

type quoteBody struct {
	ID                   httpapi.ID[ident.Quote]       `json:"id" doc:"Id of the quote."`
	QuoteID              httpapi.ID[ident.Quote]       `json:"quoteId" doc:"Same as id."`
	Status               string                        `json:"status" enum:"PENDING,PENDING_AUTHORIZATION,PROCESSING,COMPLETED,FAILED,EXPIRED" doc:"Status of the quote. PENDING: awaiting payment. PENDING_AUTHORIZATION: the payer has to authorise it, see scaChallenge. PROCESSING: the payment is being delivered. COMPLETED: delivered. FAILED: not delivered. EXPIRED: not paid before expiresAt."`
	CreatedAt            httpapi.Time                  `json:"createdAt" doc:"Time the quote was created."`
	ExpiresAt            httpapi.Time                  `json:"expiresAt" doc:"Time until which the rate is locked and the quote can be paid."`
	Source               paymentSource                 `json:"source" doc:"Source of the funds."`
	Destination          paymentDestination            `json:"destination" doc:"Destination of the funds."`
	SendingCurrency      currency                      `json:"sendingCurrency" doc:"Currency sent."`
	ReceivingCurrency    currency                      `json:"receivingCurrency" doc:"Currency received."`
	TotalSendingAmount   httpapi.Minor                 `json:"totalSendingAmount" doc:"Total amount sent including fees, in the smallest unit of the sending currency."`
	TotalReceivingAmount httpapi.Minor                 `json:"totalReceivingAmount" doc:"Amount received, in the smallest unit of the receiving currency: floor((totalSendingAmount - feesIncluded) × exchangeRate)."`
	ExchangeRate         httpapi.Decimal               `json:"exchangeRate" doc:"Exact rate: smallest units of the receiving currency per smallest unit of the sending currency. If the receiving amount is locked and one sending unit would buy more than that, this is the simplest rate that gives exactly the locked amount; rateDetails.serviceMultiplier is the market rate."`
	FeesIncluded         httpapi.Minor                 `json:"feesIncluded" doc:"Fees included in totalSendingAmount, in the smallest unit of the sending currency: of the service and of the platform."`
	PlatformFees         httpapi.Minor                 `json:"platformFeesIncluded,omitempty" doc:"Your part of feesIncluded: what you charge by feeConfigs of your configuration, or by platformFeeOverride. Omitted if it is nothing."`
	PaymentInstructions  []paymentInstructions         `json:"paymentInstructions,omitempty" doc:"Ways to fund the quote just in time: paying any one of them runs the quote. For an embedded wallet: what its owner has to sign."`
	TransactionID        httpapi.ID[ident.Transaction] `json:"transactionId" doc:"Id of the transaction, which is created with the quote."`
	Description          string                        `json:"description,omitempty" doc:"Your note."`
	RemittanceInfo       string                        `json:"remittanceInformation,omitempty" doc:"What the beneficiary reads about the payment."`
	Counterparty         map[string]string             `json:"counterpartyInformation,omitempty" doc:"Information about the receiver, keyed by the field names in your configuration."`
	RateDetails          rateDetails                   `json:"rateDetails" doc:"Breakdown of the rate and fees."`
	SCAChallenge         *scaChallengeBody             `json:"scaChallenge,omitempty" readOnly:"true" doc:"PENDING_AUTHORIZATION only: what the payer is asked to prove. Answer it with POST /quotes/{quoteId}/authorize. Lists of quotes leave it out."`
}

type rateDetails struct {
	CounterpartyMultiplier   httpapi.Decimal `json:"counterpartyMultiplier" doc:"Conversion rate of the receiving institution: smallest units of the receiving currency per satoshi, for UMA addresses at other providers. 1 if it does not convert."`
	CounterpartyFixedFee     httpapi.Minor   `json:"counterpartyFixedFee" doc:"Fee of the receiving institution, in the smallest unit of the receiving currency."`
	ServiceMultiplier        httpapi.Decimal `json:"serviceMultiplier" doc:"Market rate of the quote: that to satoshi, for UMA addresses at other providers."`
	ServiceFixedFee          httpapi.Minor   `json:"serviceFixedFee" doc:"Fixed fee, in the smallest unit of the sending currency."`
	ServiceVariableFeeRate   httpapi.Decimal `json:"serviceVariableFeeRate" doc:"Variable fee as a fraction of the sending amount: 0.003 is 0.3 %."`
	ServiceVariableFeeAmount httpapi.Minor   `json:"serviceVariableFeeAmount" doc:"Variable fee, in the smallest unit of the sending currency."`
}

var unitRate = money.MustRate("1")

func renderRateDetails(p transaction.Pricing, u *transaction.UMA) rateDetails {
	details := rateDetails{CounterpartyMultiplier: httpapi.Decimal{Rate: unitRate}, ServiceMultiplier: httpapi.Decimal{Rate: p.Market},
		ServiceFixedFee: minor(p.FixedFee), ServiceVariableFeeRate: httpapi.Decimal{Rate: p.FeeRate},
		ServiceVariableFeeAmount: minor(p.VariableFee)}
	if u == nil || u.Received.Currency == "" {
		return details
	}
	if rate, fee, err := u.OtherRate(); err == nil {
		details.CounterpartyMultiplier, details.CounterpartyFixedFee = httpapi.Decimal{Rate: rate}, minor(fee)
	}
	return details
}

func renderQuote(withStatus quote.WithStatus) quoteBody {
	q := withStatus.Quote
	received := q.Pricing.ToReceiver(q.UMA)
	return quoteBody{
		ID: httpapi.NewID(q.ID), QuoteID: httpapi.NewID(q.ID), Status: string(withStatus.Status),
		CreatedAt: httpapi.NewTime(q.CreatedAt), ExpiresAt: httpapi.NewTime(q.ExpiresAt),
		Source: renderSource(q.Source), Destination: withPaymentRail(renderDestination(q.Destination), q.DestinationRail),
		SendingCurrency: renderCurrency(q.Pricing.Sent.Currency), ReceivingCurrency: renderCurrency(received.Currency),
		TotalSendingAmount: minor(q.Pricing.Sent.Minor), TotalReceivingAmount: minor(received.Minor),
		ExchangeRate: httpapi.Decimal{Rate: q.Pricing.ReceiverRate(q.UMA)}, FeesIncluded: minor(q.Pricing.Fees),
		PlatformFees:        minor(q.Pricing.PlatformFees),
		PaymentInstructions: renderInstructions(q.Instructions, false), TransactionID: httpapi.NewID(q.Transaction),
		Description: q.Description, RemittanceInfo: q.Remittance, Counterparty: q.Counterparty, RateDetails: renderRateDetails(q.Pricing, q.UMA),
		SCAChallenge: renderSCAChallenge(withStatus.Challenge),
	}
}

// renderNewQuote renders a quote that was created: 202 if nothing happens before its payer has authorised it.
func renderNewQuote(q quote.WithStatus) httpapi.Reply {
	if q.Status == quote.PendingAuthorization {
		return httpapi.Reply{Status: 202, Body: renderQuote(q)}
	}
	return httpapi.Reply{Status: 201, Body: renderQuote(q)}
}

type listQuotesParams struct {
	httpapi.Paging
	httpapi.Sorting
	OwnerParams
	Status    []string     `query:"status" enum:"PENDING,PENDING_AUTHORIZATION,PROCESSING,COMPLETED,FAILED,EXPIRED" doc:"Statuses of the quote: repeat the parameter, or separate them by commas."`
	StartDate httpapi.Time `query:"startDate" doc:"Created at or after this time."`
	EndDate   httpapi.Time `query:"endDate" doc:"Created at or before this time."`
	AmountFilterParams
}

func (in *listQuotesParams) filter(p ident.Platform, page ports.Paging) (filter ports.QuoteFilter, err error) {
	// A quote is created with its transaction, whose id is the cursor.
	of := TransactionFilterParams{StartDate: in.StartDate, EndDate: in.EndDate, AmountFilterParams: in.AmountFilterParams}
	filter.Transactions = of.filter(page)
	err = in.limit(&filter.Transactions, p)
	for _, status := range in.Status {
		filter.Statuses = append(filter.Statuses, quote.Status(status))
	}
	return filter, err
}

type quoteExecutionRequest struct {
	SCAFactor string `json:"scaFactor,omitempty" enum:"SMS_OTP,TOTP,PASSKEY" doc:"Factor with which the payer will authorise the payment, if it has to. Defaults to the first that it has; another one than before takes the place of the open challenge. TOTP is not accepted for payments."`
}

func registerQuotes(a *httpapi.API, service Quotes, executor Payments) {
	type createInput struct{ Body quoteRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createQuote", Path: "/quotes", Tag: tagQuotes, Summary: "Create a quote", Permission: platform.Transact,
		Outcomes: []httpapi.Outcome{{Status: 201, Body: quoteBody{}, Description: "The quote."},
			{Status: 202, Body: quoteBody{}, Description: "The quote, which its payer has to authorise: see its scaChallenge."}},
		Description: "Locks a rate and fees until `expiresAt`. If the source is an account, execute the quote before then. " +
			"Otherwise it is funded just in time: follow its `paymentInstructions`, with the exact amount and reference, before " +
			"`expiresAt`; the quote runs when the payment arrives. A payment is late if it reaches the partner after `expiresAt`; one that " +
			"reached it in time runs " +
			"the quote even if it is reported later. If the source is an embedded wallet, which must hold the amount already " +
			"(`INSUFFICIENT_FUNDS`), have its owner sign `payloadToSign` of the " +
			"`paymentInstructions` before you execute the quote.\n\nA customer who needs strong customer authentication authorises the payment: " +
			"without an account that pays, the response " +
			"is 202, and the quote is `PENDING_AUTHORIZATION` and has a `scaChallenge` instead of `paymentInstructions`.",
		Errors: []fault.Code{fault.UserNotFound, fault.UserNotReady, fault.EndUserTermsNotAccepted, fault.CustomerDeleted,
			fault.ExternalAccountVerificationRequired,
			fault.InternalAccountNotFound,
			fault.ExternalAccountNotFound, fault.InvalidCurrency,
			fault.LookupRequestNotFound, fault.MissingMandatoryUserInfo, fault.AmountOutOfRange, fault.InsufficientBalance, fault.InsufficientFunds,
			fault.TransactionSizeLimitExceeded, fault.DailyVolumeLimitExceeded,
			fault.Conflict, fault.SCASessionRequired, fault.AccountLocked,
			fault.QuoteRequestFailed, fault.InvalidReceiver, fault.PayreqRequestFailed, fault.CounterpartyPubkeyFetchError, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (quote.WithStatus, error) {
		request, err := in.Body.request(call.Principal.Platform)
		if err != nil {
			return quote.WithStatus{}, err
		}
		return service.CreateQuote(ctx, request, call.IdempotentRequest)
	}, renderNewQuote)

	type getParams struct {
		QuoteID httpapi.ID[ident.Quote] `path:"quoteId" doc:"Id of the quote."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getQuoteById", Path: "/quotes/{quoteId}", Tag: tagQuotes, Summary: "Get a quote", Permission: platform.View,
		Description: "Returns a quote with its current status.", Errors: []fault.Code{fault.QuoteNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (quote.WithStatus, error) {
		return service.GetQuote(ctx, call.Principal.Platform, in.QuoteID.Value)
	}, renderQuote)

	httpapi.GetPage(a, httpapi.Operation{
		ID: "listQuotes", Path: "/quotes", Tag: tagQuotes, Summary: "List quotes", Permission: platform.View,
		Description: "Newest first by default. All filters must match; times are inclusive. Quotes that were never paid are deleted some time " +
			"after they expired.",
	}, func(ctx context.Context, call httpapi.Call, in *listQuotesParams, page ports.Paging) (ports.Page[quote.WithStatus], error) {
		filter, err := in.filter(call.Principal.Platform, page)
		if err != nil {
			return ports.Page[quote.WithStatus]{}, err
		}
		return service.ListQuotes(ctx, call.Principal.Platform, filter)
	}, renderQuote, func(q quote.WithStatus) ident.Transaction { return q.Quote.Transaction })

	type executeParams struct {
		QuoteID   httpapi.ID[ident.Quote] `path:"quoteId" doc:"Id of the quote."`
		Signature string                  `header:"Service-Wallet-Signature" doc:"Signature over payloadToSign of the quote, byte for byte, by the key of an active session of the wallet. Required if the source is an embedded wallet; ignored otherwise. It has one of the two forms that the section on wallets describes." example:"sandbox-valid-signature"`
		Body      *quoteExecutionRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "executeQuote", Path: "/quotes/{quoteId}/execute", Tag: tagQuotes, Summary: "Execute a quote", Permission: platform.Transact,
		Description: "For quotes whose source is an account: debits the account at once. A quote runs only once, even if it is executed again. " +
			"If the balance is too low (`INSUFFICIENT_BALANCE`) nothing changes; fund the account and execute the quote again before it expires. " +
			"So it is with a limit that the operator of the service has set, which other payments may have used up since the quote was made. " +
			"A quote that is funded just in time runs when its payment arrives; executing it returns `QUOTE_NOT_EXECUTABLE`. So does a quote of " +
			"which a customer or an account " +
			"was deleted, or is no longer active; what is paid in for such a quote is refunded. A quote of an embedded wallet needs the header " +
			"`Service-Wallet-Signature`; without it, or with one " +
			"that no active session of the wallet made, the response is 401 with the reason `Missing Service-Wallet-Signature` or `Invalid " +
			"Service-Wallet-Signature`.\n\nIf the payer has to authorise the payment, nothing is debited: the quote is " +
			"`PENDING_AUTHORIZATION` and has a `scaChallenge`, and runs when it is answered with POST " +
			"/quotes/{quoteId}/authorize. Executed again, it is asked again.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.Conflict, fault.SCASessionRequired, fault.AccountLocked, fault.NotImplemented,
			fault.QuoteNotExecutable, fault.UserNotReady, fault.QuoteExpired, fault.QuoteAlreadyExecuted,
			fault.ExternalAccountVerificationRequired, fault.InsufficientBalance, fault.AmountOutOfRange,
			fault.TransactionSizeLimitExceeded, fault.DailyVolumeLimitExceeded},
	}, func(ctx context.Context, call httpapi.Call, in *executeParams) (quote.WithStatus, error) {
		var factor sca.Factor
		if in.Body != nil {
			factor = sca.Factor(in.Body.SCAFactor)
		}
		return executor.ExecuteSignedQuote(ctx, call.Principal.Platform, in.QuoteID.Value,
			payments.Signature{Text: in.Signature, Environment: call.Principal.Environment}, factor, call.IdempotentRequest)
	}, renderQuote)
}
