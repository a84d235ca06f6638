-- +goose Up
-- Where a file was uploaded, so that settings of another place do not make one that is missing there count as delivered.
SET LOCAL lock_timeout = '1s';

ALTER TABLE bank_files ADD COLUMN place text NOT NULL DEFAULT ''; -- empty: not known
