package fault

// Code is what a program reads of a fault, in the spelling callers see.
type Code string

// The request is wrong: 400.
const (
	InvalidInput                    Code = "INVALID_INPUT"
	InvalidRequestFormat            Code = "INVALID_REQUEST_FORMAT"
	InvalidAmount                   Code = "INVALID_AMOUNT"
	InvalidCurrency                 Code = "INVALID_CURRENCY"
	InvalidTimestamp                Code = "INVALID_TIMESTAMP"
	InvalidNonce                    Code = "INVALID_NONCE"
	InvalidBankAccount              Code = "INVALID_BANK_ACCOUNT"
	InvalidReceiver                 Code = "INVALID_RECEIVER"
	InvalidUMAAddress               Code = "INVALID_UMA_ADDRESS"
	InvalidPayreqResponse           Code = "INVALID_PAYREQ_RESPONSE"
	InvalidPubkeyFormat             Code = "INVALID_PUBKEY_FORMAT"
	ParsePayreqResponseError        Code = "PARSE_PAYREQ_RESPONSE_ERROR"
	ParseLNURLPResponseError        Code = "PARSE_LNURLP_RESPONSE_ERROR"
	CertChainInvalid                Code = "CERT_CHAIN_INVALID"
	CertChainExpired                Code = "CERT_CHAIN_EXPIRED"
	MissingMandatoryUserInfo        Code = "MISSING_MANDATORY_USER_INFO"
	MissingRequiredUMAParameters    Code = "MISSING_REQUIRED_UMA_PARAMETERS"
	SenderNotAccepted               Code = "SENDER_NOT_ACCEPTED"
	SelfPayment                     Code = "SELF_PAYMENT"
	AmountOutOfRange                Code = "AMOUNT_OUT_OF_RANGE"
	InsufficientBalance             Code = "INSUFFICIENT_BALANCE" // at execution, from any account
	InsufficientFunds               Code = "INSUFFICIENT_FUNDS"   // at quote creation, from an embedded wallet
	QuoteRequestFailed              Code = "QUOTE_REQUEST_FAILED" // worth a retry
	LookupRequestFailed             Code = "LOOKUP_REQUEST_FAILED"
	InvitationAlreadyClaimed        Code = "INVITATION_ALREADY_CLAIMED"
	InvitationCancelled             Code = "INVITATION_CANCELLED"
	InvitationsNotConfigured        Code = "INVITATIONS_NOT_CONFIGURED"
	WebhookEndpointNotSet           Code = "WEBHOOK_ENDPOINT_NOT_SET"
	WebhookDeliveryError            Code = "WEBHOOK_DELIVERY_ERROR"
	EmailOTPCredentialAlreadyExists Code = "EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS"
	PasskeyCredentialAlreadyExists  Code = "PASSKEY_CREDENTIAL_ALREADY_EXISTS"
	DeviceCodeAlreadyRedeemed       Code = "DEVICE_CODE_ALREADY_REDEEMED"
	DeviceCodeExpired               Code = "DEVICE_CODE_EXPIRED"
	DocumentLowQuality              Code = "LOW_QUALITY"
	DocumentDataMismatch            Code = "DATA_MISMATCH"
	DocumentExpired                 Code = "EXPIRED"
	DocumentSuspectedFraud          Code = "SUSPECTED_FRAUD"
	DocumentUnsuitable              Code = "UNSUITABLE_DOCUMENT"
	DocumentIncomplete              Code = "INCOMPLETE"
)

// The caller is not who they must be, or may not do this: 401 and 403.
const (
	Unauthorized     Code = "UNAUTHORIZED"
	InvalidSignature Code = "INVALID_SIGNATURE"

	Forbidden              Code = "FORBIDDEN"
	UserNotReady           Code = "USER_NOT_READY"
	CounterpartyNotAllowed Code = "COUNTERPARTY_NOT_ALLOWED"
	VelocityLimitExceeded  Code = "VELOCITY_LIMIT_EXCEEDED"
)

// What is asked for does not exist here, or no longer: 404 and 410.
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
	InvitationNotFound      Code = "INVITATION_NOT_FOUND"
	TokenNotFound           Code = "TOKEN_NOT_FOUND"
	BulkUploadJobNotFound   Code = "BULK_UPLOAD_JOB_NOT_FOUND"
	AgentNotFound           Code = "AGENT_NOT_FOUND"
	AgentActionNotFound     Code = "AGENT_ACTION_NOT_FOUND"
	DeviceCodeNotFound      Code = "DEVICE_CODE_NOT_FOUND"
	CredentialNotFound      Code = "CREDENTIAL_NOT_FOUND"
	SessionNotFound         Code = "SESSION_NOT_FOUND"
	DocumentNotFound        Code = "DOCUMENT_NOT_FOUND"
	VerificationNotFound    Code = "VERIFICATION_NOT_FOUND"
	BeneficialOwnerNotFound Code = "BENEFICIAL_OWNER_NOT_FOUND"
	ReconciliationNotFound  Code = "RECONCILIATION_NOT_FOUND"
	BreakNotFound           Code = "BREAK_NOT_FOUND"

	CustomerDeleted Code = "CUSTOMER_DELETED"
)

// The request is right, but not in this state of things: 409, 412, 422.
const (
	Conflict                              Code = "CONFLICT"
	QuoteExpired                          Code = "QUOTE_EXPIRED"
	QuoteAlreadyExecuted                  Code = "QUOTE_ALREADY_EXECUTED"
	QuoteNotExecutable                    Code = "QUOTE_NOT_EXECUTABLE"
	TransactionNotPendingPlatformApproval Code = "TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL"
	ActionNotPendingApproval              Code = "ACTION_NOT_PENDING_APPROVAL"
	UMAAddressExists                      Code = "UMA_ADDRESS_EXISTS"
	EmailOTPEmailAlreadyExists            Code = "EMAIL_OTP_EMAIL_ALREADY_EXISTS"
	EmailOTPCredentialSetChanged          Code = "EMAIL_OTP_CREDENTIAL_SET_CHANGED"
	IdempotencyKeyInUse                   Code = "IDEMPOTENCY_KEY_IN_USE"
	MonthArchived                         Code = "MONTH_ARCHIVED"

	UnsupportedUMAVersion Code = "UNSUPPORTED_UMA_VERSION"

	IdempotencyKeyReused Code = "IDEMPOTENCY_KEY_REUSED"
)

// The request cannot be taken as it came: 405, 413, 415, 429.
const (
	MethodNotAllowed     Code = "METHOD_NOT_ALLOWED"
	PayloadTooLarge      Code = "PAYLOAD_TOO_LARGE"
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"
	RateLimited          Code = "RATE_LIMITED" // set RetryAfter
)

// Somebody we depend on, or we ourselves, failed: 424 and 5xx.
const (
	PayreqRequestFailed          Code = "PAYREQ_REQUEST_FAILED"
	LNURLPRequestFailed          Code = "LNURLP_REQUEST_FAILED"
	CounterpartyPubkeyFetchError Code = "COUNTERPARTY_PUBKEY_FETCH_ERROR"
	NoCompatibleUMAVersion       Code = "NO_COMPATIBLE_UMA_VERSION"
	EmailOTPCredentialSyncFailed Code = "EMAIL_OTP_CREDENTIAL_SYNC_FAILED"

	SwitchError                       Code = "SWITCH_ERROR"
	InternalError                     Code = "INTERNAL_ERROR"
	NotImplemented                    Code = "NOT_IMPLEMENTED"
	UnrecognizedMandatoryPayeeDataKey Code = "UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY"
	ServiceUnavailable                Code = "SERVICE_UNAVAILABLE"
)
