-- +goose Up
-- The bank's id of the credit with which a payment came back, so that a second credit is not taken for the first one.
SET LOCAL lock_timeout = '1s';
ALTER TABLE bank_orders ADD COLUMN return_id text NOT NULL DEFAULT '';
