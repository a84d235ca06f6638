package fault_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"causeway/core/fault"
)

func TestStatus_EveryCodeHasOne(t *testing.T) {
	t.Parallel()
	// Each constant of code.go, read from its source, stands once in the table,
	// and the table holds nothing else: a code added without a status fails here.
	declared := declaredCodes(t)
	if len(declared) < 90 {
		t.Fatalf("only %d codes found in code.go: the test reads it wrongly", len(declared))
	}

	slices.Sort(declared)
	if twice := len(declared) - len(slices.Compact(slices.Clone(declared))); twice != 0 {
		t.Errorf("%d codes are declared twice", twice)
	}
	if known := fault.Codes(); !slices.Equal(declared, known) {
		t.Errorf("declared: %v\nin the table: %v", declared, known)
	}
}

func TestStatus_MatchesPublishedTable(t *testing.T) {
	t.Parallel()
	// The statuses callers rely on, one line a status, as they are published.
	published := map[int]string{
		400: `INVALID_INPUT MISSING_MANDATORY_USER_INFO INVITATION_ALREADY_CLAIMED INVITATIONS_NOT_CONFIGURED
			INVALID_UMA_ADDRESS INVITATION_CANCELLED QUOTE_REQUEST_FAILED INVALID_PAYREQ_RESPONSE INVALID_RECEIVER
			PARSE_PAYREQ_RESPONSE_ERROR CERT_CHAIN_INVALID CERT_CHAIN_EXPIRED INVALID_PUBKEY_FORMAT
			MISSING_REQUIRED_UMA_PARAMETERS SENDER_NOT_ACCEPTED AMOUNT_OUT_OF_RANGE INVALID_CURRENCY
			INVALID_TIMESTAMP INVALID_NONCE INVALID_REQUEST_FORMAT INVALID_BANK_ACCOUNT SELF_PAYMENT
			LOOKUP_REQUEST_FAILED PARSE_LNURLP_RESPONSE_ERROR INVALID_AMOUNT WEBHOOK_ENDPOINT_NOT_SET
			WEBHOOK_DELIVERY_ERROR LOW_QUALITY DATA_MISMATCH EXPIRED SUSPECTED_FRAUD UNSUITABLE_DOCUMENT INCOMPLETE
			EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS PASSKEY_CREDENTIAL_ALREADY_EXISTS INSUFFICIENT_BALANCE
			INSUFFICIENT_FUNDS DEVICE_CODE_ALREADY_REDEEMED DEVICE_CODE_EXPIRED`,
		401: `UNAUTHORIZED INVALID_SIGNATURE`,
		403: `FORBIDDEN USER_NOT_READY COUNTERPARTY_NOT_ALLOWED VELOCITY_LIMIT_EXCEEDED`,
		404: `NOT_FOUND TRANSACTION_NOT_FOUND INVITATION_NOT_FOUND USER_NOT_FOUND QUOTE_NOT_FOUND
			LOOKUP_REQUEST_NOT_FOUND UMA_NOT_FOUND TOKEN_NOT_FOUND BULK_UPLOAD_JOB_NOT_FOUND REFERENCE_NOT_FOUND
			INTERNAL_ACCOUNT_NOT_FOUND EXTERNAL_ACCOUNT_NOT_FOUND AGENT_NOT_FOUND AGENT_ACTION_NOT_FOUND
			DEVICE_CODE_NOT_FOUND CREDENTIAL_NOT_FOUND SESSION_NOT_FOUND DOCUMENT_NOT_FOUND VERIFICATION_NOT_FOUND
			BENEFICIAL_OWNER_NOT_FOUND RECONCILIATION_NOT_FOUND BREAK_NOT_FOUND`,
		405: `METHOD_NOT_ALLOWED`,
		409: `TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL UMA_ADDRESS_EXISTS EMAIL_OTP_EMAIL_ALREADY_EXISTS
			EMAIL_OTP_CREDENTIAL_SET_CHANGED CONFLICT QUOTE_EXPIRED QUOTE_ALREADY_EXECUTED QUOTE_NOT_EXECUTABLE
			ACTION_NOT_PENDING_APPROVAL IDEMPOTENCY_KEY_IN_USE MONTH_ARCHIVED`,
		410: `CUSTOMER_DELETED`,
		412: `UNSUPPORTED_UMA_VERSION`,
		413: `PAYLOAD_TOO_LARGE`,
		415: `UNSUPPORTED_MEDIA_TYPE`,
		422: `IDEMPOTENCY_KEY_REUSED`,
		424: `PAYREQ_REQUEST_FAILED COUNTERPARTY_PUBKEY_FETCH_ERROR NO_COMPATIBLE_UMA_VERSION LNURLP_REQUEST_FAILED
			EMAIL_OTP_CREDENTIAL_SYNC_FAILED`,
		429: `RATE_LIMITED`,
		500: `SWITCH_ERROR INTERNAL_ERROR`,
		501: `UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY NOT_IMPLEMENTED`,
		503: `SERVICE_UNAVAILABLE`,
	}
	count := 0
	for status, codes := range published {
		for _, code := range strings.Fields(codes) {
			count++
			if got := fault.Code(code).Status(); got != status {
				t.Errorf("%s has status %d, want %d", code, got, status)
			}
		}
	}
	if known := len(fault.Codes()); count != known {
		t.Errorf("%d codes are published, %d exist", count, known)
	}

	// A code that nobody declared is our own mistake.
	if got := fault.Code("NO_SUCH_CODE").Status(); got != 500 {
		t.Errorf("an undeclared code has status %d, want 500", got)
	}
}

// declaredCodes reads the string of every constant in code.go.
func declaredCodes(t *testing.T) []fault.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []fault.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, value := range spec.Values {
			text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, fault.Code(text))
		}
		return true
	})
	return codes
}
