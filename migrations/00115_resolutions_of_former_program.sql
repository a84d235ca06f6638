-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The former program copies resolutions through a temporary table of the same columns, which has their NOT NULL and not
-- their defaults. The default stays, so that the column is empty and not NULL in what it writes.
ALTER TABLE reconciliation_resolutions ALTER COLUMN actor DROP NOT NULL;
