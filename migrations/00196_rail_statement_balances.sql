-- +goose Up
-- The closing balances of a statement that waits are those of its connection once it is reconciled, and not if it is refused. The
-- table is small.
SET LOCAL lock_timeout = '1s';
ALTER TABLE rail_statements ADD COLUMN balances jsonb NOT NULL DEFAULT '[]';
