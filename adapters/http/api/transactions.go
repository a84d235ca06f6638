package api

import (
	"cmp"
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/ports"
)

// Payments holds the use cases of the transaction operations.
type Payments interface {
	GetTransaction(ctx context.Context, p ident.Platform, id ident.Transaction) (transaction.Transaction, error)
	ListTransactions(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error)
	// ExecuteSignedQuote runs a quote whose source is an account. The signature may be empty.
	ExecuteSignedQuote(ctx context.Context, p ident.Platform, id ident.Quote, signature payments.Signature, factor sca.Factor,
		idempotent *ports.IdempotentRequest) (quote.WithStatus, error)
	CancelTransaction(ctx context.Context, p ident.Platform, id ident.Transaction, reason string, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	ConfirmReceipt(ctx context.Context, p ident.Platform, id ident.Transaction, at time.Time, idempotent *ports.IdempotentRequest) (
		transaction.Transaction, error)
	TransferOut(ctx context.Context, out transaction.TransferOut, idempotent *ports.IdempotentRequest) (transaction.Transaction, error)
	// An agent reads the transactions of its customer.
	AgentTransaction(ctx context.Context, caller platform.Principal, id ident.Transaction) (transaction.Transaction, error)
	AgentTransactions(ctx context.Context, caller platform.Principal, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error)
}

type transactionBody struct {
	ID                  httpapi.ID[ident.Transaction] `json:"id" doc:"Id of the transaction."`
	Status              string                        `json:"status" enum:"PENDING,PENDING_AUTHORIZATION,PROCESSING,COMPLETED,FAILED,EXPIRED" doc:"Status of the transaction. PENDING: awaiting funding. PENDING_AUTHORIZATION: the payer has to authorise it, with POST /quotes/{quoteId}/authorize. PROCESSING: being delivered. COMPLETED: delivered. FAILED: not delivered. EXPIRED: not funded in time. A COMPLETED transaction becomes FAILED if the beneficiary's bank returns the payment."`
	PendingReason       string                        `json:"pendingReason,omitempty" enum:"COMPLIANCE_REVIEW,COUNTERPARTY_INFORMATION_REQUIRED" doc:"PENDING and PROCESSING only: why the payment waits for somebody. COMPLIANCE_REVIEW: an operator of the service reviews it before it leaves. COUNTERPARTY_INFORMATION_REQUIRED: approve it with receiverCustomerInfo, which the sending institution requires."`
	Type                string                        `json:"type" enum:"OUTGOING,INCOMING" doc:"Direction: OUTGOING if the customer sends, INCOMING if the customer receives."`
	Direction           string                        `json:"direction" enum:"CREDIT,DEBIT" doc:"CREDIT if the customer receives, as INCOMING payments, and DEBIT if the customer sends."`
	Source              paymentSource                 `json:"source" doc:"Source of the funds."`
	Destination         paymentDestination            `json:"destination" doc:"Destination of the funds."`
	SentAmount          *currencyAmount               `json:"sentAmount,omitempty" doc:"OUTGOING only: total amount sent, including fees."`
	ReceivedAmount      currencyAmount                `json:"receivedAmount" doc:"Amount received."`
	CustomerID          string                        `json:"customerId" doc:"Id of the customer, or of your platform for its own transactions." example:"Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	PlatformCustomerID  string                        `json:"platformCustomerId" doc:"Your id for the customer. Empty for transactions of your platform."`
	SettledAt           *httpapi.Time                 `json:"settledAt,omitempty" doc:"Time the beneficiary received the funds. Absent before."`
	ExpectedSettlement  *httpapi.Time                 `json:"expectedSettlementAt,omitempty" doc:"OUTGOING only: time by which the beneficiary is expected to have the funds, by the cut-off and the business days of the rail. Present once a payout has been handed over and has not settled at once."`
	SettlementTimeline  int64                         `json:"settlementTimelineSeconds,omitempty" doc:"OUTGOING only: seconds from createdAt to expectedSettlementAt." example:"86400"`
	PaymentRail         string                        `json:"paymentRail,omitempty" doc:"OUTGOING only: payment rail of the payout, as of the destination." example:"RTP"`
	RailSelectionMode   string                        `json:"railSelectionMode,omitempty" enum:"AUTO,MANUAL" doc:"OUTGOING to a bank account or mobile wallet only: whether the service has chosen the payment rail, or your request. Omitted for payments of before September 2026."`
	RemittanceInfo      string                        `json:"remittanceInformation,omitempty" doc:"OUTGOING only: what the beneficiary reads about the payment, as you have given it." example:"Invoice 2026-0117"`
	CreatedAt           httpapi.Time                  `json:"createdAt" doc:"Time the transaction was created."`
	UpdatedAt           httpapi.Time                  `json:"updatedAt" doc:"Time of the last change."`
	ReceiptConfirmedAt  *httpapi.Time                 `json:"receiptDeliveryConfirmedAt,omitempty" doc:"Time at which you have given the payer a receipt, as you have confirmed it."`
	AgentID             httpapi.ID[ident.Agent]       `json:"agentId,omitzero" doc:"Agent that made the transaction for the customer. It may have been deleted."`
	Description         string                        `json:"description,omitempty" doc:"Your note."`
	ExchangeRate        *httpapi.Decimal              `json:"exchangeRate,omitempty" doc:"OUTGOING only: exact rate, in smallest units of the receiving currency per smallest unit of the sending currency."`
	Fees                *httpapi.Minor                `json:"fees,omitempty" doc:"OUTGOING only: fees included in sentAmount, in the smallest unit of the sending currency: of the service and of the platform."`
	PlatformFees        httpapi.Minor                 `json:"platformFees,omitempty" doc:"OUTGOING only: your part of fees. Omitted if it is nothing. It is yours once the payment has completed, and returned to the payer with a refund."`
	QuoteID             httpapi.ID[ident.Quote]       `json:"quoteId,omitzero" doc:"Id of the quote of the transaction."`
	PaymentInstructions []paymentInstructions         `json:"paymentInstructions,omitempty" doc:"Ways to fund the transaction just in time."`
	Refund              *refundBody                   `json:"refund,omitempty" doc:"Refund to the payer, if the payment could not be delivered."`
	RateDetails         *rateDetails                  `json:"rateDetails,omitempty" doc:"Breakdown of the rate and fees. Omitted for incoming payments without conversion."`
	Reconciliation      *reconciliationInstructions   `json:"reconciliationInstructions,omitempty" doc:"INCOMING, and OUTGOING with a transactionHash: how to identify the payment in your own records."`
	Counterparty        map[string]string             `json:"counterpartyInformation,omitempty" doc:"Information about the counterparty, keyed by the field names in your configuration." example:"{\"FULL_NAME\": \"Ana Silva\"}"`
	SenderUMA           string                        `json:"senderUmaAddress,omitempty" doc:"UMA address of the sender, for UMA payments." example:"$ana@bank.example"`
	ReceiverUMA         string                        `json:"receiverUmaAddress,omitempty" doc:"UMA address of the receiver, for UMA payments." example:"$bo@bank.example"`
	RequestedInfo       []customerInfoField           `json:"requestedReceiverCustomerInfoFields,omitempty" doc:"Only in the INCOMING_PAYMENT.PENDING webhook: information about the receiver that the sending institution requires and the service does not have."`
	TravelRule          string                        `json:"travelRuleInformation,omitempty" doc:"INCOMING from another UMA provider only: what that provider has stated encrypted about the sender, because of the travel rule; often JSON." example:"{\"originator\":{\"FULL_NAME\":\"Ana Silva\"}}"`
	WalletTravelRule    *travelRuleBody               `json:"travelRule,omitempty" doc:"OUTGOING to a wallet with an ownershipType only: what the travel rule asks to be known, as it was when the payment was accepted."`
	FailureReason       string                        `json:"failureReason,omitempty" enum:"QUOTE_EXPIRED,QUOTE_RATE_UNAVAILABLE,QUOTE_EXECUTION_FAILED,SCA_NOT_COMPLETED,PAYOUT_RETURNED,ACCOUNT_CANNOT_RECEIVE,ACCOUNT_INVALID,COMPLIANCE_REJECTED,COLLECTION_FAILED,LIGHTNING_PAYMENT_FAILED,FUNDING_AMOUNT_MISMATCH,LIMIT_EXCEEDED,COUNTERPARTY_POST_TX_FAILED,LNURLP_FAILED,PAY_REQUEST_FAILED,PAYMENT_APPROVAL_WEBHOOK_ERROR,PAYMENT_APPROVAL_TIMED_OUT,OFFRAMP_FAILED,MISSING_MANDATORY_PAYEE_DATA,USER_CANCELLATION" doc:"FAILED only: reason of the failure. SCA_NOT_COMPLETED: the payer has not authorised the payment before its quote expired; no money has moved. PAYOUT_RETURNED: the bank of the beneficiary returned it. ACCOUNT_INVALID: the account does not exist, or is closed. ACCOUNT_CANNOT_RECEIVE: the account does not take it. COMPLIANCE_REJECTED: a bank or partner refused it because of the law. QUOTE_RATE_UNAVAILABLE: a partner that converts has no rate any more. COLLECTION_FAILED: the external account of a transfer in could not be debited. PAY_REQUEST_FAILED: your platform rejected an incoming payment. LIMIT_EXCEEDED: the money arrived when a limit of the operator was used up, and is refunded. USER_CANCELLATION: it was cancelled before it had left, by you or by the user."`
	RejectionReason     string                        `json:"rejectionReason,omitempty" doc:"FAILED only, of an incoming payment that was not approved: why, in words. It is the reason that your platform gave, or what its approval lacked." example:"The sender is unknown to us."`
	PartnerCode         string                        `json:"partnerCode,omitempty" doc:"FAILED only: code with which a bank or partner rejected or returned the payment, such as AC04 (ISO 20022) or R01 (Nacha)." example:"AC04"`
	PartnerText         string                        `json:"partnerText,omitempty" doc:"FAILED only: what it said about it, in its own words." example:"Closed account number"`
}

type refundBody struct {
	Reference   string         `json:"reference" doc:"Reference of the refund, shown to the payer." example:"4T9K2M7PXQ3A-REFUND"`
	Amount      currencyAmount `json:"amount" doc:"Refunded amount: everything that was received, including fees."`
	InitiatedAt httpapi.Time   `json:"initiatedAt" doc:"Time the refund was initiated."`
	SettledAt   *httpapi.Time  `json:"settledAt,omitempty" doc:"Time the payer received the refund."`
	Status      string         `json:"status" enum:"PENDING,COMPLETED,FAILED" doc:"Status of the refund. FAILED: it could not be paid; the operator of the service resolves it. If it is sent again, it is PENDING once more, and then COMPLETED or FAILED."`
	Reason      string         `json:"reason" enum:"TRANSACTION_FAILED,USER_CANCELLATION,TIMEOUT" doc:"Reason of the refund."`
}

type reconciliationInstructions struct {
	Reference       string `json:"reference" doc:"Reference in the memo of the payment." example:"4T9K2M7PXQ3A"`
	TransactionHash string `json:"transactionHash,omitempty" deprecated:"true" doc:"Hash of the transfer on a blockchain, as in onChainTransaction of the source or destination, which replaces it."`
}

type customerInfoField struct {
	Name      string `json:"name" doc:"Name of the field." example:"FULL_NAME"`
	Mandatory bool   `json:"mandatory" doc:"Whether the payment fails without this field."`
}

func renderInfoFields(fields []transaction.InfoField) []customerInfoField {
	var bodies []customerInfoField
	for _, f := range fields {
		bodies = append(bodies, customerInfoField{f.Name, f.Mandatory})
	}
	return bodies
}

func renderTransaction(t transaction.Transaction) transactionBody {
	return newTransactionBody(t, false)
}

func newTransactionBody(t transaction.Transaction, webhook bool) transactionBody {
	body := transactionBody{
		ID: httpapi.NewID(t.ID), Status: string(t.State.Status), Type: string(t.Type), Direction: string(t.Type.Direction()),
		PendingReason: string(t.PendingReason()),
		Source:        renderTransactionSource(t), Destination: withPaymentRail(renderDestination(t.Destination), t.DestinationRail),
		ReceivedAmount: renderAmount(t.ReceiverAmount()),
		CustomerID:     ownerID(t.Platform, t.Customer), PlatformCustomerID: t.PlatformCustomerID,
		SettledAt: optionalTime(t.SettledAt), ExpectedSettlement: optionalTime(t.ExpectedSettlementAt), CreatedAt: httpapi.NewTime(t.CreatedAt),
		UpdatedAt: httpapi.NewTime(t.UpdatedAt), ReceiptConfirmedAt: optionalTime(t.ReceiptConfirmedAt),
		AgentID: httpapi.NewID(t.Agent), Description: t.Description, QuoteID: httpapi.NewID(t.Quote),
		PaymentInstructions: renderInstructions(t.HowToPay(), webhook),
		Counterparty:        t.Counterparty, SenderUMA: t.Source.UMA, ReceiverUMA: t.Destination.UMA, FailureReason: string(t.State.Reason),
		PartnerCode: t.Rejection.Code, PartnerText: t.Rejection.Text,
		WalletTravelRule: renderTravelRule(t.TravelRule),
	}
	body.Destination.OnChainTransaction = renderOnChain(t.DestinationHash, t.DestinationRail)
	if t.Approval != nil {
		body.RejectionReason = t.Approval.Note
	}
	if t.Refund != nil {
		body.Refund = &refundBody{Reference: t.Refund.Reference, Amount: renderAmount(t.Refund.Amount),
			InitiatedAt: httpapi.NewTime(t.Refund.InitiatedAt), SettledAt: optionalTime(t.Refund.SettledAt),
			Status: string(t.RefundStatus()), Reason: string(t.Refund.Reason)}
	}
	if t.Type == transaction.Incoming {
		body.Reconciliation = &reconciliationInstructions{t.Reference, t.SourceHash}
		if t.UMA != nil {
			details := renderRateDetails(t.Pricing, t.UMA)
			body.RateDetails, body.TravelRule = &details, t.UMA.TravelRule
		}
		return body
	}
	sent, fees, details := renderAmount(t.Pricing.Sent), minor(t.Pricing.Fees), renderRateDetails(t.Pricing, t.UMA)
	rate := httpapi.Decimal{Rate: t.Pricing.ReceiverRate(t.UMA)}
	body.SentAmount, body.ExchangeRate, body.Fees, body.RateDetails = &sent, &rate, &fees, &details
	body.PlatformFees = minor(t.Pricing.PlatformFees)
	body.SettlementTimeline, body.PaymentRail = int64(t.SettlementTimeline().Seconds()), body.Destination.PaymentRail
	body.RailSelectionMode, body.RemittanceInfo = string(t.RailSelection), t.Remittance
	if hash := cmp.Or(t.DestinationHash, t.SourceHash); hash != "" {
		body.Reconciliation = &reconciliationInstructions{t.Reference, hash}
	}
	return body
}

// ownerID returns the id of the customer or, without one, of the platform.
func ownerID(p ident.Platform, c ident.Customer) string {
	if c.IsZero() {
		return p.String()
	}
	return c.String()
}

func optionalTime(t time.Time) *httpapi.Time {
	if t.IsZero() {
		return nil
	}
	value := httpapi.NewTime(t)
	return &value
}

func registerTransactions(a *httpapi.API, service Payments) {
	type getParams struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getTransactionById", Path: "/transactions/{transactionId}", Tag: tagTransactions, Summary: "Get a transaction",
		Permission:  platform.View,
		Description: "Returns a transaction with its current status.", Errors: []fault.Code{fault.TransactionNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (transaction.Transaction, error) {
		return service.GetTransaction(ctx, call.Principal.Platform, in.TransactionID.Value)
	}, renderTransaction)

	httpapi.GetPage(a, httpapi.Operation{
		ID: "listTransactions", Path: "/transactions", Tag: tagTransactions, Summary: "List transactions", Permission: platform.View,
		Description: "Newest first by default. All filters must match; times are inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listTransactionsParams, page ports.Paging) (
		ports.Page[transaction.Transaction], error) {
		filter := in.filter(page)
		if err := in.limit(&filter, call.Principal.Platform); err != nil {
			return ports.Page[transaction.Transaction]{}, err
		}
		return service.ListTransactions(ctx, call.Principal.Platform, filter)
	}, renderTransaction, transactionID)
}

type cancelTransactionRequest struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why it is cancelled, for the operator of the service." example:"The customer has changed their mind."`
}

func registerTransactionChanges(a *httpapi.API, service Payments) {
	type cancelInput struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
		Body          *cancelTransactionRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "cancelTransaction", Path: "/transactions/{transactionId}/cancel", Tag: tagTransactions, Summary: "Cancel a bank transfer",
		Permission: platform.Transact,
		Description: "Cancels a transfer that a bank carries, such as by ACH or wire, to or from an external account. It must not have left: a " +
			"payment waits for the cut-off of its bank, or for a review. The transaction becomes FAILED with USER_CANCELLATION, and what was " +
			"paid is refunded, fees included. Repeat it at will.",
		Errors: []fault.Code{fault.TransactionNotFound, fault.TransactionNotCancellable},
	}, func(ctx context.Context, call httpapi.Call, in *cancelInput) (transaction.Transaction, error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		return service.CancelTransaction(ctx, call.Principal.Platform, in.TransactionID.Value, reason, call.IdempotentRequest)
	}, renderTransaction)

	type confirmInput struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
		Body          *confirmReceiptRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "confirmReceiptDelivery", Path: "/transactions/{transactionId}/confirm", Tag: tagTransactions, Summary: "Confirm a receipt",
		Permission: platform.Transact,
		Description: "Records that you have given the payer a receipt of the payment, where a law requires one. Repeat it at will: without a " +
			"time the first one stays.",
		Errors: []fault.Code{fault.TransactionNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *confirmInput) (transaction.Transaction, error) {
		var at time.Time
		if in.Body != nil {
			at = in.Body.At.Time
		}
		return service.ConfirmReceipt(ctx, call.Principal.Platform, in.TransactionID.Value, at, call.IdempotentRequest)
	}, renderTransaction)
}

type confirmReceiptRequest struct {
	At httpapi.Time `json:"receiptDeliveryConfirmedAt,omitzero" doc:"Time at which the payer has got the receipt; now if you omit it."`
}

func transactionID(t transaction.Transaction) ident.Transaction { return t.ID }

type listTransactionsParams struct {
	httpapi.Paging
	httpapi.Sorting
	OwnerParams
	TransactionFilterParams
}

// TransactionFilterParams narrows the lists of the platform and of agents.
type TransactionFilterParams struct {
	AccountIdentifier         string       `query:"accountIdentifier" doc:"Account id or UMA address of the sender or receiver."`
	SenderAccountIdentifier   string       `query:"senderAccountIdentifier" doc:"Account id or UMA address of the sender."`
	ReceiverAccountIdentifier string       `query:"receiverAccountIdentifier" doc:"Account id or UMA address of the receiver."`
	Status                    []string     `query:"status" enum:"CREATED,PENDING,PENDING_AUTHORIZATION,PROCESSING,COMPLETED,REJECTED,FAILED,REFUNDED,EXPIRED" doc:"Statuses of the transaction: repeat the parameter, or separate them by commas."`
	Type                      string       `query:"type" enum:"INCOMING,OUTGOING" doc:"Direction of the transaction."`
	Reference                 string       `query:"reference" doc:"Payment reference."`
	StartDate                 httpapi.Time `query:"startDate" doc:"Created at or after this time."`
	EndDate                   httpapi.Time `query:"endDate" doc:"Created at or before this time."`
	AmountFilterParams
}

// AmountFilterParams narrows a list to amounts of a currency.
type AmountFilterParams struct {
	Currency  httpapi.Currency `query:"currency" doc:"Currency that is received or, by outgoing payments, sent."`
	MinAmount httpapi.Minor    `query:"minAmount" minimum:"1" doc:"Smallest amount that is received or sent in currency, which it requires, in its smallest unit. Amounts sent include fees." example:"10050"`
	MaxAmount httpapi.Minor    `query:"maxAmount" minimum:"1" doc:"Largest amount that is received or sent in currency, which it requires, in its smallest unit." example:"500000"`
}

// Resolve refuses a range of amounts that says nothing.
func (in AmountFilterParams) Resolve(huma.Context) []error {
	var invalid []fault.Field
	const needsCurrency = "requires currency: it is in the smallest unit of that"
	if in.Currency == "" && in.MinAmount > 0 {
		invalid = append(invalid, fault.Field{Field: "minAmount", Message: needsCurrency})
	}
	if in.Currency == "" && in.MaxAmount > 0 {
		invalid = append(invalid, fault.Field{Field: "maxAmount", Message: needsCurrency})
	}
	if in.MaxAmount > 0 && in.MaxAmount < in.MinAmount {
		invalid = append(invalid, fault.Field{Field: "maxAmount", Message: "must not be less than minAmount"})
	}
	if len(invalid) == 0 {
		return nil
	}
	return httpapi.FieldErrors(fault.Invalid(invalid...))
}

func (in AmountFilterParams) amounts() ports.AmountFilter {
	return ports.AmountFilter{Currency: money.Currency(in.Currency), Min: int64(in.MinAmount), Max: int64(in.MaxAmount)}
}

// OwnerParams narrows a list of the platform to the payments of somebody.
type OwnerParams struct {
	CustomerID         string                  `query:"customerId" doc:"Id of the customer, or of your platform for its own transactions."`
	PlatformCustomerID string                  `query:"platformCustomerId" doc:"Your id for the customer."`
	AgentID            httpapi.ID[ident.Agent] `query:"agentId" doc:"Id of the agent that made the transaction."`
}

// limit adds the owner to a filter.
func (in OwnerParams) limit(filter *ports.TransactionFilter, p ident.Platform) error {
	filter.PlatformOwned = in.CustomerID == p.String()
	if in.CustomerID != "" && !filter.PlatformOwned {
		var invalid error
		if filter.Customer, invalid = ident.ParseCustomer(in.CustomerID); invalid != nil {
			return fault.Invalid(fault.Field{Field: "customerId", Message: "must be an id of the form Customer:<uuid>, or the id of your " +
				"platform" + httpapi.InsteadOfID(in.CustomerID)})
		}
	}
	filter.PlatformCustomerID, filter.Agent = in.PlatformCustomerID, in.AgentID.Value
	return nil
}

func (in TransactionFilterParams) filter(page ports.Paging) ports.TransactionFilter {
	var statuses []transaction.Status
	for _, status := range in.Status {
		statuses = append(statuses, transaction.Status(status))
	}
	return ports.TransactionFilter{
		Paging: page, Account: in.AccountIdentifier, Sender: in.SenderAccountIdentifier, Receiver: in.ReceiverAccountIdentifier,
		Statuses: statuses, Type: transaction.Type(in.Type), Reference: in.Reference,
		Created: inclusiveInterval(in.StartDate, in.EndDate), Amounts: in.amounts(),
	}
}

func registerAgentTransactions(a *httpapi.API, service Payments) {
	type listParams struct {
		httpapi.Paging
		httpapi.Sorting
		TransactionFilterParams
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "agentListTransactions", Path: "/agents/me/transactions", Tag: tagForAgents, Summary: "List transactions as an agent", Agent: true,
		AgentPermissions: []platform.Permission{mayViewTransactions}, Experimental: true,
		Description: "Lists all transactions of the agent's customer, also those that the agent did not make: `agentId` of a transaction is " +
			"the agent. Newest first by default. All filters must match; times are inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[transaction.Transaction], error) {
		return service.AgentTransactions(ctx, call.Principal, in.filter(page))
	}, renderTransaction, transactionID)

	type getParams struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "agentGetTransaction", Path: "/agents/me/transactions/{transactionId}", Tag: tagForAgents, Summary: "Get a transaction as an agent",
		Agent: true, AgentPermissions: []platform.Permission{mayViewTransactions}, Experimental: true,
		Description: "Returns a transaction of the agent's customer with its current status.", Errors: []fault.Code{fault.TransactionNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (transaction.Transaction, error) {
		return service.AgentTransaction(ctx, call.Principal, in.TransactionID.Value)
	}, renderTransaction)
}
