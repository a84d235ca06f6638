package platforms

import (
	"context"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// ResetSandbox empties a sandbox for its developer: the platform is closed, and a new one takes over its settings, its tokens and
// webhook secrets, which keep working, and the roles of people. The records of the closed platform stay; what had begun there comes
// to its end, and no webhooks of it are sent. Faults: NOT_FOUND, FORBIDDEN for a production platform, CONFLICT for one that is
// closed.
func (o *Operator) ResetSandbox(ctx context.Context, p ident.Platform) (platform.Platform, error) {
	s := o.service
	now := s.Clock.Now()
	var next platform.Platform
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		before, err := tx.LockPlatform(ctx, p)
		if err != nil {
			return err
		}
		var closed platform.Platform
		if closed, next, err = before.Reset(ident.NewPlatform(s.IDs.New, now), now); err != nil {
			return err
		}
		secrets, err := tx.LockWebhookSecrets(ctx, p)
		if err != nil {
			return err
		}
		if err := tx.ClosePlatform(ctx, closed); err != nil {
			return err
		}
		if err := tx.CreatePlatform(ctx, next); err != nil {
			return err
		}
		if err := moveTokens(ctx, tx, p, next.ID); err != nil {
			return err
		}
		for i := range secrets {
			if secrets[i], err = s.Secrets.SealAgain(secrets[i], p, next.ID); err != nil {
				return err
			}
		}
		if len(secrets) > 0 {
			if err := tx.ReplaceWebhookSecrets(ctx, next.ID, secrets); err != nil {
				return err
			}
		}
		accounts, err := s.opener(next, now).Open(next.CurrencyCodes())
		if err != nil {
			return err
		}
		if err := tx.OpenInternalAccounts(ctx, accounts); err != nil {
			return err
		}
		people, err := tx.LockPeopleWithRolesOn(ctx, p)
		if err != nil {
			return err
		}
		for _, found := range people {
			if err := tx.UpdatePerson(ctx, found.WithSuccessor(p, next.ID, now)); err != nil {
				return err
			}
		}
		if err := tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: p, Kind: platform.OperatorResetPlatform,
			Subject: p.UUID(), Name: next.ID.String(), Actor: o.by.Actor, Person: o.by.Person, At: now}); err != nil {
			return err
		}
		return o.record(ctx, tx, next.ID, platform.OperatorCreatedPlatform, next.ID.UUID(), now)
	})
	return next, err
}

// moveTokens gives the tokens of a platform to another one, with their ids and secrets.
func moveTokens(ctx context.Context, tx Tx, from, to ident.Platform) error {
	tokens, err := tx.LockTokens(ctx, from)
	if err != nil {
		return err
	}
	for _, token := range tokens {
		if err := tx.DeleteToken(ctx, from, token.ID); err != nil {
			return err
		}
		token.Platform = to
		if err := tx.CreateToken(ctx, token); err != nil {
			return err
		}
	}
	return nil
}

// Current returns a platform or, if it was reset, the last of its successors.
func (s *Service) Current(ctx context.Context, p ident.Platform) (platform.Platform, error) {
	for {
		found, err := s.Store.Platform(ctx, p)
		if err != nil || !found.Closed() {
			return found, err
		}
		p = found.Successor
	}
}
