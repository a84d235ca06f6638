// Package strongauth asks customers for the proofs of strong customer authentication, and judges them.
//
// Use cases of several capabilities share it. The rules are in core/sca; what is asked for and judged is stored in the unit of work of
// the use case, which has locked the customer.
package strongauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"causeway/app/internal/mails"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/wallet"
	"causeway/ports"
)

// Config holds what Auth needs.
type Config struct {
	Proofs ports.WalletProofsByEnvironment
	TOTP   TOTP
	Mails  *mails.Queue
	IDs    ports.IDs
}

// TOTP makes secrets of time-based one-time passwords, and checks their codes.
type TOTP interface {
	// NewTOTPSecret returns a secret in base32.
	NewTOTPSecret() string
	// TOTPStep returns the step of time of a code, which may be that of now, or the one before or after it.
	TOTPStep(secret, code string, now time.Time) (step int64, ok bool)
}

// Tx stores what is counted, enrolled and asked.
type Tx interface {
	mails.Tx
	// LockSCAAccount returns the account of a customer, which is locked until the unit of work ends.
	LockSCAAccount(ctx context.Context, p ident.Platform, id ident.Customer) (sca.Account, error)
	SaveSCAAccount(ctx context.Context, a sca.Account) error
	SCACredentials(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error)
	SaveSCACredential(ctx context.Context, c sca.Credential) error
	// LatestSCAChallenge returns the latest challenge of a customer for a purpose and subject, or false. No other one counts.
	LatestSCAChallenge(ctx context.Context, p ident.Platform, id ident.Customer, purpose sca.Purpose,
		subject sca.Digest) (sca.Challenge, bool, error)
	SaveSCAChallenge(ctx context.Context, c sca.Challenge) error
	// SCACodeHash returns a keyed hash. It does not tell the code to who has the database alone.
	SCACodeHash(ctx context.Context, text string) (wallet.CodeHash, error)
}

// Auth asks for proofs and judges them.
type Auth struct{ Config }

// New returns an Auth.
func New(c Config) *Auth { return &Auth{c} }

// Subject is what a proof is about.
type Subject struct {
	Platform platform.Platform
	// Customer is locked by the unit of work.
	Customer customer.Customer
	Purpose  sca.Purpose
	// Digest is that of what is authorised; zero for a login.
	Digest sca.Digest
	// Words say to the customer what a code does, such as "to pay EUR 10.00 to Acme GmbH"; empty for a login.
	Words string
}

// AccountName tells the accounts of a customer apart in an authenticator.
func (s Subject) AccountName() string { return cmp.Or(s.Customer.Email, s.Customer.PlatformCustomerID) }

// Ask asks for a proof with the wanted factor or, if none is named, the first one that the customer has, and sends the code. It takes
// the place of what was asked about the same subject before. Faults: CONFLICT if the customer does not have the factor; RATE_LIMITED;
// NOT_IMPLEMENTED if the service cannot send codes.
func (a *Auth) Ask(ctx context.Context, tx Tx, s Subject, wanted sca.Factor, expiresAt, now time.Time) (asked sca.Asked, err error) {
	account, err := tx.LockSCAAccount(ctx, s.Platform.ID, s.Customer.ID)
	if err != nil {
		return asked, err
	}
	credentials, err := tx.SCACredentials(ctx, s.Platform.ID, s.Customer.ID)
	if err != nil {
		return asked, err
	}
	if asked.Available, err = sca.Available(s.Customer.VerifiedPhone() != "", credentials, s.Purpose); err != nil {
		return asked, err
	}
	factor, err := sca.Choose(wanted, asked.Available)
	if err != nil {
		return asked, err
	}
	if asked.Challenge.Factor = factor; factor == sca.TOTP {
		return asked, nil
	}
	at, err := a.endOpen(ctx, tx, s, now)
	if err != nil {
		return asked, err
	}
	asked.Challenge = a.NewChallenge(s, factor, expiresAt, at)
	if factor == sca.Passkey {
		key, _ := sca.Find(credentials, sca.Passkey)
		rp, err := a.relyingParty(s.Platform)
		if err != nil {
			return asked, err
		}
		asked.Passkey = asked.AskToSign(rp, *key.Passkey)
		return asked, tx.SaveSCAChallenge(ctx, asked.Challenge)
	}
	asked.Challenge, err = a.sendCode(ctx, tx, s, account, asked.Challenge, now)
	return asked, err
}

// endOpen ends what was asked about a subject before, and returns the time of the next challenge. That is later, also if the last one
// was made by a process whose clock is ahead: the latest one counts.
func (a *Auth) endOpen(ctx context.Context, tx Tx, s Subject, now time.Time) (time.Time, error) {
	earlier, found, err := tx.LatestSCAChallenge(ctx, s.Platform.ID, s.Customer.ID, s.Purpose, s.Digest)
	if err != nil || !found {
		return now, err
	}
	if earlier.EndedAt.IsZero() {
		earlier.EndedAt = now
		err = tx.SaveSCAChallenge(ctx, earlier)
	}
	if next := earlier.CreatedAt.Add(time.Millisecond); now.Before(next) {
		now = next
	}
	return now, err
}

// NewChallenge returns a challenge without a code.
func (a *Auth) NewChallenge(s Subject, f sca.Factor, expiresAt, now time.Time) sca.Challenge {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return sca.NewChallenge(sca.Challenge{ID: ident.NewSCAChallenge(a.IDs.New, now), Platform: s.Platform.ID, Customer: s.Customer.ID,
		Purpose: s.Purpose, Subject: s.Digest, Factor: f, CreatedAt: now, ExpiresAt: expiresAt}, random)
}

// SendAgain sends another code for the open challenge about a subject, which expires when it did before. Faults: CONFLICT if there is
// none, or it is answered otherwise; RATE_LIMITED.
func (a *Auth) SendAgain(ctx context.Context, tx Tx, s Subject, now time.Time) error {
	account, err := tx.LockSCAAccount(ctx, s.Platform.ID, s.Customer.ID)
	if err != nil {
		return err
	}
	challenge, found, err := tx.LatestSCAChallenge(ctx, s.Platform.ID, s.Customer.ID, s.Purpose, s.Digest)
	if err == nil && !found {
		err = sca.ErrNoChallenge
	}
	if err != nil {
		return err
	}
	_, err = a.sendCode(ctx, tx, s, account, challenge, now)
	return err
}

// sendCode stores a challenge with a new code, and adds the text message to the queue.
func (a *Auth) sendCode(ctx context.Context, tx Tx, s Subject, account sca.Account, c sca.Challenge, now time.Time) (sca.Challenge, error) {
	if err := a.Mails.CheckSMSAvailable(s.Platform); err != nil {
		return c, err
	}
	proofs, err := a.proofs(s.Platform)
	if err != nil {
		return c, err
	}
	code, err := proofs.NewSCACode(sca.CodeLength)
	if err != nil {
		return c, err
	}
	hash, err := tx.SCACodeHash(ctx, c.CodeText(s.Customer.VerifiedPhone(), code))
	if err != nil {
		return c, err
	}
	if c, account, err = c.Sent(hash, account, now); err != nil {
		return c, err
	}
	if err := tx.SaveSCAAccount(ctx, account); err != nil {
		return c, err
	}
	if err := tx.SaveSCAChallenge(ctx, c); err != nil {
		return c, err
	}
	message := mails.SMSCode(code, s.Words, c.ExpiresAt.Sub(now))
	message = message.About(string(c.Purpose), c.Customer.String(), hex.EncodeToString(c.Subject[:]))
	return c, a.Mails.Add(ctx, tx, s.Platform, s.Customer.VerifiedPhone(), message, now)
}

// Prove judges a proof of the latest challenge about a subject, which has the id if that is not zero, and stores what follows. The use
// case commits its unit of work also if refused is set, with nothing of its own in it, and answers with refused: see core/sca.Outcome
// for the faults.
func (a *Auth) Prove(ctx context.Context, tx Tx, s Subject, id ident.SCAChallenge, p sca.Proof, now time.Time) (refused, err error) {
	proofs, err := a.proofs(s.Platform)
	if err != nil {
		return nil, err
	}
	attempt := sca.Attempt{Purpose: s.Purpose, Subject: s.Digest, Proof: p}
	if attempt.Account, err = tx.LockSCAAccount(ctx, s.Platform.ID, s.Customer.ID); err != nil {
		return nil, err
	}
	if attempt.Credentials, err = tx.SCACredentials(ctx, s.Platform.ID, s.Customer.ID); err != nil {
		return nil, err
	}
	if p.Factor != sca.TOTP || s.Purpose != sca.Login {
		challenge, found, err := tx.LatestSCAChallenge(ctx, s.Platform.ID, s.Customer.ID, s.Purpose, s.Digest)
		if err != nil {
			return nil, err
		}
		if found && (id.IsZero() || id == challenge.ID) {
			attempt.Challenge = &challenge
			if attempt.Proof.CodeHash, err = tx.SCACodeHash(ctx, challenge.CodeText(s.Customer.VerifiedPhone(), p.Code)); err != nil {
				return nil, err
			}
		}
	}
	outcome := sca.Decide(attempt, sca.Checks{IsTestCode: proofs.AcceptsSCATestCode, TOTPStep: a.TOTP.TOTPStep,
		Passkey: func(key wallet.PasskeyKey, challenge []byte, signed wallet.Assertion) (wallet.PasskeyKey, error) {
			return proofs.CheckPasskey(ctx, s.Platform, key, challenge, signed)
		}}, now)
	if outcome.Account != nil {
		err = tx.SaveSCAAccount(ctx, *outcome.Account)
	}
	if err == nil && outcome.Challenge != nil {
		err = tx.SaveSCAChallenge(ctx, *outcome.Challenge)
	}
	if err == nil && outcome.Credential != nil {
		err = tx.SaveSCACredential(ctx, *outcome.Credential)
	}
	return outcome.Refused, err
}

// AskToCreate returns what a customer needs to make a passkey. Fault: INVALID_INPUT for a platform that has to set its passkeys first.
func (a *Auth) AskToCreate(s Subject, c sca.Challenge) (*sca.PasskeyRequest, error) {
	rp, err := a.relyingParty(s.Platform)
	if err != nil {
		return nil, err
	}
	return c.AskToCreate(rp, s.AccountName(), s.Customer.Name()), nil
}

// Created returns the passkey that an authenticator has made for a challenge on a page of an origin, or INVALID_INPUT.
func (a *Auth) Created(ctx context.Context, p platform.Platform, c sca.Challenge, made wallet.Attestation,
	origin string) (*wallet.PasskeyKey, error) {
	proofs, err := a.proofs(p)
	if err != nil {
		return nil, err
	}
	key, err := proofs.RegisterPasskey(ctx, p, c.PasskeyChallenge, made)
	refused, isFault := fault.As(err)
	if err != nil && !isFault {
		return nil, err
	}
	data, _ := wallet.ParseClientData(made.ClientDataJSON)
	switch {
	case err != nil:
		return nil, fault.Invalid(fault.Field{Field: "credential", Message: "was not accepted: " + refused.Message})
	case !key.UserVerified:
		return nil, fault.Invalid(fault.Field{Field: "credential", Message: "must be made by an authenticator that has verified the customer"})
	case data.Origin != origin:
		return nil, fault.Invalid(fault.Field{Field: "origin", Message: "must be that of the page on which the passkey was made"})
	}
	return &key, nil
}

// CheckTOTP returns the step of time of a code, and whether it is right for a secret.
func (a *Auth) CheckTOTP(p platform.Platform, secret, code string, now time.Time) (step int64, right bool, err error) {
	proofs, err := a.proofs(p)
	if err != nil || proofs.AcceptsSCATestCode(code) {
		return 0, err == nil, err
	}
	step, right = a.TOTP.TOTPStep(secret, code, now)
	return step, right, nil
}

func (a *Auth) relyingParty(p platform.Platform) (wallet.RelyingParty, error) {
	proofs, err := a.proofs(p)
	if err != nil {
		return wallet.RelyingParty{}, err
	}
	return proofs.RelyingParty(p)
}

func (a *Auth) proofs(p platform.Platform) (ports.WalletProofs, error) {
	proofs, connected := a.Proofs[p.Environment]
	if !connected {
		return nil, fault.New(fault.NotImplemented, "Customers of %s platforms cannot be authenticated by this service.", p.Environment)
	}
	return proofs, nil
}
