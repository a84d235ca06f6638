package transaction

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/tracing"
)

// Type says whether the customer sends or receives.
type Type string

// The types.
const (
	Outgoing Type = "OUTGOING"
	Incoming Type = "INCOMING"
)

// Direction is what a payment does to the money of its customer.
type Direction string

// The directions of money.
const (
	Credit Direction = "CREDIT" // the customer receives
	Debit  Direction = "DEBIT"  // the customer sends
)

// Direction returns what a payment of the type does to the money of its customer.
func (t Type) Direction() Direction {
	if t == Incoming {
		return Credit
	}
	return Debit
}

// Endpoint is the source or the destination of a payment: an account, a UMA address or just-in-time
// funding.
type Endpoint struct {
	// ExternalAccount or InternalAccount is set for an account.
	ExternalAccount ident.ExternalAccount
	InternalAccount ident.InternalAccount
	// UMA is the address of a person at another provider, such as "$ana@bank.example". As the
	// destination of an incoming payment it is the customer's own address, and InternalAccount is
	// the account that is credited.
	UMA string
	// Customer is the customer of the payment; zero for the platform. An endpoint without an account
	// and a UMA address is just-in-time funding.
	Customer ident.Customer
	Currency money.Currency
	// Network is the chain of a stablecoin payment; empty for fiat.
	Network string
}

// IsJustInTime reports whether the endpoint is just-in-time funding, not an account.
func (e Endpoint) IsJustInTime() bool {
	return e.ExternalAccount.IsZero() && e.InternalAccount.IsZero() && e.UMA == ""
}

// Pricing is the amounts, fees and rates that a quote fixes. Amounts are minor units.
type Pricing struct {
	Sent     money.Amount
	Received money.Amount
	// Fees are in minor sending units and part of Sent: the service's fee, FixedFee and VariableFee, and PlatformFees.
	Fees        int64
	FixedFee    int64
	VariableFee int64
	FeeRate     money.Rate
	// PlatformFees are what the platform charges for itself: PlatformFixedFee, and PlatformFeeBps basis points of Sent.
	PlatformFees     int64
	PlatformFixedFee int64
	PlatformFeeBps   int64
	// Rate is the quoted rate, in minor receiving units per minor sending unit. Market is the market
	// rate from which it was calculated.
	Rate   money.Rate
	Market money.Rate
	// RoundingSent and RoundingReceived are the rounding gains of the service, in minor units of the
	// sending and of the receiving currency.
	RoundingSent     int64
	RoundingReceived int64
}

// AtPar returns the pricing of an amount that is sent without conversion or fees.
func AtPar(a money.Amount) Pricing {
	return Pricing{Sent: a, Received: a, Rate: parRate, Market: parRate}
}

var parRate = money.MustRate("1")

// Transaction is one movement of money for a customer.
type Transaction struct {
	ID                 ident.Transaction
	Platform           ident.Platform
	Quote              ident.Quote
	Customer           ident.Customer
	PlatformCustomerID string
	// Agent is the agent that created the transaction; zero for the platform.
	Agent ident.Agent
	// SentBy is the outgoing transaction of another customer of the platform that this incoming one
	// receives, and with which it is settled; zero for others.
	SentBy ident.Transaction
	// AgentUsage is how the payment counts towards the limits of the agent; nil if it does not, because the
	// agent has not started it.
	AgentUsage *AgentUsage
	// LimitUsage is how the payment counts towards the limits of its platform; nil if it does not.
	LimitUsage *LimitUsage
	// StopsCounting is set by the change with which a payment that counts fails, and not stored: it is to be taken out of its counters.
	StopsCounting bool
	// Authorization is whether the payer has to authorise the payment with strong customer authentication.
	Authorization Authorization
	Type          Type
	State         State
	Source        Endpoint
	Destination   Endpoint
	// SourceRail is the rail of the funding: the expected one until money is received, and then the
	// actual one. DestinationRail is the rail of the payout. Each is empty if an internal account is
	// at that end; that of an embedded wallet is its chain.
	SourceRail      corridor.Rail
	DestinationRail corridor.Rail
	// SourceAccount and DestinationAccount are the ledger paths of the source and the destination:
	// of the rail, such as "rails/RTP" or "chains/LAYER2", or of the internal account. Those of a
	// payment between two customers become "transit/internal" when it is settled on both sides at once.
	SourceAccount      string
	DestinationAccount string
	Pricing            Pricing
	// Funded is the amount received, which differs from Pricing.Sent if the payer sent the wrong
	// amount. It is zero until money is received, and if an internal account pays.
	Funded money.Amount
	// Receipt is the receipt that funded the transaction; zero if there is none.
	Receipt      ident.Receipt
	Reference    string
	Instructions []account.Instruction
	// Payload is the text that the owner of the embedded wallet signs that pays; empty for others.
	Payload string
	// Counterparty are the known facts about the counterparty, by field name (FULL_NAME …).
	Counterparty map[string]string
	// Payee is PayeeDigest as the payment was accepted; once it is stored, it is keyed. It is empty for what is not paid out.
	Payee string
	// PayeeChanged: what is stored about who is paid, or how much, is not what was accepted.
	PayeeChanged bool
	// Rejection is what the partner said when it rejected or returned the payment; zero if it did not, or said nothing.
	Rejection Rejection
	// Payer are the facts about the payer that the receiving side requires, by field name.
	Payer map[string]string
	// Originator is who has sent the money that was received for the transaction; nil if nothing is known.
	Originator *Originator
	// SourceHash and DestinationHash are the hashes of the transfers on the chains of the source and the destination; empty as long
	// as there is none, and for what no chain moves.
	SourceHash, DestinationHash string
	// Remittance is what the beneficiary is to read about the payment, and Purpose what it is for, such as GIFT; both may be empty.
	Remittance, Purpose string
	// RailSelection says who has chosen DestinationRail; empty if there was nothing to choose.
	RailSelection RailSelection
	// InReview: an operator reviews the payment before its rail gets it.
	InReview bool
	// TravelRule is kept of payments to wallets; nil for others.
	TravelRule  *TravelRule
	Description string
	// UMA is set for payments between UMA providers that are settled by an invoice.
	UMA *UMA
	// Approval is set for incoming payments that need the approval of the platform.
	Approval  *Approval
	Refund    *Refund
	ExpiresAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
	// SettledAt is when the transaction completed. A later return does not change it.
	SettledAt time.Time
	// Trace is the place in a trace of the request that has executed the payment or, before, made its quote; empty without tracing.
	Trace tracing.Context
	// ExpectedSettlementAt is when the beneficiary of a payout in transit is expected to have the funds; zero until
	// the payout has been handed over.
	ExpectedSettlementAt time.Time
	// ReceiptConfirmedAt is when the platform has given the payer a receipt of the payment, as it says; zero before.
	ReceiptConfirmedAt time.Time
}

// AgentUsage is how a payment that an agent has started counts towards its limits: with the amount sent.
type AgentUsage struct {
	// Day is the day (UTC) on which it was started, such as "2026-03-14".
	Day string
	// GivenBack is set when the payment fails, and never reset: it then counts no more.
	GivenBack bool
}

// LimitUsage is how a payment that was sent counts towards the limits of its platform: with the amount sent.
type LimitUsage struct {
	// Day is the day (UTC) on which it was sent, such as "2026-03-14".
	Day string
	// Scopes are those of the counters to which it was added. There are none when the payment has failed: it then counts no more.
	Scopes []limit.Scope
}

// GivenBack reports whether the payment was counted, and counts no more.
func (u *LimitUsage) GivenBack() bool { return u != nil && len(u.Scopes) == 0 }

// SigningInstructions returns how to pay with an embedded wallet: its owner signs a payload.
func SigningInstructions(payload string) []account.Instruction {
	return []account.Instruction{{
		Notes: "Have the owner of the wallet sign payloadToSign, byte for byte, and execute the quote with the signature in the header " +
			"Service-Wallet-Signature.",
		Info: map[string]any{"accountType": string(account.EmbeddedWallet), "payloadToSign": payload},
	}}
}

// IsSigned reports whether instructions are those of SigningInstructions.
func IsSigned(instructions []account.Instruction) bool {
	return len(instructions) == 1 && instructions[0].Info["accountType"] == string(account.EmbeddedWallet)
}

// RefundReason is the reason for a refund.
type RefundReason string

// The reasons for a refund.
const (
	RefundFailed       RefundReason = "TRANSACTION_FAILED"
	RefundCancellation RefundReason = "USER_CANCELLATION"
	RefundTimeout      RefundReason = "TIMEOUT"
)

// Refund is the refund of a transaction to its payer.
type Refund struct {
	Reference   string
	Amount      money.Amount
	Reason      RefundReason
	InitiatedAt time.Time
	SettledAt   time.Time
	// Again is what has become of it since it failed and a person has sent it again; empty if nobody has.
	Again RefundStatus
}

// Rejection is the reason of a partner for which it rejected or returned a payment: its code, such as AC04 (ISO 20022) or R01
// (Nacha), and its words. Each is empty if it gave none.
type Rejection struct{ Code, Text string }

// WithRejection returns the transaction with the reason of a partner for which it is to be ended.
func (t Transaction) WithRejection(code, text string) Transaction {
	t.Rejection = Rejection{Code: code, Text: text}
	return t
}

// FailureReason is the reason for which a transaction failed.
type FailureReason string

// The reasons for which an outgoing transaction fails.
const (
	QuoteExpired           FailureReason = "QUOTE_EXPIRED"
	QuoteExecutionFailed   FailureReason = "QUOTE_EXECUTION_FAILED"
	LightningFailed        FailureReason = "LIGHTNING_PAYMENT_FAILED"
	FundingAmountMismatch  FailureReason = "FUNDING_AMOUNT_MISMATCH"
	LimitExceeded          FailureReason = "LIMIT_EXCEEDED"
	CounterpartyPostFailed FailureReason = "COUNTERPARTY_POST_TX_FAILED"
	// QuoteRateUnavailable: the partner that converts it has no rate any more.
	QuoteRateUnavailable FailureReason = "QUOTE_RATE_UNAVAILABLE"
	// PayoutReturned: the beneficiary's bank returned it after delivery.
	PayoutReturned FailureReason = "PAYOUT_RETURNED"
	// AccountInvalid: the account that was to receive does not exist, or is closed.
	AccountInvalid FailureReason = "ACCOUNT_INVALID"
	// AccountCannotReceive: the account exists, and does not take this payment.
	AccountCannotReceive FailureReason = "ACCOUNT_CANNOT_RECEIVE"
	// ComplianceRejected: a partner or bank refused it because of the law.
	ComplianceRejected FailureReason = "COMPLIANCE_REJECTED"
	// SCANotCompleted: the payer did not authorise it before its quote expired.
	SCANotCompleted FailureReason = "SCA_NOT_COMPLETED"
	// UserCancellation: the user cancelled it during delivery, as the reason of its refund says too.
	UserCancellation FailureReason = "USER_CANCELLATION"
)
