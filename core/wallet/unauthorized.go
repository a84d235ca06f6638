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
	return unauthorized(ReasonCode, "The code in otp is not the latest one, or it has expired. Request a new one with POST "+
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

func unauthorized(reason, format string, args ...any) *fault.Error {
	f := fault.New(fault.Unauthorized, format, args...)
	f.Reason = reason
	return f
}
