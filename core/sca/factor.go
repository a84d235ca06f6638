package sca

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/person"
	"causeway/core/wallet"
)

// Factor is with what a customer proves who it is.
type Factor string

// The factors.
const (
	// SMSOTP is a one-time code that is sent to the verified phone. It is not enrolled.
	SMSOTP Factor = "SMS_OTP"
	// TOTP is a code of an application of the customer (RFC 6238), or one of its recovery codes.
	TOTP Factor = "TOTP"
	// Passkey is a key whose authenticator has verified the customer (WebAuthn).
	Passkey Factor = "PASSKEY"
)

// Factors lists every factor.
var Factors = []Factor{SMSOTP, TOTP, Passkey}

// Valid reports whether there is such a factor.
func (f Factor) Valid() bool { return slices.Contains(Factors, f) }

// AuthorizesPayments reports whether a proof can be bound to an amount and a payee. A code of TOTP depends on the time alone.
func (f Factor) AuthorizesPayments() bool { return f == SMSOTP || f == Passkey }

// DefaultRegions are the European Economic Area and the United Kingdom, as ISO 3166-1 alpha-2.
func DefaultRegions() []string {
	regions := append(party.EEA(), "GB")
	slices.Sort(regions)
	return regions
}

// Credential is a factor that a customer has enrolled: TOTP or PASSKEY, one of each at most.
type Credential struct {
	ID       ident.SCACredential
	Platform ident.Platform
	Customer ident.Customer
	Factor   Factor
	// Passkey is set for PASSKEY.
	Passkey *wallet.PasskeyKey
	// TOTPSecret is in base32. No code of TOTPStep, the step of time of the last one that was accepted, or before it is accepted again.
	TOTPSecret string
	TOTPStep   int64
	// RecoveryCodes are the hashes of those that were not used yet. A code has 80 random bits.
	RecoveryCodes []person.SecretHash
	CreatedAt     time.Time
	LastUsedAt    time.Time // zero before the first use
}

// CheckEnroll returns why a customer cannot enroll a factor beside those that it has: PASSKEY_ALREADY_ENROLLED or CONFLICT.
func CheckEnroll(f Factor, existing []Credential) error {
	if _, enrolled := Find(existing, f); !enrolled {
		return nil
	}
	code, name := fault.Conflict, "authenticator application"
	if f == Passkey {
		code, name = fault.PasskeyAlreadyEnrolled, "passkey"
	}
	return &fault.Error{Code: code, Reason: "Factor already enrolled",
		Message: fmt.Sprintf("The customer has an %s already. Delete that factor, or reset it, before another one is enrolled.",
			name)}
}

// Find returns the credential of a factor.
func Find(of []Credential, f Factor) (Credential, bool) {
	i := slices.IndexFunc(of, func(c Credential) bool { return c.Factor == f })
	if i < 0 {
		return Credential{}, false
	}
	return of[i], true
}

// Available returns the factors of a customer that can answer a challenge for a purpose: its phone if it is verified, and what it has
// enrolled. Fault: CONFLICT if there is none.
func Available(hasPhone bool, enrolled []Credential, p Purpose) ([]Factor, error) {
	var available []Factor
	for _, f := range Factors {
		_, isEnrolled := Find(enrolled, f)
		if (isEnrolled || f == SMSOTP && hasPhone) && (f.AuthorizesPayments() || p == Login) {
			available = append(available, f)
		}
	}
	if len(available) == 0 {
		return nil, &fault.Error{Code: fault.Conflict, Reason: "No factor", Message: "The customer has no factor for this. Verify its phone, " +
			"or enroll a passkey."}
	}
	return available, nil
}

// Choose returns the wanted factor, or the first one if none is named. Fault: CONFLICT for one that is not available.
func Choose(wanted Factor, available []Factor) (Factor, error) {
	switch {
	case wanted == "":
		return available[0], nil
	case slices.Contains(available, wanted):
		return wanted, nil
	default:
		return "", errNotAvailable(wanted)
	}
}

// HashRecoveryCodes returns what is stored of recovery codes.
func HashRecoveryCodes(codes []string) []person.SecretHash {
	hashes := make([]person.SecretHash, len(codes))
	for i, code := range codes {
		hashes[i] = sha256.Sum256([]byte(code))
	}
	return hashes
}

// useCode returns the credential of TOTP after a code of the application, or a recovery code, was used, and whether it is right.
func (c Credential) useCode(code string, check Checks, now time.Time) (Credential, bool) {
	if person.IsRecoveryCode(code) {
		i := slices.Index(c.RecoveryCodes, sha256.Sum256([]byte(person.NormalizeRecoveryCode(code))))
		if i < 0 {
			return c, false
		}
		c.RecoveryCodes, c.LastUsedAt = slices.Concat(c.RecoveryCodes[:i], c.RecoveryCodes[i+1:]), now
		return c, true
	}
	if check.IsTestCode(code) {
		c.LastUsedAt = now
		return c, true
	}
	step, ok := check.TOTPStep(c.TOTPSecret, code, now)
	if !ok || step <= c.TOTPStep {
		return c, false
	}
	c.TOTPStep, c.LastUsedAt = step, now
	return c, true
}
