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

// Keys keeps the sealed keys that deliveries are signed with.
type Keys struct{ q Querier }

var _ ports.WebhookKeyStore = (*Keys)(nil)

// NewKeys reads and writes through q, a pool as a rule.
func NewKeys(q Querier) *Keys { return &Keys{q} }

func (k *Keys) WebhookKeys(ctx context.Context, env platform.Environment, now time.Time) ([]ports.SealedWebhookKey, error) {
	rows, err := k.q.Query(ctx, `
		SELECT id, algorithm, public_key, encrypted_key, valid_from, valid_until FROM webhook_keys
		WHERE environment = $1 AND (valid_until IS NULL OR valid_until > $2) ORDER BY valid_from DESC, id DESC`, string(env), now)
	if err != nil {
		return nil, fmt.Errorf("read webhook keys: %w", err)
	}
	var found []ports.SealedWebhookKey
	var id pgtype.UUID
	var algorithm string
	var from time.Time
	var public, sealed []byte
	var until *time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &algorithm, &public, &sealed, &from, &until}, func() error {
		one := ports.SealedWebhookKey{
			ID: id.Bytes, Environment: env, Algorithm: ports.KeyAlgorithm(algorithm), Public: public, Sealed: sealed, ValidFrom: from.UTC(),
		}
		if until != nil {
			one.ValidUntil = until.UTC()
		}
		found = append(found, one)
		public, sealed, until = nil, nil, nil
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read webhook keys: %w", err)
	}
	return found, nil
}

// ReplaceWebhookKeys is one statement. It refuses to leave two keys of one algorithm
// without an end: that is how two processes that do it at once are told apart.
func (k *Keys) ReplaceWebhookKeys(ctx context.Context, ends []uuid.UUID, until time.Time, adds []ports.SealedWebhookKey) (bool, error) {
	ending := make([]pgtype.UUID, len(ends))
	for i, id := range ends {
		ending[i] = pgUUID(id)
	}
	ids, environments, algorithms := make([]pgtype.UUID, len(adds)), make([]string, len(adds)), make([]string, len(adds))
	public, sealed, from := make([][]byte, len(adds)), make([][]byte, len(adds)), make([]pgtype.Timestamptz, len(adds))
	for i, a := range adds {
		ids[i], environments[i], algorithms[i] = pgUUID(a.ID), string(a.Environment), string(a.Algorithm)
		public[i], sealed[i], from[i] = a.Public, a.Sealed, pgTime(a.ValidFrom)
	}
	batch := &pgx.Batch{} // one implicit transaction, its statements in this order
	batch.Queue(`UPDATE webhook_keys SET valid_until = $2 WHERE id = ANY ($1) AND valid_until IS NULL`, ending, until)
	batch.Queue(`
		INSERT INTO webhook_keys (id, environment, algorithm, public_key, encrypted_key, valid_from)
		SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::timestamptz[])`,
		ids, environments, algorithms, public, sealed, from)
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
