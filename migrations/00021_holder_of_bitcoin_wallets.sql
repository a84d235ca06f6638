-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The process that has the lease, as of every table with leases. A program of before does not know it.
ALTER TABLE bitcoin_wallets ADD COLUMN holder uuid;
