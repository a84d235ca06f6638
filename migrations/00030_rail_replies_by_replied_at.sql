-- +goose NO TRANSACTION
-- +goose Up

-- Finds the oldest replies of a platform.
DROP INDEX CONCURRENTLY IF EXISTS rail_replies_by_replied_at; -- left by a failed attempt
CREATE INDEX CONCURRENTLY rail_replies_by_replied_at ON rail_replies (platform_id, replied_at);
