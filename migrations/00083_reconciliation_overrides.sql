-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What of a statement does not fit its balances or the statement before it, one sentence per line, and
-- why a person had it imported nevertheless.
ALTER TABLE reconciliations
    ADD COLUMN mismatches text NOT NULL DEFAULT '',
    ADD COLUMN override_note text NOT NULL DEFAULT '';
