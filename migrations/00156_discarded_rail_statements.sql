-- +goose Up
-- Who has ended a statement of a partner that will never be reconciled, and why. Such a statement has the time in
-- reconciled_at.
SET LOCAL lock_timeout = '1s';

ALTER TABLE rail_statements
    ADD COLUMN discarded_by text NOT NULL DEFAULT '',
    ADD COLUMN note text NOT NULL DEFAULT '' CONSTRAINT rail_statement_note_length CHECK (length(note) <= 500);
