package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/ident"
	"causeway/ports"
)

// webhookSecretRow is a row of webhook_secrets.
type webhookSecretRow struct {
	bun.BaseModel `bun:"table:webhook_secrets"`

	PlatformID      uuid.UUID  `bun:"platform_id,pk"`
	ID              uuid.UUID  `bun:"id,pk"`
	EncryptedSecret []byte     `bun:"encrypted_secret"`
	ValidFrom       time.Time  `bun:"valid_from"`
	ValidUntil      *time.Time `bun:"valid_until"`
}

// WebhookSecrets uses the primary key.
func (db *DB) WebhookSecrets(ctx context.Context, p ident.Platform) ([]ports.SealedWebhookSecret, error) {
	return selectWebhookSecrets(ctx, db.bun.NewSelect(), p)
}

// LockWebhookSecrets locks the platform, because there may be no secret to lock.
func (u *unit) LockWebhookSecrets(ctx context.Context, p ident.Platform) ([]ports.SealedWebhookSecret, error) {
	if _, err := u.LockPlatform(ctx, p); err != nil {
		return nil, err
	}
	return selectWebhookSecrets(ctx, u.db.bun.NewSelect().Conn(u.sqlConn), p)
}

func selectWebhookSecrets(ctx context.Context, query *bun.SelectQuery, p ident.Platform) ([]ports.SealedWebhookSecret, error) {
	var rows []webhookSecretRow
	if err := query.Model(&rows).Where("platform_id = ?", p.UUID()).OrderExpr("id DESC").Scan(ctx); err != nil {
		return nil, err
	}
	secrets := make([]ports.SealedWebhookSecret, len(rows))
	for i, row := range rows {
		secrets[i].ID.SetUUID(row.ID)
		secrets[i].CreatedAt, secrets[i].Sealed = row.ValidFrom.UTC(), row.EncryptedSecret
		if row.ValidUntil != nil {
			secrets[i].ValidUntil = row.ValidUntil.UTC()
		}
	}
	return secrets, nil
}

// ReplaceWebhookSecrets uses the primary keys. The version in platforms tells every process to read
// the secrets again.
func (u *unit) ReplaceWebhookSecrets(ctx context.Context, p ident.Platform, secrets []ports.SealedWebhookSecret) error {
	u.queueExec(`DELETE FROM webhook_secrets WHERE platform_id = $1`, p.UUID())
	u.queueExec(`UPDATE platforms SET webhook_secrets_version = webhook_secrets_version + 1 WHERE id = $1`, p.UUID())
	for _, s := range secrets {
		var until *time.Time
		if !s.ValidUntil.IsZero() {
			until = &s.ValidUntil
		}
		u.queueExec(`INSERT INTO webhook_secrets (platform_id, id, encrypted_secret, valid_from, valid_until) VALUES ($1, $2, $3, $4, $5)`,
			p.UUID(), s.ID.UUID(), s.Sealed, s.CreatedAt, until)
	}
	return nil
}
