package uma

// Reason is a code of the protocol for what is wrong with a message.
type Reason string

// The reasons for which a message is refused.
const (
	InvalidSignature       Reason = "INVALID_SIGNATURE"
	InvalidNonce           Reason = "INVALID_NONCE"
	InvalidTimestamp       Reason = "INVALID_TIMESTAMP"
	InvalidInput           Reason = "INVALID_INPUT"
	InvalidCurrency        Reason = "INVALID_CURRENCY"
	AmountOutOfRange       Reason = "AMOUNT_OUT_OF_RANGE"
	MissingUMAParameters   Reason = "MISSING_REQUIRED_UMA_PARAMETERS"
	OnlyUMA                Reason = "NON_UMA_LNURL_NOT_SUPPORTED"
	MissingPayerData       Reason = "MISSING_MANDATORY_PAYER_DATA"
	CounterpartyNotAllowed Reason = "COUNTERPARTY_NOT_ALLOWED"
	SenderNotAccepted      Reason = "SENDER_NOT_ACCEPTED"
	UserNotFound           Reason = "USER_NOT_FOUND"
	PubkeyFetchFailed      Reason = "COUNTERPARTY_PUBKEY_FETCH_ERROR"
	InvalidPubkey          Reason = "INVALID_PUBKEY_FORMAT"
	CertChainExpired       Reason = "CERT_CHAIN_EXPIRED"
	UnsupportedVersion     Reason = "UNSUPPORTED_UMA_VERSION"
	PayRequestFailed       Reason = "PAYREQ_REQUEST_FAILED"
	InvalidInvoice         Reason = "INVALID_INVOICE"
	InvoiceExpired         Reason = "INVOICE_EXPIRED"
	LimitExceeded          Reason = "VELOCITY_LIMIT_EXCEEDED"
	InternalError          Reason = "INTERNAL_ERROR"
)

// Refusal is why a message is refused.
type Refusal struct {
	Reason  Reason
	Message string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

func refuse(reason Reason, message string) error { return &Refusal{reason, message} }

// Refuse returns a Refusal.
func Refuse(reason Reason, message string) error { return refuse(reason, message) }

// HTTPStatus returns the status with which a message is refused.
func (r Reason) HTTPStatus() int {
	switch r {
	case InvalidSignature:
		return 401
	case CounterpartyNotAllowed, SenderNotAccepted, LimitExceeded, OnlyUMA:
		return 403
	case UserNotFound:
		return 404
	case UnsupportedVersion:
		return 412
	case PubkeyFetchFailed, PayRequestFailed:
		return 424
	case InternalError:
		return 500
	default:
		return 400
	}
}
