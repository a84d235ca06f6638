package accounts

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"causeway/core/account"
	"causeway/core/bitcoin"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// IssuedChallenge is a new challenge of an account and, of LIVENESS, where its owner answers it. Link and Token are not stored.
type IssuedChallenge struct {
	account.Challenge
	account.LivenessSession
}

// Challenge asks the owner of a wallet for a proof that it is theirs. An earlier challenge is void. Faults: EXTERNAL_ACCOUNT_NOT_FOUND;
// CONFLICT if the account needs no proof; INVALID_INPUT if its owner cannot give one in this way; NOT_IMPLEMENTED without an identity
// provider.
func (s *Service) Challenge(ctx context.Context, principal platform.Principal, owner Owner, request *ports.IdempotentRequest,
	id ident.ExternalAccount, method account.ProofMethod) (IssuedChallenge, error) {
	found, err := s.Get(ctx, principal.Platform, owner, id)
	if err == nil {
		err = found.CheckProvable()
	}
	if err != nil {
		return IssuedChallenge{}, err
	}
	now := s.Clock.Now()
	var issued IssuedChallenge
	if method == account.Liveness {
		issued, err = s.startLiveness(ctx, principal.Environment, found, now)
	} else {
		issued.Challenge, err = s.signatureChallenge(ctx, found, now)
	}
	if err != nil {
		return IssuedChallenge{}, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, issued, nil); err != nil {
			return err
		}
		a, err := tx.LockExternalAccount(ctx, principal.Platform, id)
		if err == nil {
			err = a.CheckProvable()
		}
		if err != nil {
			return err
		}
		a.Challenge, a.UpdatedAt = &issued.Challenge, now
		if err := tx.UpdateOwnership(ctx, a); err != nil || method != account.Liveness {
			return err
		}
		return tx.AddJobs(ctx, []ports.Job{s.livenessJob(a, now)})
	})
	return issued, err
}

func (s *Service) signatureChallenge(ctx context.Context, a account.External, now time.Time) (account.Challenge, error) {
	asking, err := s.Store.Platform(ctx, a.Platform)
	if err != nil {
		return account.Challenge{}, err
	}
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return a.NewSignatureChallenge(s.IDs.New(now), asking.Name, hex.EncodeToString(nonce[:]), now)
}

// Verify takes the signature of a wallet that proves who owns it. The account is ACTIVE afterwards, or UNVERIFIED with INVALID_INPUT if the
// signature is wrong or late. Other faults: EXTERNAL_ACCOUNT_NOT_FOUND; CONFLICT if nothing waits for a signature.
func (s *Service) Verify(ctx context.Context, principal platform.Principal, owner Owner, request *ports.IdempotentRequest,
	id ident.ExternalAccount, signature string, scheme bitcoin.MessageScheme) (account.External, error) {
	if _, err := s.Get(ctx, principal.Platform, owner, id); err != nil {
		return account.External{}, err
	}
	proofs, known := s.WalletProofs[principal.Environment]
	answer := account.Signed{Signature: signature, Scheme: scheme, IsTestValue: known && proofs.AcceptsTestSignature(signature)}
	var verified account.External
	var refused error
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		before, err := tx.LockExternalAccount(ctx, principal.Platform, id)
		if err != nil {
			return err
		}
		verified, refused = before.Verify(answer, s.Clock.Now())
		if err := tx.SaveResponse(ctx, request, verified, refused); err != nil || fault.Is(refused, fault.Conflict) {
			return err
		}
		return s.update(ctx, tx, before, verified)
	})
	if err == nil {
		err = refused
	}
	return verified, err
}

// update writes a locked account, with the event of a change of its status.
func (s *Service) update(ctx context.Context, tx Tx, before, after account.External) error {
	if err := tx.UpdateOwnership(ctx, after); err != nil || before.Status == after.Status {
		return err
	}
	return tx.Emit(ctx, []event.Event{after.StatusUpdatedEvent(ident.NewWebhook(s.IDs.New, after.UpdatedAt), after.UpdatedAt)})
}
