package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ports"
)

// webhookSecretRow is a row of webhook_secrets.
type webhookSecretRow struct {
	ports.SealedWebhookSecret
	platform ident.Platform
}

// webhookSecrets is the table webhook_secrets.
var webhookSecrets = schema.New("webhook_secrets", keyOfPlatform, func(s *webhookSecretRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &s.platform}, {Name: "id", Field: &s.ID}, {Name: "encrypted_secret", Field: &s.Sealed},
		{Name: "valid_from", Field: &s.CreatedAt}, {Name: "valid_until", Field: &s.ValidUntil},
	}
})

var insertWebhookSecret = webhookSecrets.Insert("")

// WebhookSecrets uses the primary key.
func (db *DB) WebhookSecrets(ctx context.Context, p ident.Platform) ([]ports.SealedWebhookSecret, error) {
	return selectWebhookSecrets(ctx, db, db.read, p)
}

// LockWebhookSecrets locks the platform, because there may be no secret to lock.
func (u *Unit) LockWebhookSecrets(ctx context.Context, p ident.Platform) ([]ports.SealedWebhookSecret, error) {
	owner, err := u.LockPlatform(ctx, p)
	if err == nil {
		err = owner.CheckOpen()
	}
	if err != nil {
		return nil, err
	}
	return selectWebhookSecrets(ctx, u.db, u.query, p)
}

func selectWebhookSecrets(ctx context.Context, db *DB, read storage.Reader, p ident.Platform) ([]ports.SealedWebhookSecret, error) {
	rows, err := selectRows(ctx, db, read, webhookSecrets, `WHERE platform_id = $1 ORDER BY id DESC`, p)
	secrets := make([]ports.SealedWebhookSecret, len(rows))
	for i, row := range rows {
		secrets[i] = row.SealedWebhookSecret
	}
	return secrets, err
}

// ReplaceWebhookSecrets uses the primary keys. The version in platforms tells every process to read
// the secrets again.
func (u *Unit) ReplaceWebhookSecrets(ctx context.Context, p ident.Platform, secrets []ports.SealedWebhookSecret) error {
	u.queueExec(`DELETE FROM webhook_secrets WHERE platform_id = $1`, p)
	u.queueExec(`UPDATE platforms SET webhook_secrets_version = webhook_secrets_version + 1 WHERE id = $1`, p)
	for _, s := range secrets {
		if err := write(ctx, u, insertWebhookSecret, webhookSecretRow{s, p}); err != nil {
			return err
		}
	}
	return nil
}
