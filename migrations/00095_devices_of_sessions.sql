-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- What the browser of a session, or the command line, says of itself; empty if it says nothing.
ALTER TABLE person_sessions ADD COLUMN device text NOT NULL DEFAULT '';
