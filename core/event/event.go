// Package event defines the events that platforms receive as webhooks: their names, the
// body that they are sent in, and the rules of delivery: which responses count as accepted,
// and when the next attempt is.
//
// It never sends, signs or stores anything. Times, ids and random numbers are arguments.
package event

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/tracing"
)

// Event is something that happened and is sent to one platform.
type Event struct {
	// ID is unique to the event and the same in every attempt to send it.
	ID       ident.Webhook
	Platform ident.Platform
	Type     Type
	// Name is the dotted name: "OUTGOING_PAYMENT.COMPLETED".
	Name string
	// Subject is the UUID of the resource. Events of one subject are sent in order, one
	// after the other; events of different subjects do not wait for each other.
	Subject    uuid.UUID
	OccurredAt time.Time
	// Resource is the resource after the event; nil for TEST.
	Resource any
	// Trace is the place in a trace of what the event is about; empty without tracing.
	Trace tracing.Context
}

// Rendered is an event with its body, as it is stored and sent.
type Rendered struct {
	ID         ident.Webhook
	Platform   ident.Platform
	Type       Type
	Name       string
	Subject    uuid.UUID
	OccurredAt time.Time
	// Body is what is signed and sent, byte for byte.
	Body  []byte
	Trace tracing.Context
}

// Rendered returns the event with its body.
func (e Event) Rendered(body []byte) Rendered {
	return Rendered{e.ID, e.Platform, e.Type, e.Name, e.Subject, e.OccurredAt, body, e.Trace}
}

// NewTest returns the event that is sent once when a platform changes its webhook endpoint.
func NewTest(id ident.Webhook, platform ident.Platform, at time.Time) Event {
	return Event{ID: id, Platform: platform, Type: Test, Name: TestSent, Subject: id.UUID(), OccurredAt: at}
}

// SentOnce reports whether events of this name are sent once only, whatever the response.
// INCOMING_PAYMENT.PENDING is one: it asks for approval within seconds, so a later attempt
// would be of no use.
func SentOnce(name string) bool { return name == TestSent || name == IncomingPaymentPending }

// OfPayment reports whether the subject of the events of a name is a transaction.
func OfPayment(name string) bool {
	return strings.HasPrefix(name, string(OutgoingPayment)+".") || strings.HasPrefix(name, string(IncomingPayment)+".")
}

// Envelope returns the body of an event without its resource. These bytes are signed and sent.
func (e Event) Envelope() []byte {
	return fmt.Appendf(nil, `{"webhookId":"%s","type":"%s","event":"%s","timestamp":"%s"}`,
		e.ID, e.Type, e.Name, e.OccurredAt.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// Type is the type of an event, after the type of its resource.
type Type string

// The types, each with the names of its events, which say what happened to the resource.
const (
	OutgoingPayment Type = "OUTGOING_PAYMENT"

	OutgoingPaymentPending         = "OUTGOING_PAYMENT.PENDING"
	OutgoingPaymentAuthorization   = "OUTGOING_PAYMENT.PENDING_AUTHORIZATION"
	OutgoingPaymentProcessing      = "OUTGOING_PAYMENT.PROCESSING"
	OutgoingPaymentCompleted       = "OUTGOING_PAYMENT.COMPLETED"
	OutgoingPaymentFailed          = "OUTGOING_PAYMENT.FAILED"
	OutgoingPaymentExpired         = "OUTGOING_PAYMENT.EXPIRED"
	OutgoingPaymentRefundPending   = "OUTGOING_PAYMENT.REFUND_PENDING"
	OutgoingPaymentRefundCompleted = "OUTGOING_PAYMENT.REFUND_COMPLETED"
	OutgoingPaymentRefundFailed    = "OUTGOING_PAYMENT.REFUND_FAILED"

	IncomingPayment Type = "INCOMING_PAYMENT"

	IncomingPaymentPending         = "INCOMING_PAYMENT.PENDING"
	IncomingPaymentCompleted       = "INCOMING_PAYMENT.COMPLETED"
	IncomingPaymentFailed          = "INCOMING_PAYMENT.FAILED"
	IncomingPaymentRefundPending   = "INCOMING_PAYMENT.REFUND_PENDING"
	IncomingPaymentRefundCompleted = "INCOMING_PAYMENT.REFUND_COMPLETED"
	IncomingPaymentRefundFailed    = "INCOMING_PAYMENT.REFUND_FAILED"

	InternalAccountStatus Type = "INTERNAL_ACCOUNT_STATUS"

	InternalAccountBalanceUpdated             = "INTERNAL_ACCOUNT.BALANCE_UPDATED"
	InternalAccountStatusUpdated              = "INTERNAL_ACCOUNT.STATUS_UPDATED"
	InternalAccountFundingInstructionsUpdated = "INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED"

	ExternalAccountStatus Type = "EXTERNAL_ACCOUNT_STATUS"

	ExternalAccountStatusUpdated = "EXTERNAL_ACCOUNT.STATUS_UPDATED"

	CustomerStatus Type = "CUSTOMER_STATUS"

	CustomerKYCPending  = "CUSTOMER.KYC_PENDING"
	CustomerKYCApproved = "CUSTOMER.KYC_APPROVED"
	CustomerKYCRejected = "CUSTOMER.KYC_REJECTED"
	CustomerKYBPending  = "CUSTOMER.KYB_PENDING"
	CustomerKYBApproved = "CUSTOMER.KYB_APPROVED"
	CustomerKYBRejected = "CUSTOMER.KYB_REJECTED"

	VerificationStatus Type = "VERIFICATION_STATUS"

	VerificationResolveErrors        = "VERIFICATION.RESOLVE_ERRORS"
	VerificationReadyForVerification = "VERIFICATION.READY_FOR_VERIFICATION"
	VerificationInProgress           = "VERIFICATION.IN_PROGRESS"
	VerificationPendingManualReview  = "VERIFICATION.PENDING_MANUAL_REVIEW"
	VerificationApproved             = "VERIFICATION.APPROVED"
	VerificationRejected             = "VERIFICATION.REJECTED"

	SafeguardingReport Type = "SAFEGUARDING_REPORT"

	// SafeguardingShortfall: at the end of a day less was held for customers than owed to them, in at least one
	// currency, and by more than the last version of its report said.
	SafeguardingShortfall = "SAFEGUARDING.SHORTFALL"

	LedgerAsset Type = "LEDGER_ASSET"

	// LedgerAssetOverdrawn and LedgerAssetCovered: the balance of an asset is below zero, and is no more.
	LedgerAssetOverdrawn = "LEDGER.ASSET_OVERDRAWN"
	LedgerAssetCovered   = "LEDGER.ASSET_COVERED"

	BulkUpload Type = "BULK_UPLOAD"

	BulkUploadCompleted = "BULK_UPLOAD.COMPLETED"
	BulkUploadFailed    = "BULK_UPLOAD.FAILED"

	Invitation Type = "INVITATION_CLAIMED"

	InvitationClaimed = "INVITATION.CLAIMED"

	AgentAction Type = "AGENT_ACTION"

	AgentActionPendingApproval = "AGENT_ACTION.PENDING_APPROVAL"

	LedgerProposal Type = "LEDGER_PROPOSAL"

	LedgerProposalPending  = "LEDGER_PROPOSAL.PENDING"
	LedgerProposalExecuted = "LEDGER_PROPOSAL.EXECUTED"
	LedgerProposalRejected = "LEDGER_PROPOSAL.REJECTED"

	Receivable Type = "RECEIVABLE"

	// ReceivableOpened: the payer's bank took back what was collected. ReceivableCollected: money of the account has
	// paid some or all of what is owed. ReceivableWrittenOff: the rest was given up.
	ReceivableOpened     = "RECEIVABLE.OPENED"
	ReceivableCollected  = "RECEIVABLE.COLLECTED"
	ReceivableWrittenOff = "RECEIVABLE.WRITTEN_OFF"

	UMAInvoice Type = "UMA_INVOICE"

	// UMAInvoiceReceived: a customer is asked to pay. UMAInvoiceRefused: the provider of the sender does not take the request.
	UMAInvoiceReceived = "UMA_INVOICE.RECEIVED"
	UMAInvoiceRefused  = "UMA_INVOICE.REFUSED"

	Test Type = "TEST"

	TestSent = "TEST"
)
