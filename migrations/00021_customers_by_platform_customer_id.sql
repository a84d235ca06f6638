-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS customers_by_platform_customer_id; -- left by a failed attempt

-- For lists: the unique index has active customers only.
CREATE INDEX CONCURRENTLY customers_by_platform_customer_id ON customers (platform_id, platform_customer_id, id) WHERE platform_customer_id <> '';
