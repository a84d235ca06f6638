package fault

import "slices"

// Code is the code of a fault, as callers see it.
type Code string

// 400: the request is wrong.
const (
	InvalidInput             Code = "INVALID_INPUT"
	InvalidRequestFormat     Code = "INVALID_REQUEST_FORMAT"
	InvalidAmount            Code = "INVALID_AMOUNT"
	InvalidCurrency          Code = "INVALID_CURRENCY"
	InvalidBankAccount       Code = "INVALID_BANK_ACCOUNT"
	InvalidReceiver          Code = "INVALID_RECEIVER"
	InvalidUMAAddress        Code = "INVALID_UMA_ADDRESS"
	MissingMandatoryUserInfo Code = "MISSING_MANDATORY_USER_INFO"
	SelfPayment              Code = "SELF_PAYMENT"
	AmountOutOfRange         Code = "AMOUNT_OUT_OF_RANGE"
	// More than the operator allows with one payment.
	TransactionSizeLimitExceeded Code = "TRANSACTION_SIZE_LIMIT_EXCEEDED"
	InsufficientBalance          Code = "INSUFFICIENT_BALANCE" // at execution, from any account
	QuoteRequestFailed           Code = "QUOTE_REQUEST_FAILED" // worth a retry
	WebhookEndpointNotSet        Code = "WEBHOOK_ENDPOINT_NOT_SET"
	WebhookDeliveryError         Code = "WEBHOOK_DELIVERY_ERROR"
	// A wallet whose owner has not proven that it is theirs cannot be paid so much.
	ExternalAccountVerificationRequired Code = "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED"
	// A consent to terms that do not exist.
	EndUserTermsVersionNotFound Code = "END_USER_TERMS_VERSION_NOT_FOUND"

	InvitationsNotConfigured Code = "INVITATIONS_NOT_CONFIGURED"
	InvitationAlreadyClaimed Code = "INVITATION_ALREADY_CLAIMED"
	InvitationCancelled      Code = "INVITATION_CANCELLED"
	InvitationExpired        Code = "INVITATION_EXPIRED"
	InsufficientFunds        Code = "INSUFFICIENT_FUNDS" // at the creation of a quote from an embedded wallet

	EmailOTPCredentialAlreadyExists Code = "EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS"
	SMSOTPCredentialAlreadyExists   Code = "SMS_OTP_CREDENTIAL_ALREADY_EXISTS"
	PasskeyCredentialAlreadyExists  Code = "PASSKEY_CREDENTIAL_ALREADY_EXISTS"

	DeviceCodeAlreadyRedeemed Code = "DEVICE_CODE_ALREADY_REDEEMED"
	DeviceCodeExpired         Code = "DEVICE_CODE_EXPIRED" // or replaced by a newer one
)

// 401 and 403: the caller is not authenticated, or not permitted.
const (
	Unauthorized Code = "UNAUTHORIZED"
	Forbidden    Code = "FORBIDDEN"
	UserNotReady Code = "USER_NOT_READY"
	// A customer of a platform that is not regulated has to accept the terms of the operator.
	EndUserTermsNotAccepted Code = "END_USER_TERMS_NOT_ACCEPTED"
)

// 404 and 410: the resource does not exist, or no longer.
const (
	NotFound                Code = "NOT_FOUND"      // an unknown path
	UserNotFound            Code = "USER_NOT_FOUND" // a customer
	InternalAccountNotFound Code = "INTERNAL_ACCOUNT_NOT_FOUND"
	ExternalAccountNotFound Code = "EXTERNAL_ACCOUNT_NOT_FOUND"
	QuoteNotFound           Code = "QUOTE_NOT_FOUND"
	TransactionNotFound     Code = "TRANSACTION_NOT_FOUND"
	ReferenceNotFound       Code = "REFERENCE_NOT_FOUND"
	LookupRequestNotFound   Code = "LOOKUP_REQUEST_NOT_FOUND"
	UMANotFound             Code = "UMA_NOT_FOUND"
	// Another UMA provider failed.
	LnurlpRequestFailed          Code = "LNURLP_REQUEST_FAILED"
	PayreqRequestFailed          Code = "PAYREQ_REQUEST_FAILED"
	NoCompatibleUMAVersion       Code = "NO_COMPATIBLE_UMA_VERSION"
	CounterpartyPubkeyFetchError Code = "COUNTERPARTY_PUBKEY_FETCH_ERROR"
	TokenNotFound                Code = "TOKEN_NOT_FOUND"
	ReconciliationNotFound       Code = "RECONCILIATION_NOT_FOUND"
	BreakNotFound                Code = "BREAK_NOT_FOUND"
	DocumentNotFound             Code = "DOCUMENT_NOT_FOUND"
	BeneficialOwnerNotFound      Code = "BENEFICIAL_OWNER_NOT_FOUND"
	VerificationNotFound         Code = "VERIFICATION_NOT_FOUND"
	InvitationNotFound           Code = "INVITATION_NOT_FOUND"
	BulkUploadJobNotFound        Code = "BULK_UPLOAD_JOB_NOT_FOUND" // an import of customers
	CredentialNotFound           Code = "CREDENTIAL_NOT_FOUND"      // of an embedded wallet
	SessionNotFound              Code = "SESSION_NOT_FOUND"         // of an embedded wallet, or no longer active
	AgentNotFound                Code = "AGENT_NOT_FOUND"
	AgentActionNotFound          Code = "AGENT_ACTION_NOT_FOUND"
	DeviceCodeNotFound           Code = "DEVICE_CODE_NOT_FOUND" // of an agent
	CustomerDeleted              Code = "CUSTOMER_DELETED"
)

// 409 and 422: the request conflicts with the present state.
const (
	Conflict                              Code = "CONFLICT"
	QuoteExpired                          Code = "QUOTE_EXPIRED"
	QuoteAlreadyExecuted                  Code = "QUOTE_ALREADY_EXECUTED"
	QuoteNotExecutable                    Code = "QUOTE_NOT_EXECUTABLE"
	TransactionNotPendingPlatformApproval Code = "TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL"
	TransactionNotCancellable             Code = "TRANSACTION_NOT_CANCELLABLE"
	ActionNotPendingApproval              Code = "ACTION_NOT_PENDING_APPROVAL" // of an agent
	UMAAddressExists                      Code = "UMA_ADDRESS_EXISTS"
	EmailOTPEmailAlreadyExists            Code = "EMAIL_OTP_EMAIL_ALREADY_EXISTS"
	EmailOTPCredentialSetChanged          Code = "EMAIL_OTP_CREDENTIAL_SET_CHANGED"
	IdempotencyKeyInUse                   Code = "IDEMPOTENCY_KEY_IN_USE"
	PasskeyAlreadyEnrolled                Code = "PASSKEY_ALREADY_ENROLLED"
	BeneficiaryTrusted                    Code = "BENEFICIARY_TRUSTED"
	SCASessionRequired                    Code = "SCA_SESSION_REQUIRED" // a login with strong customer authentication
	MonthArchived                         Code = "MONTH_ARCHIVED"
	IdempotencyKeyReused                  Code = "IDEMPOTENCY_KEY_REUSED"
)

// 405, 413, 415, 423 and 429: the request cannot be processed.
const (
	MethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	PayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	AccountLocked        Code = "ACCOUNT_LOCKED" // a customer, after failed attempts of strong customer authentication
	RateLimited          Code = "RATE_LIMITED"   // set RetryAfter
	// More than the operator allows on one day.
	DailyVolumeLimitExceeded Code = "DAILY_VOLUME_LIMIT_EXCEEDED"
)

// 5xx: the service, or a service it depends on, failed.
const (
	InternalError      Code = "INTERNAL_ERROR"
	NotImplemented     Code = "NOT_IMPLEMENTED"
	ServiceUnavailable Code = "SERVICE_UNAVAILABLE"
)

// Status returns the HTTP status of the code, or 500 for an undeclared code, which is a
// mistake of this program.
func (c Code) Status() int {
	if status, ok := statuses[c]; ok {
		return status
	}
	return 500
}

// Temporary reports whether the same work may succeed later, without a change of the request. A
// payment is never refused, refunded or dropped because of a temporary fault.
func (c Code) Temporary() bool {
	switch c {
	case RateLimited, QuoteRequestFailed, WebhookDeliveryError, IdempotencyKeyInUse:
		return true
	case MonthArchived: // until an operator restores the month
		return true
	default:
		return c.Status() >= 500
	}
}

// Retryable reports whether a client should send the same request again after some seconds.
// Unlike Temporary, it is false for what only an operator can change.
func (c Code) Retryable() bool {
	switch c {
	case QuoteRequestFailed, IdempotencyKeyInUse, RateLimited, ServiceUnavailable:
		return true
	default:
		return c.Status() == 500
	}
}

// Codes returns every code, in alphabetical order.
func Codes() []Code {
	codes := make([]Code, 0, len(statuses))
	for code := range statuses {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// statuses holds the HTTP status of every code, as plain numbers: core imports no HTTP
// library.
var statuses = map[Code]int{
	InvalidInput:                          400,
	InvalidRequestFormat:                  400,
	InvalidAmount:                         400,
	InvalidCurrency:                       400,
	InvalidBankAccount:                    400,
	InvalidReceiver:                       400,
	InvalidUMAAddress:                     400,
	MissingMandatoryUserInfo:              400,
	SelfPayment:                           400,
	AmountOutOfRange:                      400,
	TransactionSizeLimitExceeded:          400,
	InsufficientBalance:                   400,
	QuoteRequestFailed:                    400,
	WebhookEndpointNotSet:                 400,
	WebhookDeliveryError:                  400,
	InvitationsNotConfigured:              400,
	InvitationAlreadyClaimed:              400,
	InvitationCancelled:                   400,
	InvitationExpired:                     400,
	EndUserTermsVersionNotFound:           400,
	ExternalAccountVerificationRequired:   400,
	InsufficientFunds:                     400,
	EmailOTPCredentialAlreadyExists:       400,
	SMSOTPCredentialAlreadyExists:         400,
	PasskeyCredentialAlreadyExists:        400,
	DeviceCodeAlreadyRedeemed:             400,
	DeviceCodeExpired:                     400,
	Unauthorized:                          401,
	Forbidden:                             403,
	UserNotReady:                          403,
	EndUserTermsNotAccepted:               403,
	NotFound:                              404,
	UserNotFound:                          404,
	InternalAccountNotFound:               404,
	ExternalAccountNotFound:               404,
	QuoteNotFound:                         404,
	TransactionNotFound:                   404,
	ReferenceNotFound:                     404,
	LookupRequestNotFound:                 404,
	UMANotFound:                           404,
	LnurlpRequestFailed:                   424,
	PayreqRequestFailed:                   424,
	NoCompatibleUMAVersion:                424,
	CounterpartyPubkeyFetchError:          424,
	TokenNotFound:                         404,
	ReconciliationNotFound:                404,
	BreakNotFound:                         404,
	DocumentNotFound:                      404,
	BeneficialOwnerNotFound:               404,
	VerificationNotFound:                  404,
	InvitationNotFound:                    404,
	BulkUploadJobNotFound:                 404,
	CredentialNotFound:                    404,
	SessionNotFound:                       404,
	AgentNotFound:                         404,
	AgentActionNotFound:                   404,
	DeviceCodeNotFound:                    404,
	CustomerDeleted:                       410,
	Conflict:                              409,
	QuoteExpired:                          409,
	QuoteAlreadyExecuted:                  409,
	QuoteNotExecutable:                    409,
	TransactionNotPendingPlatformApproval: 409,
	TransactionNotCancellable:             409,
	ActionNotPendingApproval:              409,
	UMAAddressExists:                      409,
	EmailOTPEmailAlreadyExists:            409,
	EmailOTPCredentialSetChanged:          409,
	IdempotencyKeyInUse:                   409,
	PasskeyAlreadyEnrolled:                409,
	BeneficiaryTrusted:                    409,
	SCASessionRequired:                    409,
	MonthArchived:                         409,
	IdempotencyKeyReused:                  422,
	MethodNotAllowed:                      405,
	PayloadTooLarge:                       413,
	UnsupportedMediaType:                  415,
	AccountLocked:                         423,
	RateLimited:                           429,
	DailyVolumeLimitExceeded:              429,
	InternalError:                         500,
	NotImplemented:                        501,
	ServiceUnavailable:                    503,
}
