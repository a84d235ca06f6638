-- +goose NO TRANSACTION
-- +goose Up

-- Finds the oldest replies of a platform.
CREATE INDEX CONCURRENTLY IF NOT EXISTS rail_replies_by_replied_at ON rail_replies (platform_id, replied_at);
