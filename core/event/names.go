package event

// The dotted names: what happened to the resource. A receiver can route on them
// without looking inside.
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

	CustomerKYCApproved = "CUSTOMER.KYC_APPROVED"
	CustomerKYCRejected = "CUSTOMER.KYC_REJECTED"
	CustomerKYCPending  = "CUSTOMER.KYC_PENDING"
	CustomerKYBApproved = "CUSTOMER.KYB_APPROVED"
	CustomerKYBRejected = "CUSTOMER.KYB_REJECTED"
	CustomerKYBPending  = "CUSTOMER.KYB_PENDING"

	VerificationApproved      = "VERIFICATION.APPROVED"
	VerificationRejected      = "VERIFICATION.REJECTED"
	VerificationResolveErrors = "VERIFICATION.RESOLVE_ERRORS"
	VerificationInProgress    = "VERIFICATION.IN_PROGRESS"
	VerificationPendingReview = "VERIFICATION.PENDING_MANUAL_REVIEW"
	VerificationReady         = "VERIFICATION.READY_FOR_VERIFICATION"

	InternalAccountBalanceUpdated = "INTERNAL_ACCOUNT.BALANCE_UPDATED"
	InternalAccountStatusUpdated  = "INTERNAL_ACCOUNT.STATUS_UPDATED"

	BulkUploadCompleted = "BULK_UPLOAD.COMPLETED"
	BulkUploadFailed    = "BULK_UPLOAD.FAILED"

	InvitationWasClaimed = "INVITATION.CLAIMED"

	AgentActionPendingApproval = "AGENT_ACTION.PENDING_APPROVAL"

	TestSent = "TEST"
)

// Names lists the names of each type.
var Names = map[Type][]string{
	OutgoingPayment: {
		OutgoingPaymentPending, OutgoingPaymentProcessing, OutgoingPaymentCompleted, OutgoingPaymentFailed,
		OutgoingPaymentExpired, OutgoingPaymentRefundPending, OutgoingPaymentRefundCompleted, OutgoingPaymentRefundFailed,
	},
	IncomingPayment: {IncomingPaymentPending, IncomingPaymentCompleted, IncomingPaymentFailed},
	CustomerStatus: {
		CustomerKYCApproved, CustomerKYCRejected, CustomerKYCPending,
		CustomerKYBApproved, CustomerKYBRejected, CustomerKYBPending,
	},
	VerificationStatus: {
		VerificationApproved, VerificationRejected, VerificationResolveErrors,
		VerificationInProgress, VerificationPendingReview, VerificationReady,
	},
	InternalAccountStatus: {InternalAccountBalanceUpdated, InternalAccountStatusUpdated},
	BulkUpload:            {BulkUploadCompleted, BulkUploadFailed},
	InvitationClaimed:     {InvitationWasClaimed},
	AgentAction:           {AgentActionPendingApproval},
	Test:                  {TestSent},
}
