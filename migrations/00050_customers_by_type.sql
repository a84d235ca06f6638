-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS customers_by_type; -- left by a failed attempt

-- For lists by type. Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE INDEX CONCURRENTLY customers_by_type ON customers (platform_id, customer_type, id) WHERE customer_type <> '';
