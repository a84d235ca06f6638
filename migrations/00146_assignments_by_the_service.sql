-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Unmatched money that the partner takes back is assigned by the service itself, which has no token.
ALTER TABLE unmatched_assignments
    ALTER COLUMN token_id DROP NOT NULL,
    ADD CONSTRAINT unmatched_assignment_has_author CHECK (token_id IS NOT NULL OR actor <> '') NOT VALID;
