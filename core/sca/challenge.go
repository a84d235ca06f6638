package sca

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/wallet"
)

// Purpose is what a proof is for. One for another purpose counts for nothing.
type Purpose string

// The purposes.
const (
	Login              Purpose = "LOGIN"
	Enrollment         Purpose = "ENROLLMENT" // of a factor
	Payout             Purpose = "PAYOUT"
	CurrencyConversion Purpose = "CURRENCY_CONVERSION"
	Transfer           Purpose = "TRANSFER"
	Trust              Purpose = "TRUST" // of a beneficiary
	Untrust            Purpose = "UNTRUST"
)

// Purposes lists every purpose.
var Purposes = []Purpose{Login, Enrollment, Payout, CurrencyConversion, Transfer, Trust, Untrust}

// Digest is the SHA-256 of what a proof authorises, in a form that has one meaning.
type Digest [sha256.Size]byte

const (
	// LoginLifetime is how long a challenge of a login or an enrollment can be answered.
	LoginLifetime = 10 * time.Minute
	// MaxAttempts is how many wrong answers end a challenge.
	MaxAttempts = 5
	// CodeLength is the number of digits of a code.
	CodeLength = 6
)

// Challenge asks a customer for a proof, once. A customer has one open challenge for a purpose and subject; a new one ends the earlier.
type Challenge struct {
	ID       ident.SCAChallenge
	Platform ident.Platform
	Customer ident.Customer
	Purpose  Purpose
	// Subject is what the proof authorises. It is zero for a login.
	Subject Digest
	Factor  Factor
	// CodeHash is that of the latest code, for SMS_OTP. It is keyed, and bound to the id, the subject and the phone.
	CodeHash wallet.CodeHash
	// PasskeyChallenge is what a passkey signs, for PASSKEY: random bytes, and a hash of them and the subject.
	PasskeyChallenge []byte
	// Attempts is how many answers were wrong.
	Attempts  int
	CreatedAt time.Time
	ExpiresAt time.Time
	// EndedAt is when the right answer was given or another challenge took its place; zero while it is open.
	EndedAt time.Time
}

// NewChallenge returns a challenge that c describes: its ids, purpose, subject, factor and times. random is used for PASSKEY; the code of
// SMS_OTP follows with Sent.
func NewChallenge(c Challenge, random [32]byte) Challenge {
	if c.Factor == Passkey {
		sum := sha256.Sum256(slices.Concat(random[:], []byte(c.Purpose), c.Subject[:]))
		c.PasskeyChallenge = slices.Concat(random[:], sum[:])
	}
	return c
}

// Sent returns the challenge and the account after another code was sent, which replaces the one before and lives as long as the challenge.
// Faults: RATE_LIMITED, and CONFLICT for a challenge that has no code, or has ended.
func (c Challenge) Sent(hash wallet.CodeHash, a Account, now time.Time) (Challenge, Account, error) {
	if c.Factor != SMSOTP {
		return c, a, &fault.Error{Code: fault.Conflict, Reason: "No code to send", Message: "The challenge is answered with " +
			string(c.Factor) + ", for which no code is sent."}
	}
	if !c.Open(now) {
		return c, a, ErrNoChallenge
	}
	var err error
	if a.Sending, err = a.Sending.Next(now); err == nil {
		c.CodeHash, a.UpdatedAt = hash, now
	}
	return c, a, err
}

// Open reports whether the challenge can be answered.
func (c Challenge) Open(now time.Time) bool {
	return c.EndedAt.IsZero() && c.Attempts < MaxAttempts && now.Before(c.ExpiresAt)
}

// CodeText is what the keyed hash of a code is made of that is sent to a phone.
func (c Challenge) CodeText(phone, code string) string {
	return c.ID.String() + " " + string(c.Subject[:]) + " " + phone + " " + code
}

// Proof is what a customer presents.
type Proof struct {
	Factor Factor
	Code   string
	// CodeHash is the keyed hash of Challenge.CodeText of the code, for SMS_OTP.
	CodeHash wallet.CodeHash
	// Assertion is for PASSKEY, and Origin what the platform says where it was made.
	Assertion wallet.Assertion
	Origin    string
}

// Checks compute whether a proof is genuine. They depend on their arguments alone.
type Checks struct {
	// IsTestCode reports whether a code is right at any time for TOTP. None is in production.
	IsTestCode func(code string) bool
	// TOTPStep returns the step of time of which a code is, if it is one of now.
	TOTPStep func(secret, code string, now time.Time) (step int64, ok bool)
	// Passkey returns the passkey with its new counter after an assertion for a challenge.
	Passkey func(key wallet.PasskeyKey, challenge []byte, a wallet.Assertion) (wallet.PasskeyKey, error)
}

// Attempt is a proof with everything that decides about it.
type Attempt struct {
	Account     Account
	Credentials []Credential
	Purpose     Purpose
	// Challenge is what is answered. A login with TOTP has none.
	Challenge *Challenge
	// Subject is what is authorised, as it is now. A challenge for something else is not answered.
	Subject Digest
	Proof   Proof
}

// Outcome is what follows from an attempt. Whatever it is, what is not nil has to be stored.
type Outcome struct {
	Account    *Account
	Challenge  *Challenge
	Credential *Credential
	// Refused is the answer to the customer; nil if the proof is right. Faults: ACCOUNT_LOCKED; INVALID_INPUT for a wrong proof; CONFLICT
	// if there is nothing to answer, which is INVALID_INPUT for a login.
	Refused error
}

// Decide judges an attempt.
func Decide(a Attempt, check Checks, now time.Time) Outcome {
	if err := a.Account.CheckLock(now); err != nil {
		return Outcome{Refused: err}
	}
	if err := a.checkChallenge(now); err != nil {
		return Outcome{Refused: err}
	}
	credential, err := a.prove(check, now)
	if err != nil {
		failed := a.Account.Fail(a.Proof.Factor, now)
		outcome := Outcome{Account: &failed, Refused: err}
		if a.Challenge != nil {
			tried := *a.Challenge
			tried.Attempts++
			outcome.Challenge = &tried
		}
		return outcome
	}
	right := a.Account.succeed(a.Proof.Factor, a.Purpose, now)
	outcome := Outcome{Account: &right, Credential: credential}
	if a.Challenge != nil {
		answered := *a.Challenge
		answered.EndedAt = now
		outcome.Challenge = &answered
	}
	return outcome
}

// checkChallenge returns why there is nothing that the proof could answer.
func (a Attempt) checkChallenge(now time.Time) error {
	if _, enrolled := Find(a.Credentials, a.Proof.Factor); !enrolled && a.Proof.Factor != SMSOTP {
		return errNotAvailable(a.Proof.Factor)
	}
	switch c := a.Challenge; {
	case c == nil && a.Proof.Factor == TOTP && a.Purpose == Login:
		return nil
	case (c == nil || !c.Open(now)) && a.Purpose == Login:
		return errNoLogin
	case c == nil || !c.Open(now) || c.Purpose != a.Purpose || c.Subject != a.Subject || c.Customer != a.Account.Customer:
		return ErrNoChallenge
	case c.Factor != a.Proof.Factor:
		return fault.Invalid(fault.Field{Field: "factor", Message: "must be " + string(c.Factor) + ", which the challenge asks for"})
	default:
		return nil
	}
}

// prove returns the credential as it is to be stored, if it changes; or INVALID_INPUT for a wrong proof.
func (a Attempt) prove(check Checks, now time.Time) (*Credential, error) {
	credential, _ := Find(a.Credentials, a.Proof.Factor)
	switch a.Proof.Factor {
	case SMSOTP:
		sent := a.Challenge.CodeHash
		if sent == (wallet.CodeHash{}) || subtle.ConstantTimeCompare(sent[:], a.Proof.CodeHash[:]) != 1 {
			return nil, errCode
		}
		return nil, nil
	case TOTP:
		used, ok := credential.useCode(a.Proof.Code, check, now)
		if !ok {
			return nil, errCode
		}
		return &used, nil
	case Passkey:
		key, err := check.Passkey(*credential.Passkey, a.Challenge.PasskeyChallenge, a.Proof.Assertion)
		if err != nil || !key.UserVerified || !a.Proof.isFromOrigin() {
			return nil, errPasskey
		}
		credential.Passkey, credential.LastUsedAt = &key, now
		return &credential, nil
	default:
		return nil, fault.Invalid(fault.Field{Field: "factor", Message: "must be SMS_OTP, TOTP or PASSKEY"})
	}
}

// isFromOrigin reports whether the origin that the platform names is that of the assertion, if that says one. Which origins are accepted
// is for Checks.Passkey.
func (p Proof) isFromOrigin() bool {
	if p.Assertion.ClientDataJSON == "" { // the test value of the sandbox
		return true
	}
	data, err := wallet.ParseClientData(p.Assertion.ClientDataJSON)
	return err == nil && data.Origin == p.Origin
}

var (
	errCode    = fault.Invalid(fault.Field{Field: "code", Message: "is wrong, has expired, or was used already"})
	errPasskey = fault.Invalid(fault.Field{Field: "passkeyAssertion", Message: "must be signed for this challenge with the passkey of the " +
		"customer, who was verified, on a page of origin"})
	errNoLogin = fault.Invalid(fault.Field{Field: "challengeId", Message: "must be the latest one of POST /sca/login/start, which is " +
		"answered once and in time"})
	// ErrNoChallenge is the fault of a proof that nothing has asked for.
	ErrNoChallenge = &fault.Error{Code: fault.Conflict, Reason: "No open challenge", Message: "There is no open challenge for this: it was " +
		"answered, has expired, was replaced by a newer one, or is for something else. Start again."}
)

func errNotAvailable(f Factor) error {
	return &fault.Error{Code: fault.Conflict, Reason: "Factor not available", Message: "The customer does not have the factor " + string(f) +
		", or it is not accepted for this."}
}
