package wallet

import "causeway/core/fault"

// The reasons of UNAUTHORIZED that name a proof.
const (
	ReasonCode      = "Invalid OTP code"
	ReasonPasskey   = "Invalid passkey signature"
	ReasonIdentity  = "Invalid OIDC token"
	ReasonSignature = "Invalid Service-Wallet-Signature"
)

// InvalidCode returns the fault of a code that is wrong, expired, used or tried too often. It does not say
// which: a code must not be guessed by its faults.
func InvalidCode() *fault.Error {
	return unauthorized(ReasonCode, "The code is not the latest one, or it has expired. Request a new one with POST "+
		"/auth/credentials/{id}/challenge.")
}

// InvalidPasskey returns the fault of an assertion.
func InvalidPasskey(format string, args ...any) *fault.Error {
	return unauthorized(ReasonPasskey, format, args...)
}

// InvalidIdentity returns the fault of an ID token.
func InvalidIdentity(format string, args ...any) *fault.Error {
	return unauthorized(ReasonIdentity, format, args...)
}

// InvalidSignature returns the fault of a signature.
func InvalidSignature(format string, args ...any) *fault.Error {
	return unauthorized(ReasonSignature, format, args...)
}

// MissingSignature returns the fault of a request without a signature.
func MissingSignature(message string) *fault.Error {
	return unauthorized(ReasonNoSignature, "%s", message)
}

// MalformedSignature is the code in the details of a text that is no signature, whose reason is ReasonSignature.
const MalformedSignature = "WALLET_SIGNATURE_MALFORMED"

// signatureCodes are the codes in the details of the reasons, for programs.
var signatureCodes = map[string]string{
	ReasonNoSignature: "WALLET_SIGNATURE_MISSING", ReasonNoRequestID: "REQUEST_ID_MISSING",
	ReasonRequestDiffers: "WALLET_SIGNATURE_BODY_MISMATCH", ReasonSignature: "WALLET_SIGNATURE_INVALID",
	ReasonRevokedCredential: "WALLET_SIGNATURE_INVALID",
}

// notASignature is an InvalidSignature with the code of a text that is none.
func notASignature(format string, args ...any) *fault.Error {
	f := InvalidSignature(format, args...)
	f.Details["code"] = MalformedSignature
	return f
}

func unauthorized(reason, format string, args ...any) *fault.Error {
	f := fault.New(fault.Unauthorized, format, args...)
	f.Reason = reason
	if code, known := signatureCodes[reason]; known {
		f.Details = map[string]any{"code": code}
	}
	return f
}
