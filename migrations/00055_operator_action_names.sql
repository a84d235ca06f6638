-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The program knows the actions, so that a new one needs no migration. Few rows: the check takes a
-- moment.
ALTER TABLE operator_actions
    DROP CONSTRAINT operator_action_known,
    ADD CONSTRAINT operator_action_known CHECK (action ~ '^[A-Z][A-Z_]{2,39}$');
