// Package event defines the events that platforms receive as webhooks: their names, the
// body that they are sent in, and the rules of delivery: which responses count as accepted,
// and when the next attempt is.
//
// It never sends, signs or stores anything. Times, ids and random numbers are arguments.
package event

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
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
}

// Type is the type of an event, after the type of its resource.
type Type string

// The types.
const (
	OutgoingPayment       Type = "OUTGOING_PAYMENT"
	IncomingPayment       Type = "INCOMING_PAYMENT"
	InternalAccountStatus Type = "INTERNAL_ACCOUNT_STATUS"
	CustomerStatus        Type = "CUSTOMER_STATUS"
	VerificationStatus    Type = "VERIFICATION_STATUS"
	BulkUpload            Type = "BULK_UPLOAD"
	Invitation            Type = "INVITATION_CLAIMED"
	AgentAction           Type = "AGENT_ACTION"
	SafeguardingReport    Type = "SAFEGUARDING_REPORT"
	LedgerAsset           Type = "LEDGER_ASSET"
	LedgerProposal        Type = "LEDGER_PROPOSAL"
	Receivable            Type = "RECEIVABLE"
	Test                  Type = "TEST"
)

// NewTest returns the event that is sent once when a platform changes its webhook endpoint.
func NewTest(id ident.Webhook, platform ident.Platform, at time.Time) Event {
	return Event{ID: id, Platform: platform, Type: Test, Name: TestSent, Subject: id.UUID(), OccurredAt: at}
}

// SentOnce reports whether events of this name are sent once only, whatever the response.
// INCOMING_PAYMENT.PENDING is one: it asks for approval within seconds, so a later attempt
// would be of no use.
func SentOnce(name string) bool { return name == TestSent || name == IncomingPaymentPending }

// Envelope returns the body of an event without its resource. These bytes are signed and sent.
func (e Event) Envelope() []byte {
	return fmt.Appendf(nil, `{"webhookId":"%s","type":"%s","event":"%s","timestamp":"%s"}`,
		e.ID, e.Type, e.Name, e.OccurredAt.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// The names of events, which say what happened to the resource.
const (
	OutgoingPaymentPending         = "OUTGOING_PAYMENT.PENDING"
	OutgoingPaymentProcessing      = "OUTGOING_PAYMENT.PROCESSING"
	OutgoingPaymentCompleted       = "OUTGOING_PAYMENT.COMPLETED"
	OutgoingPaymentFailed          = "OUTGOING_PAYMENT.FAILED"
	OutgoingPaymentExpired         = "OUTGOING_PAYMENT.EXPIRED"
	OutgoingPaymentRefundPending   = "OUTGOING_PAYMENT.REFUND_PENDING"
	OutgoingPaymentRefundCompleted = "OUTGOING_PAYMENT.REFUND_COMPLETED"
	OutgoingPaymentRefundFailed    = "OUTGOING_PAYMENT.REFUND_FAILED"

	IncomingPaymentPending   = "INCOMING_PAYMENT.PENDING"
	IncomingPaymentCompleted = "INCOMING_PAYMENT.COMPLETED"
	IncomingPaymentFailed    = "INCOMING_PAYMENT.FAILED"

	InternalAccountBalanceUpdated = "INTERNAL_ACCOUNT.BALANCE_UPDATED"
	InternalAccountStatusUpdated  = "INTERNAL_ACCOUNT.STATUS_UPDATED"

	CustomerKYCPending  = "CUSTOMER.KYC_PENDING"
	CustomerKYCApproved = "CUSTOMER.KYC_APPROVED"
	CustomerKYCRejected = "CUSTOMER.KYC_REJECTED"
	CustomerKYBPending  = "CUSTOMER.KYB_PENDING"
	CustomerKYBApproved = "CUSTOMER.KYB_APPROVED"
	CustomerKYBRejected = "CUSTOMER.KYB_REJECTED"

	VerificationResolveErrors        = "VERIFICATION.RESOLVE_ERRORS"
	VerificationReadyForVerification = "VERIFICATION.READY_FOR_VERIFICATION"
	VerificationInProgress           = "VERIFICATION.IN_PROGRESS"
	VerificationPendingManualReview  = "VERIFICATION.PENDING_MANUAL_REVIEW"
	VerificationApproved             = "VERIFICATION.APPROVED"
	VerificationRejected             = "VERIFICATION.REJECTED"

	// SafeguardingShortfall: at the end of a day less was held for customers than owed to them, in at least one
	// currency.
	SafeguardingShortfall = "SAFEGUARDING.SHORTFALL"

	// LedgerAssetOverdrawn and LedgerAssetCovered: the balance of an asset is below zero, and is no more.
	LedgerAssetOverdrawn = "LEDGER.ASSET_OVERDRAWN"
	LedgerAssetCovered   = "LEDGER.ASSET_COVERED"

	BulkUploadCompleted = "BULK_UPLOAD.COMPLETED"
	BulkUploadFailed    = "BULK_UPLOAD.FAILED"

	InvitationClaimed = "INVITATION.CLAIMED"

	AgentActionPendingApproval = "AGENT_ACTION.PENDING_APPROVAL"

	LedgerProposalPending  = "LEDGER_PROPOSAL.PENDING"
	LedgerProposalExecuted = "LEDGER_PROPOSAL.EXECUTED"
	LedgerProposalRejected = "LEDGER_PROPOSAL.REJECTED"

	// ReceivableOpened: the payer's bank took back what was collected. ReceivableCollected: money of the account has
	// paid some or all of what is owed. ReceivableWrittenOff: the rest was given up.
	ReceivableOpened     = "RECEIVABLE.OPENED"
	ReceivableCollected  = "RECEIVABLE.COLLECTED"
	ReceivableWrittenOff = "RECEIVABLE.WRITTEN_OFF"

	TestSent = "TEST"
)

// registry has each type of events, with their names.
var registry = []struct {
	Type
	names []string
}{
	{OutgoingPayment, []string{
		OutgoingPaymentPending, OutgoingPaymentProcessing, OutgoingPaymentCompleted, OutgoingPaymentFailed,
		OutgoingPaymentExpired, OutgoingPaymentRefundPending, OutgoingPaymentRefundCompleted, OutgoingPaymentRefundFailed,
	}},
	{IncomingPayment, []string{IncomingPaymentPending, IncomingPaymentCompleted, IncomingPaymentFailed}},
	{InternalAccountStatus, []string{InternalAccountBalanceUpdated, InternalAccountStatusUpdated}},
	{CustomerStatus, []string{
		CustomerKYCPending, CustomerKYCApproved, CustomerKYCRejected,
		CustomerKYBPending, CustomerKYBApproved, CustomerKYBRejected,
	}},
	{VerificationStatus, []string{
		VerificationResolveErrors, VerificationReadyForVerification, VerificationInProgress, VerificationPendingManualReview,
		VerificationApproved, VerificationRejected,
	}},
	{BulkUpload, []string{BulkUploadCompleted, BulkUploadFailed}},
	{Invitation, []string{InvitationClaimed}},
	{AgentAction, []string{AgentActionPendingApproval}},
	{SafeguardingReport, []string{SafeguardingShortfall}},
	{LedgerAsset, []string{LedgerAssetOverdrawn, LedgerAssetCovered}},
	{LedgerProposal, []string{LedgerProposalPending, LedgerProposalExecuted, LedgerProposalRejected}},
	{Receivable, []string{ReceivableOpened, ReceivableCollected, ReceivableWrittenOff}},
	{Test, []string{TestSent}},
}

// Types lists every type, and Names the names of the events of each.
var Types, Names = index()

func index() (types []Type, names map[Type][]string) {
	names = map[Type][]string{}
	for _, kind := range registry {
		types, names[kind.Type] = append(types, kind.Type), kind.names
	}
	return types, names
}

// TypeOf returns the type of the events of a name, or false for an unknown name.
func TypeOf(name string) (Type, bool) {
	for _, kind := range registry {
		if slices.Contains(kind.names, name) {
			return kind.Type, true
		}
	}
	return "", false
}
