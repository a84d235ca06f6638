-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- When the platform has given the payer the receipt of a payment; NULL as long as it has not said so.
ALTER TABLE transactions ADD COLUMN receipt_confirmed_at timestamptz;
