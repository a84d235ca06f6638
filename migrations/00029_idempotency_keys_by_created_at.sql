-- +goose NO TRANSACTION
-- +goose Up

-- Finds the oldest responses of a platform. The BRIN index idempotency_keys_by_age does not for long:
-- new rows fill the space of deleted ones, so that the oldest may be anywhere.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_by_created_at; -- left by a failed attempt
CREATE INDEX CONCURRENTLY idempotency_keys_by_created_at ON idempotency_keys (platform_id, created_at);
