-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What operators do to the whole service is recorded too: platform_id and subject_id are then zero, and
-- subject is what was changed, such as a pair of currencies, a month or the id of a key.
ALTER TABLE operator_actions
    ADD COLUMN subject text NOT NULL DEFAULT '',
    DROP CONSTRAINT operator_action_known,
    ADD CONSTRAINT operator_action_known CHECK (action IN ('CREATE_PLATFORM', 'CREATE_TOKEN', 'DELETE_TOKEN', 'SET_CORRIDOR', 'RESET_CORRIDOR',
        'ARCHIVE_MONTH', 'RESTORE_MONTH', 'ROTATE_DATA_KEY', 'REMOVE_DATA_KEY', 'ROTATE_LEDGER_KEY', 'ROTATE_WEBHOOK_KEYS'));

-- The history of the terms names the operator of a command, and the login of a change by hand.
ALTER TABLE corridor_changes ALTER COLUMN changed_by SET DEFAULT coalesce(nullif(current_setting('causeway.operator', true), ''), session_user);
