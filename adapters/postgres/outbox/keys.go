package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/core/platform"
	"causeway/ports"
)

// Keys stores the encrypted keys that sign deliveries.
type Keys struct{ q Querier }

var _ ports.WebhookKeyStore = (*Keys)(nil)

// NewKeys returns a store that uses q, usually a pool.
func NewKeys(q Querier) *Keys { return &Keys{q} }

// WebhookKeys implements ports.WebhookKeyStore.
func (k *Keys) WebhookKeys(ctx context.Context, env platform.Environment, now time.Time) ([]ports.SealedWebhookKey, error) {
	rows, err := k.q.Query(ctx, `
		SELECT id, algorithm, public_key, encrypted_key, valid_from, valid_until FROM webhook_keys
		WHERE environment = $1 AND (valid_until IS NULL OR valid_until > $2) ORDER BY valid_from DESC, id DESC`, string(env), now)
	if err != nil {
		return nil, fmt.Errorf("read webhook keys: %w", err)
	}
	keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ports.SealedWebhookKey, error) {
		key := ports.SealedWebhookKey{Environment: env}
		err := row.Scan(&key.ID, &key.Algorithm, &key.Public, &key.Sealed, &key.ValidFrom, &key.ValidUntil)
		return key, err
	})
	if err != nil {
		return nil, fmt.Errorf("read webhook keys: %w", err)
	}
	return keys, nil
}

// ReplaceWebhookKeys implements ports.WebhookKeyStore. It also deletes the keys that have ended when
// the new ones become valid. If two processes replace keys at the
// same time, the index webhook_key_one_active lets only one succeed.
func (k *Keys) ReplaceWebhookKeys(ctx context.Context, expired []uuid.UUID, until time.Time, added []ports.SealedWebhookKey) (bool, error) {
	var first time.Time
	for _, a := range added {
		if first.IsZero() || a.ValidFrom.Before(first) {
			first = a.ValidFrom
		}
	}
	batch := &pgx.Batch{} // one implicit transaction
	for _, id := range expired {
		batch.Queue(`UPDATE webhook_keys SET valid_until = $2 WHERE id = $1 AND valid_until IS NULL`, id, until)
	}
	for _, a := range added {
		batch.Queue(
			`INSERT INTO webhook_keys (id, environment, algorithm, public_key, encrypted_key, valid_from) VALUES ($1, $2, $3, $4, $5, $6)`,
			a.ID, a.Environment, a.Algorithm, a.Public, a.Sealed, a.ValidFrom)
	}
	for _, a := range added {
		batch.Queue(`DELETE FROM webhook_keys WHERE environment = $1 AND valid_until <= $2`, a.Environment, first)
	}
	err := k.q.SendBatch(ctx, batch).Close()
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.ConstraintName == "webhook_key_one_active" {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("replace webhook keys: %w", err)
	}
	return true, nil
}
