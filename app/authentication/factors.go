package authentication

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/url"
	"slices"
	"strings"
	"time"

	"causeway/app/internal/strongauth"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/sca"
	"causeway/core/wallet"
	"causeway/ports"
)

// Factors returns with what a customer can prove who it is: the phone, if it is verified, has no credential.
func (s *Service) Factors(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error) {
	of, err := s.read(ctx, p, id)
	if err != nil {
		return nil, err
	}
	enrolled, err := s.Store.SCACredentials(ctx, p, id)
	if of.Customer.VerifiedPhone() != "" {
		enrolled = slices.Insert(enrolled, 0, sca.Credential{Factor: sca.SMSOTP})
	}
	return enrolled, err
}

// Enrollment is what a customer needs to enroll a factor.
type Enrollment struct {
	Factor sca.Factor
	// TOTPSecret and TOTPURI are set for TOTP.
	TOTPSecret, TOTPURI string
	// Passkey is set for PASSKEY.
	Passkey *sca.PasskeyRequest
}

// enrollment is the subject of the enrollment of a factor: each of them has a challenge of its own.
func enrollment(of strongauth.Subject, f sca.Factor) strongauth.Subject {
	of.Purpose, of.Digest = sca.Enrollment, sha256.Sum256([]byte(f))
	return of
}

// Enroll begins the enrollment of a factor. Faults: PASSKEY_ALREADY_ENROLLED, CONFLICT; INVALID_INPUT for a platform that has to set its
// passkeys first.
func (s *Service) Enroll(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	f sca.Factor) (Enrollment, error) {
	return do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (e Enrollment, _, err error) {
		e.Factor = f
		if err := lockEnrollable(ctx, tx, of, f); err != nil {
			return e, nil, err
		}
		challenge := s.NewChallenge(enrollment(of, f), f, now.Add(sca.LoginLifetime), now)
		if f == sca.Passkey {
			if e.Passkey, err = s.AskToCreate(of, challenge); err != nil {
				return e, nil, err
			}
			return e, nil, tx.SaveSCAChallenge(ctx, challenge)
		}
		e.TOTPSecret = s.TOTP.NewTOTPSecret()
		e.TOTPURI = totpURI(of, e.TOTPSecret)
		challenge.CodeHash = sha256.Sum256([]byte(e.TOTPSecret)) // only this secret can be confirmed
		return e, nil, tx.SaveSCAChallenge(ctx, challenge)
	})
}

// lockEnrollable locks the account of a customer that can enroll a factor.
func lockEnrollable(ctx context.Context, tx Tx, of strongauth.Subject, f sca.Factor) error {
	if _, err := tx.LockSCAAccount(ctx, of.Platform.ID, of.Customer.ID); err != nil {
		return err
	}
	enrolled, err := tx.SCACredentials(ctx, of.Platform.ID, of.Customer.ID)
	if err != nil {
		return err
	}
	return sca.CheckEnroll(f, enrolled)
}

// totpURI is what applications read from a QR code (Key Uri Format).
func totpURI(of strongauth.Subject, secret string) string {
	app := of.Platform.WalletSettings().AppName
	uri := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + app + ":" + of.AccountName(),
		RawQuery: "secret=" + secret + "&issuer=" + strings.ReplaceAll(url.QueryEscape(app), "+", "%20")}
	return uri.String()
}

// Confirmation ends an enrollment.
type Confirmation struct {
	Factor sca.Factor
	// Secret and Code are for TOTP.
	Secret, Code string
	// Attestation and Origin are for PASSKEY.
	Attestation wallet.Attestation
	Origin      string
}

// Enrolled is a factor that was enrolled.
type Enrolled struct {
	sca.Credential
	// RecoveryCodes are returned once, for TOTP.
	RecoveryCodes []string
}

var errEnrollment = &fault.Error{Code: fault.Conflict, Reason: "No open enrollment", Message: "There is no open enrollment of this " +
	"factor: none was started, it has expired, was confirmed, or was replaced by a newer one. Start again with POST /sca/factors."}

// Confirm enrolls a factor. Faults: INVALID_INPUT for a wrong proof, PASSKEY_ALREADY_ENROLLED, CONFLICT.
func (s *Service) Confirm(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	c Confirmation) (Enrolled, error) {
	return do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (e Enrolled, _, err error) {
		if err := lockEnrollable(ctx, tx, of, c.Factor); err != nil {
			return e, nil, err
		}
		subject := enrollment(of, c.Factor)
		challenge, found, err := tx.LatestSCAChallenge(ctx, p, id, subject.Purpose, subject.Digest)
		if err == nil && (!found || !challenge.Open(now)) {
			err = errEnrollment
		}
		if err != nil {
			return e, nil, err
		}
		e.Credential = sca.Credential{ID: ident.NewSCACredential(s.IDs.New, now), Platform: p, Customer: id, Factor: c.Factor, CreatedAt: now}
		if c.Factor == sca.Passkey {
			e.Passkey, err = s.Created(ctx, of.Platform, challenge, c.Attestation, c.Origin)
		} else {
			err = s.confirmTOTP(&e, of, challenge, c, now)
		}
		if err != nil {
			return e, nil, err
		}
		challenge.EndedAt = now
		if err := tx.SaveSCAChallenge(ctx, challenge); err != nil {
			return e, nil, err
		}
		return e, nil, tx.SaveSCACredential(ctx, e.Credential)
	})
}

func (s *Service) confirmTOTP(e *Enrolled, of strongauth.Subject, challenge sca.Challenge, c Confirmation, now time.Time) error {
	if challenge.CodeHash != sha256.Sum256([]byte(c.Secret)) {
		return fault.Invalid(fault.Field{Field: "secret", Message: "must be the one that POST /sca/factors has returned last"})
	}
	step, right, err := s.CheckTOTP(of.Platform, c.Secret, c.Code, now)
	if err == nil && !right {
		err = fault.Invalid(fault.Field{Field: "code", Message: "must be the one that the application shows now"})
	}
	if err != nil {
		return err
	}
	var random [person.RecoveryCodes * 10]byte
	_, _ = rand.Read(random[:]) // never fails
	codes := person.NewRecoveryCodes(random)
	e.TOTPSecret, e.TOTPStep, e.Credential.RecoveryCodes = c.Secret, step, sca.HashRecoveryCodes(codes)
	for _, code := range codes {
		e.RecoveryCodes = append(e.RecoveryCodes, person.GroupRecoveryCode(code))
	}
	return nil
}

// DeleteFactor removes a factor, and ends the sessions that it has opened. Fault: CREDENTIAL_NOT_FOUND.
func (s *Service) DeleteFactor(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	credential ident.SCACredential) error {
	_, err := do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, _ strongauth.Subject, now time.Time) (_ struct{}, _, err error) {
		if _, err = tx.LockSCAAccount(ctx, p, id); err != nil {
			return struct{}{}, nil, err
		}
		enrolled, err := tx.SCACredentials(ctx, p, id)
		if err != nil {
			return struct{}{}, nil, err
		}
		i := slices.IndexFunc(enrolled, func(c sca.Credential) bool { return c.ID == credential })
		if i < 0 {
			return struct{}{}, nil, fault.New(fault.CredentialNotFound, "The customer has no factor with the credential %s.", credential)
		}
		return struct{}{}, nil, remove(ctx, tx, enrolled[i], now)
	})
	return err
}

// remove deletes a credential, and ends the sessions that its factor has opened.
func remove(ctx context.Context, tx Tx, c sca.Credential, now time.Time) error {
	if err := tx.DeleteSCACredential(ctx, c.Platform, c.ID); err != nil {
		return err
	}
	return tx.EndSCASessions(ctx, c.Platform, c.Customer, c.Factor, now)
}
