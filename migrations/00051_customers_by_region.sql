-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS customers_by_region; -- left by a failed attempt

-- For lists by region. Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE INDEX CONCURRENTLY customers_by_region ON customers (platform_id, region, id) WHERE region <> '';
