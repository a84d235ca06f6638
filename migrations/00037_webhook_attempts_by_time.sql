-- +goose NO TRANSACTION
-- +goose Up

-- Shows whether a partition has attempts since a time. Attempts are stored in the order of time, so a
-- BRIN index is enough.
DROP INDEX CONCURRENTLY IF EXISTS webhook_attempts_by_attempted_at; -- left by a failed attempt
CREATE INDEX CONCURRENTLY webhook_attempts_by_attempted_at ON webhook_attempts USING brin (attempted_at);
