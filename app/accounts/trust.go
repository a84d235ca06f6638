package accounts

import (
	"context"
	"time"

	"causeway/app/internal/strongauth"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/sca"
	"causeway/ports"
)

// Trust asks or judges a customer who says that it trusts an account of its own, or no longer does.
type Trust struct {
	Platform ident.Platform
	Account  ident.ExternalAccount
	// Wanted is whether the customer is to trust the account.
	Wanted bool
	// Challenge is the one that is answered; zero for the latest.
	Challenge ident.SCAChallenge
}

// StartTrust asks the customer for a proof, and returns nil if the account is already as wanted. Faults: EXTERNAL_ACCOUNT_NOT_FOUND;
// CONFLICT if the customer needs no strong customer authentication, or has no factor; SCA_SESSION_REQUIRED; ACCOUNT_LOCKED;
// RATE_LIMITED.
func (s *Service) StartTrust(ctx context.Context, t Trust, request *ports.IdempotentRequest) (*sca.Asked, error) {
	var asked *sca.Asked
	err := s.withTrust(ctx, t, func(ctx context.Context, tx Tx, a account.External, subject strongauth.Subject, now time.Time) error {
		asked = nil
		if a.TrustedAt.IsZero() == t.Wanted {
			found, err := s.Auth.Ask(ctx, tx, subject, "", now.Add(sca.LoginLifetime), now)
			if err != nil {
				return err
			}
			asked = &found
		}
		return tx.SaveResponse(ctx, request, asked, nil)
	})
	return asked, err
}

// ConfirmTrust applies the proof of the customer, and returns whether it trusts the account. Faults: those of StartTrust; CONFLICT if
// nothing was asked; INVALID_INPUT for a wrong proof, which counts as a failed attempt.
func (s *Service) ConfirmTrust(ctx context.Context, t Trust, proof sca.Proof, request *ports.IdempotentRequest) (trusted bool, err error) {
	var refused error
	err = s.withTrust(ctx, t, func(ctx context.Context, tx Tx, a account.External, subject strongauth.Subject, now time.Time) (err error) {
		if refused, err = s.Auth.Prove(ctx, tx, subject, t.Challenge, proof, now); err != nil {
			return err
		}
		if err := tx.SaveResponse(ctx, request, t.Wanted, refused); err != nil || refused != nil {
			return err
		}
		if a.TrustedAt = now; !t.Wanted {
			a.TrustedAt = time.Time{}
		}
		return tx.SetTrusted(ctx, a)
	})
	if err == nil {
		err = refused
	}
	return t.Wanted, err
}

// withTrust runs a unit of work that has locked the customer, who may be asked.
func (s *Service) withTrust(ctx context.Context, t Trust,
	run func(context.Context, Tx, account.External, strongauth.Subject, time.Time) error) error {
	found, err := s.Get(ctx, t.Platform, OwnedByCustomers, t.Account)
	if err != nil {
		return err
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		now := s.Clock.Now()
		on, err := tx.LockPlatformShared(ctx, t.Platform)
		if err != nil {
			return err
		}
		owner, err := tx.LockCustomer(ctx, t.Platform, found.Customer)
		if err != nil {
			return err
		}
		if !on.RequiresSCA(owner.Region) {
			return sca.ErrNotRequired
		}
		counted, err := tx.LockSCAAccount(ctx, t.Platform, owner.ID)
		if err == nil {
			err = counted.CheckLock(now)
		}
		if err == nil {
			_, err = tx.SCASession(ctx, t.Platform, owner.ID, now)
		}
		if err != nil {
			return err
		}
		// The accounts of a customer are trusted one after the other, and are not deleted while they are.
		a, err := tx.LockExternalAccount(ctx, t.Platform, t.Account)
		if err != nil {
			return err
		}
		purpose, words := sca.Trust, "to trust "
		if !t.Wanted {
			purpose, words = sca.Untrust, "to trust no longer "
		}
		return run(ctx, tx, a, strongauth.Subject{Platform: on, Customer: owner, Purpose: purpose, Digest: a.TrustDigest(),
			Words: words + a.PayeeName()}, now)
	})
}
