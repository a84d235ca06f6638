-- +goose Up
-- When the beneficiary of a payout that is in transit is expected to have it. NULL: unknown, or of an earlier program.
SET LOCAL lock_timeout = '1s';

ALTER TABLE transactions ADD COLUMN expected_settlement_at timestamptz;
