package webhooks

import (
	"context"
	"slices"
	"time"

	"causeway/core/diff"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// IssuedSecret is a secret of a platform with its text, "whsec_…". The text is empty except in the
// result of the call that created the secret.
type IssuedSecret struct {
	platform.WebhookSecret
	Text string
}

// CreateSecret creates a secret with which the platform verifies webhooks. The current one remains
// valid for the overlap. The text is in the first response only: the response that is stored for a
// repeated request does not contain it. Faults: INVALID_INPUT, and CONFLICT if two are valid.
func (s *Service) CreateSecret(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	overlap time.Duration) (IssuedSecret, error) {
	var created platform.WebhookSecret
	var text string
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		stored, err := tx.LockWebhookSecrets(ctx, p)
		if err != nil {
			return err
		}
		now := s.Clock.Now() // under the lock, so that the last secret is the newest
		id := ident.NewWebhookSecret(s.IDs.New, now)
		var sealed []byte
		if text, sealed, err = s.Config.Keys.NewSecret(p, id); err != nil {
			return err
		}
		valid, err := platform.RotateWebhookSecrets(unsealed(stored), id, overlap, now)
		if err != nil {
			return err
		}
		created = valid[0]
		stored = append(stored, ports.SealedWebhookSecret{WebhookSecret: created, Sealed: sealed})
		if err := tx.ReplaceWebhookSecrets(ctx, p, withSealed(valid, stored)); err != nil {
			return err
		}
		if err := s.record(ctx, tx, p, by, platform.CreatedWebhookSecret, id); err != nil {
			return err
		}
		return tx.SaveResponse(ctx, request, IssuedSecret{WebhookSecret: created}, nil)
	})
	if err != nil {
		return IssuedSecret{}, err
	}
	issued := IssuedSecret{created, text}
	if request != nil {
		request.Render(issued, nil) // the response to this request has the text
	}
	return issued, nil
}

// Secrets returns the valid secrets of a platform, newest first, without their texts.
func (s *Service) Secrets(ctx context.Context, p ident.Platform) ([]IssuedSecret, error) {
	stored, err := s.Store.WebhookSecrets(ctx, p)
	if err != nil {
		return nil, err
	}
	var secrets []IssuedSecret
	for _, valid := range platform.ValidWebhookSecrets(unsealed(stored), s.Clock.Now()) {
		secrets = append(secrets, IssuedSecret{WebhookSecret: valid})
	}
	return secrets, nil
}

// DeleteSecret ends a secret at once. The fault is NOT_FOUND.
func (s *Service) DeleteSecret(ctx context.Context, p ident.Platform, by platform.Author, id ident.WebhookSecret) error {
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		stored, err := tx.LockWebhookSecrets(ctx, p)
		if err != nil {
			return err
		}
		valid, err := platform.DeleteWebhookSecret(unsealed(stored), id, s.Clock.Now())
		if err != nil {
			return err
		}
		if err := tx.ReplaceWebhookSecrets(ctx, p, withSealed(valid, stored)); err != nil {
			return err
		}
		return s.record(ctx, tx, p, by, platform.DeletedWebhookSecret, id)
	})
}

// record records that a secret was created or deleted, and nothing of the secret itself.
func (s *Service) record(ctx context.Context, tx Tx, p ident.Platform, by platform.Author, kind platform.OperatorActionKind,
	id ident.WebhookSecret) error {
	now := s.Clock.Now()
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: p, Kind: kind, Subject: id.UUID(),
		Name: id.String(), Actor: by.Name(), Person: by.Person, At: now, Changes: []diff.Field{{Name: "secret", Hidden: true}}})
}

func unsealed(stored []ports.SealedWebhookSecret) []platform.WebhookSecret {
	secrets := make([]platform.WebhookSecret, len(stored))
	for i, s := range stored {
		secrets[i] = s.WebhookSecret
	}
	return secrets
}

// withSealed returns secrets with their sealed texts, which are those of stored.
func withSealed(secrets []platform.WebhookSecret, stored []ports.SealedWebhookSecret) []ports.SealedWebhookSecret {
	result := make([]ports.SealedWebhookSecret, len(secrets))
	for i, secret := range secrets {
		at := slices.IndexFunc(stored, func(s ports.SealedWebhookSecret) bool { return s.ID == secret.ID })
		result[i] = ports.SealedWebhookSecret{WebhookSecret: secret, Sealed: stored[at].Sealed}
	}
	return result
}
