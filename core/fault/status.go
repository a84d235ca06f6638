package fault

import "slices"

// Status is the HTTP status of the code; 500 for a code that nobody declared,
// because then the mistake is ours.
func (c Code) Status() int {
	if status, ok := statuses[c]; ok {
		return status
	}
	return 500
}

// Codes lists every code, in alphabetical order.
func Codes() []Code {
	codes := make([]Code, 0, len(statuses))
	for code := range statuses {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// statuses is the table of all codes. The numbers stand here plainly, so that
// no package of the core imports an HTTP library.
var statuses = map[Code]int{
	InvalidInput:                    400,
	InvalidRequestFormat:            400,
	InvalidAmount:                   400,
	InvalidCurrency:                 400,
	InvalidTimestamp:                400,
	InvalidNonce:                    400,
	InvalidBankAccount:              400,
	InvalidReceiver:                 400,
	InvalidUMAAddress:               400,
	InvalidPayreqResponse:           400,
	InvalidPubkeyFormat:             400,
	ParsePayreqResponseError:        400,
	ParseLNURLPResponseError:        400,
	CertChainInvalid:                400,
	CertChainExpired:                400,
	MissingMandatoryUserInfo:        400,
	MissingRequiredUMAParameters:    400,
	SenderNotAccepted:               400,
	SelfPayment:                     400,
	AmountOutOfRange:                400,
	InsufficientBalance:             400,
	InsufficientFunds:               400,
	QuoteRequestFailed:              400,
	LookupRequestFailed:             400,
	InvitationAlreadyClaimed:        400,
	InvitationCancelled:             400,
	InvitationsNotConfigured:        400,
	WebhookEndpointNotSet:           400,
	WebhookDeliveryError:            400,
	EmailOTPCredentialAlreadyExists: 400,
	PasskeyCredentialAlreadyExists:  400,
	DeviceCodeAlreadyRedeemed:       400,
	DeviceCodeExpired:               400,
	DocumentLowQuality:              400,
	DocumentDataMismatch:            400,
	DocumentExpired:                 400,
	DocumentSuspectedFraud:          400,
	DocumentUnsuitable:              400,
	DocumentIncomplete:              400,

	Unauthorized:     401,
	InvalidSignature: 401,

	Forbidden:              403,
	UserNotReady:           403,
	CounterpartyNotAllowed: 403,
	VelocityLimitExceeded:  403,

	NotFound:                404,
	UserNotFound:            404,
	InternalAccountNotFound: 404,
	ExternalAccountNotFound: 404,
	QuoteNotFound:           404,
	TransactionNotFound:     404,
	ReferenceNotFound:       404,
	LookupRequestNotFound:   404,
	UMANotFound:             404,
	InvitationNotFound:      404,
	TokenNotFound:           404,
	BulkUploadJobNotFound:   404,
	AgentNotFound:           404,
	AgentActionNotFound:     404,
	DeviceCodeNotFound:      404,
	CredentialNotFound:      404,
	SessionNotFound:         404,
	DocumentNotFound:        404,
	VerificationNotFound:    404,
	BeneficialOwnerNotFound: 404,
	ReconciliationNotFound:  404,
	BreakNotFound:           404,

	CustomerDeleted: 410,

	Conflict:                              409,
	QuoteExpired:                          409,
	QuoteAlreadyExecuted:                  409,
	QuoteNotExecutable:                    409,
	TransactionNotPendingPlatformApproval: 409,
	ActionNotPendingApproval:              409,
	UMAAddressExists:                      409,
	EmailOTPEmailAlreadyExists:            409,
	EmailOTPCredentialSetChanged:          409,
	IdempotencyKeyInUse:                   409,
	MonthArchived:                         409,

	UnsupportedUMAVersion: 412,

	IdempotencyKeyReused: 422,

	MethodNotAllowed: 405,

	PayloadTooLarge: 413,

	UnsupportedMediaType: 415,

	RateLimited: 429,

	PayreqRequestFailed:          424,
	LNURLPRequestFailed:          424,
	CounterpartyPubkeyFetchError: 424,
	NoCompatibleUMAVersion:       424,
	EmailOTPCredentialSyncFailed: 424,

	SwitchError:   500,
	InternalError: 500,

	NotImplemented:                    501,
	UnrecognizedMandatoryPayeeDataKey: 501,

	ServiceUnavailable: 503,
}
