-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS customers_by_updated_at; -- left by a failed attempt

-- For lists by time of the last change. Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE INDEX CONCURRENTLY customers_by_updated_at ON customers (platform_id, updated_at, id) WHERE updated_at IS NOT NULL;
