-- +goose NO TRANSACTION
-- +goose Up

-- No query uses them, nor did one of the previous release: it finds old rows by
-- idempotency_keys_by_created_at and the primary key of lookups.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_keys_by_age;
DROP INDEX CONCURRENTLY IF EXISTS lookups_by_age;
