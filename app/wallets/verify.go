package wallets

import (
	"context"
	"crypto/rand"

	"causeway/app/internal/signedrequests"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// Challenged is a credential that can be verified now.
type Challenged struct {
	wallet.Credential
	// Challenge is set for a passkey.
	Challenge *wallet.PasskeyChallenge
	// OTPTarget is the key to which a client can encrypt a code; empty for a credential without codes.
	OTPTarget string
}

// Challenge begins the verification of a credential: it sends a new code, or returns a challenge
// for a passkey, for which it needs the client's key. Faults: CREDENTIAL_NOT_FOUND, CUSTOMER_DELETED,
// USER_NOT_READY; INVALID_INPUT for OAUTH, and without a key for a passkey; RATE_LIMITED if too many codes were sent or
// too many wrong ones tried.
func (s *Service) Challenge(ctx context.Context, principal platform.Principal, request *ports.IdempotentRequest, id ident.AuthMethod,
	client *wallet.ClientKey) (_ Challenged, err error) {
	defer func() { err = s.replayed(ctx, request, err) }()
	c, w, err := s.readActive(ctx, principal.Platform, id)
	if err != nil {
		return Challenged{}, err
	}
	proofs, settings, err := s.proofs(ctx, principal)
	if err != nil {
		return Challenged{}, err
	}
	switch {
	case c.Type == wallet.OAuth:
		return Challenged{}, fault.Invalid(fault.Field{Field: "id", Message: "is an OAUTH credential, which has no challenge; verify it with a " +
			"new ID token"})
	case c.Type == wallet.Passkey && client == nil:
		return Challenged{}, fault.Invalid(fault.Field{Field: "clientPublicKey", Message: "is required for a PASSKEY credential"})
	case c.Type == wallet.Passkey:
		return s.challengePasskey(ctx, request, w, c, *client)
	}
	return s.sendCode(ctx, proofs, settings, request, w, c)
}

// readActive returns an active credential of a customer who may open sessions.
func (s *Service) readActive(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Credential, openedWallet, error) {
	_, w, err := s.readCredential(ctx, p, id)
	if err != nil {
		return wallet.Credential{}, w, err
	}
	c, err := w.Credential(id)
	if err == nil {
		err = w.owner.CheckReady()
	}
	return c, w, err
}

func (s *Service) challengePasskey(ctx context.Context, request *ports.IdempotentRequest, w openedWallet, c wallet.Credential,
	client wallet.ClientKey) (Challenged, error) {
	now := s.now()
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	challenge := wallet.PasskeyChallenge{
		ID: ident.NewSignedRequest(s.IDs.New, now), Platform: c.Platform, Credential: c.ID, Challenge: wallet.BoundChallenge(random, client),
		Client:    client,
		CreatedAt: now, ExpiresAt: now.Add(wallet.PasskeyChallengeLifetime),
	}
	result := Challenged{Credential: c, Challenge: &challenge}
	return result, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, result, nil); err != nil {
			return err
		}
		locked, err := s.lock(ctx, tx, w, now)
		if err != nil {
			return err
		}
		if _, err := locked.Credential(c.ID); err != nil {
			return err
		}
		return tx.CreatePasskeyChallenge(ctx, challenge)
	})
}

func (s *Service) sendCode(ctx context.Context, proofs ports.WalletProofs, settings platform.Platform, request *ports.IdempotentRequest,
	w openedWallet, c wallet.Credential) (Challenged, error) {
	code, err := s.newCode(ctx, proofs, settings, c)
	if err != nil {
		return Challenged{}, err
	}
	result := Challenged{Credential: c, OTPTarget: code.target}
	return result, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, result, nil); err != nil {
			return err
		}
		now := s.now()
		locked, err := s.lock(ctx, tx, w, now)
		if err != nil {
			return err
		}
		present, err := locked.Credential(c.ID)
		if err != nil {
			return err
		}
		if locked.Implicit {
			if err := tx.SaveWallet(ctx, locked.Update(present)); err != nil {
				return err
			}
		}
		return s.queueCode(ctx, tx, settings, present, code, now)
	})
}

// Verification proves a credential.
type Verification struct {
	Type wallet.CredentialType
	// Code is for EMAIL_OTP and SMS_OTP, Token for OAUTH. Both need ClientKey, to which the key of the session is sealed.
	Code, Token string
	ClientKey   wallet.ClientKey
	// SealedOTP is a code with the key of the session, which the client has and signs with; in place of Code and ClientKey.
	SealedOTP *wallet.SealedOTP
	// Assertion and RequestID (the header) are for PASSKEY. The client's key is that of the challenge.
	Assertion wallet.Assertion
	RequestID string
}

// Verify opens a session. A sealed code is verified in two legs: the first, whose code has to be right too, returns the request to sign
// with the client's key. Faults: CREDENTIAL_NOT_FOUND, CUSTOMER_DELETED, USER_NOT_READY; INVALID_INPUT for
// another type of credential; UNAUTHORIZED with a reason; RATE_LIMITED if too many wrong codes were tried.
func (s *Service) Verify(ctx context.Context, principal platform.Principal, call wallet.Call, request *ports.IdempotentRequest,
	id ident.AuthMethod, v Verification) (_ OpenedSession, _ *wallet.SignedRequest, err error) {
	defer func() { err = s.replayed(ctx, request, err) }()
	c, w, err := s.readActive(ctx, principal.Platform, id)
	if err != nil {
		return OpenedSession{}, nil, err
	}
	if v.Type != c.Type {
		return OpenedSession{}, nil, fault.Invalid(fault.Field{Field: "type", Message: "must be " + string(c.Type) +
			", the type of the credential"})
	}
	proofs, settings, err := s.proofs(ctx, principal)
	if err != nil {
		return OpenedSession{}, nil, err
	}
	var leg *signedrequests.Operation // of a sealed code
	if v.SealedOTP != nil {
		attempt, err := s.Custody.OpenOTP(ctx, w.id(), *v.SealedOTP)
		if err != nil {
			return OpenedSession{}, nil, err
		}
		v.Code, v.ClientKey = attempt.Code, attempt.Key
		leg = &signedrequests.Operation{Action: w.action(wallet.VerifyCredential, c.Type), Environment: principal.Environment,
			Client: &attempt.Key}
		if !call.Unsigned() {
			if _, err := s.signed.Check(ctx, *leg, call, w.Wallet); err != nil {
				return OpenedSession{}, nil, err
			}
		}
	}
	var proved proof
	switch c.Type {
	case wallet.EmailOTP, wallet.SMSOTP:
		proved, err = s.proveCode(ctx, proofs, c, v)
	case wallet.Passkey:
		proved, err = s.provePasskey(ctx, proofs, settings, c, v)
	case wallet.OAuth:
		proved, err = s.proveIdentity(ctx, proofs, settings, c, v)
	}
	if err != nil {
		return OpenedSession{}, nil, err
	}
	if leg != nil && call.Unsigned() {
		issued, err := s.signed.Issue(ctx, request, *leg, call)
		return OpenedSession{}, issued, err
	}
	opened, err := s.newSession(ctx, w, c, proved.client, leg != nil)
	if err != nil {
		return OpenedSession{}, nil, err
	}
	return opened, nil, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, opened, nil); err != nil {
			return err
		}
		now := s.now()
		locked, err := s.lock(ctx, tx, w, now)
		if err != nil {
			return err
		}
		present, err := locked.Credential(id)
		if err != nil {
			return err
		}
		if err := locked.owner.CheckReady(); err != nil {
			return err
		}
		if leg != nil {
			if _, err := s.signed.Use(ctx, tx, *leg, call, locked.Wallet); err != nil {
				return err
			}
		}
		verified, err := proved.use(ctx, tx, present)
		if err != nil {
			return err
		}
		change, err := locked.OpenSession(opened.Session, verified, now)
		if err != nil {
			return err
		}
		return tx.SaveWallet(ctx, change)
	})
}

// proof is a proof that was checked.
type proof struct {
	// client is the key to which the key of the session is sealed, or that of the session itself.
	client wallet.ClientKey
	// use checks the proof again, with what is locked, and uses it up. It returns the locked credential with
	// what changes of it.
	use func(ctx context.Context, tx Tx, locked wallet.Credential) (wallet.Credential, error)
}

// provePasskey checks the assertion of a passkey.
func (s *Service) provePasskey(ctx context.Context, proofs ports.WalletProofs, settings platform.Platform, c wallet.Credential,
	v Verification) (proof, error) {
	if v.RequestID == "" {
		return proof{}, wallet.MissingRequestID()
	}
	id, err := wallet.ParseRequestID(v.RequestID)
	if err != nil {
		return proof{}, err
	}
	challenge, err := s.Store.PasskeyChallenge(ctx, c.Platform, id)
	if err != nil {
		return proof{}, err
	}
	if err := challenge.Check(c.ID, s.now()); err != nil {
		return proof{}, err
	}
	if _, err := proofs.CheckPasskey(ctx, settings, *c.Passkey, challenge.Challenge, v.Assertion); err != nil {
		return proof{}, err
	}
	return proof{client: challenge.Client, use: func(ctx context.Context, tx Tx, locked wallet.Credential) (wallet.Credential, error) {
		challenge, err := tx.LockPasskeyChallenge(ctx, c.Platform, id)
		if err != nil {
			return locked, err
		}
		now := s.now()
		if err := challenge.Check(c.ID, now); err != nil {
			return locked, err
		}
		key, err := proofs.CheckPasskey(ctx, settings, *locked.Passkey, challenge.Challenge, v.Assertion) // the counter may be another one
		if err != nil {
			return locked, err
		}
		locked.Passkey, challenge.UsedAt = &key, now
		return locked, tx.UsePasskeyChallenge(ctx, challenge)
	}}, nil
}

// proveIdentity checks an ID token.
func (s *Service) proveIdentity(ctx context.Context, proofs ports.WalletProofs, settings platform.Platform, c wallet.Credential,
	v Verification) (proof, error) {
	if err := proofs.CheckIdentity(ctx, settings, *c.Identity, v.Token, v.ClientKey, s.now()); err != nil {
		return proof{}, err
	}
	return proof{client: v.ClientKey, use: func(ctx context.Context, tx Tx, locked wallet.Credential) (wallet.Credential, error) {
		return locked, tokenOnce(proofs, v.Token).use(ctx, tx, c.Platform, s.now())
	}}, nil
}
