-- +goose NO TRANSACTION
-- +goose Up
-- An idempotency key belongs to its platform and no longer to a token. If two tokens used the
-- same key, the response to the first request remains: repeating the second returns it, or is
-- refused, and never runs again.
DELETE FROM idempotency_keys later USING idempotency_keys first
WHERE first.platform_id = later.platform_id AND first.key = later.key
  AND (first.created_at, first.token_id) < (later.created_at, later.token_id);

DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_by_platform; -- left by a failed attempt
CREATE UNIQUE INDEX CONCURRENTLY idempotency_keys_by_platform ON idempotency_keys (platform_id, key);
