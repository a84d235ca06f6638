package postgres

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/fault"
	"causeway/ports"
)

// insertResponses violates idempotency_keys_pkey if another process stored a response with
// one of the keys first; then the unit of work must be rolled back.
const insertResponses = `
	INSERT INTO idempotency_keys (platform_id, token_id, key, fingerprint, status, body, created_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[], $5::smallint[], $6::bytea[], $7::timestamptz[])`

// SaveResponse stores the response with the commit: it is queued with the other writes and
// costs no round trip. A response that a retry could change is not stored, as after a missing signature
// or too many requests.
func (u *Unit) SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error {
	if request == nil {
		return nil
	}
	status, body := request.Render(result, err)
	if status < http.StatusOK || status >= http.StatusInternalServerError || status == http.StatusUnauthorized ||
		status == http.StatusTooManyRequests {
		return nil
	}
	u.requests = append(u.requests, request)
	row, failed := u.db.newResponseRow(ctx, request, status, body)
	if failed != nil {
		return failed
	}
	if last := len(u.pending.QueuedQueries) - 1; last >= 0 && u.pending.QueuedQueries[last].SQL == insertResponses {
		row.appendTo(u.pending.QueuedQueries[last].Arguments)
		return nil
	}
	u.queueExec(insertResponses, row.columns()...)
	return nil
}

// replayOnConflict turns the conflict of a response into the response that is stored with its
// key. A batch of requests fails with the conflict: its requests are then run one by one,
// and the repeated one is replayed here.
func (u *Unit) replayOnConflict(ctx context.Context, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.ConstraintName != "idempotency_keys_pkey" || len(u.requests) != 1 {
		return err
	}
	request := u.requests[0]
	stored, failed := u.db.StoredResponses(ctx, []ports.IdempotencyKey{request.IdempotencyKey()})
	switch {
	case failed != nil:
		return errors.Join(err, failed)
	case stored[0] == nil: // forgotten since
		return err
	case stored[0].Fingerprint != request.Fingerprint:
		return fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key belongs to another request. Use a new key for a new request.")
	}
	return &ports.Replay{Status: stored[0].Status, Body: stored[0].Body}
}

// selectResponses uses the primary key.
const selectResponses = `
	SELECT k.n, m.fingerprint, m.status, m.body
	FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS k(platform_id, key, n)
	JOIN idempotency_keys m USING (platform_id, key)`

// StoredResponses returns stored responses; nil for a key without one.
func (db *DB) StoredResponses(ctx context.Context, keys []ports.IdempotencyKey) ([]*ports.StoredResponse, error) {
	n := len(keys)
	platforms, names := make([]uuid.UUID, n), make([]string, n)
	for i, k := range keys {
		platforms[i], names[i] = k.Platform.UUID(), k.Key
	}
	rows, err := db.pool.Query(ctx, selectResponses, pgx.QueryExecModeCacheStatement, platforms, names)
	if err != nil {
		return nil, err
	}
	found := make([]*ports.StoredResponse, n)
	return found, storage.ForEachRow(rows, func(rows pgx.Rows) error {
		var position int
		var fingerprint []byte
		stored := &ports.StoredResponse{}
		if err := rows.Scan(&position, &fingerprint, &stored.Status, &stored.Body); err != nil {
			return err
		}
		key := keys[position-1]
		row := responseRowName(key.Platform.UUID(), key.Key)
		if stored.Body, err = db.sealed.Open(ctx, row, sealed.IdempotencyKeysBody, stored.Body); err != nil {
			return err
		}
		copy(stored.Fingerprint[:], fingerprint)
		found[position-1] = stored
		return nil
	})
}

// SaveStoredResponse stores a response outside a unit of work, unless the key has one.
func (db *DB) SaveStoredResponse(ctx context.Context, request ports.IdempotentRequest, response ports.StoredResponse) error {
	row, err := db.newResponseRow(ctx, &request, response.Status, response.Body)
	if err != nil {
		return err
	}
	_, err = db.pool.Exec(ctx, insertResponses+` ON CONFLICT DO NOTHING`, append([]any{pgx.QueryExecModeCacheStatement}, row.columns()...)...)
	return err
}

// responseRow is a row of idempotency_keys.
type responseRow struct {
	platform, token uuid.UUID
	key             string
	fingerprint     []byte
	status          int16
	body            []byte
	createdAt       time.Time
}

func (db *DB) newResponseRow(ctx context.Context, request *ports.IdempotentRequest, status int, body []byte) (responseRow, error) {
	platform, key := request.Platform.UUID(), request.IdempotencyKey().Key
	stored, err := db.sealed.Seal(ctx, responseRowName(platform, key), sealed.IdempotencyKeysBody, body)
	return responseRow{platform, request.Token.UUID(), key, request.Fingerprint[:], int16(status), stored, db.clock.Now()}, err
}

// responseRowName identifies a row of idempotency_keys, whose key is a text.
func responseRowName(platform uuid.UUID, key string) sealed.Row {
	return sealed.Row{Platform: platform, ID: uuid.NewSHA1(platform, []byte(key))}
}

// columns returns the arguments of insertResponses for one row.
func (row responseRow) columns() []any {
	return []any{[]uuid.UUID{row.platform}, []uuid.UUID{row.token}, []string{row.key}, [][]byte{row.fingerprint},
		[]int16{row.status}, [][]byte{row.body}, []time.Time{row.createdAt}}
}

// appendTo adds the row to the arguments of queued rows.
func (row responseRow) appendTo(columns []any) {
	columns[0] = append(columns[0].([]uuid.UUID), row.platform)
	columns[1] = append(columns[1].([]uuid.UUID), row.token)
	columns[2] = append(columns[2].([]string), row.key)
	columns[3] = append(columns[3].([][]byte), row.fingerprint)
	columns[4] = append(columns[4].([]int16), row.status)
	columns[5] = append(columns[5].([][]byte), row.body)
	columns[6] = append(columns[6].([]time.Time), row.createdAt)
}
