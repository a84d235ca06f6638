-- +goose NO TRANSACTION
-- +goose Up
-- For lists: the unique index has active customers only.
CREATE INDEX CONCURRENTLY IF NOT EXISTS customers_by_platform_customer_id ON customers (platform_id, platform_customer_id, id) WHERE platform_customer_id <> '';
