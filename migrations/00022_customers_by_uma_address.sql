-- +goose NO TRANSACTION
-- +goose Up
-- For lists: the unique index has active customers only.
CREATE INDEX CONCURRENTLY IF NOT EXISTS customers_by_uma_address ON customers (platform_id, uma_address, id) WHERE uma_address <> '';
