package transaction

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// Type is the direction of a transaction as the customer sees it.
type Type string

// The directions.
const (
	Outgoing Type = "OUTGOING"
	Incoming Type = "INCOMING"
)

// Endpoint is where money comes from or goes to: exactly one of its forms.
type Endpoint struct {
	// ExternalAccount or InternalAccount for an account.
	ExternalAccount ident.ExternalAccount
	InternalAccount ident.InternalAccount
	// UMA is a person at another provider, as in "$ana@bank.example". Where money comes
	// in it is the customer's own address, beside the account it is for.
	UMA string
	// Customer and Currency alone for real-time (just-in-time) funding.
	Customer ident.Customer
	Currency money.Currency
	// Network is the chain a stablecoin is paid in on; empty for fiat.
	Network string
}

// IsJustInTime reports whether the endpoint is just-in-time funding, not an account.
func (e Endpoint) IsJustInTime() bool {
	return e.ExternalAccount.IsZero() && e.InternalAccount.IsZero() && e.UMA == ""
}

// Pricing is what a quote fixed. Amounts are minor units.
type Pricing struct {
	Sent     money.Amount
	Received money.Amount
	// Fees are in minor sending units and part of Sent.
	Fees        int64
	FixedFee    int64
	VariableFee int64
	FeeRate     money.Rate
	// Rate is minor receiving units per minor sending unit, as quoted; Market is
	// the market's, from which it was made.
	Rate   money.Rate
	Market money.Rate
	// RoundingSent and RoundingReceived are whole units that rounding leaves to
	// the service, in the sending and in the receiving currency.
	RoundingSent     int64
	RoundingReceived int64
}

// AtPar is the pricing of money that arrives as it was sent.
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
	Type               Type
	State              State
	Source             Endpoint
	Destination        Endpoint
	// SourceRail is the rail that money comes by: the expected one until money is received, and then
	// the actual one. DestinationRail is the rail that money goes by. Each is empty if an internal
	// account is at that end.
	SourceRail      corridor.Rail
	DestinationRail corridor.Rail
	// SourceAccount and DestinationAccount are the ledger paths that money comes from and goes to:
	// of the rail, such as "rails/RTP" or "chains/LAYER2", or of the internal account.
	SourceAccount      string
	DestinationAccount string
	Pricing            Pricing
	// Funded is what arrived for a just-in-time quote; it differs from
	// Pricing.Sent when the payer sent the wrong amount. Zero before.
	Funded money.Amount
	// Receipt is the receipt that funded it; zero if none has.
	Receipt      ident.Receipt
	Reference    string
	Instructions []account.Instruction
	// Counterparty is what is known of the other side, by the names of the fields that
	// platforms ask for (FULL_NAME …).
	Counterparty map[string]string
	// Payer are the facts about the payer that the platform gave because the receiving
	// side wants them, by the names of the fields.
	Payer       map[string]string
	Description string
	// Approval is set for incoming payments that need the approval of the platform.
	Approval  *Approval
	Refund    *Refund
	ExpiresAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
	// SettledAt is when it completed; a later return leaves it.
	SettledAt time.Time
}

// RefundReason says why money goes back to the payer.
type RefundReason string

// The reasons of a refund.
const (
	RefundFailed       RefundReason = "TRANSACTION_FAILED"
	RefundCancellation RefundReason = "USER_CANCELLATION"
	RefundTimeout      RefundReason = "TIMEOUT"
)

// Refund is money on its way back to the payer.
type Refund struct {
	Reference   string
	Amount      money.Amount
	Reason      RefundReason
	InitiatedAt time.Time
	SettledAt   time.Time
}

// FailureReason says why a transaction failed.
type FailureReason string

// The reasons of failure.
const (
	QuoteExpired           FailureReason = "QUOTE_EXPIRED"
	QuoteExecutionFailed   FailureReason = "QUOTE_EXECUTION_FAILED"
	LightningFailed        FailureReason = "LIGHTNING_PAYMENT_FAILED"
	FundingAmountMismatch  FailureReason = "FUNDING_AMOUNT_MISMATCH"
	CounterpartyPostFailed FailureReason = "COUNTERPARTY_POST_TX_FAILED"
)
