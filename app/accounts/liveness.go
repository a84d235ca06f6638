package accounts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// livenessPoll is how long after a check was started the identity provider is asked for its decision. Each further time takes longer.
const livenessPoll = 5 * time.Second

// Run asks for the decisions about checks of liveness, until ctx is done. Any number of processes may run it on one database.
func (s *Service) Run(ctx context.Context) { s.workers.Run(ctx) }

// CheckDue runs jobs until none is due.
func (s *Service) CheckDue(ctx context.Context) error { return s.workers.RunDue(ctx) }

func (s *Service) livenessOf(environment platform.Environment) (ports.Liveness, error) {
	provider, connected := s.Liveness[environment]
	if !connected {
		return nil, fault.New(fault.NotImplemented, "No identity provider of this service checks whether somebody is present. Use the method %s.",
			account.WalletSignature)
	}
	return provider, nil
}

// startLiveness starts a check at the identity provider. If the caller does not store the challenge, nobody asks for its decision.
func (s *Service) startLiveness(ctx context.Context, environment platform.Environment, a account.External,
	now time.Time) (IssuedChallenge, error) {
	if a.Customer.IsZero() {
		return IssuedChallenge{}, fault.Invalid(fault.Field{Field: "method", Message: "is for accounts of customers; use " +
			string(account.WalletSignature)})
	}
	provider, err := s.livenessOf(environment)
	if err != nil {
		return IssuedChallenge{}, err
	}
	c := account.Challenge{ID: s.IDs.New(now), Method: account.Liveness, CreatedAt: now,
		ExpiresAt: now.Add(account.ChallengeLifetime).Truncate(time.Second)}
	session, err := provider.StartLiveness(ctx, a, c)
	return IssuedChallenge{c, session}, err
}

func (s *Service) livenessJob(a account.External, now time.Time) ports.Job {
	age := now.Sub(a.Challenge.CreatedAt)
	return ports.Job{ID: s.IDs.New(now), Platform: a.Platform, Step: ports.StepCheckLiveness, Due: now.Add(max(livenessPoll, age/8)),
		Subjects: []uuid.UUID{a.ID.UUID(), a.Challenge.ID}}
}

// checkLiveness asks for the decision about a challenge, and applies it. One that was not answered in time has failed.
func (s *Service) checkLiveness(ctx context.Context, jobs []ports.Job) error {
	job := jobs[0]
	var id ident.ExternalAccount
	id.SetUUID(job.Subjects[0])
	challenge := job.Subjects[1]
	verdict := account.LivenessWaits
	a, err := s.Store.ExternalAccount(ctx, job.Platform, id)
	if err != nil && !fault.Is(err, fault.ExternalAccountNotFound) {
		return err
	}
	if err == nil && a.AwaitsLiveness(challenge) {
		if verdict, err = s.askLiveness(ctx, a); err != nil {
			return err
		}
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		before, err := tx.LockExternalAccount(ctx, job.Platform, id)
		if fault.Is(err, fault.ExternalAccountNotFound) || err == nil && !before.AwaitsLiveness(challenge) {
			return nil
		}
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if verdict == account.LivenessWaits && now.Before(before.Challenge.ExpiresAt) {
			return tx.AddJobs(ctx, []ports.Job{s.livenessJob(before, now)})
		}
		return s.update(ctx, tx, before, before.LivenessDecided(challenge, verdict == account.LivenessPassed, now))
	})
}

func (s *Service) askLiveness(ctx context.Context, a account.External) (account.LivenessVerdict, error) {
	owner, err := s.Store.Platform(ctx, a.Platform)
	if err != nil {
		return "", err
	}
	provider, err := s.livenessOf(owner.Environment)
	if err != nil {
		return "", err
	}
	return provider.LivenessVerdict(ctx, a, *a.Challenge)
}
