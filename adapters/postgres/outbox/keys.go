package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

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
	var keys []ports.SealedWebhookKey
	var id pgtype.UUID
	var algorithm string
	var from time.Time
	var public, sealed []byte
	var until *time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &algorithm, &public, &sealed, &from, &until}, func() error {
		key := ports.SealedWebhookKey{
			ID: id.Bytes, Environment: env, Algorithm: ports.KeyAlgorithm(algorithm), Public: public, Sealed: sealed, ValidFrom: from.UTC(),
		}
		if until != nil {
			key.ValidUntil = until.UTC()
		}
		keys = append(keys, key)
		public, sealed, until = nil, nil, nil
		return nil
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
	expiredIDs := make([]pgtype.UUID, len(expired))
	for i, id := range expired {
		expiredIDs[i] = pgUUID(id)
	}
	ids, environments, algorithms := make([]pgtype.UUID, len(added)), make([]string, len(added)), make([]string, len(added))
	public, sealed, from := make([][]byte, len(added)), make([][]byte, len(added)), make([]pgtype.Timestamptz, len(added))
	for i, a := range added {
		ids[i], environments[i], algorithms[i] = pgUUID(a.ID), string(a.Environment), string(a.Algorithm)
		public[i], sealed[i], from[i] = a.Public, a.Sealed, pgTime(a.ValidFrom)
	}
	batch := &pgx.Batch{} // one implicit transaction
	batch.Queue(`UPDATE webhook_keys SET valid_until = $2 WHERE id = ANY ($1) AND valid_until IS NULL`, expiredIDs, until)
	batch.Queue(`
		INSERT INTO webhook_keys (id, environment, algorithm, public_key, encrypted_key, valid_from)
		SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::timestamptz[])`,
		ids, environments, algorithms, public, sealed, from)
	batch.Queue(`DELETE FROM webhook_keys WHERE environment = ANY ($1) AND valid_until <= (SELECT min(t) FROM unnest($2::timestamptz[]) t)`, environments, from)
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
