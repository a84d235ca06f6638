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
	// Each constant of code.go, read from its source, is in the table of statuses, and the
	// table holds nothing else: a code added without a status fails here.
	declared := declaredCodes(t)
	if len(declared) < 40 {
		t.Fatalf("only %d codes found in code.go: this test does not parse it correctly", len(declared))
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
	// Each code has the status that is published for it.
	published := map[int]string{
		400: `INVALID_INPUT MISSING_MANDATORY_USER_INFO INVALID_UMA_ADDRESS QUOTE_REQUEST_FAILED INVALID_RECEIVER
			AMOUNT_OUT_OF_RANGE INVALID_CURRENCY INVALID_REQUEST_FORMAT INVALID_BANK_ACCOUNT SELF_PAYMENT
			INVALID_AMOUNT WEBHOOK_ENDPOINT_NOT_SET WEBHOOK_DELIVERY_ERROR INSUFFICIENT_BALANCE
			INVITATIONS_NOT_CONFIGURED INVITATION_ALREADY_CLAIMED INVITATION_CANCELLED INVITATION_EXPIRED
			INSUFFICIENT_FUNDS EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS SMS_OTP_CREDENTIAL_ALREADY_EXISTS PASSKEY_CREDENTIAL_ALREADY_EXISTS
			DEVICE_CODE_ALREADY_REDEEMED DEVICE_CODE_EXPIRED END_USER_TERMS_VERSION_NOT_FOUND
			TRANSACTION_SIZE_LIMIT_EXCEEDED EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED`,
		401: `UNAUTHORIZED`,
		403: `FORBIDDEN USER_NOT_READY END_USER_TERMS_NOT_ACCEPTED`,
		404: `NOT_FOUND TRANSACTION_NOT_FOUND USER_NOT_FOUND QUOTE_NOT_FOUND LOOKUP_REQUEST_NOT_FOUND UMA_NOT_FOUND
			TOKEN_NOT_FOUND REFERENCE_NOT_FOUND INTERNAL_ACCOUNT_NOT_FOUND EXTERNAL_ACCOUNT_NOT_FOUND
			RECONCILIATION_NOT_FOUND BREAK_NOT_FOUND DOCUMENT_NOT_FOUND
			BENEFICIAL_OWNER_NOT_FOUND VERIFICATION_NOT_FOUND BULK_UPLOAD_JOB_NOT_FOUND INVITATION_NOT_FOUND
			CREDENTIAL_NOT_FOUND SESSION_NOT_FOUND AGENT_NOT_FOUND AGENT_ACTION_NOT_FOUND DEVICE_CODE_NOT_FOUND`,
		405: `METHOD_NOT_ALLOWED`,
		409: `ACTION_NOT_PENDING_APPROVAL TRANSACTION_NOT_CANCELLABLE TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL UMA_ADDRESS_EXISTS CONFLICT
			QUOTE_EXPIRED
			QUOTE_ALREADY_EXECUTED QUOTE_NOT_EXECUTABLE IDEMPOTENCY_KEY_IN_USE MONTH_ARCHIVED
			EMAIL_OTP_EMAIL_ALREADY_EXISTS EMAIL_OTP_CREDENTIAL_SET_CHANGED PASSKEY_ALREADY_ENROLLED BENEFICIARY_TRUSTED SCA_SESSION_REQUIRED`,
		410: `CUSTOMER_DELETED`,
		413: `PAYLOAD_TOO_LARGE`,
		424: `LNURLP_REQUEST_FAILED PAYREQ_REQUEST_FAILED NO_COMPATIBLE_UMA_VERSION COUNTERPARTY_PUBKEY_FETCH_ERROR`,
		415: `UNSUPPORTED_MEDIA_TYPE`,
		422: `IDEMPOTENCY_KEY_REUSED`,
		423: `ACCOUNT_LOCKED`,
		429: `RATE_LIMITED DAILY_VOLUME_LIMIT_EXCEEDED`,
		500: `INTERNAL_ERROR`,
		501: `NOT_IMPLEMENTED`,
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

	// An undeclared code is a mistake of this program.
	if got := fault.Code("NO_SUCH_CODE").Status(); got != 500 {
		t.Errorf("an undeclared code has status %d, want 500", got)
	}
}

func TestRetryable_OnlyWhenRepeatingHelps(t *testing.T) {
	t.Parallel()
	// The same request may succeed later if a dependency or the service failed, or is busy; no
	// other code is worth a retry.
	want := []fault.Code{fault.IdempotencyKeyInUse, fault.InternalError, fault.QuoteRequestFailed, fault.RateLimited, fault.ServiceUnavailable}
	retryable := slices.DeleteFunc(fault.Codes(), func(c fault.Code) bool { return !c.Retryable() })
	if !slices.Equal(retryable, want) {
		t.Errorf("retryable: %v, want %v", retryable, want)
	}
}

// declaredCodes returns the value of every constant in code.go.
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
			literal, ok := value.(*ast.BasicLit)
			if !ok {
				continue // the table of statuses
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, fault.Code(text))
		}
		return true
	})
	return codes
}
