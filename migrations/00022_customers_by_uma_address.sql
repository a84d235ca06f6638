-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS customers_by_uma_address; -- left by a failed attempt

-- For lists: the unique index has active customers only.
CREATE INDEX CONCURRENTLY customers_by_uma_address ON customers (platform_id, uma_address, id) WHERE uma_address <> '';
