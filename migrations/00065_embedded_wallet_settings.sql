-- +goose Up
-- The settings of a platform for the embedded wallets of its customers; NULL if it has set none.
SET LOCAL lock_timeout = '1s';
ALTER TABLE platforms ADD COLUMN embedded_wallets jsonb;
